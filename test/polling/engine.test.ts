import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { Pacer } from '../../src/api/pacer.ts';
import type { Config } from '../../src/config/config.ts';
import { Fleet } from '../../src/polling/engine.ts';
import { resources } from '../../src/resources/index.ts';
import { configOf, sectionConfig, targetConfig } from './fixtures.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minuteMs = 60_000;

/** A fleet whose API refuses some credentials; `count` is how often a target was asked for. */
function fleetOf(config: Config, ...refusedAtFirst: readonly string[]) {
  const asked: string[] = [];
  const refused = new Set(refusedAtFirst);
  const pacer = new Pacer({ requestsPerSecond: 10_000, maxConcurrency: 8 });
  const fleet = new Fleet({
    resources,
    store: { replace: () => undefined, set: () => undefined, remove: () => undefined },
    clientOf: () => ({
      get: async ({ path, credential, permit }) => {
        asked.push(path);
        permit?.release();
        if (refused.has(credential)) throw new ApiError('auth', 'HTTP 401', { status: 401 });
        return await Promise.resolve({ monthlyCost: 1 });
      },
    }),
    lineOf: () => pacer,
    observer: {
      polled: () => undefined,
      mismatched: () => undefined,
      unrecognized: () => undefined,
      started: () => undefined,
    },
    log: pino({ level: 'silent' }),
    redact: (text) => text,
    owns: () => true,
  });
  fleet.apply(config);
  const count = (id: string) => asked.filter((path) => path.includes(`/${id}/`)).length;
  return { fleet, refused, count };
}

const config = configOf([
  sectionConfig('application', [
    targetConfig({ app_id: 'one' }, { credential: 'first', intervalMs: 60 * minuteMs }),
    targetConfig({ app_id: 'two' }, { credential: 'second', intervalMs: 60 * minuteMs }),
  ]),
]);

/** Lets everything happen that is due. */
const settle = async () => await vi.advanceTimersByTimeAsync(10);

describe('a changed key', () => {
  it('lets a target that was refused once be asked again at once, not after its interval', async () => {
    const { fleet, count } = fleetOf(config, 'first');
    await settle();
    expect(count('one')).toBe(1);
    fleet.keyChanged('first');
    await settle();
    expect(count('one')).toBe(2);
    await fleet.stop();
  });

  it('lets a target that is asked less and less often be asked again at once, and at its interval from then on', async () => {
    const { fleet, refused, count } = fleetOf(config, 'first');
    await vi.advanceTimersByTimeAsync(20 * 60 * minuteMs);
    const before = count('one');
    expect(before).toBeLessThan(10);
    expect(count('two')).toBeGreaterThanOrEqual(20);
    refused.delete('first');
    fleet.keyChanged('first');
    await settle();
    expect(count('one')).toBe(before + 1);
    await vi.advanceTimersByTimeAsync(10 * 60 * minuteMs);
    expect(count('one')).toBeGreaterThanOrEqual(before + 10);
    await fleet.stop();
  });

  it('changes nothing for targets that are well, nor for those of other keys', async () => {
    const { fleet, count } = fleetOf(config, 'second');
    await settle();
    fleet.keyChanged('first');
    await settle();
    expect([count('one'), count('two')]).toEqual([1, 1]);
    await fleet.stop();
  });
});

describe('a configuration that is applied again', () => {
  it('asks at once what was refused, and leaves alone what is well', async () => {
    const { fleet, count } = fleetOf(config, 'first');
    await settle();
    fleet.apply(config);
    await settle();
    expect([count('one'), count('two')]).toEqual([2, 1]);
    await fleet.stop();
  });

  it('takes a target that comes back for a new one', async () => {
    const { fleet, count } = fleetOf(config);
    await settle();
    fleet.apply(configOf([]));
    expect([...fleet.board.statuses()]).toEqual([]);
    fleet.apply(config);
    expect([...fleet.board.statuses()].map(({ state }) => state)).toEqual(['pending', 'pending']);
    await settle();
    expect([count('one'), count('two')]).toEqual([2, 2]);
    await fleet.stop();
  });
});

describe('polling now', () => {
  it('asks everything at once, and is over when everything was asked', async () => {
    const { fleet, count } = fleetOf(config);
    await settle();
    const polled = fleet.pollNow();
    await settle();
    await polled;
    expect([count('one'), count('two')]).toEqual([2, 2]);
    await fleet.stop();
  });

  it('does not wait for what is wanted no more', async () => {
    const { fleet } = fleetOf(config);
    await settle();
    const polled = fleet.pollNow();
    fleet.apply(configOf([]));
    await expect(polled).resolves.toBeUndefined();
    await fleet.stop();
  });
});
