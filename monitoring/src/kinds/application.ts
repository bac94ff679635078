/** Applications: status, latency, cost and volumes. */
import { type Dashboard, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo, toExporter } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, numbers, textOf, timeline, upText } from '../panels.ts';
import {
  all,
  anywhere,
  costGrowth,
  costLeap,
  type Entity,
  entityOf,
  highest,
  named,
  ofAccounts,
  over,
  peaks,
  type Queries,
  selector,
  share,
  top,
  values,
  wholeRange,
} from '../promql.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

export const application = entityOf({
  ids: ['app_id'],
  noun: 'application',
  picks: { application: 'app_id' },
  info: 'bunnynet_application_info',
  dashboard: 'bunnynet-application',
});
const every = all(application);

/** Shared by all kinds about applications. */
export const applicationDashboard: Dashboard = {
  uid: 'bunnynet-application',
  title: 'Application',
  description: 'One application, or some of them side by side.',
  picked: ['app_id=~"$application|"'],
  details: ['Latency chart', 'Instances in detail', 'Regions', 'Volumes', 'Readings'],
  variables: [pickByName(application, 'Application')],
};

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

/** The number after the statuses: the application cannot be read. */
const unread = statuses.length + 1;

const statusText = textOf({
  ...Object.fromEntries(statuses.map(([status, color], at) => [at + 1, [status, color] as const])),
  [unread]: ['no reading', 'gray'],
});

const statusNumber = 'bunnynet:application_status:number';
const statusNumbers = statuses
  .map(([status], at) => `label_replace(vector(${at + 1}), "status", "${status}", "", "")`)
  .join('\n              or ');

const family = (name: string): string => `bunnynet_application_${name}`;
/** In a graph: also what it was before the account got its name. */
const readAtLast = `${selector(family('up'), application.matchers)} and on (app_id) ${selector(family('up'), [ofAccounts])}`;
const field = (name: string): string => values(anywhere(application), family(name));
/** Template text: the status of an application, also while it cannot be read. */
const lastStatus = `{{ with query (printf "topk(1, max_over_time(timestamp(bunnynet_application_status{app_id=%q} == 1)[6h:1m]))" $labels.app_id) }}{{ . | first | label "status" }}{{ else }}not active{{ end }}`;
const currentLatency = family('current_latency_seconds');
const averageLatency = family('average_latency_seconds');

const maxCost = 'bunnynet:application_monthly_cost_dollars:max';
const maxVolumeSize = 'bunnynet:application_volume_size_bytes:max';
const volumeSizeYesterday = `last_over_time(${maxVolumeSize}[15m] offset 1d)`;

/**
 * The worst at the end of the range first: the worse a status, the higher its number. Grafana keeps the order of the series, and
 * Prometheus sorts them by their labels, so `_place` is a label that sorts before all others.
 */
function worst(limit: number, entity: Entity): Queries {
  const number = values(anywhere(entity), statusNumber);
  const last = highest(entity, over(wholeRange, 'last_over_time', entity, statusNumber));
  const places = `count_values by (app_id) ("_place", 9 - topk(${limit}, ${last}))`;
  return { '{{display}}': `${named(entity, number)} * on (app_id) group_left (_place) ${places}` };
}

export const applications: KindMonitoring = {
  kind: 'application',
  rules: {
    about: 'Applications: status, latency, cost, volumes.',
    reading: 'bunnynet_application_status{status="active"}',
    names: application,
    interval: '1m',
    records: [
      {
        record: statusNumber,
        forDashboards: true,
        comment: `For the dashboards: the status as a number, from harmless to bad; ${unread} while there is no reading.`,
        expr: `
            sum without (status) (bunnynet_application_status * on (status) group_left () (
              ${statusNumbers}
            ))
            or max without (account) (bunnynet_application_up) * 0 + ${unread}`,
      },
    ],
    alerts: {
      BunnynetApplicationFailing: {
        expr: `max by (app_id) (last_over_time(bunnynet_application_status{status="failing"}[3m:1m])) == 1`,
        for: '5m',
        keepFiringFor: '15m',
        severity: 'critical',
        summary: 'Application {{ or $name $labels.app_id }} is failing',
        description:
          'The API has reported the status failing for application {{ $labels.app_id }} for [[for]] or more. While it cannot be read, the last known status counts.',
      },
      BunnynetApplicationSuspended: {
        expr: `max by (app_id) (last_over_time(bunnynet_application_status{status="suspended"}[3m:1m])) == 1`,
        for: '5m',
        severity: 'critical',
        summary: 'Application {{ or $name $labels.app_id }} is suspended',
        description:
          'The API has reported the status suspended for application {{ $labels.app_id }} for [[for]] or more. While it cannot be read, the last known status counts.',
      },
      BunnynetApplicationNotActive: {
        comment: 'Inactive is what somebody chose.',
        expr: `max by (app_id) (last_over_time(bunnynet_application_status{status=~"unknown|progressing"}[3m:1m])) == 1`,
        for: '1h',
        summary: `Application {{ or $name $labels.app_id }} is ${lastStatus} and has not been active for [[for]]`,
        description: `The API has reported no other status than progressing or unknown for application {{ $labels.app_id }} for [[for]]; the last one: ${lastStatus}.`,
      },
      BunnynetApplicationLatencyLeap: {
        expr: `
          max by (app_id) (last_over_time(bunnynet_application_current_latency_seconds[3m:1m]))
          > [[ratio]] * (max by (app_id) (last_over_time(bunnynet_application_average_latency_seconds[3m:1m])) > 0)
          > [[seconds]]`,
        thresholds: { ratio: 3, seconds: 0.25 },
        for: '10m',
        keepFiringFor: '15m',
        summary: 'Latency of application {{ or $name $labels.app_id }} has jumped',
        description:
          'The current latency of application {{ $labels.app_id }} has been more than [[ratio]] × its average and more than [[seconds]] s for [[for]].',
      },
    },
    more: {
      suffix: 'growth',
      records: [
        {
          record: maxCost,
          expr: `max by (app_id) (last_over_time(bunnynet_application_monthly_cost_dollars[3m:1m]))`,
        },
        costGrowth(maxCost),
        {
          record: maxVolumeSize,
          expr: `max by (app_id) (last_over_time(bunnynet_application_volume_size_bytes[3m:1m]))`,
        },
      ],
      alerts: {
        BunnynetApplicationCostLeap: {
          comment: `
          The API may report the cost so far or a forecast; either way a day that costs as much as the one before is no jump.`,
          expr: costLeap(maxCost),
          thresholds: { ratio: 2, share: 0.1, dollars: 10 },
          for: '30m',
          keepFiringFor: '30m',
          summary: 'Cost of application {{ or $name $labels.app_id }} has jumped',
          description:
            'The monthly cost of application {{ $labels.app_id }} has grown within a day by more than [[ratio]] × what it grew the day before, plus {{ humanizePercentage "[[share]]" }} of its value (at least USD [[dollars]]).',
        },
        BunnynetApplicationVolumeGrowth: {
          expr: `${maxVolumeSize} - ${volumeSizeYesterday} > clamp_min([[share]] * ${volumeSizeYesterday}, [[gigabytes]] * 1e9)`,
          thresholds: { share: 0.2, gigabytes: 10 },
          for: '30m',
          keepFiringFor: '30m',
          summary: 'Volumes of application {{ or $name $labels.app_id }} are growing fast',
          description:
            'The volumes of application {{ $labels.app_id }} have grown by more than {{ humanizePercentage "[[share]]" }} and by more than [[gigabytes]] GB within a day.',
        },
      },
    },
  },
  rows: [
    row(overviewDashboard, 'At a glance', [
      numbers('Applications by status', 'short', 11, {
        description:
          'Number of applications in each status as the API last reported it (API field status). An application that cannot be read is not counted.',
        queries: { '{{status}}': `sum by (status) (${values(every, family('status'), ['status'])})` },
        colors: statusColors,
        link: linkTo(applicationDashboard.uid, 'Open the applications'),
        alerts: [
          'BunnynetApplicationFailing',
          'BunnynetApplicationSuspended',
          'BunnynetApplicationNotActive',
        ],
      }),
    ]),
    row(overviewDashboard, 'Applications', [
      timeline('Application status (15 worst)', 24, {
        description:
          'Status over time of the applications that are in the worst states at the end of this range, worst first (API field status, as reported at each poll). Grey: the application could not be read. Gap: no exporter was running.',
        queries: worst(15, every),
        states: statusText,
        link: application.link,
        alerts: ['BunnynetApplicationFailing'],
      }),
      lines('Current latency (top 10)', 's', 12, {
        description:
          'The applications with the highest peak in this range (API field currentLatency, at each poll; the API does not document the averaging period).',
        queries: peaks(10, every, currentLatency),
        link: application.link,
        alerts: ['BunnynetApplicationLatencyLeap'],
      }),
      grid('Slowest applications (top 20)', 's', 12, {
        description:
          'Current latency, average latency and their ratio (API fields currentLatency and averageLatency; the API does not document the averaging period).',
        height: 8,
        entity: every,
        rows: `topk(20, ${values(every, currentLatency)})`,
        columns: [
          { title: 'Current', expr: field('current_latency_seconds') },
          { title: 'Average', expr: field('average_latency_seconds') },
          {
            title: 'Ratio',
            expr: share(anywhere(application), currentLatency, averageLatency),
            unit: 'short',
            steps: ['text', [1.5, 'orange'], [3, 'red']],
          },
        ],
        alerts: ['BunnynetApplicationLatencyLeap'],
      }),
      lines('Most expensive applications (top 10)', 'currencyUSD', 12, {
        description:
          'The most expensive applications in this range, in US dollars (API field monthlyCost, for the month as the API reports it).',
        queries: peaks(10, every, family('monthly_cost_dollars')),
        link: application.link,
        alerts: ['BunnynetApplicationCostLeap'],
      }),
      bars('Largest volumes (top 10)', 'decbytes', 12, {
        description: 'Size of all volumes of an application now (API field totalVolumeSizeInGb).',
        queries: top(10, every, values(every, family('volume_size_bytes'))),
        link: application.link,
        alerts: ['BunnynetApplicationVolumeGrowth'],
      }),
    ]),
    row(applicationDashboard, 'Now', [
      grid('Applications', 'short', 24, {
        description:
          'At most 100 of the selected applications, as they are now (API fields status, currentLatency, averageLatency, monthlyCost, totalVolumeSizeInGb; the API documents no window for any of them). The age is that of the last successful reading.',
        height: 10,
        entity: application,
        rows: `topk(100, ${values(application, statusNumber)})`,
        columns: [
          { title: 'Status', expr: values(anywhere(application), statusNumber), text: statusText },
          { title: 'Current latency', expr: field('current_latency_seconds'), unit: 's' },
          { title: 'Average latency', expr: field('average_latency_seconds'), unit: 's' },
          { title: 'Monthly cost', expr: field('monthly_cost_dollars'), unit: 'currencyUSD' },
          { title: 'Volumes', expr: field('volume_size_bytes'), unit: 'decbytes' },
          { title: 'Last poll', expr: field('up'), text: upText },
          {
            title: 'Age',
            expr: `time() - (${field('last_success_timestamp_seconds')} > 0)`,
            unit: 's',
            steps: ['text', [300, 'orange'], [3600, 'red']],
          },
        ],
        alerts: ['BunnynetApplicationSuspended', 'BunnynetApplicationNotActive'],
      }),
    ]),
    row(applicationDashboard, 'Over time', [
      timeline('Status (15 worst)', 24, {
        description:
          'Status over time (API field status, as reported at each poll), of the selected applications that are in the worst states at the end of this range, worst first. Grey: the application could not be read. Gap: no exporter was running.',
        queries: worst(15, application),
        states: statusText,
        alerts: ['BunnynetApplicationFailing'],
      }),
      lines('Current latency (top 20)', 's', 12, {
        description:
          'Of the applications with the highest peak in this range (API field currentLatency; the API does not document the averaging period).',
        queries: peaks(20, application, currentLatency),
        alerts: ['BunnynetApplicationLatencyLeap'],
      }),
      lines('Average latency (top 20)', 's', 12, {
        description:
          'Of the applications with the highest peak in this range (API field averageLatency; the API does not document the averaging period).',
        queries: peaks(20, application, averageLatency),
      }),
      lines('Monthly cost', 'currencyUSD', 12, {
        description: 'In US dollars (API field monthlyCost, for the month as the API reports it).',
        queries: peaks(20, application, family('monthly_cost_dollars')),
        alerts: ['BunnynetApplicationCostLeap'],
      }),
      lines('Volumes', 'decbytes', 12, {
        description: 'Size of all volumes (API field totalVolumeSizeInGb, as it is at each poll).',
        queries: peaks(20, application, family('volume_size_bytes')),
        alerts: ['BunnynetApplicationVolumeGrowth'],
      }),
    ]),
    row(applicationDashboard, 'Latency chart', [
      bars('Ratio of current to average latency (top 10)', 'short', 8, {
        description:
          'Current latency divided by average latency (API fields currentLatency and averageLatency). An alert fires above 3.',
        steps: ['green', [1.5, 'orange'], [3, 'red']],
        queries: top(10, application, share(application, currentLatency, averageLatency)),
        nothing: 'No application has an average latency.',
        alerts: ['BunnynetApplicationLatencyLeap'],
      }),
      lines('Latest point of the latency chart', 's', 8, {
        description:
          'Latency of the newest entry of the chart that the API keeps (API field latencyChart; daily points have been seen).',
        queries: peaks(20, application, family('latency_chart_latest_seconds')),
      }),
      bars('Age of the latest point (10 oldest)', 's', 8, {
        description:
          'Time since the newest entry of the chart (API field latencyChart, its newest key). With daily points it rises to a day and falls back.',
        steps: ['green', [172800, 'orange']],
        queries: top(
          10,
          application,
          `time() - ${values(application, family('latency_chart_latest_timestamp_seconds'))}`,
        ),
      }),
    ]),
    row(applicationDashboard, 'Readings', [
      numbers('Oldest reading', 's', 4, {
        description:
          "Age of the oldest reading among the selected applications (the exporter's own; no API field).",
        steps: ['green', [300, 'orange'], [3600, 'red']],
        queries: {
          oldest: `max(time() - (${values(application, family('last_success_timestamp_seconds'))} > 0))`,
        },
        link: toExporter,
      }),
      lines('Applications read at the last poll', 'percentunit', 14, {
        description:
          "Share of the selected applications whose last poll succeeded (the exporter's own; no API field).",
        height: 4,
        max: 1,
        queries: { read: `avg(${highest(application, readAtLast)})` },
      }),
    ]),
  ],
};
