/** The requests, the CPU time and the cost of an edge script (`/compute/script/{script}/statistics`). */

import { familiesOf } from './by-hand.ts';
import { chart } from './daily.ts';
import { chartDays, dayQuery, newestPoint } from './days.ts';
import { divided, id, number, object, readFields, text } from './fields.ts';
import { corePageFields, mapEach, readCorePages } from './pages.ts';
import { type DayFigure, defineResource, type Listing } from './resource.ts';

const statistics = object({
  TotalMonthlyCost: number,
  RequestsServedChart: chart,
  AverageCpuTimeChart: chart,
  TotalCpuTimeChart: chart,
});

/** Figures by day, the oldest first. */
export interface EdgeScriptReading {
  readonly monthlyCost: number | null | undefined;
  readonly requests: readonly DayFigure[] | undefined;
  readonly cpuSeconds: readonly DayFigure[] | undefined;
  /** Of the newest day. */
  readonly averageCpuSeconds: number | undefined;
}

const listedScript = object({ Id: id, Name: text });

/** Every edge script with its name. What else an answer has, its deployment key among it, is not read. */
export const scripts: Listing = {
  kind: 'edge_script',
  api: 'core',
  nouns: 'edge scripts',
  fields: [...listedScript.names, ...corePageFields],
  async discover(get, _parent, diagnostics) {
    const found = await readCorePages(
      {
        path: '/compute/script',
        nouns: 'edge scripts',
        perPage: 100,
        element: listedScript,
        identifier: 'Id',
      },
      get,
      diagnostics,
    );
    return mapEach(found, ([scriptId, { Name }]) => ({
      ids: { script_id: scriptId },
      name: Name ?? undefined,
    }));
  },
};

const { gauge, info, counter } = familiesOf<EdgeScriptReading>('bunnynet_edge_script');

export const edgeScript = defineResource({
  kind: 'edge_script',
  api: 'core',
  reference: 'GET /compute/script/{id}/statistics',
  noun: 'edge script',
  section: 'edge_scripts',
  ids: [{ label: 'script_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 600,
  fields: statistics.names,
  listing: scripts,

  async read(get, ids, diagnostics, context): Promise<EdgeScriptReading> {
    const body = await get(`/compute/script/${ids['script_id']}/statistics?${dayQuery(context)}`);
    const given = readFields(statistics, body, diagnostics);
    const cpu = chartDays(given.TotalCpuTimeChart, 'TotalCpuTimeChart', diagnostics);
    const average = newestPoint(given.AverageCpuTimeChart, 'AverageCpuTimeChart', diagnostics);
    return {
      monthlyCost: given.TotalMonthlyCost,
      requests: chartDays(given.RequestsServedChart, 'RequestsServedChart', diagnostics),
      cpuSeconds: cpu?.map((day) => ({ ...day, value: divided(day.value, 1000) })),
      averageCpuSeconds: average && divided(average.value, 1000),
    };
  },

  families: [
    info('The name of the edge script.', ['name'], (_, { name }) => ({ name })),
    gauge(
      'requests_latest_day',
      'Requests so far in the newest UTC day; falls back at midnight (API field RequestsServedChart).',
      ({ requests }) => requests?.at(-1)?.value,
    ),
    counter(
      'requests_total',
      'Requests since the exporter first read the script, added up by UTC days (API field RequestsServedChart).',
      ({ requests }) => requests && [{ days: requests }],
    ),
    gauge(
      'cpu_seconds_latest_day',
      'CPU time so far in the newest UTC day; falls back at midnight (API field TotalCpuTimeChart, milliseconds).',
      ({ cpuSeconds }) => cpuSeconds?.at(-1)?.value,
    ),
    counter(
      'cpu_seconds_total',
      'CPU time since the exporter first read the script, added up by UTC days (API field TotalCpuTimeChart, milliseconds).',
      ({ cpuSeconds }) => cpuSeconds && [{ days: cpuSeconds }],
    ),
    gauge(
      'average_cpu_seconds',
      'CPU time of a request on average, in the newest UTC day (API field AverageCpuTimeChart, milliseconds).',
      ({ averageCpuSeconds }) => averageCpuSeconds,
    ),
    gauge(
      'monthly_cost',
      'Cost of the script this month in US dollars (API field TotalMonthlyCost).',
      ({ monthlyCost }) => monthlyCost ?? undefined,
    ),
  ],
});
