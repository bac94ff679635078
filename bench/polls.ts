/**
 * Polls a second, of the exporter and of a load generator that only requests and parses: the same API that takes 50 ms, the
 * same number of connections, in turns.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { scales } from '../src/simulator/dataset.ts';
import type { AskCommands } from './children/ask.ts';
import { Child, type Measured } from './processes.ts';
import { type Account, createAccount, untilReady } from './program.ts';
import { atLeast, log, median, type Part, plain, times } from './report.ts';

const latencyMs = 50;
const shape = { ...scales.small, applications: 1_000 };
const connections = 32;

interface Rate {
  readonly perSecond: number;
  readonly cpuMs: number;
}

async function startExporter(account: Account): Promise<Measured> {
  // More than the connections can carry is always due.
  const api = () => ({ max_concurrency: connections, requests_per_second: 10_000 });
  const exporter = await account.start(
    account.everything({ kinds: ['application'], isNamed: true, interval: '1s', staleAfter: '1h', api }),
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

export async function measurePolls(quick: boolean): Promise<Part> {
  const bare: Rate[] = [];
  const whole: Rate[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    bare.push(await measure(startAsking, quick));
    whole.push(await measure(startExporter, quick));
  }
  log('polls');
  const rate = (rates: readonly Rate[]) => median(rates.map(({ perSecond }) => perSecond));
  const cpu = (rates: readonly Rate[]) => median(rates.map(({ cpuMs }) => cpuMs));
  const ratio = rate(whole) / rate(bare);
  const pollMs = cpu(whole);
  return {
    aims: [atLeast(`polls a second against a bare load generator, ${latencyMs} ms of latency`, 0.95, ratio)],
    tables: [
      {
        title: `Polls of an API that takes ${latencyMs} ms`,
        columns: ['', 'exporter', 'bare generator', 'exporter against it'],
        rows: [
          ['polls a second', plain(rate(whole)), plain(rate(bare)), times(ratio)],
          [
            'CPU of a poll',
            `${plain(pollMs * 1000)} µs`,
            `${plain(cpu(bare) * 1000)} µs`,
            times(pollMs / cpu(bare)),
          ],
        ],
      },
    ],
    sizing: `- **CPU**: a poll takes about ${plain(pollMs)} ms, so 1,000 targets polled every minute take ${plain((100 * 1000 * pollMs) / 60_000)} % of one core.`,
  };
}
