import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { merged, piecesOf } from '../../src/backfill/ranges.ts';
import { type Figure, type Figures, latestDay, latestDayStamp, total } from '../../src/backfill/samples.ts';
import { daysInOne, eachDay } from '../../src/resources/queries.ts';
import { dayMs, hourMs, type Range } from '../../src/resources/times.ts';
import { runs } from '../runs.ts';

const startMs = Date.UTC(2026, 9, 28);
const steps = [60_000, 300_000, 900_000, hourMs];

const length = runs(3, 7);

/** Figures of some of the units of some days, and of which of them there are any. */
const histories = fc
  .record({
    unitMs: fc.constantFrom(hourMs, dayMs),
    stepMs: fc.constantFrom(...steps),
    days: fc.array(fc.boolean(), { minLength: length, maxLength: length }),
    values: fc.array(fc.oneof(fc.nat(1e6), fc.double({ min: 0, max: 1e6, noNaN: true })), {
      minLength: 1,
      maxLength: length * 24,
    }),
  })
  .map(({ unitMs, stepMs, days, values }) => {
    const ranges = merged(
      days.flatMap((isRead, day) => (isRead ? [rangeOf(startMs + day * dayMs, dayMs)] : [])),
    );
    const units = (length * dayMs) / unitMs;
    const figures: Figure[] = Array.from({ length: units }, (_, at) => ({
      ...rangeOf(startMs + at * unitMs, unitMs),
      value: values[at % values.length] ?? 0,
    })).filter(({ fromMs }) => ranges.some((range) => fromMs >= range.fromMs && fromMs < range.toMs));
    return { figures, ranges, grid: { stepMs, untilMs: startMs + length * dayMs } };
  });

function rangeOf(fromMs: number, lengthMs: number): Range {
  return { fromMs, toMs: fromMs + lengthMs };
}

function packed(figures: readonly Figure[]): Figures {
  return figures.flatMap(({ fromMs, toMs, value }) => [fromMs, toMs, value]);
}

type Samples = readonly (readonly [atMs: number, value: number])[];

function samplesOf(fill: (emit: (atMs: number, value: number) => void) => void): Samples {
  const samples: [number, number][] = [];
  fill((...sample) => samples.push(sample));
  return samples;
}

function sumUpTo(figures: readonly Figure[], atMs: number): number {
  return figures.reduce((sum, { toMs, value }) => sum + (toMs <= atMs ? value : 0), 0);
}

describe('a counter', () => {
  it('is exact at the end of each figure, never falls, and has samples only of what was read', () => {
    fc.assert(
      fc.property(histories, ({ figures, ranges, grid }) => {
        const samples = samplesOf((emit) => total(packed(figures), ranges, grid, emit));
        const at = new Map(samples);
        expect(at.size).toBe(samples.length);
        const isWrong = ([atMs, value]: Samples[number], n: number) => {
          const [beforeMs, before] = samples[n - 1] ?? [0, 0];
          const isRead = ranges.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs);
          return atMs <= beforeMs || value < before || !isRead || atMs >= grid.untilMs;
        };
        expect(samples.filter(isWrong)).toEqual([]);
        if (samples.length > 0) expect(samples[0]?.[1]).toBe(0);
        for (const { toMs } of figures)
          expect(at.get(toMs === grid.untilMs ? toMs - 1 : toMs)).toBe(sumUpTo(figures, toMs));
      }),
    );
  });

  it('grows evenly', () => {
    const figures = packed([{ ...rangeOf(startMs, hourMs), value: 120 }]);
    const grid = { stepMs: 900_000, untilMs: startMs + hourMs };
    const samples = samplesOf((emit) => total(figures, [rangeOf(startMs, hourMs)], grid, emit));
    expect(samples.map(([atMs, value]) => [atMs - startMs, value])).toEqual([
      [0, 0],
      [900_000, 30],
      [1_800_000, 60],
      [2_700_000, 90],
      [3_599_999, 120],
    ]);
  });
});

describe('the newest day', () => {
  it('is 0 at midnight, has all of its day a step before the next, and never falls within it', () => {
    fc.assert(
      fc.property(histories, ({ figures, ranges, grid }) => {
        const samples = samplesOf((emit) => latestDay(packed(figures), ranges, grid, emit));
        const at = new Map(samples);
        expect(at.size).toBe(samples.length);
        for (const { fromMs, toMs } of ranges)
          for (let dayMsAt = fromMs; dayMsAt < toMs; dayMsAt += dayMs) {
            const ofDay = figures.filter((one) => one.fromMs >= dayMsAt && one.fromMs < dayMsAt + dayMs);
            const values = samples
              .filter(([atMs]) => atMs >= dayMsAt && atMs < dayMsAt + dayMs)
              .map(([, value]) => value);
            expect(values).toHaveLength(grid.stepMs === hourMs ? 24 : 25);
            expect(values).toEqual(values.toSorted((a, b) => a - b));
            expect(values[0]).toBe(0);
            expect(at.get(dayMsAt + dayMs - grid.stepMs)).toBe(sumUpTo(ofDay, dayMsAt + dayMs));
          }
        const stamps = samplesOf((emit) => latestDayStamp(ranges, grid, emit));
        expect(stamps).toEqual(samples.map(([atMs]) => [atMs, (Math.floor(atMs / dayMs) * dayMs) / 1000]));
      }),
    );
  });
});

describe('the requests', () => {
  it('are for one day each where the polls ask so, else for 28 days, and cover all of the time', () => {
    const span = { fromMs: startMs + hourMs, toMs: startMs + 40 * dayMs };
    expect(piecesOf(daysInOne, span)).toEqual([
      rangeOf(startMs, 28 * dayMs),
      rangeOf(startMs + 28 * dayMs, 12 * dayMs),
    ]);
    const days = piecesOf(eachDay, span);
    expect(days).toHaveLength(40);
    expect(merged(days)).toEqual([rangeOf(startMs, 40 * dayMs)]);
  });
});
