import { expect, it } from 'vitest';
import { databaseStatistics } from '../../../src/resources/kinds/database-statistics.ts';
import { type Body, expose, unnoted } from '../expose.ts';

const now = '2026-08-20T12:30:00.000Z';
const read = (answer: Body) =>
  expose(databaseStatistics, answer, { ids: { database_id: 'db_01' }, context: { nowMs: Date.parse(now) } });
const short = (rows: string) =>
  rows.replaceAll('database_id="db_01"', 'db').replaceAll('bunnynet_database_statistics_', '');
const hours = (...values: readonly number[]) =>
  values.map((value, hour) => [`2026-08-20T0${hour}:00:00Z`, value]);
const counted = (...values: readonly number[]) => ({ unit: 'NoUnit', data: hours(...values), diff: null });

it('counts the hours of today, and shows the latency of the newest hour with queries', async () => {
  const { rows, asked, mismatched } = await read({
    query_count: counted(3, 4, 0),
    row_read_count: counted(30, 40, 0),
    row_write_count: counted(1),
    delegated_write_requests: counted(0),
    latency: {
      unit: 'milliseconds',
      data: {
        P95: { data: hours(9, 12.5, 0), diff: 1 },
        Average: { data: hours(3, 4, 0) },
        old: { data: hours(7) },
      },
    },
    storage: { unit: 'megabyte', data: hours(17) },
  });
  expect(asked).toEqual([`/database/v2/databases/db_01/statistics?from=2026-08-19T00:00:00.000Z&to=${now}`]);
  expect(short(rows)).toBe(`\
rows_read_total{db} 0
rows_written_total{db} 0
queries_total{db} 0
delegated_writes_total{db} 0
latency_seconds{db,series="Average"} 0.004
latency_seconds{db,series="P95"} 0.0125
`);
  expect(mismatched).toEqual([]);
});

it('has the sum of the hours of each day', async () => {
  const get = () => Promise.resolve({ query_count: { data: [['2026-08-19T23:00:00Z', 5], ...hours(3, 4)] } });
  const context = { nowMs: Date.parse(now), caughtUpMs: Date.parse('2026-08-19T23:55:00Z') };
  const { counted } = await databaseStatistics.read(get, { database_id: 'db_01' }, unnoted, context);
  expect(counted.flatMap(({ reading }) => reading.query_count)).toEqual([
    { startSeconds: 1_787_097_600, value: 5 },
    { startSeconds: 1_787_184_000, value: 7 },
  ]);
});

it('asks for the day of the last good poll, too, while it may still grow', async () => {
  const context = {
    nowMs: Date.parse('2026-08-20T00:05:00Z'),
    caughtUpMs: Date.parse('2026-08-19T23:55:00Z'),
  };
  const { asked } = await expose(
    databaseStatistics,
    { query_count: null },
    { ids: { database_id: 'a' }, context },
  );
  expect(asked).toEqual([
    '/database/v2/databases/a/statistics?from=2026-08-19T00:00:00.000Z&to=2026-08-20T00:05:00.000Z',
  ]);
});

it('has at most 50 series of latency, and none in a unit that it does not know', async () => {
  const data = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [String(100 + index), { data: hours(1) }]),
  );
  const { rows } = await read({ latency: { unit: 'Milliseconds', data } });
  expect(rows.match(/series="/g)).toHaveLength(50);
  const unknown = await read({ latency: { unit: 'fortnights', data } });
  expect([unknown.rows, unknown.unrecognized]).toEqual(['', ['latency: unit fortnights']]);
});

it('takes a latency without a unit as milliseconds, and notes nothing', async () => {
  const { rows, unrecognized } = await read({
    latency: { unit: 'NoUnit', data: { p50: { data: hours(12.5) } } },
  });
  expect([short(rows), unrecognized]).toEqual(['latency_seconds{db,series="p50"} 0.0125\n', []]);
});

it('leaves out what is null, missing or of the wrong type', async () => {
  const { rows, mismatched } = await read({
    query_count: { data: [['2026-08-20T00:00:00Z', '3'], 'none', ['someday', 3]] },
    row_read_count: { data: null },
    latency: { unit: 'milliseconds', data: [] },
  });
  expect([rows, mismatched]).toEqual(['', ['query_count', 'query_count', 'query_count', 'latency']]);
});
