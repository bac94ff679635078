import { describe, expect, it } from 'vitest';
import { parseRetryAfter, pauseForMs, retryDelayMs } from '../../src/api/retry.ts';

const least = () => 0;
const most = () => 0.999999999;

describe('the delay before a retry', () => {
  it('is random up to a limit that doubles, at most 30 s', () => {
    const bounds = [0, 1, 2, 3, 6, 7, 2000].map((attempt) =>
      Math.round(retryDelayMs(attempt, undefined, most)),
    );
    expect(bounds).toEqual([500, 1000, 2000, 4000, 30_000, 30_000, 30_000]);
    expect(retryDelayMs(5, undefined, least)).toBe(0);
  });

  it('is never shorter than Retry-After', () => {
    expect(retryDelayMs(0, 7000, most)).toBe(7000);
    expect(retryDelayMs(6, 7000, least)).toBe(7000);
    expect(Math.round(retryDelayMs(6, 7000, most))).toBe(30_000);
  });
});

describe('the pause after a 429', () => {
  it('grows with each refusal in a row, and is never zero', () => {
    const pauses = (random: () => number) =>
      [0, 1, 2, 5, 6, 50].map((refusals) => Math.round(pauseForMs(refusals, undefined, random)));
    expect(pauses(least)).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000]);
    expect(pauses(most)).toEqual([1500, 3000, 6000, 48_000, 90_000, 90_000]);
  });
});

describe('Retry-After', () => {
  const nowMs = Date.parse('2026-11-20T09:30:00Z');
  const inMs = (header: string) => parseRetryAfter(header, nowMs);

  it('is read as an HTTP date', () => {
    expect(inMs('Fri, 20 Nov 2026 09:31:30 GMT')).toBe(90_000);
    expect(inMs('Friday, 20-Nov-26 09:31:30 GMT')).toBe(90_000);
  });

  it('counts as ten minutes when it says more', () => {
    expect(['601', '99999999999', '9'.repeat(500), 'Sun, 20 Nov 2050 00:00:00 GMT'].map(inMs)).toEqual(
      Array.from({ length: 4 }, () => 600_000),
    );
  });

  it.each(['', 'soon', '-5', '1.5', '5 minutes', 'in 5', '2026-11-20T09:31:30Z', 'Fri, 99 Foo 2026 GMT'])(
    'is ignored as %j',
    (header) => {
      expect(inMs(header)).toBeUndefined();
    },
  );
});
