import { describe, expect, it } from 'vitest';
import { CounterBook } from '../../src/counting/counter-book.ts';
import type { StateFile, TargetState } from '../../src/counting/state-form.ts';

const dayMs = 86_400_000;
const begunMs = Date.parse('2026-08-15T12:00:00Z');

/** A book whose clock the test moves, with what is known of its listings. */
function bookAt(nowMs: number, state?: Pick<StateFile, 'targets'>, aheadMs = 0) {
  const clock = { nowMs, aheadMs, unlisted: new Set<string>() };
  const book = new CounterBook({
    onBegun: () => undefined,
    unlistedKinds: () => clock.unlisted,
    now: () => clock.nowMs + clock.aheadMs,
    uptimeMs: () => clock.nowMs,
  });
  if (state) book.restore(state);
  return { book, clock, targets: () => [...book.states()] };
}

const zone = (id: number) => ({
  kind: 'dns_zone',
  ids: { dns_zone_id: String(id) },
  baseUrl: 'https://api.test',
  account: 'acme',
});

/** Polls zones with these ids once. */
function poll(book: CounterBook, nowMs: number, ...ids: readonly number[]) {
  for (const id of ids) {
    const days = [{ startSeconds: begunMs / 1000 - ((begunMs / 1000) % 86_400), value: 5 }];
    const reading = { QueriesServedChart: days };
    const target = { ids: zone(id).ids, name: undefined, settings: {} };
    book.open(zone(id))?.add(target, [{ reading }], { nowMs, uptimeMs: nowMs });
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
const idsOf = (targets: readonly TargetState[]) => targets.map(({ ids }) => Number(ids['dns_zone_id']));

describe('what left', () => {
  it('is kept for 28 days', () => {
    const { book, clock, targets } = bookAt(begunMs);
    poll(book, begunMs, 1, 2);
    book.close(zone(2));
    clock.nowMs += 28 * dayMs;
    expect(targets()).toMatchObject([{ ids: { dns_zone_id: '1' } }, { left: begunMs / 1000 }]);
    clock.nowMs += 1;
    expect(idsOf(targets())).toEqual([1]);
  });

  it('is kept for 28 days where the clock of the machine was behind when it left', () => {
    const { book, clock, targets } = bookAt(begunMs);
    poll(book, begunMs, 1, 2);
    clock.aheadMs = -100 * dayMs;
    book.close(zone(2));
    clock.aheadMs = 0;
    clock.nowMs += 28 * dayMs;
    expect(targets()).toMatchObject([{ ids: { dns_zone_id: '1' } }, { left: begunMs / 1000 }]);
    clock.nowMs += 1;
    expect(idsOf(targets())).toEqual([1]);
  });

  it('is kept of 1,000 targets where few are polled: those that left last', () => {
    const { book, clock, targets } = bookAt(begunMs);
    // Preview environments, each there for a minute.
    for (const id of range(1, 1102)) {
      clock.nowMs += 60_000;
      poll(book, clock.nowMs, id);
      book.close(zone(id));
    }
    expect(idsOf(targets())).toEqual(range(102, 1102));
  });

  it('is kept of twice as many as were ever polled at once, also before a restart', () => {
    const first = bookAt(begunMs);
    poll(first.book, begunMs, ...range(0, 700));
    for (const id of range(0, 700)) first.book.close(zone(id));
    first.clock.nowMs += 60_000;
    poll(first.book, first.clock.nowMs, ...range(700, 1400));
    // A wrong pattern, for a moment: nothing is polled.
    for (const id of range(700, 1400)) first.book.close(zone(id));
    expect(first.targets()).toHaveLength(1400);
    const polled = first.targets().map((target): TargetState => ({ ...target, left: undefined }));
    const second = bookAt(first.clock.nowMs, { targets: polled });
    expect(second.targets()).toHaveLength(1400);
    // Also where it ended before that was noticed.
    const third = bookAt(first.clock.nowMs, { targets: first.targets() });
    expect(third.targets()).toHaveLength(1400);
  });
});

describe('what was restored', () => {
  const stateOf = (...ids: readonly number[]) => {
    const { book, targets } = bookAt(begunMs);
    poll(book, begunMs, ...ids);
    return { targets: targets() };
  };

  it('has not left until each listing of its kind was complete once', () => {
    const { book, clock, targets } = bookAt(begunMs, stateOf(1, 2));
    clock.unlisted.add('dns_zone');
    clock.nowMs += 40 * dayMs;
    expect(targets().map(({ left }) => left)).toEqual([undefined, undefined]);
    book.open(zone(1));
    clock.unlisted.clear();
    expect(targets().map(({ left }) => left)).toEqual([undefined, clock.nowMs / 1000]);
    // And it goes on when it comes back.
    clock.unlisted.add('dns_zone');
    book.open(zone(2));
    expect(targets().map(({ left }) => left)).toEqual([undefined, undefined]);
  });

  it('left when it left, over any number of restarts', () => {
    const state = stateOf(1);
    let { clock, targets } = bookAt(begunMs, state);
    expect(targets()).toHaveLength(1);
    for (let day = 0; day < 28; day++)
      ({ clock, targets } = bookAt(clock.nowMs + dayMs, { targets: targets() }));
    expect(targets()).toHaveLength(1);
    expect(bookAt(clock.nowMs + dayMs, { targets: targets() }).targets()).toEqual([]);
  });

  it('is missing since the start at the latest where the clock was behind then', () => {
    const series = [{ labels: { type: 'A' }, value: 5, from: 0, days: [], missing_since: begunMs / 1000 }];
    const targets = stateOf(1).targets.map((target) => ({
      ...target,
      counters: { bunnynet_dns_zone_queries_by_type_total: { series } },
    }));
    const { clock, targets: after } = bookAt(begunMs + dayMs, { targets }, -100 * dayMs);
    clock.aheadMs = 0;
    expect(after()[0]?.counters['bunnynet_dns_zone_queries_by_type_total']?.series).toMatchObject([
      { missing_since: clock.nowMs / 1000 },
    ]);
  });
});
