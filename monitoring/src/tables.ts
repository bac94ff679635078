/** Panels that are tables: rows made of the answers to queries, and a row for each entity with the name leading onward. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue, Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as table from '@grafana/grafana-foundation-sdk/table';
import type { Link } from './links.ts';
import {
  dataLink,
  framed,
  letters,
  type PanelOptions,
  query,
  type Steps,
  thresholds,
  type Unit,
} from './panels.ts';
import { type Entity, named } from './promql.ts';

/** A column of a table: a label or a value of the queries, by the name that Grafana gives it. */
interface TableColumn {
  readonly source: string;
  readonly title: string;
  /** Default: the panel's, and none for a label. */
  readonly unit?: Unit;
  readonly mappings?: readonly ValueMapping[];
  /** Colours the cell. */
  readonly steps?: Steps;
  readonly link?: Link;
  readonly width?: number;
  /** Not shown; for links. */
  readonly hidden?: boolean;
}

/** The answers as rows; labels that are equal make one row of several answers. */
export function tableOf(
  options: PanelOptions & {
    readonly queries: readonly string[];
    readonly columns: readonly TableColumn[];
    /** The heading by which the rows are sorted, and whether the largest comes first. */
    readonly sort: { readonly title: string; readonly descending: boolean };
  },
): Builder<Panel> {
  const { columns, queries, sort } = options;
  const panel = framed(new table.PanelBuilder(), options, 9)
    .filterable(false)
    .minWidth(80)
    .sortBy([new TableSortByFieldStateBuilder().displayName(sort.title).desc(sort.descending)])
    .targets(queries.map((expr, at) => query({ expr }, at).instant().format(PromQueryFormat.Table)))
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'filterFieldsByName',
      options: { include: { names: columns.map(({ source }) => source) } },
    })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: {},
        indexByName: Object.fromEntries(columns.map(({ source }, at) => [source, at])),
        renameByName: Object.fromEntries(columns.map(({ source, title }) => [source, title])),
      },
    });
  for (const { source, title, unit, mappings, steps, link, width, hidden } of columns) {
    const properties: DynamicConfigValue[] = [];
    const shownUnit = unit ?? (source.startsWith('Value') ? undefined : 'string');
    if (shownUnit !== undefined) properties.push({ id: 'unit', value: shownUnit });
    if (mappings !== undefined) properties.push({ id: 'mappings', value: mappings });
    if (steps !== undefined) properties.push({ id: 'thresholds', value: thresholds(steps).build() });
    if (mappings !== undefined || steps !== undefined) {
      properties.push({ id: 'custom.cellOptions', value: { type: 'color-text' } });
    }
    if (link !== undefined) properties.push({ id: 'links', value: [dataLink(link).build()] });
    if (width !== undefined) properties.push({ id: 'custom.width', value: width });
    if (hidden === true) properties.push({ id: 'custom.hidden', value: true });
    panel.overrideByName(title, properties);
  }
  return panel;
}

export interface Column extends Omit<TableColumn, 'source' | 'hidden'> {
  readonly expr: string;
}

/** A row for each entity of the expression `rows`, a column for each query; the name leads onward. */
export function grid(
  options: PanelOptions & {
    readonly entity: Entity;
    /** Chooses the entities; its values are not shown. */
    readonly rows: string;
    /** The heading of the names. */
    readonly name: string;
    /** Further columns from labels. */
    readonly labels?: readonly Pick<TableColumn, 'source' | 'title'>[];
    /** What adds a label to the names, for such a column. */
    readonly joined?: string;
    readonly link: Link;
    readonly columns: readonly Column[];
    readonly sort: { readonly title: string; readonly descending: boolean };
  },
): Builder<Panel> {
  const { entity, rows, columns, link } = options;
  const ids = entity.ids.join(', ');
  const names =
    entity.display === undefined ? [] : [[named(entity, rows), options.joined].join(' ').trimEnd()];
  const inRows = columns.map(({ expr }) => `${expr} and on (${ids}) ${rows}`);
  const shownIds = [
    ...(options.labels ?? []).map(({ source }) => source),
    ...(entity.display ? [] : entity.ids),
  ];
  const hiddenIds = entity.ids.filter((id) => !shownIds.includes(id));
  const letterOf = (at: number) => letters.charAt(at + names.length);
  return tableOf({
    ...options,
    queries: [...names, ...inRows],
    columns: [
      { source: names.length > 0 ? 'display' : (entity.ids[0] ?? ''), title: options.name, link, width: 210 },
      // The address needs them, by their own names.
      ...(options.labels ?? []),
      ...hiddenIds.map((id) => ({ source: id, title: id, hidden: true })),
      ...columns.map((column, at) => ({ ...column, source: `Value #${letterOf(at)}` })),
    ],
  });
}
