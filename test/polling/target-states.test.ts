import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Format } from '../../src/exposition/format.ts';
import { Store } from '../../src/exposition/store.ts';
import { type Failure, neverPolled, type PollRecord } from '../../src/polling/loop.ts';
import type { Target } from '../../src/polling/target.ts';
import { TargetStates } from '../../src/polling/target-states.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { configOf, follower, sectionConfig, targetConfig } from './fixtures.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const failure: Failure = { result: 'timeout', message: 'no whole answer', atMs: 0, sinceMs: 0 };

function configFor(ids: readonly string[], settings?: unknown, name?: string) {
  const section = sectionConfig(
    'application',
    ids.map((id) => targetConfig({ app_id: id }, { name })),
  );
  return configOf([settings === undefined ? section : { ...section, settings }]);
}

/** States of what a configuration names, with a poll for each target. */
function statesOf(config: ReturnType<typeof configOf>, maxSeries = 1_000_000) {
  const store = new Store(catalogue, { maxSeries });
  const states = new TargetStates(store, () => performance.now());
  const loops = new Map<string, { record: PollRecord }>();
  const loopOf = (key: string) => {
    const loop = loops.get(key) ?? { record: neverPolled };
    loops.set(key, loop);
    return loop;
  };
  const want = follower(states, ({ pollKey }) => loopOf(pollKey));
  let targets = want(config);
  const page = (format: Format) => Buffer.concat(store.page(format)).toString().split('\n');
  return {
    store,
    states,
    /** Its poll has succeeded. */
    succeed: (key: string, reading: unknown, atMs = Date.now()) => {
      loopOf(key).record = { ...neverPolled, lastSuccessMs: atMs };
      states.succeeded(key, reading, atMs);
    },
    /** Its poll has failed. */
    fail: (key: string, lastFailure = failure) => {
      loopOf(key).record = { ...loopOf(key).record, lastFailure };
      states.pollFailed(key);
    },
    want: (next: ReturnType<typeof configOf>) => {
      targets = want(next);
      for (const key of loops.keys()) if (!targets.has(key)) loops.delete(key);
    },
    targets: (): ReadonlyMap<string, Target> => targets,
    page,
    rows: () => page('text').filter((line) => line !== '' && !line.startsWith('#')),
  };
}

const applications = (ids: readonly string[], maxSeries?: number) => statesOf(configFor(ids), maxSeries);

const [a, b, c] = ['application/a', 'application/b', 'application/c'] as const;

const reading = { monthlyCost: 3.5, state: undefined, chart: undefined };

const shownOf = (id: string, up: number, atSeconds = 1_000_000_000) => [
  `bunnynet_application_up{app_id="${id}"} ${up}`,
  `bunnynet_application_last_success_timestamp_seconds{app_id="${id}"} ${atSeconds}`,
  `bunnynet_application_monthly_cost_dollars{app_id="${id}"} 3.5`,
];

describe('target states', () => {
  it('shows nothing for a target that was not polled yet', () => {
    const { states, rows } = applications(['a']);
    expect(rows()).toEqual([]);
    expect(states.status(a)?.state).toBe('pending');
  });

  it('shows the values of a good poll, up as 1, and the time of the success', () => {
    const { states, succeed, rows } = applications(['a']);
    succeed(a, reading);
    expect(rows()).toEqual(shownOf('a', 1));
    expect(states.status(a)).toMatchObject({ state: 'ok', lastSuccessMs: 1_000_000_000_000 });
  });

  it('counts the age of a value from its own poll on, however late that was', () => {
    const { states, succeed } = applications(['a']);
    vi.advanceTimersByTime(180_001);
    succeed(a, reading);
    states.dropStale();
    expect(states.status(a)?.stale).toBe(false);
  });

  it('takes the targets that were added last off the page when fewer series are allowed', () => {
    const { store, states, succeed, rows } = applications(['a', 'b', 'c']);
    // In another order than they were added.
    for (const key of [c, b, a]) succeed(key, reading);
    store.setMaxSeries(6);
    states.makeRoom();
    expect([rows().length, store.dropped('application')]).toEqual([6, 3]);
    expect(rows()).not.toContain('bunnynet_application_up{app_id="c"} 1');
    store.setMaxSeries(3);
    states.makeRoom();
    expect([rows().length, store.dropped('application')]).toEqual([3, 6]);
    expect(rows()).toContain('bunnynet_application_up{app_id="a"} 1');
    store.setMaxSeries(6);
    succeed(c, reading);
    expect([rows().length, store.dropped('application')]).toEqual([6, 3]);
  });

  it('shows only up as 0 for a target whose first poll failed', () => {
    const { states, fail, rows } = applications(['a']);
    fail(a);
    expect(rows()).toEqual(['bunnynet_application_up{app_id="a"} 0']);
    expect(states.status(a)).toMatchObject({ state: 'failing', lastFailure: failure });
  });

  it('shows up as 0 at once for a target whose listing fails already', () => {
    const { states, fail, want, rows } = statesOf(
      configOf([sectionConfig('shield_zone', [targetConfig({ shield_zone_id: '7' })])]),
    );
    fail('shield_zone/7');
    const listing = states.status('shield_zone/7')?.target.pollKey ?? '';
    fail(listing);
    want(
      configOf([
        sectionConfig('shield_zone', [
          targetConfig({ shield_zone_id: '7' }),
          targetConfig({ shield_zone_id: '8' }),
        ]),
      ]),
    );
    expect(rows()).toContain('bunnynet_shield_zone_up{shield_zone_id="8"} 0');
    expect(states.status('shield_zone/8')?.state).toBe('failing');
  });

  it('keeps the last reading when a poll fails, until it is older than stale_after', () => {
    const { states, succeed, fail, rows } = applications(['a', 'b']);
    succeed(a, reading);
    vi.advanceTimersByTime(1000);
    succeed(b, reading);
    fail(a);
    vi.advanceTimersByTime(179_000);
    states.dropStale();
    expect(rows().toSorted()).toEqual([...shownOf('a', 0), ...shownOf('b', 1, 1_000_000_001)].toSorted());

    vi.advanceTimersByTime(1);
    states.dropStale();
    expect(rows().toSorted()).toEqual(
      [...shownOf('a', 0).slice(0, 2), ...shownOf('b', 1, 1_000_000_001)].toSorted(),
    );
    expect(states.counts().get('application')).toEqual({ targets: 2, stale: 1 });
  });

  it('notices each target that becomes stale, and counts those there are', () => {
    const { states, succeed, want } = applications(['a', 'b']);
    const counted = () => {
      states.dropStale();
      return states.counts().get('application');
    };
    succeed(a, reading);
    vi.advanceTimersByTime(100_000);
    succeed(b, reading);
    vi.advanceTimersByTime(80_001);
    expect(counted()).toEqual({ targets: 2, stale: 1 });
    vi.advanceTimersByTime(100_000);
    expect(counted()).toEqual({ targets: 2, stale: 2 });
    succeed(a, reading);
    expect(counted()).toEqual({ targets: 2, stale: 1 });
    vi.advanceTimersByTime(180_001);
    expect(counted()).toEqual({ targets: 2, stale: 2 });
    succeed(a, reading);
    expect(counted()).toEqual({ targets: 2, stale: 1 });
    want(configOf([sectionConfig('application', [targetConfig({ app_id: 'a' }, { staleAfterMs: 60_000 })])]));
    expect(counted()).toEqual({ targets: 1, stale: 0 });
    vi.advanceTimersByTime(60_001);
    expect(counted()).toEqual({ targets: 1, stale: 1 });
  });

  it('ignores a reading of a target that is no longer there', () => {
    const { states, want, rows } = applications(['a']);
    want(configFor([]));
    states.succeeded(a, reading, Date.now());
    states.pollFailed(a);
    states.absent(a, failure);
    states.failed(a, failure);
    expect(rows()).toEqual([]);
  });

  it('drops values at once if the settings of the target change', () => {
    const { succeed, want, rows } = applications(['a']);
    succeed(a, { ...reading, currentLatency: 250 });
    expect(rows()).toContain('bunnynet_application_current_latency_seconds{app_id="a"} 0.25');
    want(configFor(['a'], { latency_unit: 'seconds', latency_chart: 'latest' }));
    expect(rows()).toEqual(shownOf('a', 1).slice(0, 2));
  });

  it('writes the row with the name anew when only that changes, without another reading', () => {
    const { succeed, fail, want, rows } = applications(['a']);
    const info = () => rows().filter((row) => row.startsWith('bunnynet_application_info{'));
    succeed(a, reading);
    expect(info()).toEqual([]);
    want(configFor(['a'], undefined, 'shop'));
    expect(info()).toEqual(['bunnynet_application_info{app_id="a",name="shop"} 1']);
    fail(a);
    want(configFor(['a'], undefined, 'store'));
    expect(info()).toEqual(['bunnynet_application_info{app_id="a",name="store"} 1']);
    want(configFor(['a']));
    expect(rows()).toEqual(shownOf('a', 0));
  });
});

describe('a target of a listing that was read', () => {
  const lacking = { result: 'not_found', message: 'not in it', atMs: 5 };
  const unusable = { result: 'schema', message: 'not a list', atMs: 7 };

  it('is absent if the listing lacks it: only up as 0 stays, and since when that is so', () => {
    const { states, succeed, rows } = applications(['a']);
    succeed(a, reading);
    states.absent(a, lacking);
    states.absent(a, { ...lacking, atMs: 9 });
    expect(rows()).toEqual(['bunnynet_application_up{app_id="a"} 0']);
    expect(states.status(a)).toMatchObject({
      state: 'absent',
      lastSuccessMs: undefined,
      lastFailure: { atMs: 9, sinceMs: 5 },
    });
    succeed(a, reading);
    expect(rows()).toEqual(shownOf('a', 1));
  });

  it('fails alone if its own reading cannot be used, and keeps the last one', () => {
    const { states, succeed, rows } = applications(['a', 'b']);
    succeed(a, reading);
    succeed(b, reading);
    states.failed(a, unusable);
    states.failed(a, { ...unusable, atMs: 8 });
    expect(rows().toSorted()).toEqual([...shownOf('a', 0), ...shownOf('b', 1)].toSorted());
    expect([states.status(a)?.state, states.status(a)?.lastFailure?.sinceMs]).toEqual(['failing', 7]);
    expect(states.status(b)?.state).toBe('ok');
  });

  it('begins to be absent, or to fail, when that begins', () => {
    const { states } = applications(['a']);
    const since = () => states.status(a)?.lastFailure?.sinceMs;
    states.absent(a, lacking);
    states.failed(a, unusable);
    expect(since()).toBe(7);
    states.absent(a, { ...lacking, atMs: 9 });
    expect(since()).toBe(9);
  });
});

describe('the counters of a target', () => {
  const midnight = Date.parse('2026-03-02T00:00:00Z');
  const total = 'bunnynet_shield_rate_limit_blocked_breaches_total{shield_zone_id="501",rate_limit_id="11"}';
  const limits = 'rate_limit/501';
  const zones = (...ids: readonly string[]) =>
    configOf([
      sectionConfig(
        'rate_limit',
        ids.map((id) => targetConfig({ shield_zone_id: id })),
      ),
    ]);

  function blocked(figures: Readonly<Record<string, number>>) {
    const days = Object.entries(figures).map(([day, blockedBreaches]) => ({
      startSeconds: Date.parse(day) / 1000,
      value: { blockedBreaches },
    }));
    return [{ ratelimitId: '11', ratelimitOverviewPastTwentyEightDays: days }];
  }

  it('stay on the page when the other values are stale, and continue from there', () => {
    const { states, succeed, fail, rows } = statesOf(zones('501'));
    succeed(limits, blocked({ '2001-09-09': 90 }));
    succeed(limits, blocked({ '2001-09-09': 95 }));
    fail(limits);
    vi.advanceTimersByTime(180_001);
    states.dropStale();
    expect(rows()).toEqual([
      'bunnynet_shield_rate_limit_up{shield_zone_id="501"} 0',
      'bunnynet_shield_rate_limit_last_success_timestamp_seconds{shield_zone_id="501"} 1000000000',
      `${total} 5`,
    ]);
    succeed(limits, blocked({ '2001-09-09': 97 }), Date.now() + 400_000);
    expect(rows()).toContain(`${total} 7`);
  });

  it('are forgotten with it', () => {
    const { succeed, want, page, rows } = statesOf(zones('501'));
    succeed(limits, blocked({ '2026-03-02': 90 }), midnight);
    succeed(limits, blocked({ '2026-03-02': 95 }), midnight + 1000);
    want(zones());
    expect(page('text')).toEqual(['']);
    want(zones('501'));
    succeed(limits, blocked({ '2026-03-02': 96 }), midnight + 2000);
    expect(rows()).toContain(`${total} 0`);
  });
});
