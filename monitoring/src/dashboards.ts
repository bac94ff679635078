/** All dashboards: those that the kinds have rows for, and the exporter's own. */
import type * as grafana from '@grafana/grafana-foundation-sdk/dashboard';
import { concerns } from './alert-records.ts';
import { buildDashboard } from './dashboard.ts';
import { exporterDashboard, exporterRows } from './exporter-health.ts';
import { exporterRules } from './exporter-rules.ts';
import { kinds } from './kinds/index.ts';
import { overviewDashboard, overviewRows } from './overview.ts';
import { alertsIn } from './rules.ts';

/** The dashboards by the name of their file. */
export function buildDashboards(): ReadonlyMap<string, grafana.Dashboard> {
  const rows = [...overviewRows, ...kinds.flatMap((kind) => kind.rows), ...exporterRows];
  const exporters = { alerts: alertsIn(exporterRules).map(({ alert }) => alert), kinds: [] };
  const concernOf = new Map([...concerns, [exporterDashboard, exporters], [overviewDashboard, undefined]]);
  const dashboards = [...new Set(rows.map(({ dashboard }) => dashboard))];
  return new Map(
    dashboards.map((dashboard) => {
      const own = rows.filter((each) => each.dashboard === dashboard);
      return [`${dashboard.uid}.json`, buildDashboard(dashboard, own, concernOf.get(dashboard))];
    }),
  );
}
