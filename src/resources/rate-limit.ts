/** Metrics of the rate limits of a Shield Zone over the past 28 days (reference 4.3, 2.5). */
import { figuresByDay, window28Days } from './daily.ts';
import { count, perElement, type Shown } from './families.ts';
import { id, object, readElements, text, unwrapList, type ValueOf } from './fields.ts';
import { defineListing } from './listing.ts';
import { defineResource } from './resource.ts';
import { zones } from './shield-zone.ts';

const breaches = object({
  totalBreaches: count('breaches', 'Breaches of the rate limit'),
  loggedBreaches: count('logged_breaches', 'Breaches of the rate limit that were logged'),
  challengedBreaches: count('challenged_breaches', 'Breaches of the rate limit that were challenged'),
  blockedBreaches: count('blocked_breaches', 'Breaches of the rate limit that were blocked'),
});

const rateLimitMetrics = object({
  ratelimitId: id,
  overview: window28Days(breaches),
  ratelimitOverviewPastTwentyEightDays: figuresByDay(breaches, 'it'),
});

/** The rate limits of one zone. */
type RateLimitReading = readonly ValueOf<typeof rateLimitMetrics>[];

const rule = object({ id, ruleName: text });

/** The rules of one zone's rate limits, with their names. */
const rules = defineListing({
  kind: 'rate_limit',
  api: 'shield',
  nouns: 'rate limits',
  isEmpty: ({ errorKey }) => errorKey === 'not_found.ratelimit_shieldzone',
  path: ({ shield_zone_id }) => `/shield/rate-limits/${shield_zone_id}`,
  element: rule,
  ids: [
    { label: 'shield_zone_id', setting: 'shield_zone_id', form: 'integer' },
    { label: 'rate_limit_id', setting: 'rate_limit_id', form: 'integer' },
  ],
  identifier: 'id',
  about: ({ ruleName }) => ({ name: ruleName }),
});

const info: Shown<RateLimitReading> = {
  name: 'info',
  words: 'The name of the rate limit',
  fields: ['ruleName'],
  labels: ['rate_limit_id', 'name'],
  series: (reading, { parts = [] }) =>
    reading.flatMap(({ ratelimitId = '' }) => {
      const name = parts.find(({ ids }) => ids['rate_limit_id'] === ratelimitId)?.name;
      return name ? [{ labels: { rate_limit_id: ratelimitId, name }, value: 1 }] : [];
    }),
};

export const rateLimit = defineResource<RateLimitReading>({
  kind: 'rate_limit',
  product: 'Shield',
  reference: '4.3',
  noun: 'rate limits of the Shield Zone',
  section: 'rate_limits',
  metricPrefix: 'bunnynet_shield_rate_limit',
  defaultIntervalSeconds: 300,
  listing: zones,
  partNames: rules,
  fields: rateLimitMetrics.names,
  families: [info, ...perElement({ rate_limit_id: 'ratelimitId' }, rateLimitMetrics)],

  async read(get, { shield_zone_id }, diagnostics) {
    const body = await get(`/shield/metrics/rate-limits/${shield_zone_id}`);
    return readElements(rateLimitMetrics, 'ratelimitId', unwrapList(body), diagnostics);
  },

  empty: { is: ({ errorKey }) => errorKey === 'not_found.ratelimit_shieldzone', reading: () => [] },
});
