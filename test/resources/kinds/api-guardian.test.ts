import { expect, it } from 'vitest';
import { apiGuardian } from '../../../src/resources/kinds/api-guardian.ts';
import { type About, type Body, expose } from '../expose.ts';

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
bunnynet_shield_api_guardian_info{shield_zone_id="501",endpoint_id="77",account="account",name="POST /checkout"} 1
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

it('shows counts beyond 2^53 with the precision of a number', async () => {
  const { rows } = await read('{ "data": { "totalRequestsInspected": 9223372036854775807 } }');
  expect(rows).toBe(
    'bunnynet_shield_api_guardian_inspected_requests_28d{shield_zone_id="501",endpoint_id="77"} 9223372036854776000\n',
  );
});
