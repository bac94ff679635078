/** Edge scripts and their statistics by day (`/compute/script/{script}/statistics`). */
import { ofEach } from '../answers.ts';
import { chartOf, daily, queryDays, totalOf } from '../days.ts';
import { city, entities, magnitude, nth, numberedId, ownName, round, secret, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';

export type EdgeScript = ReturnType<typeof scriptsOf>[number];

export const edgeScript = {
  kind: 'edge_script',
  section: 'edge_scripts',
  sizes: { edgeScripts: [3, 20, 50] },
  create: (seed, sizes: { edgeScripts: number }) => ({ edgeScripts: scriptsOf(seed, sizes.edgeScripts) }),
  ...coreApi,
  path: '/compute/script/{script}/statistics',
  traits: { number: 'TotalRequestsServed', charts: true },
  ...ofEach('edgeScripts', statistics),
} as const satisfies Kind;

const names = ['redirects', 'geo-router', 'ab-test', 'auth-gate', 'image-headers'] as const;

function scriptsOf(datasetSeed: number, length: number) {
  return entities(datasetSeed, 9, length, (seed, index) => ({
    id: numberedId(datasetSeed, 61_204 + 13 * index),
    name: ownName(
      datasetSeed,
      nth(names, index, (turn) => `-${city(turn)}`),
    ),
    requestsPerDay: magnitude(1_000, 5_000_000, unit(seed, 1)),
    cpuMsPerRequest: magnitude(0.2, 8, unit(seed, 2)),
    deploymentKey: secret('deployment', seed),
  }));
}

/** The requests of a day. */
export function servedOf(script: EdgeScript, nowMs: number) {
  return daily(script, 0, script.requestsPerDay, nowMs, 0.7, 0.6);
}

function statistics(script: EdgeScript, request: Request) {
  const days = queryDays(request);
  const served = servedOf(script, request.nowMs);
  const spent = (day: number) => Math.floor(served(day) * script.cpuMsPerRequest);
  const averageOf = (cpuMs: number, requests: number) => (requests === 0 ? 0 : round(cpuMs / requests, 3));
  return ok({
    TotalRequestsServed: totalOf(days, served),
    TotalCpuUsed: totalOf(days, spent),
    TotalMonthlyCost: round(script.requestsPerDay * 6e-6, 4),
    AverageCpuTimePerExecution: averageOf(totalOf(days, spent), totalOf(days, served)),
    RequestsServedChart: chartOf(days, served),
    AverageCpuTimeChart: chartOf(days, (day) => averageOf(spent(day), served(day))),
    TotalCpuTimeChart: chartOf(days, spent),
  });
}
