/** Times in, whose fault a 401 is out. */
import { describe, expect, it } from 'vitest';
import { type Asked, faultOf } from '../../src/polling/doubts.ts';

const never = Number.NEGATIVE_INFINITY;
const asked = (beganMs: number, isGood: boolean | undefined): Asked => ({
  beganMs,
  endedMs: beganMs + 500,
  isGood,
});

describe('a 401 that came at 100 s', () => {
  const atMs = 100_000;

  it.each<[string, Asked | undefined, number, ReturnType<typeof faultOf>]>([
    ['of the id if something was read that began after it', undefined, 100_001, 'id'],
    ['of nobody yet while only what began before it was read', undefined, 99_999, undefined],
    ['of the id if what was asked after it was answered well', asked(100_200, true), never, 'id'],
    ['of nobody yet if that was asked before it', asked(99_900, true), never, undefined],
    ['of the key if what was asked after it got 401, too', asked(100_200, false), never, 'key'],
    ['of the key if what was asked a minute before it got 401', asked(40_000, false), 20_000, 'key'],
    ['of nobody yet if that was longer ago', asked(39_000, false), 20_000, undefined],
    ['of nobody yet if something was read since that', asked(90_000, false), 95_000, undefined],
    ['of the id if something was read since that and since it', asked(100_200, false), 101_000, 'id'],
    ['undecided if what was asked after it tells nothing', asked(100_200, undefined), never, 'undecided'],
    ['of nobody yet while nothing was asked since', asked(99_900, undefined), never, undefined],
  ])('is %s', (_, last, readBeganMs, fault) => {
    expect(faultOf(atMs, last, readBeganMs)).toBe(fault);
  });
});
