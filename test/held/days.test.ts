/** Figures by day, in every shape that the vendor's documents allow, tested with the whole exporter. */
import { describe, expect, it } from 'vitest';
import { startWhole } from './whole.ts';

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
    expect(await whole.value('bunnynet_exporter_schema_mismatches_total', { field: 'waf' })).toBe(0);
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
