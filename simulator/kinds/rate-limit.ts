/** Rate limits of Shield Zones and their breaches (`/shield/metrics/rate-limits/{shieldZoneId}`). */
import { listedIn, shieldPaging, targetOf } from '../answers.ts';
import { doneOf, sumOf, weekdayShare, windowOf } from '../days.ts';
import { entities, magnitude, nth, numberedId, unit, wideId } from '../entities.ts';
import { rejected, shieldApi, shieldData } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind } from '../kind.ts';
import { isGuarded } from './api-guardian.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

type Rule = ReturnType<typeof rulesOf>[number];

interface LimitedZones {
  readonly rateLimitZones: readonly (Zone & { readonly rules: readonly Rule[] })[];
}

interface Sizes {
  /** At most as many as there are zones. */
  readonly rateLimitZones: number;
  readonly rulesPerZone: number;
}

export const rateLimit = {
  kind: 'rate_limit',
  section: 'rate_limits',
  sizes: { rateLimitZones: [3, 40, 90], rulesPerZone: [2, 3, 3] },
  create: (seed, { rateLimitZones, rulesPerZone }: Sizes, { zones }: Zones): LimitedZones => {
    const rules = rulesOf(seed, rateLimitZones * rulesPerZone, rulesPerZone);
    const limited = [...zones.filter(isGuarded), ...zones.filter((zone) => !isGuarded(zone))];
    return {
      rateLimitZones: limited.slice(0, rateLimitZones).map((zone, index) => ({
        ...zone,
        rules: rules.slice(index * rulesPerZone, (index + 1) * rulesPerZone),
      })),
    };
  },
  ...shieldApi,
  path: '/shield/metrics/rate-limits/{zone}',
  traits: { field: 'data', ids: ['ratelimitId'], integer: 'totalBreaches', days: true },
  rejections: ['unknownZone', 'noRateLimits', 'notOnPlan'],
  answers: (dataset: Zones & LimitedZones) =>
    ofZone(({ id, planType }, { nowMs, isRemoved }) => {
      const rules = rulesIn(dataset, id);
      // On Basic the figures were gated, though not with everybody.
      if (rules.length === 0) return rejected(planType === 0 ? 'notOnPlan' : 'noRateLimits', id);
      const there = rules.filter((rule) => !isRemoved(rule.id));
      return shieldData(
        there[0]?.seed ?? 0,
        there.map((rule) => breachesOf(rule, nowMs)),
      );
    }).answers(dataset),
  targets: ({ rateLimitZones }: LimitedZones) => rateLimitZones.map(targetOf),
  listed: ({ zones }: Zones) => zones.map(targetOf),
} as const satisfies Kind;

/** What each limit of a zone does: the operation that has their names, too. */
export const rateLimitZone = {
  kind: 'rate_limit_zone',
  section: 'rate_limit_zones',
  ...shieldApi,
  path: '/shield/rate-limits/{zone}',
  traits: {
    field: 'data',
    ids: ['id', 'shieldZoneId'],
    name: 'ruleName',
    integer: 'actionType',
    isStill: true,
  },
  ...listedIn(shieldPaging, rulesIn, ({ id, index, name }, { ids: [zone = ''], nameOf }) => ({
    id: jsonInteger(id),
    shieldZoneId: jsonInteger(zone),
    // Most block; some challenge, and some only log at first.
    ruleConfiguration: {
      actionType: actionTypes[index % actionTypes.length],
      requestCount: 20,
      timeframe: 10,
      blockTime: 60,
    },
    ruleName: nameOf(id, name),
  })),
  targets: ({ rateLimitZones }: LimitedZones) => rateLimitZones.map(targetOf),
  listed: ({ zones }: Zones) => zones.map(targetOf),
} as const satisfies Kind;

const actionTypes = [1, 1, 3, 1, 2];

const ruleNames = (
  'Login attempts, Search by one client, Password resets, Cart updates, ' +
  'Unsigned requests, Scrapers, Newsletter sign-ups'
).split(', ');

function rulesOf(datasetSeed: number, length: number, rulesPerZone: number) {
  return entities(datasetSeed, 4, length, (seed, index) => ({
    id:
      Math.floor(index / rulesPerZone) % 50 === 25
        ? wideId(datasetSeed, index)
        : numberedId(datasetSeed, 90_417 + 3 * index),
    name: nth(ruleNames, index),
    breachesPerDay: magnitude(20, 9_000, unit(seed, 1)),
  }));
}

function rulesIn({ rateLimitZones }: LimitedZones, zone: string): readonly Rule[] {
  return rateLimitZones.find(({ id }) => id === zone)?.rules ?? [];
}

function breachesOf(rule: Rule, nowMs: number) {
  const { seed, index, id } = rule;
  const logged = (day: number) => 0.2 + 0.2 * unit(seed, day, 0x32);
  const challenged = (day: number) => 0.15 + 0.2 * unit(seed, day, 0x33);
  const part = (shareOf: (day: number) => number) => (day: number) => {
    const breaches = rule.breachesPerDay * weekdayShare(day) * (0.6 + 0.8 * unit(seed, day, 0x31));
    return Math.floor(breaches * shareOf(day) * doneOf(day, nowMs));
  };
  const actions = {
    loggedBreaches: part(logged),
    challengedBreaches: part(challenged),
    blockedBreaches: part((day) => 1 - logged(day) - challenged(day)),
  };
  const figures = { totalBreaches: sumOf(...Object.values(actions)), ...actions };
  const { totals, days } = windowOf(rule, nowMs, figures);
  return {
    ratelimitId: jsonInteger(id),
    overview: totals,
    ratelimitOverviewPastTwentyEightDays: index % 40 === 39 ? null : days,
  };
}
