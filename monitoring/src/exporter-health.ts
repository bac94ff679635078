/** The dashboard of the exporter itself: whether its polls succeed, how the API answers, what it costs to run. */
import { type Dashboard, type Row, row } from './dashboard.ts';
import { toOverview } from './links.ts';
import { bars, lines, numbers, textOf, timeline } from './panels.ts';
import { entityOf, ofAccounts, scope, selector, targets } from './promql.ts';
import { grid, tableOf } from './tables.ts';
import { pick } from './variables.ts';

export const exporterDashboard: Dashboard = {
  uid: 'bunnynet-exporter',
  title: 'Exporter',
  description: "Whether the exporter's polls succeed, and how the API answers. None of it is an API field.",
  details: ['Discovery', 'Resource usage'],
  variables: [pick('instance', 'Exporter', 'bunnynet_exporter_build_info')],
};

const picked = 'instance=~"$instance"';
const matchers = [...scope, picked];

function series(metric: string, ...more: readonly string[]): string {
  return selector(metric, [...matchers, ...more]);
}

function own(name: string, ...more: readonly string[]): string {
  return series(`bunnynet_exporter_${name}`, ...more);
}

function inList(name: string): string {
  return `bunnynet_exporter_discovery_${name}{instance=~"$instance"}`;
}

function quantile95(name: string, by: string): string {
  return `histogram_quantile(0.95, sum by (le, ${by}) (rate(${own(`${name}_bucket`)}[$__rate_interval])))`;
}

/** A row in the table of listings. */
const listedKind = {
  ...entityOf({ ids: ['kind'], noun: 'kind', picks: {}, dashboard: exporterDashboard.uid }),
  rowLink: toOverview,
};

export const exporterRows: readonly Row[] = [
  row(exporterDashboard, 'At a glance', [
    numbers('Exporters', 'short', 4, {
      description: "Exporters by version (the exporter's own; no API field).",
      queries: { '{{version}}': `count by (version) (${own('build_info')})` },
      link: toOverview,
      alerts: ['BunnynetExporterDown', 'BunnynetExporterAbsent'],
    }),
    numbers('Targets', 'short', 8, {
      description:
        "Targets that are read, those that fail, and those whose last reading is older than their stale_after, so that their values are no longer exported (the exporter's own; no API field).",
      queries: {
        read: `sum(${own('targets')})`,
        failing: `count(${targets(picked)} == 0) or vector(0)`,
        stale: `sum(${own('stale_targets')})`,
      },
      wrong: { failing: 'red', stale: 'orange' },
      link: toOverview,
      alerts: ['BunnynetReadingsStale', 'BunnynetKindUnreadable'],
    }),
    numbers('Last reload', 'none', 4, {
      description:
        "Whether the last reload of the configuration succeeded (the exporter's own; no API field). If not, the exporter keeps running with the previous configuration.",
      steps: ['red', [1, 'green']],
      queries: { 'last reload': `min(${own('config_last_reload_successful')})` },
      text: textOf({ 0: ['failed', 'red'], 1: ['succeeded', 'green'] }),
      link: toOverview,
      alerts: ['BunnynetReloadFailed'],
    }),
    numbers('Series', 'short', 8, {
      description: "Exported series (the exporter's own; no API field).",
      queries: { served: `sum(${own('series')})` },
      link: toOverview,
    }),
  ]),
  row(exporterDashboard, 'Targets', [
    bars('Targets read at the last poll by kind', 'percentunit', 12, {
      description:
        "Share of the targets of each kind whose last poll succeeded, the lowest first (the exporter's own; no API field).",
      height: 12,
      decimals: 0,
      steps: ['red', [0.9, 'orange'], [1, 'green']],
      queries: {
        '{{kind}}': `sort(avg by (kind) (label_replace(${targets(picked)}, "kind", "$1", "__name__", "bunnynet_(.+)_up")))`,
      },
      nothing: 'no target',
      alerts: ['BunnynetKeyRefused', 'BunnynetTargetNotFound'],
    }),
    tableOf('Failing targets by time since the last reading (top 50)', 's', 12, {
      description:
        "Targets whose last poll failed, and the time since the last successful one (the exporter's own; no API field). The exporter's status page says why. Targets that were never read are not listed: see the polls by result.",
      height: 12,
      queries: [
        `topk(50, max by (kind, target) (${series('bunnynet:failing_targets:unread_seconds', ofAccounts)}))`,
      ],
      columns: [
        { source: 'kind', title: 'Kind', link: toOverview, width: 200 },
        { source: 'target', title: 'Target' },
        { source: 'Value', title: 'Since last reading', steps: ['orange', [3600, 'red']], width: 180 },
      ],
      nothing: 'No target fails.',
      alerts: ['BunnynetReadingsStale', 'BunnynetTargetNotFound'],
    }),
  ]),
  row(exporterDashboard, 'Discovery', [
    lines('Targets found by kind', 'short', 12, {
      description:
        "What the last complete listings have, including what the configuration leaves out (the exporter's own; no API field).",
      height: 9,
      queries: { '{{kind}}': `sum by (kind) (${own('discovery_found_targets')})` },
    }),
    grid('Listings by kind', 'short', 12, {
      description:
        "What the listings of each kind found and what the configuration leaves out, how many of them fail, and the age of the oldest complete one (the exporter's own; no API field). The exporter's status page says why a listing fails.",
      entity: listedKind,
      rows: `max by (kind) (${own('discovery_found_targets')})`,
      columns: [
        {
          title: 'Failing',
          expr: `sum by (kind) (${inList('failing_listings')})`,
          steps: ['green', [1, 'red']],
        },
        { title: 'Found', expr: `sum by (kind) (${inList('found_targets')})` },
        { title: 'Left out', expr: `sum by (kind) (${inList('excluded_targets')})` },
        {
          title: 'Last success',
          expr: `max by (kind) (time() - ${inList('last_success_timestamp_seconds')})`,
          unit: 's',
        },
      ],
      nothing: 'Nothing is listed: every target is named in the configuration.',
      alerts: ['BunnynetDiscoveryFailing', 'BunnynetNothingFound'],
    }),
    lines('Planned share of the request rate', 'percentunit', 24, {
      description:
        "Requests a second that the polls and listings of each API need at their intervals, without retries, as a share of requests_per_second (the exporter's own; no API field). Above 100 % polls start late; an alert fires above 95 %.",
      steps: ['green', [0.95, 'orange'], [1, 'red']],
      queries: {
        '{{instance}} {{api}}': `max by (instance, api) (${own('planned_requests_per_second')} / (${own('allowed_requests_per_second')} > 0))`,
      },
      alerts: ['BunnynetRequestRateTooLow'],
    }),
  ]),
  row(exporterDashboard, 'Polls', [
    lines('Polls by result', 'ops', 24, {
      description:
        "Polls a second that succeeded, and by kind and result those that did not (the exporter's own counter; no API field).",
      height: 6,
      queries: {
        success: `sum(rate(${own('polls_total', 'result="success"')}[$__rate_interval]))`,
        '{{kind}} {{result}}': `sum by (kind, result) (rate(${own('polls_total', 'result!="success"')}[$__rate_interval])) > 0`,
      },
      colors: { success: 'green' },
    }),
    lines('Average poll duration', 's', 12, {
      description: "With all its retries, by kind (the exporter's own; no API field).",
      queries: {
        '{{kind}}': `sum by (kind) (rate(${own('poll_duration_seconds_sum')}[$__rate_interval])) / (sum by (kind) (rate(${own('poll_duration_seconds_count')}[$__rate_interval])) > 0)`,
      },
    }),
    lines('Schedule lag', 's', 12, {
      description:
        "Delay of the latest poll against its schedule, by kind (the exporter's own; no API field). It grows when the allowed request rate is too low for the number of targets, and when answers are slow.",
      steps: ['green', [60, 'red']],
      queries: { '{{kind}}': `max by (kind) (${own('schedule_lag_seconds')})` },
    }),
  ]),
  row(exporterDashboard, 'API', [
    timeline('API availability', 24, {
      description:
        "By API: unreadable while every poll since its last success has failed (the exporter's own; no API field). The exporter's status page says why.",
      height: 5,
      queries: { '{{instance}} {{api}}': `max by (instance, api) (${own('api_unreadable')})` },
      states: textOf({ 0: ['readable', 'green'], 1: ['unreadable', 'red'] }),
      alerts: ['BunnynetApiUnreadable'],
    }),
    timeline('Account availability', 24, {
      description:
        "By account: unreadable while all that is tried with its key fails, or its APIs have paused the key (the exporter's own; no API field). The exporter's status page says why.",
      height: 5,
      queries: {
        '{{instance}} {{account}}': `max by (instance, account) (${own('account_failing', ofAccounts)})`,
      },
      states: textOf({ 0: ['readable', 'green'], 1: ['unreadable', 'red'] }),
      alerts: ['BunnynetAccountUnreadable', 'BunnynetSameKeyTwice'],
    }),
    lines('Requests by API and status code', 'reqps', 12, {
      description:
        "Requests a second by API and status code, retries counted (the exporter's own counter; no API field).",
      queries: {
        '{{api}} {{code}}': `sum by (api, code) (rate(${own('api_requests_total')}[$__rate_interval]))`,
      },
      alerts: ['BunnynetKeyRefused'],
    }),
    lines('Request duration (95th percentile)', 's', 6, {
      description:
        "From the start to the last byte of the body, by API (the exporter's own histogram; no API field).",
      queries: { '{{api}}': quantile95('api_request_duration_seconds', 'api') },
    }),
    lines('Pause requested by the API (429)', 's', 6, {
      description:
        "Time until requests resume after the API answered 429, by API, of the key that is paused the longest, and of each kind that is paused by itself; 0 without a pause (the exporter's own; no API field).",
      queries: {
        '{{api}}': `max by (api) (clamp_min(${own('api_paused_until_timestamp_seconds')} - time(), 0))`,
        '{{kind}}': `max by (kind) (clamp_min(${own('kind_paused_until_timestamp_seconds', ofAccounts)} - time(), 0))`,
      },
      alerts: ['BunnynetApiPaused'],
    }),
    lines('Fields of the wrong type per hour', 'short', 12, {
      description:
        "Fields of API answers that had the wrong type, by kind and field; their series are left out (the exporter's own counter).",
      height: 5,
      queries: {
        '{{kind}} {{field}}': `sum by (kind, field) (increase(${own('schema_mismatches_total')}[1h])) > 0`,
      },
      nothing: 'No field had the wrong type.',
      alerts: ['BunnynetSchemaDrift'],
    }),
    lines('Unrecognized values per hour', 'short', 12, {
      description:
        "Values of API answers that the exporter does not know (a new status), by kind and field (the exporter's own counter).",
      height: 5,
      queries: {
        '{{kind}} {{field}}': `sum by (kind, field) (increase(${own('unrecognized_values_total')}[1h])) > 0`,
      },
      nothing: 'Every value is in the reference.',
      alerts: ['BunnynetSchemaDrift'],
    }),
  ]),
  row(exporterDashboard, 'Resource usage', [
    lines('Series by kind', 'short', 12, {
      description: "Exported series (the exporter's own; no API field).",
      stacked: true,
      queries: { '{{kind}}': `sum by (kind) (${own('series')})` },
    }),
    lines('Memory', 'decbytes', 6, {
      description: 'Resident memory of the process (its own; no API field).',
      queries: { '{{instance}}': series('process_resident_memory_bytes') },
    }),
    lines('CPU', 'percentunit', 6, {
      description: 'Share of one processor that the process uses (its own; no API field).',
      queries: { '{{instance}}': `rate(${series('process_cpu_seconds_total')}[$__rate_interval])` },
    }),
    lines('Scrape duration', 's', 12, {
      description: "How long Prometheus took to read the page (Prometheus' own; no API field).",
      queries: {
        '{{instance}}': `${series('scrape_duration_seconds')} and on (job, instance) ${own('build_info')}`,
      },
    }),
    lines('State: time since the last write', 's', 12, {
      description:
        "Time since the counters were last written to state.file, and since when writing fails (the exporter's own; no API field). It is written every five minutes. No line without that file, or before the first write.",
      steps: ['green', [900, 'orange'], [3600, 'red']],
      queries: {
        '{{instance}}': `max by (instance) (time() - (${own('state_last_write_timestamp_seconds')} > 0))`,
        '{{instance}} fails': `max by (instance) (time() - ${own('state_write_failing_since_timestamp_seconds')})`,
      },
      alerts: ['BunnynetStateNotSaved'],
    }),
    lines('Heap', 'decbytes', 12, {
      description: "The used part of the heap of Node.js (the exporter's own; no API field).",
      queries: { '{{instance}}': series('nodejs_heap_size_used_bytes') },
    }),
  ]),
];
