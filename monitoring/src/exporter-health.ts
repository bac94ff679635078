/** The dashboard of the exporter itself: whether its polls succeed, how the API answers, what it costs to run. */
import { type Dashboard, type Row, row } from './dashboard.ts';
import { linkTo } from './links.ts';
import { bars, lines, numbers, textOf } from './panels.ts';
import { type Entity, scope, selector } from './promql.ts';
import { grid, tableOf } from './tables.ts';
import { pick } from './variables.ts';

export const exporterDashboard: Dashboard = {
  uid: 'bunnynet-exporter',
  title: 'Exporter',
  description: 'Whether the exporter’s polls succeed, and how the API answers. None of it is an API field.',
  details: ['Discovery', 'What it costs to run'],
  variables: () => [pick('instance', 'Exporter', 'bunnynet_exporter_build_info')],
};

const matchers = [...scope, 'instance=~"$instance"'];

function own(metric: string, ...more: readonly string[]): string {
  return selector(metric, [...matchers, ...more]);
}

function quantile(q: number, metric: string, by: string): string {
  return `histogram_quantile(${q}, sum by (le, ${by}) (rate(${own(`${metric}_bucket`)}[$__rate_interval])))`;
}

/** What the table of listings has a row for. */
const listedKind: Entity = {
  ids: ['kind'],
  nameIds: [],
  display: undefined,
  info: undefined,
  known: [],
  matchers,
};

const toOverview = linkTo('bunnynet-overview', 'Overview');

export function exporterRows(): readonly Row[] {
  return [
    row(exporterDashboard, 'At a glance', [
      numbers({
        title: 'Exporters',
        description: 'Exporters on the page by version (the exporter’s own; no API field).',
        unit: 'short',
        span: 4,
        queries: [
          { expr: `count by (version) (${own('bunnynet_exporter_build_info')})`, legend: '{{version}}' },
        ],
        nothing: 'none',
        link: toOverview,
        alerts: ['BunnynetExporterDown', 'BunnynetExporterAbsent'],
      }),
      numbers({
        title: 'Targets',
        description:
          'Targets that are read, those that fail, and those whose last reading is older than their stale_after, so that their values have left the page (the exporter’s own; no API field).',
        unit: 'short',
        span: 8,
        queries: [
          { expr: `sum(${own('bunnynet_exporter_targets')})`, legend: 'read' },
          {
            expr: `count(${own('', '__name__=~"bunnynet_.+_up"', '__name__!~"bunnynet_exporter.+"')} == 0) or vector(0)`,
            legend: 'failing',
          },
          { expr: `sum(${own('bunnynet_exporter_stale_targets')})`, legend: 'stale' },
        ],
        wrong: { failing: 'red', stale: 'orange' },
        nothing: 'none',
        link: toOverview,
        alerts: ['BunnynetReadingsStale', 'BunnynetKindUnreadable'],
      }),
      numbers({
        title: 'Last reload',
        description:
          'Whether the last reload of the configuration succeeded (the exporter’s own; no API field). If not, the exporter keeps running with the previous configuration.',
        unit: 'none',
        span: 4,
        steps: ['red', [1, 'green']],
        queries: [
          { expr: `min(${own('bunnynet_exporter_config_last_reload_successful')})`, legend: 'last reload' },
        ],
        mappings: [textOf({ 0: ['failed', 'red'], 1: ['succeeded', 'green'] })],
        nothing: 'none',
        link: toOverview,
        alerts: ['BunnynetReloadFailed'],
      }),
      numbers({
        title: 'Series',
        description:
          'Series on the page, and those that the limit limits.max_series keeps off it: any means missing values (the exporter’s own; no API field).',
        unit: 'short',
        span: 8,
        queries: [
          { expr: `sum(${own('bunnynet_exporter_series')})`, legend: 'served' },
          { expr: `sum(${own('bunnynet_exporter_series_dropped')})`, legend: 'dropped' },
        ],
        wrong: { dropped: 'red' },
        nothing: 'none',
        link: toOverview,
        alerts: ['BunnynetSeriesDropped'],
      }),
    ]),
    row(exporterDashboard, 'Targets', [
      bars({
        title: 'Targets read at the last poll, by kind',
        description:
          'Share of the targets of each kind whose last poll succeeded, the lowest first (the exporter’s own; no API field).',
        unit: 'percentunit',
        span: 12,
        height: 12,
        decimals: 0,
        steps: ['red', [0.9, 'orange'], [1, 'green']],
        queries: [
          {
            expr: `sort(avg by (kind) (label_replace(${own('', '__name__=~"bunnynet_.+_up"', '__name__!~"bunnynet_exporter.+"')}, "kind", "$1", "__name__", "bunnynet_(.+)_up")))`,
            legend: '{{kind}}',
          },
        ],
        nothing: 'no target',
        alerts: ['BunnynetKeyRefused', 'BunnynetTargetNotFound'],
      }),
      tableOf({
        title: 'Failing targets: the 50 longest without a reading',
        description:
          'Targets whose last poll failed, and the time since the last successful one (the exporter’s own; no API field). The exporter’s status page says why. Targets that were never read are not listed: see the polls by result.',
        unit: 's',
        span: 12,
        height: 12,
        queries: [`topk(50, max by (kind, target) (${own('bunnynet:failing_targets:unread_seconds')}))`],
        columns: [
          { source: 'kind', title: 'Kind', link: toOverview, width: 200 },
          { source: 'target', title: 'Target' },
          {
            source: 'Value',
            title: 'Without a reading for',
            steps: ['orange', [3600, 'red']],
            width: 180,
          },
        ],
        sort: { title: 'Without a reading for', descending: true },
        nothing: 'No target fails.',
        alerts: ['BunnynetReadingsStale', 'BunnynetTargetNotFound'],
      }),
    ]),
    row(exporterDashboard, 'Discovery', [
      lines({
        title: 'Found, by kind',
        description:
          'What the last complete listings have, including what the configuration leaves out (the exporter’s own; no API field).',
        unit: 'short',
        span: 12,
        height: 9,
        queries: [
          { expr: `sum by (kind) (${own('bunnynet_exporter_discovery_found_targets')})`, legend: '{{kind}}' },
        ],
      }),
      grid({
        title: 'Listings by kind',
        description:
          'What the listings of each kind found and what the configuration leaves out, how many of them fail, and the age of the oldest complete one (the exporter’s own; no API field). The exporter’s status page says why a listing fails.',
        unit: 'short',
        span: 12,
        entity: listedKind,
        rows: `max by (kind) (${own('bunnynet_exporter_discovery_found_targets')})`,
        name: 'Kind',
        link: toOverview,
        nothing: 'Nothing is listed: every target is named in the configuration.',
        alerts: ['BunnynetDiscoveryFailing', 'BunnynetNothingFound'],
        columns: [
          {
            title: 'Failing listings',
            expr: `sum by (kind) (bunnynet_exporter_discovery_failing_listings{instance=~"$instance"})`,
            steps: ['green', [1, 'red']],
          },
          {
            title: 'Found',
            expr: `sum by (kind) (bunnynet_exporter_discovery_found_targets{instance=~"$instance"})`,
          },
          {
            title: 'Left out',
            expr: `sum by (kind) (bunnynet_exporter_discovery_excluded_targets{instance=~"$instance"})`,
          },
          {
            title: 'Last complete',
            expr: 'max by (kind) (time() - bunnynet_exporter_discovery_last_success_timestamp_seconds{instance=~"$instance"})',
            unit: 's',
          },
        ],
        sort: { title: 'Failing listings', descending: true },
      }),
      lines({
        title: 'Requests planned',
        description:
          'Requests a second that the polls and listings of each API need at their intervals, without retries (the exporter’s own; no API field). Above requests_per_second polls start late.',
        unit: 'reqps',
        span: 24,
        queries: [
          {
            expr: `max by (instance, api) (${own('bunnynet_exporter_planned_requests_per_second')})`,
            legend: '{{instance}} {{api}}',
          },
        ],
      }),
    ]),
    row(exporterDashboard, 'Polls', [
      lines({
        title: 'Polls by result',
        description:
          'Polls a second that succeeded, and by kind and result those that did not (the exporter’s own counter; no API field).',
        unit: 'ops',
        span: 24,
        height: 6,
        queries: [
          {
            expr: `sum(rate(${own('bunnynet_exporter_polls_total', 'result="success"')}[$__rate_interval]))`,
            legend: 'success',
          },
          {
            expr: `sum by (kind, result) (rate(${own('bunnynet_exporter_polls_total', 'result!="success"')}[$__rate_interval])) > 0`,
            legend: '{{kind}} {{result}}',
          },
        ],
        colors: { success: 'green' },
      }),
      lines({
        title: 'Duration of a poll, 95th percentile',
        description: 'With all its retries, by kind (the exporter’s own histogram; no API field).',
        unit: 's',
        span: 12,
        queries: [
          { expr: quantile(0.95, 'bunnynet_exporter_poll_duration_seconds', 'kind'), legend: '{{kind}}' },
        ],
      }),
      lines({
        alerts: ['BunnynetScheduleLag'],
        title: 'How late polls start',
        description:
          'Delay of the latest poll against its schedule, by kind (the exporter’s own; no API field). It grows when the allowed request rate is too low for the number of targets. An alert fires above a minute.',
        unit: 's',
        span: 12,
        steps: ['green', [60, 'red']],
        queries: [
          { expr: `max by (kind) (${own('bunnynet_exporter_schedule_lag_seconds')})`, legend: '{{kind}}' },
        ],
      }),
    ]),
    row(exporterDashboard, 'The API', [
      lines({
        alerts: ['BunnynetKeyRefused'],
        title: 'Requests by answer',
        description:
          'Requests a second by API and status code, retries counted (the exporter’s own counter; no API field).',
        unit: 'reqps',
        span: 12,
        queries: [
          {
            expr: `sum by (api, code) (rate(${own('bunnynet_exporter_api_requests_total')}[$__rate_interval]))`,
            legend: '{{api}} {{code}}',
          },
        ],
      }),
      lines({
        title: 'Duration of a request, 95th percentile',
        description:
          'From the start to the last byte of the body, by API (the exporter’s own histogram; no API field).',
        unit: 's',
        span: 6,
        queries: [
          {
            expr: quantile(0.95, 'bunnynet_exporter_api_request_duration_seconds', 'api'),
            legend: '{{api}}',
          },
        ],
      }),
      lines({
        alerts: ['BunnynetApiPaused'],
        title: 'Pause that the API asked for',
        description:
          'Time until requests resume after the API answered 429, by API; 0 without a pause (the exporter’s own; no API field).',
        unit: 's',
        span: 6,
        queries: [
          {
            expr: `max by (api) (clamp_min(${own('bunnynet_exporter_api_paused_until_timestamp_seconds')} - time(), 0))`,
            legend: '{{api}}',
          },
        ],
      }),
      lines({
        height: 5,
        title: 'Fields of the wrong type, in an hour',
        description:
          'Fields of API answers that had the wrong type, by kind and field; their series are left out (the exporter’s own counter).',
        unit: 'short',
        span: 12,
        queries: [
          {
            expr: `sum by (kind, field) (increase(${own('bunnynet_exporter_schema_mismatches_total')}[1h])) > 0`,
            legend: '{{kind}} {{field}}',
          },
        ],
        nothing: 'No field had the wrong type.',
        alerts: ['BunnynetSchemaDrift'],
      }),
      lines({
        height: 5,
        title: 'Values that are not in the reference, in an hour',
        description:
          'Values of API answers that the exporter does not know (a new status), by kind and field (the exporter’s own counter).',
        unit: 'short',
        span: 12,
        queries: [
          {
            expr: `sum by (kind, field) (increase(${own('bunnynet_exporter_unrecognized_values_total')}[1h])) > 0`,
            legend: '{{kind}} {{field}}',
          },
        ],
        nothing: 'Every value is in the reference.',
        alerts: ['BunnynetSchemaDrift'],
      }),
    ]),
    row(exporterDashboard, 'What it costs to run', [
      lines({
        title: 'Series by kind',
        description: 'Series on the page (the exporter’s own; no API field).',
        unit: 'short',
        span: 12,
        stacked: true,
        queries: [{ expr: `sum by (kind) (${own('bunnynet_exporter_series')})`, legend: '{{kind}}' }],
      }),
      lines({
        title: 'Memory',
        description: 'Resident memory of the process (its own; no API field).',
        unit: 'decbytes',
        span: 6,
        queries: [{ expr: own('process_resident_memory_bytes'), legend: '{{instance}}' }],
      }),
      lines({
        title: 'Processor',
        description: 'Share of one processor that the process uses (its own; no API field).',
        unit: 'percentunit',
        span: 6,
        queries: [
          { expr: `rate(${own('process_cpu_seconds_total')}[$__rate_interval])`, legend: '{{instance}}' },
        ],
      }),
      lines({
        title: 'Duration of a scrape',
        description: 'How long Prometheus took to read the page (Prometheus’ own; no API field).',
        unit: 's',
        span: 12,
        queries: [
          {
            expr: `scrape_duration_seconds{${matchers.join(',')}} and on (job, instance) ${own('bunnynet_exporter_build_info')}`,
            legend: '{{instance}}',
          },
        ],
      }),
      lines({
        title: 'Heap',
        description: 'What is used of Node’s heap (the process’ own; no API field).',
        unit: 'decbytes',
        span: 12,
        queries: [{ expr: own('nodejs_heap_size_used_bytes'), legend: '{{instance}}' }],
      }),
    ]),
  ];
}
