/**
 * The overview: one screen with what needs attention, what it costs and what it serves, for one target or ten thousand.
 * Below it are closed rows, one for each product. Most of its panels come from the kinds.
 */
import { type Dashboard, type Row, row } from './dashboard.ts';
import { toExporter } from './links.ts';
import { numbers } from './panels.ts';
import { scope, selector, targets } from './promql.ts';

export const overviewDashboard: Dashboard = {
  uid: 'bunnynet-overview',
  title: 'Overview',
  description: 'What is down, what it costs, and what it serves.',
  details: [
    'Accounts',
    'Applications',
    'CDN',
    'Shield',
    'Storage and DNS',
    'Stream',
    'Video storage',
    'Edge scripts',
  ],
};

export const overviewRows: readonly Row[] = [
  row(overviewDashboard, 'At a glance', [
    numbers('Targets', 'short', 6, {
      description:
        "Targets that the exporters read, those whose last poll failed, and those whose last reading is older than their stale_after, so that their values are no longer exported (the exporter's own; no API field).",
      queries: {
        read: `count(${targets()}) or 0 * sum(${selector('bunnynet_exporter_targets', scope)})`,
        failing: `count(${targets()} == 0) or vector(0)`,
        stale: `sum(${selector('bunnynet_exporter_stale_targets', scope)})`,
      },
      wrong: { failing: 'red', stale: 'orange' },
      nothing: 'no exporter',
      link: toExporter,
    }),
  ]),
];
