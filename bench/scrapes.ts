/**
 * Scrapes of the same page from each contender: latency, CPU and memory. The contenders take turns within each
 * round, so that other load on the machine affects all of them alike.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scale } from '../src/simulator/kind.ts';
import type { HoldCommands } from './children/hold.ts';
import type { LoadCommands } from './children/load.ts';
import { log } from './log.ts';
import { checkSamePage, fetchPage } from './pages.ts';
import { Child, type Measured } from './processes.ts';
import { startPushgateway } from './pushgateway.ts';
import { versions, writeReadings } from './readings.ts';
import { type Aim, atLeast, atMost, megabytes, milliseconds, type Part, times } from './report.ts';
import { mean, median, percentile } from './statistics.ts';

interface Contender {
  readonly name: string;
  readonly measured: Measured;
  readonly port: number;
  /** Changes a fifth of the applications. */
  readonly change: (turn: number) => Promise<void>;
  /** Changes every value; resolves with the milliseconds it took. */
  readonly changeAll?: (by: number) => Promise<number>;
}

interface Phase {
  readonly name: string;
  readonly gzip: boolean;
  /** Whether a fifth of the applications is polled before each scrape. */
  readonly isChanging: boolean;
}

const unchanged: Phase = { name: 'identity, nothing changed', gzip: false, isChanging: false };
const unchangedGzip: Phase = { name: 'gzip, nothing changed', gzip: true, isChanging: false };
const changed: Phase = { name: 'identity, a fifth changed', gzip: false, isChanging: true };
const changedGzip: Phase = { name: 'gzip, a fifth changed', gzip: true, isChanging: true };
const phases = [unchanged, unchangedGzip, changed, changedGzip];

/** The figures of one contender in one phase. */
interface Figures {
  readonly latenciesMs: number[];
  /** Medians of the rounds. */
  readonly roundsMs: number[];
  readonly cpuMs: number[];
}

interface Effort {
  readonly rounds: number;
  /** The maximum number of scrapes in a round without changes. */
  readonly scrapes: number;
  readonly maxMs: number;
}

function effortOf(scale: Scale, quick: boolean): Effort {
  if (quick) return { rounds: 2, scrapes: scale === 'full' ? 2 : 20, maxMs: 300 };
  return { rounds: 7, scrapes: scale === 'small' ? 150 : 40, maxMs: 400 };
}

/** Contenders that take seconds for a page are scraped less often. */
const slowPageMs = 500;
const roundsOfSlow = 3;
/** A pause after such a page, because its contender still collects garbage in other threads. */
const settlingMs = 500;

export async function measureScrapes(scale: Scale, quick: boolean): Promise<Part> {
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-bench-`);
  const load = new Child<LoadCommands>('load generator', 'load');
  let contenders: readonly Contender[] = [];
  try {
    const size = await writeReadings(folder, scale);
    log(`${size.series} series of ${size.targets} targets, ${size.applications} of them applications`);
    contenders = await startContenders(folder, size.applications, scale);
    const measured = await measure(contenders, load, effortOf(scale, quick));
    return present({ contenders, scale, size, ...measured });
  } finally {
    await Promise.all([load, ...contenders.map(({ measured }) => measured)].map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  }
}

/** The exporter first, then the static Buffer, which is the minimum for a server. */
async function startContenders(folder: string, applications: number, scale: Scale): Promise<Contender[]> {
  const hold = async (name: string, mode: string, source = ''): Promise<Contender> => {
    const child = new Child<HoldCommands>(name, 'hold', [mode, source]);
    await child.ask('fill', { folder });
    return {
      name,
      measured: child,
      port: await child.ask('serve', undefined as never),
      // Versions rotate, so that a fifth never gets the values that it already has.
      change: (turn) =>
        child.ask('change', {
          folder,
          version: (Math.floor(turn / 5) + 1) % versions,
          turn,
          applications,
        }),
      ...(mode === 'static' ? {} : { changeAll: (by) => child.ask('changeAll', { folder, by }) }),
    };
  };
  const exporter = await hold('exporter', 'exporter');
  const page = await fetchPage(exporter.port);
  const file = `${folder}/page.txt`;
  writeFileSync(file, page);
  const others = [await hold('static Buffer', 'static', file), await hold('prom-client', 'prom-client')];
  const pushgateway = await startPushgateway(folder, applications, scale);
  if (pushgateway) others.push(pushgateway);
  else
    log('skipped: prometheus-pushgateway is not installed (Debian: apt-get install prometheus-pushgateway)');
  for (const { name, port } of others) checkSamePage(name, page, await fetchPage(port));
  return [exporter, ...others];
}

interface Measurements {
  readonly results: ReadonlyMap<Phase, ReadonlyMap<Contender, Figures>>;
  /** In bytes, after each round. */
  readonly rss: ReadonlyMap<Contender, number[]>;
  readonly updates: ReadonlyMap<Contender, number[]>;
}

async function measure(
  contenders: readonly Contender[],
  load: Child<LoadCommands>,
  effort: Effort,
): Promise<Measurements> {
  const rss = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  const results = new Map<Phase, ReadonlyMap<Contender, Figures>>();
  const slow = new Set<Contender>();
  let turn = 0;

  for (const phase of phases) {
    // Each phase begins with the first fifth and a new version, so that every change is a real one.
    turn = Math.ceil(turn / 5) * 5;
    const figures = new Map<Contender, Figures>(
      contenders.map((contender) => [contender, { latenciesMs: [], roundsMs: [], cpuMs: [] }]),
    );
    for (let round = -1; round < effort.rounds; round++) {
      // Back and forth, so that no contender always follows the one that collects garbage longest.
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        if (slow.has(contender) && (round === -1 || round >= roundsOfSlow)) continue;
        const scraped = await scrapeRound(contender, load, phase, effort, turn);
        // The first round fills caches and warms up the code.
        if (median(scraped.latenciesMs) > slowPageMs) slow.add(contender);
        if (round === -1) continue;
        const into = figures.get(contender);
        into?.latenciesMs.push(...scraped.latenciesMs);
        into?.roundsMs.push(median(scraped.latenciesMs));
        into?.cpuMs.push(scraped.cpuMs);
        rss.get(contender)?.push(contender.measured.rssBytes());
        if (slow.has(contender)) await sleep(settlingMs);
      }
      if (phase.isChanging) turn += changesPerRound;
    }
    results.set(phase, figures);
    log(phase.name);
  }
  const updates = await measureUpdates(contenders, load, effort);
  log('every value changed');
  return { results, rss, updates };
}

/** The number of changes in a round, each followed by a scrape. */
const changesPerRound = 3;

async function scrapeRound(
  { measured, port, change }: Contender,
  load: Child<LoadCommands>,
  { gzip, isChanging }: Phase,
  { scrapes, maxMs }: Effort,
  firstTurn: number,
) {
  const latenciesMs: number[] = [];
  let cpuMs = 0;
  const scrape = async (count: number) => {
    const before = measured.cpuMs();
    const scraped = await load.ask('scrape', { port, gzip, count, maxMs });
    cpuMs += measured.cpuMs() - before;
    latenciesMs.push(...scraped.latenciesMs);
  };
  if (!isChanging) await scrape(scrapes);
  for (let turn = firstTurn; isChanging && turn < firstTurn + changesPerRound; turn++) {
    await change(turn);
    await sleep(20);
    await scrape(1);
    if (median(latenciesMs) > slowPageMs) break;
  }
  return { latenciesMs, cpuMs: cpuMs / latenciesMs.length };
}

/** Milliseconds for storing every value and serving the page. */
async function measureUpdates(
  contenders: readonly Contender[],
  load: Child<LoadCommands>,
  { rounds }: Effort,
) {
  const updates = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round <= Math.min(rounds, 4); round++) {
    for (const contender of contenders) {
      if (!contender.changeAll) continue;
      const tookMs = await contender.changeAll(round + 1);
      const { latenciesMs } = await load.ask('scrape', {
        port: contender.port,
        gzip: false,
        count: 1,
        maxMs: 0,
      });
      if (round > 0) updates.get(contender)?.push(tookMs + (latenciesMs[0] ?? Number.NaN));
    }
  }
  return updates;
}

interface Results extends Measurements {
  readonly contenders: readonly Contender[];
  readonly scale: Scale;
  readonly size: { readonly series: number; readonly targets: number };
}

type Figure = (contender: Contender) => number;

function present({ contenders, scale, size, results, rss, updates }: Results): Part {
  const [exporter, ...others] = contenders;
  if (!exporter) throw new Error('there is no contender');
  const series = size.series.toLocaleString('en');
  const over =
    (phase: Phase, figure: (figures: Figures) => number): Figure =>
    (contender) => {
      const figures = results.get(phase)?.get(contender);
      return figures ? figure(figures) : Number.NaN;
    };
  const latency = (phase: Phase) => over(phase, ({ roundsMs }) => median(roundsMs));
  const p99 = (phase: Phase) => over(phase, ({ latenciesMs }) => percentile(latenciesMs, 99));
  const cpu = (phase: Phase) => over(phase, ({ cpuMs }) => mean(cpuMs));
  const memory: Figure = (contender) => median(rss.get(contender) ?? []);
  const update: Figure = (contender) => median(updates.get(contender) ?? []);

  const row = (what: string, figure: Figure, written: (value: number) => string) => [
    what,
    written(figure(exporter)),
    ...others.map((other) => times(figure(other) / figure(exporter))),
  ];
  const perPhase = (what: string, figure: (phase: Phase) => Figure) =>
    phases.map((phase) => row(`${what}, ${phase.name}`, figure(phase), milliseconds));
  const peers = contenders.filter(({ name }) => name !== 'static Buffer');
  return {
    tables: [
      {
        title: `Scrapes of ${series} series`,
        columns: ['', ...contenders.map(({ name }) => name)],
        rows: [
          ...perPhase('median', latency),
          ...perPhase('99th percentile', p99),
          ...perPhase('CPU', cpu),
          row('every value changed, then served', update, milliseconds),
          row('resident memory', memory, megabytes),
        ],
      },
    ],
    aims: aimsOf(scale, contenders, { latency, memory, update }),
    forUsers: [
      {
        title: `${titles[scale]}: ${size.targets.toLocaleString('en')} targets, ${series} series`,
        columns: ['', ...peers.map(({ name }) => name)],
        rows: [
          ['memory, scraped all the time', ...peers.map((one) => megabytes(memory(one)))],
          [
            'a scrape, nothing polled since',
            ...peers.map((one) => milliseconds(latency(unchangedGzip)(one))),
          ],
          [
            'a scrape, a fifth of the applications polled since',
            ...peers.map((one) => milliseconds(latency(changedGzip)(one))),
          ],
          ['CPU of that scrape', ...peers.map((one) => milliseconds(cpu(changedGzip)(one)))],
        ],
      },
    ],
  };
}

const titles: Readonly<Record<Scale, string>> = { small: 'Small', medium: 'Medium', full: 'Full' };

interface Measures {
  readonly latency: (phase: Phase) => Figure;
  readonly memory: Figure;
  readonly update: Figure;
}

function aimsOf(scale: Scale, contenders: readonly Contender[], measures: Measures): readonly Aim[] {
  const [exporter, buffer, promClient] = contenders;
  if (!exporter || !buffer || !promClient) throw new Error('a contender is missing');
  const { latency, memory, update } = measures;
  const ratio = (figure: Figure, one: Contender, other: Contender) => figure(one) / figure(other);
  if (scale === 'small')
    return [
      atLeast('page of 600 series: prom-client takes', 1.5, ratio(latency(unchanged), promClient, exporter)),
    ];
  if (scale === 'medium') {
    const limitBytes = 130e6;
    return [
      {
        what: 'resident memory at 60,000 series',
        wanted: `≤ ${megabytes(limitBytes)}`,
        measured: megabytes(memory(exporter)),
        met: memory(exporter) <= limitBytes,
      },
    ];
  }
  return [
    atMost(
      'unchanged page, identity, against the static Buffer',
      1.3,
      ratio(latency(unchanged), exporter, buffer),
    ),
    atMost(
      'unchanged page, gzip, against the static Buffer',
      1.3,
      ratio(latency(unchangedGzip), exporter, buffer),
    ),
    atLeast(
      'a fifth changed, gzip: prom-client takes',
      20,
      ratio(latency(changedGzip), promClient, exporter),
    ),
    atLeast('every value changed and served: prom-client takes', 4, ratio(update, promClient, exporter)),
    atMost('resident memory at 600,000 series against prom-client', 0.5, ratio(memory, exporter, promClient)),
  ];
}
