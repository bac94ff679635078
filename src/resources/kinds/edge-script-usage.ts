/** The edge scripts of an account and what each used this month (`/compute/script`): one paged listing gives them all. */
import { defineListedResource, defineListing } from '../define.ts';
import { count, gauge, label, timestamp } from '../families.ts';
import { id, milliseconds, object } from '../fields.ts';

/** Only what is named here is read: an answer also holds the deployment key. */
const script = object({
  Id: id,
  Name: label('name'),
  MonthlyCost: gauge(
    'monthly_cost_dollars',
    'Cost of the script in this calendar month in US dollars; resets with the next',
  ),
  MonthlyRequestCount: count('monthly_requests', 'Requests in this calendar month; resets with the next'),
  MonthlyCpuTime: gauge(
    'monthly_cpu_seconds',
    'CPU time in this calendar month (%s, milliseconds); resets with the next',
    milliseconds,
  ),
  LastModified: timestamp('last_modified_timestamp_seconds', 'When the script was last modified'),
}).ignoring(`ScriptType CurrentReleaseId LinkedPullZones[Id] DeploymentKey EdgeScriptVariables[DefaultValue]
  Deleted`);

export const scripts = defineListing({
  kind: 'edge_script',
  product: 'Scripts',
  nouns: 'edge scripts',
  path: '/compute/script',
  element: script,
  ids: [{ label: 'script_id', setting: 'id', form: 'integer' }],
});

export const edgeScriptUsage = defineListedResource({
  kind: 'edge_script_usage',
  noun: 'edge script usage',
  listing: scripts,
});
