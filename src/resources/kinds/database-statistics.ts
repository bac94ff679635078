/** Queries, rows and latency of a database, by hours (`/database/v2/databases/{id}/statistics`). */
import { counted, countsOf, levelsOf, ofNewestHour } from '../charts.ts';
import { defineResource } from '../define.ts';
import { shown } from '../families.ts';
import {
  anything,
  divided,
  type Entries,
  entriesOf,
  type FieldType,
  listOf,
  mapped,
  number,
  object,
  oneOf,
  readValue,
  type ValueOf,
} from '../fields.ts';
import type { Query } from '../resource.ts';
import { databases } from './database.ts';

const maxSeries = 50;

/** Pairs of an instant and a figure, as the entries of an object. */
const points: FieldType<Entries<number>> = mapped(listOf(anything), (all, notes) =>
  all.flatMap((pair) => {
    const [at, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (typeof at === 'string') return [[at, readValue(number, value, notes)] as const];
    notes.mismatch('a pair of a date-time and a number', pair);
    return [];
  }),
);

/** A chart in its field `data`. */
const counts = countsOf(mapped(object({ data: points }).ignoring('unit diff'), ({ data }) => data));

const latencies = object({
  unit: oneOf(['milliseconds', 'seconds', 'NoUnit']),
  data: entriesOf(object({ data: levelsOf(points) }).ignoring('diff')),
}).ignoring('diff');

/** The points of the newest hour that had queries: the API writes 0 for an hour without. */
const newestLatencies = mapped(latencies, ({ unit, data = [] }) => {
  if (!unit) return [];
  const all = data.flatMap(([series, chart]) => (chart?.data ?? []).map((level) => ({ ...level, series })));
  return ofNewestHour(all).map(({ series, value }) => ({
    series,
    seconds: unit === 'seconds' ? value : divided(value, 1000),
  }));
});

const latency = shown(newestLatencies, {
  name: 'latency_seconds',
  words: `Latency of queries in the newest hour that had any; the API does not document what its series are, which can be regions or percentiles: nothing to add up (%s: at most ${maxSeries} of the keys of data, in the order of their names, in its unit; NoUnit is taken as milliseconds)`,
  labels: ['series'],
  series: (all: ValueOf<typeof newestLatencies>) =>
    all
      .toSorted((a, b) => (a.series < b.series ? -1 : 1))
      .slice(0, maxSeries)
      .map(({ series, seconds }) => ({ labels: { series }, value: seconds })),
});

const statistics = object({
  row_read_count: counted('rows_read', 'Rows that queries read', counts),
  row_write_count: counted('rows_written', 'Rows that queries wrote', counts),
  query_count: counted('queries', 'Queries', counts),
  delegated_write_requests: counted('delegated_writes', 'Delegated writes, as the API calls them', counts),
  latency,
}).ignoring('storage{unit data diff}');

/** All days in one request by hours. It ends with the range, so no hour of it is in the future. */
const hoursInOne: Query = {
  yesterday: 'always',
  isByHours: true,
  requestsFor: (range) => {
    const [from, to] = [range.fromMs, range.toMs - 1].map((ms) => new Date(ms).toISOString());
    return [{ range, query: `from=${from}&to=${to}` }];
  },
};

export const databaseStatistics = defineResource({
  kind: 'database_statistics',
  noun: 'database statistics',
  listing: databases,
  path: '/database/v2/databases/{id}/statistics',
  query: hoursInOne,
  answer: statistics,
});
