/** The records of DNS zones: what their monitors say, and whether the zone answers at all. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { numbers } from '../panels.ts';
import { anywhere, entityOf, seriesOf, values } from '../promql.ts';
import { presence, type Rules } from '../rules.ts';
import { yesNo } from '../states.ts';
import { grid } from '../tables.ts';
import { dnsZone, storageDnsDashboard } from './storage-zone.ts';

/** A record goes by the name of its zone, beside its own. */
const record = {
  ...entityOf({
    ids: ['dns_zone_id', 'record_id'],
    info: 'bunnynet_dns_zone_info',
    known: ['bunnynet_dns_record_monitor_status'],
    selection: ['dns_zone_id=~"$dns"'],
  }),
  nameIds: ['dns_zone_id'],
};
const status = 'bunnynet_dns_record_monitor_status';

const readable = presence(
  'dns_record',
  ['dns_zone_id'],
  'bunnynet_dns_record_up',
  'bunnynet_dns_zone_nameservers_detected',
);

const rules: Rules = {
  about: 'DNS records: their monitors, and the nameservers of their zones.',
  groups: [
    {
      name: 'bunnynet-dns-record',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          record: 'bunnynet:dns_record_offline',
          forDashboards: true,
          comment:
            'For the dashboards: whether each monitored record is offline, with its host and its type.',
          expr: `
          max by (dns_zone_id, record_id, name, type) (
            last_over_time(bunnynet_dns_record_info[3m])
            * on (job, instance, dns_zone_id, record_id) group_left () last_over_time(bunnynet_dns_record_monitor_status{status="offline"}[3m])
          )`,
        },
        {
          alert: 'BunnynetDnsRecordOffline',
          comment: 'bunny.net itself tells nobody.',
          expr: `
          sum by (dns_zone_id) (
            max by (dns_zone_id, record_id) (last_over_time(bunnynet_dns_record_monitor_status{status="offline"}[3m]))
          ) >= [[records]]`,
          thresholds: { records: 1 },
          for: '5m',
          keepFiringFor: '10m',
          severity: 'critical',
          held: readable,
          named: dnsZone,
          summary: 'Records of the DNS zone {{ or $name $labels.dns_zone_id }} are offline',
          description:
            'The monitors of {{ $value }} records of the DNS zone {{ $labels.dns_zone_id }} have reported them offline for [[for]]. Smart records no longer answer with them.',
        },
        {
          alert: 'BunnynetDnsZoneNameserversNotDetected',
          expr: 'max by (dns_zone_id) (last_over_time(bunnynet_dns_zone_nameservers_detected[3m])) == 0',
          for: '1h',
          severity: 'warning',
          held: readable,
          named: dnsZone,
          summary: 'The DNS zone {{ or $name $labels.dns_zone_id }} is not served by bunny.net',
          description:
            'bunny.net has not found its nameservers at the domain of the DNS zone {{ $labels.dns_zone_id }} for [[for]]: the zone answers nobody.',
        },
      ],
    },
  ],
};

const toDnsZone = linkTo(storageDnsDashboard.uid, 'Open the DNS zone', {
  dns: '${__data.fields.dns_zone_id}',
});
function panels(): readonly Row[] {
  return [
    row(storageDnsDashboard, 'Monitors', [
      numbers({
        title: 'Monitored records',
        description:
          'Records of the selected DNS zones by what their monitors say (API field MonitorStatus, as it is at each poll). Records without a monitor are not counted.',
        unit: 'short',
        span: 8,
        height: 9,
        link: linkTo('bunnynet-exporter', 'Open the exporter'),
        queries: [
          {
            expr: `sum by (status) (${values(record, status, { by: ['status'] })})`,
            legend: '{{status}}',
          },
        ],
        nothing: 'none',
        alerts: ['BunnynetDnsRecordOffline'],
      }),
      grid({
        title: 'Monitored records, those offline first',
        description:
          'At most 100 of the selected DNS zones (API fields Records: Name, Type and MonitorStatus, as they are now).',
        unit: 'none',
        span: 16,
        entity: { ...record, ids: ['dns_zone_id', 'record_id', 'name', 'type'] },
        rows: `topk(100, bunnynet:dns_record_offline and on (dns_zone_id, record_id) ${seriesOf(record, status, ['status="offline"'])})`,
        name: 'DNS zone',
        link: toDnsZone,
        labels: [
          { source: 'name', title: 'Host' },
          { source: 'type', title: 'Type' },
        ],
        columns: [
          {
            title: 'Offline',
            expr: 'bunnynet:dns_record_offline',
            mappings: [yesNo],
            steps: ['text', [1, 'red']],
          },
        ],
        sort: { title: 'Offline', descending: true },
        alerts: ['BunnynetDnsRecordOffline'],
      }),
      grid({
        title: 'DNS zones',
        description:
          'At most 100 of the selected DNS zones (API fields NameserversDetected, DnsSecEnabled and Records, as they are now).',
        unit: 'short',
        span: 24,
        entity: dnsZone,
        rows: `topk(100, ${values(dnsZone, 'bunnynet_dns_zone_records')})`,
        name: 'DNS zone',
        link: toDnsZone,
        columns: [
          {
            title: 'Nameservers found',
            expr: values(anywhere(dnsZone), 'bunnynet_dns_zone_nameservers_detected'),
            unit: 'none',
            mappings: [yesNo],
            steps: ['red', [1, 'text']],
          },
          {
            title: 'DNSSEC',
            expr: values(anywhere(dnsZone), 'bunnynet_dns_zone_dnssec_enabled'),
            unit: 'none',
            mappings: [yesNo],
          },
          { title: 'Records', expr: values(anywhere(dnsZone), 'bunnynet_dns_zone_records') },
        ],
        sort: { title: 'Records', descending: true },
        alerts: ['BunnynetDnsZoneNameserversNotDetected'],
      }),
    ]),
  ];
}

export const dnsRecordMonitoring: KindMonitoring = { kind: 'dns_record', panels, rules };
