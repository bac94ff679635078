/** What each protection of a Shield Zone did, by action and day. */
import { chartOf, type DayFigure, queryDays, totalOf } from '../days.ts';
import { unit } from '../entities.ts';
import { shieldApi, shieldData } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { isGuarded } from './api-guardian.ts';
import { cleanRequestsLimit, cleanRequestsOf } from './shield-overview.ts';
import { ofZone, type Zone } from './shield-zone.ts';

export const shieldStatistics = {
  kind: 'shield_statistics',
  section: 'shield_statistics',
  ...shieldApi,
  path: '/shield/metrics/overview/{zone}/detailed',
  instants: ['StartDate', 'EndDate'],
  traits: { field: 'data', integer: 'resolution' },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofZone(statistics),
} as const satisfies Kind;

/** By protection and action: how many times it is taken for each clean request. */
const protections: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  waf: { Blocked: 0.004, Logged: 0.006, Challenged: 0.001 },
  ddos: { Blocked: 0.002, Logged: 0.002, Challenged: 0.004, Verified: 0.003 },
  rateLimit: { Blocked: 0.001, Logged: 0.0005, Challenged: 0.0003 },
  accessLists: { Blocked: 0.0008, Logged: 0.0004, Challenged: 0.0002 },
  botDetection: { Logged: 0.01, Challenged: 0.005 },
  uploadScanning: { Blocked: 0.00001, Logged: 0.00002 },
  apiGuardian: { Blocked: 0.001, Logged: 0.002, RateLimited: 0.0005 },
};

function statistics(zone: Zone, request: Request) {
  const { nowMs } = request;
  const days = queryDays(request, 'StartDate', 'EndDate');
  const clean = cleanRequestsOf(zone, nowMs);
  const ofProtections = Object.entries(protections).map(([name, actions], place) => {
    // A protection that is off has no metrics.
    if (name === 'uploadScanning' && !isGuarded(zone)) return [name, { metrics: null, totals: null }];
    const figures = Object.entries(actions).map(([action, share], order) => {
      const chance = (day: number) => 0.3 + 1.4 * unit(zone.seed, day, 0x100 * place + order);
      return [action, (day: number) => Math.floor(clean(day) * share * chance(day))] as const;
    });
    const byAction = <Value>(of: (figure: DayFigure) => Value) =>
      Object.fromEntries(figures.map(([action, figure]) => [action, of(figure)]));
    // The documentation names neither level of keys. Probably actions contain days; in one zone of four days contain actions.
    const metrics =
      zone.index % 4 === 3
        ? chartOf(days, (day) => byAction((figure) => figure(day)))
        : byAction((figure) => chartOf(days, figure));
    return [name, { metrics, totals: byAction((figure) => totalOf(days, figure)) }];
  });
  return shieldData(zone.seed, {
    ...Object.fromEntries(ofProtections),
    totalCleanRequestsLimit: cleanRequestsLimit(zone),
    totalBillableRequestsThisMonth: 0,
    resolution: 4,
  });
}
