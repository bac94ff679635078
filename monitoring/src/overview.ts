/** The overview: what needs attention, on one screen, for one target or ten thousand. Most of its panels come from the kinds. */
import { resources } from '../../src/resources/index.ts';
import { type Dashboard, type Row, row } from './dashboard.ts';
import { numbers } from './panels.ts';
import { upOf } from './promql.ts';

export const overviewDashboard: Dashboard = {
  uid: 'bunnynet-overview',
  title: 'Overview',
  description: 'What everything in the account does, worst first.',
  variables: () => [],
};

export function overviewRows(): readonly Row[] {
  return [
    row(overviewDashboard, 'At a glance', [
      numbers({
        title: 'Targets read at the last poll',
        description:
          'Share of the targets of each kind whose last poll succeeded (the exporter’s own; no API field, no window). Below 100 % look at the exporter’s dashboard.',
        unit: 'percentunit',
        span: 9,
        decimals: 1,
        steps: ['red', [0.9, 'orange'], [1, 'green']],
        queries: resources.map((resource) => ({ expr: `avg(${upOf(resource)})`, legend: resource.kind })),
        nothing: 'none',
      }),
      numbers({
        title: 'Stale targets',
        description:
          'Targets whose last reading is older than their stale_after: their values have left the page and are missing from every panel here (the exporter’s own; no API field).',
        unit: 'short',
        span: 3,
        steps: ['green', [1, 'orange']],
        queries: [{ expr: 'sum(bunnynet_exporter_stale_targets)', legend: 'stale' }],
        nothing: 'no exporter',
      }),
    ]),
  ];
}
