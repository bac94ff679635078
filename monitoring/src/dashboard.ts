/** A dashboard: its frame, and rows of panels that come from the kinds. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Panel, VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import * as grafana from '@grafana/grafana-foundation-sdk/dashboard';
import { alertAnnotation, alertPanels, type Concern, changeAnnotation } from './alert-list.ts';
import { dashboardLinks, dataSourceVariable, pickScope, tag } from './variables.ts';

export interface Dashboard {
  /** Its address in Grafana, and the name of its file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Matchers on its variables for the alerts that it lists. The exporter's alerts on a kind lack these labels. */
  readonly picked?: readonly string[];
  /** Rows that are closed at first, below the others. */
  readonly details?: readonly string[];
  /** Beside the data source and the scope. */
  readonly variables?: readonly Builder<VariableModel>[];
  /** Marks in its charts, beside those of alerts. */
  readonly annotations?: readonly Builder<grafana.AnnotationQuery>[];
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

/** A copy for one dashboard: placing a panel changes it. */
function unplaced(panel: Builder<Panel>): Builder<Panel> {
  const built = panel.build();
  return { build: () => ({ ...built, ...(built.gridPos && { gridPos: { ...built.gridPos } }) }) };
}

const required = 'It needs the recording rules that come with it, for names and alerts.';

/**
 * The JSON that Grafana imports, in the classic model; rows and panels are numbered from 1.
 * concern: the alerts that it shows; undefined for all.
 */
export function buildDashboard(
  dashboard: Dashboard,
  rows: readonly Row[],
  concern: Concern | undefined,
): grafana.Dashboard {
  const { uid, title, description, picked = [], details = [], variables = [], annotations = [] } = dashboard;
  const builder = new grafana.DashboardBuilder(`bunny.net / ${title}`)
    .description(`${description} ${required}`)
    .tags([tag])
    .timezone('browser')
    .tooltip(grafana.DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .editable()
    .link(dashboardLinks())
    .annotation(alertAnnotation(concern))
    .annotation(changeAnnotation())
    .withVariable(dataSourceVariable());
  for (const mark of annotations) builder.annotation(mark);
  for (const variable of [...pickScope(), ...variables]) builder.withVariable(variable);
  const all = [row(dashboard, 'Alerts', alertPanels(uid, concern, picked)), ...rows];
  const headings = [...new Set(all.map((each) => each.title))];
  const isDetail = (heading: string): boolean => details.includes(heading);
  for (const heading of headings.toSorted((a, b) => Number(isDetail(a)) - Number(isDetail(b)))) {
    const panels = all.filter((each) => each.title === heading).flatMap((each) => each.panels.map(unplaced));
    const isClosed = isDetail(heading);
    const heads = new grafana.RowBuilder(heading).collapsed(isClosed);
    if (isClosed) for (const panel of panels) heads.withPanel(panel);
    builder.withRow(heads);
    if (!isClosed) for (const panel of panels) builder.withPanel(panel);
  }
  const built = builder.build();
  let last = 0;
  const number = <Each extends object>(each: Each) => {
    last += 1;
    return { ...each, id: last };
  };
  const panels = (built.panels ?? []).map((panel) => {
    const numbered = number(panel);
    return 'panels' in numbered ? { ...numbered, panels: numbered.panels.map(number) } : numbered;
  });
  return { ...built, panels, uid };
}
