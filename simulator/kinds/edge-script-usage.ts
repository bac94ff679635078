/** The paged listing of edge scripts (`/compute/script`), which also has what they used this month, and their deployment keys. */
import { corePaging, listed } from '../answers.ts';
import { dayMs, hourMs, monthSoFar, secondOf } from '../days.ts';
import { round, secret } from '../entities.ts';
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
  ...listed('edgeScripts', corePaging, itemOf),
} as const satisfies Kind;

function itemOf(script: EdgeScript, { nowMs, nameOf }: Request) {
  const { id, name, index, deploymentKey } = script;
  // A release every few days, at another hour of each script.
  const everyMs = (2 + (index % 5)) * dayMs;
  const releasedAtMs = nowMs - ((nowMs - (index % 24) * hourMs) % everyMs);
  const requests = monthSoFar(nowMs, servedOf(script, nowMs));
  return {
    Id: jsonInteger(id),
    Name: nameOf(id, name),
    LastModified: secondOf(releasedAtMs),
    ScriptType: 1 + (index % 2),
    CurrentReleaseId: Math.floor(releasedAtMs / everyMs),
    DeploymentKey: deploymentKey,
    EdgeScriptVariables: [{ Name: 'TOKEN', DefaultValue: secret('script-variable', script.seed) }],
    MonthlyCost: round(requests * 2e-7, 4),
    MonthlyRequestCount: requests,
    MonthlyCpuTime: Math.floor(requests * script.cpuMsPerRequest),
  };
}
