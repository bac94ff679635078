/** Writes a history in this process, and reads what it says. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { type BackfillOptions, backfill } from '../../src/backfill/backfill.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { dayMs, hourMs } from '../../src/resources/times.ts';

/** 17:10 on a Friday: the history ends at 14:00. */
export const nowMs = Date.UTC(2026, 10, 27, 17, 10);
export const untilMs = Date.UTC(2026, 10, 27, 14);

/** Aborted when the test is over, also if it is given up. */
export function untilFinished(): AbortSignal {
  const over = new AbortController();
  onTestFinished(() => over.abort(new Error('the test is over')));
  return over.signal;
}

export interface Series {
  readonly name: string;
  readonly labels: string;
  readonly samples: readonly (readonly [atMs: number, value: number])[];
}

export interface Written {
  readonly isComplete: boolean;
  readonly text: string;
  readonly log: string;
  readonly families: readonly string[];
  readonly series: readonly Series[];
  of(name: string, ...labels: readonly string[]): Series;
}

export class Collected extends Writable {
  text = '';
  bytes = 0;
  readonly #isKept: boolean;

  constructor(isKept = true) {
    super();
    this.#isKept = isKept;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytes += chunk.length;
    if (this.#isKept) this.text += chunk.toString();
    done();
  }
}

/** Writes to a stream; resolves with the log, and whether nothing is missing. */
export async function writeTo(
  output: Writable,
  setup: Pick<BackfillOptions, 'config' | 'credentials'>,
  more: Partial<BackfillOptions> = {},
) {
  let log = '';
  const isComplete = await backfill({
    ...setup,
    resources,
    durationMs: 30 * dayMs,
    stepMs: hourMs,
    labels: {},
    withOwn: true,
    output,
    log: pino(
      { base: null },
      {
        write: (line) => {
          log += line;
        },
      },
    ),
    signal: untilFinished(),
    now: () => nowMs,
    ...more,
  });
  return { isComplete, log };
}

/** Fails unless families and series follow one another, and samples are in the order of time. */
export function parse(text: string): Omit<Written, 'isComplete' | 'log'> {
  expect(text.endsWith('\n# EOF\n')).toBe(true);
  const families: string[] = [];
  const bySeries = new Map<string, [number, number][]>();
  let last = '';
  for (const line of text.split('\n').slice(0, -2)) {
    const [, family] = /^# TYPE (\S+)/.exec(line) ?? [];
    if (family !== undefined) families.push(family);
    if (line.startsWith('#')) continue;
    const [, series = '', value, at] = /^(.+) (\S+) (\d+(?:\.\d+)?)$/.exec(line) ?? [];
    if (!series.startsWith(families.at(-1) ?? '')) throw new Error(`${line} is below ${families.at(-1)}`);
    const samples = bySeries.get(series) ?? [];
    if (series !== last && samples.length > 0) throw new Error(`${series} comes a second time`);
    last = series;
    bySeries.set(series, samples);
    const atMs = Math.round(Number(at) * 1000);
    if (atMs <= (samples.at(-1)?.[0] ?? 0)) throw new Error(`${line} goes back in time`);
    samples.push([atMs, Number(value)]);
  }
  expect(families).toEqual([...new Set(families)]);
  const series = Array.from(bySeries, ([row, samples]) => {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/s.exec(row) ?? [];
    return { name, labels, samples };
  });
  return {
    text,
    families,
    series,
    of(name, ...labels) {
      const found = series.filter(
        (one) => one.name === name && labels.every((label) => one.labels.includes(label)),
      );
      expect(found.map((one) => one.labels)).toHaveLength(1);
      return found[0] as Series;
    },
  };
}
