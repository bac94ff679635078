/** The records of DNS zones: what their monitors report, and whether the zone is served at all. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { toExporter } from '../links.ts';
import { numbers, yesNo } from '../panels.ts';
import { anywhere, highest, seriesOf, values } from '../promql.ts';
import { upToThree } from '../rules.ts';
import { grid } from '../tables.ts';
import { dnsZone, storageDnsDashboard } from './storage-zone.ts';

const status = 'bunnynet_dns_record_monitor_status';
const offline = 'bunnynet:dns_record_offline';

/** Whether each record is offline, and the same with its name. */
const isOffline =
  'max by (dns_zone_id, record_id) (last_over_time(bunnynet_dns_record_monitor_status{status="offline"}[3m:1m]))';
const offlineByName = `(
            group by (dns_zone_id, record_id, name) (last_over_time(bunnynet_dns_record_info[3m:1m]))
            * on (dns_zone_id, record_id) group_left () ${isOffline}
          )`;

/** A record is shown with its own name and the zone's. */
const record = { ...dnsZone, ids: ['dns_zone_id', 'record_id'] };
const statuses = values(record, status, ['status']);
const field = (name: string): string => values(anywhere(dnsZone), `bunnynet_dns_zone_${name}`);

/** A row in the table of records, which has their hosts and types from the record. */
const listed = { ...record, ids: ['dns_zone_id', 'record_id', 'name', 'type'] };

export const dnsRecord: KindMonitoring = {
  kind: 'dns_record',
  rules: {
    about: 'DNS records: their monitors, and the nameservers of their zones.',
    reading: 'bunnynet_dns_zone_nameservers_detected',
    subject: dnsZone,
    interval: '1m',
    records: [
      {
        record: offline,
        forDashboards: true,
        comment: 'For the dashboards: whether each monitored record is offline, with its host and its type.',
        expr: `
          max by (dns_zone_id, record_id, name, type) (
            group by (dns_zone_id, record_id, name, type) (last_over_time(bunnynet_dns_record_info[3m:1m]))
            * on (dns_zone_id, record_id) group_left ()
            max by (dns_zone_id, record_id) (last_over_time(bunnynet_dns_record_monitor_status{status="offline"}[3m:1m]))
          )`,
      },
    ],
    alerts: {
      BunnynetDnsRecordOffline: {
        comment:
          'bunny.net itself notifies nobody. A warning where of each name there is another monitored record, of any type, that is not offline.',
        expr: `
          label_replace(
            (sum by (dns_zone_id) (${isOffline}) >= [[records]])
            and on (dns_zone_id) ${offlineByName}
            unless on (dns_zone_id) min by (dns_zone_id, name) (${offlineByName}) == 1,
            "severity", "warning", "", ""
          )
          or on (dns_zone_id) sum by (dns_zone_id) (${isOffline}) >= [[records]]`,
        thresholds: { records: 1 },
        for: '5m',
        keepFiringFor: '10m',
        severity: '{{ or $labels.severity "critical" }}',
        summary: 'Records of the DNS zone {{ or $name $labels.dns_zone_id }} are offline',
        description:
          'Records of the DNS zone {{ $labels.dns_zone_id }} that their monitors have reported offline for [[for]]: {{ $value }} (' +
          upToThree(
            'name',
            'max by (name) (last_over_time(bunnynet_dns_record_info{%s}[3m:1m]) and on (job, instance, record_id) last_over_time(bunnynet_dns_record_monitor_status{status="offline"}[3m:1m]) == 1)',
            ['dns_zone_id'],
            'not read now',
          ) +
          '). Smart records no longer answer with them.{{ if eq $labels.severity "warning" }} Of each name there are others.{{ else }} Of a name none is left.{{ end }}',
      },
      BunnynetDnsZoneNameserversNotDetected: {
        comment: 'Where that is so for a day, it is on purpose, or known.',
        expr: `
          max by (dns_zone_id) (last_over_time(bunnynet_dns_zone_nameservers_detected[3m:1m])) == 0
          and max by (dns_zone_id) (max_over_time(bunnynet_dns_zone_nameservers_detected[1d])) == 1`,
        for: '1h',
        summary: 'The DNS zone {{ or $name $labels.dns_zone_id }} is not served by bunny.net',
        description:
          'bunny.net has not found its nameservers at the domain of the DNS zone {{ $labels.dns_zone_id }} for [[for]], so the zone is not in use. It found them within the past day.',
      },
    },
  },
  rows: [
    row(storageDnsDashboard, 'Monitors', [
      numbers('Monitored records', 'short', 8, {
        description:
          'Records of the selected DNS zones by what their monitors say (API field MonitorStatus, as it is at each poll). Records without a monitor are not counted.',
        height: 9,
        queries: { '{{status}}': `sum by (status) (${statuses})` },
        link: toExporter,
        alerts: ['BunnynetDnsRecordOffline'],
      }),
      grid('Monitored records, offline first', 'none', 16, {
        description:
          'At most 100 of the selected DNS zones (API fields Records: Name, Type and MonitorStatus, as they are now).',
        entity: listed,
        rows: `topk(100, ${offline} and on (dns_zone_id, record_id) ${seriesOf(record, status, ['status="offline"'])})`,
        labels: { name: 'Host', type: 'Type' },
        columns: [
          { title: 'Offline', expr: highest(listed, offline), text: yesNo, steps: ['text', [1, 'red']] },
        ],
        alerts: ['BunnynetDnsRecordOffline'],
      }),
      numbers('Accelerated records', 'short', 8, {
        description:
          'Accelerated records of the selected DNS zones by how far that is (API field AccelerationStatus, as it is at each poll).',
        height: 9,
        queries: {
          '{{status}}': `sum by (status) (${values(record, 'bunnynet_dns_record_acceleration_status', ['status'])})`,
        },
        wrong: { failed: 'red' },
        link: toExporter,
      }),
      grid('DNS zones', 'short', 16, {
        description:
          'At most 100 of the selected DNS zones (API fields NameserversDetected, DnsSecEnabled and Records, as they are now).',
        entity: dnsZone,
        rows: `topk(100, ${values(dnsZone, 'bunnynet_dns_zone_records')})`,
        columns: [
          {
            title: 'Nameservers found',
            expr: field('nameservers_detected'),
            text: yesNo,
            steps: ['red', [1, 'text']],
          },
          { title: 'DNSSEC', expr: field('dnssec_enabled'), text: yesNo },
          { title: 'Records', expr: field('records') },
        ],
        sort: 'Records',
        alerts: ['BunnynetDnsZoneNameserversNotDetected'],
      }),
    ]),
  ],
};
