/** The overview: which applications, zones and libraries want a look, on one screen, whether there is one or ten thousand. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { newDashboard } from './dashboard.ts';
import { bars, grid, lines, numbers, timeline } from './panels.ts';
import {
  all,
  application as applicationEntity,
  guardianEndpoint,
  library as libraryEntity,
  named,
  upFamilies,
  values,
  video as videoEntity,
  worst,
  zone as zoneEntity,
} from './promql.ts';
import { statusColors, statusNumber, statusText } from './states.ts';
import { urlTo } from './variables.ts';

const application = all(applicationEntity);
const zone = all(zoneEntity);
const endpoint = all(guardianEndpoint);
const library = all(libraryEntity);
const video = all(videoEntity);

const toApplication = {
  title: 'Open the application',
  url: urlTo('application', { application: '${__field.labels.app_id}' }),
};
const toZone = { title: 'Open the zone', url: urlTo('shield', { zone: '${__field.labels.shield_zone_id}' }) };
const toLibrary = {
  title: 'Open the library',
  url: urlTo('videoStorage', { library: '${__field.labels.library_id}' }),
};

const cost = values(application, 'bunnynet_application_monthly_cost');
const currentLatency = values(application, 'bunnynet_application_current_latency_seconds');
const averageLatency = values(application, 'bunnynet_application_average_latency_seconds');
const volume = values(application, 'bunnynet_application_volume_size_bytes');
const breachesToday = `sum by (shield_zone_id) (${values(zone, 'bunnynet_shield_rate_limit_breaches_latest_day', { by: ['rate_limit_id'] })})`;
const blockedToday = `sum by (shield_zone_id) (${values(endpoint, 'bunnynet_shield_api_guardian_blocked_requests_latest_day')})`;
const wafEnabled = values(zone, 'bunnynet_shield_zone_waf_enabled');
const executionMode = values(zone, 'bunnynet_shield_zone_waf_execution_mode');
const learningMode = values(zone, 'bunnynet_shield_zone_learning_mode');
const libraryBytes = `sum by (library_id) (${values(video, 'bunnynet_video_storage_bytes', { by: ['component'] })})`;

/** The slowest now, for both columns of the table. */
const slowest = `topk(20, ${currentLatency})`;

export function overviewDashboard(): Dashboard {
  return newDashboard('Overview', 'What every application, Shield zone and video library does, worst first.')
    .withRow(new RowBuilder('At a glance'))
    .withPanel(
      numbers({
        title: 'Applications by status',
        description:
          'Number of applications in each status as the API last reported it (API field status). An application that cannot be read is not counted.',
        unit: 'short',
        span: 9,
        queries: [
          {
            expr: `sum by (status) (${values(application, 'bunnynet_application_status', { by: ['status'] })})`,
            legend: '{{status}}',
          },
        ],
        colors: statusColors,
        nothing: 'none',
      }),
    )
    .withPanel(
      numbers({
        title: 'Targets read at the last try',
        description:
          'Share of the targets of each kind whose last poll succeeded (the exporter’s own; no API field, no window). Below 100 % look at the exporter’s dashboard.',
        unit: 'percentunit',
        span: 9,
        decimals: 1,
        steps: ['red', [0.9, 'orange'], [1, 'green']],
        queries: Object.entries(upFamilies).map(([kind, up]) => ({ expr: `avg(${up})`, legend: kind })),
        nothing: 'none',
      }),
    )
    .withPanel(
      numbers({
        title: 'Stale targets',
        description:
          'Targets whose last good reading is older than their stale_after: their values have left the page and are missing from every panel here (the exporter’s own; no API field).',
        unit: 'short',
        span: 3,
        steps: ['green', [1, 'orange']],
        queries: [{ expr: 'sum(bunnynet_exporter_stale_targets)', legend: 'stale' }],
        nothing: 'no exporter',
      }),
    )
    .withPanel(
      numbers({
        title: 'Monthly cost',
        description:
          'Sum over all applications that can be read, in US dollars (API field monthlyCost, of the month as the API gives it).',
        unit: 'currencyUSD',
        span: 3,
        queries: [{ expr: `sum(${cost})`, legend: 'cost' }],
        nothing: 'none',
      }),
    )
    .withRow(new RowBuilder('Fleet'))
    .withPanel(
      timeline({
        title: 'Status of the 25 applications that were worst in this range',
        description:
          'Status of each application over time (API field status, as reported at each poll). Grey is time in which it could not be read; a gap is time without an exporter.',
        unit: 'none',
        span: 24,
        height: 11,
        queries: [
          {
            expr: named(application, worst(25, application, statusNumber(application))),
            legend: '{{display}}',
          },
        ],
        states: statusText,
        link: toApplication,
      }),
    )
    .withRow(new RowBuilder('Latency and cost'))
    .withPanel(
      lines({
        title: 'Current latency: the 10 highest',
        description:
          'The applications with the highest peak in this range (API field currentLatency, as it is at each poll; the API does not say over what it is taken).',
        unit: 's',
        span: 12,
        queries: [
          { expr: named(application, worst(10, application, currentLatency)), legend: '{{display}}' },
        ],
        link: toApplication,
      }),
    )
    .withPanel(
      grid({
        title: 'The 20 slowest applications now',
        description:
          'Current latency beside the average one and how many times the average it is (API fields currentLatency and averageLatency; the API does not say over what they are taken).',
        unit: 's',
        span: 12,
        height: 8,
        key: {
          label: 'app_id',
          title: 'Id',
          link: {
            title: 'Open the application',
            url: urlTo('application', { application: '${__value.text}' }),
          },
        },
        labels: [{ label: 'display', title: 'Application' }],
        columns: [
          { title: 'Current', expr: named(application, slowest) },
          { title: 'Average', expr: `${averageLatency} and on (app_id) ${slowest}` },
          {
            title: 'Ratio',
            expr: `${slowest} / on (app_id) (${averageLatency} > 0)`,
            unit: 'short',
            steps: ['text', [1.5, 'orange'], [3, 'red']],
          },
        ],
        sort: { title: 'Current', descending: true },
      }),
    )
    .withPanel(
      lines({
        title: 'Monthly cost: the 10 highest',
        description:
          'The dearest applications of this range, in US dollars (API field monthlyCost, of the month as the API gives it).',
        unit: 'currencyUSD',
        span: 12,
        queries: [{ expr: named(application, worst(10, application, cost)), legend: '{{display}}' }],
        link: toApplication,
      }),
    )
    .withPanel(
      bars({
        title: 'Volumes: the 10 largest',
        description: 'Size of all volumes of an application now (API field totalVolumeSizeInGb).',
        unit: 'decbytes',
        span: 12,
        queries: [{ expr: named(application, `topk(10, ${volume})`), legend: '{{display}}' }],
        link: toApplication,
      }),
    )
    .withRow(new RowBuilder('Shield'))
    .withPanel(
      numbers({
        title: 'Zones',
        description:
          'Zones by what their firewall does (API fields wafEnabled, wafExecutionMode and learningMode, as they are now). «only logs» leaves out the zones that are learning.',
        unit: 'short',
        span: 6,
        height: 8,
        queries: [
          { expr: `count(${wafEnabled})`, legend: 'read' },
          { expr: `count(${wafEnabled} == 0) or vector(0)`, legend: 'firewall off' },
          {
            expr: `count((${executionMode} == 0) and (${wafEnabled} == 1) unless (${learningMode} == 1)) or vector(0)`,
            legend: 'only logs',
          },
          { expr: `count(${learningMode} == 1) or vector(0)`, legend: 'learning' },
        ],
        colors: { 'firewall off': 'red', 'only logs': 'orange', learning: 'blue' },
        nothing: 'none',
      }),
    )
    .withPanel(
      lines({
        title: 'Rate limit breaches of the day: the 10 worst zones',
        description:
          'Breaches of all rate limits of a zone in the newest UTC day, which starts again from nothing at midnight (API field ratelimitOverviewPastTwentyEightDays, totalBreaches of its newest day).',
        unit: 'short',
        span: 9,
        queries: [{ expr: named(zone, worst(10, zone, breachesToday)), legend: '{{display}}' }],
        link: toZone,
      }),
    )
    .withPanel(
      lines({
        title: 'Requests blocked by API Guardian in the day: the 10 worst zones',
        description:
          'Blocked requests of all endpoints of a zone in the newest UTC day, which starts again from nothing at midnight (API field overviewPastTwentyEightDays, blockedRequests of its newest day).',
        unit: 'short',
        span: 9,
        queries: [{ expr: named(zone, worst(10, zone, blockedToday)), legend: '{{display}}' }],
        link: toZone,
      }),
    )
    .withRow(new RowBuilder('Video storage'))
    .withPanel(
      numbers({
        title: 'Stored',
        description:
          'Bytes of all videos that can be read, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 6,
        height: 8,
        spark: true,
        queries: [{ expr: `sum(${libraryBytes})`, legend: 'stored' }],
        nothing: 'none',
      }),
    )
    .withPanel(
      lines({
        title: 'Stored: the 10 largest libraries',
        description:
          'Bytes of the videos of a library that can be read, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 18,
        queries: [{ expr: worst(10, library, libraryBytes), legend: 'library {{library_id}}' }],
        link: toLibrary,
      }),
    )
    .build();
}
