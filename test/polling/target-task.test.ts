import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Counters } from '../../src/counting/counters.ts';
import type { Format } from '../../src/exposition/format.ts';
import { Store } from '../../src/exposition/store.ts';
import { type Failure, neverPolled } from '../../src/polling/record.ts';
import { TargetTask } from '../../src/polling/target-task.ts';
import { ListingTask } from '../../src/polling/task.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { configOf, planOf, sectionConfig, targetConfig } from './fixtures.ts';

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

/** A task for each target that a configuration names. */
function tasksOf(config: ReturnType<typeof configOf>) {
  const store = new Store(catalogue);
  const tasks = new Map<string, TargetTask>();
  const listings = new Map<string, ListingTask>();
  const add = (next: ReturnType<typeof configOf>) => {
    const planned = planOf(next);
    for (const [key, spec] of planned.listings)
      if (!listings.has(key)) listings.set(key, new ListingTask(spec));
    for (const [key, spec] of planned.targets) {
      const feeder = listings.get(spec.fedBy ?? '');
      tasks.set(key, new TargetTask(spec, feeder, store, performance.now(), Counters.of(spec.kind)));
    }
  };
  add(config);
  const task = (key: string) => {
    const known = tasks.get(key);
    if (!known) throw new Error(`no target ${key}`);
    return known;
  };
  const page = (format: Format) => Buffer.concat(store.page(format)).toString().split('\n');
  return {
    task,
    add,
    /** Another configuration has it otherwise. */
    update: (key: string, next: ReturnType<typeof configOf>) => {
      const spec = planOf(next).targets.get(key);
      if (spec) task(key).update(spec, listings.get(spec.fedBy ?? ''));
    },
    /** Its poll has succeeded. */
    succeed: (key: string, reading: unknown, atMs = Date.now()) => {
      const { poller } = task(key);
      poller.record = { ...neverPolled, lastSuccessMs: atMs };
      task(key).succeeded(
        { shown: reading, counted: [{ reading }] },
        { beganUnixMs: atMs, atMs, uptimeMs: performance.now() },
      );
    },
    /** Its poll has failed. */
    fail: (key: string, lastFailure = failure) => {
      const { poller } = task(key);
      poller.record = { ...poller.record, lastFailure };
      task(key).pollFailed();
    },
    /** Drops what is stale by now. */
    expire: () => {
      for (const one of tasks.values()) if (!one.stale && performance.now() > one.staleAtMs) one.expire();
    },
    page,
    rows: () => page('text').filter((line) => line !== '' && !line.startsWith('#')),
  };
}

const applications = (ids: readonly string[]) => tasksOf(configFor(ids));

const [a, b] = ['application/a', 'application/b'] as const;

const reading = { monthlyCost: 3.5, state: undefined, chart: undefined };

const shownOf = (id: string, up: number, atSeconds = 1_000_000_000) => [
  `bunnynet_application_up{app_id="${id}",account="account"} ${up}`,
  `bunnynet_application_last_success_timestamp_seconds{app_id="${id}"} ${atSeconds}`,
  `bunnynet_application_monthly_cost_dollars{app_id="${id}"} 3.5`,
];

describe('a target', () => {
  it('shows nothing for a target that was not polled yet', () => {
    const { task, rows } = applications(['a']);
    expect(rows()).toEqual([]);
    expect(task(a).state).toBe('pending');
  });

  it('shows the values of a good poll, up as 1, and the time of the success', () => {
    const { task, succeed, rows } = applications(['a']);
    succeed(a, reading);
    expect(rows()).toEqual(shownOf('a', 1));
    expect(task(a)).toMatchObject({ state: 'ok', lastSuccessMs: 1_000_000_000_000 });
  });

  it('counts the age of a value from its own poll on, however late that was', () => {
    const { task, succeed, expire } = applications(['a']);
    vi.advanceTimersByTime(180_001);
    succeed(a, reading);
    expire();
    expect(task(a).stale).toBe(false);
  });

  it('shows only up as 0 for a target whose first poll failed', () => {
    const { task, fail, rows } = applications(['a']);
    fail(a);
    expect(rows()).toEqual(['bunnynet_application_up{app_id="a",account="account"} 0']);
    expect(task(a)).toMatchObject({ state: 'failing', lastFailure: failure });
  });

  it('shows up as 0 at once for a target whose listing fails already', () => {
    const zones = (...ids: readonly string[]) =>
      configOf([
        sectionConfig(
          'shield_zone',
          ids.map((id) => targetConfig({ shield_zone_id: id })),
        ),
      ]);
    const { task, fail, add, rows } = tasksOf(zones('7'));
    fail('shield_zone/7');
    add(zones('8'));
    expect(rows()).toContain('bunnynet_shield_zone_up{shield_zone_id="8",account="account"} 0');
    expect(task('shield_zone/8').state).toBe('failing');
  });

  it('keeps the last reading when a poll fails, until it is older than stale_after', () => {
    const { task, succeed, fail, rows, expire } = applications(['a', 'b']);
    succeed(a, reading);
    vi.advanceTimersByTime(1000);
    succeed(b, reading);
    fail(a);
    vi.advanceTimersByTime(179_000);
    expire();
    expect(rows().toSorted()).toEqual([...shownOf('a', 0), ...shownOf('b', 1, 1_000_000_001)].toSorted());

    vi.advanceTimersByTime(1);
    expire();
    expect(rows().toSorted()).toEqual(
      [...shownOf('a', 0).slice(0, 2), ...shownOf('b', 1, 1_000_000_001)].toSorted(),
    );
    expect([task(a).stale, task(b).stale]).toEqual([true, false]);
  });

  it('drops values at once if the settings of the target change', () => {
    const { succeed, update, rows } = applications(['a']);
    succeed(a, { ...reading, currentLatency: 250 });
    expect(rows()).toContain('bunnynet_application_current_latency_seconds{app_id="a"} 0.25');
    update(a, configFor(['a'], { latency_unit: 'seconds', latency_chart: 'latest' }));
    expect(rows()).toEqual(shownOf('a', 1).slice(0, 2));
  });

  it('writes the row with the name anew when only that changes, without another reading', () => {
    const { succeed, fail, update, rows } = applications(['a']);
    const info = () => rows().filter((row) => row.startsWith('bunnynet_application_info{'));
    succeed(a, reading);
    expect(info()).toEqual([]);
    update(a, configFor(['a'], undefined, 'shop'));
    expect(info()).toEqual(['bunnynet_application_info{app_id="a",account="account",name="shop"} 1']);
    fail(a);
    update(a, configFor(['a'], undefined, 'store'));
    expect(info()).toEqual(['bunnynet_application_info{app_id="a",account="account",name="store"} 1']);
    update(a, configFor(['a']));
    expect(rows()).toEqual(shownOf('a', 0));
  });
});

describe('a target of a listing that was read', () => {
  const lacking = { result: 'not_found', message: 'not in it', atMs: 5 };
  const unusable = { result: 'schema', message: 'not a list', atMs: 7 };

  it('is absent if the listing lacks it: only up as 0 stays, and since when that is so', () => {
    const { task, succeed, rows } = applications(['a']);
    succeed(a, reading);
    task(a).absent(lacking);
    task(a).absent({ ...lacking, atMs: 9 });
    expect(rows()).toEqual(['bunnynet_application_up{app_id="a",account="account"} 0']);
    expect(task(a)).toMatchObject({
      state: 'absent',
      lastSuccessMs: undefined,
      lastFailure: { atMs: 9, sinceMs: 5 },
    });
    succeed(a, reading);
    expect(rows()).toEqual(shownOf('a', 1));
  });

  it('fails alone if its own reading cannot be used, and keeps the last one', () => {
    const { task, succeed, rows } = applications(['a', 'b']);
    succeed(a, reading);
    succeed(b, reading);
    task(a).failed(unusable);
    task(a).failed({ ...unusable, atMs: 8 });
    expect(rows().toSorted()).toEqual([...shownOf('a', 0), ...shownOf('b', 1)].toSorted());
    expect([task(a).state, task(a).lastFailure?.sinceMs]).toEqual(['failing', 7]);
    expect(task(b).state).toBe('ok');
  });

  it('begins to be absent, or to fail, when that begins', () => {
    const { task } = applications(['a']);
    const since = () => task(a).lastFailure?.sinceMs;
    task(a).absent(lacking);
    task(a).failed(unusable);
    expect(since()).toBe(7);
    task(a).absent({ ...lacking, atMs: 9 });
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
    const { succeed, fail, rows, expire } = tasksOf(zones('501'));
    succeed(limits, blocked({ '2001-09-09': 90 }));
    succeed(limits, blocked({ '2001-09-09': 95 }));
    fail(limits);
    vi.advanceTimersByTime(180_001);
    expire();
    expect(rows()).toEqual([
      'bunnynet_shield_rate_limit_up{shield_zone_id="501",account="account"} 0',
      'bunnynet_shield_rate_limit_last_success_timestamp_seconds{shield_zone_id="501"} 1000000000',
      `${total} 5`,
    ]);
    succeed(limits, blocked({ '2001-09-09': 97 }), Date.now() + 400_000);
    expect(rows()).toContain(`${total} 7`);
  });

  it('are forgotten with it', () => {
    const { succeed, task, add, page, rows } = tasksOf(zones('501'));
    succeed(limits, blocked({ '2026-03-02': 90 }), midnight);
    succeed(limits, blocked({ '2026-03-02': 95 }), midnight + 1000);
    task(limits).remove();
    expect(page('text')).toEqual(['']);
    add(zones('501'));
    succeed(limits, blocked({ '2026-03-02': 96 }), midnight + 2000);
    expect(rows()).toContain(`${total} 0`);
  });
});
