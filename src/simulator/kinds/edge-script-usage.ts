/** The paged listing of edge scripts (`/compute/script`), which also has what they used this month, and their deployment keys. */
import { corePaging, listed } from '../answers.ts';
import { monthSoFar } from '../days.ts';
import { round } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';
import { type EdgeScript, servedOf } from './edge-script.ts';

export const edgeScriptUsage = {
  kind: 'edge_script_usage',
  section: 'edge_script_usage',
  ...coreApi,
  path: '/compute/script',
  traits: { field: 'Items', ids: ['Id', 'DeploymentKey'], name: 'Name', integer: 'MonthlyRequestCount' },
  ...listed('edgeScripts', corePaging, written),
} as const satisfies Kind;

function written(script: EdgeScript, { nowMs, nameOf }: Request) {
  const { id, name, index, deploymentKey } = script;
  const requests = monthSoFar(nowMs, servedOf(script, nowMs));
  return {
    Id: jsonInteger(id),
    Name: nameOf(id, name),
    LastModified: '2026-05-04T09:30:00',
    ScriptType: 1 + (index % 2),
    DeploymentKey: deploymentKey,
    MonthlyCost: round(requests * 2e-7, 4),
    MonthlyRequestCount: requests,
    MonthlyCpuTime: Math.floor(requests * script.cpuMsPerRequest),
  };
}
