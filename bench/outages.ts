/** What APIs cost that are down, with 5,000 targets: CPU, and how long the event loop stalls. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigDocument } from '../simulator/everything.ts';
import type { Build } from './builds.ts';
import { createAccount, type Exporter, fetchPage, untilReady } from './program.ts';
import { log, milliseconds, type Part, plain } from './report.ts';
import { limitMs, longestStall, shape, targets } from './stalls.ts';

/** How long each is measured but a healthy account, at the intervals of a usual configuration. */
const measuredMs = 30_000;
/** Right after the start hardly anything is due: only a whole interval has each poll once. */
const usualMs = 300_000;
/** What the interval is until the APIs are known to be down. From then on few targets are asked for, so few begin to fail. */
const soon = '20s';
const untilDownMs = 60_000;

interface Cost {
  /** The share of a core. */
  readonly cpu: number;
  readonly stallMs: number;
}

interface Outage {
  readonly name: string;
  readonly healthy: Cost;
  readonly healthyWithPage: Cost;
  readonly all: Cost;
  readonly withPage: Cost;
  readonly withHourly: Cost;
}

/** meanwhile: what is done each second. */
async function costOf(exporter: Exporter, forMs: number, meanwhile?: () => Promise<unknown>): Promise<Cost> {
  await longestStall(exporter);
  const beforeMs = exporter.measured.cpuMs();
  const startedMs = performance.now();
  for (let second = 1; second <= forMs / 1000; second++) {
    await meanwhile?.();
    await sleep(startedMs + second * 1000 - performance.now());
  }
  return {
    cpu: (exporter.measured.cpuMs() - beforeMs) / (performance.now() - startedMs),
    stallMs: await longestStall(exporter),
  };
}

function percent(share: number): string {
  return `${plain(100 * share)} %`;
}

function cells({ cpu, stallMs }: Cost): string {
  return `${percent(cpu)}, ${milliseconds(stallMs)}`;
}

type Look<Seen> = (exporter: Exporter) => Promise<Seen>;

/**
 * Looks at an exporter while all is well, and while every answer is 503.
 *
 * @param hourly a kind that is polled each hour, so that it has not failed yet; undefined: none
 */
async function look<Well, Failing>(
  build: Build,
  hourly: string | undefined,
  well: Look<Well>,
  failing: Look<Failing>,
): Promise<readonly [Well, Failing]> {
  const account = await createAccount(shape);
  const document = (interval: string): ConfigDocument =>
    account.everything({
      interval,
      staleAfter: '3d',
      api: () => ({ requests_per_second: targets / 10, max_concurrency: 32 }),
      sections: hourly === undefined ? {} : { [hourly]: { interval: '1h' } },
    });
  const exporter = await account.start(document('5m'), { build, preload: 'stall-probe' });
  try {
    await untilReady(exporter);
    await sleep(5000);
    const before = await well(exporter);
    await account.simulator.ask('inject', { fault: { type: 'status-503' } });
    exporter.reload(document(soon));
    await sleep(untilDownMs);
    exporter.reload(document('5m'));
    // Until what came due at the short interval has its time.
    await sleep(25_000);
    const page = (await fetchPage(exporter.port)).toString();
    if (/^bunnynet_exporter_api_unreadable\{.*\} 0$/m.test(page))
      throw new Error('an API is not known to be down');
    return [before, await failing(exporter)];
  } finally {
    await Promise.all([exporter.measured.stop(), account.stop()]);
  }
}

/** Without readers, and with one of the status page, which comes first. aloneMs: how long without. */
async function costs(exporter: Exporter, aloneMs: number): Promise<readonly [Cost, Cost]> {
  const withPage = await costOf(exporter, measuredMs, () => fetchPage(exporter.port, '/'));
  return [await costOf(exporter, aloneMs), withPage];
}

export async function measureOutages(builds: readonly Build[]): Promise<Part> {
  const measured: Outage[] = [];
  for (const build of builds) {
    const [, withHourly] = await look(
      build,
      'billing',
      () => Promise.resolve(),
      (exporter) => costOf(exporter, measuredMs),
    );
    const [[healthy, healthyWithPage], [all, withPage]] = await look(
      build,
      undefined,
      (exporter) => costs(exporter, usualMs),
      (exporter) => costs(exporter, measuredMs),
    );
    measured.push({ name: build.name, healthy, healthyWithPage, all, withPage, withHourly });
    log(`an outage of ${build.name}`);
  }
  const [own, other] = measured;
  if (!own) throw new Error('there is no build to measure');
  const failures = ({ all, withPage, withHourly }: Outage) => [all, withHourly, withPage];
  const longest = (of: Outage) => Math.max(...failures(of).map(({ stallMs }) => stallMs));
  const most = ({ all, withHourly }: Outage) => Math.max(all.cpu, withHourly.cpu);
  return {
    aims: [
      {
        what: 'longest stall of the event loop in an outage with 5,000 targets',
        wanted: `≤ ${limitMs} ms`,
        other: other && milliseconds(longest(other)),
        measured: milliseconds(longest(own)),
        met: longest(own) <= limitMs,
      },
      {
        what: 'CPU in an outage with 5,000 targets, in per cent of a core, beside that while all is well',
        wanted: `≤ ${percent(own.healthy.cpu)}`,
        other: other && percent(most(other)),
        measured: percent(most(own)),
        met: most(own) <= own.healthy.cpu,
      },
      {
        what: 'the same with the status page each second',
        wanted: `≤ ${percent(own.healthyWithPage.cpu)}`,
        other: other && percent(other.withPage.cpu),
        measured: percent(own.withPage.cpu),
        met: own.withPage.cpu <= own.healthyWithPage.cpu,
      },
    ],
    tables: [
      {
        title: 'APIs that answer nothing but 503, with 5,000 targets',
        note: 'CPU in per cent of a core, and the longest stall of the event loop: in five minutes where all is well, in which each target is polled once, else in half a minute. That with the status page is right after the start, when hardly anything is polled.',
        columns: [
          '',
          'all is well',
          'with the status page each second',
          'an outage',
          'an outage, and a kind that is read each hour',
          'an outage, with the status page each second',
        ],
        rows: measured.map((of) => [
          of.name,
          ...[of.healthy, of.healthyWithPage, of.all, of.withHourly, of.withPage].map(cells),
        ]),
      },
    ],
  };
}
