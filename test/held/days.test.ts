/** Figures by day, in every shape that the vendor's documents allow, tested with the whole exporter. */
import { describe, expect, it } from 'vitest';
import { type Request, startWhole } from './whole.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('what the protections of a Shield Zone did', () => {
  const requests = 'bunnynet_shield_requests';
  const stamp = 'bunnynet_shield_requests_latest_day_timestamp_seconds';
  const startOf = (day: string) => Date.parse(day) / 1000;

  /** A zone with these counts of its WAF. */
  async function startZone(metrics: unknown) {
    const answer = { metrics };
    const whole = await startWhole({
      document: { shield_statistics: { targets: [7] } },
      routes: { '/shield/metrics/overview/7/detailed': () => ({ data: { waf: answer, resolution: 4 } }) },
    });
    await whole.poll();
    return { whole, answer };
  }

  const byAction = {
    Blocked: { '2026-08-14T00:00:00Z': 5, '2026-08-15T00:00:00Z': 3 },
    RateLimited: { '2026-08-15T00:00:00Z': 4 },
  };
  const byDay = {
    '2026-08-14T00:00:00Z': { Blocked: 5 },
    '2026-08-15T00:00:00Z': { Blocked: 3, RateLimited: 4 },
  };

  it.each([
    ['the action', byAction],
    ['the day', byDay],
  ])('is read where %s is outside', async (_, metrics) => {
    const { whole, answer } = await startZone(metrics);
    const of = async (name: string) => [
      await whole.value(`${requests}_${name}`, { action: 'blocked' }),
      await whole.value(`${requests}_${name}`, { action: 'rate_limited' }),
    ];
    expect(await of('latest_day')).toEqual([3, 4]);
    expect(await whole.value(stamp)).toBe(startOf('2026-08-15'));
    answer.metrics = JSON.parse(JSON.stringify(metrics).replace('3', '10').replace('4}', '6}')) as unknown;
    await whole.poll();
    expect(await of('total')).toEqual([7, 2]);
    expect(await whole.series('bunnynet_exporter_schema_mismatches_total')).toEqual({});
  });

  it.each([
    ['the action', { Logged: { '2026-08-15T00:00:00Z': 1, '2026-08-15T01:00:00Z': 2, '2026-08-15': 4 } }],
    [
      'the day',
      {
        '2026-08-15T00:00:00Z': { Logged: 1 },
        '2026-08-15T01:00:00Z': { Logged: 2 },
        '2026-08-15': { Logged: 4 },
      },
    ],
  ])('adds up the points of a day where %s is outside', async (_, metrics) => {
    const { whole } = await startZone(metrics);
    expect(await whole.value(`${requests}_latest_day`, { action: 'logged' })).toBe(7);
  });

  it('has one series of an action, however it is written', async () => {
    const metrics = (count: number) => ({
      rateLimited: { '2026-08-15': 2 },
      RateLimited: { '2026-08-15': count },
    });
    const { whole, answer } = await startZone(metrics(3));
    expect(await whole.series(`${requests}_latest_day`)).toEqual({
      '{shield_zone_id="7",protection="waf",action="rate_limited"}': 5,
    });
    answer.metrics = metrics(8);
    await whole.poll();
    expect(await whole.value(`${requests}_total`, { action: 'rate_limited' })).toBe(5);
  });

  it('does not show an earlier day as the newest while the newest has nothing', async () => {
    const { whole } = await startZone({ '2026-08-14': { Blocked: 5 }, '2026-08-15': {} });
    expect(await whole.value(stamp)).toBe(startOf('2026-08-15'));
    expect(await whole.series(`${requests}_latest_day`)).toEqual({});
  });

  it('has 50 series and the rest, in the newest day as in the counter', async () => {
    const metrics = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`Action${n}`, { '2026-08-15': n }]),
    );
    const { whole } = await startZone(metrics);
    const newest = await whole.series(`${requests}_latest_day`);
    expect(Object.keys(newest)).toHaveLength(51);
    expect(Object.keys(await whole.series(`${requests}_total`))).toHaveLength(51);
    expect(Object.values(newest).reduce((sum, value) => sum + value, 0)).toBe((299 * 300) / 2);
  });

  it('notes keys of which none is a day', async () => {
    const { whole } = await startZone({ Blocked: { Monday: 5 } });
    expect(await whole.series(`${requests}_latest_day`)).toEqual({});
    expect(await whole.value('bunnynet_exporter_schema_mismatches_total', { field: 'waf' })).toBe(1);
  });
});

it('two points of one day are one figure, in a map from days to figures, too', async () => {
  let logged = 2;
  const whole = await startWhole({
    document: { rate_limits: { targets: [7] } },
    routes: {
      '/shield/metrics/rate-limits/7': () => ({
        data: [
          {
            ratelimitId: 11,
            ratelimitOverviewPastTwentyEightDays: {
              '15-08-2026': { loggedBreaches: 5 },
              '2026-08-15T12:00:00Z': { loggedBreaches: logged },
            },
          },
        ],
      }),
    },
  });
  const family = 'bunnynet_shield_rate_limit_logged_breaches';
  await whole.poll();
  expect(await whole.value(`${family}_latest_day`)).toBe(7);
  logged = 6;
  await whole.poll();
  expect(await whole.value(`${family}_total`)).toBe(4);
});

describe('figures without days of their own', () => {
  const today = '2026-08-15';
  /** The 30 days up to this one, with a figure for each. */
  const month = (last: string, figure: number) =>
    Object.fromEntries(
      Array.from({ length: 30 }, (_, back) => [
        new Date(Date.parse(last) - back * 24 * hourMs).toISOString(),
        figure,
      ]),
    );

  /** What a library, a DNS zone and a pull zone answer, which the test changes. */
  async function startAccount(nowMs?: number) {
    const answers: Record<'library' | 'zone' | 'pullZone', object> = { library: {}, zone: {}, pullZone: {} };
    const whole = await startWhole({
      document: {
        credentials: { account: { env: 'KEY' }, library: { env: 'LIBRARY' } },
        video_library_statistics: { targets: [7], credential: 'library' },
        dns_zones: { targets: [7] },
        pull_zone_statistics: { targets: [7] },
      },
      env: { KEY: 'the-key-of-the-account', LIBRARY: 'the-key-of-the-library' },
      routes: {
        '/library/7/statistics': () => answers.library,
        '/dnszone/7/statistics': () => answers.zone,
        '/statistics': () => answers.pullZone,
      },
      ...(nowMs !== undefined && { nowMs }),
    });
    return { whole, answers };
  }
  const tallies = [
    'bunnynet_video_library_country_views',
    'bunnynet_dns_zone_queries_by_type',
    'bunnynet_pull_zone_region_traffic_bytes',
  ];

  it('are shown if they fit the day that was asked for', async () => {
    const { whole, answers } = await startAccount();
    answers.library = { viewsChart: { [today]: 10 }, countryViewCounts: { DE: 6, FR: 4 } };
    answers.zone = { QueriesServedChart: {}, QueriesByTypeChart: { 1: 300 } };
    // What counted nothing on another day says nothing of it.
    const zeros = { ...month(today, 0), [`${today}T00:00:00.000Z`]: 10 };
    answers.pullZone = {
      BandwidthUsedChart: zeros,
      GeoTrafficDistribution: { 'EU: Paris, FR': 10 },
      CacheHitRate: 90,
    };
    await whole.poll();
    const shown = await Promise.all(tallies.map((name) => whole.series(`${name}_latest_day`)));
    expect(shown.map((series) => Object.values(series))).toEqual([[6, 4], [300], [10]]);
    expect(await whole.page()).toMatch(/^bunnynet_pull_zone_\S*cache_hit_ratio\S* 0.9$/m);
  });

  it('are left out if they are those of a whole window, and a counter gains nothing from them', async () => {
    const { whole, answers } = await startAccount(Date.parse(`${today}T23:50:00Z`));
    const all = (last: string) => {
      answers.library = { viewsChart: month(last, 10), countryViewCounts: { DE: 300 }, engagementScore: 50 };
      answers.zone = { QueriesServedChart: month(last, 10), QueriesByTypeChart: { 1: 300 } };
      answers.pullZone = {
        BandwidthUsedChart: month(last, 10),
        GeoTrafficDistribution: { 'EU: Paris, FR': 300 },
        CacheHitRate: 90,
      };
    };
    all(today);
    await whole.poll();
    whole.advance(20 * minuteMs);
    all('2026-08-16');
    await whole.poll();
    for (const name of tallies) {
      expect(await whole.series(`${name}_latest_day`)).toEqual({});
      expect(Object.values(await whole.series(`${name}_total`))).toEqual([]);
    }
    const page = await whole.page();
    expect(page).not.toMatch(/^bunnynet_\S*(cache_hit_ratio|engagement_score)/m);
    expect(await whole.value('bunnynet_video_library_views_total')).toBe(10);
    expect(whole.said('countryViewCounts is not as documented')).toHaveLength(1);
  });

  it('are shown if only the rounding of their sum is more, and left out if a negative one makes room', async () => {
    const { whole, answers } = await startAccount();
    answers.library = { viewsChart: { [today]: 0.3 }, countryViewCounts: { DE: 0.1, FR: 0.2 } };
    answers.zone = { QueriesServedChart: { [today]: 10 }, QueriesByTypeChart: { 1: 300, 28: -300 } };
    answers.pullZone = { CacheHitRate: 90 };
    await whole.poll();
    expect(Object.keys(await whole.series(`${tallies[0]}_latest_day`))).toHaveLength(2);
    expect(await whole.series(`${tallies[1]}_latest_day`)).toEqual({});
  });

  it('are left out if they are more than their chart has for the day', async () => {
    const { whole, answers } = await startAccount();
    answers.library = { viewsChart: { [today]: 10 }, countryViewCounts: { DE: 300 } };
    answers.zone = { QueriesServedChart: { [today]: 10 }, QueriesByTypeChart: { 1: 9, 28: 2 } };
    answers.pullZone = { BandwidthUsedChart: { '2026-08-14': 0 }, GeoTrafficDistribution: { EU: 1 } };
    await whole.poll();
    for (const name of tallies) expect(await whole.series(`${name}_latest_day`)).toEqual({});
    expect(await whole.value('bunnynet_video_library_views_latest_day')).toBe(10);
  });
});

describe('the charts of a pull zone by hours', () => {
  const traffic = 'bunnynet_pull_zone_region_traffic_bytes_latest_day';

  /** A pull zone with this answer, by the day that is asked for. */
  async function startPullZone(answer: (day: string) => object, nowMs = Date.parse('2026-08-15T12:30:00Z')) {
    const whole = await startWhole({
      nowMs,
      document: { pull_zone_statistics: { targets: [7] } },
      routes: { '/statistics': ({ query }) => answer((query.get('dateFrom') ?? '').slice(0, 10)) },
    });
    await whole.poll();
    return whole;
  }

  it('are counted once where the answer for a day runs on into the next', async () => {
    const served: Record<string, number> = { '2026-08-15T23:00:00Z': 5 };
    const whole = await startPullZone(
      (day) => ({
        RequestsServedChart: Object.fromEntries(
          Object.entries(served).filter(([hour]) => hour.startsWith(day) || hour > `${day}T23`),
        ),
      }),
      Date.parse('2026-08-15T23:50:00Z'),
    );
    served['2026-08-16T00:00:00Z'] = 7;
    whole.advance(20 * minuteMs);
    await whole.poll();
    expect(await whole.value('bunnynet_pull_zone_requests_total')).toBe(7);
    expect(await whole.series('bunnynet_exporter_schema_mismatches_total')).toEqual({});
  });

  it('are read with dates as keys, too, of which none is an hour', async () => {
    const whole = await startPullZone(() => ({
      RequestsServedChart: { '14-08-2026': 0, '15-08-2026': 100 },
      CacheHitRateChart: { '15-08-2026': 90 },
      CacheHitRate: 80,
    }));
    expect(await whole.value('bunnynet_pull_zone_requests_latest_day')).toBe(100);
    expect(await whole.value('bunnynet_pull_zone_cache_hit_ratio')).toBe(0.8);
    expect(await whole.value('bunnynet_pull_zone_statistics_latest_hour_timestamp_seconds')).toBeUndefined();
    expect(await whole.value('bunnynet_pull_zone_cache_hit_ratio_latest_hour')).toBeUndefined();
  });

  it.each([
    [
      'no key can be read',
      { BandwidthUsedChart: { '08/14/2026 00:00:00': 900, '08/15/2026 00:00:00': 100 } },
    ],
    ['a level is of another day', { CacheHitRateChart: { '2026-08-14T10:00:00Z': 90 } }],
    ['a count is of another day', { RequestsServedChart: { '14-08-2026': 900, '15-08-2026': 100 } }],
  ])('let no sum of other days through if %s', async (_, charts) => {
    const whole = await startPullZone(() => ({
      ...charts,
      GeoTrafficDistribution: { 'EU: Paris, FR': 1000 },
      CacheHitRate: 90,
    }));
    expect(await whole.series(traffic)).toEqual({});
    expect(await whole.value('bunnynet_pull_zone_cache_hit_ratio')).toBeUndefined();
  });
});

it('a level of another day is a sign that the averages are not those of today', async () => {
  const whole = await startWhole({
    document: { pull_zone_optimizer: { targets: [7] } },
    routes: {
      '/pullzone/7/optimizer/statistics': () => ({
        RequestsOptimizedChart: null,
        AverageProcessingTimeChart: { '2026-08-14': 20, '2026-08-15': 10 },
        AverageProcessingTime: 15,
      }),
    },
  });
  await whole.poll();
  expect(await whole.series('bunnynet_pull_zone_optimizer_average_processing_time_seconds')).toEqual({});
});

it('asks by date-times where the API declares them, and else by dates', async () => {
  const whole = await startWhole({
    document: {
      pull_zone_statistics: { targets: [7] },
      application_statistics: { targets: ['shop'] },
      shield_statistics: { targets: [7] },
      dns_zones: { targets: [7] },
      storage_zone_egress: { targets: [7] },
    },
    routes: {
      '/statistics': () => ({ RequestsServedChart: {} }),
      '/dnszone/7/statistics': () => ({ QueriesServedChart: {} }),
    },
  });
  await whole.poll();
  const asked = (path: string, ...names: readonly string[]) => {
    const query = whole.requests.find((request: Request) => request.path === path)?.query;
    return names.map((name) => query?.get(name));
  };
  const instants = ['2026-08-15T00:00:00Z', '2026-08-15T23:59:59Z'];
  const dates = ['2026-08-15', '2026-08-15'];
  expect(asked('/statistics', 'dateFrom', 'dateTo')).toEqual(instants);
  expect(asked('/dnszone/7/statistics', 'dateFrom', 'dateTo')).toEqual(dates);
  // In one request with yesterday.
  instants[0] = '2026-08-14T00:00:00Z';
  dates[0] = '2026-08-14';
  expect(asked('/mc/apps/shop/statistics', 'fromDate', 'toDate')).toEqual(instants);
  expect(asked('/shield/metrics/overview/7/detailed', 'StartDate', 'EndDate')).toEqual(instants);
  expect(asked('/storagezone/7/statistics/egress', 'dateFrom', 'dateTo')).toEqual(dates);
});

it('a poll that lasts over midnight leaves the day open on which it began', async () => {
  const served: Record<string, number> = { '2026-08-15': 10 };
  let takesMs = 0;
  const whole = await startWhole({
    nowMs: Date.parse('2026-08-15T23:40:00Z'),
    document: { dns_zones: { targets: ['7'] } },
    routes: {
      '/dnszone/7/statistics': ({ query }) => {
        const day = query.get('dateFrom') ?? '';
        const answer = { QueriesServedChart: { [`${day}T00:00:00Z`]: served[day] ?? 0 } };
        whole.advance(takesMs);
        return answer;
      },
    },
  });
  await whole.poll();
  // From 23:50 to 00:20.
  whole.advance(10 * minuteMs);
  takesMs = 30 * minuteMs;
  await whole.poll();
  takesMs = 0;
  served['2026-08-15'] = 15;
  whole.advance(10 * minuteMs);
  await whole.poll();
  expect(await whole.value('bunnynet_dns_zone_queries_total')).toBe(5);
});

describe('a chart that has only days that were not asked for', () => {
  it('begins no counter: nobody knows what was counted before', async () => {
    const path = '/dnszone/1/statistics';
    const whole = await startWhole({
      document: { dns_zones: { targets: [1] } },
      routes: { [path]: () => ({ QueriesServedChart: { '2026-08-13': 5 } }) },
    });
    const total = () => whole.value('bunnynet_dns_zone_queries_total');
    await whole.poll();
    expect(await total()).toBe(undefined);
    whole.routes[path] = () => ({ QueriesServedChart: { '2026-08-15': 9000 } });
    await whole.poll();
    expect(await total()).toBe(0);
    whole.routes[path] = () => ({ QueriesServedChart: { '2026-08-15': 9004 } });
    await whole.poll();
    expect(await total()).toBe(4);
  });

  it('is still a sign that a sum beside it is of other days', async () => {
    const whole = await startWhole({
      document: { dns_zones: { targets: [1] } },
      routes: {
        '/dnszone/1/statistics': () => ({
          QueriesServedChart: { '2026-08-13': 5 },
          QueriesByTypeChart: { '1': 5 },
        }),
      },
    });
    await whole.poll();
    expect(await whole.series('bunnynet_dns_zone_queries_by_type_total')).toEqual({});
  });
});

it('regions that add up to more than the day are said once a day, with a cause', async () => {
  const whole = await startWhole({
    document: { pull_zone_statistics: { targets: [1, 2] } },
    routes: {
      '/statistics': () => ({
        BandwidthUsedChart: { '2026-08-15T01:00:00Z': 1000 },
        GeoTrafficDistribution: { 'EU: Paris, FR': 1011 },
      }),
    },
  });
  await whole.poll();
  await whole.poll();
  const lines = whole.said('the field GeoTrafficDistribution is not as documented');
  expect(lines.map(({ expected }) => expected)).toEqual([
    'counts that add up to no more than BandwidthUsedChart',
  ]);
  expect(whole.exporter.causes().map(({ reason }) => reason)).toEqual(['drift']);
});

describe('a map of 28 days that is null', () => {
  const path = '/shield/metrics/rate-limits/501';
  const answer = (totalBreaches: number, days: object | null) => () => ({
    data: [{ ratelimitId: 3, overview: { totalBreaches }, ratelimitOverviewPastTwentyEightDays: days }],
  });

  it.each([
    [0, 7],
    [4, 0],
  ])('beside a total of %i: what comes after counts as %i', async (totalBreaches, counted) => {
    const whole = await startWhole({
      document: { rate_limits: { targets: [501] } },
      routes: { '/shield/rate-limits/501': () => ({ data: [] }), [path]: answer(totalBreaches, null) },
    });
    await whole.poll();
    whole.routes[path] = answer(7, { '15-08-2026': { totalBreaches: 7 } });
    await whole.poll();
    expect(await whole.value('bunnynet_shield_rate_limit_breaches_total')).toBe(counted);
  });
});
