/** The variables and links that the dashboards share: data source, application, zone, library, video, instance. */
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
import {
  all,
  application as applicationEntity,
  displayNames,
  type Entity,
  video as videoEntity,
  zone as zoneEntity,
} from './promql.ts';

/** The tag by which the dashboards find one another. */
export const tag = 'bunnynet';

/** How Grafana's Prometheus data source tells its kinds of variable queries apart. */
const queryTypes = { labelValues: 1, queryResult: 3 } as const;

function pick(name: string, label: string, query: string, qryType: number): QueryVariableBuilder {
  return (
    new QueryVariableBuilder(name)
      .label(label)
      .datasource(dataSource)
      .query({ query, qryType, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.NaturalAsc)
      .multi(true)
      .includeAll(true)
      // Without it «All» would write ten thousand ids into every query.
      .allValue('.+')
      .current({ selected: true, text: ['All'], value: ['$__all'] })
  );
}

/** Offers names, with the id as what is selected; the label of the id must sort after `display`'s or before it alike. */
function pickByName(name: string, label: string, entity: Entity, idLabel: string): QueryVariableBuilder {
  // Grafana reads one line of text for each series, its labels in alphabetical order.
  const order = [
    [idLabel, `${idLabel}="(?<value>[^"]+)"`],
    ['display', 'display="(?<text>[^"]+)"'],
  ].toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return pick(name, label, `query_result(${displayNames(entity, '6h:5m')})`, queryTypes.queryResult).regex(
    `/${order.map(([, pattern]) => pattern).join('.*')}/`,
  );
}

export function dataSourceVariable(): Builder<VariableModel> {
  return new DatasourceVariableBuilder('datasource')
    .label('Data source')
    .type('prometheus')
    .current({ selected: false, text: 'default', value: 'default' });
}

export function applicationVariable(): Builder<VariableModel> {
  return pickByName('application', 'Application', all(applicationEntity), 'app_id');
}

export function zoneVariable(): Builder<VariableModel> {
  return pickByName('zone', 'Zone', all(zoneEntity), 'shield_zone_id');
}

/** By id: neither the API nor the configuration names a library. */
export function libraryVariable(): Builder<VariableModel> {
  return pick(
    'library',
    'Library',
    'label_values(bunnynet_video_storage_up, library_id)',
    queryTypes.labelValues,
  );
}

/** The videos of the libraries that are picked. */
export function videoVariable(): Builder<VariableModel> {
  return pickByName('video', 'Video', { ...videoEntity, selection: ['library_id=~"$library"'] }, 'video_id');
}

export function instanceVariable(): Builder<VariableModel> {
  return pick(
    'instance',
    'Exporter',
    'label_values(bunnynet_exporter_build_info, instance)',
    queryTypes.labelValues,
  );
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

const uids = {
  overview: 'bunnynet-overview',
  application: 'bunnynet-application',
  shield: 'bunnynet-shield',
  videoStorage: 'bunnynet-video-storage',
  exporter: 'bunnynet-exporter',
} as const;

export type DashboardName = keyof typeof uids;

export function uidOf(name: DashboardName): string {
  return uids[name];
}

/** The address of a dashboard with variables set, at the same data source and time range. */
export function urlTo(name: DashboardName, variables: Readonly<Record<string, string>>): string {
  const set = Object.entries(variables).map(([variable, value]) => `var-${variable}=${value}`);
  return `/d/${uids[name]}?${[...set, '${datasource:queryparam}', '${__url_time_range}'].join('&')}`;
}
