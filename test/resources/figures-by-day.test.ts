import { describe, expect, it } from 'vitest';
import { daily } from '../../src/resources/charts.ts';
import { defineResource } from '../../src/resources/define.ts';
import { familiesOf, finished } from '../../src/resources/families.ts';
import { object } from '../../src/resources/fields.ts';
import { eachDay } from '../../src/resources/queries.ts';
import { RequestedRange } from '../../src/resources/requested.ts';
import type { Sample } from '../../src/resources/resource.ts';
import { dailyTally } from '../../src/resources/tallies.ts';
import { unnoted } from './expose.ts';

const today = Date.UTC(2026, 7, 20) / 1000;
const yesterday = today - 86_400;
const target = { ids: {}, name: undefined, settings: {} };

describe('statistics by day', () => {
  const statistics = object({
    A: daily('requests', 'Requests', { fixed: { part: 'a' } }),
    B: daily('requests', 'Requests', { fixed: { part: 'b' } }),
  });
  const kind = defineResource({
    kind: 'x',
    product: 'CDN',
    noun: 'x',
    defaultIntervalSeconds: 60,
    path: '/days',
    query: eachDay,
    answer: statistics,
  });
  const [newest] = familiesOf(statistics).map((family) => finished('x', 'x', family));

  /** The requests and the reading at this time; each day has its own body. */
  async function readAt(nowMs: number, caughtUpMs?: number, bodies: Record<string, unknown> = {}) {
    const asked: string[] = [];
    const get = (path: string) => {
      const query = path.replace('/days?', '');
      asked.push(query);
      return Promise.resolve(bodies[query] ?? { A: {} });
    };
    return { asked, ...(await kind.read(get, {}, unnoted, { nowMs, caughtUpMs })) };
  }

  const firstDay = 'dateFrom=2026-08-20&dateTo=2026-08-20';
  const nextDay = 'dateFrom=2026-08-21&dateTo=2026-08-21';
  const midnight = Date.UTC(2026, 7, 21);

  it('count the charts of all days, show those of today, and have no chart if no answer has one', async () => {
    const bodies = { [firstDay]: { A: { '2026-08-20': 7 } }, [nextDay]: { A: { '2026-08-21': 2 } } };
    const { counted, shown } = await readAt(midnight + 120_000, midnight - 180_000, bodies);
    const newest = { startSeconds: today + 86_400, value: 2 };
    expect(counted.map(({ reading }) => reading)).toEqual([
      { A: [{ startSeconds: today, value: 7 }], B: undefined },
      { A: [newest], B: undefined },
    ]);
    expect(shown).toEqual({ A: [newest], B: undefined });
  });

  it('show the newest day of any series, and only the series with that day', () => {
    const reading = {
      A: [{ startSeconds: yesterday, value: 9 }],
      B: [
        { startSeconds: yesterday, value: 8 },
        { startSeconds: today, value: 1 },
      ],
    };
    expect(newest?.samples(reading, target)).toEqual([{ labels: { part: 'b' }, value: 1 }]);
    expect(newest?.samples({ A: [], B: undefined }, target)).toEqual([]);
  });
});

describe('a tally', () => {
  const countries = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`c${String(n).padStart(2, '0')}`, count - n]),
    );

  const answer = object({ Tally: dailyTally('views', 'Views', 'Chart', { country: (key) => key }) });
  const [newest, total] = familiesOf(answer).map((family) => finished('x', 'x', family));
  const read = (startSeconds: number, body: unknown) =>
    answer.from(
      body,
      unnoted,
      new RequestedRange({ fromMs: startSeconds * 1000, toMs: (startSeconds + 86_400) * 1000 }, 0),
    );
  const countsOf = (samples: readonly Sample[] = []): Readonly<Record<string, number>> =>
    Object.fromEntries(samples.map(({ labels, value }) => [labels?.['country'] ?? '', value]));

  it('keeps the days of all, and shows the 50 largest of the newest day and the sum of the rest', () => {
    const before = read(yesterday, { Tally: { ...countries(53), c51: 5 } });
    const reading = {
      Tally: [...(before.Tally ?? []), ...(read(today, { Tally: countries(53) }).Tally ?? [])],
    };
    const shown = countsOf(newest?.samples(reading, target));
    expect(Object.keys(shown)).toHaveLength(51);
    expect(shown).toMatchObject({ c00: 53, other: 3 + 2 + 1 });
    const counted = total?.days?.(reading, target);
    expect(counted).toHaveLength(54);
    expect(counted).toContainEqual({
      labels: { country: 'c00' },
      days: [
        { startSeconds: yesterday, value: 53 },
        { startSeconds: today, value: 53 },
      ],
    });
    expect(total?.bound).toEqual({ most: 50, rest: { country: 'other' } });
  });

  it('has no series if the API sends none', () => {
    const reading = read(today, { Tally: null });
    expect(newest?.samples(reading, target)).toEqual([]);
    expect(total?.days?.(reading, target)).toEqual([]);
  });
});
