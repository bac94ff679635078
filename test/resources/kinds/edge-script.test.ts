import { expect, it } from 'vitest';
import { edgeScript } from '../../../src/resources/kinds/edge-script.ts';
import { type About, type Body, expose } from '../expose.ts';

const noon = Date.parse('2026-08-20T12:00:00Z');
const read = (answer: Body, about: About = {}) =>
  expose(edgeScript, answer, { ids: { script_id: '61204' }, context: { nowMs: noon }, ...about });

const answer = {
  TotalRequestsServed: 1204,
  TotalCpuUsed: 3612.5,
  TotalMonthlyCost: 0.72,
  AverageCpuTimePerExecution: 3.0,
  RequestsServedChart: { '2026-08-20T00:00:00Z': 1204 },
  AverageCpuTimeChart: { '2026-08-20T00:00:00Z': 3.5 },
  TotalCpuTimeChart: { '2026-08-20T00:00:00Z': 3612.5 },
};

it('shows the day so far, and starts counting', async () => {
  const { rows, asked } = await read(answer, { name: 'redirects' });
  expect(asked).toEqual(['/compute/script/61204/statistics?dateFrom=2026-08-19&dateTo=2026-08-20']);
  expect(rows).toBe(`\
bunnynet_edge_script_info{script_id="61204",account="account",name="redirects"} 1
bunnynet_edge_script_requests_latest_day{script_id="61204"} 1204
bunnynet_edge_script_requests_total{script_id="61204"} 0
bunnynet_edge_script_cpu_seconds_latest_day{script_id="61204"} 3.6125
bunnynet_edge_script_cpu_seconds_total{script_id="61204"} 0
bunnynet_edge_script_average_cpu_seconds{script_id="61204"} 0.0035
`);
});
