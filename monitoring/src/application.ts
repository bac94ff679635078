/** The dashboard of the applications that are picked: status, latency, cost, volumes, and how fresh the readings are. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { newDashboard } from './dashboard.ts';
import { grid, lines, numbers, timeline } from './panels.ts';
import { application, named, upFamilies, values, worst } from './promql.ts';
import { statusNumber, statusText, upText } from './states.ts';
import { applicationVariable } from './variables.ts';

const up = values(application, upFamilies.application);
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
  return { expr: named(application, worst(20, application, expr)), legend: `{{display}}${title}` };
}

export function applicationDashboard(): Dashboard {
  return newDashboard('Application', 'One application, or some of them side by side.')
    .withVariable(applicationVariable())
    .withRow(new RowBuilder('Now'))
    .withPanel(
      grid({
        title: 'Applications',
        description:
          'At most 100 of the applications that are picked, as they are now (API fields status, currentLatency, averageLatency, monthlyCost, totalVolumeSizeInGb; none has a window that the API names). The age is that of the last good reading.',
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
    )
    .withRow(new RowBuilder('Over time'))
    .withPanel(
      timeline({
        title: 'Status',
        description:
          'Status over time (API field status, as reported at each poll), of the 20 applications that were worst in this range. Grey is time in which it could not be read; a gap is time without an exporter.',
        unit: 'none',
        span: 24,
        height: 7,
        queries: [each('', statusNumber(application))],
        states: statusText,
      }),
    )
    .withPanel(
      lines({
        title: 'Latency',
        description:
          'Current and average latency, of the 20 applications with the highest peak in this range (API fields currentLatency and averageLatency; the API does not say over what they are taken).',
        unit: 's',
        span: 12,
        queries: [each(' current', current), each(' average', average)],
      }),
    )
    .withPanel(
      lines({
        title: 'Current latency to average',
        description:
          'How many times its average the latency is (API fields currentLatency and averageLatency). An alert is raised above 3.',
        unit: 'short',
        span: 12,
        steps: ['green', [3, 'red']],
        queries: [each('', `${current} / on (app_id) (${average} > 0)`)],
      }),
    )
    .withPanel(
      lines({
        title: 'Newest point of the latency chart',
        description:
          'Latency of the newest entry of the chart that the API keeps (API field latencyChart; daily points have been seen).',
        unit: 's',
        span: 12,
        queries: [each('', chart)],
      }),
    )
    .withPanel(
      lines({
        title: 'Age of the newest point of the latency chart',
        description:
          'Time since the newest entry of the chart (API field latencyChart, its newest key). With daily points it climbs to a day and falls.',
        unit: 's',
        span: 12,
        queries: [each('', `time() - ${chartTime}`)],
      }),
    )
    .withPanel(
      lines({
        title: 'Monthly cost',
        description: 'In US dollars (API field monthlyCost, of the month as the API gives it).',
        unit: 'currencyUSD',
        span: 12,
        queries: [each('', cost)],
      }),
    )
    .withPanel(
      lines({
        title: 'Volumes',
        description: 'Size of all volumes (API field totalVolumeSizeInGb, as it is at each poll).',
        unit: 'decbytes',
        span: 12,
        queries: [each('', volume)],
      }),
    )
    .withRow(new RowBuilder('Readings'))
    .withPanel(
      numbers({
        title: 'Oldest reading',
        description:
          'Age of the oldest last good reading among the applications that are picked (the exporter’s own; no API field).',
        unit: 's',
        span: 6,
        steps: ['green', [300, 'orange'], [3600, 'red']],
        queries: [{ expr: `max(time() - (${lastSuccess} > 0))`, legend: 'oldest' }],
        nothing: 'none',
      }),
    )
    .withPanel(
      lines({
        title: 'Share read at the last try',
        description:
          'Share of the applications that are picked whose last poll succeeded (the exporter’s own; no API field).',
        unit: 'percentunit',
        span: 18,
        height: 4,
        max: 1,
        queries: [{ expr: `avg(${up})`, legend: 'read' }],
      }),
    )
    .build();
}
