import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { burstOf, type Pace, Pacer, type Permit, type QueueAddress } from '../../src/api/pacer.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { runs } from '../runs.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const quick: Pace = { requestsPerSecond: 1000, maxConcurrency: 8 };
const never = new AbortController().signal;

/** `acme` of the account of this name; `acme/films/statistics` of one of its keys and one of its kinds. */
function addressOf(text: string): QueueAddress {
  const [account = '', credential = account, kind = 'statistics', queue = kind] = text.split('/');
  return { account, credential, kind, queue };
}

/** A request of this address gets 429. */
function refuse(pacer: Pacer, text: string, retryAfterMs?: number): void {
  const address = addressOf(text);
  pacer.refused(address, address.credential, retryAfterMs);
}

/** A request of this address is answered, well or otherwise. */
function answer(pacer: Pacer, text: string, isRead: boolean): void {
  const address = addressOf(text);
  pacer.answered(address, address.credential, isRead);
}

/** The address of a kind of the only account. */
function ofKind(queue: string): QueueAddress {
  return { account: 'acme', credential: 'acme', kind: queue, queue };
}

/** Has a pacer keep a slot for kinds. */
function keepKinds(pacer: Pacer, queues: readonly string[]): void {
  pacer.reserveFor({ queues, accounts: [] });
}

/** Has a first request wait for its turn, and calls this when it begins. */
function begin(pacer: Pacer, address: QueueAddress, onBegun: (permit: Permit) => void): void {
  void pacer.permit(address, { isFirst: true }, never).then(onBegun);
}

/** Lets what has a permit begin. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

/** Has requests wait that hold their permit until the test ends them; `started` lists them in order. */
function record(pacer: Pacer, toAddress = ofKind) {
  const started: string[] = [];
  const permits: Permit[] = [];
  const ask = (text: string, name = text) =>
    begin(pacer, toAddress(text), (permit) => {
      started.push(name);
      permits.push(permit);
    });
  const endAll = () => {
    for (const permit of permits.splice(0)) permit.release();
  };
  return { started, permits, ask, endAll };
}

describe('rate', () => {
  it('starts the burst at once and then one request per interval', async () => {
    const pacer = new Pacer({ requestsPerSecond: 40, maxConcurrency: 100 });
    const { started, ask } = record(pacer);
    for (let i = 0; i < 10; i++) ask('a');
    await settle();
    expect(started).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(24);
    expect(started).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(7 * 25);
    expect(started).toHaveLength(10);
  });

  it('never exceeds requests_per_second plus the burst in any second, nor max_concurrency, and loses no request', async () => {
    const queues = ['a', 'b', 'c'];
    const arrival = fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.nat(40), fc.nat(3000)),
      queue: fc.constantFrom(...queues),
      lastsMs: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(2000)),
      wanted: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
      set: fc.option(fc.subarray(queues), { freq: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrival, { maxLength: 80 }),
        fc.oneof(fc.integer({ min: 1, max: 200 }), fc.double({ min: 0.5, max: 5, noNaN: true })),
        fc.integer({ min: 1, max: 6 }),
        async (arrivals, requestsPerSecond, maxConcurrency) => {
          const pacer = new Pacer({ requestsPerSecond, maxConcurrency });
          const starts: number[] = [];
          let inFlight = 0;
          let mostInFlight = 0;
          let lost = 0;
          for (const { afterMs, queue, lastsMs, wanted, set } of arrivals) {
            await vi.advanceTimersByTimeAsync(afterMs);
            if (set) keepKinds(pacer, set);
            const abort = new AbortController();
            const begun = pacer.permit(ofKind(queue), { isFirst: true }, abort.signal).then((permit) => {
              starts.push(performance.now());
              inFlight++;
              mostInFlight = Math.max(mostInFlight, inFlight);
              setTimeout(() => {
                inFlight--;
                permit.release();
              }, lastsMs);
            });
            // What nobody wants any more may have its permit already.
            if (wanted) lost++;
            else abort.abort();
            begun.then(
              () => wanted && lost--,
              () => undefined,
            );
          }
          await vi.advanceTimersByTimeAsync(600_000);
          expect(lost).toBe(0);
          expect(mostInFlight).toBeLessThanOrEqual(maxConcurrency);
          const most = requestsPerSecond + burstOf(requestsPerSecond);
          for (const start of starts) {
            const within = starts.filter((other) => other >= start && other < start + 1000);
            expect(within.length).toBeLessThanOrEqual(most);
          }
        },
      ),
      { numRuns: runs(40, 2000) },
    );
  });
});

describe('fairness', () => {
  it('gives each queue its share while thousands of another wait', async () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 8 });
    const started: string[] = [];
    const ask = (queue: string) =>
      begin(pacer, ofKind(queue), (permit) => {
        started.push(queue);
        setTimeout(() => permit.release(), 5);
      });
    for (let i = 0; i < runs(2_000, 20_000); i++) ask('video');
    for (let i = 0; i < 10; i++) {
      ask('application');
      ask('zone');
    }
    await vi.advanceTimersByTimeAsync(1600);
    const count = (queue: string) => started.filter((one) => one === queue).length;
    expect([count('application'), count('zone')]).toEqual([10, 10]);
    expect(count('video')).toBeGreaterThanOrEqual(10);
  });

  it('lets those that come and go, each time with one request, not have all the turns', async () => {
    const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 });
    const started: string[] = [];
    const ask = (text: string, isAgain: boolean) =>
      begin(pacer, addressOf(text), (permit) => {
        started.push(text);
        setTimeout(() => {
          permit.release();
          if (isAgain) ask(text, true);
        }, 1);
      });
    const others = [
      'acme/key 1',
      'acme/key 2',
      'acme/acme/kind 1',
      'acme/acme/kind 2',
      'umbrella',
      'initech',
    ];
    for (const text of others) ask(text, true);
    for (let n = 0; n < 50; n++) ask('acme', false);
    await vi.advanceTimersByTimeAsync(60_000);
    // Of 600 turns its account has a third, its key a third of these, and its kind a third of those.
    const turns = started.filter((one) => one === 'acme').length;
    expect(turns).toBeGreaterThan(15);
    expect(turns).toBeLessThan(30);
  });

  it('serves a queue first in, first out, but finishes what was begun before starting something new', async () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 8 });
    const { started, ask } = record(pacer);
    for (const name of ['first', 'second', 'third']) ask('a', name);
    void pacer.permit(ofKind('a'), {}, never).then(() => started.push('further page'));
    await vi.advanceTimersByTimeAsync(200);
    expect(started).toEqual(['first', 'further page', 'second', 'third']);
  });

  /** A pacer that reserves a slot for each of these queues. */
  function keeping(pace: Pace, ...queues: readonly string[]): Pacer {
    const pacer = new Pacer(pace);
    keepKinds(pacer, queues);
    return pacer;
  }

  it('reserves at most half of the slots for other queues', async () => {
    for (const [maxConcurrency, most] of [
      [1, 1],
      [2, 1],
      [3, 2],
      [4, 2],
    ] as const) {
      const pacer = keeping({ ...quick, maxConcurrency }, 'a', 'b', 'c');
      const { started, ask } = record(pacer);
      for (let i = 0; i < 20; i++) ask('a');
      await vi.advanceTimersByTimeAsync(100);
      expect(started).toHaveLength(most);
    }
  });

  it('reserves a slot for a queue while the requests of all the others hang', async () => {
    const pacer = keeping(quick, 'hanging', 'also hanging', 'c');
    const { started, permits, ask } = record(pacer);
    for (let i = 0; i < 20; i++) {
      ask('hanging');
      ask('also hanging');
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(7);
    ask('c', 'c1');
    ask('c', 'c2');
    await vi.advanceTimersByTimeAsync(100);
    expect(started.slice(7)).toEqual(['c1']);
    permits[7]?.release();
    await vi.advanceTimersByTimeAsync(100);
    expect(started.slice(7)).toEqual(['c1', 'c2']);
  });
});

describe('reserveFor', () => {
  it('no longer reserves a slot for a queue that is gone', async () => {
    const pacer = new Pacer(quick);
    const { started, ask, endAll } = record(pacer);
    keepKinds(pacer, ['a', 'gone']);
    ask('gone');
    await vi.advanceTimersByTimeAsync(100);
    endAll();
    for (let i = 0; i < 20; i++) ask('a');
    await vi.advanceTimersByTimeAsync(100);
    expect(started.filter((name) => name === 'a')).toHaveLength(7);
    keepKinds(pacer, ['a']);
    await vi.advanceTimersByTimeAsync(100);
    expect(started.filter((name) => name === 'a')).toHaveLength(8);
  });
});

describe('a permit', () => {
  it('frees its slot only once, however often it is released', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 1 });
    const { started, permits, ask } = record(pacer);
    for (let i = 0; i < 4; i++) ask('a');
    await settle();
    permits[0]?.release();
    permits[0]?.release();
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(2);
  });

  it.each([true, false])(
    'is no longer waited for after an abort, which rejects with its reason, and costs nothing',
    async (isFirst) => {
      const pacer = new Pacer({ requestsPerSecond: 1, maxConcurrency: 8 });
      const { started, ask } = record(pacer);
      ask('a', 'first');
      const abort = new AbortController();
      const permits = Array.from({ length: 100 }, () => pacer.permit(ofKind('a'), { isFirst }, abort.signal));
      ask('a', 'second');
      const rejected = Promise.all(permits.map((permit) => expect(permit).rejects.toThrow('reloaded')));
      abort.abort(new Error('reloaded'));
      await rejected;
      // Only what has something to ask is remembered: the first, and the one that waits.
      expect(pacer.size).toBe(1);
      const alone = new AbortController();
      const ofOther = expect(pacer.permit(ofKind('b'), { isFirst }, alone.signal)).rejects.toThrow(
        'reloaded',
      );
      expect(pacer.size).toBe(2);
      alone.abort(new Error('reloaded'));
      await ofOther;
      expect(pacer.size).toBe(1);
      await vi.advanceTimersByTimeAsync(1000);
      expect(started).toEqual(['first', 'second']);
      await expect(pacer.permit(ofKind('a'), { isFirst }, abort.signal)).rejects.toThrow('reloaded');
    },
  );

  it('is no longer waited for after untilMs', async () => {
    const pacer = new Pacer(quick);
    const { signal } = new AbortController();
    refuse(pacer, 'acme/acme/a', 5000);
    const tooLate = expect(
      pacer.permit(ofKind('a'), { untilMs: performance.now() + 4000 }, signal),
    ).rejects.toThrow('no permit in time');
    const inTime = pacer.permit(ofKind('a'), { untilMs: performance.now() + 6000 }, signal);
    await vi.advanceTimersByTimeAsync(4000);
    await tooLate;
    await vi.advanceTimersByTimeAsync(2000);
    expect(await inTime).toBeDefined();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves nothing in memory once nobody waits for it', async () => {
    vi.useRealTimers();
    const pacer = new Pacer(quick);
    refuse(pacer, 'acme/acme/a', 3_600_000);
    const leave = async (): Promise<WeakRef<AbortSignal>[]> => {
      const aborted = new AbortController();
      const late = new AbortController();
      const permit = pacer.permit(ofKind('a'), {}, aborted.signal);
      const none = pacer.permit(ofKind('a'), { untilMs: performance.now() }, late.signal);
      aborted.abort();
      await Promise.allSettled([permit, none]);
      return [new WeakRef(aborted.signal), new WeakRef(late.signal)];
    };
    const signals = await leave();
    // What a WeakRef was made of stays until the turn ends, and a collection takes a tenth of a second.
    await new Promise(setImmediate);
    // A garbage collection that had already begun may leave what was just dropped to the next one.
    const remembered = () => {
      collectGarbage();
      return signals.map((signal) => signal.deref() !== undefined);
    };
    await expect.poll(remembered).toEqual([false, false]);
    pacer.close();
  });

  it('remembers no accounts, keys and kinds that have nothing to ask any more', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1e9, maxConcurrency: 8 });
    const ask = (text: string) => begin(pacer, addressOf(text), (permit) => permit.release());
    // A request of acme never ends.
    begin(pacer, addressOf('acme'), () => undefined);
    const bytes = () => {
      // The first collection may be the end of one that began before.
      collectGarbage();
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const rounds = runs(1000, 10_000);
    const before = bytes();
    for (let n = 0; n < rounds; n++) {
      ask(`account ${n}`);
      ask(`acme/key ${n}`);
      ask(`acme/acme/kind ${n}`);
      await settle();
    }
    // What is remembered of one takes a kilobyte.
    expect(bytes() - before).toBeLessThan(rounds * 500);
    pacer.close();
  });
});

describe('pause', () => {
  it('is prolonged but never shortened', async () => {
    const pacer = new Pacer(quick);
    const { started, ask } = record(pacer);
    refuse(pacer, 'acme/acme/a', 5000);
    refuse(pacer, 'acme/acme/a', 1000);
    ask('a');
    await vi.advanceTimersByTimeAsync(4000);
    refuse(pacer, 'acme/acme/a', 5000);
    await vi.advanceTimersByTimeAsync(4999);
    expect(started).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toEqual(['a']);
  });

  it('does not release all the requests that piled up at once', async () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 100 });
    const { started, ask } = record(pacer);
    refuse(pacer, 'acme/acme/a', 60_000);
    for (let i = 0; i < 100; i++) ask('a');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started).toHaveLength(1);
    answer(pacer, 'acme/acme/a', true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(started).toHaveLength(21);
  });
});

describe('accounts', () => {
  const slots = (started: readonly string[], account: string) =>
    started.filter((one) => one.startsWith(account)).length;

  it('take turns, however many keys and kinds each has', async () => {
    const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 100 });
    const { started, ask, endAll } = record(pacer, addressOf);
    for (let key = 0; key < 50; key++) for (const kind of ['x', 'y']) ask(`acme/${key}/${kind}`);
    for (let n = 0; n < 5; n++) ask('umbrella');
    for (let n = 0; n < 10; n++) {
      await vi.advanceTimersByTimeAsync(100);
      endAll();
    }
    expect(slots(started, 'umbrella')).toBe(5);
    // The keys of an account have their turns before a second kind of one does.
    expect(
      new Set(started.filter((one) => one.startsWith('acme')).map((one) => one.split('/')[1])).size,
    ).toBe(slots(started, 'acme'));
  });

  it('have at most their share of the slots while others wait, and all of them otherwise', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 6 });
    const { started, permits, ask } = record(pacer, addressOf);
    for (let n = 0; n < 20; n++) ask('acme');
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(6);
    for (let n = 0; n < 20; n++) ask('umbrella');
    for (const permit of permits.splice(0, 3)) permit.release();
    await vi.advanceTimersByTimeAsync(100);
    expect(slots(started, 'umbrella')).toBe(3);
    // Nothing of acme begins where umbrella has its share, nor the other way round.
    for (const permit of permits.splice(0, 3)) permit.release();
    await vi.advanceTimersByTimeAsync(100);
    expect([slots(started, 'acme'), slots(started, 'umbrella')]).toEqual([9, 3]);
  });

  it('have no more than their share, however many keys they have', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 6 });
    const { started, permits, ask } = record(pacer, addressOf);
    const libraries = Array.from({ length: 20 }, (_, n) => `acme/library ${n}`);
    for (const library of libraries) ask(library);
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(6);
    for (let n = 0; n < 3; n++) ask('umbrella');
    for (const permit of permits.splice(0, 3)) permit.release();
    await vi.advanceTimersByTimeAsync(100);
    expect([slots(started, 'acme'), slots(started, 'umbrella')]).toEqual([6, 3]);
  });

  it('have a slot that is kept for them, while all requests of another hang', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 2 });
    pacer.reserveFor({ queues: [], accounts: ['acme', 'umbrella'] });
    const { started, permits, ask } = record(pacer, addressOf);
    for (let n = 0; n < 20; n++) ask('acme');
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toEqual(['acme']);
    for (let n = 0; n < 5; n++) {
      ask('umbrella');
      await vi.advanceTimersByTimeAsync(100);
      permits.pop()?.release();
    }
    expect(slots(started, 'umbrella')).toBe(5);
  });

  it('have their own queue served although another has the same one in flight', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 8 });
    pacer.reserveFor({ queues: ['v', 'w', 'x', 'y', 'z', 'idle'], accounts: ['acme', 'umbrella'] });
    const { started, permits, ask } = record(pacer, addressOf);
    for (let n = 0; n < 20; n++) for (const kind of ['y', 'z', 'v', 'w']) ask(`umbrella/umbrella/${kind}`);
    for (let n = 0; n < 20; n++) ask('acme/acme/x');
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toContain('acme/acme/x');
    ask('umbrella/umbrella/x');
    // That of acme hangs.
    for (let at = 0; at < 12; at++) {
      if (started[at] !== 'acme/acme/x') permits[at]?.release();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(started).toContain('umbrella/umbrella/x');
  });

  it('give each of their keys its share of the slots, whosever turn it is', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 4 });
    const { started, permits, ask } = record(pacer, addressOf);
    for (let n = 0; n < 20; n++) ask('acme/films');
    await vi.advanceTimersByTimeAsync(100);
    for (let n = 0; n < 20; n++) ask('acme/series');
    for (const permit of permits.splice(0, 2)) permit.release();
    await vi.advanceTimersByTimeAsync(100);
    expect(started.slice(4)).toEqual(['acme/series', 'acme/series']);
    // What ends is replaced by another request with the same key: with the other one two are in flight.
    for (const permit of permits.splice(2)) permit.release();
    await vi.advanceTimersByTimeAsync(100);
    expect(started.slice(6)).toEqual(['acme/series', 'acme/series']);
  });

  it('are not held back by a key of theirs that has its share already', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 4 });
    const { started, ask } = record(pacer, addressOf);
    for (let n = 0; n < 20; n++) ask('acme/hanging');
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(4);
    ask('acme/films');
    await settle();
    expect(started).toHaveLength(4);
  });
});

describe('a pause of a kind', () => {
  it('holds back its listings as well, but neither another kind, nor the same with another key, and takes no turn', async () => {
    const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 });
    const { started, ask, endAll } = record(pacer, addressOf);
    refuse(pacer, 'acme/acme/x', 60_000);
    const addresses = [
      'acme/acme/x',
      'acme/acme/x/x listing',
      'acme/acme/y',
      'acme/films/x',
      'umbrella/umbrella/x',
    ];
    for (let n = 0; n < 20; n++) for (const address of addresses) ask(address);
    for (let n = 0; n < 20; n++) {
      await vi.advanceTimersByTimeAsync(100);
      endAll();
    }
    expect(started).toHaveLength(21);
    expect(new Set(started)).toEqual(new Set(addresses.slice(2)));
  });

  it('ends with one request of the kind, whose answer decides; the others of its key go on meanwhile', async () => {
    const pacer = new Pacer(quick);
    const { started, permits, ask } = record(pacer, addressOf);
    refuse(pacer, 'acme/acme/x', 5000);
    for (let n = 0; n < 3; n++) for (const address of ['acme/acme/x', 'acme/acme/x/x listing']) ask(address);
    const ofKind = () => started.filter((address) => address.includes('x')).length;
    await vi.advanceTimersByTimeAsync(6000);
    expect(ofKind()).toBe(1);
    for (let n = 0; n < 3; n++) ask('acme/acme/y');
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(4);
    refuse(pacer, 'acme/acme/x', 5000);
    permits[0]?.release();
    await vi.advanceTimersByTimeAsync(4999);
    expect(ofKind()).toBe(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(ofKind()).toBe(2);
    answer(pacer, 'acme/acme/x', false);
    permits[4]?.release();
    await vi.advanceTimersByTimeAsync(100);
    expect(ofKind()).toBe(6);
  });

  it('of an answer in flight goes on to its end, but the next one is as short as a first one', async () => {
    const pauseOf = (pacer: Pacer) => Math.round((pacer.pauseOf(addressOf('acme'))?.forMs ?? 0) / 1000);
    vi.spyOn(Math, 'random').mockReturnValue(0);
    for (const [isAnswered, lastSeconds] of [
      [false, 4],
      [true, 1],
    ] as const) {
      const pacer = new Pacer(quick);
      const durations: number[] = [];
      for (let refusals = 0; refusals < 3; refusals++) {
        refuse(pacer, 'acme');
        durations.push(pauseOf(pacer));
        // Of a request that was under way when the pause began.
        if (isAnswered && refusals === 1) answer(pacer, 'acme', false);
        expect(pauseOf(pacer)).toBe(durations.at(-1));
        await vi.advanceTimersByTimeAsync(4001);
      }
      expect(durations).toEqual([1, 2, lastSeconds]);
    }
    vi.restoreAllMocks();
  });
});

it('what was refused and then not asked for during an hour is refused as for the first time', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const pacer = new Pacer(quick);
  const durations: number[] = [];
  for (const afterMs of [0, 10_000, 10_000, 7_200_000, 10_000]) {
    await vi.advanceTimersByTimeAsync(afterMs);
    refuse(pacer, 'acme');
    durations.push(Math.round((pacer.pauseOf(addressOf('acme'))?.forMs ?? 0) / 1000));
  }
  expect(durations).toEqual([1, 2, 4, 1, 2]);
  vi.restoreAllMocks();
});

it('the longest of the pauses that hold a request back is told, with what it is of', () => {
  const pacer = new Pacer(quick);
  const pauseOf = (text: string) => pacer.pauseOf(addressOf(text));
  expect(pauseOf('acme/acme/x')).toBeUndefined();
  refuse(pacer, 'acme/acme/x', 600_000);
  expect(pauseOf('acme/acme/y')).toBeUndefined();
  refuse(pacer, 'acme/acme/y', 60_000);
  expect(pauseOf('acme/acme/x')).toEqual({ credential: 'acme', kind: 'x', forMs: 600_000 });
  // Of two that are as long, that of more.
  for (const kind of ['y', 'z'])
    expect(pauseOf(`acme/acme/${kind}`)).toEqual({ credential: 'acme', kind: '', forMs: 60_000 });
  for (const kind of ['x', 'y']) refuse(pacer, `umbrella/umbrella/${kind}`, 30_000);
  expect(pauseOf('third')).toEqual({ credential: '', kind: '', forMs: 30_000 });
});

describe('a pause of one key', () => {
  const isKeyPaused = (pacer: Pacer, credential = 'acme') =>
    pacer.pauses([credential]).some((part) => part.credential === credential && part.kind === '');

  it('begins with the second kind that gets 429, and holds back neither the other keys nor other accounts', async () => {
    const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 });
    const { started, ask, endAll } = record(pacer, addressOf);
    for (let n = 0; n < 3; n++) refuse(pacer, 'acme/films/x', 5000);
    expect(isKeyPaused(pacer, 'films')).toBe(false);
    refuse(pacer, 'acme/films/y', 60_000);
    expect(isKeyPaused(pacer, 'films')).toBe(true);
    for (let n = 0; n < 20; n++)
      for (const address of ['acme/films/z', 'acme/series', 'umbrella']) ask(address);
    for (let n = 0; n < 20; n++) {
      await vi.advanceTimersByTimeAsync(100);
      endAll();
    }
    expect(started).toHaveLength(21);
    expect(started).not.toContain('acme/films/z');
  });

  it('does not begin if anything was read with the key since the first, nor for a kind that is refused again and again', async () => {
    const pacer = new Pacer(quick);
    refuse(pacer, 'acme/acme/x', 20_000);
    answer(pacer, 'acme/acme/z', true);
    refuse(pacer, 'acme/acme/y', 20_000);
    expect(isKeyPaused(pacer)).toBe(false);
    for (let n = 0; n < 5; n++) {
      answer(pacer, 'acme/acme/z', true);
      await vi.advanceTimersByTimeAsync(30_000);
      for (const kind of ['x', 'y']) refuse(pacer, `acme/acme/${kind}`, 20_000);
      expect(isKeyPaused(pacer)).toBe(false);
    }
    // What another key read says nothing of this one.
    answer(pacer, 'acme/films/z', true);
    refuse(pacer, 'acme/acme/v', 20_000);
    refuse(pacer, 'acme/acme/w', 20_000);
    expect(isKeyPaused(pacer)).toBe(true);
  });

  it('ends with one request, of a kind that got no 429 since the last reading if one waits, whose answer decides', async () => {
    const pacer = new Pacer(quick);
    const { started, ask, endAll } = record(pacer);
    for (const kind of ['a', 'b']) refuse(pacer, `acme/acme/${kind}`, 5000);
    for (const kind of ['a', 'b', 'c', 'd']) for (let n = 0; n < 2; n++) ask(kind);
    await vi.advanceTimersByTimeAsync(6000);
    expect(started).toEqual(['c']);
    refuse(pacer, 'acme/acme/c', 5000);
    endAll();
    await vi.advanceTimersByTimeAsync(4999);
    expect(started).toEqual(['c']);
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toEqual(['c', 'd']);
    refuse(pacer, 'acme/acme/d', 5000);
    endAll();
    await vi.advanceTimersByTimeAsync(6000);
    // All of them got 429: then any of them.
    expect(started).toHaveLength(3);
    answer(pacer, `acme/acme/${started[2] ?? ''}`, true);
    endAll();
    await vi.advanceTimersByTimeAsync(100);
    // One of each kind that was paused tries.
    expect(started).toHaveLength(3 + 4);
  });

  it('ends in time for a kind that was never refused, though nothing else happens', async () => {
    const pacer = new Pacer(quick);
    const { started, ask } = record(pacer);
    refuse(pacer, 'acme/acme/a', 5000);
    refuse(pacer, 'acme/acme/b', 90_000);
    ask('c');
    await vi.advanceTimersByTimeAsync(89_999);
    expect(started).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toEqual(['c']);
  });

  it('ends with the first reading with it, such as that of a request in flight; those of the kinds go on', async () => {
    const pacer = new Pacer(quick);
    const { started, ask } = record(pacer);
    for (const kind of ['a', 'b']) refuse(pacer, `acme/acme/${kind}`, 5000);
    for (const kind of ['a', 'c']) ask(kind);
    answer(pacer, 'acme/films/c', true);
    await settle();
    expect(started).toEqual([]);
    answer(pacer, 'acme/acme/c', true);
    await settle();
    expect(started).toEqual(['c']);
    expect(pacer.pauses(['acme']).map(({ kind }) => kind)).toEqual(['a', 'b']);
  });

  it('belongs to the key itself: another one under the same name starts at once, also what waits', async () => {
    let keyId = 'old';
    const pacer = new Pacer(quick, (credential) => (credential === 'acme' ? keyId : credential));
    const { started, ask } = record(pacer);
    for (const kind of ['a', 'b']) pacer.refused(ofKind(kind), 'old', 600_000);
    for (const kind of ['a', 'c']) ask(kind);
    await vi.advanceTimersByTimeAsync(1000);
    expect(started).toEqual([]);
    keyId = 'new';
    expect(pacer.pauses(['acme'])).toEqual([]);
    // A plan says so.
    keepKinds(pacer, []);
    await settle();
    expect(started).toEqual(['a', 'c']);
    // What was in flight with the old one says nothing of the new one.
    pacer.refused(ofKind('d'), 'old', 600_000);
    ask('d');
    await settle();
    expect(started).toEqual(['a', 'c', 'd']);
    keyId = 'old';
    ask('e');
    await vi.advanceTimersByTimeAsync(1000);
    expect(started).toHaveLength(3);
  });

  it('is that of all the names that the key has', async () => {
    const pacer = new Pacer(quick, () => 'same');
    const { started, ask } = record(pacer, addressOf);
    for (const kind of ['x', 'y']) pacer.refused(addressOf(`acme/acme/${kind}`), 'same', 5000);
    ask('acme/other name/z');
    await vi.advanceTimersByTimeAsync(4999);
    expect(started).toEqual([]);
  });
});

describe('a pause of the API', () => {
  /** Pauses a key as a whole. */
  const refuseKey = (pacer: Pacer, key: string, retryAfterMs: number) => {
    for (const kind of ['x', 'y']) refuse(pacer, `${key}/${key}/${kind}`, retryAfterMs);
  };
  const createRefused = () => {
    const pacer = new Pacer(quick);
    const recorded = record(pacer, addressOf);
    refuseKey(pacer, 'acme', 600_000);
    return { pacer, ...recorded };
  };
  const areAllPaused = (pacer: Pacer) => pacer.pauses([]).some(({ credential }) => credential === '');

  it('begins with the second key that is paused as a whole, for as long as that answer says, and at most a minute', async () => {
    for (const [retryAfterMs, pausedMs] of [
      [20_000, 20_000],
      [600_000, 60_000],
    ] as const) {
      const { pacer, started, ask, endAll } = createRefused();
      refuseKey(pacer, 'acme', 600_000);
      refuse(pacer, 'umbrella', retryAfterMs);
      expect(areAllPaused(pacer)).toBe(false);
      refuseKey(pacer, 'umbrella', retryAfterMs);
      expect(areAllPaused(pacer)).toBe(true);
      for (let n = 0; n < 3; n++) ask('third');
      await vi.advanceTimersByTimeAsync(pausedMs - 1);
      expect(started).toEqual([]);
      await vi.advanceTimersByTimeAsync(10);
      // One tries.
      expect(started).toHaveLength(1);
      answer(pacer, 'third', true);
      endAll();
      await vi.advanceTimersByTimeAsync(100);
      expect(started).toHaveLength(3);
    }
  });

  it('ends with one request, whatever its answer is but another 429, and is not prolonged meanwhile', async () => {
    const { pacer, started, ask, endAll } = createRefused();
    refuseKey(pacer, 'umbrella', 20_000);
    await vi.advanceTimersByTimeAsync(10_000);
    // Of requests that were in flight.
    refuseKey(pacer, 'initech', 20_000);
    for (let n = 0; n < 3; n++) ask('third');
    await vi.advanceTimersByTimeAsync(10_001);
    expect(started).toHaveLength(1);
    answer(pacer, 'third', false);
    endAll();
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(3);
  });

  it('does not begin if anything was read with any key since the first', () => {
    const { pacer } = createRefused();
    answer(pacer, 'third', true);
    refuseKey(pacer, 'umbrella', 20_000);
    expect(areAllPaused(pacer)).toBe(false);
  });

  it('does not begin if nothing was asked with the first for an hour, such as one that was replaced', async () => {
    const { pacer } = createRefused();
    await vi.advanceTimersByTimeAsync(3_601_000);
    refuseKey(pacer, 'umbrella', 20_000);
    expect(areAllPaused(pacer)).toBe(false);
  });

  describe('after the API has moved', () => {
    const everyKey = ['account', 'other'].flatMap((credential) =>
      ['a', 'b'].map((kind) => ({ account: credential, credential, kind, queue: kind })),
    );
    const createMoving = () => {
      let address = 'former';
      const pacer = new Pacer(quick, (credential) => `${credential} ${address}`);
      const answer429 = (at: string) => {
        for (const one of everyKey) pacer.refused(one, `${one.credential} ${at}`, 600_000);
      };
      const move = () => {
        address = 'new';
        pacer.setPace(quick, true);
      };
      return { pacer, answer429, move };
    };

    it('does not begin with what the former address said, although that comes late', () => {
      const { pacer, answer429, move } = createMoving();
      answer429('former');
      move();
      answer429('former');
      expect(pacer.pauses(['account', 'other'])).toEqual([]);
      pacer.close();
    });

    it('does not end with what the former address said, although that comes late', () => {
      const { pacer, answer429, move } = createMoving();
      move();
      answer429('new');
      expect(areAllPaused(pacer)).toBe(true);
      for (const one of everyKey) pacer.answered(one, `${one.credential} former`, true);
      expect(areAllPaused(pacer)).toBe(true);
      pacer.close();
    });
  });

  it('does not begin for the same key under two names', () => {
    const { pacer } = createRefused();
    for (const kind of ['x', 'y']) pacer.refused(addressOf(`other/other/${kind}`), 'acme', 20_000);
    expect(areAllPaused(pacer)).toBe(false);
  });

  it('ends with the first reading, such as that of a request in flight', async () => {
    const { pacer, started, ask } = createRefused();
    refuseKey(pacer, 'umbrella', 20_000);
    ask('third');
    answer(pacer, 'third', true);
    await settle();
    expect(started).toEqual(['third']);
    expect(areAllPaused(pacer)).toBe(false);
  });

  it('does not begin again for keys that are always refused, while others are read', async () => {
    const { pacer } = createRefused();
    refuseKey(pacer, 'umbrella', 20_000);
    answer(pacer, 'third', true);
    for (let n = 0; n < 5; n++) {
      await vi.advanceTimersByTimeAsync(600_000);
      for (const key of ['acme', 'umbrella']) refuseKey(pacer, key, 20_000);
      expect(areAllPaused(pacer)).toBe(false);
    }
  });
});

describe('longestPauseMs', () => {
  it('is how long a row of pauses may take before what waits is told so', async () => {
    const pacer = new Pacer({ ...quick, longestPauseMs: 30_000 });
    const given: string[] = [];
    const ask = (name: string, isFirst: boolean) =>
      pacer.permit(ofKind('a'), { isFirst }, never).then(
        (permit) => {
          given.push(name);
          return permit;
        },
        (error: Error) => void given.push(`${name}: ${error.name}`),
      );
    refuse(pacer, 'acme/acme/a', 20_000);
    void ask('first', true);
    const further = ask('page', false);
    void ask('second', true);
    await vi.advanceTimersByTimeAsync(20_001);
    // The page goes first: it tries, and the others wait for its answer.
    expect(given).toEqual(['page']);
    refuse(pacer, 'acme/acme/a', 20_000);
    await settle();
    expect(given.slice(1)).toEqual(['first: PausedError', 'second: PausedError']);
    (await further)?.release();
    await ask('third', true);
    await ask('another page', false);
    expect(given.slice(3)).toEqual(['third: PausedError', 'another page: PausedError']);
  });
});

describe('slowDown', () => {
  it('starts so many a second, whoever waits, until it is told otherwise; then as many as before, and no more', async () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 100 });
    const { started, ask } = record(pacer, addressOf);
    pacer.slowDown(0.5);
    for (let n = 0; n < 100; n++) for (const address of ['acme', 'umbrella']) ask(address);
    // The token of before the slowness.
    await settle();
    expect(started).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(started).toHaveLength(11);
    pacer.slowDown(0.1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(started).toHaveLength(13);
    pacer.slowDown(undefined);
    await vi.advanceTimersByTimeAsync(1000);
    expect(started.length).toBeGreaterThanOrEqual(13 + 19);
    expect(started.length).toBeLessThanOrEqual(13 + 21);
    await vi.advanceTimersByTimeAsync(1000);
    expect(started.length).toBeLessThanOrEqual(13 + 41);
  });

  it('leaves no trace once it is over: who waits goes on at once, and nothing was saved up', async () => {
    const pacer = new Pacer({ requestsPerSecond: 20, maxConcurrency: 100 });
    const { started, ask } = record(pacer);
    ask('a');
    pacer.slowDown(0.01);
    ask('a');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(started).toHaveLength(1);
    pacer.slowDown(undefined);
    await vi.advanceTimersByTimeAsync(50);
    expect(started).toHaveLength(2);
    pacer.slowDown(0.01);
    await vi.advanceTimersByTimeAsync(500_000);
    pacer.slowDown(undefined);
    for (let n = 0; n < 100; n++) ask('a');
    await settle();
    expect(started).toHaveLength(3);
  });

  it('never starts more than the pace allows, also if that changes meanwhile', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1, maxConcurrency: 100 });
    const { started, ask } = record(pacer);
    pacer.slowDown(100);
    for (let n = 0; n < 100; n++) ask('a');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(started).toHaveLength(11);
    pacer.slowDown(1);
    pacer.setPace({ requestsPerSecond: 100, maxConcurrency: 100 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(started).toHaveLength(21);
  });
});

describe('setPace', () => {
  it('goes on at a slower pace, and waiters keep their position', async () => {
    const pacer = new Pacer({ requestsPerSecond: 100, maxConcurrency: 8 });
    const { started, ask } = record(pacer);
    for (let i = 0; i < 8; i++) ask('a', String(i));
    await settle();
    expect(started).toHaveLength(5);
    pacer.setPace({ requestsPerSecond: 1, maxConcurrency: 8 });
    await vi.advanceTimersByTimeAsync(999);
    expect(started).toHaveLength(5);
    await vi.advanceTimersByTimeAsync(1);
    expect(started.slice(5)).toEqual(['5']);
    await vi.advanceTimersByTimeAsync(1000);
    expect(started.slice(5)).toEqual(['5', '6']);
  });

  it('lets more in at once with more slots, and none with fewer', async () => {
    const pacer = new Pacer({ requestsPerSecond: 1000, maxConcurrency: 2 });
    const { started, permits, ask } = record(pacer);
    for (let i = 0; i < 10; i++) ask('a');
    await vi.advanceTimersByTimeAsync(10);
    expect(started).toHaveLength(2);
    pacer.setPace({ requestsPerSecond: 1000, maxConcurrency: 4 });
    await vi.advanceTimersByTimeAsync(10);
    expect(started).toHaveLength(4);
    pacer.setPace({ requestsPerSecond: 1000, maxConcurrency: 1 });
    for (const permit of permits.slice(0, 3)) permit.release();
    await vi.advanceTimersByTimeAsync(10);
    expect(started).toHaveLength(4);
    permits[3]?.release();
    await vi.advanceTimersByTimeAsync(10);
    expect(started).toHaveLength(5);
  });

  it('does not end a pause', async () => {
    const pacer = new Pacer(quick);
    const { started, ask } = record(pacer);
    refuse(pacer, 'acme/acme/a', 5000);
    ask('a');
    pacer.setPace({ requestsPerSecond: 10, maxConcurrency: 8 });
    await vi.advanceTimersByTimeAsync(4999);
    expect(started).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toEqual(['a']);
  });
});

it('serves nobody after it is closed, and leaves no timer', async () => {
  const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 });
  const { started, endAll, ask } = record(pacer);
  ask('a');
  ask('a');
  await settle();
  pacer.close();
  endAll();
  ask('a');
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(started).toHaveLength(1);
});
