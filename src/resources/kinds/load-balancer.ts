/** What load balancers did with requests, by origin and hour (`/loadbalancer/{id}/statistics`). No operation lists them with names. */
import { countsOf, levels, newestAndTotal, ofNewestHour } from '../charts.ts';
import { defineResource } from '../define.ts';
import { type FamilyOf, shown } from '../families.ts';
import {
  divided,
  elements,
  entriesOf,
  id,
  integer,
  listOf,
  mapped,
  number,
  object,
  reference,
  text,
  type ValueOf,
} from '../fields.ts';
import { mapEach, pagings, readPages } from '../pages.ts';
import { eachOpenDay } from '../queries.ts';
import type { Listing } from '../resource.ts';
import { ofRange } from '../sums.ts';
import { withRest } from '../tallies.ts';

const dayMs = 86_400_000;
const maxOrigins = 50;
const maxFailures = 100;

const balancer = object({ LoadBalancerId: id }).ignoring('TotalRequests TotalTraffic AttachedPullZoneCount');
const pullZone = object({ Id: id, Name: text, LoadBalancerId: reference });

/**
 * Those with traffic in the past 30 days, and those that a pull zone points to: one leaves when both lack it. It is called after a
 * pull zone that it serves, since it has no name of its own.
 */
export const loadBalancers: Listing = {
  kind: 'load_balancer',
  product: 'CDN',
  optionalProduct: true,
  api: 'core',
  nouns: 'load balancers',
  path: '/loadbalancer/statistics',
  ids: [{ label: 'load_balancer_id', setting: 'id', form: 'integer' }],
  fields: Object.keys({ ...balancer.shape, ...pullZone.shape }),
  documented: { elements: balancer.documented },
  async discover(get, _parent, diagnostics) {
    const from = new Date(Date.now() - 30 * dayMs).toISOString();
    const active = elements(balancer, { complete: 'load balancers' }).from(
      await get(`/loadbalancer/statistics?from=${from}`),
      diagnostics,
    );
    const zones = { path: '/pullzone', nouns: 'pull zones', element: pullZone };
    const names = new Map(active.map(({ LoadBalancerId = '' }) => [LoadBalancerId, '']));
    const { byId, moved } = await readPages(pagings.core, zones, get, diagnostics);
    for (const { Name = '', LoadBalancerId } of byId.values()) {
      if (LoadBalancerId) names.set(LoadBalancerId, names.get(LoadBalancerId) || Name);
    }
    const found = mapEach(names, ([load_balancer_id, name]) => ({
      ids: { load_balancer_id },
      name: name || undefined,
    }));
    return { found, moved };
  },
};

const figures = object({ TotalRequests: number, TotalTraffic: number, AllOriginsExhausted: number }).ignoring(
  'AverageOriginRttMs AverageRetryDepth StickySessionHits RequestsByMethod{*}',
);
type Figures = ValueOf<typeof figures>;

/** The figures of the day that was requested. */
const summary = mapped(figures, (given, { requested }) => [
  { startSeconds: requested?.startSeconds ?? 0, ...given },
]);

function total(name: string, words: string, field: keyof Figures): FamilyOf<ValueOf<typeof summary>> {
  return {
    ...newestAndTotal<ValueOf<typeof summary>>(
      name,
      words,
      {
        series(all) {
          const days = all.flatMap(({ startSeconds, [field]: value }) =>
            value === undefined ? [] : [{ startSeconds, value }],
          );
          return days.length > 0 ? [{ days }] : undefined;
        },
      },
      'unknown',
      { since: 'the load balancer', place: `(%s, ${field})` },
    )[1],
  };
}

const values = countsOf(entriesOf(number));
const statusCode = mapped(text, (value) => (/^[\w.-]{1,32}$/.test(value) ? value : 'other'));

const requestsOfOrigin = object({ OriginId: id, OriginName: text, Values: values });
const failuresOfOrigin = object({ OriginId: id, OriginName: text, StatusCode: statusCode, Values: values });

const restOfOrigins = { origin_id: 'other' };
const restOfFailures = { origin_id: 'other', code: 'other' };

const requestsByOrigin = listOf(requestsOfOrigin);
const failuresByOrigin = listOf(failuresOfOrigin);

const origins = shown(requestsByOrigin, {
  ...newestAndTotal<ValueOf<typeof requestsByOrigin>>(
    'origin_requests',
    'Requests that each origin served: one that failed at another origin before is counted here alone',
    {
      labels: ['origin_id'],
      bound: { most: maxOrigins, rest: restOfOrigins },
      series: (all) =>
        withRest(
          restOfOrigins,
          all.flatMap((one) =>
            one?.OriginId && one.Values ? [{ labels: { origin_id: one.OriginId }, days: one.Values }] : [],
          ),
        ),
    },
    'none',
  )[1],
});

const failures = shown(failuresByOrigin, {
  ...newestAndTotal<ValueOf<typeof failuresByOrigin>>(
    'origin_failures',
    'Attempts that failed at each origin, by the status code that the API gives; a request can fail at several origins, and be served by another',
    {
      labels: ['origin_id', 'code'],
      bound: { most: maxFailures, rest: restOfFailures },
      series: (all) =>
        withRest(
          restOfFailures,
          all.flatMap((one) =>
            one?.OriginId && one.Values
              ? [{ labels: { origin_id: one.OriginId, code: one.StatusCode ?? '' }, days: one.Values }]
              : [],
          ),
        ),
    },
    'none',
  )[1],
});

const latencyOfOrigin = object({
  OriginId: id,
  Percentile: integer,
  Values: levels,
}).ignoring('OriginName');

const latencies = mapped(listOf(latencyOfOrigin), (all) =>
  all.flatMap((one) => {
    const { OriginId: origin_id, Percentile, Values = [] } = one ?? {};
    if (origin_id === undefined || Percentile === undefined) return [];
    const labels = { origin_id, percentile: String(Percentile) };
    return Values.map((level) => ({ ...level, labels }));
  }),
);

const latency = shown(latencies, {
  name: 'origin_latency_seconds',
  words: `Time to the first byte of each origin in the newest hour that had requests, by percentile: nothing to add up (%s, divided by 1000; at most ${2 * maxOrigins} series)`,
  labels: ['origin_id', 'percentile'],
  series: (all: ValueOf<typeof latencies>) =>
    ofNewestHour(all)
      .slice(0, 2 * maxOrigins)
      .map(({ labels, value }) => ({ labels, value: divided(value, 1000) })),
});

const statistics = object({
  Summary: ofRange(
    shown(
      summary,
      total('requests', 'Requests', 'TotalRequests'),
      total('traffic_bytes', 'Traffic', 'TotalTraffic'),
      total('origins_exhausted', 'Requests for which every origin failed', 'AllOriginsExhausted'),
    ),
  ),
  RequestsByOrigin: origins,
  OriginFailures: failures,
  OriginLatency: latency,
}).ignoring(
  'TrafficByOrigin[OriginId OriginName Values{*}] RequestsByOriginGroup[OriginGroupId OriginGroupName Values{*}]',
);
type Statistics = ValueOf<typeof statistics>;

const originInfo: FamilyOf<Statistics> = {
  name: 'origin_info',
  words: 'The name of each origin (%s: OriginName)',
  fields: ['RequestsByOrigin', 'OriginFailures'],
  labels: ['origin_id', 'name'],
  series({ RequestsByOrigin = [], OriginFailures = [] }) {
    const named = [...RequestsByOrigin, ...OriginFailures].flatMap((one) =>
      one?.OriginId && one.OriginName ? [[one.OriginId, one.OriginName] as const] : [],
    );
    return [...new Map(named)]
      .slice(0, maxOrigins)
      .map(([origin_id, name]) => ({ labels: { origin_id, name }, value: 1 }));
  },
};

export const loadBalancer = defineResource({
  kind: 'load_balancer',
  noun: 'load balancer',
  section: 'load_balancers',
  defaultIntervalSeconds: 300,
  listing: loadBalancers,
  path: '/loadbalancer/{id}/statistics',
  query: eachOpenDay('from', 'to', 'hourly=true&exactRange=true', 90),
  answer: statistics,
  info: 'The name of a pull zone that the load balancer serves, since it has none of its own',
  families: (own) => [...own.slice(0, 1), originInfo, ...own.slice(1)],
});
