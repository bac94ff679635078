import { expect, it } from 'vitest';
import { rateLimit } from '../../../src/resources/kinds/rate-limit.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(rateLimit, answer, { ids: { shield_zone_id: '501' }, name: 'www' });

it('shows the breaches of each rate limit of a zone over 28 days and of the newest day', async () => {
  const { rows, asked } = await read(`{
    "data": [
      {
        "ratelimitId": 11,
        "overview": { "totalBreaches": 90, "loggedBreaches": 40, "challengedBreaches": 20, "blockedBreaches": 30 },
        "ratelimitOverviewPastTwentyEightDays": {
          "2026-11-20": { "totalBreaches": 6, "loggedBreaches": 1, "challengedBreaches": 2, "blockedBreaches": 3 },
          "2026-11-19": { "totalBreaches": 8, "loggedBreaches": 4, "challengedBreaches": 0, "blockedBreaches": 4 }
        }
      },
      {
        "ratelimitId": 12,
        "overview": { "totalBreaches": 0, "loggedBreaches": 0, "challengedBreaches": 0, "blockedBreaches": 0 },
        "ratelimitOverviewPastTwentyEightDays": null
      }
    ],
    "error": null
  }`);
  expect(asked).toEqual(['/shield/metrics/rate-limits/501']);
  expect(rows).toBe(`\
bunnynet_shield_rate_limit_breaches_28d{shield_zone_id="501",rate_limit_id="11"} 90
bunnynet_shield_rate_limit_breaches_28d{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_logged_breaches_28d{shield_zone_id="501",rate_limit_id="11"} 40
bunnynet_shield_rate_limit_logged_breaches_28d{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_challenged_breaches_28d{shield_zone_id="501",rate_limit_id="11"} 20
bunnynet_shield_rate_limit_challenged_breaches_28d{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_blocked_breaches_28d{shield_zone_id="501",rate_limit_id="11"} 30
bunnynet_shield_rate_limit_blocked_breaches_28d{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_breaches_latest_day{shield_zone_id="501",rate_limit_id="11"} 6
bunnynet_shield_rate_limit_logged_breaches_latest_day{shield_zone_id="501",rate_limit_id="11"} 1
bunnynet_shield_rate_limit_challenged_breaches_latest_day{shield_zone_id="501",rate_limit_id="11"} 2
bunnynet_shield_rate_limit_blocked_breaches_latest_day{shield_zone_id="501",rate_limit_id="11"} 3
bunnynet_shield_rate_limit_breaches_total{shield_zone_id="501",rate_limit_id="11"} 0
bunnynet_shield_rate_limit_breaches_total{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_logged_breaches_total{shield_zone_id="501",rate_limit_id="11"} 0
bunnynet_shield_rate_limit_logged_breaches_total{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_challenged_breaches_total{shield_zone_id="501",rate_limit_id="11"} 0
bunnynet_shield_rate_limit_challenged_breaches_total{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_blocked_breaches_total{shield_zone_id="501",rate_limit_id="11"} 0
bunnynet_shield_rate_limit_blocked_breaches_total{shield_zone_id="501",rate_limit_id="12"} 0
bunnynet_shield_rate_limit_latest_day_timestamp_seconds{shield_zone_id="501",rate_limit_id="11"} 1795132800
`);
});

it('leaves out rate limits without a usable id, each noted once', async () => {
  const { rows, mismatched } = await read(`{
    "data": [
      { "ratelimitId": 11.0, "overview": { "totalBreaches": 1 } },
      { "ratelimitId": "login", "overview": { "totalBreaches": 2 } },
      { "ratelimitId": null, "overview": { "totalBreaches": 3 } },
      { "overview": { "totalBreaches": 4 } },
      7
    ]
  }`);
  expect(rows).toBe('bunnynet_shield_rate_limit_breaches_28d{shield_zone_id="501",rate_limit_id="11"} 1\n');
  expect(mismatched).toEqual(Array.from({ length: 4 }, () => 'ratelimitId'));
});

it.each(['{ "data": {} }', '{ "data": "none" }', '{ "data": [1, 2] }', '{ "data": [{}] }'])(
  'rejects %s as rate limits',
  async (answer) => {
    await expect(read(answer)).rejects.toMatchObject({ name: 'ReadingError', result: 'schema' });
  },
);
