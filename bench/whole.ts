/**
 * The whole exporter while it polls every target in a minute and is scraped: the longest stall of its event loop beside
 * that of a server that only sends, and the memory of all its parts together.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExportCommands } from './children/export.ts';
import type { HoldCommands } from './children/hold.ts';
import type { LoadCommands } from './children/load.ts';
import type { SimulateCommands } from './children/simulate.ts';
import { shapes } from './datasets.ts';
import { log } from './log.ts';
import { fetchPage, untilReady } from './pages.ts';
import { Child } from './processes.ts';
import { atMost, megabytes, milliseconds, type Part, times } from './report.ts';
import { median } from './statistics.ts';

const pace = { intervalMs: 40_000, requestsPerSecond: 2000, maxConcurrency: 16, timeoutMs: 10_000 };

export async function measureWhole(quick: boolean): Promise<Part> {
  const shape = quick ? shapes.medium : shapes.full;
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-bench-`);
  const simulator = new Child<SimulateCommands>('simulator', 'simulate');
  const exporter = new Child<ExportCommands>('exporter', 'export');
  const load = new Child<LoadCommands>('load generator', 'load');
  const started: Child<HoldCommands>[] = [];
  try {
    const origin = await simulator.ask('start', { shape });
    const port = await exporter.ask('start', { origin, shape, pace });
    await untilReady(port);
    log('every target was polled');
    await untilPolling(simulator);
    writeFileSync(`${folder}/page.txt`, await fetchPage(port));
    const buffer = new Child<HoldCommands>('static', 'hold', ['static', `${folder}/page.txt`]);
    started.push(buffer);
    const bufferPort = await buffer.ask('serve', undefined as never);

    const scrape = async (of: number) => {
      let bytes = 0;
      for (const gzip of [false, true, false, true]) {
        const asked = { port: of, path: '/metrics', gzip, scrapers: 1, count: 1, maxMs: 0 };
        const scraped = await load.ask('scrape', asked);
        if (!gzip) bytes = scraped.bytes;
        await sleep(300);
      }
      return bytes;
    };
    const own: number[] = [];
    const others: number[] = [];
    const rss: number[] = [];
    let pageBytes = await scrape(port);
    await scrape(bufferPort);
    const answered = await simulator.ask('answered', undefined as never);
    const sinceMs = performance.now();
    for (let round = 0; round < (quick ? 2 : 7); round++) {
      await exporter.ask('watch', undefined as never);
      pageBytes = await scrape(port);
      own.push(await exporter.ask('unwatch', undefined as never));
      rss.push(exporter.rssBytes());
      await buffer.ask('watch', {});
      await scrape(bufferPort);
      others.push(await buffer.ask('unwatch', undefined as never));
    }
    const polls = (await simulator.ask('answered', undefined as never)) - answered;
    const perSecond = Math.round(polls / ((performance.now() - sinceMs) / 1000));
    const ratio = median(own) / median(others);
    const name = `${(pageBytes / 1e6).toFixed(0)} MB of page, ${perSecond} polls a second`;
    return {
      tables: [
        {
          title: 'The whole exporter, polling and scraped',
          columns: ['', 'exporter', 'static Buffer'],
          rows: [
            [`longest stall of the event loop (${name})`, milliseconds(median(own)), times(1 / ratio)],
            ['resident memory', megabytes(median(rss)), times(buffer.rssBytes() / median(rss))],
          ],
        },
      ],
      aims: [
        atMost('longest stall of the event loop, scraped and polled, against the static server', 1.5, ratio),
      ],
    };
  } finally {
    await Promise.all([exporter, simulator, load, ...started].map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  }
}

/** After the first polls there is a rest of half an interval. */
async function untilPolling(simulator: Child<SimulateCommands>): Promise<void> {
  const deadlineMs = performance.now() + pace.intervalMs;
  let before = await simulator.ask('answered', undefined as never);
  while (performance.now() < deadlineMs) {
    await sleep(1000);
    const answered = await simulator.ask('answered', undefined as never);
    if (answered - before > 20) return;
    before = answered;
  }
  throw new Error('the exporter polls no more');
}
