import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pacer } from '../../src/api/pacer.ts';
import { Loops } from '../../src/polling/loops.ts';
import { type Poll, readPollOf, targetKey } from '../../src/polling/target.ts';
import { isReadAlone } from '../../src/resources/resource.ts';
import { Turns } from '../../src/turns.ts';
import { resourceOf, targetConfig } from './fixtures.ts';

interface Start {
  readonly key: string;
  /** Since the start of the test. */
  readonly atMs: number;
  readonly lagMs: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const resource = resourceOf('application');

function pollOf(id: string, intervalMs: number, queue = 'application'): Poll {
  if (!isReadAlone(resource)) throw new Error('applications are read alone');
  const ids = { app_id: id };
  const of = targetConfig(ids, { intervalMs });
  const key = targetKey('application', ids);
  const target = { ...of, key, kind: 'application', pollKey: key, settings: undefined, baseUrl: '' };
  return { ...readPollOf(resource, target), key: id, queue };
}

/** Loops whose polls take no time unless `take` is given. */
function loop(options: { pace?: number; take?: (key: string) => Promise<number> } = {}) {
  const beganMs = performance.now();
  const starts: Start[] = [];
  const pacer = new Pacer({ requestsPerSecond: options.pace ?? 10_000, maxConcurrency: 8 });
  const loops = new Loops(
    async ({ poll: { key } }, permit, lagMs) => {
      starts.push({ key, atMs: performance.now() - beganMs, lagMs });
      const backoffFactor = await (options.take?.(key) ?? Promise.resolve(1));
      permit.release();
      return backoffFactor;
    },
    () => pacer,
  );
  const addAll = (polls: readonly Poll[]) => {
    for (const poll of polls) loops.add(poll);
    return loops.startAll(new Turns());
  };
  const timesOf = (key: string) => starts.filter((start) => start.key === key);
  return { loops, starts, timesOf, addAll };
}

function polls(count: number, intervalMs: number): Poll[] {
  return Array.from({ length: count }, (_, i) => pollOf(`t${i}`, intervalMs));
}

/** The most starts in any window of a second. */
function busiestSecond(starts: readonly Start[], fromMs: number): number {
  const times = starts.map(({ atMs }) => atMs).filter((atMs) => atMs >= fromMs);
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
}

describe('loops', () => {
  it('starts 1,000 polls of a minute evenly: no second has more than a few above the mean', {
    timeout: 60_000,
  }, async () => {
    const { loops, addAll, starts } = loop({ pace: 20 });
    await addAll(polls(1000, 60_000));
    await vi.advanceTimersByTimeAsync(200_000);
    // 1,000 in 60 s are 16.7 a second; the pace allows 20 and a burst of 1.
    expect(busiestSecond(starts, 0)).toBeLessThanOrEqual(21);
    expect(busiestSecond(starts, 120_000)).toBeLessThanOrEqual(19);
    void loops.end();
  });

  it('starts all first polls as fast as the pace allows', async () => {
    const { loops, addAll, starts } = loop({ pace: 100 });
    await addAll(polls(500, 3_600_000));
    await vi.advanceTimersByTimeAsync(5_100);
    expect(new Set(starts.map(({ key }) => key)).size).toBe(500);
    void loops.end();
  });

  it('polls each target at its own interval and offset', async () => {
    const { loops, addAll, timesOf } = loop();
    await addAll([...polls(7, 60_000), pollOf('fast', 5_000)]);
    await vi.advanceTimersByTimeAsync(600_000);
    const gaps = (key: string) =>
      timesOf(key)
        .slice(1)
        .map(({ atMs }, i, all) => atMs - (all[i - 1]?.atMs ?? atMs));
    // A poll reaches its offset within five rounds.
    for (const gap of gaps('t3').slice(5)) expect(gap).toBeCloseTo(60_000, -1);
    for (const gap of gaps('fast').slice(5)) expect(gap).toBeCloseTo(5_000, -1);
    expect(timesOf('t3').length).toBeGreaterThanOrEqual(10);
    void loops.end();
  });

  it('keeps the time between two polls within a tenth of the interval, even between the first two', async () => {
    const { loops, addAll, timesOf } = loop({ pace: 10 });
    await addAll(polls(100, 60_000));
    await vi.advanceTimersByTimeAsync(600_000);
    for (const { key } of polls(100, 60_000)) {
      const times = timesOf(key).map(({ atMs }) => atMs);
      const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0));
      expect(gaps.length).toBeGreaterThanOrEqual(8);
      // A poll may wait some tenths of a second for its permit.
      expect(Math.max(...gaps)).toBeLessThanOrEqual(66_000 + 1000);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(54_000 - 1000);
    }
    void loops.end();
  });

  it('does not start a poll that was removed and added again before its old run has ended', async () => {
    const ends: (() => void)[] = [];
    const { loops, addAll, timesOf } = loop({
      take: () => new Promise((resolve) => ends.push(() => resolve(1))),
    });
    await addAll(polls(1, 60_000));
    await vi.advanceTimersByTimeAsync(10);
    loops.stop('t0');
    await addAll(polls(1, 60_000));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(timesOf('t0')).toHaveLength(1);
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    void loops.end();
  });

  it('does not let a hanging poll delay others, and does not start it a second time', async () => {
    const { loops, addAll, timesOf } = loop({
      take: (key) => (key === 't0' ? new Promise(() => undefined) : Promise.resolve(1)),
    });
    await addAll(polls(5, 10_000));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(timesOf('t0')).toHaveLength(1);
    for (const key of ['t1', 't2', 't3', 't4']) {
      expect(timesOf(key).length).toBeGreaterThanOrEqual(9);
      expect(Math.max(...timesOf(key).map(({ lagMs }) => lagMs))).toBeLessThan(10);
    }
    void loops.end();
  });

  it('keeps the offsets of others when some come and go, and reuses freed offsets', async () => {
    const { loops, addAll, timesOf } = loop();
    await addAll(polls(8, 60_000));
    await vi.advanceTimersByTimeAsync(600_000);
    const phase = (key: string) => Math.round((timesOf(key).at(-1)?.atMs ?? 0) % 60_000);
    const before = new Map(polls(8, 60_000).map(({ key }) => [key, phase(key)]));
    for (const { key } of polls(8, 60_000).slice(5)) loops.stop(key);
    await addAll([pollOf('new', 60_000)]);
    await vi.advanceTimersByTimeAsync(600_000);
    for (const key of ['t0', 't1', 't2', 't3', 't4']) expect(phase(key)).toBe(before.get(key));
    expect(phase('new')).toBe(before.get('t5'));
    expect(timesOf('t7').filter(({ atMs }) => atMs > 600_000)).toHaveLength(0);
    void loops.end();
  });

  it('polls everything in turn and reports the lag if the pace is too low', async () => {
    const { loops, addAll, starts, timesOf } = loop({ pace: 5 });
    await addAll(polls(300, 30_000));
    await vi.advanceTimersByTimeAsync(300_000);
    for (const { key } of polls(300, 30_000)) expect(timesOf(key).length).toBeGreaterThanOrEqual(4);
    expect(starts.at(-1)?.lagMs).toBeGreaterThan(10_000);
    void loops.end();
  });

  it('polls less often if a poll says so, and at once on request', async () => {
    const { loops, addAll, timesOf } = loop({ take: () => Promise.resolve(10) });
    await addAll(polls(1, 10_000));
    await vi.advanceTimersByTimeAsync(90_000);
    expect(timesOf('t0')).toHaveLength(1);
    loops.get('t0')?.runNow();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    void loops.end();
  });

  it('polls again right after a poll that was under way at the request', async () => {
    let finish: (() => void) | undefined;
    const { loops, addAll, timesOf } = loop({
      take: () =>
        new Promise((resolve) => {
          finish = () => resolve(1);
        }),
    });
    await addAll(polls(1, 60_000));
    await vi.advanceTimersByTimeAsync(10);
    loops.get('t0')?.runNow();
    finish?.();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    void loops.end();
  });

  it('applies a shorter interval at once', async () => {
    const { loops, addAll, timesOf } = loop();
    await addAll(polls(1, 3_600_000));
    await vi.advanceTimersByTimeAsync(10_000);
    loops.get('t0')?.update(pollOf('t0', 5_000));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(timesOf('t0').length).toBeGreaterThanOrEqual(12);
    void loops.end();
  });

  it('starts nothing after stop', async () => {
    const { loops, addAll, starts } = loop({ pace: 10 });
    await addAll(polls(50, 10_000));
    await vi.advanceTimersByTimeAsync(1000);
    void loops.end();
    const before = starts.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(starts).toHaveLength(before);
  });

  it('gives a poll that changes its queue a free offset there', async () => {
    const { loops, addAll, timesOf } = loop();
    await addAll([pollOf('a', 60_000, 'one'), pollOf('b', 60_000, 'two'), pollOf('c', 60_000, 'two')]);
    loops.get('a')?.update(pollOf('a', 60_000, 'two'));
    await addAll([pollOf('d', 60_000, 'one')]);
    const offsets = ['a', 'b', 'c'].map((key) => loops.get(key)?.offset);
    expect(new Set(offsets).size).toBe(3);
    expect(loops.get('d')?.offset).toBe(0);
    await vi.advanceTimersByTimeAsync(600_000);
    const phases = ['a', 'b', 'c'].map((key) => Math.round((timesOf(key).at(-1)?.atMs ?? 0) % 60_000));
    expect(new Set(phases).size).toBe(3);
    void loops.end();
  });
});
