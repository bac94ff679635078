/** When the engine polls what: the times of requests at an API that answers as the test says. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Request } from '../../src/api/client.ts';
import { ApiError } from '../../src/api/errors.ts';
import { Pacer } from '../../src/api/pacer.ts';
import { Timetable } from '../../src/polling/timetable.ts';
import { ReadingError } from '../../src/resources/resource.ts';
import { configOf, engineWith, sectionConfig, targetConfig } from './fixtures.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const reading = { monthlyCost: 1 };
const minuteMs = 60_000;

/** Applications with these ids. */
function applications(ids: readonly string[], intervalMs: number) {
  const targets = ids.map((id) => targetConfig({ app_id: id }, { intervalMs, staleAfterMs: 3 * intervalMs }));
  return configOf([sectionConfig('application', targets)]);
}

const named = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);

/** An engine, and when the API was asked for each application. take: by default every answer comes at once. */
function start(take: (id: string, request: Request) => unknown = () => reading, pace = 10_000) {
  const beganMs = performance.now();
  const starts: { readonly id: string; readonly atMs: number; readonly lagMs: number }[] = [];
  const pacer = new Pacer({ requestsPerSecond: pace, maxConcurrency: 8 });
  let lagMs = 0;
  const engine = engineWith(
    async (request) => {
      const [, id = ''] = /^\/apps\/(\w+)\//.exec(request.path) ?? [];
      starts.push({ id, atMs: performance.now() - beganMs, lagMs });
      try {
        return await take(id, request);
      } finally {
        request.permit?.release();
      }
    },
    {
      paceOf: () => pacer,
      observer: {
        polled: () => undefined,
        mismatched: () => undefined,
        unrecognized: () => undefined,
        started: (_, lagSeconds) => {
          lagMs = 1000 * lagSeconds;
        },
      },
    },
  );
  const timesOf = (id: string) => starts.filter((one) => one.id === id).map(({ atMs }) => atMs);
  return { engine, starts, timesOf };
}

const after = (ms: number) => new Promise((resolve) => setTimeout(() => resolve(reading), ms));

describe('polls', () => {
  it('begin half an interval after a poll that took longer than its interval', async () => {
    const { engine, timesOf } = start(() => after(100_000));
    engine.apply(applications(['t0'], minuteMs));
    await vi.advanceTimersByTimeAsync(600_000);
    const times = timesOf('t0');
    const pauses = times.slice(1).map((at, i) => at - (times[i] ?? 0) - 100_000);
    expect(pauses.length).toBeGreaterThanOrEqual(3);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(24_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(36_000);
    void engine.stop();
  });

  it('are not delayed by one that hangs, which does not begin a second time', async () => {
    const { engine, timesOf, starts } = start((id) => (id === 't0' ? new Promise(() => undefined) : reading));
    engine.apply(applications(named(5), 10_000));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(timesOf('t0')).toHaveLength(1);
    for (const id of ['t1', 't2', 't3', 't4']) expect(timesOf(id).length).toBeGreaterThanOrEqual(9);
    expect(Math.max(...starts.map(({ lagMs }) => lagMs))).toBeLessThan(10);
    void engine.stop();
  });

  it('keep their times when others come and go, and have the same ones when they come back', async () => {
    const { engine, timesOf } = start();
    const ids = named(8);
    engine.apply(applications(ids, minuteMs));
    await vi.advanceTimersByTimeAsync(600_000);
    const phase = (id: string) => Math.round((timesOf(id).at(-1) ?? 0) % minuteMs);
    const before = ids.map(phase);
    expect(new Set(before).size).toBe(ids.length);
    engine.apply(applications(ids.slice(0, 5), minuteMs));
    await vi.advanceTimersByTimeAsync(90_000);
    engine.apply(applications([...ids.slice(0, 6), 'new'], minuteMs));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(ids.map(phase)).toEqual(before);
    expect(timesOf('t7').filter((atMs) => atMs > 600_000)).toHaveLength(0);
    void engine.stop();
  });

  it('take turns if the pace is too low, and the lag says so', async () => {
    const { engine, starts, timesOf } = start(() => reading, 0.5);
    engine.apply(applications(named(30), 30_000));
    await vi.advanceTimersByTimeAsync(300_000);
    for (const id of named(30)) expect(timesOf(id).length).toBeGreaterThanOrEqual(4);
    expect(starts.at(-1)?.lagMs).toBeGreaterThan(10_000);
    void engine.stop();
  });

  it('begin anew at the request, and that waits for those alone', async () => {
    const ends: ((answer: unknown) => void)[] = [];
    const { engine, timesOf } = start(() => new Promise((resolve) => ends.push(resolve)));
    engine.apply(applications(['t0'], minuteMs));
    await vi.advanceTimersByTimeAsync(10);
    const ended = vi.fn();
    for (let n = 0; n < 3; n++) void engine.pollNow().then(ended);
    await vi.advanceTimersByTimeAsync(10);
    expect(timesOf('t0')).toHaveLength(2);
    ends[0]?.(reading);
    await vi.advanceTimersByTimeAsync(10);
    expect(ended).not.toHaveBeenCalled();
    ends[1]?.(reading);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ended).toHaveBeenCalledTimes(3);
    expect(timesOf('t0')).toHaveLength(2);
    void engine.stop();
  });

  it('that are due at once by thousands begin some at a time, in their order, with other work in between', () => {
    const parts: number[][] = [];
    const timetable = new Timetable<number>(
      () => performance.now(),
      (due) => void parts.push([...due]),
    );
    for (let item = 0; item < 1200; item++) timetable.set(item, performance.now() - item);
    timetable.wake();
    expect(parts).toHaveLength(1);
    vi.advanceTimersByTime(20);
    expect(parts.map(({ length }) => length)).toEqual(Array.from({ length: 12 }, () => 100));
    expect(parts.flat()).toEqual(Array.from({ length: 1200 }, (_, at) => 1199 - at));
    timetable.end();
  });

  it('follow a shorter interval at once', async () => {
    const { engine, timesOf } = start();
    engine.apply(applications(['t0'], 60 * minuteMs));
    await vi.advanceTimersByTimeAsync(10_000);
    engine.apply(applications(['t0'], 5000));
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(timesOf('t0').length).toBeGreaterThanOrEqual(12);
    void engine.stop();
  });

  it('do not begin after a stop', async () => {
    const { engine, starts } = start(() => reading, 10);
    engine.apply(applications(named(50), 10_000));
    await vi.advanceTimersByTimeAsync(1000);
    void engine.stop();
    const before = starts.length;
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(starts).toHaveLength(before);
  });
});

/** The intervals between the first polls of one target that fails like this each time. */
async function intervalsOf(error: Error, polls: number, intervalMs = 2 * minuteMs): Promise<number[]> {
  const { engine, timesOf } = start(() => Promise.reject(error));
  engine.apply(applications(['t0'], intervalMs));
  for (let n = 0; timesOf('t0').length < polls && n < 20_000; n++)
    await vi.advanceTimersByTimeAsync(minuteMs / 6);
  void engine.stop();
  const times = timesOf('t0').slice(0, polls);
  return times.slice(1).map((at, i) => (at - (times[i] ?? 0)) / intervalMs);
}

describe('the next poll after a failure', () => {
  it.each<[string, Error]>([
    ['a refused key', new ApiError('auth', 'HTTP 401', { status: 401 })],
    ['an absent target', new ApiError('not_found', 'HTTP 404', { status: 404 })],
    [
      'a feature that is not in the plan',
      new ReadingError('rejected', 'no', 'feature_not_available_on_plan'),
    ],
    ['a plan of the wrong type', new ReadingError('rejected', 'no', 'invalid_plan_type.guardian')],
    ['an unknown zone', new ReadingError('rejected', 'no', 'not_found_or_unauthorised_access.shieldzone')],
    [
      'a lasting error with a status',
      new ApiError('rejected', 'HTTP 400', { status: 400, errorKey: 'feature_not_available_on_plan' }),
    ],
  ])('comes ever later after %s, up to 10 intervals', async (_, error) => {
    const intervals = await intervalsOf(error, 7);
    for (const [at, expected] of [1, 2, 4, 8, 10, 10].entries())
      expect(Math.abs((intervals[at] ?? 0) - expected)).toBeLessThanOrEqual(0.11);
  });

  it('comes one interval after a poll that did not get its turn', async () => {
    const error = new ApiError('timeout', 'no turn', {}, { isTransient: false });
    for (const interval of await intervalsOf(error, 5))
      expect(Math.abs(interval - 1)).toBeLessThanOrEqual(0.11);
  });
});
