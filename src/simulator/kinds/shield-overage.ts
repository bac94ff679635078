/** What Shield Zones used in a calendar month beyond their plan. */
import { dayMs, dayOf } from '../days.ts';
import { shieldApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Answer, type Kind, ok, type Request } from '../kind.ts';
import { cleanRequestsLimit, cleanRequestsOf } from './shield-overview.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

export const shieldOverage = {
  kind: 'shield_overage',
  ...shieldApi,
  path: '/shield/metrics/overages/{zone}',
  traits: { ids: ['shieldZoneId'], number: 'totalOverage', wholeNumbers: true },
  rejections: ['unknownZone', 'notOnPlan'],
  answers: ({ zones }) => ofZone({ zones }, overage),
  section: 'shield_overage',
  targets: ({ zones }) => zones.map(({ shieldZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, Zones>;

/** Of the month that the query names; without one, of this month. */
function overage(zone: Zone, { query, nowMs }: Request): Answer {
  const { seed, shieldZoneId, planType } = zone;
  // Some have no billing data in the month.
  if (seed % 8 === 0) return shieldApi.form.notFound;
  const asked = new URLSearchParams(query);
  const now = new Date(nowMs);
  const year = Number(asked.get('year') ?? now.getUTCFullYear());
  const month = Number(asked.get('month') ?? now.getUTCMonth() + 1);
  const startMs = Date.UTC(year, month - 1);
  const endMs = Date.UTC(year, month);
  if (seed % 8 === 1) return ok({ shieldZoneId: jsonInteger(shieldZoneId), year, month });
  let clean = 0;
  for (let day = dayOf(startMs); day < dayOf(endMs) && day * dayMs <= nowMs; day += 1) {
    clean += cleanRequestsOf(zone, day, nowMs);
  }
  const limit = cleanRequestsLimit(zone);
  const totalOverage = Math.max(0, clean - limit);
  return ok({
    shieldZoneId: jsonInteger(shieldZoneId),
    year,
    month,
    totalOverage,
    totalCleanRequests: clean,
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
