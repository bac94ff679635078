/**
 * Scrapes of one page held by each contender: latency, CPU, stalls and memory, side by side. The contenders take turns
 * within each round, so that whatever else the machine does hits all alike.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scale } from '../src/simulator/kind.ts';
import type { HoldCommands, Spread } from './children/hold.ts';
import type { LoadCommands } from './children/load.ts';
import { log } from './log.ts';
import { checkSamePage, fetchPage, narrowedFile, narrowedPath } from './pages.ts';
import { Child, type Measured } from './processes.ts';
import { startPushgateway } from './pushgateway.ts';
import { versions, writeReadings } from './readings.ts';
import {
  type Aim,
  atLeast,
  atMost,
  megabytes,
  milliseconds,
  type Part,
  plain,
  type Table,
  times,
} from './report.ts';
import { mean, median, percentile } from './statistics.ts';

interface Contender {
  readonly name: string;
  readonly measured: Measured;
  readonly port: number;
  /** A fifth of the applications gets other values. */
  readonly change: (turn: number, spread: Spread) => Promise<void>;
  /** Every value becomes another: the milliseconds that took. */
  readonly changeAll?: (by: number) => Promise<number>;
  readonly hold?: Child<HoldCommands>;
}

type Change = 'nothing' | Spread;

interface Phase {
  readonly gzip: boolean;
  readonly change: Change;
  readonly scrapers: number;
  /** Without the exporter's own metrics on the page. */
  readonly isNarrowed?: boolean;
}

const phases: readonly Phase[] = [
  { gzip: false, change: 'nothing', scrapers: 1 },
  { gzip: true, change: 'nothing', scrapers: 1 },
  { gzip: false, change: 'nothing', scrapers: 1, isNarrowed: true },
  { gzip: true, change: 'nothing', scrapers: 1, isNarrowed: true },
  { gzip: false, change: 'contiguous', scrapers: 1 },
  { gzip: true, change: 'contiguous', scrapers: 1 },
  { gzip: false, change: 'random', scrapers: 1 },
  { gzip: true, change: 'random', scrapers: 1 },
  { gzip: false, change: 'nothing', scrapers: 4 },
  { gzip: true, change: 'nothing', scrapers: 4 },
  { gzip: false, change: 'contiguous', scrapers: 4 },
  { gzip: true, change: 'contiguous', scrapers: 4 },
];

const changeNames: Readonly<Record<Change, string>> = {
  nothing: 'nothing changed',
  contiguous: 'a fifth changed',
  random: 'any fifth changed',
};

function nameOf({ gzip, change, scrapers, isNarrowed }: Phase): string {
  const coding = `${gzip ? 'gzip' : 'identity'}${isNarrowed ? ', without own metrics' : ''}`;
  return `${coding}, ${changeNames[change]}, ${scrapers} scraper${scrapers > 1 ? 's' : ''}`;
}

/** What one contender did in one phase. */
interface Figures {
  readonly latenciesMs: number[];
  /** Medians of the rounds. */
  readonly roundsMs: number[];
  readonly cpuMs: number[];
  bytes: number;
}

interface Effort {
  readonly rounds: number;
  /** The most scrapes of a scraper in a round where nothing changes between them. */
  readonly scrapes: number;
  readonly maxMs: number;
}

function effortOf(scale: Scale, quick: boolean): Effort {
  if (quick) return { rounds: 2, scrapes: scale === 'full' ? 2 : 20, maxMs: 300 };
  return { rounds: 7, scrapes: scale === 'small' ? 150 : 40, maxMs: 400 };
}

/** Contenders that take seconds for a page are asked less often. */
const slowPageMs = 500;
/** After such a page a contender goes on collecting garbage, in threads: that is not to fall into the time of the next one. */
const settlingMs = 500;

export async function measureScrapes(scale: Scale, quick: boolean): Promise<Part> {
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-bench-`);
  const load = new Child<LoadCommands>('load generator', 'load');
  let contenders: readonly Contender[] = [];
  try {
    const size = await writeReadings(folder, scale);
    log(`${size.series} series of ${size.targets} targets, ${size.applications} of them applications`);
    contenders = await startContenders(folder, size.applications, scale);
    return await measure(contenders, load, folder, scale, effortOf(scale, quick), size);
  } finally {
    await Promise.all([load, ...contenders.map(({ measured }) => measured)].map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  }
}

async function startContenders(folder: string, applications: number, scale: Scale): Promise<Contender[]> {
  const hold = async (mode: string, source = ''): Promise<Contender> => {
    const child = new Child<HoldCommands>(mode, 'hold', [mode, source]);
    await child.ask('fill', { folder });
    return {
      name: mode,
      measured: child,
      hold: child,
      port: await child.ask('serve', undefined as never),
      // Versions go round so that a fifth never gets the values that it has.
      change: (turn, spread) =>
        child.ask('change', {
          folder,
          version: (Math.floor(turn / 5) + 1) % versions,
          turn,
          applications,
          spread,
        }),
      changeAll: (by) => child.ask('changeAll', { folder, by }),
    };
  };
  const exporter = await hold('exporter');
  const page = await fetchPage(exporter.port);
  const file = `${folder}/page.txt`;
  writeFileSync(file, page);
  writeFileSync(narrowedFile(file), await fetchPage(exporter.port, narrowedPath));
  const others = [await hold('static', file), await hold('prom-client')];
  const pushgateway = await startPushgateway(folder, applications, scale);
  if (pushgateway) others.push(pushgateway);
  else
    log('skipped: prometheus-pushgateway is not installed (Debian: apt-get install prometheus-pushgateway)');
  for (const { name, port } of others) checkSamePage(name, page, await fetchPage(port));
  return [exporter, ...others];
}

async function measure(
  contenders: readonly Contender[],
  load: Child<LoadCommands>,
  folder: string,
  scale: Scale,
  effort: Effort,
  size: { series: number; targets: number },
): Promise<Part> {
  const rss = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  const results = new Map<Phase, ReadonlyMap<Contender, Figures>>();
  const slow = new Set<Contender>();
  let turn = 0;

  for (const phase of phases) {
    // Each phase begins with the first fifth and a version that nobody has: a change never sets what is there already.
    turn = Math.ceil(turn / 5) * 5;
    const figures = new Map<Contender, Figures>(
      contenders.map((contender) => [contender, { latenciesMs: [], roundsMs: [], cpuMs: [], bytes: 0 }]),
    );
    for (let round = -1; round < effort.rounds; round++) {
      // To and fro, so that none always comes right after the one that collects garbage longest.
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        if (slow.has(contender) && (round === -1 || round >= roundsOfSlow(effort, phase))) continue;
        const scraped = await scrapeRound(contender, load, phase, effort, turn);
        // The first round fills caches and warms code up.
        if (median(scraped.latenciesMs) > slowPageMs) slow.add(contender);
        if (round === -1) continue;
        const into = figures.get(contender);
        into?.latenciesMs.push(...scraped.latenciesMs);
        into?.roundsMs.push(median(scraped.latenciesMs));
        into?.cpuMs.push(scraped.cpuMs);
        if (into) into.bytes = scraped.bytes;
        rss.get(contender)?.push(contender.measured.rssBytes());
        if (slow.has(contender)) await sleep(settlingMs);
      }
      if (phase.change !== 'nothing') turn += changesPerRound;
    }
    results.set(phase, figures);
    log(nameOf(phase));
  }

  const updates = await measureUpdates(contenders, load, effort);
  log('every value changed');
  const stalls = await measureStalls(contenders, load, folder, effort);
  log('stalls');
  const stalled = await measureStalledReaders(contenders, load);
  log('stalled readers');
  return present({ contenders, scale, size, results, rss, updates, stalls, stalled });
}

function roundsOfSlow({ rounds }: Effort, { scrapers }: Phase): number {
  return Math.min(rounds, scrapers === 1 ? 3 : 1);
}

/** Where something changes between scrapes, a round has so many changes, with a scrape of each scraper after each. */
const changesPerRound = 3;

async function scrapeRound(
  { measured, port, change: changeOf }: Contender,
  load: Child<LoadCommands>,
  { gzip, change, scrapers, isNarrowed }: Phase,
  { scrapes, maxMs }: Effort,
  firstTurn: number,
) {
  const latenciesMs: number[] = [];
  let cpuMs = 0;
  let bytes = 0;
  const scrape = async (count: number) => {
    const before = measured.cpuMs();
    const path = isNarrowed ? narrowedPath : '/metrics';
    const scraped = await load.ask('scrape', { port, path, gzip, scrapers, count, maxMs });
    cpuMs += measured.cpuMs() - before;
    latenciesMs.push(...scraped.latenciesMs);
    bytes = scraped.bytes;
  };
  if (change === 'nothing') {
    await scrape(scrapes);
  } else {
    for (let turn = firstTurn; turn < firstTurn + changesPerRound; turn++) {
      await changeOf(turn, change);
      await sleep(20);
      await scrape(1);
      if (median(latenciesMs) > slowPageMs) break;
    }
  }
  return { latenciesMs, bytes, cpuMs: cpuMs / latenciesMs.length };
}

/** Milliseconds of taking every value in and serving the page. */
async function measureUpdates(
  contenders: readonly Contender[],
  load: Child<LoadCommands>,
  { rounds }: Effort,
) {
  const updates = new Map<Contender, number[]>();
  for (let round = 0; round <= Math.min(rounds, 4); round++) {
    for (const contender of contenders) {
      if (!contender.changeAll || contender.name === 'static') continue;
      const tookMs = await contender.changeAll(round + 1);
      const asked = { port: contender.port, path: '/metrics', gzip: false, scrapers: 1, count: 1, maxMs: 0 };
      const { latenciesMs } = await load.ask('scrape', asked);
      if (round > 0)
        updates.set(contender, [...(updates.get(contender) ?? []), tookMs + (latenciesMs[0] ?? Number.NaN)]);
    }
  }
  return updates;
}

const polledPerSecond = 300;

/** The longest stall of each round, in milliseconds: scraped with and without gzip, and polled meanwhile. */
async function measureStalls(
  contenders: readonly Contender[],
  load: Child<LoadCommands>,
  folder: string,
  { rounds }: Effort,
) {
  const stalls = new Map<Contender, number[]>();
  for (let round = 0; round < Math.min(rounds, 5); round++) {
    for (const contender of contenders) {
      const { hold, port } = contender;
      if (!hold) continue;
      await sleep(settlingMs);
      await hold.ask('watch', { polls: { folder, version: 1 + (round % 2), perSecond: polledPerSecond } });
      for (const gzip of [false, true]) {
        await load.ask('scrape', { port, path: '/metrics', gzip, scrapers: 1, count: 4, maxMs: 500 });
        await sleep(200);
      }
      stalls.set(contender, [
        ...(stalls.get(contender) ?? []),
        await hold.ask('unwatch', undefined as never),
      ]);
    }
  }
  return stalls;
}

interface StalledReaders {
  readonly pageBytes: number;
  readonly grownBytes: number;
  readonly grownChangingBytes: number;
}

/** How much the exporter grows while eight readers take nothing of the page that they asked for. */
async function measureStalledReaders(
  contenders: readonly Contender[],
  load: Child<LoadCommands>,
): Promise<StalledReaders> {
  const exporter = contenders.find(({ name }) => name === 'exporter');
  if (!exporter) throw new Error('the exporter is no contender');
  const { measured, port } = exporter;
  const { bytes: pageBytes } = await load.ask('scrape', {
    port,
    path: '/metrics',
    gzip: false,
    scrapers: 1,
    count: 2,
    maxMs: 1000,
  });
  const grown = async (isChanging: boolean) => {
    await sleep(300);
    const before = measured.rssBytes();
    let most = before;
    for (let reader = 0; reader < 8; reader++) {
      if (isChanging) await exporter.change(100 + reader, 'contiguous');
      await load.ask('stall', { port, path: '/metrics', gzip: false });
      most = Math.max(most, measured.rssBytes());
    }
    await load.ask('release', undefined as never);
    return most - before;
  };
  return { pageBytes, grownBytes: await grown(false), grownChangingBytes: await grown(true) };
}

interface Results {
  readonly contenders: readonly Contender[];
  readonly scale: Scale;
  readonly size: { readonly series: number; readonly targets: number };
  readonly results: ReadonlyMap<Phase, ReadonlyMap<Contender, Figures>>;
  readonly rss: ReadonlyMap<Contender, number[]>;
  readonly updates: ReadonlyMap<Contender, number[]>;
  readonly stalls: ReadonlyMap<Contender, number[]>;
  readonly stalled: StalledReaders;
}

const titles: Readonly<Record<string, string>> = {
  static: 'static Buffer',
  'prom-client': 'prom-client',
  pushgateway: 'pushgateway',
};

function present(all: Results): Part {
  const { contenders, size, results, rss, updates, stalls, stalled } = all;
  const [exporter, ...others] = contenders;
  if (!exporter) throw new Error('there is no contender');
  const series = size.series.toLocaleString('en');
  const columns = (of: string) => [of, 'exporter', ...others.map(({ name }) => titles[name] ?? name)];
  const against = (own: number, of: (contender: Contender) => number) =>
    others.map((other) => times(of(other) / own));
  const perPhase = (title: string, figure: (figures: Figures) => number): Table => ({
    title: `${title}, ${series} series`,
    columns: columns('scrape'),
    rows: [...results].map(([phase, figures]) => {
      const of = (contender: Contender) => figure(figures.get(contender) as Figures);
      return [nameOf(phase), milliseconds(of(exporter)), ...against(of(exporter), of)];
    }),
  });
  const p50 = ({ roundsMs }: Figures) => median(roundsMs);
  const p99 = ({ latenciesMs }: Figures) => percentile(latenciesMs, 99);
  const cpu = ({ cpuMs }: Figures) => mean(cpuMs);

  const rssOf = (contender: Contender) => median(rss.get(contender) ?? []);
  const stallOf = (contender: Contender) => median(stalls.get(contender) ?? []);
  const updateOf = (contender: Contender) => median(updates.get(contender) ?? []);
  const rest: Table = {
    title: `Memory, stalls and updates, ${series} series`,
    columns: columns(''),
    rows: [
      ['resident memory', megabytes(rssOf(exporter)), ...against(rssOf(exporter), rssOf)],
      [
        'longest stall of the event loop, scraped and polled',
        milliseconds(stallOf(exporter)),
        ...against(stallOf(exporter), stallOf),
      ],
      [
        'every value changed, then served',
        milliseconds(updateOf(exporter)),
        ...against(updateOf(exporter), updateOf),
      ],
      ['growth by eight readers that stall, of one page', plain(stalled.grownBytes / stalled.pageBytes)],
      [
        'the same, a fifth changed before each of them',
        plain(stalled.grownChangingBytes / stalled.pageBytes),
      ],
    ],
  };
  return {
    tables: [
      perPhase('Latency, median', p50),
      perPhase('Latency, 99th percentile', p99),
      perPhase('CPU a scrape', cpu),
      rest,
    ],
    aims: aimsOf(all, { p50, cpu, rssOf, stallOf, updateOf }),
    words: [wordsOf(all, { p50, rssOf })],
  };
}

function wordsOf(
  { contenders, results, size }: Results,
  { p50, rssOf }: Pick<Measures, 'p50' | 'rssOf'>,
): string {
  const [exporter] = contenders;
  const phase = phases.find(
    ({ gzip, change, scrapers }) => gzip && change === 'contiguous' && scrapers === 1,
  );
  const figures = exporter && phase && results.get(phase)?.get(exporter);
  if (!exporter || !figures) throw new Error('the exporter was not measured');
  return (
    `**${size.series.toLocaleString('en')} series** (${size.targets} targets) are held in ${megabytes(rssOf(exporter))}. ` +
    `A compressed scrape of them takes ${milliseconds(p50(figures))}, after a fifth of the applications was polled anew.`
  );
}

interface Measures {
  readonly p50: (figures: Figures) => number;
  readonly cpu: (figures: Figures) => number;
  readonly rssOf: (contender: Contender) => number;
  readonly stallOf: (contender: Contender) => number;
  readonly updateOf: (contender: Contender) => number;
}

function aimsOf({ contenders, scale, results, stalled }: Results, measures: Measures): Aim[] {
  const { p50, cpu, rssOf, stallOf, updateOf } = measures;
  const known = (name: string) => contenders.find((contender) => contender.name === name);
  const exporter = known('exporter');
  const buffer = known('static');
  const promClient = known('prom-client');
  const pushgateway = known('pushgateway');
  if (!exporter || !buffer || !promClient) throw new Error('a contender is missing');
  /** over's figure as a multiple of under's, at one scraper. */
  const ratio = (
    over: Contender,
    under: Contender,
    at: { gzip: boolean; change?: Change; isNarrowed?: boolean },
    figure = p50,
  ) => {
    const { gzip, change = 'nothing', isNarrowed = false } = at;
    const phase = phases.find(
      (one) =>
        one.scrapers === 1 &&
        one.gzip === gzip &&
        one.change === change &&
        (one.isNarrowed ?? false) === isNarrowed,
    );
    const figures = phase && results.get(phase);
    const of = (contender: Contender) => {
      const own = figures?.get(contender);
      return own ? figure(own) : Number.NaN;
    };
    return of(over) / of(under);
  };
  if (scale === 'medium') return [];
  if (scale === 'small') {
    const narrowed = { gzip: false, isNarrowed: true };
    return [
      {
        ...atLeast(
          '600 series, identity: prom-client takes',
          5,
          ratio(promClient, exporter, { gzip: false }),
        ),
        why:
          "Without the exporter's own metrics " +
          `it is ${times(ratio(promClient, exporter, narrowed))}; the static Buffer, which renders nothing, gets ` +
          `${times(ratio(promClient, buffer, narrowed))}.`,
      },
    ];
  }
  const changed = { gzip: true, change: 'contiguous' } as const;
  const gzipped = ratio(exporter, buffer, { gzip: true });
  const aims: Aim[] = [
    atMost('scrape, identity, against the static Buffer', 1.2, ratio(exporter, buffer, { gzip: false })),
    {
      ...atMost('scrape, gzip, nothing changed, against the static gzip Buffer', 1.2, gzipped),
      why:
        "Without the exporter's own metrics it is " +
        `${times(ratio(exporter, buffer, { gzip: true, isNarrowed: true }))}.`,
    },
    atLeast('scrape, gzip, a fifth changed: prom-client takes', 20, ratio(promClient, exporter, changed)),
    ...(pushgateway
      ? [
          atLeast(
            'scrape, gzip, a fifth changed: pushgateway takes',
            20,
            ratio(pushgateway, exporter, changed),
          ),
        ]
      : []),
    atLeast('CPU of that scrape: prom-client takes', 8, ratio(promClient, exporter, changed, cpu)),
    atMost(
      'longest stall of the event loop, against the static server',
      1.5,
      stallOf(exporter) / stallOf(buffer),
    ),
    atMost('resident memory against prom-client', 0.25, rssOf(exporter) / rssOf(promClient)),
    atLeast(
      'updating every value and serving the page: prom-client takes',
      20,
      updateOf(promClient) / updateOf(exporter),
    ),
  ];
  return [
    ...aims,
    {
      what: 'memory growth by eight stalled readers',
      wanted: '< 1 page',
      measured: `${plain(stalled.grownBytes / stalled.pageBytes)} pages`,
      met: stalled.grownBytes < stalled.pageBytes,
    },
  ];
}
