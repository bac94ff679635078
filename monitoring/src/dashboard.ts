/** What a dashboard is made of: its frame, and rows of panels that the kinds bring. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Panel, VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import * as grafana from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboardLinks, dataSourceVariable, tag } from './variables.ts';

export interface Dashboard {
  /** Its address in Grafana, and the name of its file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Beside the data source. */
  variables(): readonly Builder<VariableModel>[];
}

/** Panels under a heading of a dashboard. Rows with the same heading are joined, in the order in which they come. */
export interface Row {
  readonly dashboard: Dashboard;
  readonly title: string;
  readonly panels: readonly Builder<Panel>[];
}

export function row(dashboard: Dashboard, title: string, panels: readonly Builder<Panel>[]): Row {
  return { dashboard, title, panels };
}

/** The address of a dashboard with variables set, at the same data source and time range. */
export function urlTo({ uid }: Dashboard, variables: Readonly<Record<string, string>>): string {
  const set = Object.entries(variables).map(([variable, value]) => `var-${variable}=${value}`);
  return `/d/${uid}?${[...set, '${datasource:queryparam}', '${__url_time_range}'].join('&')}`;
}

/** A dashboard of these rows as the JSON that Grafana imports: a classic one, rows and panels numbered from 1. */
export function buildDashboard(dashboard: Dashboard, rows: readonly Row[]): grafana.Dashboard {
  const builder = new grafana.DashboardBuilder(`bunny.net / ${dashboard.title}`)
    .description(dashboard.description)
    .tags([tag])
    .timezone('browser')
    .tooltip(grafana.DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .editable()
    .link(dashboardLinks())
    .withVariable(dataSourceVariable());
  for (const variable of dashboard.variables()) builder.withVariable(variable);
  for (const title of new Set(rows.map((each) => each.title))) {
    builder.withRow(new grafana.RowBuilder(title));
    for (const panel of rows.filter((each) => each.title === title).flatMap(({ panels }) => panels)) {
      builder.withPanel(panel);
    }
  }
  const built = builder.build();
  const panels = (built.panels ?? []).map((panel, at) => ({ ...panel, id: at + 1 }));
  return { ...built, panels, uid: dashboard.uid };
}
