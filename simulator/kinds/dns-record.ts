/** The records of DNS zones, some of them with a monitor (`/dnszone`, in full). */
import { corePaging, listed } from '../answers.ts';
import { hash, secret } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind } from '../kind.ts';
import { type DnsZone, liteZone } from './dns-zone.ts';

export const dnsRecord = {
  kind: 'dns_record',
  section: 'dns_records',
  ...coreApi,
  path: '/dnszone',
  traits: { isStill: true, field: 'Items', ids: ['Id'], name: 'Domain' },
  ...listed('dnsZones', corePaging, (zone: DnsZone, request) => ({
    ...liteZone(zone, request),
    Records: recordsOf(zone),
  })),
} as const satisfies Kind;

const records = [
  { Type: 0, Name: '', Value: '192.0.2.10', MonitorType: 1 },
  { Type: 0, Name: 'api', Value: '192.0.2.11', MonitorType: 2 },
  { Type: 1, Name: '', Value: '2001:db8::10', MonitorType: 0 },
  { Type: 2, Name: 'www', Value: 'shop.b-cdn.net', MonitorType: 0 },
  { Type: 4, Name: '', Value: 'mail.example', MonitorType: 0 },
  { Type: 3, Name: '_verify', Value: '', MonitorType: 0 },
] as const;

/** The records of a zone. In one zone of twenty the records with a monitor are offline. */
function recordsOf({ seed, index, id }: DnsZone) {
  const monitored = index % 20 === 19 ? 2 : 1;
  return records.slice(0, 2 + (hash(seed, 0x94) % 5)).map((record, place) => ({
    Id: jsonInteger(`${id}0${place}`),
    ...record,
    Ttl: 300,
    Disabled: false,
    Value: record.Type === 3 ? secret('dns-value', hash(seed, 0x95)) : record.Value,
    EnviromentalVariables: [{ Name: 'TOKEN', Value: secret('dns-variable', hash(seed, 0x96)) }],
    MonitorStatus: record.MonitorType === 0 ? 0 : monitored,
    // The address without a name is accelerated.
    Accelerated: place === 0,
    AccelerationStatus: place === 0 ? 1 + (index % 3) : 0,
    AcceleratedPullZoneId: 0,
    AutoSslIssuance: true,
    SmartRoutingType: 0,
  }));
}
