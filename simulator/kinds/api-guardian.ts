/** API Guardian endpoints of Shield Zones and their metrics (`/shield/metrics/shield-zone/{zone}/api-guardian/endpoint/{endpoint}`). */
import { targetOf } from '../answers.ts';
import { type DayFigure, doneOf, weekdayShare, windowOf } from '../days.ts';
import { entities, hash, magnitude, nth, numberedId, unit } from '../entities.ts';
import { noConfiguration, rejected, shieldApi, shieldData, shieldEnvelope } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

type Endpoint = ReturnType<typeof endpointsOf>[number];

interface Endpoints {
  readonly endpoints: readonly Endpoint[];
}

export const apiGuardian = {
  kind: 'api_guardian',
  section: 'api_guardian',
  sizes: { endpoints: [6, 40, 90] },
  create: (seed, sizes: { endpoints: number }, { zones }: Zones) => ({
    endpoints: endpointsOf(seed, sizes.endpoints, zones.filter(isGuarded)),
  }),
  ...shieldApi,
  path: '/shield/metrics/shield-zone/{zone}/api-guardian/endpoint/{endpoint}',
  traits: { field: 'data', integer: 'totalBlockedRequests', days: true },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofGuardedZone(({ ids: [, id = ''], isRemoved, nowMs }, there) => {
    const one = there.find((endpoint) => endpoint.id === id && !isRemoved(id));
    return one ? metrics(one, nowMs) : shieldEnvelope.error(404, `Endpoint ${id} was not found`);
  }),
  targets: ({ endpoints }: Endpoints) =>
    endpoints.map(({ shieldZoneId, id, name }) => ({
      ids: { shield_zone_id: shieldZoneId, endpoint_id: id },
      name,
    })),
} as const satisfies Kind;

/** API Guardian of zones, with the endpoints of each: the operation that lists these, too. */
export const apiGuardianZone = {
  kind: 'api_guardian_zone',
  section: 'api_guardian_zones',
  ...shieldApi,
  path: '/shield/shield-zone/{zone}/api-guardian',
  traits: {
    field: 'data.endpoints',
    ids: ['apiGuardianEndpointId', 'shieldZoneId'],
    name: 'requestPath',
    integer: 'rateLimitingRequestCount',
  },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofGuardedZone((request, there, { seed, id, index }) =>
    shieldData(seed, {
      configuration: {
        shieldZoneId: jsonInteger(id),
        isEnabled: true,
        // Some only log at first.
        executionMode: index % 4 === 2 ? 0 : 1,
        title: null,
        version: '1.0',
        maxEndpoints: 50,
      },
      endpoints: there.filter((one) => !request.isRemoved(one.id)).map((one) => itemOf(one, request)),
    }),
  ),
  targets: ({ zones, endpoints }: Zones & Endpoints) =>
    zones.filter(({ id }) => endpoints.some(({ shieldZoneId }) => shieldZoneId === id)).map(targetOf),
  listed: ({ zones }: Zones) => zones.map(targetOf),
} as const satisfies Kind;

/** API Guardian comes with the business plan. */
export function isGuarded({ planType }: Zone): boolean {
  return planType >= 2;
}

/** Answers for a zone that has API Guardian, from its endpoints. */
function ofGuardedZone(
  answer: (request: Request, there: readonly Endpoint[], zone: Zone) => ReturnType<typeof rejected>,
) {
  return {
    answers: (dataset: Zones & Endpoints) =>
      ofZone((zone, request) => {
        if (!isGuarded(zone)) return rejected('notOnPlan', zone.id);
        const there = dataset.endpoints.filter(({ shieldZoneId }) => shieldZoneId === zone.id);
        // Where there are more zones than endpoints, nobody configured the rest.
        if (there.length === 0) return noConfiguration;
        return answer(request, there, zone);
      }).answers(dataset),
  };
}

const endpointNames = (
  'POST /checkout, POST /login, GET /search, POST /v1/orders, ' +
  'PUT /cart/{id}, GET /v1/stock/{sku}, POST /reviews, DELETE /v1/sessions/{id}'
).split(', ');

function endpointsOf(datasetSeed: number, length: number, zones: readonly Zone[]) {
  return entities(datasetSeed, 3, length, (seed, index) => ({
    shieldZoneId: (zones[index % zones.length] as Zone).id,
    id: numberedId(datasetSeed, 1_201 + index),
    name: nth(endpointNames, index, (turn) => `/v${turn + 2}`),
    requestsPerDay: magnitude(2_000, 1_500_000, unit(seed, 1)),
  }));
}

/** An endpoint as its zone lists it. */
function itemOf({ seed, index, id, shieldZoneId, name }: Endpoint, { nameOf }: Request): unknown {
  const [requestMethod, ...path] = nameOf(id, name).split(' ');
  return {
    apiGuardianEndpointId: jsonInteger(id),
    shieldZoneId: jsonInteger(shieldZoneId),
    requestMethod,
    requestPath: path.join(' '),
    isEnabled: index % 5 !== 4,
    rateLimitingEnabled: true,
    rateLimitingRequestCount: 10 + (hash(seed, 0x27) % 90),
    rateLimitingTimeframe: 60,
  };
}

function metrics(endpoint: Endpoint, nowMs: number) {
  const { seed, index, requestsPerDay } = endpoint;
  const part = (shareOf: DayFigure) => (day: number) => {
    const inspected = requestsPerDay * weekdayShare(day) * (0.75 + 0.5 * unit(seed, day, 0x21));
    return Math.floor(inspected * shareOf(day) * doneOf(day, nowMs));
  };
  const share = (usual: number, figure: number) =>
    part((day) => usual * (0.3 + 1.4 * unit(seed, day, figure)));
  const figures = {
    blockedRequests: share(0.012, 0x22),
    loggedRequests: share(0.03, 0x23),
    rateLimited: share(0.006, 0x24),
    requestsInspected: part(() => 1),
    failedRequestValidation: share(0.009, 0x25),
    failedAuthenticationEnforcement: share(0.004, 0x26),
  };
  // For a few new endpoints nothing was counted yet.
  const { totals, days } = windowOf(endpoint, nowMs, figures, index % 30 === 29);
  const named = Object.entries(totals).map(([name, total]) => [
    `total${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    total,
  ]);
  return shieldData(seed, { ...Object.fromEntries(named), overviewPastTwentyEightDays: days });
}
