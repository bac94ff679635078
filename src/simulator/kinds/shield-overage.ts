/** What Shield Zones used beyond their plans. */
import { shieldEnvelope } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind } from '../kind.ts';
import { hash } from '../random.ts';
import type { Answer } from '../reply.ts';
import type { Request } from '../request.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

export const shieldOverage = {
  kind: 'shield_overage',
  sizes: { small: {}, medium: {}, full: {} },
  create: () => ({}),
  operations: [
    {
      name: 'shield_overage',
      api: 'shield',
      path: '/shield/metrics/overages/{zone}',
      key: 'account',
      form: shieldEnvelope,
      traits: { ids: ['shieldZoneId'], number: 'totalOverage', wholeNumbers: true },
      rejections: ['unknownZone'],
      answers: (dataset) => ofZone(dataset, overage),
    },
  ],
  section: 'shield_overage',
  targets: ({ zones }) => zones.map(({ shieldZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<Record<never, never>, object, Zones>;

function overage({ seed, shieldZoneId, planType }: Zone, { nowMs }: Request): Answer {
  const now = new Date(nowMs);
  const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const clean = Math.floor(((nowMs - start) / 1_000) * (1 + (hash(seed, 0xa1) % 50)));
  const included = 20_000_000 * (1 + planType);
  const totalOverage = Math.max(0, clean - included);
  return {
    status: 200,
    body: {
      shieldZoneId: jsonInteger(shieldZoneId),
      year: now.getUTCFullYear(),
      month: now.getUTCMonth() + 1,
      totalOverage,
      totalCleanRequests: clean,
      segments: [
        {
          periodStart: new Date(start).toISOString(),
          periodEnd: new Date(nowMs).toISOString(),
          planType,
          overageAllowance: 1_000_000 * planType,
          overage: totalOverage,
        },
      ],
      error: null,
    },
  };
}
