/**
 * Scrapes of the same page of 60,000 series from each contender: latency, CPU and memory. The contenders take turns within each
 * round, so that other load on the machine affects all of them alike.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shape, scales } from '../simulator/dataset.ts';
import type { Build } from './builds.ts';
import type { HoldCommands, Mode } from './children/hold.ts';
import { Child, type Measured } from './processes.ts';
import { type Account, createAccount, fetchPage, untilReady } from './program.ts';
import {
  type Aim,
  atLeast,
  atMost,
  besideOther,
  log,
  median,
  megabytes,
  milliseconds,
  type Part,
  type Table,
} from './report.ts';
import { Scraper } from './scraper.ts';

interface Contender {
  readonly name: string;
  readonly measured: Measured;
  readonly port: number;
}

/** A contender's medians. */
interface Figures {
  readonly latencyMs: number;
  readonly cpuMs: number;
}

/** One of each contender, in their order. */
type OfEach<Figure> = readonly Figure[];

const shape: Shape = { ...scales.medium, applications: 70 };
/** As in the demo, polls of all kinds are spread over this time. A tenth of the targets is polled between two scrapes. */
const intervalOfDemo = '30s';
const scrapeIntervalMs = 3_000;

interface Effort {
  readonly rounds: number;
  readonly scrapesPerRound: number;
  readonly maxMsPerRound: number;
  readonly changingRounds: number;
  readonly updateRounds: number;
}

function effortOf(quick: boolean): Effort {
  if (quick)
    return { rounds: 2, scrapesPerRound: 10, maxMsPerRound: 300, changingRounds: 2, updateRounds: 1 };
  return { rounds: 7, scrapesPerRound: 40, maxMsPerRound: 400, changingRounds: 30, updateRounds: 4 };
}

export async function measureScrapes(builds: readonly Build[], quick: boolean): Promise<Part> {
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-bench-`);
  const account = await createAccount(shape);
  const started: Measured[] = [];
  const startAll = async (interval: string): Promise<Contender[]> => {
    const exporters = [];
    for (const build of builds) exporters.push(await startExporter(account, build, interval));
    started.push(...exporters.map(({ measured }) => measured));
    for (const exporter of exporters) await untilReady(exporter);
    return exporters;
  };
  try {
    const exporters = await startAll('1d');
    const page = await fetchPage(exporters[0]?.port ?? 0);
    writeFileSync(`${folder}/page.txt`, page);
    const hold = async (name: string, mode: Mode): Promise<Contender & { measured: Child<HoldCommands> }> => {
      const measured = new Child<HoldCommands>(name, 'hold', [mode, `${folder}/page.txt`]);
      started.push(measured);
      return { name, measured, port: await measured.ask('serve', undefined as never) };
    };
    const promClient = await hold('prom-client', 'prom-client');
    const others = [await hold('static Buffer', 'buffer'), promClient];
    const series = rowsOf(page);
    const held = rowsOf(await fetchPage(promClient.port));
    if (held !== series) throw new Error(`prom-client holds ${held} series, not ${series}`);
    log(`${series} series`);

    const effort = effortOf(quick);
    const contenders = [...exporters, ...others];
    const identity = await scrapeUnchanged(contenders, false, effort);
    const gzip = await scrapeUnchanged(contenders, true, effort);
    const memory = contenders.map(({ measured }) => measured.rssBytes());
    await Promise.all(exporters.map(({ measured }) => measured.stop()));
    log('nothing changed');
    const polling = await startAll(intervalOfDemo);
    const changing = await scrapeChanging([...polling, ...others], builds.length, effort);
    await Promise.all(polling.map(({ measured }) => measured.stop()));
    log('polls of all kinds, spread as in the demo');
    const updates = await measureUpdates(await hold('store', 'store'), promClient, effort);
    log('every value changed');
    const names = contenders.map(({ name }) => name);
    return present({ series, names, identity, gzip, memory, changing, updates });
  } finally {
    await Promise.all([account, ...started].map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  }
}

function startExporter(account: Account, build: Build, interval: string) {
  const document = account.everything({
    interval,
    staleAfter: '3d',
    // Everything is polled within half a minute.
    api: (_, polls) => ({ requests_per_second: Math.max(10, Math.ceil(polls / 30)), max_concurrency: 32 }),
  });
  return account.start(document, { build });
}

/** How many series a page has, without the contenders' own. */
function rowsOf(page: Buffer): number {
  return page.toString().match(/^bunnynet_(?!exporter_)/gm)?.length ?? 0;
}

/** Many scrapes of each contender in each round. */
async function scrapeUnchanged(
  contenders: readonly Contender[],
  gzip: boolean,
  { rounds, scrapesPerRound, maxMsPerRound }: Effort,
): Promise<OfEach<Figures>> {
  const scrapers = contenders.map(({ port }) => new Scraper(port, gzip));
  const all = contenders.map(() => [] as Figures[]);
  // The first round fills caches and warms up the code.
  for (let round = 0; round <= rounds; round++) {
    for (const [at, { measured }] of contenders.entries()) {
      const latencies: number[] = [];
      const cpuBefore = measured.cpuMs();
      const startedMs = performance.now();
      while (latencies.length < scrapesPerRound && performance.now() - startedMs < maxMsPerRound) {
        latencies.push((await scrapers[at]?.scrape()) ?? Number.NaN);
      }
      const cpuMs = (measured.cpuMs() - cpuBefore) / latencies.length;
      if (round > 0) all[at]?.push({ latencyMs: median(latencies), cpuMs });
    }
  }
  for (const scraper of scrapers) scraper.close();
  return all.map(medians);
}

/** One scrape of each contender in each round, with gzip. polling: how many of them, the first ones, poll as in the demo. */
async function scrapeChanging(
  contenders: readonly Contender[],
  polling: number,
  { changingRounds }: Effort,
): Promise<OfEach<Figures>> {
  const scrapers = contenders.map(({ port }) => new Scraper(port, true));
  const all = contenders.map(() => [] as Figures[]);
  for (let round = 0; round <= changingRounds; round++) {
    const cpuOfEach = () => contenders.map(({ measured }) => measured.cpuMs());
    const before = cpuOfEach();
    await sleep(scrapeIntervalMs);
    const pollingPerMs = cpuOfEach().map((cpuMs, at) => (cpuMs - (before[at] ?? 0)) / scrapeIntervalMs);
    for (const [at, { measured }] of contenders.entries()) {
      const cpuBefore = measured.cpuMs();
      const latencyMs = (await scrapers[at]?.scrape()) ?? Number.NaN;
      // Its threads may still work for the page.
      await sleep(20);
      const ofPolls = at < polling ? (pollingPerMs[at] ?? 0) * (latencyMs + 20) : 0;
      if (round > 0) all[at]?.push({ latencyMs, cpuMs: measured.cpuMs() - cpuBefore - ofPolls });
    }
  }
  for (const scraper of scrapers) scraper.close();
  return all.map(medians);
}

function medians(figures: readonly Figures[]): Figures {
  return {
    latencyMs: median(figures.map(({ latencyMs }) => latencyMs)),
    cpuMs: median(figures.map(({ cpuMs }) => cpuMs)),
  };
}

interface Updates {
  readonly storeMs: number;
  readonly promClientMs: number;
}

/** Milliseconds for storing every value and serving the page: the exporter's store and prom-client's gauges. */
async function measureUpdates(
  store: { measured: Child<HoldCommands>; port: number },
  promClient: { measured: Child<HoldCommands>; port: number },
  { updateRounds }: Effort,
): Promise<Updates> {
  const took = [store, promClient].map(() => [] as number[]);
  for (let round = 0; round <= updateRounds; round++) {
    for (const [at, { measured, port }] of [store, promClient].entries()) {
      const storedMs = await measured.ask('changeAll', { by: round + 1 });
      const scraper = new Scraper(port, false);
      const servedMs = await scraper.scrape();
      scraper.close();
      if (round > 0) took[at]?.push(storedMs + servedMs);
    }
  }
  const [storeMs = Number.NaN, promClientMs = Number.NaN] = took.map(median);
  return { storeMs, promClientMs };
}

/** The contenders are the builds, the static Buffer and prom-client. */
interface Measurements {
  readonly series: number;
  readonly names: OfEach<string>;
  readonly identity: OfEach<Figures>;
  readonly gzip: OfEach<Figures>;
  readonly memory: OfEach<number>;
  readonly changing: OfEach<Figures>;
  readonly updates: Updates;
}

function present(measurements: Measurements): Part {
  const { series, names, identity, gzip, memory, changing, updates } = measurements;
  const perFigure = (what: string, results: OfEach<Figures>) => [
    [`${what}: latency`, ...results.map(({ latencyMs }) => milliseconds(latencyMs))],
    [`${what}: CPU`, ...results.map(({ cpuMs }) => milliseconds(cpuMs))],
  ];
  const table: Table = {
    title: `Scrapes of ${series.toLocaleString('en')} series`,
    columns: ['', ...names],
    rows: [
      ['memory', ...memory.map(megabytes)],
      ...perFigure('nothing polled since, gzip', gzip),
      ...perFigure('nothing polled since, identity', identity),
      ...perFigure('polls of all kinds spread as in the demo, gzip', changing),
      [
        'every value changed and served',
        milliseconds(updates.storeMs),
        ...names.slice(1, -1).map(() => '-'),
        milliseconds(updates.promClientMs),
      ],
    ],
    isForUsers: true,
  };
  return { tables: [table], aims: aimsOf(measurements) };
}

function aimsOf({ identity, gzip, memory, changing, updates }: Measurements): readonly Aim[] {
  const cpu = changing.map(({ cpuMs }) => cpuMs);
  const latency = (results: OfEach<Figures>) => results.map(({ latencyMs }) => latencyMs);
  const scrape = 'a scrape of 60,000 series, polled as in the demo, gzip';
  const [own, ofOther] = cpu;
  const other = cpu.length > 3 ? ofOther : undefined;
  return [
    ...besideOther(`CPU of ${scrape}`, 0.7, own, other),
    atLeast(`CPU of ${scrape}: prom-client takes`, 10, ...beside(-1, cpu)),
    atLeast(
      'every value changed and served, 60,000 series: prom-client takes',
      2.5,
      updates.promClientMs / updates.storeMs,
    ),
    atMost(
      'unchanged page, identity, against the static Buffer',
      1.3,
      ...inverse(beside(-2, latency(identity))),
    ),
    atMost('unchanged page, gzip, against the static Buffer', 1.7, ...inverse(beside(-2, latency(gzip)))),
    atMost('memory at 60,000 series, against prom-client', 0.6, ...inverse(beside(-1, memory))),
  ];
}

type Ratios = [ofThis: number, ofOther?: number];

/** How many times each build's figure that of the contender is. */
function beside(contender: -1 | -2, figures: OfEach<number>): Ratios {
  const figure = figures.at(contender) ?? Number.NaN;
  const [own, other] = figures.slice(0, -2).map((ofBuild) => figure / ofBuild);
  return [own ?? Number.NaN, ...(other === undefined ? [] : [other])] as Ratios;
}

function inverse(ratios: Ratios): Ratios {
  return ratios.map((ratio = Number.NaN) => 1 / ratio) as Ratios;
}
