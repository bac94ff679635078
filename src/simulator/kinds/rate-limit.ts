/** Rate limits of Shield Zones and their breaches (reference 2.5, 4.3). */
import { doneOf, weekdayShare, windowOf } from '../days.ts';
import { count, nth, streams, wideId } from '../entities.ts';
import { rejected, shieldApi, shieldData } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Answer, Kind } from '../kind.ts';
import { listing, shieldPaging } from '../paging.ts';
import { hash, magnitude, unit } from '../random.ts';
import { isGuarded } from './api-guardian.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

type RateLimitZone = ReturnType<typeof createRateLimitZone>;
type RateLimitRule = RateLimitZone['rules'][number];

interface Sizes {
  /** Zones with rate limits; at most as many as there are zones. */
  readonly rateLimitZones: number;
  /** Rules of each such zone. */
  readonly rulesPerZone: number;
}

export const rateLimit = {
  kind: 'rate_limit',
  sizes: {
    small: { rateLimitZones: 3, rulesPerZone: 2 },
    medium: { rateLimitZones: 40, rulesPerZone: 3 },
    full: { rateLimitZones: 250, rulesPerZone: 3 },
  },
  create: (seed, { rateLimitZones, rulesPerZone }, { zones }) => {
    if (rateLimitZones > zones.length) throw new RangeError('more zones with rate limits than zones');
    const limited = [...zones.filter(isGuarded), ...zones.filter((zone) => !isGuarded(zone))];
    return {
      rateLimitZones: limited
        .slice(0, rateLimitZones)
        .map((zone, index) => createRateLimitZone(seed, index, zone, rulesPerZone)),
    };
  },
  ...shieldApi,
  path: '/shield/metrics/rate-limits/{zone}',
  traits: {
    field: 'data',
    list: true,
    ids: ['ratelimitId'],
    number: 'totalBreaches',
    wholeNumbers: true,
    days: ['ratelimitOverviewPastTwentyEightDays'],
  },
  rejections: ['unknownZone', 'noRateLimits', 'notOnPlan'],
  answers: ({ zones, rateLimitZones }) => {
    const known = new Map(rateLimitZones.map((one) => [one.shieldZoneId, one]));
    return ofZone({ zones }, ({ shieldZoneId }, { nowMs, isRemoved }) => {
      const one = known.get(shieldZoneId);
      const isThere = ({ rateLimitId }: RateLimitRule) => !isRemoved(rateLimitId);
      return one ? metrics(one.rules.filter(isThere), nowMs) : rejected('noRateLimits', shieldZoneId);
    });
  },
  listing: {
    ...shieldApi,
    path: '/shield/rate-limits/{zone}',
    traits: {
      field: 'data',
      list: true,
      ids: ['id', 'shieldZoneId'],
      names: ['ruleName'],
      number: 'actionType',
      wholeNumbers: true,
    },
    pages: ({ rateLimitZones }) => {
      const known = new Map(rateLimitZones.map((one) => [one.shieldZoneId, one.rules]));
      return (request) => {
        const [zone = ''] = request.ids;
        const rules = request.isRemoved(zone) ? [] : (known.get(zone) ?? []);
        const write = ({ rateLimitId, name }: RateLimitRule) => ({
          id: jsonInteger(rateLimitId),
          shieldZoneId: jsonInteger(zone),
          ruleConfiguration,
          userId: null,
          ruleName: request.nameOf(rateLimitId, name),
          ruleDescription: null,
        });
        return listing(shieldPaging, rules, ({ rateLimitId }) => rateLimitId, write)(request);
      };
    },
  },
  section: 'rate_limits',
  targets: ({ rateLimitZones }) =>
    rateLimitZones.map(({ shieldZoneId: id, name }) => ({ ids: { id }, name })),
  listed: ({ zones }) => zones.map(({ shieldZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<Sizes, { rateLimitZones: readonly RateLimitZone[] }, Zones>;

const ruleConfiguration = {
  actionType: 1,
  requestCount: 20,
  timeframe: 10,
  blockTime: 60,
  counterKeyType: 0,
  severityType: 2,
};
const ruleNames = (
  'Login attempts, Search by one client, Password resets, Cart updates, ' +
  'Unsigned requests, Scrapers, Newsletter sign-ups'
).split(', ');

function createRateLimitZone(
  datasetSeed: number,
  index: number,
  { shieldZoneId, name }: Zone,
  rules: number,
) {
  return {
    shieldZoneId,
    name,
    rules: count(rules, (order) => {
      const rule = index * rules + order;
      const seed = hash(datasetSeed, streams.rule, rule);
      return {
        seed,
        index: rule,
        rateLimitId: index % 50 === 25 ? wideId(rule) : String(90_417 + 3 * rule),
        name: nth(ruleNames, rule),
        breachesPerDay: magnitude(20, 9_000, unit(seed, 1)),
      };
    }),
  };
}

function metrics(rules: readonly RateLimitRule[], nowMs: number): Answer {
  return shieldData(
    rules[0]?.seed ?? 0,
    rules.map((rule) => breachesOf(rule, nowMs)),
  );
}

const none = { totalBreaches: 0, loggedBreaches: 0, challengedBreaches: 0, blockedBreaches: 0 };
type Figures = typeof none;

function breachesOf(rule: RateLimitRule, nowMs: number): unknown {
  const { totals, days } = windowOf(rule, nowMs, none, (day) => figuresOf(rule, day, nowMs));
  return {
    ratelimitId: jsonInteger(rule.rateLimitId),
    overview: totals,
    ratelimitOverviewPastTwentyEightDays: rule.index % 40 === 39 ? null : days,
  };
}

function figuresOf({ seed, breachesPerDay }: RateLimitRule, day: number, nowMs: number): Figures {
  const done = doneOf(day, nowMs);
  const breaches = breachesPerDay * weekdayShare(day) * (0.6 + 0.8 * unit(seed, day, 0x31));
  const logged = 0.2 + 0.2 * unit(seed, day, 0x32);
  const challenged = 0.15 + 0.2 * unit(seed, day, 0x33);
  const loggedBreaches = Math.floor(breaches * logged * done);
  const challengedBreaches = Math.floor(breaches * challenged * done);
  const blockedBreaches = Math.floor(breaches * (1 - logged - challenged) * done);
  return {
    totalBreaches: loggedBreaches + challengedBreaches + blockedBreaches,
    loggedBreaches,
    challengedBreaches,
    blockedBreaches,
  };
}
