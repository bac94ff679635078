import { describe, expect, it } from 'vitest';
import { apiGuardian } from '../../src/resources/api-guardian.ts';
import { type About, type Body, expose } from './expose.ts';

const checkout = { ids: { shield_zone_id: '501', endpoint_id: '77' } };
const read = (answer: Body, about: About = {}) => expose(apiGuardian, answer, { ...checkout, ...about });

it('shows the metrics of an endpoint over 28 days and of the newest day', async () => {
  const { rows, asked } = await read(
    `{
      "error": { "statusCode": 0, "success": false, "message": null, "errorKey": null },
      "data": {
        "totalBlockedRequests": 120,
        "totalLoggedRequests": 340,
        "totalRateLimited": 15,
        "totalRequestsInspected": 98765,
        "totalFailedRequestValidation": 61,
        "totalFailedAuthenticationEnforcement": 59,
        "overviewPastTwentyEightDays": {
          "19-11-2026": {
            "blockedRequests": 9, "loggedRequests": 12, "rateLimited": 3,
            "requestsInspected": 3520, "failedRequestValidation": 5, "failedAuthenticationEnforcement": 4
          },
          "20-11-2026": {
            "blockedRequests": 2, "loggedRequests": 7, "rateLimited": 0,
            "requestsInspected": 1204, "failedRequestValidation": 1, "failedAuthenticationEnforcement": 1
          }
        }
      }
    }`,
    { name: 'POST /checkout' },
  );
  expect(asked).toEqual(['/shield/metrics/shield-zone/501/api-guardian/endpoint/77']);
  expect(rows).toBe(`\
bunnynet_shield_api_guardian_info{shield_zone_id="501",endpoint_id="77",name="POST /checkout"} 1
bunnynet_shield_api_guardian_inspected_requests_28d{shield_zone_id="501",endpoint_id="77"} 98765
bunnynet_shield_api_guardian_blocked_requests_28d{shield_zone_id="501",endpoint_id="77"} 120
bunnynet_shield_api_guardian_logged_requests_28d{shield_zone_id="501",endpoint_id="77"} 340
bunnynet_shield_api_guardian_rate_limited_requests_28d{shield_zone_id="501",endpoint_id="77"} 15
bunnynet_shield_api_guardian_failed_validation_requests_28d{shield_zone_id="501",endpoint_id="77"} 61
bunnynet_shield_api_guardian_failed_authentication_requests_28d{shield_zone_id="501",endpoint_id="77"} 59
bunnynet_shield_api_guardian_inspected_requests_latest_day{shield_zone_id="501",endpoint_id="77"} 1204
bunnynet_shield_api_guardian_blocked_requests_latest_day{shield_zone_id="501",endpoint_id="77"} 2
bunnynet_shield_api_guardian_logged_requests_latest_day{shield_zone_id="501",endpoint_id="77"} 7
bunnynet_shield_api_guardian_rate_limited_requests_latest_day{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_failed_validation_requests_latest_day{shield_zone_id="501",endpoint_id="77"} 1
bunnynet_shield_api_guardian_failed_authentication_requests_latest_day{shield_zone_id="501",endpoint_id="77"} 1
bunnynet_shield_api_guardian_inspected_requests_total{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_blocked_requests_total{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_logged_requests_total{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_rate_limited_requests_total{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_failed_validation_requests_total{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_failed_authentication_requests_total{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_latest_day_timestamp_seconds{shield_zone_id="501",endpoint_id="77"} 1795132800
`);
});

it('leaves out only the fields of the wrong type, and notes their names', async () => {
  const { rows, mismatched } = await read(`{
    "data": {
      "totalBlockedRequests": "120", "totalLoggedRequests": 3.5, "totalRateLimited": 15.0,
      "overviewPastTwentyEightDays": {
        "20-11-2026": { "blockedRequests": "2", "loggedRequests": 7 },
        "19-11-2026": "quiet"
      }
    }
  }`);
  expect(rows).toBe(`\
bunnynet_shield_api_guardian_rate_limited_requests_28d{shield_zone_id="501",endpoint_id="77"} 15
bunnynet_shield_api_guardian_logged_requests_latest_day{shield_zone_id="501",endpoint_id="77"} 7
bunnynet_shield_api_guardian_logged_requests_total{shield_zone_id="501",endpoint_id="77"} 0
bunnynet_shield_api_guardian_latest_day_timestamp_seconds{shield_zone_id="501",endpoint_id="77"} 1795132800
`);
  expect(mismatched.toSorted()).toEqual([
    'overviewPastTwentyEightDays',
    'overviewPastTwentyEightDays',
    'totalBlockedRequests',
    'totalLoggedRequests',
  ]);
});

it('shows counts beyond 2^53 with the precision of a number', async () => {
  const { rows } = await read('{ "data": { "totalRequestsInspected": 9223372036854775807 } }');
  expect(rows).toBe(
    'bunnynet_shield_api_guardian_inspected_requests_28d{shield_zone_id="501",endpoint_id="77"} 9223372036854776000\n',
  );
});

describe('the newest day', () => {
  const latest = async (days: object) => {
    const { rows, mismatched } = await read({ data: { overviewPastTwentyEightDays: days } });
    const seconds = /latest_day_timestamp_seconds\{.*} (.*)\n/.exec(rows)?.[1];
    const blocked = /blocked_requests_latest_day\{.*} (.*)\n/.exec(rows)?.[1];
    const day = seconds && new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
    return { day, blocked, mismatched };
  };
  const blocked = (blockedRequests: number) => ({ blockedRequests });

  it('is found among unsorted and mixed dd-MM-yyyy and ISO days', async () => {
    const days = {
      '31-10-2026': blocked(1),
      '2026-11-02T00:00:00Z': blocked(4),
      '01-11-2026': blocked(3),
      '2026-10-30': blocked(2),
      '12-01-2026': blocked(5),
    };
    expect(await latest(days)).toEqual({ day: '2026-11-02', blocked: '4', mismatched: [] });
  });

  it('is the newest day with figures', async () => {
    const days = { '19-11-2026': blocked(3), '20-11-2026': null };
    expect(await latest(days)).toEqual({ day: '2026-11-19', blocked: '3', mismatched: [] });
  });

  it.each(['31-02-2026', 'today', '', '0001-01-01'])('is not %j, which is noted', async (key) => {
    const days = { '01-11-2025': blocked(3), [key]: blocked(9) };
    expect(await latest(days)).toEqual({
      day: '2025-11-01',
      blocked: '3',
      mismatched: ['overviewPastTwentyEightDays'],
    });
  });
});
