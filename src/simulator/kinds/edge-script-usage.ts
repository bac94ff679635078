/** The paged listing of edge scripts (`/compute/script`), which also has what they used this month, and their deployment keys. */
import { monthSoFar } from '../days.ts';
import { round } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';
import { coreObjectPaging, listing } from '../paging.ts';
import { type EdgeScript, type EdgeScripts, idOf, servedOf } from './edge-script.ts';

export const edgeScriptUsage = {
  kind: 'edge_script_usage',
  ...coreApi,
  path: '/compute/script',
  traits: {
    field: 'Items',
    list: true,
    ids: ['Id', 'DeploymentKey'],
    names: ['Name'],
    number: 'MonthlyRequestCount',
    wholeNumbers: true,
  },
  pages: ({ edgeScripts }) => listing(coreObjectPaging, edgeScripts, idOf, listed),
  section: 'edge_script_usage',
  targets: ({ edgeScripts }) => edgeScripts.map(({ scriptId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, EdgeScripts>;

function listed(one: EdgeScript, { nowMs, nameOf }: Request) {
  const requests = monthSoFar(nowMs, (day) => servedOf(one, day, nowMs));
  return {
    Id: jsonInteger(one.scriptId),
    Name: nameOf(one.scriptId, one.name),
    LastModified: '2026-05-04T09:30:00',
    ScriptType: 1 + (one.index % 2),
    CurrentReleaseId: 7_000 + one.index,
    LinkedPullZones: [],
    DeploymentKey: one.deploymentKey,
    MonthlyCost: round(requests * 2e-7, 4),
    MonthlyRequestCount: requests,
    MonthlyCpuTime: Math.floor(requests * one.cpuMsPerRequest),
  };
}
