/** SafeHop, where a pull zone has it. */
import { chartOf, daysAsked, totalOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { unit } from '../random.ts';
import { ofPullZone, type PullZone, type PullZones, targetOf } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

const isOn = ({ hasSafeHop }: PullZone) => hasSafeHop;

export const pullZoneSafehop = {
  kind: 'pull_zone_safehop',
  ...coreApi,
  path: '/pullzone/{pullZone}/safehop/statistics',
  traits: { number: 'TotalRequestsRetried', charts: ['RequestsRetriedChart', 'RequestsSavedChart'] },
  answers: ({ pullZones }) => ofPullZone(pullZones.filter(isOn), statistics),
  section: 'pull_zone_safehop',
  targets: ({ pullZones }) => pullZones.filter(isOn).map(targetOf),
} as const satisfies Kind<unknown, object, PullZones>;

function statistics(zone: PullZone, request: Request): unknown {
  const days = daysAsked(request);
  const retried = (day: number) =>
    Math.floor(requestsOf(zone, day, request.nowMs) * 0.002 * unit(zone.seed, day, 0x8e));
  const saved = (day: number) => Math.floor(retried(day) * 0.8);
  return {
    RequestsRetriedChart: chartOf(days, retried),
    RequestsSavedChart: chartOf(days, saved),
    TotalRequestsRetried: totalOf(days, retried),
    TotalRequestsSaved: totalOf(days, saved),
  };
}
