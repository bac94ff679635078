/** How panels look: each is made from its title, description, unit and queries, with Grafana's typed builders. */
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BarGaugeDisplayMode,
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
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue, Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  DashboardLinkBuilder,
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

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
}

/** Where a click on a value leads; the address may use `${__field.labels.<label>}` or `${__data.fields.<column>}`. */
export interface Link {
  readonly title: string;
  readonly url: string;
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

/** Lines over time. At most 200 points a line, so that rankings over the range stay cheap. */
export function lines(
  options: PanelOptions & {
    readonly queries: readonly Query[];
    readonly link?: Link;
    /** Stacked areas, for parts of a whole. */
    readonly stacked?: boolean;
    readonly max?: number;
  },
): Builder<Panel> {
  const panel = new timeseries.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(dataSource)
    .unit(options.unit)
    .span(options.span)
    .height(options.height ?? 8)
    .min(0)
    .maxDataPoints(200)
    .drawStyle(GraphDrawStyle.Line)
    .lineWidth(1)
    .fillOpacity(options.stacked === true ? 40 : 8)
    .showPoints(VisibilityMode.Never)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(options.queries.map((each, at) => query(each, at).range()));
  if (options.stacked === true) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  if (options.max !== undefined) panel.max(options.max);
  if (options.decimals !== undefined) panel.decimals(options.decimals);
  if (options.steps !== undefined) panel.thresholds(thresholds(options.steps));
  if (options.link !== undefined) panel.dataLinks([dataLink(options.link)]);
  return panel;
}

/** Current numbers. */
export function numbers(
  options: PanelOptions & {
    readonly queries: readonly Query[];
    readonly mappings?: readonly ValueMapping[];
    /** A colour for each series, by its name. */
    readonly colors?: Readonly<Record<string, string>>;
    /** Shown when there is no series. */
    readonly nothing?: string;
    readonly spark?: boolean;
  },
): Builder<Panel> {
  const spark = options.spark === true;
  const panel = new stat.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(dataSource)
    .unit(options.unit)
    .span(options.span)
    .height(options.height ?? 4)
    .maxDataPoints(100)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .graphMode(spark ? BigValueGraphMode.Area : BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .thresholds(thresholds(options.steps ?? ['text']))
    .targets(
      options.queries.map((each, at) => (spark ? query(each, at).range() : query(each, at).instant())),
    );
  if (options.mappings !== undefined) panel.mappings([...options.mappings]);
  if (options.decimals !== undefined) panel.decimals(options.decimals);
  if (options.nothing !== undefined) panel.noValue(options.nothing);
  for (const [series, fixedColor] of Object.entries(options.colors ?? {})) {
    panel.overrideByName(series, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  }
  return panel;
}

/** A current ranking as bars. */
export function bars(
  options: PanelOptions & { readonly queries: readonly Query[]; readonly link?: Link },
): Builder<Panel> {
  const panel = new bargauge.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(dataSource)
    .unit(options.unit)
    .span(options.span)
    .height(options.height ?? 8)
    .min(0)
    .orientation(VizOrientation.Horizontal)
    .displayMode(BarGaugeDisplayMode.Gradient)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .thresholds(thresholds(options.steps ?? ['blue']))
    .targets(options.queries.map((each, at) => query(each, at).instant()));
  if (options.decimals !== undefined) panel.decimals(options.decimals);
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
  const panel = new statetimeline.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(dataSource)
    .unit(options.unit)
    .span(options.span)
    .height(options.height ?? 10)
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

export interface Column {
  /** The heading. */
  readonly title: string;
  readonly expr: string;
  /** Default: the panel's unit. */
  readonly unit?: Unit;
  readonly mappings?: readonly ValueMapping[];
  /** Colours the cell. */
  readonly steps?: Steps;
}

/** Labels that become columns of their own, with their headings; `link` leads from the cell onward. */
export interface LabelColumn {
  readonly label: string;
  readonly title: string;
  readonly link?: Link;
}

/** A row for each value of the label `key`, a column for each query. Only the first query may have labels beside the key. */
export function grid(
  options: PanelOptions & {
    readonly key: LabelColumn;
    readonly labels?: readonly LabelColumn[];
    readonly columns: readonly Column[];
    /** The heading by which the rows are sorted, and whether the largest comes first. */
    readonly sort: { readonly title: string; readonly descending: boolean };
  },
): Builder<Panel> {
  const labels = [...(options.labels ?? []), options.key];
  const titles = [...labels.map(({ title }) => title), ...options.columns.map(({ title }) => title)];
  const sources = [
    ...labels.map(({ label }) => label),
    ...options.columns.map((_, at) =>
      options.columns.length === 1 ? 'Value' : `Value #${letters.charAt(at)}`,
    ),
  ];
  const times = ['Time', ...options.columns.map((_, at) => `Time ${at + 1}`)];
  const panel = new table.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(dataSource)
    .unit(options.unit)
    .span(options.span)
    .height(options.height ?? 9)
    .filterable(true)
    .sortBy([
      new TableSortByFieldStateBuilder().displayName(options.sort.title).desc(options.sort.descending),
    ])
    .targets(
      options.columns.map(({ expr }, at) => query({ expr }, at).instant().format(PromQueryFormat.Table)),
    )
    .withTransformation({
      id: 'joinByField',
      options: { byField: options.key.label, mode: 'outer' },
    })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: Object.fromEntries(times.map((time) => [time, true])),
        indexByName: Object.fromEntries(sources.map((source, at) => [source, at])),
        renameByName: Object.fromEntries(sources.map((source, at) => [source, titles[at]])),
      },
    });
  for (const { title, link } of labels) {
    const properties: DynamicConfigValue[] = [{ id: 'unit', value: 'string' }];
    if (link !== undefined) properties.push({ id: 'links', value: [dataLink(link).build()] });
    panel.overrideByName(title, properties);
  }
  for (const { title, unit, mappings, steps } of options.columns) {
    const properties: DynamicConfigValue[] = [];
    if (unit !== undefined) properties.push({ id: 'unit', value: unit });
    if (mappings !== undefined) properties.push({ id: 'mappings', value: mappings });
    if (steps !== undefined) properties.push({ id: 'thresholds', value: thresholds(steps).build() });
    if (mappings !== undefined || steps !== undefined) {
      properties.push({ id: 'custom.cellOptions', value: { type: 'color-text' } });
    }
    if (properties.length > 0) panel.overrideByName(title, properties);
  }
  return panel;
}
