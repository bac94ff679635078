/** Edge scripts and their statistics by day (`/compute/script/{script}/statistics`). */
import { chartOf, daysAsked, doneOf, totalOf, weekdayShare } from '../days.ts';
import { cities, count, hexadecimal, nth, round, streams } from '../entities.ts';
import { coreApi, ofEach } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { hash, magnitude, text, unit } from '../random.ts';

export type EdgeScript = ReturnType<typeof createScript>;

export interface EdgeScripts {
  readonly edgeScripts: readonly EdgeScript[];
}

export const edgeScript = {
  kind: 'edge_script',
  sizes: { small: { edgeScripts: 3 }, medium: { edgeScripts: 20 }, full: { edgeScripts: 200 } },
  create: (seed, { edgeScripts }) => ({
    edgeScripts: count(edgeScripts, (index) => createScript(seed, index)),
  }),
  ...coreApi,
  path: '/compute/script/{script}/statistics',
  traits: {
    number: 'TotalRequestsServed',
    charts: ['RequestsServedChart', 'AverageCpuTimeChart', 'TotalCpuTimeChart'],
  },
  answers: ({ edgeScripts }) => ofEach(edgeScripts, idOf, (one, request) => ok(statistics(one, request))),
  section: 'edge_scripts',
  targets: ({ edgeScripts }) => edgeScripts.map(({ scriptId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<{ edgeScripts: number }, EdgeScripts>;

export const idOf = ({ scriptId }: EdgeScript) => scriptId;
const names = ['redirects', 'geo-router', 'ab-test', 'auth-gate', 'image-headers'] as const;

function createScript(datasetSeed: number, index: number) {
  const seed = hash(datasetSeed, streams.script, index);
  return {
    seed,
    index,
    scriptId: String(61_204 + 13 * index),
    name: nth(names, index, (turn) => `-${nth(cities, turn)}`),
    requestsPerDay: magnitude(1_000, 5_000_000, unit(seed, 1)),
    cpuMsPerRequest: magnitude(0.2, 8, unit(seed, 2)),
    deploymentKey: `sim-deployment-key-${text(seed, 32, hexadecimal)}`,
  };
}

/** The requests of a day. */
export function servedOf({ seed, requestsPerDay }: EdgeScript, day: number, nowMs: number): number {
  return Math.floor(requestsPerDay * weekdayShare(day) * (0.7 + 0.6 * unit(seed, day)) * doneOf(day, nowMs));
}

function statistics(script: EdgeScript, request: Request): unknown {
  const { requestsPerDay, cpuMsPerRequest } = script;
  const days = daysAsked(request);
  const served = (day: number) => servedOf(script, day, request.nowMs);
  const spent = (day: number) => Math.floor(served(day) * cpuMsPerRequest);
  const averageOf = (cpuMs: number, requests: number) => (requests === 0 ? 0 : round(cpuMs / requests, 3));
  return {
    TotalRequestsServed: totalOf(days, served),
    TotalCpuUsed: totalOf(days, spent),
    TotalMonthlyCost: round(requestsPerDay * 6e-6, 4),
    AverageCpuTimePerExecution: averageOf(totalOf(days, spent), totalOf(days, served)),
    RequestsServedChart: chartOf(days, served),
    AverageCpuTimeChart: chartOf(days, (day) => averageOf(spent(day), served(day))),
    TotalCpuTimeChart: chartOf(days, spent),
  };
}
