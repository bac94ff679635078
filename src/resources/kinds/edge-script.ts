/** The requests and the CPU time of an edge script by days (`/compute/script/{script}/statistics`). */

import { sum } from '../answer-of-range.ts';
import { counts, daily, newestPoint } from '../charts.ts';
import { defineResource } from '../define.ts';
import { gauge } from '../families.ts';
import { divided, mapped, object } from '../fields.ts';
import { daysInOne } from '../queries.ts';
import { scripts } from './edge-script-usage.ts';

const cpuTime = mapped(counts, (days) => days.map((day) => ({ ...day, value: divided(day.value, 1000) })));
const cpuTimeOfRequest = mapped(newestPoint, (value) => divided(value, 1000));

const statistics = object({
  RequestsServedChart: daily('requests', 'Requests', { since: 'the script', sum: 'TotalRequestsServed' }),
  TotalCpuTimeChart: daily('cpu_seconds', 'CPU time', {
    type: cpuTime,
    place: '(%s, milliseconds)',
    since: 'the script',
    sum: 'TotalCpuUsed',
  }),
  AverageCpuTimeChart: gauge(
    'average_cpu_seconds',
    'Average CPU time of a request in the newest UTC day (%s, milliseconds)',
    cpuTimeOfRequest,
  ),
  TotalRequestsServed: sum,
  TotalCpuUsed: sum,
}).ignoring('TotalMonthlyCost AverageCpuTimePerExecution');

export const edgeScript = defineResource({
  kind: 'edge_script',
  noun: 'edge script',
  section: 'edge_scripts',
  listing: scripts,
  path: '/compute/script/{id}/statistics',
  query: daysInOne,
  answer: statistics,
  info: 'The name of the edge script',
});
