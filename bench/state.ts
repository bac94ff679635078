/** What it takes to write the state of 60,000 counters, and to read it at a start. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { CounterBook } from '../src/polling/counter-book.ts';
import { readState, writeState } from '../src/state/file.ts';
import { type StateHead, stateVersion } from '../src/state/form.ts';
import { log, median, megabytes, milliseconds, type Part } from './report.ts';

const zones = 1_180;
/** Each with a series of its own, beside that of all others. */
const types = 50;
const limitMs = 50;
const rounds = 5;
/** Of each sample of the event loop's delay; part of what it measures. */
const resolutionMs = 5;

const clocks = { now: Date.now, uptimeMs: () => performance.now() };

/** DNS zones that have counted something today and yesterday. */
function countedBook(): { readonly book: CounterBook; readonly series: number } {
  const book = new CounterBook({ ...clocks, onBegun: () => undefined });
  const today = Math.floor(Date.now() / 86_400_000) * 86_400;
  for (let zone = 0; zone < zones; zone++) {
    const target = {
      kind: 'dns_zone',
      ids: { dns_zone_id: String(60_000 + zone) },
      baseUrl: 'https://api.bunny.net',
    };
    const counters = book.open({ ...target, account: 'account' });
    for (const round of [1, 2]) {
      const days = (figure: number) =>
        [today - 86_400, today].map((startSeconds) => ({ startSeconds, value: figure * round }));
      const reading = {
        QueriesServedChart: days(1_000_000),
        QueriesByTypeChart: Array.from({ length: types + 5 }, (_, type) =>
          days(1000 + type).map((day) => ({ ...day, key: String(type + 1) })),
        ).flat(),
      };
      const context = { ids: target.ids, name: undefined, settings: {} };
      counters?.add(context, [{ reading }], { nowMs: Date.now(), uptimeMs: performance.now() });
    }
  }
  const series = [...book.states()].flatMap(({ counters }) =>
    Object.values(counters).map(({ series: held, rest }) => held.length + (rest ? 1 : 0)),
  );
  return { book, series: series.reduce((sum, one) => sum + one, 0) };
}

export async function measureState(): Promise<Part> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-state-'));
  const path = join(folder, 'state.json');
  const head: StateHead = { version: stateVersion, writer: 'bench', written_by: 'exporter', written_at: 0 };
  try {
    const { book, series } = countedBook();
    const delay = monitorEventLoopDelay({ resolution: resolutionMs });
    const writes: { readonly stallMs: number; readonly cpuMs: number; readonly tookMs: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      delay.reset();
      delay.enable();
      const before = process.cpuUsage();
      const beganMs = performance.now();
      await writeState(path, head, book.states());
      const tookMs = performance.now() - beganMs;
      const { user, system } = process.cpuUsage(before);
      delay.disable();
      writes.push({
        stallMs: Math.max(0, delay.max / 1e6 - resolutionMs),
        cpuMs: (user + system) / 1000,
        tookMs,
      });
    }
    const { size } = await stat(path);
    const beganMs = performance.now();
    const { state } = await readState(path, Date.now());
    const restored = new CounterBook({ ...clocks, state, onBegun: () => undefined });
    const readMs = performance.now() - beganMs;
    if ([...restored.states()].length !== zones) throw new Error('the state was not read');
    log('the state');
    const stallMs = Math.max(...writes.map((write) => write.stallMs));
    return {
      aims: [
        {
          what: 'longest stall of the event loop while the state of 60,000 counters is written',
          wanted: `≤ ${limitMs} ms`,
          measured: milliseconds(stallMs),
          met: stallMs <= limitMs,
        },
      ],
      tables: [
        {
          title: `The state of ${series.toLocaleString('en')} counters`,
          columns: ['', 'size', 'longest stall', 'CPU of a write', 'a write takes', 'a start takes longer'],
          rows: [
            [
              'this build',
              megabytes(size),
              milliseconds(stallMs),
              milliseconds(median(writes.map(({ cpuMs }) => cpuMs))),
              milliseconds(median(writes.map(({ tookMs }) => tookMs))),
              milliseconds(readMs),
            ],
          ],
        },
      ],
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
