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
    const slowdown = await (options.take?.(key) ?? Promise.resolve(1));
    permit.release();
    return slowdown;
  };
  const scheduler = new Scheduler<Schedulable>(run, () => pacer);
  return { scheduler, starts, timesOf: (key: string) => starts.filter((start) => start.key === key) };
}

function items(count: number, intervalMs: number): Schedulable[] {
  return Array.from({ length: count }, (_, i) => ({ key: `t${i}`, kind: 'k', intervalMs }));
}

/** The most starts in any window of a second. */
function busiestSecond(starts: readonly Start[], fromMs: number): number {
  const times = starts.map(({ atMs }) => atMs).filter((atMs) => atMs >= fromMs);
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
}

describe('Scheduler', () => {
  it('starts 1,000 polls of a minute evenly: no second has more than a few above the mean', async () => {
    const { scheduler, starts } = schedule({ pace: 20 });
    scheduler.reconcile(items(1000, 60_000));
    await vi.advanceTimersByTimeAsync(300_000);
    // 1,000 in 60 s are 16.7 a second; the pace allows 20 and a burst of 1.
    expect(busiestSecond(starts, 0)).toBeLessThanOrEqual(21);
    expect(busiestSecond(starts, 120_000)).toBeLessThanOrEqual(19);
    scheduler.stop();
  });

  it('starts the first poll of everything as fast as the pace allows', async () => {
    const { scheduler, starts } = schedule({ pace: 100 });
    scheduler.reconcile(items(500, 3_600_000));
    await vi.advanceTimersByTimeAsync(5_100);
    expect(new Set(starts.map(({ key }) => key)).size).toBe(500);
    scheduler.stop();
  });

  it('polls each at its own interval, at its own place, for as long as it runs', async () => {
    const { scheduler, timesOf } = schedule();
    scheduler.reconcile([...items(7, 60_000), { key: 'fast', kind: 'k', intervalMs: 5_000 }]);
    await vi.advanceTimersByTimeAsync(600_000);
    const gaps = (key: string) =>
      timesOf(key)
        .slice(1)
        .map(({ atMs }, i, all) => atMs - (all[i - 1]?.atMs ?? atMs));
    for (const gap of gaps('t3').slice(1)) expect(gap).toBeCloseTo(60_000, -1);
    for (const gap of gaps('fast').slice(1)) expect(gap).toBeCloseTo(5_000, -1);
    expect(timesOf('t3').length).toBeGreaterThanOrEqual(10);
    scheduler.stop();
  });

  it('never lets more than an interval and a half pass between two polls', async () => {
    const { scheduler, timesOf } = schedule({ pace: 10 });
    scheduler.reconcile(items(100, 60_000));
    await vi.advanceTimersByTimeAsync(400_000);
    for (const { key } of items(100, 60_000)) {
      const times = timesOf(key).map(({ atMs }) => atMs);
      const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(90_100);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(29_900);
    }
    scheduler.stop();
  });

  it('lets a poll that hangs delay no other, and never starts it a second time meanwhile', async () => {
    const { scheduler, timesOf } = schedule({
      take: (key) => (key === 't0' ? new Promise(() => undefined) : Promise.resolve(1)),
    });
    scheduler.reconcile(items(5, 10_000));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(timesOf('t0')).toHaveLength(1);
    for (const key of ['t1', 't2', 't3', 't4']) {
      expect(timesOf(key).length).toBeGreaterThanOrEqual(9);
      expect(Math.max(...timesOf(key).map(({ lagMs }) => lagMs))).toBeLessThan(10);
    }
    scheduler.stop();
  });

  it('keeps the places of the others when some come and go, and gives new ones the freed places', async () => {
    const { scheduler, timesOf } = schedule();
    scheduler.reconcile(items(8, 60_000));
    await vi.advanceTimersByTimeAsync(180_000);
    const phase = (key: string) => Math.round((timesOf(key).at(-1)?.atMs ?? 0) % 60_000);
    const before = new Map(items(8, 60_000).map(({ key }) => [key, phase(key)]));
    scheduler.reconcile([...items(8, 60_000).slice(0, 5), { key: 'new', kind: 'k', intervalMs: 60_000 }]);
    await vi.advanceTimersByTimeAsync(180_000);
    for (const key of ['t0', 't1', 't2', 't3', 't4']) expect(phase(key)).toBe(before.get(key));
    expect(phase('new')).toBe(before.get('t5'));
    expect(timesOf('t7').filter(({ atMs }) => atMs > 180_000)).toHaveLength(0);
    scheduler.stop();
  });

  it('polls everything in turn, and tells the lag, when the pace does not suffice', async () => {
    const { scheduler, starts, timesOf } = schedule({ pace: 5 });
    scheduler.reconcile(items(300, 30_000));
    await vi.advanceTimersByTimeAsync(300_000);
    for (const { key } of items(300, 30_000)) expect(timesOf(key).length).toBeGreaterThanOrEqual(4);
    expect(starts.at(-1)?.lagMs).toBeGreaterThan(10_000);
    scheduler.stop();
  });

  it('asks less often what says so, and at once when hastened', async () => {
    const { scheduler, timesOf } = schedule({ take: () => Promise.resolve(10) });
    scheduler.reconcile(items(1, 10_000));
    await vi.advanceTimersByTimeAsync(90_000);
    expect(timesOf('t0')).toHaveLength(1);
    scheduler.hasten((_, slowdown) => slowdown > 1);
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    scheduler.stop();
  });

  it('asks again right after a poll that was under way when it was hastened', async () => {
    let finish: (() => void) | undefined;
    const { scheduler, timesOf } = schedule({
      take: () =>
        new Promise((resolve) => {
          finish = () => resolve(1);
        }),
    });
    scheduler.reconcile(items(1, 60_000));
    await vi.advanceTimersByTimeAsync(10);
    scheduler.hasten(() => true);
    finish?.();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    scheduler.stop();
  });

  it('takes a shorter interval up at once', async () => {
    const { scheduler, timesOf } = schedule();
    scheduler.reconcile(items(1, 3_600_000));
    await vi.advanceTimersByTimeAsync(10_000);
    scheduler.reconcile(items(1, 5_000));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(timesOf('t0').length).toBeGreaterThanOrEqual(12);
    scheduler.stop();
  });

  it('starts nothing after it was stopped', async () => {
    const { scheduler, starts } = schedule({ pace: 10 });
    scheduler.reconcile(items(50, 10_000));
    await vi.advanceTimersByTimeAsync(1000);
    scheduler.stop();
    const before = starts.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(starts).toHaveLength(before);
  });
});
