/** How panels look: each is made from its title, description, unit and queries, with Grafana's typed builders. */
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BarGaugeDisplayMode,
  BarGaugeSizing,
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableSortByFieldStateBuilder,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue, Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  DashboardLinkBuilder,
  MappingType,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { type Link, linkTo, runbookOf } from './links.ts';
import { type Entity, named } from './promql.ts';

/** The data source that the dashboard's variable picks. */
export const dataSource = { type: 'prometheus', uid: '${datasource}' } as const;

/** Units as Grafana spells them. */
export type Unit =
  | 'short'
  | 'none'
  | 's'
  | 'bytes'
  | 'decbytes'
  | 'percentunit'
  | 'currencyUSD'
  | 'dateTimeAsIso'
  | 'Bps'
  | 'reqps'
  | 'ops'
  | 'bool_yes_no';

export interface Query {
  readonly expr: string;
  readonly legend?: string;
}

/** The colour from a value upwards; the first one starts at minus infinity. */
export type Steps = readonly [base: string, ...(readonly [from: number, color: string])[]];

interface PanelOptions {
  readonly title: string;
  /** The API field behind it and its window; what to look for. */
  readonly description: string;
  readonly unit: Unit;
  /** Of 24 columns. */
  readonly span: number;
  readonly height?: number;
  readonly steps?: Steps;
  readonly decimals?: number;
  /** Shown when there is no series: what that means, where it means that all is well. */
  readonly nothing?: string;
  /** The alerts on what it shows. */
  readonly alerts?: readonly string[];
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

function thresholds(steps: Steps): ThresholdsConfigBuilder {
  const [base, ...rest] = steps;
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: base }, ...rest.map(([value, color]) => ({ value, color }))]);
}

function dataLink({ title, url }: Link): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title).url(url);
}

interface AnyPanel {
  title(title: string): this;
  description(description: string): this;
  datasource(source: typeof dataSource): this;
  unit(unit: string): this;
  span(columns: number): this;
  height(rows: number): this;
  decimals(decimals: number): this;
  noValue(text: string): this;
  links(links: DashboardLinkBuilder[]): this;
  thresholds(thresholds: ThresholdsConfigBuilder): this;
}

/** What every panel has. */
function framed<P extends AnyPanel>(panel: P, options: PanelOptions, height: number, steps?: Steps): P {
  panel
    .title(options.title)
    .description(options.description)
    .datasource(dataSource)
    .unit(options.unit)
    .span(options.span)
    .height(options.height ?? height);
  const colors = options.steps ?? steps;
  if (colors !== undefined) panel.thresholds(thresholds(colors));
  if (options.decimals !== undefined) panel.decimals(options.decimals);
  if (options.nothing !== undefined) panel.noValue(options.nothing);
  if (options.alerts !== undefined) {
    panel.links(options.alerts.map((alert) => dataLink(runbookOf(alert)).targetBlank(true)));
  }
  return panel;
}

function query({ expr, legend }: Query, at: number): DataqueryBuilder {
  const builder = new DataqueryBuilder().datasource(dataSource).expr(expr).refId(letters.charAt(at));
  return legend === undefined ? builder : builder.legendFormat(legend);
}

/** Labels and their values as text and colour. */
export function textOf(
  states: Readonly<Record<number, readonly [text: string, color: string]>>,
): ValueMapping {
  return {
    type: MappingType.ValueToText,
    options: Object.fromEntries(
      Object.entries(states).map(([value, [text, color]], index) => [value, { text, color, index }]),
    ),
  };
}

/** From this width on, a legend of many lines has room beside them. */
const widePanel = 12;

/** Severities as text and colour. */
export const severityColors: ValueMapping = {
  type: MappingType.ValueToText,
  options: {
    critical: { color: 'red', index: 0 },
    warning: { color: 'orange', index: 1 },
    info: { color: 'blue', index: 2 },
  },
};

/** Lines over time. At most 200 points a line, so that rankings over the range stay cheap. */
export function lines(
  options: PanelOptions & {
    readonly queries: readonly Query[];
    readonly link?: Link;
    /** Stacked areas, for parts of a whole. */
    readonly stacked?: boolean;
    readonly max?: number;
    /** A colour for each series, by its name. */
    readonly colors?: Readonly<Record<string, string>>;
  },
): Builder<Panel> {
  const legend = new VizLegendOptionsBuilder().showLegend(true);
  if (options.span >= widePanel) {
    legend
      .displayMode(LegendDisplayMode.Table)
      .placement(LegendPlacement.Right)
      .calcs(['lastNotNull'])
      .sortBy('Last *')
      .sortDesc(true);
  } else {
    legend.displayMode(LegendDisplayMode.List).placement(LegendPlacement.Bottom);
  }
  const panel = framed(new timeseries.PanelBuilder(), options, 8)
    .min(0)
    .maxDataPoints(200)
    .drawStyle(GraphDrawStyle.Line)
    .lineWidth(options.stacked === true ? 1 : 2)
    .fillOpacity(options.stacked === true ? 40 : 0)
    .showPoints(VisibilityMode.Never)
    .legend(legend)
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(options.queries.map((each, at) => query(each, at).range()));
  if (options.stacked === true) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  const max = options.max;
  if (max !== undefined) panel.max(max);
  // Where all are 0 Grafana's axis ends at 100, which is 10000%.
  else if (options.unit === 'percentunit') panel.axisSoftMax(0.01);
  if (options.link !== undefined) panel.dataLinks([dataLink(options.link)]);
  for (const [series, fixedColor] of Object.entries(options.colors ?? {})) {
    panel.overrideByName(series, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  }
  return panel;
}

/** Current numbers; a click leads to where more is said. */
export function numbers(
  options: PanelOptions & {
    readonly queries: readonly Query[];
    readonly link: Link;
    readonly mappings?: readonly ValueMapping[];
    /** A colour for each series, by its name. */
    readonly colors?: Readonly<Record<string, string>>;
    /** The same for series of which none is well. */
    readonly wrong?: Readonly<Record<string, string>>;
    readonly spark?: boolean;
  },
): Builder<Panel> {
  const spark = options.spark === true;
  const panel = framed(new stat.PanelBuilder(), options, 4, ['text'])
    .maxDataPoints(100)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .graphMode(spark ? BigValueGraphMode.Area : BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .orientation(VizOrientation.Auto)
    .wideLayout(false)
    .text(new VizTextDisplayOptionsBuilder().titleSize(14).valueSize(30))
    .dataLinks([dataLink(options.link)])
    .targets(
      options.queries.map((each, at) => (spark ? query(each, at).range() : query(each, at).instant())),
    );
  // Or the smallest change would look like the largest.
  if (spark) panel.min(0);
  if (options.mappings !== undefined) panel.mappings([...options.mappings]);
  for (const [series, fixedColor] of Object.entries(options.colors ?? {})) {
    panel.overrideByName(series, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  }
  for (const [series, color] of Object.entries(options.wrong ?? {})) {
    panel.overrideByName(series, [{ id: 'thresholds', value: thresholds(['green', [1, color]]).build() }]);
  }
  return panel;
}

/** How old figures by days are. start: the start of their newest day, of every series; fields: what of the API they come from. */
export function ageOfFigures(
  start: string,
  fields: string,
  frame: Pick<PanelOptions, 'span' | 'height'>,
): Builder<Panel> {
  return numbers({
    title: 'Age of the figures',
    description: `Time since the newest UTC day of the figures began; more than a day means that the API has reported no new day (newest key of API ${fields}).`,
    unit: 's',
    ...frame,
    steps: ['green', [172800, 'orange']],
    queries: [{ expr: `time() - min(${start})`, legend: 'oldest' }],
    nothing: 'none',
    link: linkTo('bunnynet-exporter', 'Open the exporter'),
  });
}

/**
 * Grafana makes room for a name of the greatest length by its letters, of which a wider one would be cut: hence the spaces, which
 * count there and are not drawn.
 */
const room = '  ';

/** A current ranking as bars, of which ten fit into the usual height; a share is one of the whole, not of the highest. */
export function bars(
  options: PanelOptions & { readonly queries: readonly Required<Query>[]; readonly link?: Link },
): Builder<Panel> {
  const panel = framed(new bargauge.PanelBuilder(), options, 8, ['blue'])
    .min(0)
    .orientation(VizOrientation.Horizontal)
    .displayMode(BarGaugeDisplayMode.Basic)
    .sizing(BarGaugeSizing.Manual)
    .minVizHeight(14)
    .maxVizHeight(24)
    .text(new VizTextDisplayOptionsBuilder().titleSize(12).valueSize(14))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .targets(
      options.queries.map(({ expr, legend }, at) =>
        query({ expr, legend: `${legend}${room}` }, at).instant(),
      ),
    );
  if (options.unit === 'percentunit') panel.max(1);
  if (options.nothing !== undefined) {
    // Or it would have the colour of the lowest value.
    panel.mappings([
      {
        type: MappingType.SpecialValue,
        options: { match: SpecialValueMatch.Null, result: { text: options.nothing, color: 'text' } },
      },
    ]);
  }
  if (options.link !== undefined) panel.dataLinks([dataLink(options.link)]);
  return panel;
}

/** A coloured band for each series: its state over time. A gap is time without a reading. */
export function timeline(
  options: PanelOptions & {
    readonly queries: readonly Query[];
    readonly states: ValueMapping;
    readonly link?: Link;
  },
): Builder<Panel> {
  const panel = framed(new statetimeline.PanelBuilder(), options, 10)
    .maxDataPoints(120)
    .mappings([options.states])
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.85)
    .lineWidth(0)
    .fillOpacity(85)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .targets(options.queries.map((each, at) => query(each, at).range()));
  if (options.link !== undefined) panel.dataLinks([dataLink(options.link)]);
  return panel;
}

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
    readonly link: Link;
    readonly columns: readonly Column[];
    readonly sort: { readonly title: string; readonly descending: boolean };
  },
): Builder<Panel> {
  const { entity, rows, columns, link } = options;
  const ids = entity.ids.join(', ');
  const names = entity.display === undefined ? [] : [named(entity, rows)];
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
