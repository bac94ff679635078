import { expect, it } from 'vitest';
import { shieldOverview } from '../../../src/resources/kinds/shield-overview.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(shieldOverview, answer, { ids: { shield_zone_id: '501' } });

it('shows what each protection of a zone did in 28 days and on the newest day, and counts it', async () => {
  const { rows, asked } = await read(`{
    "error": { "statusCode": 0, "success": false, "message": null, "errorKey": null },
    "data": {
      "overview": { "wafTriggeredRules": 60, "dDoSMitigated": 70 },
      "overviewPastTwentyEightDays": {
        "19-11-2026": { "wafTriggeredRules": 9, "dDoSMitigated": 8 },
        "20-11-2026": { "wafTriggeredRules": 6, "dDoSMitigated": 7 }
      },
      "waf": { "totalTriggeredRules": 60, "blockedRequests": 30, "loggedRequests": 20, "challengedRequests": 10 },
      "dDoS": { "loggedRequests": 4, "verifiedRequests": 3, "blockedRequests": 2, "challengedRequests": 1 },
      "dDoSOverviewPastTwentyEightDays": { "20-11-2026": { "verifiedRequests": 3 } },
      "ratelimit": { "totalBreaches": 6, "loggedBreaches": 3, "challengedBreaches": 2, "blockedBreaches": 1 },
      "botDetection": { "loggedRequests": 12, "challengedRequests": 11 },
      "accessList": { "totalActions": 5, "blockedRequests": 5 },
      "uploadScanning": { "loggedRequests": 1, "blockedRequests": 2, "filesScanned": 300 },
      "uploadScanningOverviewPastTwentyEightDays": { "20-11-2026": { "filesScanned": 40 } },
      "apiGuardian": {
        "blockedRequests": 8, "loggedRequests": 9, "rateLimited": 7, "requestsInspected": 900,
        "failedRequestValidation": 6, "failedAuthenticationEnforcement": 5
      },
      "totalCleanRequestsLimit": 5000000,
      "totalBillableRequests": 1234567
    }
  }`);
  expect(asked).toEqual(['/shield/metrics/overview/501']);
  expect(rows.replaceAll('bunnynet_shield_overview_', '').replaceAll('shield_zone_id="501"', 'zone')).toBe(`\
events_28d{zone,protection="waf"} 60
events_28d{zone,protection="ddos"} 70
events_latest_day{zone,protection="waf"} 6
events_latest_day{zone,protection="ddos"} 7
events_total{zone,protection="waf"} 0
events_total{zone,protection="ddos"} 0
requests_28d{zone,protection="waf",action="blocked"} 30
requests_28d{zone,protection="waf",action="logged"} 20
requests_28d{zone,protection="waf",action="challenged"} 10
requests_28d{zone,protection="ddos",action="blocked"} 2
requests_28d{zone,protection="ddos",action="logged"} 4
requests_28d{zone,protection="ddos",action="challenged"} 1
requests_28d{zone,protection="ddos",action="verified"} 3
requests_28d{zone,protection="rate_limit",action="blocked"} 1
requests_28d{zone,protection="rate_limit",action="logged"} 3
requests_28d{zone,protection="rate_limit",action="challenged"} 2
requests_28d{zone,protection="bot_detection",action="logged"} 12
requests_28d{zone,protection="bot_detection",action="challenged"} 11
requests_28d{zone,protection="access_lists",action="blocked"} 5
requests_28d{zone,protection="upload_scanning",action="blocked"} 2
requests_28d{zone,protection="upload_scanning",action="logged"} 1
requests_28d{zone,protection="api_guardian",action="blocked"} 8
requests_28d{zone,protection="api_guardian",action="logged"} 9
requests_28d{zone,protection="api_guardian",action="rate_limited"} 7
requests_latest_day{zone,protection="ddos",action="verified"} 3
requests_total{zone,protection="ddos",action="verified"} 0
scanned_files_28d{zone} 300
scanned_files_latest_day{zone} 40
scanned_files_total{zone} 0
inspected_requests_28d{zone} 900
failed_requests_28d{zone,check="validation"} 6
failed_requests_28d{zone,check="authentication"} 5
monthly_billable_requests{zone} 1234567
clean_requests_limit{zone} 5000000
latest_day_timestamp_seconds{zone} 1795132800
`);
});
