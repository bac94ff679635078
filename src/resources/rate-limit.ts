/** Metrics of the rate limits of a Shield Zone over the past 28 days (reference 4.3, 2.5). */

import { familiesOf } from './by-hand.ts';
import { type Day, figureByDay, mapDays } from './days.ts';
import { entriesOf, id, integer, object, readElements, text, unwrapList, type ValueOf } from './fields.ts';
import { mapEach, readShieldPages, shieldPageFields } from './pages.ts';
import { defineResource, type Listing, type Sample } from './resource.ts';
import { zones } from './shield-zone.ts';

const breachCounts = object({
  totalBreaches: integer,
  loggedBreaches: integer,
  challengedBreaches: integer,
  blockedBreaches: integer,
});

const rateLimitMetrics = object({
  ratelimitId: id,
  overview: breachCounts,
  ratelimitOverviewPastTwentyEightDays: entriesOf(breachCounts),
});
type Breaches = ValueOf<typeof breachCounts>;

interface RateLimit {
  readonly rateLimitId: string;
  readonly overview: Breaches | null | undefined;
  /** The newest first. */
  readonly days: readonly Day<Breaches>[] | undefined;
}

/** The rate limits of one zone. */
export type RateLimitReading = readonly RateLimit[];

const { gauge, counter } = familiesOf<RateLimitReading>('bunnynet_shield_rate_limit');

/** A family with one series for each rate limit that has the value. */
function perRateLimit(name: string, help: string, pick: (rateLimit: RateLimit) => number | null | undefined) {
  return gauge(
    name,
    help,
    (reading) =>
      reading.flatMap((rateLimit) => {
        const value = pick(rateLimit);
        return typeof value === 'number' ? [{ labels: { rate_limit_id: rateLimit.rateLimitId }, value }] : [];
      }),
    ['rate_limit_id'],
  );
}

const figures = [
  ['breaches', 'totalBreaches', 'Breaches of the rate limit'],
  ['logged_breaches', 'loggedBreaches', 'Breaches of the rate limit that were logged'],
  ['challenged_breaches', 'challengedBreaches', 'Breaches of the rate limit that were challenged'],
  ['blocked_breaches', 'blockedBreaches', 'Breaches of the rate limit that were blocked'],
] as const;

const rule = object({ id, ruleName: text });

/** The rules of one zone's rate limits, with their names. */
const rules: Listing = {
  kind: 'rate_limit',
  api: 'shield',
  nouns: 'rate limits',
  fields: [...rule.names, ...shieldPageFields],
  isEmpty: ({ errorKey }) => errorKey === 'not_found.ratelimit_shieldzone',
  async discover(get, parent, diagnostics) {
    const zoneId = parent?.['shield_zone_id'] ?? '';
    const found = await readShieldPages(
      {
        path: `/shield/rate-limits/${zoneId}`,
        nouns: 'rate limits',
        perPage: 100,
        element: rule,
        identifier: 'id',
      },
      get,
      diagnostics,
    );
    return mapEach(found, ([ruleId, { ruleName }]) => ({
      ids: { shield_zone_id: zoneId, rate_limit_id: ruleId },
      name: ruleName ?? undefined,
    }));
  },
};

export const rateLimit = defineResource({
  kind: 'rate_limit',
  api: 'shield',
  reference: '4.3',
  noun: "zone's rate limits",
  section: 'rate_limits',
  metricPrefix: 'bunnynet_shield_rate_limit',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 300,
  fields: rateLimitMetrics.names,
  listing: zones,
  partNames: rules,

  async read(get, ids, diagnostics): Promise<RateLimitReading> {
    const body = await get(`/shield/metrics/rate-limits/${ids['shield_zone_id']}`);
    return readElements(rateLimitMetrics, 'ratelimitId', unwrapList(body), diagnostics).map((item) => ({
      rateLimitId: item.ratelimitId ?? '',
      overview: item.overview,
      days: mapDays(
        item.ratelimitOverviewPastTwentyEightDays,
        'ratelimitOverviewPastTwentyEightDays',
        diagnostics,
      ),
    }));
  },

  empty: { on: ['not_found.ratelimit_shieldzone'], reading: () => [] },

  families: [
    {
      name: 'bunnynet_shield_rate_limit_info',
      help: 'The name of the rate limit (API field ruleName).',
      type: 'info',
      labels: ['rate_limit_id', 'name'],
      fields: ['ruleName'],
      samples: (reading, { parts = [] }): readonly Sample[] =>
        reading.flatMap(({ rateLimitId }) => {
          const name = parts.find(({ ids }) => ids['rate_limit_id'] === rateLimitId)?.name;
          return name ? [{ labels: { rate_limit_id: rateLimitId, name }, value: 1 }] : [];
        }),
    },
    ...figures.map(([name, field, words]) =>
      perRateLimit(
        `${name}_28d`,
        `${words} in the past 28 days, a rolling window that can fall: no rate() or increase() (API field overview, ${field}).`,
        ({ overview }) => overview?.[field],
      ),
    ),
    ...figures.map(([name, field, words]) =>
      perRateLimit(
        `${name}_latest_day`,
        `${words} so far in the newest UTC day; falls back at midnight (API field ratelimitOverviewPastTwentyEightDays, ${field}).`,
        ({ days }) => days?.[0]?.figures[field],
      ),
    ),
    ...figures.map(([name, field, words]) =>
      counter(
        `${name}_total`,
        `${words} since the exporter first read it, added up by UTC days (API field ratelimitOverviewPastTwentyEightDays, ${field}).`,
        (reading) =>
          reading.flatMap(({ rateLimitId, days }) => {
            const counted = figureByDay(days, (breaches) => breaches[field]);
            return counted ? [{ labels: { rate_limit_id: rateLimitId }, days: counted }] : [];
          }),
        ['rate_limit_id'],
      ),
    ),
    perRateLimit(
      'latest_day_timestamp_seconds',
      'Start of the newest UTC day, as Unix time (newest key of the API field ratelimitOverviewPastTwentyEightDays).',
      ({ days }) => days?.[0]?.startSeconds,
    ),
  ],
});
