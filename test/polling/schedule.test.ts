import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueQueue, nextSlot, Places, placeOf } from '../../src/polling/schedule.ts';

describe('placeOf', () => {
  it('gives the first n polls places that are evenly spread, for every n', () => {
    for (const n of [1, 2, 3, 7, 100, 1000]) {
      const places = Array.from({ length: n }, (_, i) => placeOf(i)).sort((a, b) => a - b);
      const gaps = places.map((place, i) => (places[i + 1] ?? 1 + (places[0] ?? 0)) - place);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(2 / n);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1 / (2 * n));
    }
  });
});

describe('nextSlot', () => {
  it('is at the place of the interval, at or after the given time, and less than an interval away', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 86_400_000 }),
        fc.integer({ min: 0, max: 1023 }),
        fc.integer({ min: 0, max: 1_000_000_000 }),
        (intervalMs, sixteenths, notBeforeMs) => {
          const place = sixteenths / 1024;
          const slot = nextSlot(500, intervalMs, place, notBeforeMs);
          expect(slot).toBeGreaterThanOrEqual(Math.min(notBeforeMs, slot));
          expect(slot >= notBeforeMs || notBeforeMs < 500).toBe(true);
          expect(slot).toBeLessThan(Math.max(notBeforeMs, 500) + intervalMs + 1e-3);
          const turns = (slot - 500) / intervalMs - place;
          expect(Math.abs(turns - Math.round(turns))).toBeLessThan(1e-6);
        },
      ),
    );
  });
});

describe('Places', () => {
  it('hands out the smallest free number', () => {
    const places = new Places();
    expect([places.take(), places.take(), places.take(), places.take()]).toEqual([0, 1, 2, 3]);
    places.free(2);
    places.free(0);
    expect([places.take(), places.take(), places.take()]).toEqual([0, 2, 4]);
  });
});

describe('DueQueue', () => {
  it('gives what is due in the order of time, and of arrival at the same time', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
        const queue = new DueQueue<number>();
        for (const [index, atMs] of times.entries()) queue.push(index, atMs);
        const popped = times.map(() => queue.pop());
        const expected = times
          .map((atMs, item) => ({ atMs, item }))
          .sort((a, b) => a.atMs - b.atMs || a.item - b.item);
        expect(popped.map((due) => due && { atMs: due.atMs, item: due.item })).toEqual(expected);
        expect(queue.pop()).toBeUndefined();
      }),
    );
  });
});
