/**
 * Figures that come late, in each way in which a kind asks for them: what the API has in the end is counted, at midnight, too, and
 * after a restart from then on.
 */
import { describe, expect, it } from 'vitest';
import { type Request, type Route, startWhole, type Whole } from './whole.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const evening = Date.parse('2026-08-15T23:00:00Z');
const midnight = Date.parse('2026-08-16T00:00:00Z');
const noon = Date.parse('2026-08-16T12:00:00Z');

/** 1,000 a minute since 1970. What is later than `lateMs` ago is not there yet. */
const everIn = (fromMs: number, toMs: number, lateMs: number) =>
  Math.max(0, Math.floor((Math.min(toMs, Date.now() - lateMs) - fromMs) / minuteMs)) * 1000;
const startOf = (text: string | null) => Date.parse((text ?? '').slice(0, 10));
const daysOf = (from: string | null, to: string | null) =>
  Array.from({ length: (startOf(to) - startOf(from)) / dayMs + 1 }, (_, at) => startOf(from) + at * dayMs);

/** Each day from one to another with its figure. */
const byDay = (from: string | null, to: string | null, lateMs: number) =>
  Object.fromEntries(
    daysOf(from, to).map((day) => [new Date(day).toISOString(), everIn(day, day + dayMs, lateMs)]),
  );

/** The same by hours. Those to come have 0. */
const byHour = (from: string | null, to: string | null, lateMs: number) =>
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
  readonly answer: (query: URLSearchParams, lateMs: number, path: string) => unknown;
}

const kinds: readonly Kind[] = [
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
    section: 'load_balancers',
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
              byDay(new Date(Date.now() - 27 * dayMs).toISOString(), new Date().toISOString(), lateMs),
            ).map(([day, totalBreaches]) => [day, { totalBreaches }]),
          ),
        },
      ],
    }),
  },
];

function routesOf(lateMs: number): Record<string, Route> {
  const routes = kinds.map(({ path, answer }) => [path, ({ query }: Request) => answer(query, lateMs, path)]);
  return Object.fromEntries(routes) as Record<string, Route>;
}

const document = Object.fromEntries(kinds.map(({ section }) => [section, { targets: [7], interval: '10m' }]));

async function startAt(nowMs: number, lateMs: number): Promise<Whole> {
  const whole = await startWhole({ nowMs, document, routes: routesOf(lateMs) });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  return whole;
}

const counters = async (whole: Whole) =>
  Object.fromEntries(
    await Promise.all(
      kinds.map(async ({ section, counter }) => [
        section,
        Object.values(await whole.series(counter)).reduce((sum, value) => sum + value, 0),
      ]),
    ),
  ) as Readonly<Record<string, number>>;

/** What the API has had since a poll, by its last poll in each kind; a poll may be up to an interval ago. */
function expectExact(now: Readonly<Record<string, number>>, gainedMs: number, what: string) {
  for (const { section } of kinds) {
    const missing = gainedMs / minuteMs - (now[section] ?? 0) / 1000;
    expect(missing, `${section} ${what}`).toBeGreaterThanOrEqual(0);
    expect(missing, `${section} ${what}`).toBeLessThanOrEqual(12);
  }
}

describe.each([
  ['20 minutes', 20 * minuteMs, midnight + 3 * hourMs + 10 * minuteMs],
  ['an hour', hourMs, midnight + 3 * hourMs + 10 * minuteMs],
  ['three hours', 3 * hourMs, noon + 20 * minuteMs],
  ['ten hours', 10 * hourMs, noon + 20 * minuteMs],
])('figures that come %s late', (_, lateMs, untilMs) => {
  it('are counted over midnight', async () => {
    const whole = await startAt(evening, lateMs);
    await whole.pass(untilMs - evening);
    expectExact(await counters(whole), untilMs - evening, 'since the evening');
  });

  it('are counted from a start just after midnight on', async () => {
    const startMs = midnight + 5 * minuteMs;
    const whole = await startAt(startMs, lateMs);
    // What there was before is no gain.
    expect(Object.values(await counters(whole))).toEqual(kinds.map(() => 0));
    await whole.pass(untilMs - startMs);
    expectExact(await counters(whole), untilMs - startMs, 'since the start');
  });
});

describe.each([
  ['20 minutes', 20 * minuteMs],
  ['an hour', hourMs],
  ['three hours', 3 * hourMs],
])('the newest hour of a pull zone whose hours come %s after their end', (_, lateMs) => {
  const gauge = 'bunnynet_pull_zone_cache_hit_ratio_latest_hour';

  it.each([
    ['in an evening', midnight - 10 * minuteMs],
    ['at half past midnight', midnight + 30 * minuteMs],
  ])('is on the page all night after a start %s', async (_when, startMs) => {
    const whole = await startWhole({
      nowMs: startMs,
      document: { pull_zone_statistics: { targets: [7] } },
      routes: {
        '/statistics': ({ query }) => {
          const ended = Object.entries(byHour(query.get('dateFrom'), query.get('dateTo'), 0)).filter(
            ([hour]) => Date.parse(hour) + hourMs + lateMs <= Date.now(),
          );
          return {
            RequestsServedChart: Object.fromEntries(ended),
            CacheHitRateChart: Object.fromEntries(ended.map(([hour]) => [hour, 80])),
          };
        },
      },
    });
    await whole.exporter.start();
    for (let atMs = startMs; atMs < midnight + 5 * hourMs; atMs += 5 * minuteMs) {
      await whole.pass(5 * minuteMs);
      expect(await whole.value(gauge), new Date(Date.now()).toISOString()).toBe(0.8);
    }
  });
});
