/** What a Shield Zone used beyond its plan in this calendar month (`/shield/metrics/overages/{zone}`). */
import { z } from 'zod';
import { integer, isObject, readFields, unwrapData } from './fields.ts';
import { defineResource, familiesOf } from './resource.ts';
import { zones } from './shield-zone.ts';

const overages = z.object({
  totalOverage: integer,
  totalCleanRequests: integer,
  segments: z.array(z.object({ overageAllowance: integer }).nullish()).nullish(),
});

export type ShieldOverageReading = z.output<typeof overages>;

/** The answer has its fields beside the envelope, not in `data`. */
function fieldsOf(body: unknown): unknown {
  if (!isObject(body)) return unwrapData(body);
  const isGiven = Object.keys(overages.shape).some((field) => Object.hasOwn(body, field));
  return unwrapData({ ...body, data: isGiven ? body : null });
}

/** The sum of the periods; unknown as long as that of one of them is. */
function allowanceOf({ segments }: ShieldOverageReading): number | undefined {
  const allowances = segments?.map((segment) => segment?.overageAllowance);
  return allowances?.every((one) => typeof one === 'number')
    ? allowances.reduce((sum, one) => sum + one, 0)
    : undefined;
}

const { gauge } = familiesOf<ShieldOverageReading>('bunnynet_shield_overage');

export const shieldOverage = defineResource({
  kind: 'shield_overage',
  api: 'shield',
  reference: 'GET /shield/metrics/overages/{shieldZoneId}',
  noun: "Shield Zone's overage",
  section: 'shield_overage',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 3600,
  fields: Object.keys(overages.shape),
  listing: zones,

  async read(get, ids, diagnostics): Promise<ShieldOverageReading> {
    const body = await get(`/shield/metrics/overages/${ids['shield_zone_id']}`);
    return readFields(overages, fieldsOf(body), diagnostics);
  },

  empty: { on: ['feature_not_available_on_plan'], reading: () => ({}) },

  families: [
    gauge(
      'requests',
      'Requests beyond those of the plan in this calendar month; falls back at its end (API field totalOverage).',
      ({ totalOverage }) => totalOverage ?? undefined,
    ),
    gauge(
      'allowance_requests',
      'Requests beyond those of the plan that are allowed in this calendar month, all its periods together (API field segments, overageAllowance).',
      allowanceOf,
    ),
    gauge(
      'clean_requests',
      'Clean requests of this calendar month; falls back at its end (API field totalCleanRequests).',
      ({ totalCleanRequests }) => totalCleanRequests ?? undefined,
    ),
  ],
});
