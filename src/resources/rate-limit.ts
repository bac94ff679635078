/** Metrics of the rate limits of a Shield Zone over the past 28 days (reference 4.3, 2.5). */
import { z } from 'zod';
import { type Day, id, integer, newestDay, readElements, unwrapData } from './fields.ts';
import { familiesOf, type SingleResource } from './resource.ts';

const breachCounts = z.object({
  totalBreaches: integer,
  loggedBreaches: integer,
  challengedBreaches: integer,
  blockedBreaches: integer,
});

const rateLimitMetrics = z.object({
  ratelimitId: id,
  overview: breachCounts.nullish(),
  ratelimitOverviewPastTwentyEightDays: z.record(z.string(), breachCounts.nullish()).nullish(),
});
type Breaches = z.output<typeof breachCounts>;

interface RateLimit {
  readonly rateLimitId: string;
  readonly overview: Breaches | null | undefined;
  readonly latestDay: Day<Breaches> | undefined;
}

/** The rate limits of one zone. */
export type RateLimitReading = readonly RateLimit[];

const { gauge } = familiesOf<RateLimitReading>('bunnynet_shield_rate_limit');

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

export const rateLimit: SingleResource<RateLimitReading> = {
  mode: 'single',
  kind: 'rate_limit',
  api: 'shield',
  reference: '4.3',
  noun: "zone's rate limits",
  section: 'rate_limits',
  environment: 'BUNNYNET_RATE_LIMITS',
  metricPrefix: 'bunnynet_shield_rate_limit',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 300,
  settings: {},
  fields: Object.keys(rateLimitMetrics.shape),
  enumeratedFields: [],
  emptyOn: ['not_found.ratelimit_shieldzone'],
  followsListing: true,

  async read(get, ids, notes) {
    const body = await get(`/shield/metrics/rate-limits/${ids['shield_zone_id']}`);
    return readElements(rateLimitMetrics, 'ratelimitId', unwrapData(body), notes).map((item) => ({
      rateLimitId: item.ratelimitId ?? '',
      overview: item.overview,
      latestDay: newestDay(
        item.ratelimitOverviewPastTwentyEightDays,
        'ratelimitOverviewPastTwentyEightDays',
        notes,
      ),
    }));
  },

  empty: () => [],

  families: [
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
        ({ latestDay }) => latestDay?.figures[field],
      ),
    ),
    perRateLimit(
      'latest_day_timestamp_seconds',
      'Start of the newest UTC day, as Unix time (newest key of the API field ratelimitOverviewPastTwentyEightDays).',
      ({ latestDay }) => latestDay?.startSeconds,
    ),
  ],
};
