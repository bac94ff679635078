/** Shield Zones and the paged listing of their configurations (reference 2.6, 2.7, 4.4). */
import { dayMs, hourMs } from '../days.ts';
import { cities, count, nth, streams, wideId, without } from '../entities.ts';
import { malformedId, ofEach, rejected, shieldApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Answer, Kind, Request } from '../kind.ts';
import { listing, shieldPaging } from '../paging.ts';
import { hash, unit } from '../random.ts';

export type Zone = ReturnType<typeof createZone>;

export interface Zones {
  readonly zones: readonly Zone[];
}

export const shieldZone = {
  kind: 'shield_zone',
  sizes: { small: { zones: 5 }, medium: { zones: 120 }, full: { zones: 1_200 } },
  create: (seed, { zones }) => ({ zones: count(zones, (index) => createZone(seed, index)) }),
  ...shieldApi,
  path: '/shield/shield-zones',
  traits: {
    field: 'data',
    list: true,
    ids: ['shieldZoneId'],
    number: 'planType',
    wholeNumbers: true,
    codes: (
      'wafExecutionMode wafRequestBodyLimitAction wafResponseBodyLimitAction planType ' +
      'dDoSShieldSensitivity dDoSExecutionMode'
    ).split(' '),
    instants: ['learningModeUntil'],
  },
  pages: ({ zones }) => listing(shieldPaging, zones, idOf, (zone, { nowMs }) => configuration(zone, nowMs)),
  section: 'shield_zones',
  targets: ({ zones }) => zones.map(({ shieldZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<{ zones: number }, Zones>;

/** Answers for the zone that is the first id of a request; an unknown one is refused as every operation on a zone does. */
export function ofZone(
  { zones }: Zones,
  answer: (zone: Zone, request: Request) => Answer,
): (request: Request) => Answer {
  return ofEach(zones, idOf, answer, (id) =>
    /^\d{1,19}$/.test(id) ? rejected('unknownZone', id) : malformedId('shieldZoneId'),
  );
}

const idOf = ({ shieldZoneId }: Zone) => shieldZoneId;
const zoneNames = 'www staging shop media api help blog partners press jobs'.split(' ');

function createZone(datasetSeed: number, index: number) {
  return {
    seed: hash(datasetSeed, streams.zone, index),
    index,
    // One id in a hundred is a wide one.
    shieldZoneId: index % 100 === 50 ? wideId(index) : String(48_210 + 7 * index),
    pullZoneId: String(1_304_551 + 13 * index),
    name: nth(zoneNames, index, (turn) => `-${nth(cities, turn)}`),
    planType: index % 2 === 0 ? 2 + ((index / 2) % 2) : ((index - 1) / 2) % 2,
  };
}

const learningCycleDays = 90;
const learningDays = 14;
const ruleLimits = [5, 10, 25, 50] as const;
const customRuleLimits = [0, 5, 15, 30] as const;
const challengeWindows = [1_800, 3_600, 7_200, 14_400] as const;

/** One zone of the listing. */
export function configuration(zone: Zone, nowMs: number) {
  const { seed, index, planType } = zone;
  const cycleMs = learningCycleDays * dayMs;
  const offsetMs = Math.floor(unit(seed, 0x41) * cycleMs);
  const cycleStartMs = Math.floor((nowMs - offsetMs) / cycleMs) * cycleMs + offsetMs;
  const learningUntilMs = cycleStartMs + learningDays * dayMs;
  const learning = nowMs < learningUntilMs;
  const week = Math.floor(nowMs / (7 * dayMs));
  const attacked = hash(seed, Math.floor(nowMs / hourMs), 0x42) % 12 === 0;
  const right = {
    shieldZoneId: jsonInteger(zone.shieldZoneId),
    pullZoneId: jsonInteger(zone.pullZoneId),
    learningMode: learning,
    learningModeUntil: withTicks(learningUntilMs, hash(seed, 0x43) % 10_000_000),
    wafEnabled: index % 16 !== 15,
    wafExecutionMode: learning ? 0 : 1,
    wafDisabledRules: ruleNames(seed, 0x44, hash(seed, week, 0x45) % 5),
    wafLogOnlyRules: ruleNames(seed, 0x46, hash(seed, week, 0x47) % 4),
    wafCustomRuleOrder: count(
      Math.min(customRuleLimits[planType] ?? 0, hash(seed, 0x48) % 6),
      (order) => 7_000 + index * 10 + ((order * 7) % 10),
    ),
    wafRequestHeaderLoggingEnabled: hash(seed, 0x49) % 2 === 0,
    requestBodyLoggingEnabled: hash(seed, 0x4a) % 4 === 0,
    wafRequestIgnoredHeaders: ['Cookie', 'Authorization', 'X-Trace'].slice(0, hash(seed, 0x4b) % 4),
    wafRealtimeThreatIntelligenceEnabled: planType >= 1,
    wafProfileId: 1 + (hash(seed, 0x4c) % 5),
    wafEngineConfig: [
      { name: 'tx.paranoia_level', valueEncoded: 'MQ==' },
      { name: 'tx.inbound_anomaly_score_threshold', valueEncoded: 'NQ==' },
      { name: 'tx.total_arg_length', valueEncoded: 'NjQwMDA=' },
    ].slice(0, 1 + (hash(seed, 0x4d) % 3)),
    wafRequestBodyLimitAction: hash(seed, 0x4e) % 3,
    wafResponseBodyLimitAction: hash(seed, 0x4f) % 3,
    rateLimitRulesLimit: ruleLimits[planType] ?? 0,
    customWafRulesLimit: customRuleLimits[planType] ?? 0,
    planType,
    dDoSShieldSensitivity: attacked ? 4 : 1 + (hash(seed, 0x50) % 3),
    dDoSExecutionMode: planType === 0 ? 0 : 1,
    dDoSChallengeWindow: challengeWindows[hash(seed, 0x51) % challengeWindows.length],
    whitelabelResponsePages: planType === 3,
  };
  // A few zones never learned, and a few have lists that are null and leave a field out.
  if (index % 20 === 3) return { ...right, learningModeUntil: null };
  if (index % 20 === 13) {
    return { ...without(right, 'whitelabelResponsePages'), wafDisabledRules: null };
  }
  return right;
}

function ruleNames(seed: number, figure: number, length: number): string[] {
  return count(length, (rule) => String(941_100 + 10 * (hash(seed, figure, rule) % 80)));
}

/** ISO 8601 with seven digits of a second. */
function withTicks(atMs: number, ticks: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}.${String(ticks).padStart(7, '0')}Z`;
}
