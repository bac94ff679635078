/** What a Shield Zone used in this calendar month beyond its plan (`/shield/metrics/overages/{zone}`). */
import { integer, isObject, listOf, object, readFields, unwrapData, type ValueOf } from './fields.ts';
import { defineResource, familiesOf } from './resource.ts';
import { zones } from './shield-zone.ts';

const overages = object({
  totalOverage: integer,
  totalCleanRequests: integer,
  /** A month has one for each plan that the zone had in it. */
  segments: listOf(object({ overageAllowance: integer })),
});

export type ShieldOverageReading = Partial<ValueOf<typeof overages>>;

/** The allowances of all plans together; unknown as long as that of one of them is. */
function allowance({ segments }: ShieldOverageReading): number | undefined {
  if (!segments) return undefined;
  let sum = 0;
  for (const segment of segments) {
    if (typeof segment?.overageAllowance !== 'number') return undefined;
    sum += segment.overageAllowance;
  }
  return sum;
}

const { gauge } = familiesOf<ShieldOverageReading>('bunnynet_shield_overage');

export const shieldOverage = defineResource({
  kind: 'shield_overage',
  api: 'shield',
  reference: 'GET /shield/metrics/overages/{shieldZoneId}',
  noun: "zone's overage",
  section: 'shield_overage',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 3600,
  fields: overages.names,
  listing: zones,

  async read(get, ids, diagnostics, { nowMs }): Promise<ShieldOverageReading> {
    const now = new Date(nowMs);
    const month = `year=${now.getUTCFullYear()}&month=${now.getUTCMonth() + 1}`;
    const body = await get(`/shield/metrics/overages/${ids['shield_zone_id']}?${month}`);
    // Its figures stand beside the error, and not in `data` as elsewhere.
    const enveloped = isObject(body) ? { ...body, data: body['data'] ?? body } : body;
    return readFields(overages, unwrapData(enveloped), diagnostics);
  },

  empty: { on: ['feature_not_available_on_plan'], reading: () => ({}) },

  families: [
    gauge(
      'monthly_overage_requests',
      'Requests of this calendar month beyond what the plan includes; falls back at its end (API field totalOverage).',
      ({ totalOverage: requests }) => requests ?? undefined,
    ),
    gauge(
      'monthly_overage_allowance_requests',
      'Requests beyond the plan that are tolerated in this calendar month, over all plans that the zone had in it (API field segments, overageAllowance).',
      allowance,
    ),
    gauge(
      'monthly_clean_requests',
      'Clean requests of this calendar month; falls back at its end (API field totalCleanRequests).',
      ({ totalCleanRequests: requests }) => requests ?? undefined,
    ),
  ],
});
