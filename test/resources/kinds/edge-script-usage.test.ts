import { expect, it } from 'vitest';
import { edgeScript } from '../../../src/resources/kinds/edge-script.ts';
import { edgeScriptUsage } from '../../../src/resources/kinds/edge-script-usage.ts';
import { exposeListing } from '../expose.ts';

const read = (...items: readonly string[]) => exposeListing(edgeScriptUsage, () => `[${items.join()}]`);

it('shows what an edge script used this month, and keeps no key', async () => {
  const { rows, page, asked } = await read(`{
    "Id": 61204,
    "Name": "redirects",
    "DeploymentKey": "very-secret",
    "EdgeScriptVariables": [{ "Name": "TOKEN", "DefaultValue": "very-secret" }],
    "LastModified": "2026-08-20T12:00:00",
    "MonthlyCost": 0.72,
    "MonthlyRequestCount": 120400,
    "MonthlyCpuTime": 361250
  }`);
  expect(asked).toEqual(['/compute/script?page=1&perPage=100']);
  expect(rows).toBe(`\
bunnynet_edge_script_usage_monthly_cost_dollars{script_id="61204"} 0.72
bunnynet_edge_script_usage_monthly_requests{script_id="61204"} 120400
bunnynet_edge_script_usage_monthly_cpu_seconds{script_id="61204"} 361.25
bunnynet_edge_script_usage_last_modified_timestamp_seconds{script_id="61204"} 1787227200
`);
  expect(page).not.toContain('secret');
});

it('comes with the listing of scripts, without further requests', () => {
  expect(edgeScriptUsage.listing).toBe(edgeScript.listing);
});
