/** Queries, rows, latency and storage of databases by hours (`/database/v2/databases/{id}/statistics`). */
import { ofEach } from '../answers.ts';
import { type DayFigure, daily, dayMs, dayOf, hourMs } from '../days.ts';
import { count, round, unit } from '../entities.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { type Database, databaseApi } from './database.ts';

export const databaseStatistics = {
  kind: 'database_statistics',
  section: 'database_statistics',
  ...databaseApi,
  path: '/database/v2/databases/{database}/statistics',
  traits: {},
  ...ofEach('databases', statistics),
} as const satisfies Kind;

/** How much an hour adds to the figure of its day. An hour in the future has 0. */
function inHour(figureOf: (nowMs: number) => DayFigure, startMs: number, nowMs: number): number {
  const at = (ms: number) => figureOf(Math.min(ms, nowMs))(dayOf(startMs));
  return startMs >= nowMs ? 0 : at(startMs + hourMs) - at(startMs);
}

/** The statistics of the hours that the query requests, by default of today. */
function statistics(one: Database, { query, nowMs }: Request) {
  const timeOf = (name: string) => Date.parse(query.get(name) ?? '');
  const to = timeOf('to') || nowMs;
  const from = timeOf('from') || to - (to % dayMs);
  const first = Math.floor(from / hourMs) * hourMs;
  const hours = count(Math.max(0, Math.ceil((to - first) / hourMs)), (hour) => first + hour * hourMs);
  const chart = (figureOf: (startMs: number) => number) =>
    hours.map((startMs) => [new Date(startMs).toISOString(), figureOf(startMs)]);
  const counted = (figure: number, share: number) => {
    const figureOf = (ms: number) => daily(one, figure, one.queriesPerDay * share, ms);
    return { unit: 'NoUnit', data: chart((startMs) => inHour(figureOf, startMs, nowMs)), diff: 0 };
  };
  const queries = counted(0, 1);
  const latencyOf = (ms: number) => (startMs: number) =>
    startMs > nowMs || queries.data.find(([at]) => at === new Date(startMs).toISOString())?.[1] === 0
      ? 0
      : round(ms * (0.8 + 0.4 * unit(one.seed, Math.floor(startMs / hourMs))), 3);
  return ok({
    query_count: queries,
    row_read_count: counted(1, 40),
    row_write_count: counted(2, 3),
    delegated_write_requests: counted(3, 0.1),
    latency: {
      unit: 'milliseconds',
      data: Object.fromEntries(
        Object.entries({ Average: 4, P75: 7, P95: 21 }).map(([name, ms]) => [
          name,
          { data: chart(latencyOf(ms)), diff: 0 },
        ]),
      ),
    },
    storage: {
      unit: 'megabyte',
      data: chart((startMs) => round((one.bytes / 1e6) * (1 + (startMs % dayMs) / dayMs / 50), 2)),
    },
  });
}
