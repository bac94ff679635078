/** Edge scripts and their statistics by day (`/compute/script`, `/compute/script/{script}/statistics`). */
import { chartOf, daysAsked, doneOf, totalOf, weekdayShare } from '../days.ts';
import { cities, count, hexadecimal, nth, round, streams } from '../entities.ts';
import { coreApi, ofEach } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { coreObjectPaging, listing } from '../paging.ts';
import { hash, magnitude, text, unit } from '../random.ts';

export type EdgeScript = ReturnType<typeof createScript>;

export const edgeScript = {
  kind: 'edge_script',
  sizes: { small: { edgeScripts: 3 }, medium: { edgeScripts: 20 }, full: { edgeScripts: 200 } },
  create: (seed, { edgeScripts }) => ({
    edgeScripts: count(edgeScripts, (index) => createScript(seed, index)),
  }),
  operations: [
    {
      ...coreApi,
      name: 'edge_script',
      path: '/compute/script/{script}/statistics',
      traits: {
        number: 'TotalRequestsServed',
        charts: ['RequestsServedChart', 'AverageCpuTimeChart', 'TotalCpuTimeChart'],
      },
      answers: ({ edgeScripts }) => ofEach(edgeScripts, idOf, (one, request) => ok(statistics(one, request))),
    },
    {
      ...coreApi,
      name: 'edge_script_listing',
      path: '/compute/script',
      traits: {
        field: 'Items',
        list: true,
        ids: ['Id', 'DeploymentKey'],
        names: ['Name'],
        number: 'MonthlyRequestCount',
        codes: ['ScriptType'],
      },
      pages: ({ edgeScripts }) =>
        listing(coreObjectPaging, edgeScripts, idOf, (one, { nameOf }) => ({
          Id: jsonInteger(one.scriptId),
          Name: nameOf(one.scriptId, one.name),
          LastModified: '2026-05-04T09:30:00',
          ScriptType: 1 + (one.index % 2),
          CurrentReleaseId: 7_000 + one.index,
          LinkedPullZones: [],
          DeploymentKey: one.deploymentKey,
          MonthlyCost: round(one.requestsPerDay * 6e-6, 4),
          MonthlyRequestCount: Math.floor(one.requestsPerDay * 30),
          MonthlyCpuTime: Math.floor(one.requestsPerDay * 30 * one.cpuMsPerRequest),
        })),
    },
  ],
  section: 'edge_scripts',
  targets: ({ edgeScripts }) => edgeScripts.map(({ scriptId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<{ edgeScripts: number }, { edgeScripts: readonly EdgeScript[] }>;

const idOf = ({ scriptId }: EdgeScript) => scriptId;
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

function statistics({ seed, requestsPerDay, cpuMsPerRequest }: EdgeScript, request: Request): unknown {
  const days = daysAsked(request);
  const served = (day: number) =>
    Math.floor(
      requestsPerDay * weekdayShare(day) * (0.7 + 0.6 * unit(seed, day)) * doneOf(day, request.nowMs),
    );
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
