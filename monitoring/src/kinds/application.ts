/** Applications: status, latency, cost and volumes. */
import { type Dashboard, type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, numbers, textOf, timeline } from '../panels.ts';
import {
  all,
  anywhere,
  type Entity,
  entityOf,
  highest,
  named,
  ranking,
  seriesOf,
  values,
} from '../promql.ts';
import { ranked, rankedNow } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { upText } from '../states.ts';
import { grid } from '../tables.ts';
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
  picked: ['app_id=~"$application|"'],
  details: ['Latency chart', 'Regions', 'Volumes', 'Readings'],
  variables: () => [pickByName('application', 'Application', every, 'app_id')],
};

const open = 'Open the application';
export const toApplication = linkTo(applicationDashboard.uid, open, {
  application: '${__field.labels.app_id}',
});
/** The same from a table. */
export const rowToApplication = linkTo(applicationDashboard.uid, open, {
  application: '${__data.fields.app_id}',
});
const toExporter = linkTo('bunnynet-exporter', 'Open the exporter');

/** ApplicationStatus from harmless to bad; in a timeline a status is its position in this list, from 1. */
const statuses = [
  ['active', 'green'],
  ['progressing', 'blue'],
  ['inactive', 'dark-yellow'],
  ['unknown', 'orange'],
  ['suspended', 'purple'],
  ['failing', 'red'],
] as const;

export const statusColors: Readonly<Record<string, string>> = Object.fromEntries(statuses);

/** After the statuses: an application that cannot be read. */
const unread = statuses.length + 1;

const statusText = textOf({
  ...Object.fromEntries(statuses.map(([status, color], at) => [at + 1, [status, color] as const])),
  [unread]: ['no reading', 'gray'],
});

const statusNumber = 'bunnynet:application_status:number';
const statusNumbers = statuses
  .map(([status], at) => `label_replace(vector(${at + 1}), "status", "${status}", "", "")`)
  .join('\n              or ');

const latency = 'bunnynet_application_current_latency_seconds';
const averageLatency = 'bunnynet_application_average_latency_seconds';
const cost = 'bunnynet_application_monthly_cost';
const volume = 'bunnynet_application_volume_size_bytes';
const lastSuccess = 'bunnynet_application_last_success_timestamp_seconds';

/** A family wherever it is: for a table that has chosen its rows. */
const of = (metric: string): string => values(anywhere(application), metric);
const ratio = (entity: Entity): string =>
  highest(entity, `${seriesOf(entity, latency)} / (${averageLatency} > 0)`);

function each(metric: string, legend = ''): { expr: string; legend: string } {
  return { expr: ranking(20, application, { metric }), legend: `{{display}}${legend}` };
}

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
        displayRecord(application),
        {
          record: statusNumber,
          forDashboards: true,
          comment: `For the dashboards: the status as a number, from harmless to bad; ${unread} while there is no reading.`,
          expr: `
            sum without (status) (bunnynet_application_status * on (status) group_left () (
              ${statusNumbers}
            ))
            or bunnynet_application_up * 0 + ${unread}`,
        },
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

/**
 * Worst at the end of the range first: the number of a status grows with what is wrong. Grafana draws bands as they come, and
 * Prometheus sends series in the order of their labels, so their place is a label that comes before all others.
 */
function timelineOf(limit: number, entity: Entity): string {
  const number = values(anywhere(entity), statusNumber);
  const last = highest(entity, `last_over_time(${seriesOf(entity, statusNumber)}[$__range] @ end())`);
  const places = `count_values by (app_id) ("_place", 9 - topk(${limit}, ${last}))`;
  return `${named(entity, number)} * on (app_id) group_left (_place) ${places}`;
}

const rows = `topk(100, ${values(application, statusNumber)})`;

function panels(): readonly Row[] {
  const slowest = `topk(20, ${values(every, latency)})`;
  return [
    row(overviewDashboard, 'At a glance', [
      numbers({
        title: 'Applications by status',
        description:
          'Number of applications in each status as the API last reported it (API field status). An application that cannot be read is not counted.',
        unit: 'short',
        span: 11,
        queries: [
          {
            expr: `sum by (status) (${values(every, 'bunnynet_application_status', { by: ['status'] })})`,
            legend: '{{status}}',
          },
        ],
        colors: statusColors,
        nothing: 'none',
        link: linkTo(applicationDashboard.uid, 'Open the applications'),
        alerts: [
          'BunnynetApplicationFailing',
          'BunnynetApplicationSuspended',
          'BunnynetApplicationNotActive',
        ],
      }),
    ]),
    row(overviewDashboard, 'Applications', [
      timeline({
        title: 'Status of the 15 worst applications',
        description:
          'Status over time of the applications that are in the worst states at the end of this range, worst first (API field status, as reported at each poll). Grey: the application could not be read. Gap: no exporter was running.',
        unit: 'none',
        span: 24,
        queries: [{ expr: timelineOf(15, every), legend: '{{display}}' }],
        states: statusText,
        link: toApplication,
        alerts: ['BunnynetApplicationFailing'],
      }),
    ]),
    row(overviewDashboard, 'Applications', [
      ranked(
        10,
        every,
        { metric: latency },
        {
          title: 'Current latency: the 10 highest',
          description:
            'The applications with the highest peak in this range (API field currentLatency, at each poll; the API does not document the averaging period).',
          unit: 's',
          span: 12,
          link: toApplication,
          alerts: ['BunnynetApplicationLatencyLeap'],
        },
      ),
      grid({
        title: 'The 20 slowest applications now',
        description:
          'Current latency, average latency and their ratio (API fields currentLatency and averageLatency; the API does not document the averaging period).',
        unit: 's',
        span: 12,
        height: 8,
        entity: every,
        rows: slowest,
        name: 'Application',
        link: rowToApplication,
        columns: [
          { title: 'Current', expr: of(latency) },
          { title: 'Average', expr: of(averageLatency) },
          {
            title: 'Ratio',
            expr: ratio(anywhere(application)),
            unit: 'short',
            steps: ['text', [1.5, 'orange'], [3, 'red']],
          },
        ],
        sort: { title: 'Current', descending: true },
        alerts: ['BunnynetApplicationLatencyLeap'],
      }),
      ranked(
        10,
        every,
        { metric: cost },
        {
          title: 'Monthly cost: the 10 highest',
          description:
            'The most expensive applications in this range, in US dollars (API field monthlyCost, for the month as the API reports it).',
          unit: 'currencyUSD',
          span: 12,
          link: toApplication,
          alerts: ['BunnynetApplicationCostLeap'],
        },
      ),
      rankedNow(10, every, values(every, volume), {
        title: 'Volumes: the 10 largest',
        description: 'Size of all volumes of an application now (API field totalVolumeSizeInGb).',
        unit: 'decbytes',
        span: 12,
        link: toApplication,
        alerts: ['BunnynetApplicationVolumeGrowth'],
      }),
    ]),
    row(applicationDashboard, 'Now', [
      grid({
        title: 'Applications',
        description:
          'At most 100 of the selected applications, as they are now (API fields status, currentLatency, averageLatency, monthlyCost, totalVolumeSizeInGb; the API documents no window for any of them). The age is that of the last successful reading.',
        unit: 'short',
        span: 24,
        height: 10,
        entity: application,
        rows,
        name: 'Application',
        link: rowToApplication,
        columns: [
          { title: 'Status', expr: of(statusNumber), unit: 'none', mappings: [statusText] },
          { title: 'Current latency', expr: of(latency), unit: 's' },
          { title: 'Average latency', expr: of(averageLatency), unit: 's' },
          { title: 'Monthly cost', expr: of(cost), unit: 'currencyUSD' },
          { title: 'Volumes', expr: of(volume), unit: 'decbytes' },
          { title: 'Last poll', expr: of(upFamily), unit: 'none', mappings: [upText] },
          {
            title: 'Age',
            expr: `time() - (${of(lastSuccess)} > 0)`,
            unit: 's',
            steps: ['text', [300, 'orange'], [3600, 'red']],
          },
        ],
        sort: { title: 'Status', descending: true },
        alerts: ['BunnynetApplicationSuspended', 'BunnynetApplicationNotActive'],
      }),
    ]),
    row(applicationDashboard, 'Over time', [
      timeline({
        title: 'Status of the 15 worst',
        description:
          'Status over time (API field status, as reported at each poll), of the selected applications that are in the worst states at the end of this range, worst first. Grey: the application could not be read. Gap: no exporter was running.',
        unit: 'none',
        span: 24,
        height: 10,
        queries: [{ expr: timelineOf(15, application), legend: '{{display}}' }],
        states: statusText,
        alerts: ['BunnynetApplicationFailing'],
      }),
      lines({
        title: 'Latency now: the 20 highest',
        description:
          'Of the applications with the highest peak in this range (API field currentLatency; the API does not document the averaging period).',
        unit: 's',
        span: 12,
        queries: [each(latency)],
        alerts: ['BunnynetApplicationLatencyLeap'],
      }),
      lines({
        title: 'Average latency: the 20 highest',
        description:
          'Of the applications with the highest peak in this range (API field averageLatency; the API does not document the averaging period).',
        unit: 's',
        span: 12,
        queries: [each(averageLatency)],
      }),
      lines({
        title: 'Monthly cost',
        description: 'In US dollars (API field monthlyCost, for the month as the API reports it).',
        unit: 'currencyUSD',
        span: 12,
        queries: [each(cost)],
        alerts: ['BunnynetApplicationCostLeap'],
      }),
      lines({
        title: 'Volumes',
        description: 'Size of all volumes (API field totalVolumeSizeInGb, as it is at each poll).',
        unit: 'decbytes',
        span: 12,
        queries: [each(volume)],
        alerts: ['BunnynetApplicationVolumeGrowth'],
      }),
    ]),
    row(applicationDashboard, 'Latency chart', [
      rankedNow(10, application, ratio(application), {
        title: 'Current latency to average: the 10 highest',
        description:
          'Current latency divided by average latency (API fields currentLatency and averageLatency). An alert fires above 3.',
        unit: 'short',
        span: 8,
        steps: ['green', [1.5, 'orange'], [3, 'red']],
        alerts: ['BunnynetApplicationLatencyLeap'],
        nothing: 'No application has an average latency.',
      }),
      lines({
        title: 'Newest point of the latency chart',
        description:
          'Latency of the newest entry of the chart that the API keeps (API field latencyChart; daily points have been seen).',
        unit: 's',
        span: 8,
        queries: [each('bunnynet_application_latency_chart_latest_seconds')],
      }),
      rankedNow(
        10,
        application,
        `time() - ${values(application, 'bunnynet_application_latency_chart_latest_timestamp_seconds')}`,
        {
          title: 'Age of that point: the 10 oldest',
          description:
            'Time since the newest entry of the chart (API field latencyChart, its newest key). With daily points it rises to a day and falls back.',
          unit: 's',
          span: 8,
          steps: ['green', [172800, 'orange']],
        },
      ),
    ]),
    row(applicationDashboard, 'Readings', [
      numbers({
        title: 'Oldest reading',
        description:
          'Age of the oldest reading among the selected applications (the exporter’s own; no API field).',
        unit: 's',
        span: 4,
        steps: ['green', [300, 'orange'], [3600, 'red']],
        queries: [{ expr: `max(time() - (${values(application, lastSuccess)} > 0))`, legend: 'oldest' }],
        nothing: 'none',
        link: toExporter,
      }),
      lines({
        title: 'Share read at the last poll',
        description:
          'Share of the selected applications whose last poll succeeded (the exporter’s own; no API field).',
        unit: 'percentunit',
        span: 20,
        height: 4,
        max: 1,
        queries: [{ expr: `avg(${values(application, upFamily)})`, legend: 'read' }],
      }),
    ]),
  ];
}

export const applicationMonitoring: KindMonitoring = { kind: 'application', panels, rules };
