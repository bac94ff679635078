/** An API whose figures grow by 1,000 a minute, of a target 7 in each way in which a kind asks for them. */
import type { Request, Route, Whole } from './whole.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** 1,000 a minute since 1970. What is later than `lateMs` ago is not there yet. */
export const everIn = (fromMs: number, toMs: number, lateMs: number) =>
  Math.max(0, Math.floor((Math.min(toMs, Date.now() - lateMs) - fromMs) / minuteMs)) * 1000;
const startOf = (text: string | null) => Date.parse((text ?? '').slice(0, 10));
const daysOf = (from: string | null, to: string | null) =>
  Array.from({ length: (startOf(to) - startOf(from)) / dayMs + 1 }, (_, at) => startOf(from) + at * dayMs);

/** Each day from one to another with its figure. */
export const byDay = (from: string | null, to: string | null, lateMs: number) =>
  Object.fromEntries(
    daysOf(from, to).map((day) => [new Date(day).toISOString(), everIn(day, day + dayMs, lateMs)]),
  );

/** The same by hours. Those to come have 0. */
export const byHour = (from: string | null, to: string | null, lateMs: number) =>
  Object.fromEntries(
    daysOf(from, to).flatMap((day) =>
      Array.from({ length: 24 }, (_, hour) => day + hour * hourMs).map((startMs) => [
        new Date(startMs).toISOString(),
        everIn(startMs, startMs + hourMs, lateMs),
      ]),
    ),
  );

interface Kind {
  readonly section: string;
  readonly path: string;
  readonly counter: string;
  readonly answer: (query: URLSearchParams, lateMs: number) => unknown;
}

export const kinds: readonly Kind[] = [
  {
    section: 'pull_zone_statistics',
    path: '/statistics',
    counter: 'bunnynet_pull_zone_requests_total',
    answer: (query, lateMs) => ({
      RequestsServedChart: byHour(query.get('dateFrom'), query.get('dateTo'), lateMs),
    }),
  },
  {
    section: 'dns_zones',
    path: '/dnszone/7/statistics',
    counter: 'bunnynet_dns_zone_queries_total',
    answer: (query, lateMs) => ({
      QueriesServedChart: byDay(query.get('dateFrom'), query.get('dateTo'), lateMs),
    }),
  },
  {
    section: 'storage_zone_egress',
    path: '/storagezone/7/statistics/egress',
    counter: 'bunnynet_storage_zone_egress_bytes_total',
    answer: (query, lateMs) => ({
      HttpEgressChart: byDay(query.get('dateFrom'), query.get('dateTo'), lateMs),
    }),
  },
  {
    section: 'shield_statistics',
    path: '/shield/metrics/overview/7/detailed',
    counter: 'bunnynet_shield_requests_total',
    answer: (query, lateMs) => ({
      data: {
        waf: { metrics: { Blocked: byDay(query.get('StartDate'), query.get('EndDate'), lateMs) } },
        resolution: 4,
      },
    }),
  },
  {
    section: 'database_statistics',
    path: '/database/v2/databases/7/statistics',
    counter: 'bunnynet_database_statistics_queries_total',
    answer: (query, lateMs) => ({
      query_count: { data: Object.entries(byHour(query.get('from'), query.get('to'), lateMs)) },
    }),
  },
  {
    section: 'load_balancer_statistics',
    path: '/loadbalancer/7/statistics',
    counter: 'bunnynet_load_balancer_requests_total',
    answer: (query, lateMs) => ({
      Summary: {
        TotalRequests: Object.values(byDay(query.get('from'), query.get('to'), lateMs))[0],
      },
    }),
  },
  {
    section: 'rate_limits',
    path: '/shield/metrics/rate-limits/7',
    counter: 'bunnynet_shield_rate_limit_breaches_total',
    answer: (_, lateMs) => ({
      data: [
        {
          ratelimitId: 11,
          ratelimitOverviewPastTwentyEightDays: Object.fromEntries(
            Object.entries(
              byDay(
                new Date(Date.now() - 27 * dayMs).toISOString(),
                new Date(Date.now()).toISOString(),
                lateMs,
              ),
            ).map(([day, totalBreaches]) => [day, { totalBreaches }]),
          ),
        },
      ],
    }),
  },
];

/** lateMs: how late figures come, also by how much the clock of the exporter is ahead. */
export function routesOf(lateMs: () => number = () => 0): Record<string, Route> {
  const routes = kinds.map(({ path, answer }) => [path, ({ query }: Request) => answer(query, lateMs())]);
  const rules = { data: [{ id: 11, ruleName: 'login' }] };
  return {
    ...(Object.fromEntries(routes) as Record<string, Route>),
    '/shield/rate-limits/7': () => rules,
  };
}

/** A configuration that reads all of them. */
export const document = Object.fromEntries(
  kinds.map(({ section }) => [section, { targets: [7], interval: '10m' }]),
);

/** What each kind has counted, by its section; undefined where it has no counter on the page. */
export async function countersOf(whole: Whole): Promise<Readonly<Record<string, number | undefined>>> {
  const page = await whole.exporter.page({ withOwn: false });
  const counted = kinds.map(({ section, counter }) => {
    const rows = Array.from(page.matchAll(new RegExp(`^${counter}(?:|\\{.*\\}) (.*)$`, 'gm')));
    return [section, rows.length === 0 ? undefined : rows.reduce((sum, [, value]) => sum + Number(value), 0)];
  });
  return Object.fromEntries(counted) as Readonly<Record<string, number | undefined>>;
}
