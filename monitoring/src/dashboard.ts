/** The frame that every dashboard shares: tag, links, data source, time range. It knows nothing of what stands in it. */
import { DashboardBuilder, DashboardCursorSync } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboardLinks, dataSourceVariable, tag } from './variables.ts';

export function newDashboard(title: string, description: string): DashboardBuilder {
  return new DashboardBuilder(`bunny.net / ${title}`)
    .description(description)
    .tags([tag])
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .editable()
    .link(dashboardLinks())
    .withVariable(dataSourceVariable());
}
