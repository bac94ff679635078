/**
 * Scrapes of the same page from each contender: latency, CPU and memory. The contenders take turns within each round, so that
 * other load on the machine affects all of them alike.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shape, scales } from '../src/simulator/dataset.ts';
import type { Scale } from '../src/simulator/kind.ts';
import type { HoldCommands, Mode } from './children/hold.ts';
import { Child, type Measured } from './processes.ts';
import { type Account, createAccount, fetchPage, untilReady } from './program.ts';
import {
  type Aim,
  atLeast,
  atMost,
  log,
  median,
  megabytes,
  milliseconds,
  type Part,
  type Table,
  times,
} from './report.ts';
import { Scraper } from './scraper.ts';

interface Contender {
  readonly name: string;
  readonly measured: Measured;
  readonly port: number;
}

/** Medians. */
interface Figures {
  readonly latencyMs: number;
  readonly cpuMs: number;
}
type Results = readonly Figures[];

/** About 600, 60,000 and 600,000 series. */
const shapes: Readonly<Record<Scale, Shape>> = {
  small: scales.small,
  medium: { ...scales.medium, applications: 70 },
  full: { ...scales.full, applications: 700 },
};
/** The only kinds of the small account. */
const kindsOfSmall = ['application', 'shield_zone', 'api_guardian', 'rate_limit', 'video_storage'];
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

export async function measureScrapes(scale: Scale, quick: boolean): Promise<Part> {
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-bench-`);
  const account = await createAccount(shapes[scale]);
  const started: Measured[] = [];
  try {
    const exporter = await startExporter(account, scale, '1d');
    started.push(exporter.measured);
    const page = await fetchPage(exporter.port);
    writeFileSync(`${folder}/page.txt`, page);
    const hold = async (name: string, mode: Mode): Promise<Contender & { measured: Child<HoldCommands> }> => {
      const measured = new Child<HoldCommands>(name, 'hold', [mode, `${folder}/page.txt`]);
      started.push(measured);
      return { name, measured, port: await measured.ask('serve', undefined as never) };
    };
    const promClient = await hold('prom-client', 'prom-client');
    const contenders = [exporter, await hold('static Buffer', 'buffer'), promClient];
    const series = rowsOf(page);
    const held = rowsOf(await fetchPage(promClient.port));
    if (held !== series) throw new Error(`prom-client holds ${held} series, not ${series}`);
    log(`${scale}: ${series} series`);

    const effort = effortOf(quick);
    const unchanged = {
      identity: await scrapeUnchanged(contenders, false, effort),
      gzip: await scrapeUnchanged(contenders, true, effort),
    };
    const memory = contenders.map(({ measured }) => measured.rssBytes());
    await exporter.measured.stop();
    log(`${scale}: nothing changed`);
    const changing =
      scale === 'medium' ? await measureChanging(account, contenders, effort, started) : undefined;
    const updates = await measureUpdates(await hold('exporter', 'store'), promClient, quick);
    log(`${scale}: every value changed`);
    return present({
      scale,
      series,
      names: contenders.map(({ name }) => name),
      unchanged,
      memory,
      changing,
      updates,
    });
  } finally {
    await Promise.all([account, ...started].map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  }
}

async function startExporter(account: Account, scale: Scale, interval: string): Promise<Contender> {
  const document = account.everything({
    ...(scale === 'small' && { kinds: kindsOfSmall }),
    interval,
    staleAfter: '3d',
    // Everything is polled within half a minute.
    api: (_, polls) => ({ requests_per_second: Math.max(10, Math.ceil(polls / 30)), max_concurrency: 32 }),
  });
  const exporter = await account.start(document);
  await untilReady(exporter);
  return { name: 'exporter', ...exporter };
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
): Promise<Results> {
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

/** One scrape of each contender in each round, with gzip, while the exporter polls as in the demo. */
async function measureChanging(
  account: Account,
  [, ...others]: readonly Contender[],
  { changingRounds }: Effort,
  started: Measured[],
): Promise<Results> {
  const exporter = await startExporter(account, 'medium', intervalOfDemo);
  started.push(exporter.measured);
  const contenders = [exporter, ...others];
  const scrapers = contenders.map(({ port }) => new Scraper(port, true));
  const all = contenders.map(() => [] as Figures[]);
  for (let round = 0; round <= changingRounds; round++) {
    const pollingBefore = exporter.measured.cpuMs();
    await sleep(scrapeIntervalMs);
    const pollingPerMs = (exporter.measured.cpuMs() - pollingBefore) / scrapeIntervalMs;
    for (const [at, { measured }] of contenders.entries()) {
      const cpuBefore = measured.cpuMs();
      const latencyMs = (await scrapers[at]?.scrape()) ?? Number.NaN;
      // Its threads may still work for the page.
      await sleep(20);
      const polling = at === 0 ? pollingPerMs * (latencyMs + 20) : 0;
      if (round > 0) all[at]?.push({ latencyMs, cpuMs: measured.cpuMs() - cpuBefore - polling });
    }
  }
  for (const scraper of scrapers) scraper.close();
  await exporter.measured.stop();
  log('medium: polls of all kinds, spread as in the demo');
  return all.map(medians);
}

function medians(figures: readonly Figures[]): Figures {
  return {
    latencyMs: median(figures.map(({ latencyMs }) => latencyMs)),
    cpuMs: median(figures.map(({ cpuMs }) => cpuMs)),
  };
}

interface Updates {
  readonly exporterMs: number;
  readonly promClientMs: number;
}

/** Milliseconds for storing every value and serving the page: the exporter's store and prom-client's gauges. */
async function measureUpdates(
  store: { measured: Child<HoldCommands>; port: number },
  promClient: { measured: Child<HoldCommands>; port: number },
  quick: boolean,
): Promise<Updates> {
  const took = [store, promClient].map(() => [] as number[]);
  for (let round = 0; round <= (quick ? 1 : 4); round++) {
    for (const [at, { measured, port }] of [store, promClient].entries()) {
      const storedMs = await measured.ask('changeAll', { by: round + 1 });
      const scraper = new Scraper(port, false);
      const servedMs = await scraper.scrape();
      scraper.close();
      if (round > 0) took[at]?.push(storedMs + servedMs);
    }
  }
  const [exporterMs = Number.NaN, promClientMs = Number.NaN] = took.map(median);
  return { exporterMs, promClientMs };
}

interface Measurements {
  readonly scale: Scale;
  readonly series: number;
  readonly names: readonly string[];
  readonly unchanged: { readonly identity: Results; readonly gzip: Results };
  /** In bytes. */
  readonly memory: readonly number[];
  readonly changing: Results | undefined;
  readonly updates: Updates;
}

function present(measurements: Measurements): Part {
  const { scale, series, names, unchanged, memory, changing, updates } = measurements;
  const perFigure = (what: string, results: Results) => [
    [`${what}: latency`, ...results.map(({ latencyMs }) => milliseconds(latencyMs))],
    [`${what}: CPU`, ...results.map(({ cpuMs }) => milliseconds(cpuMs))],
  ];
  const table: Table = {
    title: `Scrapes of ${series.toLocaleString('en')} series`,
    columns: ['', ...names],
    rows: [
      ['memory', ...memory.map(megabytes)],
      ...perFigure('nothing polled since, gzip', unchanged.gzip),
      ...perFigure('nothing polled since, identity', unchanged.identity),
      ...(changing ? perFigure('polls of all kinds spread as in the demo, gzip', changing) : []),
      [
        'every value changed and served',
        milliseconds(updates.exporterMs),
        '-',
        milliseconds(updates.promClientMs),
      ],
    ],
    isForUsers: true,
  };
  return { tables: [table], aims: aimsOf[scale](measurements) };
}

/** How many times the exporter's figure another contender's is. */
function against(contender: 1 | 2, results: Results, figure: keyof Figures = 'latencyMs'): number {
  return (results[contender]?.[figure] ?? Number.NaN) / (results[0]?.[figure] ?? Number.NaN);
}

const aimsOf: Readonly<Record<Scale, (measurements: Measurements) => readonly Aim[]>> = {
  small: ({ unchanged }) => [
    atLeast('page of 600 series, gzip: prom-client takes', 5, against(2, unchanged.gzip)),
  ],
  medium: ({ changing = [] }) => [
    atLeast('60,000 series, polled as in the demo, gzip: prom-client takes', 12, against(2, changing)),
    {
      what: 'the same page against the static Buffer',
      wanted: 'stated',
      measured: `${times(1 / against(1, changing))} by the clock, ${times(1 / against(1, changing, 'cpuMs'))} by CPU`,
      met: true,
    },
  ],
  full: ({ unchanged, updates, memory: [own = Number.NaN, , ofPromClient = Number.NaN] }) => [
    atMost('unchanged page, identity, against the static Buffer', 1.3, 1 / against(1, unchanged.identity)),
    atMost('unchanged page, gzip, against the static Buffer', 1.3, 1 / against(1, unchanged.gzip)),
    atLeast(
      'every value changed and served: prom-client takes',
      4,
      updates.promClientMs / updates.exporterMs,
    ),
    atMost('memory at 600,000 series against prom-client', 0.5, own / ofPromClient),
  ],
};
