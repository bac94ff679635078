/** Applications and their summaries (reference 2.1, 4.1). */
import { dayMs, dayOf, hourMs, instantOf, minuteMs } from '../days.ts';
import { cities, count, nth, round, streams, without } from '../entities.ts';
import { applicationApi, ofEach } from '../forms.ts';
import { type Kind, ok } from '../kind.ts';
import { cursorPaging, listing } from '../paging.ts';
import { drift, hash, magnitude, text, unit } from '../random.ts';

export type Application = ReturnType<typeof createApplication>;

export const application = {
  kind: 'application',
  sizes: { small: { applications: 12 }, medium: { applications: 350 }, full: { applications: 3_500 } },
  create: (seed, { applications }) => ({
    applications: count(applications, (index) => createApplication(seed, index, applications)),
  }),
  ...applicationApi,
  path: '/apps/{app}/summary',
  traits: { number: 'averageLatency', states: ['status'], charts: ['latencyChart'] },
  answers: ({ applications }) => ofApplication(applications, 'summary', summary),
  listing: {
    ...applicationApi,
    path: '/apps',
    traits: { field: 'items', list: true, ids: ['id'], names: ['name'], states: ['status'] },
    pages: ({ applications }) =>
      listing(cursorPaging, applications, idOf, (one, { nameOf, nowMs }) => ({
        id: one.id,
        name: nameOf(one.id, one.name),
        description: null,
        displayEndpoint: { id: `${one.id}-1`, address: `${one.name}.example`, type: 'cdn' },
        status: statusOf(one, nowMs),
      })),
  },
  section: 'applications',
  targets: ({ applications }) => applications.map(({ id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<{ applications: number }, { applications: readonly Application[] }>;

const idOf = ({ id }: Application) => id;
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const services = (
  'storefront checkout product-search image-resizer customer-login order-events recommendations newsletter price-feed store-locator ' +
  'gift-cards spring-campaign returns-portal stock-sync reviews invoice-render loyalty shipping-quotes session-cache feature-flags'
).split(' ');

const ringStates = [
  { status: 'progressing', periodMs: 2 * minuteMs },
  { status: 'failing', periodMs: 7 * minuteMs },
  { status: 'unknown', periodMs: 13 * minuteMs },
  { status: 'inactive', periodMs: 6 * hourMs },
  { status: 'suspended', periodMs: dayMs },
] as const;

function createApplication(datasetSeed: number, index: number, total: number) {
  const seed = hash(datasetSeed, streams.application, index);
  const ring = index % ringStates.length;
  return {
    seed,
    index,
    id: text(seed, 15, letters),
    name: nth(services, index, (turn) => `-${nth(cities, turn)}`),
    latencyMs: magnitude(8, 220, unit(seed, 1)),
    volumeGb: unit(seed, 2) < 0.25 ? 0 : magnitude(0.5, 400, unit(seed, 3)),
    dollarsPerDay: magnitude(0.05, 40, unit(seed, 4)),
    ring,
    ringIndex: Math.floor(index / ringStates.length),
    ringSize: Math.min(40, Math.max(2, Math.ceil((total - ring) / ringStates.length))),
  };
}

const chartDays = 14;

function summary(one: Application, nowMs: number): unknown {
  const { seed, index } = one;
  const status = statusOf(one, nowMs);
  const running = status !== 'inactive' && status !== 'suspended';
  const today = dayOf(nowMs);
  const latencyChart: Record<string, number> = {};
  let sum = 0;
  for (let turn = 0; turn < chartDays; turn += 1) {
    // Every fifth application has its points in no order.
    const back = index % 5 === 2 ? (turn * 5) % chartDays : turn;
    const latency = round(one.latencyMs * (0.85 + 0.3 * unit(seed, today - back, 0x11)), 2);
    latencyChart[instantOf(today - back)] = latency;
    sum += latency;
  }
  const busy = 0.8 + 0.4 * drift(seed, nowMs, 5 * minuteMs) + 0.15 * Math.sin((2 * Math.PI * nowMs) / dayMs);
  const body = {
    averageLatency: round(sum / chartDays, 3),
    currentLatency: running ? round(one.latencyMs * busy * (status === 'failing' ? 3.5 : 1), 2) : 0,
    totalVolumeSizeInGb: round(one.volumeGb * (1 + 0.03 * drift(seed, nowMs, 6 * hourMs)), 3),
    monthlyCost: round((one.dollarsPerDay * (nowMs - monthStart(nowMs))) / dayMs, 4),
    latencyChart,
    status,
  };
  // A few have never served a request, or are not billed.
  if (index % 24 === 11) return { ...body, averageLatency: null, latencyChart: {} };
  if (index % 24 === 23) return without(body, 'monthlyCost');
  return body;
}

/** Most are active. In each ring one application at a time has the ring's state, so six applications show every state. */
export function statusOf({ ring, ringIndex, ringSize }: Application, nowMs: number): string {
  const state = ringStates[ring];
  if (state === undefined) return 'active';
  const turn = ringIndex + Math.floor(nowMs / state.periodMs);
  return turn % ringSize === 0 ? state.status : 'active';
}

/** Answers for the application that is the first id of a request. */
export function ofApplication(
  applications: readonly Application[],
  operation: string,
  answer: (one: Application, nowMs: number) => unknown,
) {
  return ofEach(
    applications,
    idOf,
    (one, { nowMs }) => ok(answer(one, nowMs)),
    (id) => {
      const detail = `Application ${id} was not found.`;
      return {
        status: 404,
        body: { title: 'Not Found', status: 404, detail, instance: `/apps/${id}/${operation}` },
      };
    },
  );
}

export function monthStart(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}
