import { describe, expect, it } from 'vitest';
import { counts, mapOfDays, newestPoint } from '../../src/resources/charts.ts';
import { type FieldType, integer, object } from '../../src/resources/fields.ts';
import { askedFor, daysInOne, eachDay, eachDayByHours } from '../../src/resources/queries.ts';
import type { Query } from '../../src/resources/resource.ts';

describe('the days to request', () => {
  const at = (time: string | undefined) => (time === undefined ? undefined : Date.parse(`${time}:00Z`));

  /** The first and the last day that a poll asks for, each as `d`, and the days that are shown. */
  function asked(query: Query, now: string, caughtUp?: string, newestDayMs?: number) {
    const context = { nowMs: at(now) ?? 0, caughtUpMs: at(caughtUp), newestDayMs };
    const { range, shownFromMs } = askedFor(context, query);
    const texts = query.requestsFor(range).map((one) => one.query);
    const days = texts.flatMap((text) => [...text.matchAll(/(\d{4}-\d{2}-\d{2})/g)].map(([day]) => day));
    return [days[0], days.at(-1), new Date(shownFromMs).toISOString().slice(0, 10)];
  }

  it.each([
    ['at first, as the baseline', '2026-03-05T10:00', undefined],
    ['after midnight', '2026-03-05T00:00', '2026-03-04T23:59'],
    ['in another half hour of the night', '2026-03-05T00:31', '2026-03-05T00:29'],
    ['in the last half hour before three', '2026-03-05T02:59', '2026-03-05T02:29'],
    ['once more after noon', '2026-03-05T12:01', '2026-03-05T02:31'],
    ['after an outage until the morning', '2026-03-05T09:00', '2026-03-04T20:00'],
    ['after the clock was ahead', '2026-03-05T10:00', '2026-04-01T10:00'],
  ])('are yesterday and today %s', (_, now, caughtUp) => {
    expect(asked(eachDay, now, caughtUp)).toEqual(['2026-03-04', '2026-03-05', '2026-03-05']);
    expect(asked(daysInOne, now, caughtUp)).toEqual(['2026-03-04', '2026-03-05', '2026-03-04']);
  });

  it.each([
    ['in the same half hour', '2026-03-05T00:29', '2026-03-05T00:01'],
    ['from three on', '2026-03-05T03:00', '2026-03-05T02:31'],
    ['once it was asked after noon', '2026-03-05T12:06', '2026-03-05T12:01'],
  ])('are only today where yesterday is one more request, %s', (_, now, caughtUp) => {
    expect(asked(eachDay, now, caughtUp)).toEqual(['2026-03-05', '2026-03-05', '2026-03-05']);
    expect(asked(daysInOne, now, caughtUp)).toEqual(['2026-03-04', '2026-03-05', '2026-03-04']);
  });

  it('are yesterday and today in the whole night, shown too, where one of its hours may be the newest', () => {
    const both = ['2026-03-04', '2026-03-05', '2026-03-04'];
    for (const [now, caughtUp] of [
      ['2026-03-05T00:01', '2026-03-04T23:56'],
      ['2026-03-05T01:06', '2026-03-05T01:01'],
      ['2026-03-05T03:59', '2026-03-05T03:54'],
    ] as const)
      expect(asked(eachDayByHours, now, caughtUp), now).toEqual(both);
    const only = ['2026-03-05', '2026-03-05', '2026-03-05'];
    expect(asked(eachDayByHours, '2026-03-05T04:04', '2026-03-05T03:59')).toEqual(only);
    // From two on today has such an hour, if it has any figures.
    const today = Date.parse('2026-03-05');
    expect(asked(eachDayByHours, '2026-03-05T01:59', '2026-03-05T01:54', today)).toEqual(both);
    expect(asked(eachDayByHours, '2026-03-05T02:09', '2026-03-05T02:04', today)).toEqual(only);
  });

  it.each([
    ['that of the last poll and the one before, which might have grown', '2026-03-04T11:00', '2026-03-03'],
    ['that of the last poll, where the one before was complete', '2026-03-04T12:00', '2026-03-04'],
    ['28 at most', '2025-03-01T10:00', '2026-02-09'],
  ])('are all days since the last good poll: %s', (_, caughtUp, from) => {
    for (const query of [eachDay, daysInOne, eachDayByHours])
      expect(asked(query, '2026-03-08T10:00', caughtUp).slice(0, 2)).toEqual([from, '2026-03-08']);
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
