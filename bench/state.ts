/** What it takes to write the state of 60,000 counters, and to read it at a start; that of 200,000, too. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { CounterBook } from '../src/counting/counter-book.ts';
import { writeState } from '../src/counting/state-file.ts';
import { type StateHead, stateVersion } from '../src/counting/state-form.ts';
import type { RestoreCommands } from './children/restore.ts';
import { Child } from './processes.ts';
import { log, median, megabytes, milliseconds, type Part } from './report.ts';

const zones = 1_180;
/** A start is measured with 200,000 series, too. */
const manyZones = 3_923;
/** Each with a series of its own, beside that of all others. */
const types = 50;
const limitMs = 50;
const rounds = 5;
/** Of each sample of the event loop's delay; part of what it measures. */
const resolutionMs = 5;

/** DNS zones that have counted something today and yesterday. */
function countedBook(zones: number): { readonly book: CounterBook; readonly series: number } {
  const book = new CounterBook({
    onBegun: () => undefined,
    unlistedKinds: () => new Set(),
    now: Date.now,
    uptimeMs: () => performance.now(),
  });
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

interface Start {
  readonly tookMs: number;
  /** Beyond what the process took before. */
  readonly peakBytes: number;
}

/** A start with this state, in a process of its own. */
async function measureStart(path: string): Promise<Start> {
  const child = new Child<RestoreCommands>('a start with a state', 'restore');
  try {
    await child.ask('ready', undefined);
    const beforeBytes = child.rssBytes();
    const tookMs = await child.ask('restore', path);
    return { tookMs, peakBytes: child.peakBytes() - beforeBytes };
  } finally {
    await child.stop();
  }
}

export async function measureState(): Promise<Part> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-state-'));
  const path = join(folder, 'state.json');
  const head: StateHead = { version: stateVersion, writer: 'bench', written_by: 'exporter', written_at: 0 };
  try {
    const { book, series } = countedBook(zones);
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
    const start = await measureStart(path);
    const many = countedBook(manyZones);
    await writeState(path, head, many.book.states());
    const manySize = (await stat(path)).size;
    const manyStart = await measureStart(path);
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
              milliseconds(start.tookMs),
            ],
          ],
        },
        {
          title: 'A start with a state',
          note: 'Reading the state file once. The memory is beyond that of the process before, and free again afterwards but for the counters.',
          columns: ['', 'size of the file', 'takes longer', 'peak memory'],
          isForUsers: true,
          rows: [
            [of(series), megabytes(size), milliseconds(start.tookMs), megabytes(start.peakBytes)],
            [
              of(many.series),
              megabytes(manySize),
              milliseconds(manyStart.tookMs),
              megabytes(manyStart.peakBytes),
            ],
          ],
        },
      ],
      sizing: `- **A start with \`state.file\`**: reading the state takes ${megabytes(start.peakBytes)} more for ${of(series)}, and ${megabytes(manyStart.peakBytes)} for ${of(many.series)}, before anything is
  polled: set the limit of memory to that and the figure above.`,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function of(series: number): string {
  return `${series.toLocaleString('en')} counters`;
}
