/** Tables: made from the answers to queries, or with a row for each entity, whose name links to its dashboard. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue, Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as table from '@grafana/grafana-foundation-sdk/table';
import type { Link } from './links.ts';
import {
  dataLink,
  framed,
  letterOf,
  nothingText,
  type PanelOptions,
  query,
  type Steps,
  thresholds,
  type Unit,
  withoutRules,
} from './panels.ts';
import { type Entity, named, orNothing, readsRecords } from './promql.ts';

interface Cells {
  readonly title: string;
  /** Default: the panel's, and none for a label or a text. */
  readonly unit?: Unit;
  /** Values as text and colour. */
  readonly text?: ValueMapping;
  /** Colours the cell. */
  readonly steps?: Steps;
  readonly link?: Link;
  readonly width?: number;
}

/** A column of a table: a label or a value of the queries, by the name that Grafana gives it. */
interface TableColumn extends Cells {
  readonly source: string;
  /** Not shown, but available to links. */
  readonly hidden?: boolean;
}

interface TableOptions extends PanelOptions {
  /** The heading of the column that the rows are sorted by, the largest first. Default: the first column with values. */
  readonly sort?: string;
  readonly ascending?: boolean;
}

/** The answers to queries as rows; answers with equal labels share a row. */
export function tableOf(
  title: string,
  unit: Unit,
  span: number,
  options: TableOptions & { readonly queries: readonly string[]; readonly columns: readonly TableColumn[] },
): Builder<Panel> {
  const { columns, ascending = false, nothing } = options;
  const needsRules = nothing !== undefined && options.queries.every(readsRecords);
  const queries = needsRules ? options.queries.map(orNothing) : options.queries;
  const isValue = (source: string): boolean => source.startsWith('Value');
  const sort = options.sort ?? columns.find(({ source }) => isValue(source))?.title ?? '';
  const framing = { height: 9, ...options, ...(needsRules && { nothing: withoutRules }) };
  const panel = framed(new table.PanelBuilder(), title, unit, span, framing)
    .filterable(false)
    .minWidth(80)
    .sortBy([new TableSortByFieldStateBuilder().displayName(sort).desc(!ascending)])
    .targets(queries.map((expr, at) => query(expr, at).instant().format(PromQueryFormat.Table)))
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
        renameByName: Object.fromEntries(columns.map((column) => [column.source, column.title])),
      },
    });
  if (needsRules) panel.mappings([nothingText(nothing)]);
  for (const { source, text, steps, link, width, hidden, ...column } of columns) {
    const properties: DynamicConfigValue[] = [];
    const set = (id: string, value: unknown) => properties.push({ id, value });
    if (column.unit !== undefined) set('unit', column.unit);
    else if (!isValue(source)) set('unit', 'string');
    else if (text && unit !== 'none') set('unit', 'none');
    if (text) set('mappings', [text]);
    if (steps) set('thresholds', thresholds(steps).build());
    if (text || steps) set('custom.cellOptions', { type: 'color-text' });
    if (link) set('links', [dataLink(link).build()]);
    if (width !== undefined) set('custom.width', width);
    if (hidden) set('custom.hidden', true);
    panel.overrideByName(column.title, properties);
  }
  return panel;
}

export interface Column extends Cells {
  readonly expr: string;
}

/** A row for each entity of the expression `rows`, a column for each query; the name links to its dashboard. */
export function grid(
  title: string,
  unit: Unit,
  span: number,
  options: TableOptions & {
    readonly entity: Entity;
    /** Chooses the entities; its values are not shown. */
    readonly rows: string;
    /** The heading of the names. Default: the entity's noun. */
    readonly name?: string;
    /** Columns from labels: their headings, or more. */
    readonly labels?: Readonly<Record<string, string | Cells>>;
    /** What adds a label to the names, for such a column. */
    readonly joined?: string;
    readonly columns: readonly Column[];
  },
): Builder<Panel> {
  const { entity, rows, columns, labels = {}, joined } = options;
  const { ids, noun, display, rowLink: link } = entity;
  const heading = options.name ?? `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  const names = display === undefined ? [] : [[named(entity, rows), joined].join(' ').trimEnd()];
  const inRows = columns.map(({ expr }) => `${expr} and on (${ids.join(', ')}) ${rows}`);
  const hiddenIds = display === undefined ? [] : ids.filter((id) => labels[id] === undefined);
  return tableOf(title, unit, span, {
    ...options,
    queries: [...names, ...inRows],
    columns: [
      { source: display === undefined ? (ids[0] ?? '') : 'display', title: heading, link, width: 210 },
      ...Object.entries(labels).map(([source, label]) => ({
        source,
        ...(typeof label === 'string' ? { title: label } : label),
      })),
      // The link needs them, by their own names.
      ...hiddenIds.map((id) => ({ source: id, title: id, hidden: true })),
      ...columns.map((column, at) => ({ ...column, source: `Value #${letterOf(at + names.length)}` })),
    ],
  });
}
