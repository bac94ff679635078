/** Pull zones: what they are, what they used this month, and how near they are to their limits. */
import { type Dashboard, type Row, row, urlTo } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, grid, numbers, textOf } from '../panels.ts';
import { all, entityOf, named, values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { onOff, yesNo } from '../states.ts';
import { pickByName } from '../variables.ts';

export const pullZone = entityOf({
  ids: ['pull_zone_id'],
  info: 'bunnynet_pull_zone_info',
  selection: ['pull_zone_id=~"$pullzone"'],
});
const every = all(pullZone);

/** For every kind that is read for a pull zone. */
export const cdnDashboard: Dashboard = {
  uid: 'bunnynet-cdn',
  title: 'CDN',
  description: 'Pull zones: traffic, cache, origin and errors, and what they cost.',
  variables: () => [pickByName('pullzone', 'Pull zone', every, 'pull_zone_id')],
};

export const toPullZone = {
  title: 'Open the pull zone',
  url: urlTo(cdnDashboard, { pullzone: '${__field.labels.pull_zone_id}' }),
};

const field = (name: string): string => values(pullZone, `bunnynet_pull_zone_${name}`);
const today = (name: string): string => values(pullZone, `bunnynet_pull_zone_statistics_${name}`);
const hostnames = (certificate: string): string =>
  values(pullZone, 'bunnynet_pull_zone_hostnames', { where: [`certificate="${certificate}"`] });

/** The rows of the table: the hundred with the most traffic, and those that cannot be read while there is room. */
const rows = `topk(100, ${field('monthly_bandwidth_bytes')} or on (pull_zone_id) ${field('up')} * 0)`;

function inRows(expr: string): string {
  return `${expr} and on (pull_zone_id) ${rows}`;
}

const ofLimit = `${field('monthly_bandwidth_bytes')} / (${field('monthly_bandwidth_limit_bytes')} > 0)`;
const yesIsBad = textOf({ 0: ['no', 'text'], 1: ['yes', 'red'] });
/** Type */
const network = textOf({ 0: ['premium', 'text'], 1: ['volume', 'text'] });

const readable = presence(
  'pull_zone',
  ['pull_zone_id'],
  'bunnynet_pull_zone_up',
  'bunnynet_pull_zone_monthly_bandwidth_bytes',
);

const rules: Rules = {
  about: 'Pull zones: limits and certificates.',
  groups: [
    {
      name: 'bunnynet-pull-zone',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          alert: 'BunnynetPullZoneBandwidthLimitNear',
          comment: 'A limit of 0 is none.',
          expr: `
          max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_monthly_bandwidth_bytes[3m]))
          / (max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_monthly_bandwidth_limit_bytes[3m])) > 0)
          >= [[share]]`,
          thresholds: { share: 0.9 },
          for: '10m',
          severity: 'warning',
          held: readable,
          named: pullZone,
          summary: 'Pull zone {{ or $name $labels.pull_zone_id }} has nearly used up its bandwidth',
          description:
            'Pull zone {{ $labels.pull_zone_id }} has used {{ $value | humanizePercentage }} of the bandwidth that it may use this month.',
        },
        {
          alert: 'BunnynetPullZoneCertificateMissing',
          expr: `max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_hostnames{certificate="no"}[3m])) > [[hostnames]]`,
          thresholds: { hostnames: 0 },
          for: '1h',
          severity: 'warning',
          held: readable,
          named: pullZone,
          summary: 'Pull zone {{ or $name $labels.pull_zone_id }} has hostnames without a certificate',
          description:
            'Pull zone {{ $labels.pull_zone_id }} has had {{ $value }} hostnames without a certificate for [[for]].',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  return [
    row(overviewDashboard, 'CDN', [
      ranked(10, every, values(every, 'bunnynet_pull_zone_monthly_bandwidth_bytes'), {
        title: 'Bandwidth of the month: the 10 largest pull zones',
        description:
          'Bandwidth used in this calendar month, which starts from 0 (API field MonthlyBandwidthUsed).',
        unit: 'decbytes',
        span: 8,
        link: toPullZone,
      }),
    ]),
    row(cdnDashboard, 'Pull zones', [
      grid({
        title: 'Pull zones',
        description:
          'At most 100 of the selected pull zones, those with the most traffic of the month first (API fields MonthlyBandwidthUsed, MonthlyBandwidthLimit, MonthlyCharges, Enabled, Suspended, Type, Hostnames, OptimizerEnabled, EnableOriginShield, EnableSafeHop as they are now; RequestsServedChart, CacheHitRate and AverageOriginResponseTime of the UTC day so far).',
        unit: 'short',
        span: 24,
        height: 10,
        key: { label: 'pull_zone_id', title: 'Id' },
        labels: [{ label: 'display', title: 'Pull zone' }],
        columns: [
          { title: 'Month', expr: named(pullZone, rows), unit: 'decbytes' },
          {
            title: 'of limit',
            expr: inRows(`(${ofLimit})`),
            unit: 'percentunit',
            steps: ['text', [0.9, 'orange'], [1, 'red']],
          },
          { title: 'Charges', expr: inRows(field('monthly_charges_dollars')), unit: 'currencyUSD' },
          { title: 'Requests today', expr: inRows(today('requests_latest_day')) },
          { title: 'Hit ratio today', expr: inRows(today('cache_hit_ratio')), unit: 'percentunit' },
          { title: 'Origin today', expr: inRows(today('origin_response_time_seconds')), unit: 's' },
          { title: 'Enabled', expr: inRows(field('enabled')), unit: 'none', mappings: [onOff] },
          { title: 'Suspended', expr: inRows(field('suspended')), unit: 'none', mappings: [yesIsBad] },
          { title: 'Network', expr: inRows(field('type')), unit: 'none', mappings: [network] },
          {
            title: 'No certificate',
            expr: inRows(hostnames('no')),
            steps: ['text', [1, 'orange']],
          },
          { title: 'Certificates', expr: inRows(hostnames('yes')) },
          { title: 'Optimizer', expr: inRows(field('optimizer_enabled')), unit: 'none', mappings: [yesNo] },
          {
            title: 'Origin Shield',
            expr: inRows(field('origin_shield_enabled')),
            unit: 'none',
            mappings: [yesNo],
          },
          { title: 'SafeHop', expr: inRows(field('safehop_enabled')), unit: 'none', mappings: [yesNo] },
        ],
        sort: { title: 'Month', descending: true },
      }),
      bars({
        title: 'Bandwidth, of that allowed: the 15 nearest to their limit',
        description:
          'Share of the bandwidth that a pull zone may use this month (API fields MonthlyBandwidthUsed and MonthlyBandwidthLimit). An alert fires from 90 %.',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [0.9, 'orange'], [1, 'red']],
        queries: [{ expr: named(pullZone, `topk(15, ${ofLimit})`), legend: '{{display}}' }],
      }),
      bars({
        title: 'Charges of the month: the 15 highest',
        description: 'In US dollars, this calendar month so far (API field MonthlyCharges).',
        unit: 'currencyUSD',
        span: 8,
        queries: [
          {
            expr: named(pullZone, `topk(15, ${field('monthly_charges_dollars')})`),
            legend: '{{display}}',
          },
        ],
      }),
      numbers({
        title: 'Pull zones',
        description:
          'How many of the selected pull zones there are, are suspended, and have a hostname without a certificate (API fields Suspended and Hostnames, HasCertificate).',
        unit: 'short',
        span: 8,
        height: 8,
        queries: [
          { expr: `count(${field('up')})`, legend: 'all' },
          { expr: `count(${field('suspended')} == 1) or vector(0)`, legend: 'suspended' },
          { expr: `count(${hostnames('no')} > 0) or vector(0)`, legend: 'without a certificate' },
        ],
        colors: { suspended: 'red', 'without a certificate': 'orange' },
        nothing: 'none',
      }),
    ]),
  ];
}

export const pullZoneMonitoring: KindMonitoring = { kind: 'pull_zone', panels, rules };
