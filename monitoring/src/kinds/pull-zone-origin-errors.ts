/** Why the origins of pull zones fail, by the vendor's codes. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { hourly, peaks, top, usual, values } from '../promql.ts';
import type { Recording } from '../rules.ts';
import { cdnDashboard, pullZone } from './pull-zone.ts';

const errors = 'bunnynet_pull_zone_origin_errors_total';
const truncated = 'bunnynet_pull_zone_origin_errors_truncated';

/** What the counters gained in the past hour, for alerts: from a reading at its start to one at its end. */
const growth: Recording = {
  record: 'bunnynet:pull_zone_origin_errors:growth1h',
  comment: `
    The errors of an hour that began with a reading: after an outage, the counters gain all that they missed at once.`,
  expr: `
    max by (pull_zone_id) (
      sum by (job, instance, pull_zone_id) (increase(${errors}[1h]))
      and on (job, instance, pull_zone_id) last_over_time(${truncated}[3m:1m])
      and on (job, instance, pull_zone_id) last_over_time(${truncated}[3m:1m] offset 1h)
    )`,
};

export const pullZoneOriginErrors: KindMonitoring = {
  kind: 'pull_zone_origin_errors',
  rules: {
    about: 'Errors of the origins of pull zones.',
    reading: truncated,
    subject: pullZone,
    records: [growth],
    alerts: {
      BunnynetPullZoneOriginErrorsRising: {
        comment: 'Silent on the first day, when nothing is known about what is usual.',
        expr: `
          ${growth.record}
          > [[errors]] + [[ratio]] * ${usual(growth.record)}`,
        thresholds: { ratio: 3, errors: 50 },
        for: '10m',
        window: '1h',
        keepFiringFor: '15m',
        summary:
          'The origin of pull zone {{ or $name $labels.pull_zone_id }} fails far more often than usual',
        description:
          'Failures of the origin of pull zone {{ $labels.pull_zone_id }} in the past hour: {{ $value | printf "%.0f" }}, more than [[ratio]] × the hourly average of the past day plus [[errors]].',
      },
    },
  },
  rows: [
    row(cdnDashboard, 'Origin errors', [
      lines('Origin errors per hour by cause', 'short', 12, {
        description:
          'Errors of the origins of the selected pull zones within an hour (API field logs, ErrorCode). An alert fires when a pull zone has far more than usual.',
        stacked: true,
        queries: { '{{error}}': `sum by (error) (${hourly(pullZone, errors, ['error', 'code'])})` },
        alerts: ['BunnynetPullZoneOriginErrorsRising'],
      }),
      lines('Origin errors per hour (top 10)', 'short', 12, {
        description: 'Errors of the origin within an hour, of the most frequent cause (API field logs).',
        queries: peaks(10, pullZone, errors, hourly),
      }),
      bars('Causes in the past hour (top 10)', 'short', 12, {
        description:
          'Errors within an hour by pull zone, cause and status code (API field logs, ErrorCode and StatusCode).',
        steps: ['orange'],
        queries: top(
          10,
          pullZone,
          `${hourly(pullZone, errors, ['error', 'code'])} > 0`,
          '{{display}}: {{error}}, {{code}}',
        ),
        nothing: 'No origin failed.',
      }),
      bars('Pull zones with a truncated error log', 'short', 12, {
        description:
          'Their counts are too low (API field hasMoreData: 1 if the API has more errors of the UTC day than it gives).',
        steps: ['orange'],
        queries: top(10, pullZone, `${values(pullZone, truncated)} > 0`),
        nothing: 'No error log is truncated.',
      }),
    ]),
  ],
};
