/** When the state is written, and when not: with a clock that only the test moves, and a real file. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeState } from '../../src/counting/state-file.ts';
import { firstLine, type StateHead, stateVersion, type TargetState } from '../../src/counting/state-form.ts';
import { type KeeperOptions, StateKeeper } from '../../src/counting/state-keeper.ts';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';

const minuteMs = 60_000;

function target(id: number, padding = ''): TargetState {
  const counters = { a_total: { series: [{ labels: { padding }, value: 1, from: 0, days: [] }] } };
  const ids = { id: String(id) };
  return { kind: 'a', ids, base_url: '', account: 'a', last_read: 1, counting_since: 1, counters };
}

function headOf(writer: string, written_by: StateHead['written_by'] = 'exporter', at = 1): StateHead {
  return { version: stateVersion, writer, written_by, written_at: at };
}

/** Lets time pass, a second at a time, and each write end. */
async function pass(ms: number, ...keepers: readonly StateKeeper[]): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 1000) {
    vi.advanceTimersByTime(Math.min(1000, ms - passedMs));
    for (const keeper of keepers) await keeper.settled();
  }
}

function keeperOf(path: string, options: Partial<KeeperOptions> = {}): StateKeeper {
  const all = { path, readWriter: undefined, states: () => [target(1)], now: Date.now, ...options };
  const keeper = new StateKeeper(all);
  onTestFinished(async () => await keeper.end());
  return keeper;
}

/** Begins, and counts the writes that begin. */
async function begin(options: Partial<KeeperOptions> = {}) {
  const toFake = [
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'performance',
    'Date',
  ] as const;
  if (!vi.isFakeTimers()) {
    vi.useFakeTimers({ toFake: [...toFake], now: Date.parse('2026-08-15T12:00:00Z') });
    onTestFinished(() => void vi.useRealTimers());
  }
  const folder = temporary({});
  const path = join(folder, 'state.json');
  const written: number[] = [];
  const { states = () => [target(1)] } = options;
  const keeper = keeperOf(path, {
    ...options,
    states() {
      written.push(performance.now());
      return states();
    },
  });
  keeper.begin();
  await keeper.settled();
  return { folder, path, keeper, written };
}

const writerOf = (path: string) => (JSON.parse(readFileSync(path, 'utf8')) as StateHead).writer;

it('writes at once, every five minutes, and at the end', async () => {
  const { keeper, written } = await begin();
  expect(written).toHaveLength(1);
  await pass(16 * minuteMs, keeper);
  expect(written).toHaveLength(4);
  await keeper.end();
  expect(written).toHaveLength(5);
  await pass(6 * minuteMs, keeper);
  expect(written).toHaveLength(5);
});

describe('what begins is written soon', () => {
  it('within two seconds, and at most once in ten', async () => {
    const { keeper, written } = await begin();
    keeper.writeSoon();
    await pass(2000, keeper);
    expect(written).toHaveLength(2);
    for (let second = 0; second < 60; second++) {
      keeper.writeSoon();
      await pass(1000, keeper);
    }
    expect(written.length).toBeGreaterThanOrEqual(7);
    expect(written.length).toBeLessThanOrEqual(8);
  });

  it('also if the write before it was slow', async () => {
    let isSlow = true;
    const { keeper, written } = await begin({
      async during(write) {
        await write;
        if (isSlow) vi.advanceTimersByTime(4000);
        isSlow = false;
      },
    });
    keeper.writeSoon();
    await pass(2000, keeper);
    expect(written).toHaveLength(2);
  });

  it('also if it begins during a write', async () => {
    let begins: (() => void) | undefined;
    const { keeper, written } = await begin({
      states() {
        begins?.();
        begins = undefined;
        return [target(1)];
      },
    });
    await pass(299_000, keeper);
    begins = () => keeper.writeSoon();
    await pass(1000, keeper);
    expect(written).toHaveLength(2);
    await pass(2000, keeper);
    expect(written).toHaveLength(3);
  });

  it('also if a write is wanted while a slow one is under way', async () => {
    let begun = 0;
    let end: (() => void) | undefined;
    const slow = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { written, keeper } = await begin({
      async during(write) {
        begun++;
        await write;
        if (begun === 2) await slow;
      },
    });
    vi.advanceTimersByTime(5 * minuteMs);
    expect(begun).toBe(2);
    keeper.writeSoon();
    vi.advanceTimersByTime(1500);
    expect(begun).toBe(2);
    end?.();
    await keeper.settled();
    // A slow disk has more of a rest.
    await pass(40_000, keeper);
    expect(written).toHaveLength(3);
  });

  it('up to half of what they may take in a day at once; the write each five minutes goes on', async () => {
    // By day, a thousandth: half a gigabyte takes seconds.
    const [aDay, options] = runs([1e6, { earlyBytesADay: 1e6 }], [1e9, {}]);
    const bytes = aDay / 250;
    const { keeper, written } = await begin({ ...options, states: () => [target(1, 'x'.repeat(bytes))] });
    const all = () => (written.length - 1) * bytes;
    const inIntervals = Math.floor(60 / 5) * bytes;
    for (let second = 0; second < 3600; second += 10) {
      keeper.writeSoon();
      vi.advanceTimersByTime(10_000);
      await keeper.settled();
    }
    expect(all() - inIntervals).toBeLessThanOrEqual(aDay / 2 + aDay / 2 / 24);
    expect(all() - inIntervals).toBeGreaterThan(aDay / 2 - 10 * bytes);
  });
});

it('a write that hangs is a problem after half a minute, until it ends', async () => {
  const { folder } = await begin();
  // A pipe that nobody writes is a disk that does not answer.
  const path = join(folder, 'pipe');
  spawnSync('mkfifo', [path]);
  const keeper = keeperOf(path);
  keeper.begin();
  vi.advanceTimersByTime(29_000);
  expect(keeper.problem).toBeUndefined();
  vi.advanceTimersByTime(1000);
  expect(keeper.problem?.message).toContain('it takes longer than 30 s');
  expect(keeper.writes).toEqual({ lastWriteMs: undefined, failingSinceMs: Date.now() });
  writeFileSync(path, '');
  await keeper.settled();
  expect(keeper.problem).toBeUndefined();
  expect(keeper.writes).toEqual({ lastWriteMs: Date.now(), failingSinceMs: undefined });
});

it('a failure has the time of the first one, and ends with a good write', async () => {
  const { keeper, folder, path } = await begin();
  rmSync(folder, { recursive: true });
  await pass(5 * minuteMs, keeper);
  const sinceMs = Date.now();
  await pass(10 * minuteMs, keeper);
  expect(keeper.writes.failingSinceMs).toBe(sinceMs);
  expect(keeper.problem?.message).toContain('does not exist: create it');
  mkdirSync(folder);
  await pass(5 * minuteMs, keeper);
  expect(keeper.problem).toBeUndefined();
  expect(existsSync(path)).toBe(true);
});

describe('a file that another process writes', () => {
  it('is left to it, and written again once that has written nothing for ten minutes', async () => {
    const { keeper, path, written } = await begin();
    const own = writerOf(path);
    // As a look with the configuration of the service, which ends after some seconds.
    await writeState(path, headOf('another'), [target(2)]);
    await pass(11 * minuteMs, keeper);
    expect(writerOf(path)).toBe('another');
    expect(keeper.problem?.writtenBy).toBe('exporter');
    await pass(5 * minuteMs, keeper);
    expect(writerOf(path)).toBe(own);
    expect(keeper.problem).toBeUndefined();
    expect(written).toHaveLength(2);
  });

  it('is left to it as long as it writes', async () => {
    const { keeper, path } = await begin();
    for (let n = 0; n < 6; n++) {
      await writeState(path, headOf('another', 'exporter', n), [target(2)]);
      await pass(5 * minuteMs, keeper);
    }
    expect(writerOf(path)).toBe('another');
    // The newer version of an upgrade, which this one cannot read.
    writeFileSync(path, firstLine(headOf('newer')).replace('"version":1', '"version":99'));
    await pass(6 * minuteMs, keeper);
    expect(readFileSync(path, 'utf8')).toContain('"version":99');
  });

  it('is never written over a history that came after the start', async () => {
    const { keeper, path } = await begin();
    await writeState(path, headOf('history', 'backfill'), [target(2)]);
    await pass(60 * minuteMs, keeper);
    await keeper.end();
    expect(writerOf(path)).toBe('history');
    expect(keeper.problem?.message).toContain('Restart it, so that it goes on from the history');
  });

  it('is left to the process whose state was read at the start, if that goes on', async () => {
    const { path, keeper } = await begin({ readWriter: 'before' });
    await writeState(path, headOf('before'), [target(2)]);
    await pass(6 * minuteMs, keeper);
    expect(writerOf(path)).toBe('before');
  });

  it('is written over the history that was read at the start', async () => {
    const folder = temporary({});
    const path = join(folder, 'state.json');
    await writeState(path, headOf('history', 'backfill'), [target(2)]);
    const keeper = keeperOf(path, { readWriter: 'history' });
    keeper.begin();
    await keeper.settled();
    expect(writerOf(path)).not.toBe('history');
    expect(keeper.problem).toBeUndefined();
  });
});

it('a file that does not begin like a state is left as it is, also if it came later', async () => {
  const { keeper, path } = await begin();
  writeFileSync(path, 'a-secret-key');
  await pass(20 * minuteMs, keeper);
  expect(readFileSync(path, 'utf8')).toBe('a-secret-key');
  expect(keeper.problem?.message).toContain('is left as it is');
  expect(keeper.problem?.message).not.toContain('secret');
});
