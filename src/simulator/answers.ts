/**
 * What the simulated API answers: bodies of the five operations as the reference describes them, each a pure function of
 * the entity and the time. It knows no HTTP server, no key and no fault.
 */

import type { Application, Endpoint, RateLimitRule, RateLimitZone, Video, Zone } from './dataset.ts';
import { jsonInteger } from './json.ts';
import { drift, hash, unit } from './random.ts';

export interface Answer {
  readonly status: number;
  /** Absent where the API sends none. */
  readonly body?: unknown;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const windowDays = 28;
const chartDays = 14;

/** UsageSummary (reference 2.1). */
export function applicationSummary(application: Application, nowMs: number): Answer {
  const { seed, index } = application;
  const status = applicationStatus(application, nowMs);
  const running = status !== 'inactive' && status !== 'suspended';
  const today = Math.floor(nowMs / dayMs);
  const { instants } = daysUpTo(today);
  const latencyChart: Record<string, number> = {};
  let sum = 0;
  for (let place = 0; place < chartDays; place += 1) {
    // Every fifth application has its points in no order.
    const back = index % 5 === 2 ? (place * 5) % chartDays : place;
    const latency = round(application.latencyMs * (0.85 + 0.3 * unit(seed, today - back, 0x11)), 2);
    latencyChart[instants[windowDays - 1 - back] as string] = latency;
    sum += latency;
  }
  const busy = 0.8 + 0.4 * drift(seed, nowMs, 5 * minuteMs) + 0.15 * Math.sin((2 * Math.PI * nowMs) / dayMs);
  const body = {
    averageLatency: round(sum / chartDays, 3),
    currentLatency: running ? round(application.latencyMs * busy * (status === 'failing' ? 3.5 : 1), 2) : 0,
    totalVolumeSizeInGb: round(application.volumeGb * (1 + 0.03 * drift(seed, nowMs, 6 * hourMs)), 3),
    monthlyCost: round((application.dollarsPerDay * (nowMs - monthStart(nowMs))) / dayMs, 4),
    latencyChart,
    status,
  };
  // A few have never served a request, or are not billed.
  if (index % 24 === 11) return { status: 200, body: { ...body, averageLatency: null, latencyChart: {} } };
  if (index % 24 === 23) return { status: 200, body: without(body, 'monthlyCost') };
  return { status: 200, body };
}

const ringStates = [
  { status: 'progressing', periodMs: 2 * minuteMs },
  { status: 'failing', periodMs: 7 * minuteMs },
  { status: 'unknown', periodMs: 13 * minuteMs },
  { status: 'inactive', periodMs: 6 * hourMs },
  { status: 'suspended', periodMs: dayMs },
] as const;

/** Most are active; in each ring the other state goes round, so that wherever there are six applications every state occurs. */
function applicationStatus(application: Application, nowMs: number): string {
  const state = ringStates[application.ring];
  if (state === undefined) return 'active';
  const turn = application.ringPlace + Math.floor(nowMs / state.periodMs);
  return turn % application.ringSize === 0 ? state.status : 'active';
}

/** API Guardian metrics of one endpoint (reference 2.4, 4.2). */
export function guardianMetrics(endpoint: Endpoint, nowMs: number): Answer {
  const totals = emptyGuardianDay();
  const today = Math.floor(nowMs / dayMs);
  const overview: Record<string, GuardianDay> = {};
  const { dayMonthYear } = daysUpTo(today);
  for (let place = 0; place < windowDays; place += 1) {
    const slot = slotOf(endpoint, place);
    const day = guardianDay(endpoint, today - (windowDays - 1 - slot), nowMs);
    overview[dayMonthYear[slot] as string] = day;
    totals.blockedRequests += day.blockedRequests;
    totals.loggedRequests += day.loggedRequests;
    totals.rateLimited += day.rateLimited;
    totals.requestsInspected += day.requestsInspected;
    totals.failedRequestValidation += day.failedRequestValidation;
    totals.failedAuthenticationEnforcement += day.failedAuthenticationEnforcement;
  }
  // A few endpoints are new: nothing was counted yet.
  const fresh = endpoint.index % 30 === 29;
  const sums = fresh ? emptyGuardianDay() : totals;
  return good(endpoint.seed, {
    totalBlockedRequests: sums.blockedRequests,
    totalLoggedRequests: sums.loggedRequests,
    totalRateLimited: sums.rateLimited,
    totalRequestsInspected: sums.requestsInspected,
    totalFailedRequestValidation: sums.failedRequestValidation,
    totalFailedAuthenticationEnforcement: sums.failedAuthenticationEnforcement,
    overviewPastTwentyEightDays: fresh ? null : overview,
  });
}

interface GuardianDay {
  blockedRequests: number;
  loggedRequests: number;
  rateLimited: number;
  requestsInspected: number;
  failedRequestValidation: number;
  failedAuthenticationEnforcement: number;
}

function emptyGuardianDay(): GuardianDay {
  return {
    blockedRequests: 0,
    loggedRequests: 0,
    rateLimited: 0,
    requestsInspected: 0,
    failedRequestValidation: 0,
    failedAuthenticationEnforcement: 0,
  };
}

function guardianDay({ seed, requestsPerDay }: Endpoint, day: number, nowMs: number): GuardianDay {
  const done = doneOf(day, nowMs);
  const inspected = requestsPerDay * weekdayShare(day) * (0.75 + 0.5 * unit(seed, day, 0x21));
  const part = (share: number, figure: number) =>
    Math.floor(inspected * share * (0.3 + 1.4 * unit(seed, day, figure)) * done);
  return {
    blockedRequests: part(0.012, 0x22),
    loggedRequests: part(0.03, 0x23),
    rateLimited: part(0.006, 0x24),
    requestsInspected: Math.floor(inspected * done),
    failedRequestValidation: part(0.009, 0x25),
    failedAuthenticationEnforcement: part(0.004, 0x26),
  };
}

/** Rate-limit metrics of a zone (reference 2.5, 4.3). */
export function rateLimitMetrics(zone: RateLimitZone, nowMs: number): Answer {
  const seed = zone.rules[0]?.seed ?? 0;
  return good(
    seed,
    zone.rules.map((rule) => rateLimitItem(rule, nowMs)),
  );
}

interface BreachDay {
  totalBreaches: number;
  loggedBreaches: number;
  challengedBreaches: number;
  blockedBreaches: number;
}

function rateLimitItem(rule: RateLimitRule, nowMs: number): unknown {
  const totals: BreachDay = {
    totalBreaches: 0,
    loggedBreaches: 0,
    challengedBreaches: 0,
    blockedBreaches: 0,
  };
  const today = Math.floor(nowMs / dayMs);
  const days: Record<string, BreachDay> = {};
  const { dayMonthYear } = daysUpTo(today);
  for (let place = 0; place < windowDays; place += 1) {
    const slot = slotOf(rule, place);
    const day = breachDay(rule, today - (windowDays - 1 - slot), nowMs);
    days[dayMonthYear[slot] as string] = day;
    totals.totalBreaches += day.totalBreaches;
    totals.loggedBreaches += day.loggedBreaches;
    totals.challengedBreaches += day.challengedBreaches;
    totals.blockedBreaches += day.blockedBreaches;
  }
  return {
    ratelimitId: jsonInteger(rule.rateLimitId),
    overview: totals,
    ratelimitOverviewPastTwentyEightDays: rule.index % 40 === 39 ? null : days,
  };
}

function breachDay({ seed, breachesPerDay }: RateLimitRule, day: number, nowMs: number): BreachDay {
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

/** A page of the Shield Zone configurations (reference 2.6, 2.7, 4.4); it points onward, also from the last page on. */
export function zonePage(zones: readonly Zone[], page: number, pageSize: number, nowMs: number): Answer {
  if (zones.length === 0) return { status: 200, body: { data: [] } };
  const start = (page - 1) * pageSize;
  return {
    status: 200,
    body: {
      data: zones.slice(start, start + pageSize).map((zone) => zoneConfiguration(zone, nowMs)),
      page: {
        totalCount: zones.length,
        totalPages: Math.ceil(zones.length / pageSize),
        currentPage: page,
        nextPage: page + 1,
        pageSize,
      },
    },
  };
}

const learningCycleDays = 90;
const learningDays = 14;
const ruleLimits = [5, 10, 25, 50] as const;
const customRuleLimits = [0, 5, 15, 30] as const;
const challengeWindows = [1_800, 3_600, 7_200, 14_400] as const;

function zoneConfiguration(zone: Zone, nowMs: number): unknown {
  const { seed, index, planType } = zone;
  const cycleMs = learningCycleDays * dayMs;
  const offsetMs = Math.floor(unit(seed, 0x41) * cycleMs);
  const cycleStartMs = Math.floor((nowMs - offsetMs) / cycleMs) * cycleMs + offsetMs;
  const learningUntilMs = cycleStartMs + learningDays * dayMs;
  const learning = nowMs < learningUntilMs;
  const week = Math.floor(nowMs / (7 * dayMs));
  const attacked = hash(seed, Math.floor(nowMs / hourMs), 0x42) % 12 === 0;
  const configuration = {
    shieldZoneId: jsonInteger(zone.shieldZoneId),
    pullZoneId: jsonInteger(zone.pullZoneId),
    learningMode: learning,
    learningModeUntil: withTicks(learningUntilMs, hash(seed, 0x43) % 10_000_000),
    wafEnabled: index % 16 !== 15,
    wafExecutionMode: learning ? 0 : 1,
    wafDisabledRules: ruleNames(seed, 0x44, hash(seed, week, 0x45) % 5),
    wafLogOnlyRules: ruleNames(seed, 0x46, hash(seed, week, 0x47) % 4),
    wafCustomRuleOrder: Array.from(
      { length: Math.min(customRuleLimits[planType] ?? 0, hash(seed, 0x48) % 6) },
      (_, place) => 7_000 + index * 10 + ((place * 7) % 10),
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
  if (index % 20 === 3) return { ...configuration, learningModeUntil: null };
  if (index % 20 === 13)
    return without({ ...configuration, wafDisabledRules: null }, 'whitelabelResponsePages');
  return configuration;
}

function ruleNames(seed: number, figure: number, length: number): string[] {
  return Array.from({ length }, (_, place) => String(941_100 + 10 * (hash(seed, figure, place) % 80)));
}

/** Storage of one video (reference 2.8, 4.5), as it was when it was last computed. */
export function videoStorage(video: Video, nowMs: number): Answer {
  const { seed, index } = video;
  const everyMs = (6 + (hash(seed, 0x61) % 42)) * hourMs;
  const offsetMs = hash(seed, 0x62) % everyMs;
  const turn = Math.floor((nowMs - offsetMs) / everyMs);
  const moved = (bytes: number, figure: number) =>
    Math.round(bytes * (0.97 + 0.06 * unit(seed, turn, figure)));
  const encoded: Record<string, unknown> = {};
  for (const { name, codec, resolution, bytes } of video.renditions) {
    encoded[name] = { codec, resolution, size: bytes };
  }
  return {
    status: 200,
    body: {
      success: true,
      message: null,
      statusCode: 200,
      data: {
        // A few are still being encoded.
        encoded: index % 40 === 7 ? null : encoded,
        thumbnails: moved(180_000 + (hash(seed, 0x63) % 400_000), 0x64),
        previews: moved(video.originalBytes * 0.004, 0x65),
        originals: video.originalBytes,
        mp4Fallback: index % 3 === 0 ? 0 : Math.round(video.originalBytes * 0.31),
        miscellaneous: moved(24_000 + (hash(seed, 0x66) % 30_000), 0x67),
        calculatedAt: new Date(turn * everyMs + offsetMs).toISOString(),
      },
    },
  };
}

// How the API says no.

/** ErrorDetails (reference 2.2) of an application that is not there. */
export function applicationNotFound(id: string): Answer {
  return {
    status: 404,
    body: {
      title: 'Not Found',
      status: 404,
      detail: `Application ${id} was not found.`,
      instance: `/apps/${id}/summary`,
    },
  };
}

export const applicationUnauthorized: Answer = { status: 401 };

export const shieldUnauthorized: Answer = { status: 401, body: { title: 'Unauthorized', status: 401 } };

export const videoUnauthorized: Answer = { status: 401 };

/** A library's read-only key does not open the storage of its videos. */
export const videoForbidden: Answer = { status: 403 };

export const videoNotFound: Answer = {
  status: 404,
  body: { success: false, message: 'The requested video was not found', statusCode: 404 },
};

export function malformedId(field: string): Answer {
  return {
    status: 400,
    body: {
      title: 'One or more validation errors occurred.',
      status: 400,
      errors: [{ field, message: 'The value is not valid.' }],
    },
  };
}

/** Reasons why the shield API answers a well-formed question with `data: null` (reference 2.3). */
export const rejections = {
  unknownZone: { errorKey: 'not_found_or_unauthorised_access.shieldzone', statusCode: 404 },
  // Named after its siblings: the vendor's word for it is not known.
  unknownEndpoint: { errorKey: 'not_found.api_guardian_endpoint', statusCode: 404 },
  noRateLimits: { errorKey: 'not_found.ratelimit_shieldzone', statusCode: 404 },
  notOnPlan: { errorKey: 'feature_not_available_on_plan', statusCode: 403 },
} as const;

/** A failure that arrives as HTTP 200 or 202. */
export function rejected(reason: keyof typeof rejections, status: 200 | 202): Answer {
  const { errorKey, statusCode } = rejections[reason];
  return {
    status,
    body: {
      error: { statusCode, success: false, message: `Request rejected: ${errorKey}`, errorKey },
      data: null,
    },
  };
}

/** A good answer of the shield API: `error` may be null, absent, or the empty default envelope. */
function good(seed: number, data: unknown): Answer {
  switch (hash(seed, 0x71) % 3) {
    case 0:
      return { status: 200, body: { error: null, data } };
    case 1:
      return { status: 200, body: { data } };
    default:
      return {
        status: 200,
        body: { error: { statusCode: 0, success: false, message: null, errorKey: null }, data },
      };
  }
}

/** The share of a day's figures that there is at this time: all of a past day, a growing part of today. */
function doneOf(day: number, nowMs: number): number {
  const part = (nowMs - day * dayMs) / dayMs;
  if (part >= 1) return 1;
  return part - (0.7 * Math.sin(2 * Math.PI * part)) / (2 * Math.PI);
}

/** Less on the two days of the weekend. */
function weekdayShare(day: number): number {
  const weekday = (day + 4) % 7;
  return weekday === 0 || weekday === 6 ? 0.7 : 1;
}

/** Every third entity has its days in no order. */
function slotOf({ index }: { readonly index: number }, place: number): number {
  return index % 3 === 1 ? (place * 11) % windowDays : place;
}

interface Days {
  readonly today: number;
  /** `dd-MM-yyyy`, the oldest first. */
  readonly dayMonthYear: readonly string[];
  /** RFC 3339 at midnight UTC, the oldest first. */
  readonly instants: readonly string[];
}

// The names of the days are the same for every entity: written once a day.
let knownDays: Days = { today: Number.NaN, dayMonthYear: [], instants: [] };

function daysUpTo(today: number): Days {
  if (knownDays.today === today) return knownDays;
  const isoDays = Array.from({ length: windowDays }, (_, slot) =>
    new Date((today - (windowDays - 1 - slot)) * dayMs).toISOString().slice(0, 10),
  );
  knownDays = {
    today,
    dayMonthYear: isoDays.map((day) => day.split('-').reverse().join('-')),
    instants: isoDays.map((day) => `${day}T00:00:00Z`),
  };
  return knownDays;
}

function monthStart(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}

/** ISO 8601 with seven digits of a second. */
function withTicks(atMs: number, ticks: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}.${String(ticks).padStart(7, '0')}Z`;
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

function without<T extends object>(value: T, field: keyof T): Partial<T> {
  const rest: Partial<T> = { ...value };
  delete rest[field];
  return rest;
}
