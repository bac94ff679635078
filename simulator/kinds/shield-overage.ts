/** What Shield Zones used in a calendar month beyond their plan. */
import { dayOf, daysFrom, totalOf } from '../days.ts';
import { shieldApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { cleanRequestsLimit, cleanRequestsOf } from './shield-overview.ts';
import { ofZone, type Zone } from './shield-zone.ts';

export const shieldOverage = {
  kind: 'shield_overage',
  section: 'shield_overage',
  ...shieldApi,
  path: '/shield/metrics/overages/{zone}',
  traits: { integer: 'totalOverage' },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofZone(overage),
} as const satisfies Kind;

/** The overage of the month in the query; without one, of this month. */
function overage(zone: Zone, { query, nowMs }: Request) {
  const { seed, id, planType } = zone;
  // Some have no billing data in the month.
  if (seed % 8 === 0) return shieldApi.form.error(404, 'Not Found');
  const now = new Date(nowMs);
  const year = Number(query.get('year') ?? now.getUTCFullYear());
  const month = Number(query.get('month') ?? now.getUTCMonth() + 1);
  const about = { shieldZoneId: jsonInteger(id), year, month };
  if (seed % 8 === 1) return ok(about);
  const startMs = Date.UTC(year, month - 1);
  const endMs = Date.UTC(year, month);
  const days = daysFrom(dayOf(startMs), Math.min(dayOf(endMs) - 1, dayOf(nowMs)));
  const totalCleanRequests = totalOf(days, cleanRequestsOf(zone, nowMs));
  const limit = cleanRequestsLimit(zone);
  const totalOverage = Math.max(0, totalCleanRequests - limit);
  return ok({
    ...about,
    totalOverage,
    totalCleanRequests,
    segments: [
      {
        periodStart: new Date(startMs).toISOString(),
        periodEnd: new Date(endMs).toISOString(),
        planType,
        overageAllowance: Math.floor(limit / 10),
        overage: totalOverage,
      },
    ],
    error: null,
  });
}
