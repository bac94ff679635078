/** Twenty scrapes a second while the API fails in the worst ways, beside the same while it does not. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../src/simulator/faults.ts';
import type { ExportCommands } from './children/export.ts';
import type { LoadCommands } from './children/load.ts';
import type { SimulateCommands } from './children/simulate.ts';
import { shapes } from './datasets.ts';
import { log } from './log.ts';
import { untilReady } from './pages.ts';
import { Child } from './processes.ts';
import { type Aim, milliseconds, type Part, times } from './report.ts';
import { percentile } from './statistics.ts';

const faults: readonly { readonly name: string; readonly fault: Fault }[] = [
  { name: 'requests hang', fault: { type: 'hang' } },
  { name: '429 to everything', fault: { type: 'status-429' } },
  { name: 'bodies never end', fault: { type: 'endless-body' } },
];
const shape = shapes.medium;
const fillingPace = { intervalMs: 60_000, requestsPerSecond: 2000, maxConcurrency: 32, timeoutMs: 10_000 };
/** What this many targets need to be polled every minute; the rest as it is by default. */
const pace = { intervalMs: 60_000, requestsPerSecond: 50, maxConcurrency: 8, timeoutMs: 10_000 };
const scrapesPerSecond = 20;
/** What is as fast: ratios of medians move by so much between two equal runs. */
const asFast = 1.2;

export async function measureFaults(quick: boolean): Promise<Part> {
  const rows: string[][] = [];
  const aims: Aim[] = [];
  for (const { name, fault } of faults) {
    const well: number[] = [];
    const failing: number[] = [];
    for (let round = 0; round < (quick ? 1 : 2); round++) {
      const one = await measureOne(fault, quick ? 2 : 5);
      well.push(...one.well);
      failing.push(...one.failing);
    }
    const of = (percent: number) => [percentile(well, percent), percentile(failing, percent)] as const;
    const cells = [50, 99].flatMap((percent) => {
      const [without, during] = of(percent);
      return [milliseconds(without), times(during / without)];
    });
    rows.push([name, ...cells]);
    const [without, during] = of(50);
    const ratio = during / without;
    aims.push({
      what: `20 scrapes a second, ${name}: the median against that without the fault`,
      wanted: `≤ 1 × (within ${asFast})`,
      measured: times(ratio),
      met: ratio <= asFast,
    });
    log(name);
  }
  return {
    tables: [
      {
        title: 'Scrapes during faults of the API, 60,000 series, 20 a second, gzip',
        columns: ['fault', 'median without', 'during', '99th percentile without', 'during'],
        rows,
      },
    ],
    aims,
  };
}

/** Latencies in milliseconds before and during the fault, of an exporter that has just polled everything. */
async function measureOne(fault: Fault, seconds: number): Promise<{ well: number[]; failing: number[] }> {
  const simulator = new Child<SimulateCommands>('simulator', 'simulate');
  const exporter = new Child<ExportCommands>('exporter', 'export');
  const load = new Child<LoadCommands>('load generator', 'load');
  try {
    const origin = await simulator.ask('start', { shape });
    const port = await exporter.ask('start', { origin, shape, pace: fillingPace });
    await untilReady(port);
    await exporter.ask('repace', { origin, shape, pace });
    const asked = { port, path: '/metrics', gzip: true, perSecond: scrapesPerSecond };
    await load.ask('pace', { ...asked, seconds: 1 });
    const well = await load.ask('pace', { ...asked, seconds });
    await simulator.ask('inject', { fault });
    await sleep(1000);
    const failing = await load.ask('pace', { ...asked, seconds });
    return { well: well.latenciesMs, failing: failing.latenciesMs };
  } finally {
    await Promise.all([exporter, simulator, load].map((one) => one.stop()));
  }
}
