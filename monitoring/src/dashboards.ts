/** The five dashboards as the JSON that Grafana imports: classic dashboards, with every panel numbered. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { applicationDashboard } from './application.ts';
import { exporterDashboard } from './exporter-health.ts';
import { overviewDashboard } from './overview.ts';
import { shieldDashboard } from './shield.ts';
import type { DashboardName } from './variables.ts';
import { uidOf } from './variables.ts';
import { videoStorageDashboard } from './video-storage.ts';

/** Rows and panels numbered from 1 in the order in which they stand. */
function numbered(dashboard: Dashboard): Dashboard {
  return { ...dashboard, panels: (dashboard.panels ?? []).map((panel, at) => ({ ...panel, id: at + 1 })) };
}

/** The dashboards by the name of their file. */
export function buildDashboards(): ReadonlyMap<string, Dashboard> {
  const dashboards: Readonly<Record<DashboardName, Dashboard>> = {
    overview: overviewDashboard(),
    application: applicationDashboard(),
    shield: shieldDashboard(),
    videoStorage: videoStorageDashboard(),
    exporter: exporterDashboard(),
  };
  return new Map(
    (Object.keys(dashboards) as DashboardName[]).map((name) => [
      `${uidOf(name)}.json`,
      numbered({ ...dashboards[name], uid: uidOf(name) }),
    ]),
  );
}
