/** Metrics of the rate limits of a Shield Zone over the past 28 days (`/shield/metrics/rate-limits/{shieldZoneId}`). */
import { familiesOf28Days, figuresByDay, withoutCounts } from '../charts.ts';
import { defineListing, defineResource } from '../define.ts';
import { enveloped } from '../envelope.ts';
import { count, type FamilyOf, label, nested, shown } from '../families.ts';
import { elements, id, object, type ValueOf } from '../fields.ts';
import type { FailureOf } from '../resource.ts';
import { zones } from './shield-zone.ts';

const breaches = object({
  totalBreaches: count('breaches', 'Breaches of the rate limit'),
  loggedBreaches: count('logged_breaches', 'Breaches of the rate limit that were logged'),
  challengedBreaches: count('challenged_breaches', 'Breaches of the rate limit that were challenged'),
  blockedBreaches: count('blocked_breaches', 'Breaches of the rate limit that were blocked'),
});

const rateLimitMetrics = withoutCounts(
  object({
    ratelimitId: label('rate_limit_id', id),
    overview: shown(breaches, ...familiesOf28Days(breaches).map(nested)),
    ratelimitOverviewPastTwentyEightDays: figuresByDay(breaches, 'it'),
  }),
  [['ratelimitOverviewPastTwentyEightDays', 'overview']],
);

function hasNoRateLimits({ errorKey }: FailureOf): boolean {
  return errorKey === 'not_found.ratelimit_shieldzone';
}

/** The rules of one zone, which have the names of its rate limits. */
const rules = defineListing({
  kind: 'rate_limit',
  product: 'Shield',
  api: 'shield',
  nouns: 'rate limits',
  isEmpty: hasNoRateLimits,
  path: '/shield/rate-limits/{shieldZoneId}',
  element: object({ id, ruleName: label('name') }).ignoring(
    'shieldZoneId userId ruleDescription ruleJson ruleConfiguration{actionType}',
  ),
  ids: [
    { label: 'shield_zone_id', setting: 'shield_zone_id', form: 'integer' },
    { label: 'rate_limit_id', setting: 'rate_limit_id', form: 'integer' },
  ],
});

const info: FamilyOf<readonly ValueOf<typeof rateLimitMetrics>[]> = {
  name: 'info',
  words: 'The name of the rate limit',
  fields: ['ruleName'],
  labels: ['rate_limit_id', 'name'],
  named: 'parts',
  series: (reading) =>
    reading.map(({ ratelimitId = '' }) => ({ labels: { rate_limit_id: ratelimitId, name: '' }, value: 1 })),
};

export const rateLimit = defineResource({
  kind: 'rate_limit',
  noun: 'Shield rate limits',
  section: 'rate_limits',
  metricPrefix: 'bunnynet_shield_rate_limit',
  defaultIntervalSeconds: 300,
  listing: zones,
  partNames: rules,
  path: '/shield/metrics/rate-limits/{shieldZoneId}',
  answer: enveloped(elements(rateLimitMetrics)),
  families: (own) => [info, ...own],
  isEmpty: hasNoRateLimits,
});
