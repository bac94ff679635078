/** API Guardian endpoints of Shield Zones and their metrics (reference 2.4, 4.2). */
import { doneOf, weekdayShare, windowOf } from '../days.ts';
import { count, grouped, nth, streams } from '../entities.ts';
import { rejected, shieldApi, shieldData } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Answer, Kind, Request } from '../kind.ts';
import { hash, magnitude, unit } from '../random.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

export type Endpoint = ReturnType<typeof createEndpoint>;

export const apiGuardian = {
  kind: 'api_guardian',
  sizes: { small: { endpoints: 6 }, medium: { endpoints: 40 }, full: { endpoints: 300 } },
  create: (seed, { endpoints }, { zones }) => {
    if (endpoints > 0 && zones.length === 0) throw new RangeError('endpoints need a zone');
    const guarded = zones.filter(isGuarded);
    return { endpoints: count(endpoints, (index) => createEndpoint(seed, index, guarded)) };
  },
  ...shieldApi,
  path: '/shield/metrics/shield-zone/{zone}/api-guardian/endpoint/{endpoint}',
  traits: {
    field: 'data',
    number: 'totalBlockedRequests',
    wholeNumbers: true,
    days: ['overviewPastTwentyEightDays'],
  },
  rejections: ['unknownZone', 'unknownEndpoint', 'notOnPlan'],
  answers: ({ zones, endpoints }) => {
    const known = new Map(endpoints.map((one) => [`${one.shieldZoneId}/${one.endpointId}`, one]));
    return ofZone({ zones }, (zone, { ids: [, id = ''], nowMs, isRemoved }) => {
      if (!isGuarded(zone)) return rejected('notOnPlan', zone.shieldZoneId);
      const one = isRemoved(id) ? undefined : known.get(`${zone.shieldZoneId}/${id}`);
      return one ? metrics(one, nowMs) : rejected('unknownEndpoint', id);
    });
  },
  listing: {
    ...shieldApi,
    path: '/shield/shield-zone/{zone}/api-guardian',
    traits: {
      field: 'data.endpoints',
      list: true,
      ids: ['apiGuardianEndpointId', 'shieldZoneId'],
      names: ['requestPath'],
      number: 'rateLimitingRequestCount',
      wholeNumbers: true,
    },
    rejections: ['unknownZone', 'notOnPlan'],
    answers: ({ zones, endpoints }) => {
      const ofEach = grouped(endpoints, ({ shieldZoneId }) => shieldZoneId);
      return ofZone({ zones }, (zone, request) => {
        const { seed, shieldZoneId } = zone;
        if (!isGuarded(zone)) return rejected('notOnPlan', shieldZoneId);
        const there = ofEach.get(shieldZoneId) ?? [];
        return shieldData(seed, {
          configuration: {
            shieldZoneId: jsonInteger(shieldZoneId),
            isEnabled: true,
            executionMode: 1,
            title: 'Public API',
            version: '1.4.0',
            maxEndpoints: 50,
          },
          endpoints: there
            .filter(({ endpointId }) => !request.isRemoved(endpointId))
            .map((endpoint) => listed(endpoint, request)),
        });
      });
    },
  },
  section: 'api_guardian',
  targets: ({ endpoints }) =>
    endpoints.map(({ shieldZoneId, endpointId, name }) => ({
      ids: { shield_zone_id: shieldZoneId, endpoint_id: endpointId },
      name,
    })),
} as const satisfies Kind<{ endpoints: number }, { endpoints: readonly Endpoint[] }, Zones>;

/** API Guardian comes with the business plan. */
export function isGuarded({ planType }: Zone): boolean {
  return planType >= 2;
}

const endpointNames = (
  'POST /checkout, POST /login, GET /search, POST /v1/orders, ' +
  'PUT /cart/{id}, GET /v1/stock/{sku}, POST /reviews, DELETE /v1/sessions/{id}'
).split(', ');

function createEndpoint(datasetSeed: number, index: number, zones: readonly Zone[]) {
  const seed = hash(datasetSeed, streams.endpoint, index);
  const zone = zones[index % zones.length] as Zone;
  return {
    seed,
    index,
    shieldZoneId: zone.shieldZoneId,
    endpointId: String(1_201 + index),
    name: nth(endpointNames, index, (turn) => `/v${turn + 2}`),
    requestsPerDay: magnitude(2_000, 1_500_000, unit(seed, 1)),
  };
}

/** An endpoint as its zone lists it. */
function listed({ seed, endpointId, shieldZoneId, name }: Endpoint, { nameOf }: Request): unknown {
  const [requestMethod, ...path] = nameOf(endpointId, name).split(' ');
  return {
    apiGuardianEndpointId: jsonInteger(endpointId),
    shieldZoneId: jsonInteger(shieldZoneId),
    requestMethod,
    requestPath: path.join(' '),
    isEnabled: true,
    rateLimitingEnabled: true,
    rateLimitingRequestCount: 10 + (hash(seed, 0x27) % 90),
    rateLimitingTimeframe: 60,
  };
}

const none = {
  blockedRequests: 0,
  loggedRequests: 0,
  rateLimited: 0,
  requestsInspected: 0,
  failedRequestValidation: 0,
  failedAuthenticationEnforcement: 0,
};
type Figures = typeof none;

function metrics(endpoint: Endpoint, nowMs: number): Answer {
  const { totals, days } = windowOf(endpoint, nowMs, none, (day) => figuresOf(endpoint, day, nowMs));
  // A few endpoints are new: nothing was counted yet.
  const fresh = endpoint.index % 30 === 29;
  const sums = fresh ? none : totals;
  return shieldData(endpoint.seed, {
    totalBlockedRequests: sums.blockedRequests,
    totalLoggedRequests: sums.loggedRequests,
    totalRateLimited: sums.rateLimited,
    totalRequestsInspected: sums.requestsInspected,
    totalFailedRequestValidation: sums.failedRequestValidation,
    totalFailedAuthenticationEnforcement: sums.failedAuthenticationEnforcement,
    overviewPastTwentyEightDays: fresh ? null : days,
  });
}

function figuresOf({ seed, requestsPerDay }: Endpoint, day: number, nowMs: number): Figures {
  const done = doneOf(day, nowMs);
  const inspected = requestsPerDay * weekdayShare(day) * (0.75 + 0.5 * unit(seed, day, 0x21));
  const part = (share: number, figure: number) =>
    Math.floor(inspected * share * (0.3 + 1.4 * unit(seed, day, figure)) * done);
  return {
    blockedRequests: part(0.012, 0x22),
    loggedRequests: part(0.03, 0x23),
    rateLimited: part(0.006, 0x24),
    requestsInspected: Math.floor(inspected * done),
    failedRequestValidation: part(0.009, 0x25),
    failedAuthenticationEnforcement: part(0.004, 0x26),
  };
}
