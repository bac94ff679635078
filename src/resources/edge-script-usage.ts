/** The edge scripts of an account and what each used this month (`/compute/script`): one paged listing gives them all. */
import { count, gauge } from './families.ts';
import { id, number, object, text } from './fields.ts';
import { defineListing } from './listing.ts';
import { defineListedResource } from './resource.ts';

/** Only what is named here is kept: an answer also holds the deployment key. */
const script = object({
  Id: id,
  Name: text,
  MonthlyCost: gauge(
    'monthly_cost',
    number,
    'Cost of the script in this calendar month in US dollars; falls back at its end',
  ),
  MonthlyRequestCount: count('monthly_requests', 'Requests of this calendar month; falls back at its end'),
  MonthlyCpuTime: count(
    'monthly_cpu_time',
    'CPU time of this calendar month (%s, in the unit of the API, which is not documented); falls back at its end',
  ),
});

/** Every edge script with its name and its figures. */
export const scripts = defineListing({
  kind: 'edge_script',
  api: 'core',
  nouns: 'edge scripts',
  path: () => '/compute/script',
  element: script,
  ids: [{ label: 'script_id', setting: 'id', form: 'integer' }],
  identifier: 'Id',
  about: ({ Name }) => ({ name: Name }),
});

export const edgeScriptUsage = defineListedResource({
  kind: 'edge_script_usage',
  product: 'Scripts',
  reference: 'GET /compute/script',
  noun: "edge script's month",
  defaultIntervalSeconds: 600,
  listing: scripts,
  answer: script,
});
