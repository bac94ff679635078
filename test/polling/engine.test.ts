import { setImmediate as nextTurn } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { Pacer } from '../../src/api/pacer.ts';
import type { Config } from '../../src/config/config.ts';
import { CounterBook } from '../../src/counting/counter-book.ts';
import { TargetTask } from '../../src/polling/target-task.ts';
import { Turns } from '../../src/turns.ts';
import { configOf, engineWith, sectionConfig, targetConfig } from './fixtures.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minuteMs = 60_000;

interface Setting {
  readonly refused?: readonly string[];
  /** Whether every request fails. */
  readonly isDown?: () => boolean;
  readonly zones?: readonly number[];
  readonly keyIdOf?: (credential: string) => string;
  /** Replaces the usual answer. */
  readonly answer?: (path: string) => Promise<unknown>;
  /** Delays an answer until it resolves. */
  readonly hold?: (path: string) => Promise<unknown> | undefined;
}

/** An engine whose API refuses some credentials and lists some zones; `count` counts the requests of a path. */
function engineOf(config: Config, setting: Setting = {}) {
  const asked: string[] = [];
  let zones = setting.zones ?? [];
  const lines: string[] = [];
  const pacer = new Pacer({ requestsPerSecond: 10_000, maxConcurrency: 8 });
  const engine = engineWith(
    async ({ path, credential, permit }) => {
      asked.push(path);
      await setting.hold?.(path);
      permit?.release();
      if (setting.isDown?.()) throw new ApiError('server_error', 'HTTP 502', { status: 502 });
      if (setting.refused?.includes(credential)) throw new ApiError('auth', 'HTTP 401', { status: 401 });
      const answer = await setting.answer?.(path);
      if (answer !== undefined) return answer;
      if (path.includes('/shield-zones')) return { data: zones.map((shieldZoneId) => ({ shieldZoneId })) };
      if (path.includes('/rate-limits/')) return { data: [] };
      if (path.startsWith('/pullzone')) return { Items: [], TotalItems: 0, HasMoreItems: false };
      return { monthlyCost: 1 };
    },
    {
      paceOf: () => pacer,
      keyIdOf: setting.keyIdOf,
      log: pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) }),
    },
  );
  engine.apply(config);
  const count = (part: string) => asked.filter((path) => path.includes(part)).length;
  const keys = () => engine.overview().targets.map(({ target, state }) => `${target.key} ${state}`);
  return {
    engine,
    asked,
    count,
    keys,
    logged: (text: string) => lines.filter((line) => line.includes(text)),
    setZones: (ids: readonly number[]) => {
      zones = ids;
    },
  };
}

const config = configOf([
  sectionConfig('application', [
    targetConfig({ app_id: 'one' }, { credential: 'first', intervalMs: 60 * minuteMs }),
    targetConfig({ app_id: 'two' }, { credential: 'second', intervalMs: 60 * minuteMs }),
  ]),
]);
const allZones = configOf([sectionConfig('shield_zone', 'all'), sectionConfig('rate_limit', 'all')]);

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs everything that is due. */
const settle = async () => await vi.advanceTimersByTimeAsync(500);

/** Calls this with the zone of each reading that a target gets. Each reading takes a turn of its own. */
function afterReadings(then: (zone: string) => void): void {
  const succeeded = Reflect.get(TargetTask.prototype, 'succeeded') as TargetTask['succeeded'];
  const spy = vi.spyOn(TargetTask.prototype, 'succeeded').mockImplementation(function (
    this: TargetTask,
    ...given: Parameters<TargetTask['succeeded']>
  ) {
    const untold = succeeded.apply(this, given);
    vi.advanceTimersByTime(5);
    then(this.spec.ids['shield_zone_id'] ?? '');
    return untold;
  });
  onTestFinished(() => spy.mockRestore());
}

describe('a changed key', () => {
  it('changes nothing for healthy targets or those of other keys', async () => {
    const { engine, count } = engineOf(config, { refused: ['second'] });
    await settle();
    engine.keysChanged(['first']);
    await settle();
    expect([count('/one/'), count('/two/')]).toEqual([1, 1]);
    await engine.stop();
  });
});

describe('a key that is accepted again', () => {
  it('is no news for a target that it may not read while others succeed', async () => {
    const answer = (path: string) => {
      if (path.includes('/two/')) throw new ApiError('auth', 'HTTP 403', { status: 403 });
      return Promise.resolve({ monthlyCost: 1 });
    };
    const both = configOf([
      sectionConfig('application', [
        targetConfig({ app_id: 'one' }),
        targetConfig({ app_id: 'two' }, { intervalMs: 2 * minuteMs }),
      ]),
    ]);
    const { engine, count } = engineOf(both, { answer });
    await vi.advanceTimersByTimeAsync(60 * minuteMs);
    // It backs off: 2, 4, 8, 16 minutes and then 20 between two polls.
    expect(count('/two/')).toBeLessThanOrEqual(7);
    await engine.stop();
  });
});

describe('a configuration that is applied again', () => {
  it('polls refused targets at once, and leaves healthy ones alone', async () => {
    const { engine, count } = engineOf(config, { refused: ['first'] });
    await settle();
    engine.apply(config);
    await settle();
    expect([count('/one/'), count('/two/')]).toEqual([2, 1]);
    await engine.stop();
  });

  it('ignores the end of an old run for a target that has come back meanwhile', async () => {
    const ends: (() => void)[] = [];
    const hold = () => new Promise<void>((resolve) => ends.push(resolve));
    const one = configOf([sectionConfig('application', [targetConfig({ app_id: 'one' })])]);
    const { engine, count, keys } = engineOf(one, { hold });
    await settle();
    engine.apply(configOf([]));
    engine.apply(one);
    await settle();
    expect(count('/one/')).toBe(2);
    ends[0]?.();
    await settle();
    expect(keys()).toEqual(['application/one pending']);
    ends[1]?.();
    await settle();
    expect(keys()).toEqual(['application/one ok']);
    await engine.stop();
  });
});

it('a permit that comes as its target leaves is given back, and nothing is requested with it', async () => {
  const release = vi.fn();
  let grant = () => {};
  const get = vi.fn();
  const engine = engineWith(get, {
    paceOf: () => ({
      permit: () =>
        new Promise((resolve) => {
          grant = () => resolve({ release });
        }),
      reserveFor: () => undefined,
      slowDown: () => undefined,
    }),
  });
  engine.apply(configOf([sectionConfig('application', [targetConfig({ app_id: 'one' })])]));
  await settle();
  grant();
  engine.apply(configOf([]));
  await settle();
  expect(release).toHaveBeenCalledOnce();
  expect(get).not.toHaveBeenCalled();
  await engine.stop();
});

describe('a plan that is due', () => {
  const config = configOf(['pull_zone', 'storage_zone'].map((kind) => sectionConfig(kind, 'all')));

  /** An engine of two listings, each with one thing that has another name now; their answers come as the test says. */
  async function renamed(more: Parameters<typeof engineWith>[1] = {}) {
    let Name = 'before';
    const answers: (() => void)[] = [];
    const engine = engineWith(async ({ permit }) => {
      permit?.release();
      if (Name === 'after' && answers.length < 2) await new Promise<void>((resolve) => answers.push(resolve));
      return { Items: [{ Id: 100, Name }], TotalItems: 1, HasMoreItems: false };
    }, more);
    engine.apply(config);
    await vi.advanceTimersByTimeAsync(minuteMs);
    Name = 'after';
    void engine.pollNow();
    await vi.advanceTimersByTimeAsync(1000);
    expect(answers).toHaveLength(2);
    // A plan was just made: the next one waits.
    engine.apply(config);
    return { engine, answers };
  }

  it('keeps no stop waiting for longer than its pause, also after a reload', async () => {
    const { engine, answers } = await renamed();
    for (const answer of answers) {
      answer();
      await vi.advanceTimersByTimeAsync(10);
      engine.apply({ ...config });
    }
    let isStopped = false;
    void engine.stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(100);
    // Each of the two listings that wait for the plan has a turn of its own.
    await nextTurn();
    await nextTurn();
    expect(isStopped).toBe(true);
  });

  it('has the listings that wait for it give their readings in turns of their own', async () => {
    const { engine, answers } = await renamed();
    const turns: number[] = [];
    let turn = 0;
    afterReadings(() => void turns.push(turn));
    for (const answer of answers) answer();
    await vi.advanceTimersByTimeAsync(100);
    for (; turns.length < 2 && turn < 1000; turn++) await nextTurn();
    expect(new Set(turns).size).toBe(2);
    await engine.stop();
  });

  it('is not made where a reload has made it', async () => {
    const retain = vi.fn(() => []);
    const { engine, answers } = await renamed({ foundKeys: { learn: () => [], retain } });
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(10);
    engine.apply(config);
    const plans = retain.mock.calls.length;
    await vi.advanceTimersByTimeAsync(1000);
    expect(retain).toHaveBeenCalledTimes(plans);
    expect(engine.overview().targets.map(({ target }) => target.name)).toContain('after');
    answers[1]?.();
    await engine.stop();
  });

  it('fails the listing that waits for it if it cannot be made, also after a reload that could not', async () => {
    let isBroken = false;
    const retain = () => {
      if (isBroken) throw new Error('broken');
      return [];
    };
    const { engine, answers } = await renamed({ foundKeys: { learn: () => [], retain } });
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(10);
    isBroken = true;
    expect(() => engine.apply(config)).toThrow('broken');
    await vi.advanceTimersByTimeAsync(1000);
    expect(engine.overview().listings.map(({ state }) => state)).toContain('failing');
    // It is made anew with the next run.
    isBroken = false;
    answers[1]?.();
    await vi.advanceTimersByTimeAsync(30 * minuteMs);
    expect(engine.overview().listings.map(({ state }) => state)).toEqual(['ok', 'ok']);
    await engine.stop();
  });
});

describe('a listing', () => {
  it('is not asked again for the targets that it has just found', async () => {
    const { engine, count, keys, logged, setZones } = engineOf(allZones, { zones: [7] });
    await settle();
    expect(count('/shield-zones?page=1')).toBe(1);
    expect(logged('+1 Shield Zone"')).toHaveLength(1);
    setZones([7, 8]);
    void engine.pollNow();
    await settle();
    expect(keys()).toContain('shield_zone/8 ok');
    expect(count('/shield-zones?page=1')).toBe(2);
    await engine.stop();
  });

  it('has the reading of a target that a reload adds while it runs', async () => {
    const named = (...ids: string[]) =>
      configOf([
        sectionConfig(
          'shield_zone',
          ids.map((id) => targetConfig({ shield_zone_id: id }, { intervalMs: 60 * minuteMs })),
        ),
      ]);
    let release: (answer: undefined) => void = () => undefined;
    let runs = 0;
    const { engine, keys } = engineOf(named('7'), {
      zones: [7, 9],
      async answer(path) {
        if (!path.includes('page=1') || ++runs !== 2) return undefined;
        return await new Promise((resolve) => {
          release = resolve;
        });
      },
    });
    await settle();
    void engine.pollNow();
    await settle();
    engine.apply(named('7', '9'));
    expect(keys()).toEqual(['shield_zone/7 ok', 'shield_zone/9 pending']);
    release(undefined);
    await settle();
    expect(keys()).toEqual(['shield_zone/7 ok', 'shield_zone/9 ok']);
    expect(runs).toBe(2);
    await engine.stop();
  });

  it.each([
    ['adds', '9', 'a'],
    ['reads with other settings', '7', 'b'],
  ])(
    'gives its reading to a target that a reload %s while the others have theirs',
    async (_, id, setting) => {
      const named = (ids: readonly string[], some: string) =>
        configOf([
          sectionConfig(
            'shield_zone',
            ids.map((one) => targetConfig({ shield_zone_id: one }, { intervalMs: 60 * minuteMs })),
            { settings: { some } },
          ),
        ]);
      const { engine } = engineOf(named(['7', '8'], 'a'), { zones: [7, 8, 9] });
      await settle();
      const read: string[] = [];
      // The reload comes after the first.
      afterReadings((zone) => {
        if (read.push(zone) === 1)
          queueMicrotask(() => engine.apply(named([...new Set(['7', '8', id])], setting)));
      });
      void engine.pollNow();
      for (let turn = 0; turn < 20; turn++) {
        await vi.advanceTimersByTimeAsync(20);
        await nextTurn();
      }
      expect(read[0]).toBe('7');
      expect(read.slice(1)).toContain(id);
      await engine.stop();
    },
  );

  it.each([
    ['its key changes', ['7', '7', '8']],
    ['a target is read with another credential', ['7', '8']],
  ])('gives a target nothing more of a run that is not its own any more: %s', async (what, expected) => {
    const named = (credential: string) =>
      configOf([
        sectionConfig('shield_zone', [
          targetConfig({ shield_zone_id: '7' }, { intervalMs: 60 * minuteMs }),
          targetConfig({ shield_zone_id: '8' }, { intervalMs: 60 * minuteMs, credential }),
        ]),
      ]);
    let keyId = 'first';
    const { engine } = engineOf(named('account'), { zones: [7, 8], keyIdOf: () => keyId });
    await settle();
    const read: string[] = [];
    const change = () => {
      if (!what.includes('credential')) {
        keyId = 'second';
        engine.keysChanged(['account']);
      } else engine.apply(named('other'));
    };
    afterReadings((zone) => {
      if (read.push(zone) === 1) queueMicrotask(change);
    });
    void engine.pollNow();
    for (let turn = 0; turn < 30; turn++) {
      await vi.advanceTimersByTimeAsync(20);
      await nextTurn();
    }
    expect(read).toEqual(expected);
    await engine.stop();
  });

  it('is forgotten with its section: if the section comes back, it starts from scratch', async () => {
    let isDown = false;
    const { engine, keys, setZones } = engineOf(allZones, { zones: [7], isDown: () => isDown });
    await settle();
    engine.apply(configOf([]));
    isDown = true;
    setZones([9]);
    engine.apply(allZones);
    await settle();
    // It has failed, and what it had before it left is not polled.
    expect(engine.overview().listings.map(({ state }) => state)).toContain('failing');
    expect(keys()).toEqual([]);
    isDown = false;
    await vi.advanceTimersByTimeAsync(2 * minuteMs);
    expect(keys()).toEqual(['shield_zone/9 ok', 'rate_limit/9 ok']);
    await engine.stop();
  });

  it('makes the exporter ready only once its targets were polled, too', async () => {
    const ends: (() => void)[] = [];
    const hold = (path: string) =>
      path.includes('metrics/rate-limits') ? new Promise<void>((resolve) => ends.push(resolve)) : undefined;
    const { engine } = engineOf(allZones, { zones: [7], hold });
    await settle();
    expect(engine.isReady).toBe(false);
    ends[0]?.();
    await settle();
    expect(engine.isReady).toBe(true);
    await engine.stop();
  });

  it('makes the exporter ready when the last pending target leaves', async () => {
    const hold = (path: string) =>
      path.includes('metrics/rate-limits/8') ? new Promise(() => undefined) : undefined;
    const { engine, setZones } = engineOf(allZones, { zones: [7, 8], hold });
    await settle();
    expect(engine.isReady).toBe(false);
    setZones([7]);
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    expect(engine.isReady).toBe(true);
  });
});

describe('what takes its names from another listing', () => {
  const first = (asked: readonly string[], part: string) => asked.findIndex((path) => path.includes(part));

  it('comes after that one, whatever the outcome', async () => {
    for (const isDown of [false, true]) {
      const { engine, asked, count } = engineOf(allZones, {
        zones: [7],
        hold: (path) => (path.startsWith('/pullzone') ? after(2000) : undefined),
        answer(path) {
          if (isDown && path.startsWith('/pullzone')) throw new ApiError('auth', 'HTTP 403', { status: 403 });
          return Promise.resolve(undefined);
        },
      });
      await vi.advanceTimersByTimeAsync(1900);
      expect([count('/pullzone'), count('/shield-zones')]).toEqual([1, 0]);
      await settle();
      await settle();
      expect(count('/shield-zones?page=1')).toBe(1);
      // The names of the rate limits come before the figures.
      expect(first(asked, '/shield/rate-limits/7')).toBeLessThan(first(asked, '/metrics/rate-limits/7'));
      await engine.stop();
    }
  });

  it('waits no longer than five seconds', async () => {
    const { engine, count, keys } = engineOf(allZones, {
      zones: [7],
      hold: (path) => (path.startsWith('/pullzone') ? new Promise(() => undefined) : undefined),
    });
    await vi.advanceTimersByTimeAsync(4900);
    expect(count('/shield-zones')).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(keys()).toEqual(['shield_zone/7 ok', 'rate_limit/7 ok']);
    void engine.stop();
  });
});

describe('the capacity', () => {
  it('warns if the request rate is too low for what a listing has found', async () => {
    const slow: Config = {
      ...allZones,
      apis: { ...allZones.apis, shield: { ...allZones.apis.shield, requestsPerSecond: 0.1 } },
    };
    const { engine } = engineOf(slow, { zones: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
    await vi.advanceTimersByTimeAsync(5000);
    expect(engine.overview().capacities[0]?.shortfall).toBe(
      'shield: 19 polls need 0.18 requests/s, requests_per_second is 0.1: a round takes 3m10s; raise interval_factor, apis.shield.requests_per_second, or interval and stale_after (rate_limit needs most)',
    );
    await engine.stop();
  });
});

describe('a plan of many targets', () => {
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
  const keysOf = (ids: readonly number[]) => ids.map((id) => `shield_zone/${id} ok`);

  /** An engine that finds 300 zones. Once a hundred of them have come, then happens, in another turn; seen: how many have come by then. */
  async function found(then: (of: ReturnType<typeof engineOf>) => void, setting: Setting = {}) {
    vi.spyOn(Turns.prototype, 'isOver', 'get').mockReturnValue(true);
    onTestFinished(() => void vi.restoreAllMocks());
    let come = 0;
    let seen = 0;
    vi.spyOn(CounterBook.prototype, 'open').mockImplementation(() => {
      if (++come === 100)
        void nextTurn().then(() => {
          seen = created.keys().length;
          then(created);
        });
      return undefined;
    });
    const all = configOf([sectionConfig('application', 'all'), sectionConfig('shield_zone', 'all')]);
    const created = engineOf(all, { zones: range(0, 300), ...setting });
    // Each thing that is found, and each reading, has a turn of its own.
    for (let turn = 0; turn < 2500; turn++) {
      await vi.advanceTimersByTimeAsync(5);
      await nextTurn();
    }
    await created.engine.stop();
    return { ...created, seen };
  }

  it('is made in turns', async () => {
    const { keys, seen } = await found(() => undefined);
    expect(seen).toBeGreaterThanOrEqual(100);
    expect(seen).toBeLessThan(300);
    expect(keys()).toEqual(keysOf(range(0, 300)));
  });

  it('is given up for that of a reload', async () => {
    const { keys, seen } = await found(({ engine }) =>
      engine.apply(configOf([sectionConfig('shield_zone', [targetConfig({ shield_zone_id: '7' })])])),
    );
    expect(seen).toBeLessThan(300);
    expect(keys()).toEqual(keysOf([7]));
  });

  it('is followed by another one where something else was found meanwhile', async () => {
    let answer: (body: unknown) => void = () => undefined;
    const answered = new Promise((resolve) => {
      answer = resolve;
    });
    const { keys, seen } = await found(
      () => answer({ items: [{ id: 'a', name: 'shop' }], meta: { totalItems: 1 } }),
      { answer: (path) => (/\/apps\?/.test(path) ? answered : Promise.resolve(undefined)) },
    );
    expect(seen).toBeLessThan(300);
    expect(keys()).toEqual([...keysOf(range(0, 300)), 'application/a ok']);
  });

  describe('while others are read', () => {
    const zones = (n: number) => ({ data: range(0, n).map((shieldZoneId) => ({ shieldZoneId })) });
    const noPullZones = { Items: [], TotalItems: 0, HasMoreItems: false };

    async function pass(turns: number) {
      for (let turn = 0; turn < turns; turn++) {
        await vi.advanceTimersByTimeAsync(5);
        await nextTurn();
      }
    }

    it('a listing that was read does not wait until none of the others is being read', async () => {
      vi.spyOn(Turns.prototype, 'isOver', 'get').mockReturnValue(true);
      onTestFinished(() => void vi.restoreAllMocks());
      const pacer = new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 });
      const engine = engineWith(
        ({ path, permit }) => {
          permit?.release();
          return Promise.resolve(
            path.includes('/shield-zones')
              ? zones(100)
              : path.includes('/pullzone')
                ? noPullZones
                : { data: { configuration: {}, endpoints: [] } },
          );
        },
        { paceOf: () => pacer },
      );
      engine.apply(
        configOf([
          sectionConfig('api_guardian_zone', 'all', { intervalMs: 600_000 }),
          sectionConfig('api_guardian', 'all', { intervalMs: 600_000 }),
        ]),
      );
      // Five seconds, of the ten that all take; a plan takes half a second.
      await pass(1000);
      const { targets, listings } = engine.overview();
      const read = listings.filter(({ entries, poll }) => entries && poll.parent).length;
      const shown = targets.filter(({ state }) => state === 'ok').length;
      const stopped = engine.stop();
      await pass(100);
      await stopped;
      expect(read).toBeGreaterThan(40);
      expect(shown).toBeGreaterThan(read - 20);
    });

    it('a plan that a failed reload interrupts is made all the same', async () => {
      vi.spyOn(Turns.prototype, 'isOver', 'get').mockReturnValue(true);
      onTestFinished(() => void vi.restoreAllMocks());
      let come = 0;
      let isBroken = false;
      const config = configOf([sectionConfig('shield_zone', 'all')]);
      const engine = engineWith(({ path, permit }) => {
        permit?.release();
        return Promise.resolve(path.includes('/pullzone') ? noPullZones : zones(300));
      });
      vi.spyOn(CounterBook.prototype, 'open').mockImplementation(() => {
        if (isBroken) throw new Error('broken');
        if (++come === 100)
          void nextTurn().then(() => {
            isBroken = true;
            expect(() => engine.apply(config)).toThrow('broken');
            isBroken = false;
          });
        return undefined;
      });
      engine.apply(config);
      await pass(30_000);
      const shown = engine.overview().targets.filter(({ state }) => state === 'ok').length;
      const states = engine.overview().listings.map(({ state }) => state);
      await engine.stop();
      expect([states, shown]).toEqual([['ok', 'ok'], 300]);
    });

    function findingEngine(asked: string[]) {
      const pacer = new Pacer({ requestsPerSecond: 10_000, maxConcurrency: 8 });
      return engineWith(
        ({ path, permit }) => {
          asked.push(path);
          permit?.release();
          if (path.includes('/shield-zones'))
            return Promise.resolve({ data: range(0, 300).map((shieldZoneId) => ({ shieldZoneId })) });
          if (path.startsWith('/pullzone'))
            return Promise.resolve({ Items: [], TotalItems: 0, HasMoreItems: false });
          return Promise.resolve({ data: [] });
        },
        { paceOf: () => pacer },
      );
    }

    it('nothing is polled once the engine has stopped, also where it was planning in turns', async () => {
      vi.spyOn(Turns.prototype, 'isOver', 'get').mockReturnValue(true);
      onTestFinished(() => void vi.restoreAllMocks());
      const asked: string[] = [];
      let come = 0;
      let atStop: number | undefined;
      let targetsAtStop = 0;
      const engine = findingEngine(asked);
      vi.spyOn(CounterBook.prototype, 'open').mockImplementation(() => {
        if (++come === 350)
          void nextTurn().then(() => {
            targetsAtStop = engine.targets().size;
            void engine.stop().then(() => {
              atStop = asked.length;
            });
          });
        return undefined;
      });
      engine.apply(configOf([sectionConfig('shield_zone', 'all'), sectionConfig('rate_limit', 'all')]));
      await pass(2500);
      expect(atStop).toBeDefined();
      expect.soft(engine.targets().size).toBe(targetsAtStop);
      expect.soft(vi.getTimerCount()).toBe(0);
      expect(asked.slice(atStop)).toEqual([]);
    });

    it('what a plan that failed once has not made is made by the next run of the listing', async () => {
      onTestFinished(() => void vi.restoreAllMocks());
      const asked: string[] = [];
      let come = 0;
      const engine = findingEngine(asked);
      vi.spyOn(CounterBook.prototype, 'open').mockImplementation(() => {
        if (++come === 100) throw new Error('broken once');
        return undefined;
      });
      engine.apply(configOf([sectionConfig('shield_zone', 'all')]));
      await pass(400_000 / 5);
      const shown = engine.overview().targets.filter(({ state }) => state === 'ok').length;
      const states = engine.overview().listings.map(({ state }) => state);
      const lists = asked.filter((path) => path.includes('/shield-zones')).length;
      await engine.stop();
      expect(lists).toBeGreaterThan(2);
      expect([states, shown]).toEqual([['ok', 'ok'], 300]);
    });
  });
});
