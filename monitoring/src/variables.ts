/** The variables that pick something on a dashboard, and the links between dashboards. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { DashboardLink, VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { dataSource } from './panels.ts';
import { displayNames, type Entity, scope, selector, targetsOfAll } from './promql.ts';

/** The tag by which the dashboards find one another. */
export const tag = 'bunnynet';

/** How Grafana's Prometheus data source numbers its types of variable queries. */
const queryTypes = { labelValues: 1, queryResult: 3 } as const;

function pickFrom(name: string, label: string, query: string, qryType: number): QueryVariableBuilder {
  return (
    new QueryVariableBuilder(name)
      .label(label)
      .datasource(dataSource)
      .query({ query, qryType, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.NaturalAsc)
      .multi(true)
      .includeAll(true)
      // Otherwise "All" could put ten thousand ids into a query.
      .allValue('.+')
      .current({ selected: true, text: ['All'], value: ['$__all'] })
  );
}

/** Offers the values of a metric's label of the same name. */
export function pick(name: string, label: string, metric: string, matchers = scope): QueryVariableBuilder {
  return pickFrom(
    name,
    label,
    `label_values(${selector(metric, matchers)}, ${name})`,
    queryTypes.labelValues,
  );
}

/** Offers the names of an entity and selects its ids; variables before its own narrow the choice. */
export function pickByName(entity: Entity, label: string): QueryVariableBuilder {
  const [variable = '', id = ''] = Object.entries(entity.picks).at(-1) ?? [];
  const names = displayNames({ ...entity, matchers: entity.matchers.slice(0, -1) });
  // Grafana reads one line of text for each series, its labels in alphabetical order.
  const parts = [`${id}="(?<value>[^"]+)"`, 'display="(?<text>[^"]+)"'].toSorted();
  return pickFrom(variable, label, `query_result(${names})`, queryTypes.queryResult).regex(
    `/${parts.join('.*')}/`,
  );
}

const exporters = 'bunnynet_exporter_build_info';

/** Picks the exporters, then the accounts that have a target; each variable narrows the next ones. */
export function pickScope(): readonly QueryVariableBuilder[] {
  const variables = [
    pick('cluster', 'Cluster', exporters, scope.slice(0, 0)),
    pick('namespace', 'Namespace', exporters, scope.slice(0, 1)),
    pick('job', 'Job', exporters, scope.slice(0, 2)),
    pickFrom('account', 'Account', `label_values(${targetsOfAll}, account)`, queryTypes.labelValues),
  ];
  // Not `.+`, which would leave out series that lack the label.
  return variables.map((variable) => variable.allValue('.*'));
}

export function dataSourceVariable(): Builder<VariableModel> {
  return new DatasourceVariableBuilder('datasource')
    .label('Data source')
    .type('prometheus')
    .current({ selected: false, text: 'default', value: 'default' });
}

/** To the other dashboards, with the time range and the variables they share. */
export function dashboardLinks(): Builder<DashboardLink> {
  return new DashboardLinkBuilder('bunny.net')
    .type(DashboardLinkType.Dashboards)
    .tags([tag])
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true)
    .icon('external link');
}
