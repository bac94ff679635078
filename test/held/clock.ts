/**
 * Time as a test lets it pass: timers, `Date.now()` and `performance.now()` stand still until it says so, and then go on as fast as
 * what they start can be carried out. `setImmediate` and promises are real.
 */

import { syncBuiltinESMExports } from 'node:module';
import type { TimerOptions } from 'node:timers';
import timersPromises from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

export interface Clock {
  /** Lets time pass, from timer to timer. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until this has settled, at most an hour. */
  passUntil<Value>(settled: Promise<Value>): Promise<Value>;
  /** The wall clock is set; nothing else changes. */
  setDate(laterMs: number): void;
  /** Waits until what can be done without time passing has been done. */
  rest(): Promise<void>;
  /** Lets no time pass while this goes on, which waits for something outside of this process. */
  hold<Value>(work: Promise<Value>): Promise<Value>;
  /** Lets no time pass before this has resolved, from each timer to the next: what the exporter itself begins outside of this process. */
  holdFor(outside: () => Promise<void>): void;
}

const maxWaitMs = 3_600_000;

let current: Clock | undefined;

/** Undefined in real time. */
export function currentClock(): Clock | undefined {
  return current;
}

/** `setTimeout` of `node:timers/promises`, with the timers of the test. */
function sleep<Value>(ms?: number, value?: Value, { signal }: TimerOptions = {}): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve(value as Value);
    }, ms);
    signal?.addEventListener('abort', abort);
  });
}

/** Stops time until the test ends; within a test there is one clock. nowMs: Unix time. */
export function stopTime(nowMs: number): Clock {
  if (current) return current;
  const { setImmediate: turn, setTimeout: realSleep } = timersPromises;
  vi.useFakeTimers({
    now: nowMs,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  // Not the whole `Date`: a faked one takes a twentieth of the processor time of these tests.
  let aheadMs = nowMs - performance.now();
  const { now } = Date;
  Date.now = () => Math.round(aheadMs + performance.now());
  let busy = 0;
  const hold = async <Value>(work: Promise<Value>): Promise<Value> => {
    busy++;
    try {
      return await work;
    } finally {
      busy--;
    }
  };
  timersPromises.setImmediate = (...given) => hold(turn(...given));
  timersPromises.setTimeout = sleep;
  // Also for those that import functions by their names.
  syncBuiltinESMExports();
  let isEnded = false;
  onTestFinished(() => {
    isEnded = true;
    current = undefined;
    vi.useRealTimers();
    Date.now = now;
    Object.assign(timersPromises, { setImmediate: turn, setTimeout: realSleep });
    syncBuiltinESMExports();
  });

  const rest = async () => {
    for (let turns = 0; turns < 3; turns++) await turn();
  };
  const outside: (() => Promise<void>)[] = [];
  /** Waits until everything waits for time to pass. */
  const settle = async () => {
    do {
      await rest();
      for (const ended of outside) await ended();
    } while (busy > 0);
  };
  const passWhile = async (goesOn: () => boolean) => {
    for (await settle(); goesOn(); await settle()) {
      // A test that took too long goes on beside the next one, which has the timers now.
      if (isEnded) throw new Error('the test has ended');
      vi.advanceTimersToNextTimer();
    }
  };
  current = {
    async pass(ms) {
      let isOver = false;
      setTimeout(() => {
        isOver = true;
      }, ms);
      await passWhile(() => !isOver);
    },
    async passUntil(settled) {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      settled.then(end, end);
      const limit = setTimeout(end, maxWaitMs);
      await passWhile(() => !isOver);
      clearTimeout(limit);
      const late = turn().then(() => Promise.reject(new Error('it did not settle within an hour')));
      return Promise.race([settled, late]);
    },
    rest: () => hold(rest()),
    setDate(laterMs) {
      aheadMs += laterMs;
    },
    hold,
    holdFor: (ended) => void outside.push(ended),
  };
  return current;
}
