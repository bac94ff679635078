/** Metrics of one API Guardian endpoint of a Shield Zone over the past 28 days (reference 4.2, 2.4). */

import { familiesOf } from './by-hand.ts';
import { type Day, figureByDay, mapDays } from './days.ts';
import {
  anything,
  entriesOf,
  id,
  integer,
  object,
  readFields,
  text,
  unwrapData,
  type ValueOf,
} from './fields.ts';
import { readListed } from './pages.ts';
import { defineResource, type Listing } from './resource.ts';
import { zones } from './shield-zone.ts';

const endpointMetrics = object({
  totalBlockedRequests: integer,
  totalLoggedRequests: integer,
  totalRateLimited: integer,
  totalRequestsInspected: integer,
  totalFailedRequestValidation: integer,
  totalFailedAuthenticationEnforcement: integer,
  overviewPastTwentyEightDays: entriesOf(
    object({
      blockedRequests: integer,
      loggedRequests: integer,
      rateLimited: integer,
      requestsInspected: integer,
      failedRequestValidation: integer,
      failedAuthenticationEnforcement: integer,
    }),
  ),
});
type Metrics = ValueOf<typeof endpointMetrics>;
type DayFigures = NonNullable<NonNullable<Metrics['overviewPastTwentyEightDays']>[number][1]>;

export interface ApiGuardianReading extends Omit<Metrics, 'overviewPastTwentyEightDays'> {
  /** The newest first. */
  readonly days: readonly Day<DayFigures>[] | undefined;
}

const { gauge, info, counter } = familiesOf<ApiGuardianReading>('bunnynet_shield_api_guardian');

/** What is counted: the metric's name without its window, the API's field for 28 days, that for a day, and the HELP. */
const figures = [
  ['inspected_requests', 'totalRequestsInspected', 'requestsInspected', 'Requests inspected'],
  ['blocked_requests', 'totalBlockedRequests', 'blockedRequests', 'Requests blocked'],
  ['logged_requests', 'totalLoggedRequests', 'loggedRequests', 'Requests logged'],
  ['rate_limited_requests', 'totalRateLimited', 'rateLimited', 'Requests rate-limited'],
  [
    'failed_validation_requests',
    'totalFailedRequestValidation',
    'failedRequestValidation',
    'Requests that failed validation',
  ],
  [
    'failed_authentication_requests',
    'totalFailedAuthenticationEnforcement',
    'failedAuthenticationEnforcement',
    'Requests that failed authentication',
  ],
] as const;

// Whatever else is there in their place is no empty list.
const guardian = object({ endpoints: anything });
const endpoint = object({ apiGuardianEndpointId: id, requestMethod: text, requestPath: text });

/** Every endpoint of a zone, called by its method and path. */
const endpoints: Listing = {
  kind: 'api_guardian',
  api: 'shield',
  nouns: 'API Guardian endpoints',
  parent: zones,
  fields: [...guardian.names, ...endpoint.names],
  // A zone without the feature, by its plan or because nobody has set it up, has no endpoints.
  isEmpty: ({ result, errorKey = '' }) =>
    result === 'not_found' || /^(feature_not_available|invalid_plan_type|not_found\.)/.test(errorKey),
  async discover(get, parent, diagnostics) {
    const zoneId = parent?.['shield_zone_id'] ?? '';
    const body = await get(`/shield/shield-zone/${zoneId}/api-guardian`);
    const given = readFields(guardian, unwrapData(body), diagnostics).endpoints;
    return readListed('endpoints', endpoint, 'apiGuardianEndpointId', given, diagnostics).map(
      ({ apiGuardianEndpointId, requestMethod, requestPath }) => ({
        ids: { shield_zone_id: zoneId, endpoint_id: apiGuardianEndpointId ?? '' },
        name: [requestMethod, requestPath].filter(Boolean).join(' ') || undefined,
      }),
    );
  },
};

export const apiGuardian = defineResource({
  kind: 'api_guardian',
  api: 'shield',
  reference: '4.2',
  noun: 'API Guardian endpoint',
  section: 'api_guardian',
  metricPrefix: 'bunnynet_shield_api_guardian',
  ids: [
    { label: 'shield_zone_id', setting: 'shield_zone_id', form: 'integer' },
    { label: 'endpoint_id', setting: 'endpoint_id', form: 'integer' },
  ],
  defaultIntervalSeconds: 300,
  fields: endpointMetrics.names,
  listing: endpoints,

  async read(get, ids, diagnostics): Promise<ApiGuardianReading> {
    const body = await get(
      `/shield/metrics/shield-zone/${ids['shield_zone_id']}/api-guardian/endpoint/${ids['endpoint_id']}`,
    );
    const { overviewPastTwentyEightDays: days, ...totals } = readFields(
      endpointMetrics,
      unwrapData(body),
      diagnostics,
    );
    return { ...totals, days: mapDays(days, 'overviewPastTwentyEightDays', diagnostics) };
  },

  families: [
    info(
      'The name of the endpoint, from the configuration or else from the API.',
      ['name'],
      (_, { name }) => ({ name }),
    ),
    ...figures.map(([name, field, , words]) =>
      gauge(
        `${name}_28d`,
        `${words} in the past 28 days, a rolling window that can fall: no rate() or increase() (API field ${field}).`,
        (reading) => reading[field] ?? undefined,
      ),
    ),
    ...figures.map(([name, , field, words]) =>
      gauge(
        `${name}_latest_day`,
        `${words} so far in the newest UTC day; falls back at midnight (API field overviewPastTwentyEightDays, ${field}).`,
        ({ days }) => days?.[0]?.figures[field] ?? undefined,
      ),
    ),
    ...figures.map(([name, , field, words]) =>
      counter(
        `${name}_total`,
        `${words} since the exporter first read the endpoint, added up by UTC days (API field overviewPastTwentyEightDays, ${field}).`,
        ({ days }) => {
          const counted = figureByDay(days, (figures) => figures[field]);
          return counted && [{ days: counted }];
        },
      ),
    ),
    gauge(
      'latest_day_timestamp_seconds',
      'Start of the newest UTC day, as Unix time (newest key of the API field overviewPastTwentyEightDays).',
      ({ days }) => days?.[0]?.startSeconds,
    ),
  ],
});
