import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offsetOf } from '../../src/hash.ts';
import { nextStart } from '../../src/polling/schedule.ts';

describe('the offset of a poll', () => {
  it('spreads polls over the interval: no tenth of it has half more than its share', () => {
    for (const kind of ['application', 'pull_zone_statistics', 'video_storage/4711']) {
      const tenths = Array.from({ length: 10 }, () => 0);
      for (let id = 0; id < 2000; id++) {
        const tenth = Math.floor(offsetOf(`${kind}/${id}`) * 10);
        tenths[tenth] = (tenths[tenth] ?? 0) + 1;
      }
      expect(Math.max(...tenths)).toBeLessThan(1.5 * 200);
      expect(Math.min(...tenths)).toBeGreaterThan(0.5 * 200);
    }
  });

  it('depends only on its key', () => {
    expect(offsetOf('application/a')).toBe(offsetOf('application/a'));
    expect(offsetOf('application/a')).not.toBeCloseTo(offsetOf('application/b'), 3);
  });
});

describe('the start of the next poll', () => {
  const intervals = fc.integer({ min: 1000, max: 86_400_000 });
  const offsets = fc.double({ min: 0, max: 0.999, noNaN: true });

  it('is one interval after the last, give or take a tenth', () => {
    fc.assert(
      fc.property(intervals, offsets, fc.nat(), (intervalMs, offset, startedMs) => {
        const gapMs = nextStart(intervalMs, offset, startedMs, 1) - startedMs;
        expect(Math.abs(gapMs - intervalMs)).toBeLessThanOrEqual(0.1 * intervalMs + 1e-3);
      }),
    );
  });

  it('reaches its offset within five rounds and stays there', () => {
    fc.assert(
      fc.property(intervals, offsets, fc.nat(), (intervalMs, offset, startedMs) => {
        let atMs = startedMs;
        for (let round = 0; round < 6; round++) atMs = nextStart(intervalMs, offset, atMs, 1);
        const phase = (((atMs - offset * intervalMs) % intervalMs) + intervalMs) % intervalMs;
        expect(Math.min(phase, intervalMs - phase)).toBeLessThan(0.01);
      }),
    );
  });
});
