/**
 * The overview: on one screen what needs attention, what it costs and what it serves, for one target or ten thousand; below it the
 * products, closed. Most of its panels come from the kinds.
 */
import { type Dashboard, type Row, row } from './dashboard.ts';
import { linkTo } from './links.ts';
import { numbers } from './panels.ts';
import { scope, selector } from './promql.ts';

export const overviewDashboard: Dashboard = {
  uid: 'bunnynet-overview',
  title: 'Overview',
  description: 'What is down, what it costs, and what it serves.',
  details: ['Applications', 'CDN', 'Shield', 'Storage and DNS', 'Stream', 'Video storage', 'Edge scripts'],
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
        span: 6,
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
