import { describe, expect, it } from 'vitest';
import {
  chart,
  dailyFamiliesOf,
  newestFigures,
  readCharts,
  readDays,
  readTally,
  type Tally,
} from '../../src/resources/daily.ts';
import { object } from '../../src/resources/fields.ts';
import type { Sample } from '../../src/resources/resource.ts';

const noon = Date.UTC(2026, 7, 20, 12);
const today = Date.UTC(2026, 7, 20) / 1000;
const yesterday = today - 86_400;
const diagnostics = { mismatch: () => {}, unrecognized: () => {} };
const schema = object({ Chart: chart, Tally: chart });

const answerOf = (startSeconds: number, tally: Record<string, number>) => ({
  startSeconds,
  answer: { Tally: Object.entries(tally) },
});

describe('statistics by days', () => {
  it('are asked for today alone at the first reading, and for the day before once more after midnight', async () => {
    const asked: string[] = [];
    const get = (path: string) => {
      asked.push(path);
      return Promise.resolve({ Chart: {} });
    };
    const pathOf = (query: string) => `/statistics?${query}`;
    const from = (nowMs: number, lastSuccessMs?: number) =>
      readDays(schema, pathOf, get, diagnostics, { nowMs, lastSuccessMs });
    await from(noon);
    await from(noon + 300_000, noon);
    expect(asked.splice(0)).toEqual(Array(2).fill('/statistics?dateFrom=2026-08-20&dateTo=2026-08-20'));
    const midnight = Date.UTC(2026, 7, 21);
    const answers = await from(midnight + 120_000, midnight - 180_000);
    expect(asked).toEqual([
      '/statistics?dateFrom=2026-08-20&dateTo=2026-08-20',
      '/statistics?dateFrom=2026-08-21&dateTo=2026-08-21',
    ]);
    expect(answers.map(({ startSeconds }) => startSeconds)).toEqual([today, today + 86_400]);
  });

  it('join the charts of all days, and have none where no answer has one', () => {
    const answers = [
      { startSeconds: yesterday, answer: { Chart: Object.entries({ '2026-08-19': 7 }) } },
      { startSeconds: today, answer: { Chart: Object.entries({ '2026-08-20': 2 }), Other: undefined } },
    ];
    expect(readCharts(['Chart', 'Other'], answers, diagnostics)).toEqual({
      Chart: [
        { startSeconds: yesterday, value: 7 },
        { startSeconds: today, value: 2 },
      ],
      Other: undefined,
    });
  });

  it('show the newest day that any series has, and only those that have it', () => {
    const series = [
      { labels: { part: 'a' }, days: [{ startSeconds: yesterday, value: 9 }] },
      {
        labels: { part: 'b' },
        days: [
          { startSeconds: today, value: 1 },
          { startSeconds: yesterday, value: 8 },
        ],
      },
    ];
    expect(newestFigures(series)).toEqual([{ labels: { part: 'b' }, value: 1 }]);
    expect(newestFigures([{ days: [] }])).toEqual([]);
  });
});

describe('a tally', () => {
  const countries = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`c${String(n).padStart(2, '0')}`, count - n]),
    );

  const { dailyTally } = dailyFamiliesOf<Tally | undefined>('x');
  const [newest, total] = dailyTally('country', 'views', 'Views', 'Tally', (tally) => tally);
  const target = { ids: {}, name: undefined, settings: {} };
  const countsOf = (samples: readonly Sample[] = []): Readonly<Record<string, number>> =>
    Object.fromEntries(samples.map(({ labels, value }) => [labels?.['country'] ?? '', value]));

  it('has the days of all, and shows of the newest day the 50 largest and the sum of the rest', () => {
    const tally = readTally('Tally', [
      answerOf(yesterday, { ...countries(53), c51: 5 }),
      answerOf(today, countries(53)),
    ]);
    expect(tally?.get('c00')).toEqual([
      { startSeconds: yesterday, value: 53 },
      { startSeconds: today, value: 53 },
    ]);
    const shown = countsOf(newest?.samples(tally, target));
    expect(Object.keys(shown)).toHaveLength(51);
    expect(shown).toMatchObject({ c00: 53, other: 3 + 2 + 1 });
    expect(total?.days?.(tally, target)).toHaveLength(54);
  });

  it('shows no rest of the newest day where there are at most 50', () => {
    const tally = readTally('Tally', [answerOf(today, countries(50))]);
    expect(countsOf(newest?.samples(tally, target))).not.toHaveProperty('other');
  });

  it('adds what the API itself calls `other` to the rest', () => {
    const tally = readTally('Tally', [answerOf(today, { ...countries(51), other: 70 })]);
    expect(countsOf(newest?.samples(tally, target))).toMatchObject({ c49: 2, other: 71 });
  });

  it('has no series where the API gave none', () => {
    const tally = readTally('Tally', [{ startSeconds: today, answer: { Tally: undefined } }]);
    expect(newest?.samples(tally, target)).toEqual([]);
    expect(total?.days?.(tally, target)).toEqual([]);
  });
});
