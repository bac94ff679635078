import { describe, expect, it } from 'vitest';
import { counts, mapOfDays, newestPoint } from '../../src/resources/charts.ts';
import { type FieldType, integer, object } from '../../src/resources/fields.ts';
import { eachDay, openDays, openRange } from '../../src/resources/queries.ts';
import type { Query } from '../../src/resources/resource.ts';

describe('the days to request', () => {
  it.each([
    ['before the first good poll: today', '2026-03-01T10:00:00Z', undefined, '2026-03-01', '2026-03-01'],
    ['on the same day: today', '2026-03-01T10:00:00Z', '2026-03-01T09:00:00Z', '2026-03-01', '2026-03-01'],
    [
      'after midnight: yesterday, too',
      '2026-03-01T00:00:00Z',
      '2026-02-28T23:59:59Z',
      '2026-02-28',
      '2026-03-01',
    ],
    [
      'while the last figures of yesterday may come: yesterday, too',
      '2026-03-01T00:20:00Z',
      '2026-03-01T00:14:00Z',
      '2026-02-28',
      '2026-03-01',
    ],
    [
      'after three days without a good poll: those days, too',
      '2026-03-02T00:20:00Z',
      '2026-02-27T12:00:00Z',
      '2026-02-27',
      '2026-03-02',
    ],
    ['after months: 28 days', '2026-03-28T10:00:00Z', '2025-03-01T10:00:00Z', '2026-03-01', '2026-03-28'],
    [
      'with a clock that was set back: today',
      '2026-03-01T10:00:00Z',
      '2026-04-01T10:00:00Z',
      '2026-03-01',
      '2026-03-01',
    ],
  ])('%s', (_, now, lastSuccess, from, to) => {
    const when = { nowMs: Date.parse(now), lastBeganMs: lastSuccess ? Date.parse(lastSuccess) : undefined };
    const asked = ({ requestsFor, ...query }: Query) => requestsFor(openRange(when, query));
    expect(asked(openDays).map(({ query }) => query)).toEqual([`dateFrom=${from}&dateTo=${to}`]);
    const days = asked(eachDay);
    expect(days[0]?.query).toBe(`dateFrom=${from}&dateTo=${from}`);
    expect(days.at(-1)?.query).toBe(`dateFrom=${to}&dateTo=${to}`);
    expect(days).toHaveLength((Date.parse(to) - Date.parse(from)) / 86_400_000 + 1);
  });
});

describe('the days of a chart', () => {
  const first = Date.parse('2026-08-20') / 1000;

  /** The days of a chart, and what was noted. */
  function read<Value>(type: FieldType<Value>, chart: unknown) {
    const mismatched: string[] = [];
    const diagnostics = { mismatch: (field: string) => mismatched.push(field), unrecognized: () => {} };
    return { days: object({ Chart: type }).from({ Chart: chart }, diagnostics).Chart, mismatched };
  }

  it('are read from all unambiguous keys and sorted, with the points of a day added up', () => {
    const chart = {
      '2026-08-22T12:00:00Z': 4,
      '2026-08-22T13:00': 5,
      '2026-08-20': 1,
      '21-08-2026': 2,
      [String(first + 86_400 * 3 + 3600)]: 8,
      '2026-08-24': null,
    };
    expect(read(counts, chart)).toEqual({
      days: [
        { startSeconds: first, value: 1 },
        { startSeconds: first + 86_400, value: 2 },
        { startSeconds: first + 86_400 * 2, value: 9 },
        { startSeconds: first + 86_400 * 3, value: 8 },
      ],
      mismatched: [],
    });
  });

  it('leave out and note a key that is not a day, or is ambiguous', () => {
    const { days, mismatched } = read(counts, {
      '8/9/2026 12:00:00 AM': 1,
      Monday: 2,
      '2026-08-20': 1,
    });
    expect(days).toEqual([{ startSeconds: first, value: 1 }]);
    expect(mismatched).toEqual(['Chart', 'Chart']);
  });

  it('are those in UTC of an instant in another zone, and a date with a text after it is none', () => {
    const { days, mismatched } = read(counts, {
      '2026-08-19T23:30:00-05:00': 3,
      '2026-08-20T02:00:00+05:30': 4,
      '2026-08-20Tnoon': 5,
    });
    expect(days).toEqual([
      { startSeconds: first - 86_400, value: 4 },
      { startSeconds: first, value: 3 },
    ]);
    expect(mismatched).toEqual(['Chart']);
  });

  it('are undefined if no key is a day, because an empty list would mean that nothing was counted', () => {
    const map = mapOfDays(object({ figure: integer }));
    expect(read(counts, { Monday: 2 }).days).toBeUndefined();
    expect(read(map, { Monday: { figure: 2 } }).days).toBeUndefined();
    expect(read(counts, { '2026-08-20': null }).days).toBeUndefined();
    expect(read(counts, {}).days).toBeUndefined();
    expect(read(map, {}).days).toEqual([]);
  });

  it('of averages are not added up: the newest point is used', () => {
    const chart = {
      '2026-08-22T13:00:00.0000000Z': 5,
      '2026-08-22T12:00:00Z': 4,
      '2026-08-20': 1,
      '2026-08-23': null,
    };
    expect(read(newestPoint, chart).days).toBe(5);
    expect(read(newestPoint, {}).days).toBeUndefined();
  });
});
