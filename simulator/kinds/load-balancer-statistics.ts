/** What load balancers did, by origin and hour, and how many pull zones each has (`/loadbalancer/{id}/statistics`, `/loadbalancer/statistics`). */
import { ofEach } from '../answers.ts';
import { type DayFigure, daily, dayMs, dayOf, hourMs } from '../days.ts';
import { count, type Entity, round, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { LoadBalancer, LoadBalancers } from './load-balancer.ts';

/** Pull zones, and the load balancer that each of them has. */
interface Attached {
  readonly pullZones: readonly { readonly loadBalancer: string | undefined }[];
}

export const loadBalancerStatistics = {
  kind: 'load_balancer_statistics',
  section: 'load_balancer_statistics',
  ...coreApi,
  path: '/loadbalancer/{loadBalancer}/statistics',
  reach: { from: 'from', to: 'to', days: 90 },
  traits: { charts: true },
  ...ofEach('loadBalancers', statistics),
  listing: {
    ...coreApi,
    path: '/loadbalancer/statistics',
    traits: { ids: ['LoadBalancerId'], number: 'TotalTraffic' },
    answers: (dataset: LoadBalancers & Attached) => (request: Request) =>
      ok(
        dataset.loadBalancers
          .filter(({ id }) => !request.isRemoved(id))
          .map((one) => ({
            LoadBalancerId: jsonInteger(one.id),
            TotalRequests: Math.floor(30 * one.requestsPerDay),
            TotalTraffic: Math.floor(30 * one.requestsPerDay * bytesPerRequest),
            AttachedPullZoneCount: dataset.pullZones.filter(({ loadBalancer: id }) => id === one.id).length,
          })),
      ),
  },
} as const satisfies Kind;

const bytesPerRequest = 30_000;

/** How many requests a load balancer has each day; today, up to `nowMs`. */
export function balancedOf(one: Entity & { readonly requestsPerDay: number }, nowMs: number): DayFigure {
  return daily(one, 0, one.requestsPerDay, nowMs);
}

/** Statistics by hours, or else by days; of whole days unless the query requests exact hours. Hours in the future have 0. */
function statistics(one: LoadBalancer, { query, nowMs }: Request) {
  const timeOf = (name: string) => Date.parse(query.get(name) ?? '');
  const to = timeOf('to') || nowMs;
  const isExact = query.get('hourly') === 'true' && query.get('exactRange') === 'true';
  const first = dayOf(timeOf('from') || to - dayMs) * dayMs;
  const last = isExact ? to : (dayOf(to) + 1) * dayMs;
  const hours = count(Math.max(1, Math.ceil((last - first) / hourMs)), (hour) => first + hour * hourMs);
  const inHour = (startMs: number) => {
    const at = (ms: number) => balancedOf(one, Math.min(ms, nowMs))(dayOf(startMs));
    return startMs >= nowMs ? 0 : at(startMs + hourMs) - at(startMs);
  };
  const isHourly = query.get('hourly') === 'true';
  const starts = isHourly ? hours : hours.filter((startMs) => startMs % dayMs === 0);
  const chart = (figureOf: (startMs: number) => number) =>
    Object.fromEntries(
      starts.map((startMs) => [`${new Date(startMs).toISOString().slice(0, 19)}Z`, figureOf(startMs)]),
    );
  const counted = (figureOf: (startMs: number) => number) =>
    chart((startMs) =>
      count(isHourly ? 1 : 24, (hour) => figureOf(startMs + hour * hourMs)).reduce((sum, one) => sum + one),
    );
  const share = (place: number) => (startMs: number) => Math.floor(inHour(startMs) / (place + 2));
  const total = hours.reduce((sum, startMs) => sum + inHour(startMs), 0);
  const latencyOf = (percentile: number, place: number) => (startMs: number) =>
    inHour(startMs) === 0 ? 0 : round(percentile * (1 + place + unit(one.seed, place, startMs / hourMs)), 2);
  return ok({
    Summary: {
      TotalRequests: total,
      TotalTraffic: total * bytesPerRequest,
      AverageOriginRttMs: 40.5,
      AllOriginsExhausted: Math.floor(total / 5_000),
      AverageRetryDepth: 0.02,
      StickySessionHits: 0,
      RequestsByMethod: { GET: total },
    },
    RequestsByOrigin: one.origins.map((origin, place) => ({ ...origin, Values: counted(share(place)) })),
    TrafficByOrigin: one.origins.map((origin, place) => ({
      ...origin,
      Values: counted((startMs) => share(place)(startMs) * bytesPerRequest),
    })),
    RequestsByOriginGroup: [],
    OriginLatency: one.origins.flatMap((origin, place) =>
      [50, 95].map((Percentile) => ({ ...origin, Percentile, Values: chart(latencyOf(Percentile, place)) })),
    ),
    OriginFailures: one.origins.slice(0, 1).map((origin) => ({
      ...origin,
      StatusCode: '502',
      Values: counted((startMs) => Math.floor(inHour(startMs) / 20)),
    })),
  });
}
