/** What every protection of a Shield Zone did in 28 days. */
import { daily, monthSoFar, sumOf, windowOf } from '../days.ts';
import { magnitude, unit } from '../entities.ts';
import { shieldApi, shieldData } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { isGuarded } from './api-guardian.ts';
import { ofZone, type Zone } from './shield-zone.ts';

export const shieldOverview = {
  kind: 'shield_overview',
  section: 'shield_overview',
  ...shieldApi,
  path: '/shield/metrics/overview/{zone}',
  traits: { field: 'data', integer: 'totalBillableRequests', days: true },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofZone(overview),
} as const satisfies Kind;

/** Clean requests that a plan includes in a month. */
export function cleanRequestsLimit({ planType }: Zone): number {
  return [500_000, 5_000_000, 50_000_000, 500_000_000][planType] ?? 0;
}

/** How many clean requests a zone has each day; today, up to `nowMs`. */
export function cleanRequestsOf(zone: Zone, nowMs: number) {
  const perDay = (cleanRequestsLimit(zone) / 30) * magnitude(0.05, 1.3, unit(zone.seed, 0xa1));
  return daily(zone, 0xa2, perDay, nowMs);
}

function overview(zone: Zone, { nowMs }: Request) {
  const clean = cleanRequestsOf(zone, nowMs);
  const none = () => 0;
  const part = (share: number, figure: number, has = true) => {
    if (!has) return none;
    return (day: number) => Math.floor(clean(day) * share * (0.3 + 1.4 * unit(zone.seed, day, figure)));
  };
  const isPaid = zone.planType > 0;
  const guarded = isGuarded(zone);

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
  const bots = { loggedRequests: part(0.01, 0xbb, isPaid), challengedRequests: part(0.005, 0xbc, isPaid) };
  const lists = {
    blockedRequests: part(0.0008, 0xbd),
    loggedRequests: part(0.0004, 0xbe),
    challengedRequests: part(0.0002, 0xbf),
  };
  const uploads = {
    loggedRequests: part(0.00002, 0xc0, guarded),
    blockedRequests: part(0.00001, 0xc1, guarded),
    filesScanned: part(0.001, 0xc2, guarded),
  };
  const guardian = {
    blockedRequests: part(0.001, 0xc3, guarded),
    loggedRequests: part(0.002, 0xc4, guarded),
    rateLimited: part(0.0005, 0xc5, guarded),
    requestsInspected: part(0.1, 0xc6, guarded),
    failedRequestValidation: part(0.0008, 0xc7, guarded),
    failedAuthenticationEnforcement: part(0.0004, 0xc8, guarded),
  };
  const triggered = sumOf(...Object.values(waf));
  const breached = sumOf(...Object.values(breaches));
  const acted = sumOf(...Object.values(lists));
  // A zone of every twenty has counted nothing yet.
  const windowFor = (figures: Parameters<typeof windowOf>[2]) =>
    windowOf(zone, nowMs, figures, zone.index % 20 === 19);
  const all = windowFor({
    dDoSMitigated: sumOf(dDoS.blockedRequests, dDoS.challengedRequests),
    wafTriggeredRules: triggered,
    ratelimitBreaches: breached,
    botDetectionChallenged: bots.challengedRequests,
    accessListActions: acted,
    uploadScanningBlocks: uploads.blockedRequests,
    apiGuardianBlocks: guardian.blockedRequests,
  });
  const protections = Object.entries({
    dDoS,
    ratelimit: { totalBreaches: breached, ...breaches },
    botDetection: bots,
    accessList: { totalActions: acted, ...lists },
    uploadScanning: uploads,
    apiGuardian: guardian,
  }).map(([name, figures]) => {
    const { totals, days } = windowFor(figures);
    return { [name]: totals, [`${name}OverviewPastTwentyEightDays`]: days };
  });
  return shieldData(
    zone.seed,
    Object.assign(
      {
        overview: all.totals,
        overviewPastTwentyEightDays: all.days,
        // The API has no daily figures of the WAF.
        waf: windowFor({ totalTriggeredRules: triggered, ...waf }).totals,
        totalCleanRequestsLimit: cleanRequestsLimit(zone),
        totalBillableRequests: monthSoFar(nowMs, clean),
      },
      ...protections,
    ),
  );
}
