import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pacer } from '../../src/api/pacer.ts';
import { Polls } from '../../src/polling/polls.ts';
import { type Poll, readPollOf } from '../../src/polling/target.ts';
import { applicationTarget, resourceOf } from './fixtures.ts';

interface Start {
  readonly key: string;
  /** Since the start of the test. */
  readonly atMs: number;
  readonly lagMs: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function pollOf(id: string, intervalMs: number, queue = 'application'): Poll {
  const poll = readPollOf(applicationTarget(id, { intervalMs }), resourceOf('application'));
  if (!poll) throw new Error('applications are read alone');
  return { ...poll, key: id, queue };
}

/** Polls that take no time unless `take` is given. */
function start(options: { pace?: number; take?: (key: string) => Promise<number> } = {}) {
  const beganMs = performance.now();
  const starts: Start[] = [];
  const pacer = new Pacer({ requestsPerSecond: options.pace ?? 10_000, maxConcurrency: 8 });
  const polls = new Polls({
    paceOf: () => pacer,
    async run({ poll: { key } }, permit, lagMs) {
      starts.push({ key, atMs: performance.now() - beganMs, lagMs });
      const intervals = await (options.take?.(key) ?? Promise.resolve(1));
      permit.release();
      return intervals;
    },
  });
  const addAll = (added: readonly Poll[]) => {
    for (const poll of added) polls.add(poll);
  };
  const timesOf = (key: string) => starts.filter((start) => start.key === key);
  return { polls, starts, timesOf, addAll };
}

function pollsOf(count: number, intervalMs: number): Poll[] {
  return Array.from({ length: count }, (_, i) => pollOf(`t${i}`, intervalMs));
}

describe('polls', () => {
  it('waits half an interval after a poll that took longer than its interval', async () => {
    const { polls, addAll, timesOf } = start({
      take: () => new Promise((resolve) => setTimeout(resolve, 100_000, 1)),
    });
    addAll(pollsOf(1, 60_000));
    await vi.advanceTimersByTimeAsync(600_000);
    const times = timesOf('t0').map(({ atMs }) => atMs);
    const pauses = times.slice(1).map((at, i) => at - (times[i] ?? 0) - 100_000);
    expect(pauses.length).toBeGreaterThanOrEqual(3);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(24_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(36_000);
    void polls.end();
  });

  it('does not let a hanging poll delay others, and does not start it a second time', async () => {
    const { polls, addAll, timesOf } = start({
      take: (key) => (key === 't0' ? new Promise(() => undefined) : Promise.resolve(1)),
    });
    addAll(pollsOf(5, 10_000));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(timesOf('t0')).toHaveLength(1);
    for (const key of ['t1', 't2', 't3', 't4']) {
      expect(timesOf(key).length).toBeGreaterThanOrEqual(9);
      expect(Math.max(...timesOf(key).map(({ lagMs }) => lagMs))).toBeLessThan(10);
    }
    void polls.end();
  });

  it('keeps the times of others when some come and go, and has the same one when it comes back', async () => {
    const { polls, addAll, timesOf } = start();
    addAll(pollsOf(8, 60_000));
    await vi.advanceTimersByTimeAsync(600_000);
    const phase = (key: string) => Math.round((timesOf(key).at(-1)?.atMs ?? 0) % 60_000);
    const keys = pollsOf(8, 60_000).map(({ key }) => key);
    const before = keys.map(phase);
    expect(new Set(before).size).toBe(keys.length);
    for (const key of keys.slice(5)) polls.remove(key);
    await vi.advanceTimersByTimeAsync(90_000);
    addAll([pollOf('new', 60_000), pollOf('t5', 60_000)]);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(keys.map(phase)).toEqual(before);
    expect(timesOf('t7').filter(({ atMs }) => atMs > 600_000)).toHaveLength(0);
    void polls.end();
  });

  it('polls everything in turn and reports the lag if the pace is too low', async () => {
    const { polls, addAll, starts, timesOf } = start({ pace: 0.5 });
    addAll(pollsOf(30, 30_000));
    await vi.advanceTimersByTimeAsync(300_000);
    for (const { key } of pollsOf(30, 30_000)) expect(timesOf(key).length).toBeGreaterThanOrEqual(4);
    expect(starts.at(-1)?.lagMs).toBeGreaterThan(10_000);
    void polls.end();
  });

  it('polls less often if a poll says so, and at once on request', async () => {
    const { polls, addAll, timesOf } = start({ take: () => Promise.resolve(10) });
    addAll(pollsOf(1, 10_000));
    await vi.advanceTimersByTimeAsync(90_000);
    expect(timesOf('t0')).toHaveLength(1);
    polls.get('t0')?.runNow();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    void polls.end();
  });

  it('polls once more right after a poll that was under way at the request', async () => {
    const ends: (() => void)[] = [];
    const { polls, addAll, timesOf } = start({
      take: () => new Promise((resolve) => ends.push(() => resolve(1))),
    });
    addAll(pollsOf(1, 60_000));
    await vi.advanceTimersByTimeAsync(10);
    for (let n = 0; n < 3; n++) polls.get('t0')?.runNow();
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    ends[1]?.();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(timesOf('t0')).toHaveLength(2);
    void polls.end();
  });

  it('drops what was begun before other values were wanted, and polls again', async () => {
    const begun: (() => boolean)[] = [];
    const { polls, addAll, timesOf } = start({
      take: (key) => {
        const counts = polls.get(key)?.begin();
        if (counts) begun.push(counts);
        return new Promise((resolve) => setTimeout(resolve, 1000, 1));
      },
    });
    addAll(pollsOf(1, 60_000));
    await vi.advanceTimersByTimeAsync(10);
    polls.get('t0')?.update(pollOf('t0', 60_000), false);
    expect(begun.map((counts) => counts())).toEqual([true]);
    polls.get('t0')?.update(pollOf('t0', 60_000), true);
    expect(begun.map((counts) => counts())).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1500);
    expect(begun.map((counts) => counts())).toEqual([false, true]);
    expect(timesOf('t0')).toHaveLength(2);
    polls.remove('t0');
    expect(begun.map((counts) => counts())).toEqual([false, false]);
    void polls.end();
  });

  it('applies a shorter interval at once', async () => {
    const { polls, addAll, timesOf } = start();
    addAll(pollsOf(1, 3_600_000));
    await vi.advanceTimersByTimeAsync(10_000);
    polls.get('t0')?.update(pollOf('t0', 5_000), false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(timesOf('t0').length).toBeGreaterThanOrEqual(12);
    void polls.end();
  });

  it('starts nothing after stop', async () => {
    const { polls, addAll, starts } = start({ pace: 10 });
    addAll(pollsOf(50, 10_000));
    await vi.advanceTimersByTimeAsync(1000);
    void polls.end();
    const before = starts.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(starts).toHaveLength(before);
  });
});
