/**
 * Polls a second: the whole exporter, which validates and keeps every answer, compared with a load generator that only
 * requests and parses. Both use the same simulated API over the same number of connections, in turns.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskCommands } from './children/ask.ts';
import type { ExportCommands } from './children/export.ts';
import type { SimulateCommands } from './children/simulate.ts';
import { shapes } from './datasets.ts';
import { log } from './log.ts';
import { untilReady } from './pages.ts';
import { Child, type Measured } from './processes.ts';
import { type Aim, atLeast, type Part, plain, times } from './report.ts';
import { median } from './statistics.ts';

const shape = {
  ...shapes.full,
  applications: 2_000,
  zones: 0,
  endpoints: 0,
  rateLimitZones: 0,
  libraries: 0,
  videosPerLibrary: 0,
};
const connections = 32;
/** So short that every target is due again before its turn: the exporter polls as fast as it can. */
const pace = { intervalMs: 100, requestsPerSecond: 1e6, maxConcurrency: connections, timeoutMs: 10_000 };

interface Rate {
  readonly perSecond: number;
  readonly cpuMs: number;
}

export async function measurePolls(quick: boolean): Promise<Part> {
  const rows: string[][] = [];
  const aims: Aim[] = [];
  for (const [latencyMs, limit] of [
    [0, 0.35],
    [50, 0.95],
  ] as const) {
    const bare: Rate[] = [];
    const whole: Rate[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      bare.push(await withSimulator(latencyMs, quick, startAsking));
      whole.push(await withSimulator(latencyMs, quick, startExporter));
    }
    const rate = (rates: readonly Rate[]) => median(rates.map(({ perSecond }) => perSecond));
    const cpu = (rates: readonly Rate[]) => median(rates.map(({ cpuMs }) => cpuMs));
    const ratio = rate(whole) / rate(bare);
    rows.push([
      `${latencyMs} ms`,
      plain(rate(whole)),
      times(ratio),
      `${plain(cpu(whole) * 1000)} µs`,
      times(cpu(whole) / cpu(bare)),
    ]);
    aims.push(
      atLeast(`polls a second against a bare load generator, ${latencyMs} ms of latency`, limit, ratio),
    );
    log(`polls at ${latencyMs} ms`);
  }
  return {
    tables: [
      {
        title: 'Polls',
        columns: [
          'latency of the API',
          'polls/s',
          'of the bare generator',
          'CPU a poll',
          'of the bare generator',
        ],
        rows,
      },
    ],
    aims,
  };
}

type Start = (origin: string) => Promise<Measured>;

const startExporter: Start = async (origin) => {
  const child = new Child<ExportCommands>('exporter', 'export');
  await untilReady(await child.ask('start', { origin, shape, pace }));
  return child;
};

const startAsking: Start = async (origin) => {
  const child = new Child<AskCommands>('bare load generator', 'ask');
  await child.ask('start', { origin, shape, connections });
  return child;
};

async function withSimulator(latencyMs: number, quick: boolean, start: Start): Promise<Rate> {
  const simulator = new Child<SimulateCommands>('simulator', 'simulate');
  let asking: Measured | undefined;
  try {
    const origin = await simulator.ask('start', { shape });
    if (latencyMs > 0) await simulator.ask('inject', { fault: { type: 'latency', latencyMs } });
    asking = await start(origin);
    await sleep(quick ? 1000 : 2000);
    const answered = await simulator.ask('answered', undefined as never);
    const beforeMs = asking.cpuMs();
    const sinceMs = performance.now();
    await sleep(quick ? 2000 : 4000);
    const polls = (await simulator.ask('answered', undefined as never)) - answered;
    const seconds = (performance.now() - sinceMs) / 1000;
    return { perSecond: polls / seconds, cpuMs: (asking.cpuMs() - beforeMs) / polls };
  } finally {
    await asking?.stop();
    await simulator.stop();
  }
}
