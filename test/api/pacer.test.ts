import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { burstOf, type Pace, Pacer, type Turn } from '../../src/api/pacer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const quick: Pace = { requestsPerSecond: 1000, maxConcurrency: 8 };
const never = new AbortController().signal;

/** Enqueues requests that hold their turn until they are told to end; `started` lists them in the order of their turns. */
function record(pacer: Pacer) {
  const started: string[] = [];
  const turns: Turn[] = [];
  const ask = (kind: string, name = kind) =>
    pacer.enqueue(kind, (turn) => {
      started.push(name);
      turns.push(turn);
      return true;
    });
  const endAll = () => {
    for (const turn of turns.splice(0)) turn.release();
  };
  return { started, turns, ask, endAll };
}

describe('rate', () => {
  it('starts the burst at once and then one request an interval', () => {
    const pacer = new Pacer({ requestsPerSecond: 40, maxConcurrency: 100 }, ['a']);
    const { started, ask } = record(pacer);
    for (let i = 0; i < 10; i++) ask('a');
    expect(started).toHaveLength(2);
    vi.advanceTimersByTime(24);
    expect(started).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(started).toHaveLength(3);
    vi.advanceTimersByTime(7 * 25);
    expect(started).toHaveLength(10);
  });

  it('saves up no more than the burst', () => {
    const pacer = new Pacer({ requestsPerSecond: 40, maxConcurrency: 100 }, ['a']);
    const { started, ask } = record(pacer);
    vi.advanceTimersByTime(3_600_000);
    for (let i = 0; i < 10; i++) ask('a');
    expect(started).toHaveLength(burstOf(40));
  });

  it('serves less than one request a second', () => {
    const pacer = new Pacer({ requestsPerSecond: 0.01, maxConcurrency: 8 }, ['a']);
    const { started, ask } = record(pacer);
    ask('a');
    ask('a');
    vi.advanceTimersByTime(99_000);
    expect(started).toHaveLength(1);
    vi.advanceTimersByTime(1001);
    expect(started).toHaveLength(2);
  });

  it('is never more than requests_per_second and the burst in any second, nor more at once than max_concurrency, and nobody is lost', () => {
    const kinds = ['a', 'b', 'c'];
    const arrival = fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.nat(40), fc.nat(3000)),
      kind: fc.constantFrom(...kinds),
      lastsMs: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(2000)),
      wanted: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
    });
    fc.assert(
      fc.property(
        fc.array(arrival, { maxLength: 80 }),
        fc.oneof(fc.integer({ min: 1, max: 200 }), fc.double({ min: 0.5, max: 5, noNaN: true })),
        fc.integer({ min: 1, max: 6 }),
        (arrivals, requestsPerSecond, maxConcurrency) => {
          const pacer = new Pacer({ requestsPerSecond, maxConcurrency }, kinds);
          const starts: number[] = [];
          let inFlight = 0;
          for (const { afterMs, kind, lastsMs, wanted } of arrivals) {
            vi.advanceTimersByTime(afterMs);
            pacer.enqueue(kind, (turn) => {
              if (!wanted) return false;
              starts.push(performance.now());
              inFlight++;
              expect(inFlight).toBeLessThanOrEqual(maxConcurrency);
              setTimeout(() => {
                inFlight--;
                turn.release();
              }, lastsMs);
              return true;
            });
          }
          vi.advanceTimersByTime(600_000);
          expect(starts).toHaveLength(arrivals.filter(({ wanted }) => wanted).length);
          const most = requestsPerSecond + burstOf(requestsPerSecond);
          for (const start of starts) {
            const within = starts.filter((other) => other >= start && other < start + 1000);
            expect(within.length).toBeLessThanOrEqual(most);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('fairness', () => {
  it('gives each kind its share while 20,000 of another wait', () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 8 }, ['video', 'application', 'zone']);
    const started: string[] = [];
    const ask = (kind: string) =>
      pacer.enqueue(kind, (turn) => {
        started.push(kind);
        setTimeout(() => turn.release(), 5);
        return true;
      });
    for (let i = 0; i < 20_000; i++) ask('video');
    for (let i = 0; i < 10; i++) {
      ask('application');
      ask('zone');
    }
    vi.advanceTimersByTime(1600);
    const count = (kind: string) => started.filter((one) => one === kind).length;
    expect([count('application'), count('zone')]).toEqual([10, 10]);
    expect(count('video')).toBeGreaterThanOrEqual(10);
  });

  it('serves a kind first in, first out, but what was begun before what was not', async () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 8 }, ['a']);
    const { started, ask } = record(pacer);
    for (const name of ['first', 'second', 'third']) ask('a', name);
    void pacer.turn('a', never).then(() => started.push('further page'));
    await vi.advanceTimersByTimeAsync(200);
    expect(started).toEqual(['first', 'further page', 'second', 'third']);
  });

  /** Kinds that asked before, and so may ask again. */
  function used(pacer: Pacer, ...kinds: readonly string[]): Pacer {
    for (const kind of kinds) {
      pacer.enqueue(kind, (turn) => {
        turn.release();
        return true;
      });
    }
    vi.advanceTimersByTime(100);
    return pacer;
  }

  it('keeps no place for a kind that never asked', () => {
    const { started, ask } = record(new Pacer(quick, ['a', 'never', 'never either']));
    for (let i = 0; i < 20; i++) ask('a');
    vi.advanceTimersByTime(100);
    expect(started).toHaveLength(8);
  });

  it('leaves not more than half of the places empty for others', () => {
    for (const [maxConcurrency, most] of [
      [1, 1],
      [2, 1],
      [3, 2],
      [4, 2],
    ] as const) {
      const pacer = used(new Pacer({ ...quick, maxConcurrency }, ['a', 'b', 'c']), 'a', 'b', 'c');
      const { started, ask } = record(pacer);
      for (let i = 0; i < 20; i++) ask('a');
      vi.advanceTimersByTime(100);
      expect(started).toHaveLength(most);
    }
  });

  it('keeps a place for each other kind while the requests of one hang', () => {
    const pacer = used(new Pacer(quick, ['hanging', 'b', 'c']), 'b', 'c');
    const { started, ask } = record(pacer);
    for (let i = 0; i < 20; i++) ask('hanging');
    vi.advanceTimersByTime(100);
    expect(started).toHaveLength(6);
    ask('b');
    ask('c');
    vi.advanceTimersByTime(100);
    expect(started.slice(6)).toEqual(['b', 'c']);
  });

  it('keeps a place for a kind while the requests of all the others hang', () => {
    const pacer = used(new Pacer(quick, ['hanging', 'also hanging', 'c']), 'c');
    const { started, turns, ask } = record(pacer);
    for (let i = 0; i < 20; i++) {
      ask('hanging');
      ask('also hanging');
    }
    vi.advanceTimersByTime(100);
    expect(started).toHaveLength(7);
    ask('c', 'c1');
    ask('c', 'c2');
    vi.advanceTimersByTime(100);
    expect(started.slice(7)).toEqual(['c1']);
    turns[7]?.release();
    vi.advanceTimersByTime(100);
    expect(started.slice(7)).toEqual(['c1', 'c2']);
  });

  it('gives all places to a kind that asks alone', () => {
    const pacer = new Pacer(quick, ['a']);
    const { started, ask } = record(pacer);
    for (let i = 0; i < 20; i++) ask('a');
    vi.advanceTimersByTime(100);
    expect(started).toHaveLength(8);
  });

  it('serves the kinds in turn where there is only one place', () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 1 }, ['a', 'b', 'c']);
    const { started, endAll, ask } = record(pacer);
    for (let i = 0; i < 2; i++) for (const kind of ['a', 'b', 'c']) ask(kind);
    for (let i = 0; i < 6; i++) {
      vi.advanceTimersByTime(10);
      expect(started).toHaveLength(i + 1);
      endAll();
    }
    expect(started).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });
});

describe('a turn', () => {
  it('frees its place once, however often it is released', () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 1 }, ['a']);
    const { started, turns, ask } = record(pacer);
    for (let i = 0; i < 4; i++) ask('a');
    turns[0]?.release();
    turns[0]?.release();
    vi.advanceTimersByTime(100);
    expect(started).toHaveLength(2);
  });

  it('costs nothing when its waiter does not want it any more', () => {
    const pacer = new Pacer({ requestsPerSecond: 1, maxConcurrency: 1 }, ['a']);
    const { started, ask } = record(pacer);
    for (let i = 0; i < 1000; i++) pacer.enqueue('a', () => false);
    ask('a');
    expect(started).toEqual(['a']);
  });

  it('is not waited for after an abort, which rejects with its reason', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1, maxConcurrency: 8 }, ['a']);
    const { started, ask } = record(pacer);
    ask('a', 'first');
    const abort = new AbortController();
    const turn = pacer.turn('a', abort.signal);
    ask('a', 'second');
    abort.abort(new Error('reloaded'));
    await expect(turn).rejects.toThrow('reloaded');
    vi.advanceTimersByTime(1000);
    expect(started).toEqual(['first', 'second']);
  });

  it('is not given to who was aborted before', async () => {
    const pacer = new Pacer(quick, ['a']);
    await expect(pacer.turn('a', AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });

  it('is not to be had for a kind without a lane', () => {
    const pacer = new Pacer(quick, ['a']);
    expect(() => pacer.enqueue('b', () => true)).toThrow('no lane for the kind b');
  });
});

describe('pause', () => {
  it('lets nobody of any kind begin before it ends', () => {
    const pacer = new Pacer(quick, ['a', 'b']);
    const { started, ask } = record(pacer);
    pacer.pause(5000);
    ask('a');
    ask('b');
    vi.advanceTimersByTime(4999);
    expect(started).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(started).toEqual(['a', 'b']);
  });

  it('holds for those who wait already', () => {
    const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 }, ['a']);
    const { started, ask } = record(pacer);
    ask('a');
    ask('a');
    pacer.pause(5000);
    vi.advanceTimersByTime(4999);
    expect(started).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(started).toHaveLength(2);
  });

  it('is only ever prolonged', () => {
    const pacer = new Pacer(quick, ['a']);
    const { started, ask } = record(pacer);
    pacer.pause(5000);
    pacer.pause(1000);
    ask('a');
    vi.advanceTimersByTime(4000);
    pacer.pause(5000);
    vi.advanceTimersByTime(4999);
    expect(started).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(started).toEqual(['a']);
  });

  it('does not let the requests that piled up out at once', () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 100 }, ['a']);
    const { started, ask } = record(pacer);
    pacer.pause(60_000);
    for (let i = 0; i < 100; i++) ask('a');
    vi.advanceTimersByTime(60_000);
    expect(started).toHaveLength(1);
    vi.advanceTimersByTime(1000);
    expect(started).toHaveLength(21);
  });
});

describe('setPace', () => {
  it('goes on at a faster pace at once', () => {
    const pacer = new Pacer({ requestsPerSecond: 0.1, maxConcurrency: 8 }, ['a']);
    const { started, ask } = record(pacer);
    for (let i = 0; i < 4; i++) ask('a');
    vi.advanceTimersByTime(10);
    expect(started).toHaveLength(1);
    pacer.setPace({ requestsPerSecond: 10, maxConcurrency: 8 });
    vi.advanceTimersByTime(300);
    expect(started).toHaveLength(4);
  });

  it('goes on at a slower pace, who waits keeping the place in line', () => {
    const pacer = new Pacer({ requestsPerSecond: 100, maxConcurrency: 8 }, ['a']);
    const { started, ask } = record(pacer);
    for (let i = 0; i < 8; i++) ask('a', String(i));
    expect(started).toHaveLength(5);
    pacer.setPace({ requestsPerSecond: 1, maxConcurrency: 8 });
    vi.advanceTimersByTime(999);
    expect(started).toHaveLength(5);
    vi.advanceTimersByTime(1);
    expect(started.slice(5)).toEqual(['5']);
    vi.advanceTimersByTime(1000);
    expect(started.slice(5)).toEqual(['5', '6']);
  });

  it('lets more in at once when there are more places, and none when there are fewer', () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 2 }, ['a']);
    const { started, turns, ask } = record(pacer);
    for (let i = 0; i < 10; i++) ask('a');
    vi.advanceTimersByTime(10);
    expect(started).toHaveLength(2);
    pacer.setPace({ requestsPerSecond: 1000, maxConcurrency: 4 });
    vi.advanceTimersByTime(10);
    expect(started).toHaveLength(4);
    pacer.setPace({ requestsPerSecond: 1000, maxConcurrency: 1 });
    for (const turn of turns.slice(0, 3)) turn.release();
    vi.advanceTimersByTime(10);
    expect(started).toHaveLength(4);
    turns[3]?.release();
    vi.advanceTimersByTime(10);
    expect(started).toHaveLength(5);
  });

  it('does not end a pause', () => {
    const pacer = new Pacer(quick, ['a']);
    const { started, ask } = record(pacer);
    pacer.pause(5000);
    ask('a');
    pacer.setPace({ requestsPerSecond: 10, maxConcurrency: 8 });
    vi.advanceTimersByTime(4999);
    expect(started).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(started).toEqual(['a']);
  });
});

it('serves nobody once it is closed, and leaves no timer', () => {
  const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 }, ['a']);
  const { started, endAll, ask } = record(pacer);
  ask('a');
  ask('a');
  pacer.close();
  endAll();
  ask('a');
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(3_600_000);
  expect(started).toHaveLength(1);
});
