/**
 * Metrics of the rate limits of a Shield Zone over the past 28 days (`/shield/metrics/rate-limits/{shieldZoneId}`), and what each limit
 * does, which is in the list of their names (`/shield/rate-limits/{shieldZoneId}`).
 */
import { familiesOf28Days, figuresByDay, withoutCounts } from '../charts.ts';
import { defineListing, defineResource, defineResourceReadBy } from '../define.ts';
import { enveloped } from '../envelope.ts';
import { count, type FamilyOf, label, nested, seriesOfStates, shown } from '../families.ts';
import { codeState, elements, id, listOf, object, type ValueOf } from '../fields.ts';
import type { FailureOf, Listing } from '../resource.ts';
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

/** What a limit does with what breaches it, by its code. */
const actions = [undefined, 'block', 'log', 'challenge', 'allow', 'bypass'] as const;
const seriesOfAction = seriesOfStates(actions.slice(1) as readonly string[]);

const rule = object({
  id,
  ruleName: label('name'),
  ruleConfiguration: object({ actionType: codeState(actions) }),
}).ignoring('shieldZoneId userId ruleDescription ruleJson');

const rulesListing = defineListing({
  kind: 'rate_limit_zone',
  product: 'Shield',
  api: 'shield',
  nouns: 'rate limits',
  parent: zones,
  isEmpty: hasNoRateLimits,
  path: '/shield/rate-limits/{shieldZoneId}',
  element: rule,
  ids: [
    { label: 'shield_zone_id', setting: 'shield_zone_id', form: 'integer' },
    { label: 'rate_limit_id', setting: 'rate_limit_id', form: 'integer' },
  ],
});

/** The rules of one zone, which have the names of its rate limits, and what they do. */
const rules: Listing = {
  ...rulesListing,
  async discover(...asked) {
    const run = await rulesListing.discover(...asked);
    const found = [...run.found];
    return { ...run, found, about: { data: found.map(({ reading }) => reading) } };
  },
};

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

/** What each limit of a zone does. It needs no request beside that for their names. */
export const rateLimitZone = defineResourceReadBy({
  kind: 'rate_limit_zone',
  noun: 'Shield rate limits of a zone',
  section: 'rate_limit_zones',
  metricPrefix: 'bunnynet_shield_rate_limit_zone',
  familyPrefix: 'bunnynet_shield_rate_limit',
  listing: zones,
  readBy: rules,
  documented: rulesListing.documented,
  answer: object({
    data: shown(listOf(rule), {
      name: 'action',
      words: 'What each rate limit does with what breaches it (%s: ruleConfiguration, actionType)',
      labels: ['rate_limit_id', 'status'],
      comesAndGoes: true,
      series: (all) =>
        all.flatMap((one) => {
          const { id: rateLimit, ruleConfiguration: { actionType } = {} } = one ?? {};
          if (rateLimit === undefined || actionType === undefined) return [];
          return seriesOfAction(actionType).map(({ labels, value }) => ({
            labels: { rate_limit_id: rateLimit, ...labels },
            value,
          }));
        }),
    }),
  }),
});
