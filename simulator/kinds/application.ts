/** Applications and their summaries (`/apps/{appId}/summary`). */
import { cursorPaging, listed, ofEach } from '../answers.ts';
import { chartOf, dayMs, dayOf, hourMs, minuteMs, monthStartMs, totalOf } from '../days.ts';
import { city, count, drift, entities, magnitude, nth, ownName, round, text, unit } from '../entities.ts';
import { applicationApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';

export type Application = ReturnType<typeof applicationsOf>[number];

export interface Applications {
  readonly applications: readonly Application[];
}

export const application = {
  kind: 'application',
  section: 'applications',
  sizes: { applications: [12, 350, 800] },
  create: (seed, sizes: { applications: number }) => ({
    applications: applicationsOf(seed, sizes.applications),
  }),
  ...applicationApi,
  path: '/apps/{app}/summary',
  traits: { number: 'averageLatency', status: true, charts: true },
  ...ofEach('applications', summary),
  listing: {
    ...applicationApi,
    path: '/apps',
    traits: { field: 'items', ids: ['id'], name: 'name', status: true },
    ...listed('applications', cursorPaging, (one: Application, { nameOf, nowMs }) => ({
      id: one.id,
      name: nameOf(one.id, one.name),
      displayEndpoint: { id: `${one.id}-1`, address: `${one.name}.example`, type: 'cdn' },
      status: statusOf(one, nowMs),
    })),
  },
} as const satisfies Kind;

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const services = (
  'storefront checkout product-search image-resizer customer-login order-events recommendations newsletter price-feed store-locator ' +
  'gift-cards spring-campaign returns-portal stock-sync reviews invoice-render loyalty shipping-quotes session-cache feature-flags'
).split(' ');

const ringStates = [
  { status: 'progressing', periodMs: 30 * minuteMs },
  { status: 'failing', periodMs: 12 * hourMs },
  { status: 'unknown', periodMs: 8 * hourMs },
  { status: 'inactive', periodMs: dayMs },
  { status: 'suspended', periodMs: dayMs },
] as const;

function applicationsOf(datasetSeed: number, total: number) {
  return entities(datasetSeed, 1, total, (seed, index) => {
    const ring = index % ringStates.length;
    return {
      id: text(seed, 15, letters),
      name: ownName(
        datasetSeed,
        nth(services, index, (turn) => `-${city(turn)}`),
      ),
      latencyMs: magnitude(8, 220, unit(seed, 1)),
      volumeGb: unit(seed, 2) < 0.25 ? 0 : magnitude(0.5, 400, unit(seed, 3)),
      dollarsPerDay: magnitude(0.05, 40, unit(seed, 4)),
      ring,
      ringIndex: Math.floor(index / ringStates.length),
      ringSize: Math.min(40, Math.max(2, Math.ceil((total - ring) / ringStates.length))),
    };
  });
}

/** Most are active. In each ring one application at a time has the ring's state, so six applications show every state. */
export function statusOf({ ring, ringIndex, ringSize }: Application, nowMs: number): string {
  const state = ringStates[ring];
  if (state === undefined) return 'active';
  const turn = ringIndex + Math.floor(nowMs / state.periodMs);
  return turn % ringSize === 0 ? state.status : 'active';
}

const chartDays = 14;

function summary(one: Application, { nowMs }: Request) {
  const { seed, index, latencyMs } = one;
  const status = statusOf(one, nowMs);
  const isRunning = status !== 'inactive' && status !== 'suspended';
  // Every fifth application has its points in no order.
  const days = count(chartDays, (turn) => dayOf(nowMs) - (index % 5 === 2 ? (turn * 5) % chartDays : turn));
  const latencyOn = (day: number) => round(latencyMs * (0.85 + 0.3 * unit(seed, day, 0x11)), 2);
  const busy = 0.8 + 0.4 * drift(seed, nowMs, 5 * minuteMs) + 0.15 * Math.sin((2 * Math.PI * nowMs) / dayMs);
  // A few have never served a request, or are not billed.
  const isUnused = index % 24 === 11;
  const isFree = index % 24 === 23;
  return ok({
    averageLatency: isUnused ? null : round(totalOf(days, latencyOn) / chartDays, 3),
    currentLatency: isRunning ? round(latencyMs * busy * (status === 'failing' ? 3.5 : 1), 2) : 0,
    totalVolumeSizeInGb: round(one.volumeGb * (1 + 0.03 * drift(seed, nowMs, 6 * hourMs)), 3),
    monthlyCost: isFree ? undefined : round((one.dollarsPerDay * (nowMs - monthStartMs(nowMs))) / dayMs, 4),
    latencyChart: isUnused ? {} : chartOf(days, latencyOn),
    status,
  });
}
