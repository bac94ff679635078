/** Metrics of an API Guardian endpoint over the past 28 days (`/shield/metrics/shield-zone/{zone}/api-guardian/endpoint/{endpoint}`). */
import { figuresByDay, past28Days, withoutCounts } from '../charts.ts';
import { defineResource, defineResourceReadBy } from '../define.ts';
import { enveloped, within } from '../envelope.ts';
import { coded, count, flag, inside, shown } from '../families.ts';
import { boolean, elements, id, listOf, object, text } from '../fields.ts';
import type { Listing } from '../resource.ts';
import { zones } from './shield-zone.ts';

const ofDay = object({
  requestsInspected: count('inspected_requests', 'Requests inspected'),
  blockedRequests: count('blocked_requests', 'Requests blocked'),
  loggedRequests: count('logged_requests', 'Requests logged'),
  rateLimited: count('rate_limited_requests', 'Requests rate-limited'),
  failedRequestValidation: count('failed_validation_requests', 'Requests that failed validation'),
  failedAuthenticationEnforcement: count(
    'failed_authentication_requests',
    'Requests that failed authentication',
  ),
});

const figures = object({
  totalRequestsInspected: count('inspected_requests_28d', `Requests inspected ${past28Days}`),
  totalBlockedRequests: count('blocked_requests_28d', `Requests blocked ${past28Days}`),
  totalLoggedRequests: count('logged_requests_28d', `Requests logged ${past28Days}`),
  totalRateLimited: count('rate_limited_requests_28d', `Requests rate-limited ${past28Days}`),
  totalFailedRequestValidation: count(
    'failed_validation_requests_28d',
    `Requests that failed validation ${past28Days}`,
  ),
  totalFailedAuthenticationEnforcement: count(
    'failed_authentication_requests_28d',
    `Requests that failed authentication ${past28Days}`,
  ),
  overviewPastTwentyEightDays: figuresByDay(ofDay, 'the endpoint'),
});

const endpointMetrics = withoutCounts(figures, [
  [
    'overviewPastTwentyEightDays',
    'totalRequestsInspected',
    'totalBlockedRequests',
    'totalLoggedRequests',
    'totalRateLimited',
    'totalFailedRequestValidation',
    'totalFailedAuthenticationEnforcement',
  ],
]);

const endpoint = object({
  apiGuardianEndpointId: id,
  isEnabled: boolean,
  requestMethod: text,
  requestMethods: text,
  requestPath: text,
}).ignoring('shieldZoneId rateLimitingEnabled rateLimitingRequestCount rateLimitingTimeframe');

/** Every endpoint of a zone, named by its method and path. Anything but a list in its place does not count as an empty one. */
const endpointsOfZone = enveloped(
  within('endpoints', elements(endpoint, { complete: 'endpoints' }), 'configuration'),
);

const configuration = object({
  isEnabled: flag('zone_enabled', 'Whether API Guardian of the zone is enabled'),
  executionMode: coded('zone_execution_mode', 'What API Guardian of the zone does', ['log', 'block']),
  maxEndpoints: count('zone_endpoints_limit', 'Endpoints that the zone may have'),
}).ignoring('shieldZoneId title version');

const guardian = object({
  configuration: inside(configuration, {}),
  endpoints: shown(
    listOf(endpoint),
    {
      name: 'zone_endpoints',
      words: 'Endpoints of the zone (length of the %s)',
      series: (all) => all.length,
    },
    {
      name: 'enabled',
      words: 'Whether each endpoint is enabled: 1 yes, 0 no (%s: isEnabled)',
      labels: ['endpoint_id'],
      comesAndGoes: true,
      series: (all) =>
        all.flatMap((one) =>
          one?.apiGuardianEndpointId === undefined || one.isEnabled === undefined
            ? []
            : [{ labels: { endpoint_id: one.apiGuardianEndpointId }, value: Number(one.isEnabled) }],
        ),
    },
  ),
});

/** The same answer without its endpoints, which are read once. */
const settings = enveloped(object({ configuration }).ignoring('endpoints'));

const body = enveloped(guardian);

const endpoints: Listing = {
  kind: 'api_guardian_zone',
  product: 'Shield',
  api: 'shield',
  nouns: 'API Guardian endpoints',
  parent: zones,
  path: '/shield/shield-zone/{shieldZoneId}/api-guardian',
  ids: [
    { label: 'shield_zone_id', setting: 'shield_zone_id', form: 'integer' },
    { label: 'endpoint_id', setting: 'endpoint_id', form: 'integer' },
  ],
  fields: [...Object.keys(guardian.shape), ...Object.keys(endpoint.shape)],
  documented: body.documented,
  // A zone that has not set it up has no endpoints.
  isEmpty: ({ result, errorKey = '' }) =>
    (result === 'not_found' && !errorKey.endsWith('.shieldzone')) || errorKey.endsWith('no_configuration'),
  async discover(get, { shield_zone_id = '' } = {}, diagnostics) {
    const answer = await get(`/shield/shield-zone/${shield_zone_id}/api-guardian`);
    const given = endpointsOfZone.from(answer, diagnostics);
    const found = given.map(
      ({ apiGuardianEndpointId: endpoint_id = '', requestMethod, requestMethods, requestPath }) => ({
        ids: { shield_zone_id, endpoint_id },
        // Newer documents of the API have several methods: `GET,POST`.
        name: [requestMethod || requestMethods, requestPath].filter(Boolean).join(' ') || undefined,
      }),
    );
    return { found, about: { ...settings.from(answer, diagnostics), endpoints: given } };
  },
};

export const apiGuardian = defineResource({
  kind: 'api_guardian',
  noun: 'API Guardian endpoint',
  metricPrefix: 'bunnynet_shield_api_guardian',
  defaultIntervalSeconds: 300,
  listing: endpoints,
  path: '/shield/metrics/shield-zone/{zone}/api-guardian/endpoint/{endpoint}',
  answer: enveloped(endpointMetrics),
  info: 'The name of the endpoint, from the configuration or else from the API',
});

/** API Guardian of a zone as a whole, and which of its endpoints are enabled. It needs no request beside that which lists them. */
export const apiGuardianZone = defineResourceReadBy({
  kind: 'api_guardian_zone',
  noun: 'API Guardian zone',
  section: 'api_guardian_zones',
  metricPrefix: 'bunnynet_shield_api_guardian_zone',
  familyPrefix: 'bunnynet_shield_api_guardian',
  listing: zones,
  readBy: endpoints,
  answer: body,
});
