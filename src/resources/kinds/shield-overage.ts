/** What a Shield Zone used in this calendar month beyond its plan (`/shield/metrics/overages/{zone}`). */
import { defineResource } from '../define.ts';
import { besideError } from '../envelope.ts';
import { count, shown, sumOf } from '../families.ts';
import { integer, listOf, object } from '../fields.ts';
import { zones } from './shield-zone.ts';

/** A month has a segment for each plan that the zone had in it. */
const segment = object({ overageAllowance: integer }).ignoring('periodStart periodEnd planType overage');

const overages = object({
  totalOverage: count(
    'monthly_overage_requests',
    'Requests in this calendar month beyond those in the plan; resets with the next',
  ),
  segments: shown(listOf(segment), {
    name: 'monthly_overage_allowance_requests',
    words:
      'Requests beyond the plan that are tolerated in this calendar month, over all plans that the zone had in it (%s, overageAllowance)',
    series: (all) => sumOf(all.map((one) => one?.overageAllowance)),
  }),
  totalCleanRequests: count(
    'monthly_clean_requests',
    'Clean requests in this calendar month; resets with the next',
  ),
}).ignoring('shieldZoneId year month');

export const shieldOverage = defineResource({
  kind: 'shield_overage',
  noun: 'Shield overage',
  defaultIntervalSeconds: 3600,
  listing: zones,
  path: '/shield/metrics/overages/{shieldZoneId}',
  query: {
    requestsFor({ toMs }) {
      const now = new Date(toMs - 1);
      return [{ query: `year=${now.getUTCFullYear()}&month=${now.getUTCMonth() + 1}` }];
    },
  },
  answer: besideError(overages),
  // A month without billing data answers 404: on the first of a month that may be every zone.
  isEmpty: ({ result, errorKey = '' }) => result === 'not_found' && !errorKey.endsWith('.shieldzone'),
});
