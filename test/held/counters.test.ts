import { describe, expect, it } from 'vitest';
import { type Request, startWhole } from './whole.ts';

const minuteMs = 60_000;
const family = 'bunnynet_dns_zone_queries_by_type_total';

/** One DNS zone whose queries by type the test increases. */
async function startDnsZone() {
  const queries = new Map<string, number>();
  const whole = await startWhole({
    routes: {
      '/dnszone/7/statistics': () => ({ QueriesByTypeChart: Object.fromEntries(queries) }),
    },
    document: { dns_zones: { targets: [7], interval: '10m' } },
  });
  const previous = new Map<string, number>();
  /** What all series have gained together, as `sum(rate())` sees it: a new series, or one that fell, begins at 0. */
  let gained = 0;
  return {
    queries,
    gained: () => gained,
    poll: async () => {
      await whole.poll();
      const series = await whole.series(family);
      for (const [labels, value] of Object.entries(series)) {
        const before = previous.get(labels);
        if (before === undefined) expect(value, `${labels} begins at 0`).toBe(0);
        else expect(value, `${labels} does not fall`).toBeGreaterThanOrEqual(before);
        gained += value - (before ?? 0);
      }
      previous.clear();
      for (const [labels, value] of Object.entries(series)) previous.set(labels, value);
      whole.advance(minuteMs);
      return new Map(
        Object.entries(series).map(([labels, value]) => [/type="([^"]*)"/.exec(labels)?.[1] ?? '', value]),
      );
    },
  };
}

it('a target has 50 series by type and `other`, however many types come and go', async () => {
  const { queries, poll, gained } = await startDnsZone();
  for (let n = 0; n < 60; n++) queries.set(`FIRST${n}`, 1000 + n);
  let asked = 0;
  const add = (type: string, count: number) => {
    queries.set(type, (queries.get(type) ?? 0) + count);
    asked += count;
  };
  expect((await poll()).size).toBe(51);
  for (let round = 1; round <= 12; round++) {
    for (const type of queries.keys()) add(type, round);
    // Ten new types, larger than all before.
    for (let n = 0; n < 10; n++) add(`ROUND${round}N${n}`, 2000 * round + n);
    const series = await poll();
    expect(series.size).toBe(51);
    // The largest of the first reading stay, whatever comes.
    expect([series.has('FIRST10'), series.has('FIRST9')]).toEqual([true, false]);
    expect(series.has('other')).toBe(true);
    expect(gained()).toBe(asked);
  }
});

it('a type that comes when there is no room counts as `other`, and takes nothing from the others', async () => {
  const { queries, poll } = await startDnsZone();
  for (let n = 0; n < 50; n++) queries.set(`T${n}`, 100 + n);
  await poll();
  queries.set('T0', 105).set('BIG', 5000);
  const counted = await poll();
  expect([counted.get('T0'), counted.get('other'), counted.has('BIG')]).toEqual([5, 5000, false]);
});

it('a type that the API calls other is part of `other`', async () => {
  const { queries, poll } = await startDnsZone();
  for (let n = 0; n < 51; n++) queries.set(`T${n}`, 100 + n);
  queries.set('other', 7);
  await poll();
  queries.set('other', 10).set('T0', 102);
  expect((await poll()).get('other')).toBe(5);
});

it('cached and uncached requests never add up to more than were served, even if one chart lags behind', async () => {
  let served = 1000;
  let pulled = 500;
  const whole = await startWhole({
    routes: {
      '/statistics': ({ query }: Request) => ({
        RequestsServedChart: { [query.get('dateFrom') ?? '']: served },
        PullRequestsPulledChart: { [query.get('dateFrom') ?? '']: pulled },
      }),
    },
    document: { pull_zone_statistics: { targets: [9] } },
  });
  const total = async (name: string) => (await whole.value(`bunnynet_pull_zone_${name}_total`)) ?? 0;
  await whole.poll();
  for (let round = 0; round < 5; round++) {
    served += 100;
    await whole.poll();
    pulled += 100;
    await whole.poll();
  }
  expect([await total('requests'), await total('uncached_requests')]).toEqual([500, 500]);
  expect(await total('cached_requests')).toBe(0);
});

describe('a figure that an answer has no day of', () => {
  const minutes = (count: number) => count * minuteMs;
  const ofFtp = { protocol: 'ftp' };
  const egress = 'bunnynet_storage_zone_egress_bytes';

  /** A storage zone with this answer for today, and what FTP has as counter and as newest day. */
  async function startStorageZone(answer: (chart: (bytes?: number) => object) => object) {
    const whole = await startWhole({
      document: { storage_zone_egress: { targets: [7], interval: '10m' } },
      routes: {
        '/storagezone/7/statistics/egress': ({ query }: Request) => {
          const day = query.get('dateTo') ?? '';
          return answer((bytes) => (bytes === undefined ? {} : { [`${day}T00:00:00Z`]: bytes }));
        },
      },
    });
    return async () => {
      await whole.poll();
      whole.advance(minutes(10));
      return [await whole.value(`${egress}_total`, ofFtp), await whole.value(`${egress}_latest_day`, ofFtp)];
    };
  }

  it.each([
    ['its own sum is 0', (bytes?: number) => ({ FtpEgressTotal: bytes ?? 0 })],
    [
      'the other charts add up to the whole',
      (bytes = 0) => ({
        HttpEgressChart: { '2026-08-15': 70 },
        TotalEgressChart: { '2026-08-15': 70 + bytes },
      }),
    ],
  ])('is counted from 0 if %s', async (_, beside) => {
    let bytes: number | undefined;
    const poll = await startStorageZone((chart) => ({ FtpEgressChart: chart(bytes), ...beside(bytes) }));
    expect(await poll()).toEqual([0, undefined]);
    bytes = 5_000_000;
    expect(await poll()).toEqual([5_000_000, 5_000_000]);
  });

  it.each([
    ['nothing beside it says so', {}],
    ['the others are less than the whole', { TotalEgressChart: { '2026-08-15': 100 } }],
    ['its own sum is more', { FtpEgressTotal: 100 }],
  ])('is counted from what it first has if %s', async (_, beside) => {
    let bytes: number | undefined;
    const poll = await startStorageZone((chart) => ({
      HttpEgressChart: { '2026-08-15': 70 },
      FtpEgressChart: chart(bytes),
      ...beside,
    }));
    expect(await poll()).toEqual([undefined, undefined]);
    bytes = 5_000_000;
    expect(await poll()).toEqual([0, 5_000_000]);
  });

  it('has a tally from 0 where its chart has nothing', async () => {
    let countries = {};
    const whole = await startWhole({
      document: { video_library_statistics: { targets: [7] } },
      routes: {
        '/library/7/statistics': () => ({
          viewsChart: { '2026-08-15': Object.keys(countries).length },
          countryViewCounts: countries,
        }),
      },
    });
    const views = 'bunnynet_video_library_country_views';
    await whole.poll();
    expect(await whole.series(`${views}_total`)).toEqual({ '{library_id="7",country="other"}': 0 });
    expect(await whole.series(`${views}_latest_day`)).toEqual({});
    countries = { DE: 1 };
    await whole.poll();
    expect(await whole.value(`${views}_total`, { country: 'other' })).toBe(1);
  });

  it('counts in full the days that begin while it is read well without any, however long it had none', async () => {
    const queries: Record<string, number> = {};
    const whole = await startWhole({
      document: { dns_zones: { targets: [7], interval: '10m' } },
      routes: {
        '/dnszone/7/statistics': ({ query }: Request) => {
          const day = query.get('dateFrom') ?? '';
          return { SmartQueriesServedChart: day in queries ? { [day]: queries[day] } : {} };
        },
      },
    });
    const total = async () => {
      await whole.poll();
      return whole.value('bunnynet_dns_zone_smart_queries_total');
    };
    expect(await total()).toBeUndefined();
    whole.advance(minutes(24 * 60));
    queries['2026-08-16'] = 300;
    expect(await total()).toBe(300);
    // Longer than a country is remembered.
    for (const day of ['17', '18', '19', '20']) {
      whole.advance(minutes(24 * 60));
      expect(await total(), day).toBe(300);
    }
    queries['2026-08-20'] = 20;
    expect(await total()).toBe(320);
  });
});
