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
import { displayNames, type Entity, scope, selector } from './promql.ts';

/** The tag by which the dashboards find one another. */
export const tag = 'bunnynet';

/** How Grafana's Prometheus data source tells its kinds of variable queries apart. */
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
      // Otherwise «All» would put ten thousand ids into every query.
      .allValue('.+')
      .current({ selected: true, text: ['All'], value: ['$__all'] })
  );
}

/** Offers the values of a label. */
export function pick(
  name: string,
  label: string,
  metric: string,
  {
    values = name,
    matchers = scope,
  }: { readonly values?: string; readonly matchers?: readonly string[] } = {},
): QueryVariableBuilder {
  return pickFrom(
    name,
    label,
    `label_values(${selector(metric, matchers)}, ${values})`,
    queryTypes.labelValues,
  );
}

/** Offers names and selects ids. */
export function pickByName(
  name: string,
  label: string,
  entity: Entity,
  idLabel: string,
): QueryVariableBuilder {
  // Grafana reads one line of text for each series, its labels in alphabetical order.
  const order = [
    [idLabel, `${idLabel}="(?<value>[^"]+)"`],
    ['display', 'display="(?<text>[^"]+)"'],
  ].toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return pickFrom(name, label, `query_result(${displayNames(entity)})`, queryTypes.queryResult).regex(
    `/${order.map(([, pattern]) => pattern).join('.*')}/`,
  );
}

const scopeVariables = [
  ['cluster', 'Cluster'],
  ['namespace', 'Namespace'],
  ['job', 'Job'],
  ['account', 'Account'],
] as const;

/** Which exporters are meant; each narrows those after it. accounts: the family whose label `account` is offered. */
export function pickScope(accounts = 'bunnynet_exporter_build_info'): readonly QueryVariableBuilder[] {
  return scopeVariables.map(([name, label], at) => {
    const metric = name === 'account' ? accounts : 'bunnynet_exporter_build_info';
    // Not `.+`: a label that no series has is not asked for.
    return pick(name, label, metric, { matchers: scope.slice(0, at) }).allValue('.*');
  });
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
