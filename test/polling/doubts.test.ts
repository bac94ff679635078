/** Times in, whose fault a 401 is out. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Asked, Doubts, faultOf } from '../../src/polling/doubts.ts';
import { neverPolled } from '../../src/polling/record.ts';
import { ListingTask } from '../../src/polling/task.ts';
import { configOf, planOf, sectionConfig } from './fixtures.ts';

const never = Number.NEGATIVE_INFINITY;
const asked = (beganMs: number, isGood: boolean | undefined): Asked => ({
  beganMs,
  endedMs: beganMs + 500,
  isGood,
});

describe('a 401 that came at 100 s', () => {
  const atMs = 100_000;

  it.each<[string, Asked | undefined, number, ReturnType<typeof faultOf>]>([
    ['of the id if something was read that began after it', undefined, 100_001, 'id'],
    ['of nobody yet while only what began before it was read', undefined, 99_999, undefined],
    ['of the id if what was asked after it was answered well', asked(100_200, true), never, 'id'],
    ['of nobody yet if that was asked before it', asked(99_900, true), never, undefined],
    ['of the key if what was asked after it got 401, too', asked(100_200, false), never, 'key'],
    ['of the key if what was asked a minute before it got 401', asked(40_000, false), 20_000, 'key'],
    ['of nobody yet if that was longer ago', asked(39_000, false), 20_000, undefined],
    ['of nobody yet if something was read since that', asked(90_000, false), 95_000, undefined],
    ['of the id if something was read since that and since it', asked(100_200, false), 101_000, 'id'],
    ['undecided if what was asked after it tells nothing', asked(100_200, undefined), never, 'undecided'],
    ['of nobody yet while nothing was asked since', asked(99_900, undefined), never, undefined],
  ])('is %s', (_, last, readBeganMs, fault) => {
    expect(faultOf(atMs, last, readBeganMs)).toBe(fault);
  });
});

/** Listings below Shield Zones, each of which got 401. */
function setUp() {
  const zones = ['501', '502'];
  const { listings } = planOf(configOf([sectionConfig('api_guardian', 'all')]), {
    had: {
      'shield_zone Shield Zones#account@http://127.0.0.1:1': zones.map((id) => ({
        ids: { shield_zone_id: id },
      })),
    },
  });
  const tasks = [...listings.values()].flatMap((spec) => (spec.parent ? [new ListingTask(spec)] : []));
  const clock = { nowMs: 0 };
  const signals: AbortSignal[] = [];
  const answers: (() => void)[] = [];
  const told: string[] = [];
  const doubts = new Doubts({
    ask: (_, signal) => {
      signals.push(signal);
      return new Promise((resolve) => {
        if (signals.length > 1) resolve(undefined);
        else answers.push(() => resolve(undefined));
      });
    },
    tell: (_, fault) => told.push(fault),
    onAsked: () => undefined,
    uptimeMs: () => clock.nowMs,
  });
  const refuse = async (task: ListingTask | undefined) => {
    if (!task) throw new Error('there is no such listing');
    const failure = {
      result: 'auth',
      status: 401,
      message: '',
      doubt: 'asking',
      atMs: 0,
      sinceMs: 0,
    } as const;
    task.record = { ...neverPolled, lastFailure: failure, endedMs: ++clock.nowMs };
    doubts.add(task);
    await turn();
  };
  return { clock, doubts, tasks, refuse, signals, answers, told };
}

it('a poll that began early and ended late takes back nothing that a later one has shown', async () => {
  const { clock, doubts, tasks, refuse, told } = setUp();
  const [one, other] = tasks;
  await refuse(one);
  if (one) for (const beganMs of [50, 10]) doubts.read(one.spec, beganMs);
  clock.nowMs = 20;
  await refuse(other);
  expect(told).toEqual(['id', 'id']);
  doubts.forget();
});

describe('what has left', () => {
  it('is not asked about, although the question about it had to wait', async () => {
    const { clock, doubts, tasks, refuse, signals, answers } = setUp();
    const [first, second] = tasks;
    await refuse(first);
    await refuse(second);
    // Of the second between two questions some milliseconds are left.
    clock.nowMs = 995;
    answers[0]?.();
    await turn();
    doubts.retain(tasks.slice(0, 1));
    await doubts.asked();
    expect(signals).toHaveLength(1);
  });

  it('with all that is polled with its key, ends the question about that', async () => {
    const { doubts, tasks, refuse, signals } = setUp();
    await refuse(tasks[0]);
    doubts.retain(tasks);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    doubts.retain([]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
