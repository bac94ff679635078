/**
 * Scrapes of the same page of 60,000 series from each contender: latency, CPU and memory. The contenders take turns within each
 * round, so that other load on the machine affects all of them alike.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shape, scales } from '../simulator/dataset.ts';
import type { Build } from './builds.ts';
import type { HoldCommands } from './children/hold.ts';
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
}

function effortOf(quick: boolean): Effort {
  if (quick) return { rounds: 2, scrapesPerRound: 10, maxMsPerRound: 300, changingRounds: 2 };
  return { rounds: 7, scrapesPerRound: 40, maxMsPerRound: 400, changingRounds: 30 };
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
    const measured = new Child<HoldCommands>('prom-client', 'hold', [`${folder}/page.txt`]);
    started.push(measured);
    const port = await measured.ask('serve', undefined);
    const promClient: Contender = { name: 'prom-client', measured, port };
    const series = rowsOf(page);
    const held = rowsOf(await fetchPage(promClient.port));
    if (held !== series) throw new Error(`prom-client holds ${held} series, not ${series}`);
    log(`${series} series`);

    const effort = effortOf(quick);
    const contenders = [...exporters, promClient];
    const identity = await scrapeUnchanged(contenders, false, effort);
    const gzip = await scrapeUnchanged(contenders, true, effort);
    await Promise.all(exporters.map(({ measured }) => measured.stop()));
    log('nothing changed');
    const polling = await startAll(intervalOfDemo);
    const changing = await scrapeChanging([...polling, promClient], builds.length, effort);
    // While polls go on, as they do with every user. Without them V8 keeps what the start has left.
    const memory = [...polling, promClient].map(({ measured }) => measured.rssBytes());
    await Promise.all(polling.map(({ measured }) => measured.stop()));
    log('polls of all kinds, spread as in the demo');
    const names = contenders.map(({ name }) => name);
    return present({ series, names, identity, gzip, memory, changing });
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

/** The contenders are the builds and prom-client. */
interface Measurements {
  readonly series: number;
  readonly names: OfEach<string>;
  readonly identity: OfEach<Figures>;
  readonly gzip: OfEach<Figures>;
  readonly memory: OfEach<number>;
  readonly changing: OfEach<Figures>;
}

function present(measurements: Measurements): Part {
  const { series, names, identity, gzip, memory, changing } = measurements;
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
    ],
    isForUsers: true,
  };
  return { tables: [table], aims: aimsOf(measurements) };
}

function aimsOf({ gzip, memory, changing }: Measurements): readonly Aim[] {
  const cpuOf = (results: OfEach<Figures>) => results.map(({ cpuMs }) => cpuMs);
  const scrape = 'CPU of a scrape of 60,000 series, polled as in the demo, gzip';
  return [
    ...ofBuilds(scrape, 1.1, cpuOf(changing)),
    atLeast(`${scrape}: prom-client takes`, 10, ...besidePromClient(cpuOf(changing))),
    ...ofBuilds('CPU of an unchanged page of 60,000 series, gzip', 2, cpuOf(gzip)),
    ...ofBuilds('memory at 60,000 series', 1, memory),
    atMost('memory at 60,000 series, against prom-client', 0.6, ...inverse(besidePromClient(memory))),
  ];
}

/** This build beside the other one, if there is one. */
function ofBuilds(what: string, limit: number, figures: OfEach<number>): readonly Aim[] {
  const [own, other] = figures.slice(0, -1);
  return besideOther(what, limit, own, other);
}

type Ratios = [ofThis: number, ofOther?: number];

/** How many times each build's figure that of prom-client is. */
function besidePromClient(figures: OfEach<number>): Ratios {
  const figure = figures.at(-1) ?? Number.NaN;
  const [own, other] = figures.slice(0, -1).map((ofBuild) => figure / ofBuild);
  return [own ?? Number.NaN, ...(other === undefined ? [] : [other])] as Ratios;
}

function inverse(ratios: Ratios): Ratios {
  return ratios.map((ratio = Number.NaN) => 1 / ratio) as Ratios;
}
