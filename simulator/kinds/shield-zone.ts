/** Shield Zones and the paged listing of their configurations (`/shield/shield-zones`). */
import { listed, ofEach, shieldPaging } from '../answers.ts';
import { dayMs, hourMs, secondOf } from '../days.ts';
import { city, count, entities, hash, nth, numberedId, ownName, unit, wideId } from '../entities.ts';
import { shieldApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Answer, Kind, Request } from '../kind.ts';

export type Zone = ReturnType<typeof zonesOf>[number];

export interface Zones {
  readonly zones: readonly Zone[];
}

export const shieldZone = {
  kind: 'shield_zone',
  section: 'shield_zones',
  sizes: { zones: [5, 120, 300] },
  create: (seed, sizes: { zones: number }) => ({ zones: zonesOf(seed, sizes.zones) }),
  ...shieldApi,
  path: '/shield/shield-zones',
  traits: {
    field: 'data',
    ids: ['shieldZoneId'],
    integer: 'planType',
    codes: (
      'wafExecutionMode wafRequestBodyLimitAction wafResponseBodyLimitAction planType ' +
      'dDoSShieldSensitivity dDoSExecutionMode'
    ).split(' '),
    instants: true,
  },
  ...listed('zones', shieldPaging, (zone: Zone, { nowMs }) => configuration(zone, nowMs)),
} as const satisfies Kind;

/** Answers for the zone that is the first id of a request. */
export function ofZone(answer: (zone: Zone, request: Request) => Answer) {
  return ofEach('zones', answer);
}

const zoneNames = 'www staging shop media api help blog partners press jobs'.split(' ');

function zonesOf(datasetSeed: number, length: number) {
  return entities(datasetSeed, 2, length, (_seed, index) => ({
    // One id in a hundred is a wide one.
    id: index % 100 === 50 ? wideId(datasetSeed, index) : numberedId(datasetSeed, 48_210 + 7 * index),
    pullZoneId: numberedId(datasetSeed, 1_304_551 + 13 * index),
    name: ownName(
      datasetSeed,
      nth(zoneNames, index, (turn) => `-${city(turn)}`),
    ),
    planType: index % 2 === 0 ? 2 + ((index / 2) % 2) : ((index - 1) / 2) % 2,
  }));
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
  const isLearning = nowMs < learningUntilMs;
  // Nothing switches when the learning ends: some zones log on, and are still called learning.
  const isForgotten = index % 8 === 4 && index % 20 !== 3;
  const until = index % 3 === 1 ? secondOf(learningUntilMs) : undefined;
  const week = Math.floor(nowMs / (7 * dayMs));
  const isAttacked = hash(seed, Math.floor(nowMs / hourMs), 0x42) % 12 === 0;
  const ticks = String(hash(seed, 0x43) % 10_000_000).padStart(7, '0');
  // A few zones never learned, and a few have lists that are null and leave a field out.
  const hasGaps = index % 20 === 13;
  return {
    shieldZoneId: jsonInteger(zone.id),
    pullZoneId: jsonInteger(zone.pullZoneId),
    learningMode: isLearning || isForgotten,
    learningModeUntil: index % 20 === 3 ? null : (until ?? `${secondOf(learningUntilMs)}.${ticks}Z`),
    wafEnabled: index % 16 !== 15,
    wafExecutionMode: isLearning || isForgotten ? 0 : 1,
    wafDisabledRules: hasGaps ? null : rules(seed, 0x44, hash(seed, week, 0x45) % 5),
    wafLogOnlyRules: rules(seed, 0x46, hash(seed, week, 0x47) % 4),
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
    dDoSShieldSensitivity: isAttacked ? 4 : 1 + (hash(seed, 0x50) % 3),
    dDoSExecutionMode: planType === 0 ? 0 : 1,
    dDoSChallengeWindow: challengeWindows[hash(seed, 0x51) % challengeWindows.length],
    whitelabelResponsePages: hasGaps ? undefined : planType === 3,
  };
}

function rules(seed: number, figure: number, length: number): string[] {
  return count(length, (rule) => String(941_100 + 10 * (hash(seed, figure, rule) % 80)));
}
