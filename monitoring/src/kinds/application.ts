/** Applications: status, latency, cost and volumes. */
import { type Dashboard, type Row, row, urlTo } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, grid, lines, numbers, textOf, timeline } from '../panels.ts';
import { all, type Entity, entityOf, named, namedAmong, namedWorst, selector, values } from '../promql.ts';
import { presence, type Rules } from '../rules.ts';
import { upText } from '../states.ts';
import { pickByName } from '../variables.ts';

export const application = entityOf({
  ids: ['app_id'],
  info: 'bunnynet_application_info',
  selection: ['app_id=~"$application"'],
});
const every = all(application);
const upFamily = 'bunnynet_application_up';

/** For every kind that is read for an application. */
export const applicationDashboard: Dashboard = {
  uid: 'bunnynet-application',
  title: 'Application',
  description: 'One application, or some of them side by side.',
  variables: () => [pickByName('application', 'Application', every, 'app_id')],
};

export const toApplication = {
  title: 'Open the application',
  url: urlTo(applicationDashboard, { application: '${__field.labels.app_id}' }),
};

/** ApplicationStatus from harmless to bad; in a timeline a status is its position in this list, from 1. */
const statuses = [
  ['active', 'green'],
  ['progressing', 'blue'],
  ['inactive', 'yellow'],
  ['unknown', 'orange'],
  ['suspended', 'purple'],
  ['failing', 'red'],
] as const;

const statusColors: Readonly<Record<string, string>> = Object.fromEntries(statuses);

const statusText = textOf({
  0: ['no reading', 'gray'],
  ...Object.fromEntries(statuses.map(([status, color], at) => [at + 1, [status, color] as const])),
});

const statusNumbers = statuses
  .map(([status], at) => `label_replace(vector(${at + 1}), "status", "${status}", "", "")`)
  .join(' or ');

/** One series an application: the number of its status, 0 while it cannot be read. */
function statusNumber(entity: Entity): string {
  const current = `${selector('bunnynet_application_status', entity.selection)} == 1`;
  const numbers = `max by (app_id) ((${current}) * on (status) group_left () (${statusNumbers}))`;
  return `${numbers} or on (app_id) ${values(entity, upFamily)} * 0`;
}

/** The statuses of the applications that were active for the least part of the panel's range, with the label `display`. */
function statusOfLeastActive(limit: number, entity: Entity): string {
  const active = values(entity, 'bunnynet_application_status', { where: ['status="active"'] });
  const inactivity = `1 - avg_over_time((${active} or on (app_id) ${values(entity, upFamily)} * 0)[$__range:$__interval] @ end())`;
  return namedAmong(`topk(${limit}, ${inactivity})`, entity, statusNumber(entity));
}

const up = values(application, upFamily);
const lastSuccess = values(application, 'bunnynet_application_last_success_timestamp_seconds');
const current = values(application, 'bunnynet_application_current_latency_seconds');
const average = values(application, 'bunnynet_application_average_latency_seconds');
const chart = values(application, 'bunnynet_application_latency_chart_latest_seconds');
const chartTime = values(application, 'bunnynet_application_latency_chart_latest_timestamp_seconds');
const cost = values(application, 'bunnynet_application_monthly_cost');
const volume = values(application, 'bunnynet_application_volume_size_bytes');

/** The rows of the table: at most a hundred, those in the worst state first. */
const rows = `topk(100, ${statusNumber(application)})`;

function inRows(expr: string): string {
  return `${expr} and on (app_id) ${rows}`;
}

function each(title: string, expr: string): { expr: string; legend: string } {
  return { expr: namedWorst(20, application, expr), legend: `{{display}}${title}` };
}

const everyCost = values(every, 'bunnynet_application_monthly_cost');
const everyLatency = values(every, 'bunnynet_application_current_latency_seconds');
const everyAverage = values(every, 'bunnynet_application_average_latency_seconds');
const everyVolume = values(every, 'bunnynet_application_volume_size_bytes');
/** The slowest now, for both columns of the table. */
const slowest = `topk(20, ${everyLatency})`;

const readable = presence(
  'application',
  ['app_id'],
  'bunnynet_application_up',
  'bunnynet_application_status{status="active"}',
);

const rules: Rules = {
  about: 'Applications: status, latency, cost, volumes.',
  groups: [
    {
      name: 'bunnynet-application',
      interval: '1m',
      rules: [
        ...readable.records,
        {
          alert: 'BunnynetApplicationFailing',
          expr: `max by (app_id) (last_over_time(bunnynet_application_status{status="failing"}[3m])) == 1`,
          for: '5m',
          keepFiringFor: '15m',
          severity: 'critical',
          held: readable,
          named: application,
          summary: 'Application {{ or $name $labels.app_id }} is failing',
          description:
            'The API has reported the status failing for application {{ $labels.app_id }} for [[for]] or more. While it cannot be read, the last known status counts.',
        },
        {
          alert: 'BunnynetApplicationSuspended',
          expr: `max by (app_id) (last_over_time(bunnynet_application_status{status="suspended"}[3m])) == 1`,
          for: '5m',
          severity: 'critical',
          held: readable,
          named: application,
          summary: 'Application {{ or $name $labels.app_id }} is suspended',
          description:
            'The API has reported the status suspended for application {{ $labels.app_id }} for [[for]] or more. While it cannot be read, the last known status counts.',
        },
        {
          alert: 'BunnynetApplicationNotActive',
          expr: `max by (app_id) (last_over_time(bunnynet_application_status{status=~"unknown|progressing|inactive"}[3m])) == 1`,
          for: '1h',
          severity: 'warning',
          held: readable,
          named: application,
          summary: 'Application {{ or $name $labels.app_id }} has not been active for [[for]]',
          description:
            'Application {{ $labels.app_id }} has been progressing, inactive or of unknown status for [[for]].',
        },
        {
          alert: 'BunnynetApplicationLatencyLeap',
          expr: `
          max by (app_id) (last_over_time(bunnynet_application_current_latency_seconds[3m]))
          > [[ratio]] * (max by (app_id) (last_over_time(bunnynet_application_average_latency_seconds[3m])) > 0)
          > [[seconds]]`,
          thresholds: { ratio: 3, seconds: 0.25 },
          for: '10m',
          keepFiringFor: '15m',
          severity: 'warning',
          held: readable,
          named: application,
          summary: 'Latency of application {{ or $name $labels.app_id }} has jumped',
          description:
            'The current latency of application {{ $labels.app_id }} has been more than [[ratio]] times its average and more than [[seconds]] s for [[for]].',
        },
      ],
    },
    {
      name: 'bunnynet-application-growth',
      interval: '2m',
      rules: [
        {
          record: 'bunnynet:application_monthly_cost:max',
          expr: `max by (app_id) (last_over_time(bunnynet_application_monthly_cost[3m]))`,
        },
        {
          record: 'bunnynet:application_volume_size_bytes:max',
          expr: `max by (app_id) (last_over_time(bunnynet_application_volume_size_bytes[3m]))`,
        },
        {
          alert: 'BunnynetApplicationCostLeap',
          comment: `
          The API may report the cost so far or a forecast; either way a day that costs as much as the one before is no jump. The
          days around the start of a month, when the cost falls, are left out.`,
          expr: `
          bunnynet:application_monthly_cost:max - last_over_time(bunnynet:application_monthly_cost:max[15m] offset 1d)
          > [[ratio]] * (last_over_time(bunnynet:application_monthly_cost:max[15m] offset 1d) - last_over_time(bunnynet:application_monthly_cost:max[15m] offset 2d) >= 0)
          + clamp_min([[share]] * last_over_time(bunnynet:application_monthly_cost:max[15m] offset 1d), [[dollars]])`,
          thresholds: { ratio: 2, share: 0.1, dollars: 10 },
          for: '30m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: application,
          summary: 'Cost of application {{ or $name $labels.app_id }} has jumped',
          description:
            'The monthly cost of application {{ $labels.app_id }} has grown within a day by more than [[ratio]] times what it grew the day before, plus {{ humanizePercentage "[[share]]" }} of its value (at least [[dollars]] US dollars).',
        },
        {
          alert: 'BunnynetApplicationVolumeGrowth',
          expr: `bunnynet:application_volume_size_bytes:max - last_over_time(bunnynet:application_volume_size_bytes:max[15m] offset 1d) > clamp_min([[share]] * last_over_time(bunnynet:application_volume_size_bytes:max[15m] offset 1d), [[gigabytes]] * 1e9)`,
          thresholds: { share: 0.2, gigabytes: 10 },
          for: '30m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: application,
          summary: 'Volumes of application {{ or $name $labels.app_id }} are growing fast',
          description:
            'The volumes of application {{ $labels.app_id }} have grown by more than {{ humanizePercentage "[[share]]" }} and by more than [[gigabytes]] GB within a day.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  return [
    row(overviewDashboard, 'At a glance', [
      numbers({
        title: 'Applications by status',
        description:
          'Number of applications in each status as the API last reported it (API field status). An application that cannot be read is not counted.',
        unit: 'short',
        span: 9,
        queries: [
          {
            expr: `sum by (status) (${values(every, 'bunnynet_application_status', { by: ['status'] })})`,
            legend: '{{status}}',
          },
        ],
        colors: statusColors,
        nothing: 'none',
      }),
      numbers({
        title: 'Monthly cost',
        description:
          'Sum over all applications that can be read, in US dollars (API field monthlyCost, for the month as the API reports it).',
        unit: 'currencyUSD',
        span: 3,
        queries: [{ expr: `sum(${everyCost})`, legend: 'cost' }],
        nothing: 'none',
      }),
    ]),
    row(overviewDashboard, 'Applications', [
      timeline({
        title: 'Status of the 25 applications that were active the least',
        description:
          'Status over time of the applications that were active for the least part of this range (API field status, as reported at each poll). Grey: the application could not be read. Gap: no exporter was running.',
        unit: 'none',
        span: 24,
        height: 11,
        queries: [
          {
            expr: statusOfLeastActive(25, every),
            legend: '{{display}}',
          },
        ],
        states: statusText,
        link: toApplication,
      }),
    ]),
    row(overviewDashboard, 'Latency and cost', [
      lines({
        title: 'Current latency: the 10 highest',
        description:
          'The applications with the highest peak in this range (API field currentLatency, at each poll; the API does not document the averaging period).',
        unit: 's',
        span: 12,
        queries: [{ expr: namedWorst(10, every, everyLatency), legend: '{{display}}' }],
        link: toApplication,
      }),
      grid({
        title: 'The 20 slowest applications now',
        description:
          'Current latency, average latency and their ratio (API fields currentLatency and averageLatency; the API does not document the averaging period).',
        unit: 's',
        span: 12,
        height: 8,
        key: {
          label: 'app_id',
          title: 'Id',
          link: {
            title: 'Open the application',
            url: urlTo(applicationDashboard, { application: '${__value.text}' }),
          },
        },
        labels: [{ label: 'display', title: 'Application' }],
        columns: [
          { title: 'Current', expr: named(every, slowest) },
          { title: 'Average', expr: `${everyAverage} and on (app_id) ${slowest}` },
          {
            title: 'Ratio',
            expr: `${slowest} / on (app_id) (${everyAverage} > 0)`,
            unit: 'short',
            steps: ['text', [1.5, 'orange'], [3, 'red']],
          },
        ],
        sort: { title: 'Current', descending: true },
      }),
      lines({
        title: 'Monthly cost: the 10 highest',
        description:
          'The most expensive applications in this range, in US dollars (API field monthlyCost, for the month as the API reports it).',
        unit: 'currencyUSD',
        span: 12,
        queries: [{ expr: namedWorst(10, every, everyCost), legend: '{{display}}' }],
        link: toApplication,
      }),
      bars({
        title: 'Volumes: the 10 largest',
        description: 'Size of all volumes of an application now (API field totalVolumeSizeInGb).',
        unit: 'decbytes',
        span: 12,
        queries: [{ expr: named(every, `topk(10, ${everyVolume})`), legend: '{{display}}' }],
        link: toApplication,
      }),
    ]),
    row(applicationDashboard, 'Now', [
      grid({
        title: 'Applications',
        description:
          'At most 100 of the selected applications, as they are now (API fields status, currentLatency, averageLatency, monthlyCost, totalVolumeSizeInGb; the API documents no window for any of them). The age is that of the last successful reading.',
        unit: 'short',
        span: 24,
        height: 8,
        key: { label: 'app_id', title: 'Id' },
        labels: [{ label: 'display', title: 'Application' }],
        columns: [
          { title: 'Status', expr: named(application, rows), unit: 'none', mappings: [statusText] },
          { title: 'Current latency', expr: inRows(current), unit: 's' },
          { title: 'Average latency', expr: inRows(average), unit: 's' },
          { title: 'Monthly cost', expr: inRows(cost), unit: 'currencyUSD' },
          { title: 'Volumes', expr: inRows(volume), unit: 'decbytes' },
          { title: 'Last poll', expr: inRows(up), unit: 'none', mappings: [upText] },
          {
            title: 'Age',
            expr: inRows(`time() - (${lastSuccess} > 0)`),
            unit: 's',
            steps: ['text', [300, 'orange'], [3600, 'red']],
          },
        ],
        sort: { title: 'Status', descending: true },
      }),
    ]),
    row(applicationDashboard, 'Over time', [
      timeline({
        title: 'Status',
        description:
          'Status over time (API field status, as reported at each poll), of the 20 applications that were active for the least part of this range. Grey: the application could not be read. Gap: no exporter was running.',
        unit: 'none',
        span: 24,
        height: 7,
        queries: [{ expr: statusOfLeastActive(20, application), legend: '{{display}}' }],
        states: statusText,
      }),
      lines({
        title: 'Latency',
        description:
          'Current and average latency, of the 20 applications with the highest peak in this range (API fields currentLatency and averageLatency; the API does not document the averaging period).',
        unit: 's',
        span: 12,
        queries: [each(' current', current), each(' average', average)],
      }),
      lines({
        title: 'Current latency to average',
        description:
          'Current latency divided by average latency (API fields currentLatency and averageLatency). An alert fires above 3.',
        unit: 'short',
        span: 12,
        steps: ['green', [3, 'red']],
        queries: [each('', `${current} / on (app_id) (${average} > 0)`)],
      }),
      lines({
        title: 'Newest point of the latency chart',
        description:
          'Latency of the newest entry of the chart that the API keeps (API field latencyChart; daily points have been seen).',
        unit: 's',
        span: 12,
        queries: [each('', chart)],
      }),
      lines({
        title: 'Age of the newest point of the latency chart',
        description:
          'Time since the newest entry of the chart (API field latencyChart, its newest key). With daily points it rises to a day and falls back.',
        unit: 's',
        span: 12,
        queries: [each('', `time() - ${chartTime}`)],
      }),
      lines({
        title: 'Monthly cost',
        description: 'In US dollars (API field monthlyCost, for the month as the API reports it).',
        unit: 'currencyUSD',
        span: 12,
        queries: [each('', cost)],
      }),
      lines({
        title: 'Volumes',
        description: 'Size of all volumes (API field totalVolumeSizeInGb, as it is at each poll).',
        unit: 'decbytes',
        span: 12,
        queries: [each('', volume)],
      }),
    ]),
    row(applicationDashboard, 'Readings', [
      numbers({
        title: 'Oldest reading',
        description:
          'Age of the oldest reading among the selected applications (the exporter’s own; no API field).',
        unit: 's',
        span: 6,
        steps: ['green', [300, 'orange'], [3600, 'red']],
        queries: [{ expr: `max(time() - (${lastSuccess} > 0))`, legend: 'oldest' }],
        nothing: 'none',
      }),
      lines({
        title: 'Share read at the last poll',
        description:
          'Share of the selected applications whose last poll succeeded (the exporter’s own; no API field).',
        unit: 'percentunit',
        span: 18,
        height: 4,
        max: 1,
        queries: [{ expr: `avg(${up})`, legend: 'read' }],
      }),
    ]),
  ];
}

export const applicationMonitoring: KindMonitoring = { kind: 'application', panels, rules };
