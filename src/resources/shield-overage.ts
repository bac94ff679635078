/** What a Shield Zone used in this calendar month beyond its plan (`/shield/metrics/overages/{zone}`). */
import { count, shown } from './families.ts';
import { integer, isObject, listOf, object, unwrapData } from './fields.ts';
import { defineResource } from './resource.ts';
import { zones } from './shield-zone.ts';

/** A month has a segment for each plan that the zone had in it. */
const segments = shown(listOf(object({ overageAllowance: integer })), {
  name: 'monthly_overage_allowance_requests',
  words:
    'Requests beyond the plan that are tolerated in this calendar month, over all plans that the zone had in it (%s, overageAllowance)',
  // Unknown as long as the allowance of one plan is.
  series(all) {
    const known = all.flatMap((one) => one?.overageAllowance ?? []);
    return known.length < all.length ? undefined : known.reduce((sum, one) => sum + one, 0);
  },
});

const overages = object(
  {
    totalOverage: count(
      'monthly_overage_requests',
      'Requests of this calendar month beyond what the plan includes; falls back at its end',
    ),
    segments,
    totalCleanRequests: count(
      'monthly_clean_requests',
      'Clean requests of this calendar month; falls back at its end',
    ),
  },
  'shieldZoneId',
  'year',
  'month',
);

export const shieldOverage = defineResource({
  kind: 'shield_overage',
  product: 'Shield',
  reference: 'GET /shield/metrics/overages/{shieldZoneId}',
  noun: 'overage of the Shield Zone',
  defaultIntervalSeconds: 3600,
  listing: zones,
  answer: overages,
  path({ shield_zone_id }, { nowMs }) {
    const now = new Date(nowMs);
    const month = `year=${now.getUTCFullYear()}&month=${now.getUTCMonth() + 1}`;
    return `/shield/metrics/overages/${shield_zone_id}?${month}`;
  },
  // Its figures stand beside the error, and not in `data` as elsewhere.
  unwrap: (body) => unwrapData(isObject(body) ? { ...body, data: body['data'] ?? body } : body),
  empty: {
    // A month without billing data answers 404: on the first of a month that may be every zone.
    is: ({ result, errorKey = '' }) =>
      errorKey === 'feature_not_available_on_plan' ||
      (result === 'not_found' && !errorKey.endsWith('.shieldzone')),
    reading: () => ({}),
  },
});
