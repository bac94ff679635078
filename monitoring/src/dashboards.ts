/** All dashboards: those that the kinds have rows for, and the exporter's own. */
import type * as grafana from '@grafana/grafana-foundation-sdk/dashboard';
import { buildDashboard } from './dashboard.ts';
import { exporterRows } from './exporter-health.ts';
import { kinds } from './kinds/index.ts';
import { overviewRows } from './overview.ts';

/** The dashboards by the name of their file. */
export function buildDashboards(): ReadonlyMap<string, grafana.Dashboard> {
  const rows = [...kinds.flatMap((kind) => kind.panels()), ...overviewRows(), ...exporterRows()];
  const dashboards = [...new Set(rows.map(({ dashboard }) => dashboard))];
  return new Map(
    dashboards.map((dashboard) => [
      `${dashboard.uid}.json`,
      buildDashboard(
        dashboard,
        rows.filter((each) => each.dashboard === dashboard),
      ),
    ]),
  );
}
