import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextStart, offsetOf, Places } from '../../src/polling/schedule.ts';

describe('the offset of a poll', () => {
  it('spreads the first n polls evenly, for every n', () => {
    for (const n of [1, 2, 3, 7, 100, 1000]) {
      const offsets = Array.from({ length: n }, (_, i) => offsetOf(i)).sort((a, b) => a - b);
      const gaps = offsets.map((offset, i) => (offsets[i + 1] ?? 1 + (offsets[0] ?? 0)) - offset);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(2 / n);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1 / (2 * n));
    }
  });
});

describe('the start of the next poll', () => {
  const intervals = fc.integer({ min: 1000, max: 86_400_000 });
  const offsets = fc.double({ min: 0, max: 0.999, noNaN: true });

  it('is one interval after the last, give or take a tenth', () => {
    fc.assert(
      fc.property(intervals, offsets, fc.nat(), (intervalMs, offset, startedMs) => {
        const gapMs = nextStart(0, intervalMs, offset, startedMs, 1) - startedMs;
        expect(Math.abs(gapMs - intervalMs)).toBeLessThanOrEqual(0.1 * intervalMs + 1e-3);
      }),
    );
  });

  it('reaches its offset within five rounds and stays there', () => {
    fc.assert(
      fc.property(intervals, offsets, fc.nat(), (intervalMs, offset, startedMs) => {
        let atMs = startedMs;
        for (let round = 0; round < 6; round++) atMs = nextStart(0, intervalMs, offset, atMs, 1);
        const phase = (((atMs - offset * intervalMs) % intervalMs) + intervalMs) % intervalMs;
        expect(Math.min(phase, intervalMs - phase)).toBeLessThan(0.01);
      }),
    );
  });
});

describe('places', () => {
  it('are assigned in order, the smallest free number first', () => {
    const places = new Places();
    const [first, , third, fourth] = [places.take(), places.take(), places.take(), places.take()];
    expect([first, third, fourth]).toEqual([0, 2, 3]);
    for (const place of [third, first]) places.free(place as number);
    expect([places.take(), places.take(), places.take()]).toEqual([0, 2, 4]);
  });
});
