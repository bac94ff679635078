/** The records of each DNS zone, what the API's monitors say about them and how far their acceleration is (`/dnszone`, in full). */
import { defineListedResource, defineListing } from '../define.ts';
import { type FamilyOf, flag, label, labelled, seriesOfStates, shown } from '../families.ts';
import {
  boolean,
  codeName,
  codeState,
  id,
  listOf,
  object,
  shownWhere,
  text,
  type ValueOf,
} from '../fields.ts';

/** By the vendor's own codes, which are not IANA's. */
const types = 'A AAAA CNAME TXT MX Redirect Flatten PullZone SRV CAA PTR Script NS SVCB HTTPS TLSA'.split(
  ' ',
);

/** By their codes. */
const monitorTypes = ['none', 'ping', 'http', 'monitor'];
const monitorStates = ['unknown', 'online', 'offline'];
const accelerationStates = ['none', 'pending', 'processing', 'completed', 'failed'];

/** The value of a record is not read: it can be a secret. */
const record = object({
  Id: id,
  Type: codeName(types),
  Name: text,
  MonitorType: codeName(monitorTypes),
  MonitorStatus: codeState(monitorStates),
  Disabled: boolean,
  Accelerated: boolean,
  AccelerationStatus: codeState(accelerationStates),
}).ignoring(`Value Ttl AutoSslIssuance AcceleratedPullZoneId SmartRoutingType EnviromentalVariables`);
type DnsRecord = ValueOf<typeof record>;
type Records = readonly (DnsRecord | undefined)[];

/** A record with neither a monitor nor acceleration has no series. */
function hasMonitor({ Id, MonitorType = 'none' }: DnsRecord): boolean {
  return Id !== undefined && MonitorType !== 'none';
}

function monitored(all: Records): readonly DnsRecord[] {
  return all.flatMap((one) => (one && hasMonitor(one) ? [one] : []));
}

function isAccelerated({ Id, Accelerated }: DnsRecord): boolean {
  return Id !== undefined && Accelerated === true;
}

function accelerated(all: Records): readonly DnsRecord[] {
  return all.flatMap((one) => (one && isAccelerated(one) ? [one] : []));
}

const seriesOfMonitor = seriesOfStates(monitorStates);
const seriesOfAcceleration = seriesOfStates(accelerationStates);

const records = shown(
  listOf(shownWhere(record, (one) => hasMonitor(one) || isAccelerated(one))),
  {
    name: 'zone_records',
    words: 'Number of records of the DNS zone (length of the %s)',
    series: (all) => all.length,
  },
  {
    name: 'record_monitor_status',
    words:
      'What the monitor of each record says (%s, MonitorStatus): 1 for the state that it is in, 0 for the others; records without a monitor have none',
    labels: ['record_id', 'status'],
    series: (all) =>
      monitored(all).flatMap(({ Id: record_id = '', MonitorStatus }) =>
        MonitorStatus === undefined ? [] : labelled({ record_id }, seriesOfMonitor(MonitorStatus)),
      ),
  },
  {
    name: 'record_enabled',
    words:
      'Whether each record that has a monitor or is accelerated is enabled: 1 yes, 0 no (%s, 1 less Disabled)',
    labels: ['record_id'],
    series: (all) =>
      [...new Set([...monitored(all), ...accelerated(all)])].flatMap(({ Id: record_id = '', Disabled }) =>
        Disabled === undefined ? [] : [{ labels: { record_id }, value: 1 - Number(Disabled) }],
      ),
  },
  {
    name: 'record_acceleration_status',
    words:
      'How far the acceleration of each record is (%s, AccelerationStatus): 1 for the state that it is in, 0 for the others; records that are not accelerated have none',
    labels: ['record_id', 'status'],
    series: (all) =>
      accelerated(all).flatMap(({ Id: record_id = '', AccelerationStatus }) =>
        AccelerationStatus === undefined
          ? []
          : labelled({ record_id }, seriesOfAcceleration(AccelerationStatus)),
      ),
  },
);

const zone = object({
  Id: id,
  Domain: label('name'),
  NameserversDetected: flag(
    'zone_nameservers_detected',
    "Whether bunny.net says that the domain's nameservers are its own, so that it answers for the zone; a fresh zone can say yes without",
  ),
  DnsSecEnabled: flag('zone_dnssec_enabled', 'Whether DNSSEC is enabled for the DNS zone'),
  Records: records,
}).ignoring('DateModified DateCreated CustomNameserversEnabled LoggingEnabled');

const info: FamilyOf<ValueOf<typeof zone>> = {
  name: 'record_info',
  words: 'The host name and the type of each record that has a monitor or is accelerated',
  fields: ['Domain', 'Records'],
  labels: ['record_id', 'name', 'type'],
  series: ({ Domain = '', Records = [] }) =>
    [...new Set([...monitored(Records), ...accelerated(Records)])].map(({ Id = '', Name, Type = '' }) => {
      const name = [Name, Domain].filter(Boolean).join('.');
      return { labels: { record_id: Id, name, type: Type }, value: 1 };
    }),
};

const zonesWithRecords = defineListing({
  kind: 'dns_record',
  product: 'DNS',
  nouns: 'DNS zones with their records',
  path: '/dnszone',
  element: zone,
  elementNouns: 'DNS zones',
  ids: [{ label: 'dns_zone_id', setting: 'id', form: 'integer' }],
});

export const dnsRecord = defineListedResource({
  noun: 'DNS records',
  section: 'dns_records',
  familyPrefix: 'bunnynet_dns',
  defaultIntervalSeconds: 300,
  listing: zonesWithRecords,
  families: (own) => [...own, info],
});
