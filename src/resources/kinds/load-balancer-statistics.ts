/** What load balancers did with requests, by origin and hour (`/loadbalancer/{id}/statistics`). */

import { ofRange } from '../answer-of-range.ts';
import { countsOf, levels, newestAndTotal, ofNewestHour } from '../charts.ts';
import { defineResource } from '../define.ts';
import { type FamilyOf, shown } from '../families.ts';
import {
  divided,
  entriesOf,
  id,
  integer,
  listOf,
  mapped,
  number,
  object,
  text,
  type ValueOf,
} from '../fields.ts';
import { eachDayUntilNow } from '../queries.ts';
import { withRest } from '../tallies.ts';
import { loadBalancers } from './load-balancer.ts';

const maxOrigins = 50;
const maxFailures = 100;

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

const figureOfOrigin = object({ OriginId: id, OriginName: text, Values: values });
const failuresOfOrigin = object({ OriginId: id, OriginName: text, StatusCode: statusCode, Values: values });

const restOfOrigins = { origin_id: 'other' };
const restOfFailures = { origin_id: 'other', code: 'other' };

const byOrigin = listOf(figureOfOrigin);
const failuresByOrigin = listOf(failuresOfOrigin);

/** A figure that adds up, of each origin. */
function ofEachOrigin(name: string, words: string) {
  return shown(byOrigin, {
    ...newestAndTotal<ValueOf<typeof byOrigin>>(
      name,
      words,
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
}

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
  RequestsByOrigin: ofEachOrigin(
    'origin_requests',
    'Requests that each origin served: one that failed at another origin before is counted here alone',
  ),
  TrafficByOrigin: ofEachOrigin('origin_traffic_bytes', 'Traffic from each origin'),
  OriginFailures: failures,
  OriginLatency: latency,
}).ignoring('RequestsByOriginGroup[OriginGroupId OriginGroupName Values{*}]');
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

export const loadBalancerStatistics = defineResource({
  kind: 'load_balancer_statistics',
  familyPrefix: 'bunnynet_load_balancer',
  noun: 'load balancer statistics',
  defaultIntervalSeconds: 300,
  listing: loadBalancers,
  path: '/loadbalancer/{id}/statistics',
  query: eachDayUntilNow('from', 'to', 'hourly=true&exactRange=true', 90),
  answer: statistics,
  families: (own) => [originInfo, ...own],
});
