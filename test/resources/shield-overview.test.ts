import { expect, it } from 'vitest';
import { shieldOverview } from '../../src/resources/shield-overview.ts';
import { type Body, expose } from './expose.ts';

const read = (data: Body) =>
  expose(shieldOverview, { data, error: null }, { ids: { shield_zone_id: '501' } });

it('shows what each part did in 28 days, on the newest day and since the first reading', async () => {
  const { rows, asked } = await read({
    overview: { wafTriggeredRules: 40 },
    overviewPastTwentyEightDays: {
      '19-08-2026': { wafTriggeredRules: 3 },
      '20-08-2026': { wafTriggeredRules: 2 },
    },
    waf: { totalTriggeredRules: 40, blockedRequests: 30 },
    dDoS: { loggedRequests: 9, verifiedRequests: 8 },
    dDoSOverviewPastTwentyEightDays: {
      '20-08-2026': { loggedRequests: 1 },
      '19-08-2026': { loggedRequests: 5 },
    },
    apiGuardian: { rateLimited: 4, requestsInspected: 77 },
    apiGuardianOverviewPastTwentyEightDays: null,
    uploadScanning: { filesScanned: 6 },
    totalCleanRequestsLimit: 5_000_000,
    totalBillableRequests: 1_234_567,
  });
  expect(asked).toEqual(['/shield/metrics/overview/501']);
  expect(rows.replaceAll(/shield_zone_id="501",?/g, '').replaceAll('{}', '')).toBe(`\
bunnynet_shield_overview_requests_28d{category="ddos",action="logged"} 9
bunnynet_shield_overview_requests_28d{category="ddos",action="verified"} 8
bunnynet_shield_overview_requests_28d{category="waf",action="blocked"} 30
bunnynet_shield_overview_requests_28d{category="api_guardian",action="rate_limited"} 4
bunnynet_shield_overview_requests_latest_day{category="ddos",action="logged"} 1
bunnynet_shield_overview_requests_total{category="ddos",action="logged"} 0
bunnynet_shield_overview_events_28d{category="waf"} 40
bunnynet_shield_overview_events_latest_day{category="waf"} 2
bunnynet_shield_overview_events_total{category="waf"} 0
bunnynet_shield_overview_inspected_requests_28d 77
bunnynet_shield_overview_scanned_files_28d 6
bunnynet_shield_overview_billable_requests 1234567
bunnynet_shield_overview_clean_requests_limit 5000000
`);
});

it('leaves out what is null or of the wrong type alone, and notes it by name', async () => {
  const { rows, mismatched } = await read({
    overview: null,
    dDoS: 'many',
    waf: { blockedRequests: '3', loggedRequests: 1 },
    totalBillableRequests: 1.5,
    accessListOverviewPastTwentyEightDays: { someday: { blockedRequests: 1 } },
  });
  // Days that cannot be read are none so far: the counters of the map begin with the next one.
  expect(rows).toBe(`\
bunnynet_shield_overview_requests_28d{shield_zone_id="501",category="waf",action="logged"} 1
bunnynet_shield_overview_requests_total{shield_zone_id="501",category="access_list",action="logged"} 0
bunnynet_shield_overview_requests_total{shield_zone_id="501",category="access_list",action="blocked"} 0
bunnynet_shield_overview_requests_total{shield_zone_id="501",category="access_list",action="challenged"} 0
`);
  expect(mismatched.toSorted()).toEqual([
    'accessListOverviewPastTwentyEightDays',
    'dDoS',
    'totalBillableRequests',
    'waf',
  ]);
});
