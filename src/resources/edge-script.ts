/** The requests, the CPU time and the cost of an edge script by days (`/compute/script/{script}/statistics`). */
import { daily } from './daily.ts';
import { counts, dayQuery, newestPoint } from './days.ts';
import { scripts } from './edge-script-usage.ts';
import { gauge } from './families.ts';
import { divided, mapped, number, object } from './fields.ts';
import { defineResource } from './resource.ts';

const cpuTime = mapped(counts, (days) => days.map((day) => ({ ...day, value: divided(day.value, 1000) })));
const cpuTimeOfRequest = mapped(newestPoint, (value) => divided(value, 1000));

const statistics = object(
  {
    RequestsServedChart: daily('requests', 'Requests', { since: 'the script' }),
    TotalCpuTimeChart: daily('cpu_seconds', 'CPU time', {
      type: cpuTime,
      place: '(%s, milliseconds)',
      since: 'the script',
    }),
    AverageCpuTimeChart: gauge(
      'average_cpu_seconds',
      cpuTimeOfRequest,
      'CPU time of a request on average, in the newest UTC day (%s, milliseconds)',
    ),
    TotalMonthlyCost: gauge('monthly_cost', number, 'Cost of the script this month in US dollars'),
  },
  'TotalRequestsServed',
  'TotalCpuUsed',
  'AverageCpuTimePerExecution',
);

export const edgeScript = defineResource({
  kind: 'edge_script',
  product: 'Scripts',
  reference: 'GET /compute/script/{id}/statistics',
  noun: 'edge script',
  section: 'edge_scripts',
  defaultIntervalSeconds: 600,
  listing: scripts,
  answer: statistics,
  info: 'The name of the edge script',
  path: ({ script_id }, context) => `/compute/script/${script_id}/statistics?${dayQuery(context)}`,
});
