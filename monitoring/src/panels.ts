/** How panels look, tables apart: each is made from its title, description, unit and queries, with Grafana's typed builders. */
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
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import type { Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  DashboardLinkBuilder,
  MappingType,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { type Link, linkTo, runbookOf } from './links.ts';

/** The data source that the dashboard's variable picks. */
export const dataSource = { type: 'prometheus', uid: '${datasource}' } as const;

/** Units as Grafana spells them. */
export type Unit =
  | 'short'
  | 'none'
  | 's'
  | 'decbytes'
  | 'percentunit'
  | 'currencyUSD'
  | 'dateTimeAsIso'
  | 'Bps'
  | 'reqps'
  | 'suffix: /min'
  | 'suffix: days ago'
  | 'ops'
  | 'bool_yes_no';

export interface Query {
  readonly expr: string;
  readonly legend?: string;
}

/** The colour from a value upwards; the first one starts at minus infinity. */
export type Steps = readonly [base: string, ...(readonly [from: number, color: string])[]];

export interface PanelOptions {
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

export const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export function thresholds(steps: Steps): ThresholdsConfigBuilder {
  const [base, ...rest] = steps;
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: base }, ...rest.map(([value, color]) => ({ value, color }))]);
}

export function dataLink({ title, url }: Link): DashboardLinkBuilder {
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
export function framed<P extends AnyPanel>(
  panel: P,
  options: PanelOptions,
  height: number,
  steps?: Steps,
): P {
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

export function query({ expr, legend }: Query, at: number): DataqueryBuilder {
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
  },
): Builder<Panel> {
  const panel = framed(new stat.PanelBuilder(), options, 4, ['text'])
    .maxDataPoints(100)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .orientation(VizOrientation.Auto)
    .wideLayout(false)
    .text(new VizTextDisplayOptionsBuilder().titleSize(14).valueSize(30))
    .dataLinks([dataLink(options.link)])
    .targets(options.queries.map((each, at) => query(each, at).instant()));
  if (options.mappings !== undefined) panel.mappings([...options.mappings]);
  for (const [series, fixedColor] of Object.entries(options.colors ?? {})) {
    panel.overrideByName(series, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  }
  for (const [series, color] of Object.entries(options.wrong ?? {})) {
    panel.overrideByName(series, [{ id: 'thresholds', value: thresholds(['green', [1, color]]).build() }]);
  }
  return panel;
}

/**
 * The newest day that figures by days have.
 *
 * @param start when it began, of every series
 * @param fields what of the API they come from
 */
export function newestDay(of: string, start: string, fields: string): Builder<Panel> {
  return numbers({
    title: `Newest day: ${of}`,
    description: `Up to which UTC day there are figures, of the target where they are oldest (newest key of API ${fields}). The API may report a day some hours late.`,
    unit: 'suffix: days ago',
    span: 6,
    steps: ['green', [2, 'orange']],
    mappings: [textOf({ 0: ['today', 'green'], 1: ['yesterday', 'green'] })],
    queries: [{ expr: `floor((time() - min(${start})) / 86400)`, legend: 'newest day' }],
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
