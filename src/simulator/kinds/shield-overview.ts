/** What every protection of a Shield Zone did in 28 days. */
import { doneOf, monthSoFar, weekdayShare, windowOf } from '../days.ts';
import { shieldApi, shieldData } from '../forms.ts';
import type { Answer, Kind } from '../kind.ts';
import { magnitude, unit } from '../random.ts';
import { isGuarded } from './api-guardian.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

export const shieldOverview = {
  kind: 'shield_overview',
  ...shieldApi,
  path: '/shield/metrics/overview/{zone}',
  traits: {
    field: 'data',
    number: 'totalBillableRequests',
    wholeNumbers: true,
    days: (
      'overviewPastTwentyEightDays dDoSOverviewPastTwentyEightDays ' +
      'ratelimitOverviewPastTwentyEightDays botDetectionOverviewPastTwentyEightDays ' +
      'accessListOverviewPastTwentyEightDays uploadScanningOverviewPastTwentyEightDays ' +
      'apiGuardianOverviewPastTwentyEightDays'
    ).split(' '),
  },
  rejections: ['unknownZone', 'notOnPlan'],
  answers: ({ zones }) => ofZone({ zones }, (zone, { nowMs }) => metrics(zone, nowMs)),
  section: 'shield_overview',
  targets: ({ zones }) => zones.map(({ shieldZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, Zones>;

/** Clean requests that a plan includes in a month. */
export function cleanRequestsLimit({ planType }: Zone): number {
  return [500_000, 5_000_000, 50_000_000, 500_000_000][planType] ?? 0;
}

/** Clean requests on a day, counted from the epoch, by this time. */
export function cleanRequestsOf(zone: Zone, day: number, nowMs: number): number {
  const { seed } = zone;
  const perDay = (cleanRequestsLimit(zone) / 30) * magnitude(0.05, 1.3, unit(seed, 0xa1));
  return Math.floor(perDay * weekdayShare(day) * (0.75 + 0.5 * unit(seed, day, 0xa2)) * doneOf(day, nowMs));
}

function metrics(zone: Zone, nowMs: number): Answer {
  const part = (share: number, figure: number) => (day: number) =>
    Math.floor(cleanRequestsOf(zone, day, nowMs) * share * (0.3 + 1.4 * unit(zone.seed, day, figure)));
  /** The window of these figures; a zone of every twenty has counted nothing yet. */
  const isNew = zone.index % 20 === 19;
  const windowFor = (figures: Readonly<Record<string, (day: number) => number>>) => {
    const of = (read: (figureOf: (day: number) => number) => number) =>
      Object.fromEntries(Object.entries(figures).map(([name, figureOf]) => [name, read(figureOf)]));
    const none = of(() => 0);
    if (isNew) return { totals: none, days: null };
    return windowOf(zone, nowMs, none, (day) => of((figureOf) => figureOf(day)));
  };
  const sumOf =
    (...figures: readonly ((day: number) => number)[]) =>
    (day: number) =>
      figures.reduce((sum, figureOf) => sum + figureOf(day), 0);
  const onPlan = (figureOf: (day: number) => number) => (zone.planType > 0 ? figureOf : () => 0);
  const guarded = (figureOf: (day: number) => number) => (isGuarded(zone) ? figureOf : () => 0);

  const waf = {
    blockedRequests: part(0.004, 0xb1),
    loggedRequests: part(0.006, 0xb2),
    challengedRequests: part(0.001, 0xb3),
  };
  const dDoS = {
    loggedRequests: part(0.002, 0xb4),
    verifiedRequests: part(0.003, 0xb5),
    blockedRequests: part(0.002, 0xb6),
    challengedRequests: part(0.004, 0xb7),
  };
  const breaches = {
    loggedBreaches: part(0.0005, 0xb8),
    challengedBreaches: part(0.0003, 0xb9),
    blockedBreaches: part(0.001, 0xba),
  };
  const bots = { loggedRequests: onPlan(part(0.01, 0xbb)), challengedRequests: onPlan(part(0.005, 0xbc)) };
  const lists = {
    blockedRequests: part(0.0008, 0xbd),
    loggedRequests: part(0.0004, 0xbe),
    challengedRequests: part(0.0002, 0xbf),
  };
  const uploads = {
    loggedRequests: guarded(part(0.00002, 0xc0)),
    blockedRequests: guarded(part(0.00001, 0xc1)),
    filesScanned: guarded(part(0.001, 0xc2)),
  };
  const guardian = {
    blockedRequests: guarded(part(0.001, 0xc3)),
    loggedRequests: guarded(part(0.002, 0xc4)),
    rateLimited: guarded(part(0.0005, 0xc5)),
    requestsInspected: guarded(part(0.1, 0xc6)),
    failedRequestValidation: guarded(part(0.0008, 0xc7)),
    failedAuthenticationEnforcement: guarded(part(0.0004, 0xc8)),
  };
  const triggered = sumOf(...Object.values(waf));
  const breached = sumOf(...Object.values(breaches));
  const listed = sumOf(...Object.values(lists));
  const windows = Object.entries({
    overview: {
      dDoSMitigated: sumOf(dDoS.blockedRequests, dDoS.challengedRequests),
      wafTriggeredRules: triggered,
      ratelimitBreaches: breached,
      botDetectionChallenged: bots.challengedRequests,
      accessListActions: listed,
      uploadScanningBlocks: uploads.blockedRequests,
      apiGuardianBlocks: guardian.blockedRequests,
    },
    waf: { totalTriggeredRules: triggered, ...waf },
    dDoS,
    ratelimit: { totalBreaches: breached, ...breaches },
    botDetection: bots,
    accessList: { totalActions: listed, ...lists },
    uploadScanning: uploads,
    apiGuardian: guardian,
  }).flatMap(([name, figures]): [string, unknown][] => {
    const { totals, days } = windowFor(figures);
    // Of the firewall there are no days.
    if (name === 'waf') return [[name, totals]];
    const ofDays = name === 'overview' ? 'overviewPastTwentyEightDays' : `${name}OverviewPastTwentyEightDays`;
    return [
      [name, totals],
      [ofDays, days],
    ];
  });
  return shieldData(zone.seed, {
    ...Object.fromEntries(windows),
    totalCleanRequestsLimit: cleanRequestsLimit(zone),
    totalBillableRequests: monthSoFar(nowMs, (day) => cleanRequestsOf(zone, day, nowMs)),
  });
}
