/** The overview: what needs attention, on one screen, for one target or ten thousand. Most of its panels come from the kinds. */
import { type Dashboard, type Row, row } from './dashboard.ts';
import { linkTo } from './links.ts';
import { numbers } from './panels.ts';
import { scope, selector } from './promql.ts';

export const overviewDashboard: Dashboard = {
  uid: 'bunnynet-overview',
  title: 'Overview',
  description: 'What everything in the account does, worst first.',
  details: ['Latency and cost', 'Stream', 'Storage and DNS', 'Video storage'],
  variables: () => [],
};

const toExporter = linkTo('bunnynet-exporter', 'Open the exporter');

export function overviewRows(): readonly Row[] {
  const own = (name: string): string => selector(`bunnynet_exporter_${name}`, scope);
  return [
    row(overviewDashboard, 'At a glance', [
      numbers({
        title: 'Targets',
        description:
          'Targets that the exporters read, those whose last poll failed, and those whose last reading is older than their stale_after, so that their values have left the page (the exporter’s own; no API field).',
        unit: 'short',
        span: 8,
        queries: [
          { expr: `sum(${own('targets')})`, legend: 'read' },
          {
            expr: `count(${selector('', ['__name__=~"bunnynet_.+_up"', '__name__!~"bunnynet_exporter.+"', ...scope])} == 0) or vector(0)`,
            legend: 'failing',
          },
          { expr: `sum(${own('stale_targets')})`, legend: 'stale' },
        ],
        wrong: { failing: 'red', stale: 'orange' },
        nothing: 'no exporter',
        link: toExporter,
      }),
    ]),
  ];
}
