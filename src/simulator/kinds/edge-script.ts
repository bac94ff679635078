/** Edge scripts and their statistics by day (`/compute/script`, `/compute/script/{script}/statistics`). */
import { dayMs, dayOf, doneOf, weekdayShare } from '../days.ts';
import { cities, count, hexadecimal, nth, round, type Seeded, streams } from '../entities.ts';
import { problemDetails } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind } from '../kind.ts';
import { coreObjectPaging, pagesOf } from '../paging.ts';
import { hash, magnitude, text, unit } from '../random.ts';
import type { Answer } from '../reply.ts';

export interface EdgeScript extends Seeded {
  readonly scriptId: string;
  readonly name: string;
  readonly requestsPerDay: number;
  readonly cpuMsPerRequest: number;
  /** A secret: it deploys the script. */
  readonly deploymentKey: string;
}

export const edgeScript = {
  kind: 'edge_script',
  sizes: { small: { edgeScripts: 3 }, medium: { edgeScripts: 20 }, full: { edgeScripts: 200 } },
  create: (seed, { edgeScripts }) => ({
    edgeScripts: count(edgeScripts, (index) => createScript(seed, index)),
  }),
  operations: [
    {
      name: 'edge_script',
      api: 'core',
      path: '/compute/script/{script}/statistics',
      key: 'account',
      form: problemDetails,
      traits: {
        number: 'TotalRequestsServed',
        charts: ['RequestsServedChart', 'AverageCpuTimeChart', 'TotalCpuTimeChart'],
      },
      answers: ({ edgeScripts }) => {
        const known = new Map(edgeScripts.map((one) => [one.scriptId, one]));
        return ({ ids: [id = ''], query, nowMs, isRemoved }) => {
          const one = isRemoved(id) ? undefined : known.get(id);
          return one ? statistics(one, new URLSearchParams(query), nowMs) : problemDetails.notFound;
        };
      },
    },
    {
      name: 'edge_script_listing',
      api: 'core',
      path: '/compute/script',
      key: 'account',
      form: problemDetails,
      traits: {
        field: 'Items',
        list: true,
        ids: ['Id', 'DeploymentKey'],
        names: ['Name'],
        number: 'MonthlyRequestCount',
        codes: ['ScriptType'],
      },
      pages:
        ({ edgeScripts }) =>
        (request) =>
          pagesOf(
            coreObjectPaging,
            edgeScripts.filter(({ scriptId }) => !request.isRemoved(scriptId)),
            (one) => ({
              Id: jsonInteger(one.scriptId),
              Name: request.nameOf(one.scriptId, one.name),
              LastModified: '2026-05-04T09:30:00',
              ScriptType: 1 + (one.index % 2),
              CurrentReleaseId: 7_000 + one.index,
              LinkedPullZones: [],
              DeploymentKey: one.deploymentKey,
              MonthlyCost: round(one.requestsPerDay * 6e-6, 4),
              MonthlyRequestCount: Math.floor(one.requestsPerDay * 30),
              MonthlyCpuTime: Math.floor(one.requestsPerDay * 30 * one.cpuMsPerRequest),
            }),
            request,
          ),
    },
  ],
  section: 'edge_scripts',
  targets: ({ edgeScripts }) => edgeScripts.map(({ scriptId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<{ edgeScripts: number }, { edgeScripts: readonly EdgeScript[] }>;

const names = ['redirects', 'geo-router', 'ab-test', 'auth-gate', 'image-headers'] as const;

function createScript(datasetSeed: number, index: number): EdgeScript {
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

/** The day of a query's date; the last month where there is none. */
function asked(query: URLSearchParams, name: string, otherwise: number): number {
  const date = Date.parse(query.get(name) ?? '');
  return Number.isNaN(date) ? otherwise : dayOf(date);
}

function statistics(one: EdgeScript, query: URLSearchParams, nowMs: number): Answer {
  const { seed, requestsPerDay, cpuMsPerRequest } = one;
  const today = dayOf(nowMs);
  const to = Math.min(today, asked(query, 'dateTo', today));
  const requests: Record<string, number> = {};
  const cpu: Record<string, number> = {};
  const average: Record<string, number> = {};
  let totalRequests = 0;
  let totalCpu = 0;
  for (let day = Math.max(today - 366, asked(query, 'dateFrom', today - 30)); day <= to; day += 1) {
    const key = `${new Date(day * dayMs).toISOString().slice(0, 10)}T00:00:00Z`;
    const served = Math.floor(
      requestsPerDay * weekdayShare(day) * (0.7 + 0.6 * unit(seed, day)) * doneOf(day, nowMs),
    );
    const spent = Math.floor(served * cpuMsPerRequest);
    requests[key] = served;
    cpu[key] = spent;
    average[key] = served === 0 ? 0 : round(spent / served, 3);
    totalRequests += served;
    totalCpu += spent;
  }
  return {
    status: 200,
    body: {
      TotalRequestsServed: totalRequests,
      TotalCpuUsed: totalCpu,
      TotalMonthlyCost: round(requestsPerDay * 6e-6, 4),
      AverageCpuTimePerExecution: totalRequests === 0 ? 0 : round(totalCpu / totalRequests, 3),
      RequestsServedChart: requests,
      AverageCpuTimeChart: average,
      TotalCpuTimeChart: cpu,
    },
  };
}
