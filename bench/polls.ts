/**
 * Polls a second, of the exporter and of a load generator that only requests and parses: the same API that takes 50 ms, the
 * same number of connections, in turns.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { scales } from '../simulator/dataset.ts';
import type { Build } from './builds.ts';
import type { AskCommands } from './children/ask.ts';
import { Child, type Measured } from './processes.ts';
import { type Account, createAccount, untilReady } from './program.ts';
import { atLeast, atMost, log, median, type Part, plain, times } from './report.ts';

const latencyMs = 50;
const shape = { ...scales.small, applications: 1_000 };
const connections = 32;

interface Rate {
  readonly perSecond: number;
  readonly cpuMs: number;
}

async function startExporter(account: Account, build: Build): Promise<Measured> {
  // More than the connections can carry is always due.
  const api = () => ({ max_concurrency: connections, requests_per_second: 10_000 });
  const exporter = await account.start(
    account.everything({ kinds: ['application'], isNamed: true, interval: '1s', staleAfter: '1h', api }),
    { build },
  );
  await untilReady(exporter);
  return exporter.measured;
}

async function startAsking({ origin }: Account): Promise<Measured> {
  const child = new Child<AskCommands>('bare load generator', 'ask');
  await child.ask('start', { origin, shape, connections });
  return child;
}

async function measure(start: (account: Account) => Promise<Measured>, quick: boolean): Promise<Rate> {
  const account = await createAccount(shape);
  const { simulator } = account;
  let asking: Measured | undefined;
  try {
    await simulator.ask('inject', { fault: { type: 'latency', latencyMs } });
    asking = await start(account);
    await sleep(1000);
    const before = await simulator.ask('answered', undefined as never);
    const beforeMs = asking.cpuMs();
    const sinceMs = performance.now();
    await sleep(quick ? 2000 : 5000);
    const polls = (await simulator.ask('answered', undefined as never)) - before;
    const seconds = (performance.now() - sinceMs) / 1000;
    return { perSecond: polls / seconds, cpuMs: (asking.cpuMs() - beforeMs) / polls };
  } finally {
    await asking?.stop();
    await account.stop();
  }
}

export async function measurePolls(builds: readonly Build[], quick: boolean): Promise<Part> {
  const bare: Rate[] = [];
  const all = builds.map(() => [] as Rate[]);
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    bare.push(await measure(startAsking, quick));
    for (const [at, build] of builds.entries())
      all[at]?.push(await measure((account) => startExporter(account, build), quick));
  }
  log('polls');
  const middle = (rates: readonly Rate[]): Rate => ({
    perSecond: median(rates.map(({ perSecond }) => perSecond)),
    cpuMs: median(rates.map(({ cpuMs }) => cpuMs)),
  });
  const least = middle(bare);
  const [own, other] = all.map(middle);
  if (!own) throw new Error('there is no build to measure');
  const against = (figure: keyof Rate, rate: Rate | undefined) => rate && rate[figure] / least[figure];
  const row = (rate: Rate, name: string) => [
    name,
    plain(rate.perSecond),
    times(rate.perSecond / least.perSecond),
    `${plain(rate.cpuMs * 1000)} µs`,
    times(rate.cpuMs / least.cpuMs),
  ];
  return {
    aims: [
      atMost(
        'CPU of a poll, against a bare load generator',
        1.5,
        own.cpuMs / least.cpuMs,
        against('cpuMs', other),
      ),
      atLeast(
        `polls a second of an API that takes ${latencyMs} ms, against a bare load generator`,
        0.95,
        own.perSecond / least.perSecond,
        against('perSecond', other),
      ),
    ],
    tables: [
      {
        title: `Polls of an API that takes ${latencyMs} ms`,
        columns: ['', 'polls a second', 'against the generator', 'CPU of a poll', 'against the generator'],
        rows: [
          ...all.map((rates, at) => row(middle(rates), builds[at]?.name ?? '')),
          row(least, 'bare load generator'),
        ],
      },
    ],
    sizing: `- **CPU**: a poll takes about ${plain(own.cpuMs)} ms, so 1,000 targets polled every minute take ${plain((100 * 1000 * own.cpuMs) / 60_000)} % of one core.`,
  };
}
