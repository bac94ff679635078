/** What a small account costs: CPU of an idle minute and of an hour of polls and scrapes, memory, and the bytes of the page. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Shape, scales } from '../simulator/dataset.ts';
import { resources } from '../src/resources/kinds/index.ts';
import type { Build } from './builds.ts';
import { type Account, createAccount, fetchPage, untilReady } from './program.ts';
import { atMost, besideOther, log, megabytes, milliseconds, type Part, plain, times } from './report.ts';
import { Scraper } from './scraper.ts';

/** 20 pull zones, 18 of them with Shield, and what the demo has of other products. */
const shape: Shape = { ...scales.small, zones: 18, libraries: 2 };
/** An hour of polls and scrapes is done so many times as fast. */
const speed = 12;
const scrapeIntervalMs = 15_000 / speed;
const hourMs = 3_600_000 / speed;
const minuteMs = 60_000;

interface Figures {
  readonly name: string;
  /** CPU of a minute in which nothing is polled or scraped. */
  readonly idleMs: number;
  /** CPU of an hour. */
  readonly hourCpuMs: number;
  readonly rssBytes: number;
  readonly series: number;
  /** Of the demo's page. */
  readonly gzipBytes: number;
  readonly gzip6Bytes: number;
}

/** Starts each build; resolves once all have polled everything. */
async function startAll(
  builds: readonly Build[],
  account: Account,
  options: Parameters<Account['everything']>[0],
  settleMs = 5000,
) {
  const document = account.everything({
    ...options,
    api: () => ({ requests_per_second: 1_000, max_concurrency: 32 }),
  });
  const interval = options?.interval ?? `${600 / speed}s`;
  const exporters = await Promise.all(
    builds.map((build) => account.start({ ...document, discovery: { interval } }, { build })),
  );
  for (const exporter of exporters) await untilReady(exporter);
  await sleep(settleMs);
  return exporters;
}

/** All builds at the same time. */
async function measureIdle(builds: readonly Build[], quick: boolean) {
  const account = await createAccount(scales.small);
  // For a minute after the last poll, connections end and V8 gives memory back.
  const exporters = await startAll(builds, account, { interval: '1d', staleAfter: '3d' }, 90_000);
  try {
    const before = exporters.map(({ measured }) => measured.cpuMs());
    const forMs = quick ? 20_000 : minuteMs;
    await sleep(forMs);
    const idleMs = exporters.map(
      ({ measured }, at) => ((measured.cpuMs() - (before[at] ?? 0)) * minuteMs) / forMs,
    );
    log('an idle minute');
    const pages = await Promise.all(
      exporters.map(async ({ port }) => ({
        gzipBytes: (await fetchPage(port, '/metrics', true)).length,
        gzip6Bytes: gzipSync(await fetchPage(port), { level: 6 }).length,
      })),
    );
    return pages.map((page, at) => ({ ...page, idleMs: idleMs[at] ?? Number.NaN }));
  } finally {
    await Promise.all([account, ...exporters.map(({ measured }) => measured)].map((one) => one.stop()));
  }
}

/**
 * All builds at the same time. Intervals are divided by `speed`, so a part of an hour has all the polls and scrapes of an hour. What it
 * lacks are idle minutes, which are added. It is their second hour: an exporter runs for weeks, and in the first V8 compiles most of what
 * is run often.
 */
async function measureHour(builds: readonly Build[], idleMs: readonly number[], quick: boolean) {
  const account = await createAccount(shape);
  const sections = Object.fromEntries(
    resources.map(({ kind, defaultIntervalSeconds }) => [
      kind,
      { interval: `${Math.max(1, Math.round(defaultIntervalSeconds / speed))}s`, stale_after: '2h' },
    ]),
  );
  const exporters = await startAll(builds, account, { sections });
  const scrapers = exporters.map(({ port }) => new Scraper(port, true));
  try {
    const forMs = quick ? hourMs / 10 : hourMs;
    const pass = async () => {
      const untilMs = performance.now() + forMs;
      for (let round = 1; performance.now() < untilMs; round++) {
        for (const scraper of scrapers) await scraper.scrape();
        await sleep(untilMs - forMs + round * scrapeIntervalMs - performance.now());
      }
    };
    await pass();
    const before = exporters.map(({ measured }) => measured.cpuMs());
    await pass();
    const factor = hourMs / forMs;
    const idleMinutes = (hourMs * (speed - 1)) / minuteMs;
    const figures = exporters.map(({ measured }, at) => ({
      hourCpuMs: (measured.cpuMs() - (before[at] ?? 0)) * factor + (idleMs[at] ?? 0) * idleMinutes,
      rssBytes: measured.rssBytes(),
    }));
    const pages = await Promise.all(exporters.map(({ port }) => fetchPage(port)));
    log('an hour of a small account');
    return figures.map((each, at) => ({
      ...each,
      series: pages[at]?.toString().match(/^[^#\n]/gm)?.length ?? 0,
    }));
  } finally {
    for (const scraper of scrapers) scraper.close();
    await Promise.all([account, ...exporters.map(({ measured }) => measured)].map((one) => one.stop()));
  }
}

export async function measureSmallAccount(builds: readonly Build[], quick: boolean): Promise<Part> {
  const idle = await measureIdle(builds, quick);
  const hours = await measureHour(
    builds,
    idle.map(({ idleMs }) => idleMs),
    quick,
  );
  const all = builds.map(({ name }, at) => ({ name, ...idle[at], ...hours[at] }) as Figures);
  const [own, other] = all;
  if (!own) throw new Error('there is no build to measure');
  const limitMs = 20;
  const bytesRatio = ({ gzipBytes, gzip6Bytes }: Figures) => gzipBytes / gzip6Bytes;
  return {
    aims: [
      {
        what: 'CPU of an idle minute: no poll is due, no scrape comes',
        wanted: `≤ ${limitMs} ms`,
        other: milliseconds(other?.idleMs),
        measured: milliseconds(own.idleMs),
        met: own.idleMs <= limitMs,
      },
      ...besideOther(
        'CPU of an hour of a small account, a scrape every 15 s',
        1,
        own.hourCpuMs,
        other?.hourCpuMs,
      ),
      atMost(
        'bytes of the page of the demo with gzip, against gzip -6',
        1.3,
        bytesRatio(own),
        other && bytesRatio(other),
      ),
    ],
    tables: [
      {
        title: 'A small account',
        note: `20 pull zones, 12 applications and more: ${own.series.toLocaleString('en')} series, every kind at its own interval, a scrape every 15 s.`,
        columns: ['', 'memory', 'CPU of an hour', 'CPU of an idle minute'],
        rows: all.map(({ name, rssBytes, hourCpuMs, idleMs }) => [
          name,
          megabytes(rssBytes),
          `${plain(hourCpuMs / 1000)} s`,
          milliseconds(idleMs),
        ]),
        isForUsers: true,
      },
      {
        title: 'The page of the demo with gzip',
        columns: ['', 'bytes', 'gzip -6', 'against it'],
        rows: all.map((figures) => [
          figures.name,
          figures.gzipBytes.toLocaleString('en'),
          figures.gzip6Bytes.toLocaleString('en'),
          times(bytesRatio(figures)),
        ]),
      },
    ],
  };
}
