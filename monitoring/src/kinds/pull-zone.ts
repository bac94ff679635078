/** Pull zones: what they are, what they used this month, and how near they are to their limits. */
import { type Dashboard, type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { numbers, textOf } from '../panels.ts';
import { all, anywhere, entityOf, highest, selector, seriesOf, share, values } from '../promql.ts';
import { ranked, rankedNow } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { onOff, yesNo } from '../states.ts';
import { grid } from '../tables.ts';
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
  picked: ['pull_zone_id=~"$pullzone|"'],
  details: ['Optimizer', 'Origin Shield and SafeHop', 'Readings'],
  variables: () => [pickByName('pullzone', 'Pull zone', every, 'pull_zone_id')],
};

const open = 'Open the pull zone';
export const toPullZone = linkTo(cdnDashboard.uid, open, { pullzone: '${__field.labels.pull_zone_id}' });
const rowToPullZone = linkTo(cdnDashboard.uid, open, { pullzone: '${__data.fields.pull_zone_id}' });

const network = textOf({ 0: ['premium', 'text'], 1: ['volume', 'text'] });
const family = (name: string): string => `bunnynet_pull_zone_${name}`;
const field = (name: string): string => values(anywhere(pullZone), family(name));
const hostnames = (certificate: string): string =>
  values(anywhere(pullZone), family('hostnames'), { where: [`certificate="${certificate}"`] });

/** The rows of the table: the hundred with the most traffic, and those that cannot be read while there is room. */
const rows = `topk(100, ${highest(pullZone, selector('', ['__name__=~"bunnynet_pull_zone_(up|monthly_bandwidth_bytes)"', ...pullZone.matchers]))})`;

const yesIsBad = textOf({ 0: ['no', 'text'], 1: ['yes', 'red'] });
/** Type */

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
        displayRecord(pullZone),
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
  const ofLimit = share(pullZone, family('monthly_bandwidth_bytes'), family('monthly_bandwidth_limit_bytes'));
  const count = (expr: string): string => `count(${highest(pullZone, expr)}) or vector(0)`;
  return [
    row(overviewDashboard, 'CDN', [
      ranked(
        10,
        every,
        { metric: family('monthly_bandwidth_bytes') },
        {
          title: 'Bandwidth of the month: the 10 largest',
          description:
            'Bandwidth that a pull zone used in this calendar month, which starts from 0 (API field MonthlyBandwidthUsed).',
          unit: 'decbytes',
          span: 8,
          link: toPullZone,
          alerts: ['BunnynetPullZoneBandwidthLimitNear'],
        },
      ),
    ]),
    row(cdnDashboard, 'Pull zones', [
      grid({
        title: 'Pull zones',
        description:
          'At most 100 of the selected pull zones, those with the most traffic of the month first (API fields MonthlyBandwidthUsed, MonthlyBandwidthLimit, MonthlyCharges, Enabled, Suspended, Type, Hostnames, OptimizerEnabled, EnableOriginShield, EnableSafeHop as they are now; RequestsServedChart as «Requests», CacheHitRate as «Hits», and AverageOriginResponseTime, of the UTC day so far).',
        unit: 'short',
        span: 24,
        height: 10,
        entity: pullZone,
        rows,
        name: 'Pull zone',
        link: rowToPullZone,
        columns: [
          { title: 'Month', expr: field('monthly_bandwidth_bytes'), unit: 'decbytes' },
          {
            title: 'of limit',
            expr: share(
              anywhere(pullZone),
              family('monthly_bandwidth_bytes'),
              family('monthly_bandwidth_limit_bytes'),
            ),
            unit: 'percentunit',
            steps: ['text', [0.9, 'orange'], [1, 'red']],
          },
          { title: 'Charges', expr: field('monthly_charges_dollars'), unit: 'currencyUSD' },
          { title: 'Requests', expr: field('statistics_requests_latest_day') },
          { title: 'Hits', expr: field('statistics_cache_hit_ratio'), unit: 'percentunit' },
          { title: 'Origin', expr: field('statistics_origin_response_time_seconds'), unit: 's' },
          { title: 'Enabled', expr: field('enabled'), unit: 'none', mappings: [onOff] },
          { title: 'Suspended', expr: field('suspended'), unit: 'none', mappings: [yesIsBad] },
          { title: 'Network', expr: field('type'), unit: 'none', mappings: [network] },
          { title: 'No cert.', expr: hostnames('no'), steps: ['text', [1, 'orange']] },
          { title: 'Optimizer', expr: field('optimizer_enabled'), unit: 'none', mappings: [yesNo] },
          { title: 'Shield', expr: field('origin_shield_enabled'), unit: 'none', mappings: [yesNo] },
          { title: 'SafeHop', expr: field('safehop_enabled'), unit: 'none', mappings: [yesNo] },
        ],
        sort: { title: 'Month', descending: true },
        alerts: ['BunnynetPullZoneBandwidthLimitNear', 'BunnynetPullZoneCertificateMissing'],
      }),
      rankedNow(10, pullZone, ofLimit, {
        title: 'Bandwidth, of that allowed: the 10 nearest',
        description:
          'Share of the bandwidth that a pull zone may use this month (API fields MonthlyBandwidthUsed and MonthlyBandwidthLimit). An alert fires from 90 %.',
        unit: 'percentunit',
        span: 9,
        steps: ['green', [0.9, 'orange'], [1, 'red']],
        link: toPullZone,
        nothing: 'No pull zone has a limit.',
        alerts: ['BunnynetPullZoneBandwidthLimitNear'],
      }),
      rankedNow(10, pullZone, values(pullZone, family('monthly_charges_dollars')), {
        title: 'Charges of the month: the 10 highest',
        description: 'In US dollars, this calendar month so far (API field MonthlyCharges).',
        unit: 'currencyUSD',
        span: 9,
        link: toPullZone,
      }),
      numbers({
        title: 'Pull zones',
        description:
          'How many of the selected pull zones there are, are suspended, and have a hostname without a certificate (API fields Suspended and Hostnames, HasCertificate).',
        unit: 'short',
        span: 6,
        height: 8,
        queries: [
          { expr: `count(${values(pullZone, family('up'))})`, legend: 'all' },
          { expr: count(`${seriesOf(pullZone, family('suspended'))} == 1`), legend: 'suspended' },
          {
            expr: count(`${seriesOf(pullZone, family('hostnames'), ['certificate="no"'])} > 0`),
            legend: 'without a certificate',
          },
        ],
        wrong: { suspended: 'red', 'without a certificate': 'orange' },
        nothing: 'none',
        link: linkTo('bunnynet-exporter', 'Open the exporter'),
        alerts: ['BunnynetPullZoneCertificateMissing'],
      }),
    ]),
  ];
}

export const pullZoneMonitoring: KindMonitoring = { kind: 'pull_zone', panels, rules };
