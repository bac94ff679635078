import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pacer, type Permit } from '../../src/api/pacer.ts';
import { type Schedulable, Scheduler } from '../../src/polling/scheduler.ts';

interface Start {
  readonly key: string;
  /** Since the beginning of the test. */
  readonly atMs: number;
  readonly lagMs: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A scheduler of one kind whose polls take no time, unless `take` says otherwise. */
function schedule(options: { pace?: number; take?: (key: string) => Promise<number> } = {}) {
  const beganMs = performance.now();
  const starts: Start[] = [];
  const pacer = new Pacer({ requestsPerSecond: options.pace ?? 10_000, maxConcurrency: 8 });
  const run = async ({ key }: Schedulable, permit: Permit, lagMs: number) => {
    starts.push({ key, atMs: performance.now() - beganMs, lagMs });
    const backoffFactor = await (options.take?.(key) ?? Promise.resolve(1));
    permit.release();
    return backoffFactor;
  };
  const scheduler = new Scheduler<Schedulable>(run, () => pacer);
  const timesOf = (key: string) => starts.filter((start) => start.key === key);
  const addAll = (all: readonly Schedulable[]) => {
    for (const item of all) scheduler.add(item);
  };
  return { scheduler, starts, timesOf, addAll };
}

function items(count: number, intervalMs: number): Schedulable[] {
  return Array.from({ length: count }, (_, i) => ({ key: `t${i}`, queue: 'k', intervalMs }));
}

/** The most starts in any window of a second. */
function busiestSecond(starts: readonly Start[], fromMs: number): number {
  const times = starts.map(({ atMs }) => atMs).filter((atMs) => atMs >= fromMs);
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
}

describe('Scheduler', () => {
  it('starts 1,000 polls of a minute evenly: no second has more than a few above the mean', async () => {
    const { scheduler, addAll, starts } = schedule({ pace: 20 });
    addAll(items(1000, 60_000));
    await vi.advanceTimersByTimeAsync(300_000);
    // 1,000 in 60 s are 16.7 a second; the pace allows 20 and a burst of 1.
    expect(busiestSecond(starts, 0)).toBeLessThanOrEqual(21);
    expect(busiestSecond(starts, 120_000)).toBeLessThanOrEqual(19);
    scheduler.stop();
  });

  it('starts the first poll of everything as fast as the pace allows', async () => {
    const { scheduler, addAll, starts } = schedule({ pace: 100 });
    addAll(items(500, 3_600_000));
    await vi.advanceTimersByTimeAsync(5_100);
    expect(new Set(starts.map(({ key }) => key)).size).toBe(500);
    scheduler.stop();
  });

  it('polls each at its own interval, at its own place, for as long as it runs', async () => {
    const { scheduler, addAll, timesOf } = schedule();
    addAll([...items(7, 60_000), { key: 'fast', queue: 'k', intervalMs: 5_000 }]);
    await vi.advanceTimersByTimeAsync(600_000);
    const gaps = (key: string) =>
      timesOf(key)
        .slice(1)
        .map(({ atMs }, i, all) => atMs - (all[i - 1]?.atMs ?? atMs));
    // A poll reaches its own time within five rounds.
    for (const gap of gaps('t3').slice(5)) expect(gap).toBeCloseTo(60_000, -1);
    for (const gap of gaps('fast').slice(5)) expect(gap).toBeCloseTo(5_000, -1);
    expect(timesOf('t3').length).toBeGreaterThanOrEqual(10);
    scheduler.stop();
  });

  it('never lets the time between two polls differ from the interval by more than a tenth, the first two included', async () => {
    const { scheduler, addAll, timesOf } = schedule({ pace: 10 });
    addAll(items(100, 60_000));
    await vi.advanceTimersByTimeAsync(600_000);
    for (const { key } of items(100, 60_000)) {
      const times = timesOf(key).map(({ atMs }) => atMs);
      const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0));
      expect(gaps.length).toBeGreaterThanOrEqual(8);
      // A poll may wait some tenths of a second for its permit.
      expect(Math.max(...gaps)).toBeLessThanOrEqual(66_000 + 1000);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(54_000 - 1000);
    }
    scheduler.stop();
  });

  it('does not start a poll that is wanted again before the run from before has ended', async () => {
    const ends: (() => void)[] = [];
    const { scheduler, addAll, timesOf } = schedule({
      take: () => new Promise((resolve) => ends.push(() => resolve(1))),
    });
    addAll(items(1, 60_000));
    await vi.advanceTimersByTimeAsync(10);
    scheduler.remove('t0');
    addAll(items(1, 60_000));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(timesOf('t0')).toHaveLength(1);
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    scheduler.stop();
  });

  it('lets a poll that hangs delay no other, and never starts it a second time meanwhile', async () => {
    const { scheduler, addAll, timesOf } = schedule({
      take: (key) => (key === 't0' ? new Promise(() => undefined) : Promise.resolve(1)),
    });
    addAll(items(5, 10_000));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(timesOf('t0')).toHaveLength(1);
    for (const key of ['t1', 't2', 't3', 't4']) {
      expect(timesOf(key).length).toBeGreaterThanOrEqual(9);
      expect(Math.max(...timesOf(key).map(({ lagMs }) => lagMs))).toBeLessThan(10);
    }
    scheduler.stop();
  });

  it('keeps the offsets of the others when some come and go, and gives new ones the freed offsets', async () => {
    const { scheduler, addAll, timesOf } = schedule();
    addAll(items(8, 60_000));
    await vi.advanceTimersByTimeAsync(600_000);
    const phase = (key: string) => Math.round((timesOf(key).at(-1)?.atMs ?? 0) % 60_000);
    const before = new Map(items(8, 60_000).map(({ key }) => [key, phase(key)]));
    for (const { key } of items(8, 60_000).slice(5)) scheduler.remove(key);
    scheduler.add({ key: 'new', queue: 'k', intervalMs: 60_000 });
    await vi.advanceTimersByTimeAsync(600_000);
    for (const key of ['t0', 't1', 't2', 't3', 't4']) expect(phase(key)).toBe(before.get(key));
    expect(phase('new')).toBe(before.get('t5'));
    expect(timesOf('t7').filter(({ atMs }) => atMs > 600_000)).toHaveLength(0);
    scheduler.stop();
  });

  it('polls everything in turn, and tells the lag, when the pace does not suffice', async () => {
    const { scheduler, addAll, starts, timesOf } = schedule({ pace: 5 });
    addAll(items(300, 30_000));
    await vi.advanceTimersByTimeAsync(300_000);
    for (const { key } of items(300, 30_000)) expect(timesOf(key).length).toBeGreaterThanOrEqual(4);
    expect(starts.at(-1)?.lagMs).toBeGreaterThan(10_000);
    scheduler.stop();
  });

  it('asks less often what says so, and at once when it is told to', async () => {
    const { scheduler, addAll, timesOf } = schedule({ take: () => Promise.resolve(10) });
    addAll(items(1, 10_000));
    await vi.advanceTimersByTimeAsync(90_000);
    expect(timesOf('t0')).toHaveLength(1);
    scheduler.runNow('t0');
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    scheduler.stop();
  });

  it('asks again right after a poll that was under way when it was told to', async () => {
    let finish: (() => void) | undefined;
    const { scheduler, addAll, timesOf } = schedule({
      take: () =>
        new Promise((resolve) => {
          finish = () => resolve(1);
        }),
    });
    addAll(items(1, 60_000));
    await vi.advanceTimersByTimeAsync(10);
    scheduler.runNow('t0');
    finish?.();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    scheduler.stop();
  });

  it('takes a shorter interval up at once', async () => {
    const { scheduler, addAll, timesOf } = schedule();
    addAll(items(1, 3_600_000));
    await vi.advanceTimersByTimeAsync(10_000);
    scheduler.update({ key: 't0', queue: 'k', intervalMs: 5_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(timesOf('t0').length).toBeGreaterThanOrEqual(12);
    scheduler.stop();
  });

  it('starts nothing after it was stopped', async () => {
    const { scheduler, addAll, starts } = schedule({ pace: 10 });
    addAll(items(50, 10_000));
    await vi.advanceTimersByTimeAsync(1000);
    scheduler.stop();
    const before = starts.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(starts).toHaveLength(before);
  });
});
