/** What load balancers did: requests, and which of their origins fail. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { anywhere, hourly, peaks, perSecond, top, values } from '../promql.ts';
import { loadBalancerEntity } from './load-balancer.ts';
import { cdnDashboard } from './pull-zone.ts';

const family = (name: string): string => `bunnynet_load_balancer_${name}`;
/** An origin is shown with its own name, where it has one. */
const origin = { ...loadBalancerEntity, ids: ['load_balancer_id', 'origin_id'] };

const nothing = 'There is no load balancer.';

/** What each origin had within an hour: the ten highest. */
const ofOrigins = (name: string) =>
  top(
    10,
    loadBalancerEntity,
    hourly(loadBalancerEntity, family(name), ['origin_id']),
    '{{display}}: {{origin_id}}',
  );

/** The attempts at each origin that failed; `other` is none. */
const failed =
  'sum by (load_balancer_id, origin_id) (max by (load_balancer_id, origin_id, code) (increase(bunnynet_load_balancer_origin_failures_total{origin_id!="other"}[30m])))';

export const loadBalancerStatistics: KindMonitoring = {
  kind: 'load_balancer_statistics',
  rules: {
    about: 'Load balancers: origins that fail.',
    // Counters stay when a reading is stale.
    reading: family('origin_info'),
    subject: loadBalancerEntity,
    interval: '1m',
    alerts: {
      BunnynetLoadBalancerOriginsExhausted: {
        comment: 'Visitors get an error: every origin that the load balancer tried has failed.',
        expr: `
          max by (load_balancer_id) (increase(bunnynet_load_balancer_origins_exhausted_total[30m])) > [[requests]]
          and max by (load_balancer_id) (increase(bunnynet_load_balancer_origins_exhausted_total[30m]))
          > [[share]] * max by (load_balancer_id) (increase(bunnynet_load_balancer_requests_total[30m]))`,
        thresholds: { requests: 10, share: 0.01 },
        for: '5m',
        window: '30m',
        keepFiringFor: '15m',
        severity: 'critical',
        summary: 'All origins of load balancer {{ or $name $labels.load_balancer_id }} fail',
        description:
          'Requests in the past half hour for which every origin of load balancer {{ $labels.load_balancer_id }} failed: {{ $value | printf "%.0f" }}, more than {{ humanizePercentage "[[share]]" }} of all.',
      },
      BunnynetLoadBalancerOriginFailing: {
        comment:
          'A failure is an attempt, a request counts for the origin that served it. So the attempts at an origin are the failures and its requests.',
        expr: `
          (${failed} > [[failures]])
          / (
            ${failed}
            + (max by (load_balancer_id, origin_id) (increase(bunnynet_load_balancer_origin_requests_total[30m])) or 0 * ${failed})
          )
          >= [[share]]`,
        thresholds: { failures: 10, share: 0.5 },
        for: '15m',
        alsoBy: ['origin_id'],
        window: '30m',
        keepFiringFor: '15m',
        summary:
          'Origin {{ $labels.origin_id }} of load balancer {{ or $name $labels.load_balancer_id }} fails',
        description:
          'Of the attempts at origin {{ $labels.origin_id }} of load balancer {{ $labels.load_balancer_id }} in the past half hour, {{ $value | humanizePercentage }} failed.',
      },
    },
  },
  rows: [
    row(cdnDashboard, 'Load balancers', [
      lines('Load balancer requests (top 10)', 'reqps', 8, {
        description: 'A second, averaged over half an hour (API field Summary, TotalRequests).',
        queries: peaks(10, loadBalancerEntity, family('requests_total'), perSecond, nothing),
        nothing,
      }),
      lines('Load balancer traffic (top 10)', 'Bps', 8, {
        description: 'A second, averaged over half an hour (API field Summary, TotalTraffic).',
        queries: peaks(10, loadBalancerEntity, family('traffic_bytes_total'), perSecond, nothing),
        nothing,
      }),
      lines('All origins failed, per hour (top 10)', 'short', 8, {
        description:
          'Requests within an hour for which every origin failed (API field Summary, AllOriginsExhausted). An alert fires from 1 % of the requests of half an hour.',
        queries: peaks(10, loadBalancerEntity, family('origins_exhausted_total'), hourly),
        alerts: ['BunnynetLoadBalancerOriginsExhausted'],
      }),
      bars('Requests by origin in the past hour (top 10)', 'short', 8, {
        description: 'Requests within an hour that an origin served (API field RequestsByOrigin).',
        queries: ofOrigins('origin_requests_total'),
        nothing: 'No origin served a request.',
      }),
      bars('Traffic by origin in the past hour (top 10)', 'decbytes', 8, {
        description: 'Traffic from each origin within an hour (API field TrafficByOrigin).',
        queries: ofOrigins('origin_traffic_bytes_total'),
        nothing: 'No origin served a request.',
      }),
      bars('Failures by origin in the past hour (top 10)', 'short', 8, {
        description:
          'Attempts within an hour that failed at an origin, by status code (API field OriginFailures). An alert fires where half of all attempts fail.',
        steps: ['orange'],
        queries: top(
          10,
          loadBalancerEntity,
          `${hourly(loadBalancerEntity, family('origin_failures_total'), ['origin_id', 'code'])} > 0`,
          '{{display}}: {{origin_id}}, {{code}}',
        ),
        nothing: 'No origin failed.',
        alerts: ['BunnynetLoadBalancerOriginFailing'],
      }),
      bars('Latency by origin (top 10)', 's', 24, {
        description:
          'Time to the first byte by percentile, in the newest hour that had requests (API field OriginLatency). The name is that of the origin.',
        queries: {
          '{{name}} ({{origin_id}}), {{percentile}} %': `topk(10, ${values(origin, family('origin_latency_seconds'), ['percentile'])}) * on (load_balancer_id, origin_id) group_left (name) ${values(anywhere(origin), family('origin_info'), ['name'])}`,
        },
        nothing: 'No origin with a name was sent a request.',
      }),
    ]),
  ],
};
