import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Format } from '../../src/exposition/format.ts';
import { Store } from '../../src/exposition/store.ts';
import type { Target } from '../../src/polling/target.ts';
import { TargetStates } from '../../src/polling/target-states.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { configOf, type Planned, planner, sectionConfig, targetConfig } from './fixtures.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const failure = { result: 'timeout', message: 'no whole answer', atMs: 0 };

function configFor(ids: readonly string[], settings?: unknown) {
  const section = sectionConfig(
    'application',
    ids.map((id) => targetConfig({ app_id: id })),
  );
  return configOf([settings === undefined ? section : { ...section, settings }]);
}

function statesOf(ids: readonly string[], maxSeries = 1_000_000) {
  const store = new Store(catalogue, { maxSeries });
  const states = new TargetStates(store, () => performance.now());
  const plans = planner({ states });
  const want = (...args: Parameters<typeof configFor>): Planned => plans.plan(configFor(...args));
  const known = want(ids);
  const target = (id: string, of = known) => {
    const found = of.targets.get(`application/${id}`);
    if (!found) throw new Error(`no target ${id}`);
    return found;
  };
  const rows = async () => {
    const { parts } = await store.page('text');
    return Buffer.concat(parts)
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
  };
  return { store, states, want, known, target, rows };
}

const reading = { monthlyCost: 3.5, state: undefined, chart: undefined };

describe('target states', () => {
  it('shows nothing for a target that was not polled yet', async () => {
    const { states, rows } = statesOf(['a']);
    expect(await rows()).toEqual([]);
    expect(states.status('application/a')?.state).toBe('pending');
  });

  it('shows the values of a good poll, up as 1, and the time of the success', async () => {
    const { states, target, rows } = statesOf(['a']);
    states.succeeded(target('a'), reading, 0.5, Date.now());
    expect(await rows()).toEqual([
      'bunnynet_application_up{app_id="a"} 1',
      'bunnynet_application_last_success_timestamp_seconds{app_id="a"} 1000000000',
      'bunnynet_application_monthly_cost_dollars{app_id="a"} 3.5',
    ]);
  });

  it('counts the age of a value from its own poll on, however late that was', () => {
    const { states, target } = statesOf(['a']);
    vi.advanceTimersByTime(180_001);
    states.succeeded(target('a'), reading, 0.5, Date.now());
    expect(states.dropStale()).toEqual([]);
    expect(states.status('application/a')?.stale).toBe(false);
  });

  it('takes the targets that were added last off the page when fewer series are allowed', async () => {
    const { store, states, target, rows } = statesOf(['a', 'b', 'c']);
    const poll = (id: string) => states.succeeded(target(id), reading, 0.5, Date.now());
    // In another order than they were added.
    for (const id of ['c', 'b', 'a']) poll(id);
    store.setMaxSeries(6);
    states.makeRoom();
    expect([(await rows()).length, store.dropped('application')]).toEqual([6, 3]);
    expect(await rows()).not.toContain('bunnynet_application_up{app_id="c"} 1');
    store.setMaxSeries(3);
    states.makeRoom();
    expect([(await rows()).length, store.dropped('application')]).toEqual([3, 6]);
    expect(await rows()).toContain('bunnynet_application_up{app_id="a"} 1');
    store.setMaxSeries(6);
    poll('c');
    expect([(await rows()).length, store.dropped('application')]).toEqual([6, 3]);
  });

  it('shows only up as 0 for a target whose first poll failed', async () => {
    const { states, target, rows } = statesOf(['a']);
    states.failed(target('a'), failure, 0.5);
    expect(await rows()).toEqual(['bunnynet_application_up{app_id="a"} 0']);
  });

  it('keeps the last reading when a poll fails, until it is older than stale_after', async () => {
    const { states, target, rows } = statesOf(['a', 'b']);
    states.succeeded(target('a'), reading, 0.5, Date.now());
    vi.advanceTimersByTime(1000);
    states.succeeded(target('b'), reading, 0.5, Date.now());
    states.failed(target('a'), failure, 0.5);
    vi.advanceTimersByTime(179_000);
    expect(states.dropStale()).toEqual([]);
    expect(await rows()).toContain('bunnynet_application_monthly_cost_dollars{app_id="a"} 3.5');

    vi.advanceTimersByTime(1);
    expect(states.dropStale().map(({ target: { key } }) => key)).toEqual(['application/a']);
    expect(await rows()).toEqual([
      'bunnynet_application_up{app_id="a"} 0',
      'bunnynet_application_up{app_id="b"} 1',
      'bunnynet_application_last_success_timestamp_seconds{app_id="a"} 1000000000',
      'bunnynet_application_last_success_timestamp_seconds{app_id="b"} 1000000001',
      'bunnynet_application_monthly_cost_dollars{app_id="b"} 3.5',
    ]);
    expect(states.counts('application')).toEqual({ targets: 2, stale: 1 });
  });

  it('restores everything with the first good poll after an outage', async () => {
    const { states, target, rows } = statesOf(['a']);
    states.succeeded(target('a'), reading, 0.5, Date.now());
    const before = await rows();
    states.failed(target('a'), failure, 0.5);
    vi.advanceTimersByTime(1e9);
    states.dropStale();
    states.succeeded(target('a'), reading, 0.5, 1_000_000_000_000);
    expect(await rows()).toEqual(before);
    expect(states.counts('application').stale).toBe(0);
  });

  it('counts a target as stale that has not succeeded within stale_after', () => {
    const { states, target } = statesOf(['a']);
    states.failed(target('a'), failure, 0.5);
    vi.advanceTimersByTime(180_001);
    expect(states.dropStale()).toEqual([]);
    expect(states.counts('application').stale).toBe(1);
  });

  it('takes a removed target off the page at once, with all its series', async () => {
    const { states, want, target, rows } = statesOf(['a', 'b']);
    states.succeeded(target('a'), reading, 0.5, Date.now());
    states.succeeded(target('b'), reading, 0.5, Date.now());
    want(['b']);
    expect((await rows()).filter((row) => row.includes('"a"'))).toEqual([]);
    expect(await rows()).toHaveLength(3);
  });

  it('drops a reading that arrives after its target was removed or changed', async () => {
    const { states, want, target, rows } = statesOf(['a']);
    const old = target('a');
    want([]);
    states.succeeded(old, reading, 0.5, Date.now());
    expect(await rows()).toEqual([]);
  });

  it('drops values at once if the settings of the target change', async () => {
    const { states, want, target, rows } = statesOf(['a']);
    states.succeeded(target('a'), { ...reading, currentLatency: 250 }, 0.5, Date.now());
    expect(await rows()).toContain('bunnynet_application_current_latency_seconds{app_id="a"} 0.25');
    want(['a'], { latency_unit: 'seconds', latency_chart: 'latest' });
    expect(await rows()).toEqual([
      'bunnynet_application_up{app_id="a"} 1',
      'bunnynet_application_last_success_timestamp_seconds{app_id="a"} 1000000000',
    ]);
  });

  it('counts targets and drops stale values as if it checked each of them every time', () => {
    const ids = ['a', 'b', 'c', 'd'];
    const id = fc.constantFrom(...ids);
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('poll' as const), id }),
        fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 200_000 }) }),
        fc.record({
          do: fc.constant('set the clock' as const),
          ms: fc.integer({ min: -400_000, max: 400_000 }),
        }),
        fc.record({ do: fc.constant('sweep' as const) }),
        fc.record({ do: fc.constant('want' as const), ids: fc.subarray(ids) }),
      ),
    );
    fc.assert(
      fc.property(steps, (all) => {
        const { states, want, known } = statesOf(ids);
        let plan = known;
        const model = new Map<string, { sinceMs: number; isStale: boolean }>();
        const now = () => ({ sinceMs: performance.now(), isStale: false });
        const isWanted = (key: string) => plan.targets.has(key);
        for (const key of plan.targets.keys()) model.set(key, now());
        for (const step of all) {
          if (step.do === 'poll') {
            const key = `application/${step.id}`;
            const target = plan.targets.get(key);
            if (!target) continue;
            states.succeeded(target, reading, 0.5, Date.now());
            model.set(key, now());
          } else if (step.do === 'wait') {
            vi.advanceTimersByTime(step.ms);
          } else if (step.do === 'set the clock') {
            vi.setSystemTime(Date.now() + step.ms);
          } else if (step.do === 'want') {
            plan = want(step.ids);
            for (const key of model.keys()) if (!isWanted(key)) model.delete(key);
            for (const key of plan.targets.keys()) if (!model.has(key)) model.set(key, now());
          } else {
            states.dropStale();
            for (const one of model.values()) one.isStale ||= performance.now() - one.sinceMs > 180_000;
          }
          for (const [key, { isStale }] of model) expect(states.status(key)?.stale).toBe(isStale);
          expect(states.counts('application')).toEqual({
            targets: model.size,
            stale: [...model.values()].filter(({ isStale }) => isStale).length,
          });
        }
      }),
    );
  });

  it.each([2, 3, 5, 6, 12])('never shows part of a target under a cap of %i series', async (maxSeries) => {
    const { states, target, rows } = statesOf(['a', 'b', 'c'], maxSeries);
    const whole = (id: string, up: number) => [
      `bunnynet_application_up{app_id="${id}"} ${up}`,
      `bunnynet_application_last_success_timestamp_seconds{app_id="${id}"} 1000000000`,
      `bunnynet_application_monthly_cost_dollars{app_id="${id}"} 3.5`,
    ];
    const shown = async (id: string) => (await rows()).filter((row) => row.includes(`"${id}"`));
    const fits = Math.floor(maxSeries / 3);
    for (const id of ['a', 'b', 'c']) states.succeeded(target(id), reading, 0.5, Date.now());
    for (const [i, id] of ['a', 'b', 'c'].entries()) {
      expect(await shown(id)).toEqual(i < fits ? whole(id, 1) : []);
    }
    for (const id of ['a', 'b', 'c']) states.failed(target(id), failure, 0.5);
    for (const [i, id] of ['a', 'b', 'c'].entries()) {
      expect(await shown(id)).toEqual(i < fits ? whole(id, 0) : []);
    }
  });

  it('leaves out numbers that are not finite', async () => {
    const { states, target, rows } = statesOf(['a']);
    const infinite = Number.POSITIVE_INFINITY;
    states.succeeded(target('a'), { ...reading, totalVolumeSizeInGb: 1e300 }, 0.5, Date.now());
    states.succeeded(target('a'), { ...reading, totalVolumeSizeInGb: infinite }, 0.5, Date.now());
    expect((await rows()).filter((row) => row.includes('volume'))).toEqual([]);
  });

  describe('of a kind with counters', () => {
    const midnight = Date.parse('2026-03-02T00:00:00Z');
    const total =
      'bunnynet_shield_rate_limit_blocked_breaches_total{shield_zone_id="501",rate_limit_id="11"}';

    function blocked(figures: Readonly<Record<string, number>>) {
      const days = Object.entries(figures).map(([day, blockedBreaches]) => ({
        startSeconds: Date.parse(day) / 1000,
        value: { blockedBreaches },
      }));
      return [{ ratelimitId: '11', ratelimitOverviewPastTwentyEightDays: days }];
    }

    function rateLimits() {
      const store = new Store(catalogue);
      const states = new TargetStates(store, () => performance.now());
      const plans = planner({ states });
      const want = (ids: readonly string[]) =>
        plans.plan(
          configOf([
            sectionConfig(
              'rate_limit',
              ids.map((id) => targetConfig({ shield_zone_id: id })),
            ),
          ]),
        );
      const target = () => [...want(['501']).targets.values()][0] as Target;
      const page = async (format: Format) => {
        const { parts } = await store.page(format);
        return Buffer.concat(parts).toString().split('\n');
      };
      return { states, want, target: target(), page };
    }

    it('counts from the first good poll on, across midnight', async () => {
      const { states, target, page } = rateLimits();
      states.succeeded(target, blocked({ '2026-03-01': 90 }), 0.5, midnight - 60_000);
      expect(await page('text')).toContain(`${total} 0`);
      states.succeeded(target, blocked({ '2026-03-01': 95, '2026-03-02': 3 }), 0.5, midnight + 60_000);
      expect(await page('text')).toContain(`${total} 8`);
    });

    it('keeps counters on the page when the other values are stale, and continues from there', async () => {
      const { states, target, page } = rateLimits();
      states.succeeded(target, blocked({ '2001-09-09': 90 }), 0.5, Date.now());
      states.succeeded(target, blocked({ '2001-09-09': 95 }), 0.5, Date.now());
      states.failed(target, failure, 0.5);
      vi.advanceTimersByTime(180_001);
      states.dropStale();
      const rows = (await page('text')).filter((line) => line !== '' && !line.startsWith('#'));
      expect(rows).toEqual([
        'bunnynet_shield_rate_limit_up{shield_zone_id="501"} 0',
        'bunnynet_shield_rate_limit_last_success_timestamp_seconds{shield_zone_id="501"} 1000000000',
        `${total} 5`,
      ]);
      states.succeeded(target, blocked({ '2001-09-09': 97 }), 0.5, Date.now() + 400_000);
      expect(await page('text')).toContain(`${total} 7`);
    });

    it('forgets them with the target', async () => {
      const { states, want, target, page } = rateLimits();
      states.succeeded(target, blocked({ '2026-03-02': 90 }), 0.5, midnight);
      states.succeeded(target, blocked({ '2026-03-02': 95 }), 0.5, midnight + 1000);
      want([]);
      expect(await page('text')).toEqual(['']);
      const again = [...want(['501']).targets.values()][0] as Target;
      states.succeeded(again, blocked({ '2026-03-02': 96 }), 0.5, midnight + 2000);
      expect(await page('text')).toContain(`${total} 0`);
    });
  });
});
