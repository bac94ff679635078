/** How panels look, except for tables. Each is made from its title, unit, width and queries, with Grafana's typed builders. */
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
import type { DynamicConfigValue, Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
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
import { type Link, runbookUrl, toExporter } from './links.ts';
import { nothingFound, orNothing, overRenamings, type Queries, readsRecords } from './promql.ts';

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
  | 'ops';

/** The colour from a value upwards; the first one starts at minus infinity. */
export type Steps = readonly [base: string, ...(readonly [from: number, color: string])[]];

/** Colours of series, by their names. */
export type Colors = Readonly<Record<string, string>>;

export interface PanelOptions {
  /** Names the API field and its window, and says what to look for. */
  readonly description: string;
  readonly height?: number;
  readonly steps?: Steps;
  readonly decimals?: number;
  /** Shown when there is no series; where the rules that the queries need are not loaded, that is shown instead. */
  readonly nothing?: string;
  /** Alerts on what it shows: the panel links to their runbooks. */
  readonly alerts?: readonly string[];
}

interface DrawnOptions extends PanelOptions {
  readonly queries: Queries;
  readonly link?: Link;
}

export function thresholds([base, ...rest]: Steps): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: base }, ...rest.map(([value, color]) => ({ value, color }))]);
}

/** What a panel shows where the rules that it needs are not loaded. */
export const withoutRules = 'rules not loaded';

/** The text of the value that stands for nothing. */
export function nothingText(nothing: string): ValueMapping {
  return textOf({ [nothingFound]: [nothing, 'text'] });
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

/** What every panel has. span: of 24 columns. */
export function framed<P extends AnyPanel>(
  panel: P,
  title: string,
  unit: Unit,
  span: number,
  options: PanelOptions & { readonly height: number },
): P {
  const { description, height, steps, decimals, nothing, alerts } = options;
  panel.title(title).description(description).datasource(dataSource).unit(unit).span(span).height(height);
  if (steps) panel.thresholds(thresholds(steps));
  if (decimals !== undefined) panel.decimals(decimals);
  if (nothing !== undefined) panel.noValue(nothing);
  if (alerts) {
    const links = alerts.map((alert) => ({ title: `Runbook: ${alert}`, url: runbookUrl(alert) }));
    panel.links(links.map((link) => dataLink(link).targetBlank(true)));
  }
  return panel;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** What Grafana calls the queries of a panel, by their order. */
export function letterOf(at: number): string {
  return letters.charAt(at);
}

export function query(expr: string, at: number): DataqueryBuilder {
  return new DataqueryBuilder().datasource(dataSource).expr(expr).refId(letterOf(at));
}

function targetsOf(queries: Queries): DataqueryBuilder[] {
  return Object.entries(queries).map(([legend, expr], at) => query(expr, at).legendFormat(legend));
}

function graphsOf(queries: Queries): DataqueryBuilder[] {
  return Object.entries(queries).map(([legend, expr], at) =>
    query(overRenamings(expr), at).legendFormat(legend).range(),
  );
}

/** Values as text and colour. */
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

export const upText = textOf({ 0: ['failing', 'red'], 1: ['ok', 'green'] });
export const yesNo = textOf({ 0: ['no', 'text'], 1: ['yes', 'text'] });
export const onOff = textOf({ 0: ['off', 'red'], 1: ['on', 'green'] });

interface Overridable {
  overrideByName(name: string, properties: DynamicConfigValue[]): unknown;
}

function paint(panel: Overridable, colors: Colors = {}): void {
  for (const [series, fixedColor] of Object.entries(colors)) {
    panel.overrideByName(series, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  }
}

/** From this width on, the legend has room beside the lines. */
const widePanel = 12;

/** Lines over time. At most 200 points a line, so that rankings over the range stay cheap. */
export function lines(
  title: string,
  unit: Unit,
  span: number,
  options: DrawnOptions & {
    /** Stacked areas, for parts of a whole. */
    readonly stacked?: boolean;
    readonly max?: number;
    readonly colors?: Colors;
  },
): Builder<Panel> {
  const { queries, link, stacked = false, max, colors } = options;
  const legend = new VizLegendOptionsBuilder().showLegend(true);
  if (span >= widePanel) {
    legend
      .displayMode(LegendDisplayMode.Table)
      .placement(LegendPlacement.Right)
      .calcs(['lastNotNull'])
      .sortBy('Last *')
      .sortDesc(true);
  } else {
    legend.displayMode(LegendDisplayMode.List).placement(LegendPlacement.Bottom);
  }
  const needsRules = options.nothing !== undefined && Object.values(queries).some(readsRecords);
  if (needsRules && !Object.hasOwn(queries, options.nothing))
    throw new Error(`${title}: no query has a line "${options.nothing}", see peaks()`);
  const framing = { height: 8, ...options, ...(needsRules && { nothing: withoutRules }) };
  const panel = framed(new timeseries.PanelBuilder(), title, unit, span, framing)
    .min(0)
    .maxDataPoints(200)
    .drawStyle(GraphDrawStyle.Line)
    .lineWidth(stacked ? 1 : 2)
    .fillOpacity(stacked ? 40 : 0)
    .showPoints(VisibilityMode.Never)
    .legend(legend)
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(graphsOf(queries));
  if (stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  if (max !== undefined) panel.max(max);
  // If every value is 0, Grafana's axis ends at 100, which is 10000%.
  else if (unit === 'percentunit') panel.axisSoftMax(0.01);
  if (link) panel.dataLinks([dataLink(link)]);
  paint(panel, colors);
  return panel;
}

const lastValue = () => new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false);

/** Current numbers; a click leads to the details. */
export function numbers(
  title: string,
  unit: Unit,
  span: number,
  options: DrawnOptions & {
    readonly link: Link;
    readonly text?: ValueMapping;
    readonly colors?: Colors;
    /** Colours of series that should be 0. */
    readonly wrong?: Colors;
  },
): Builder<Panel> {
  const framing = { height: 4, steps: ['text'] as const, nothing: 'none', ...options };
  const panel = framed(new stat.PanelBuilder(), title, unit, span, framing)
    .maxDataPoints(100)
    .reduceOptions(lastValue())
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .orientation(VizOrientation.Auto)
    .wideLayout(false)
    .text(new VizTextDisplayOptionsBuilder().titleSize(14).valueSize(30))
    .dataLinks([dataLink(options.link)])
    .targets(targetsOf(options.queries).map((target) => target.instant()));
  if (options.text) panel.mappings([options.text]);
  paint(panel, options.colors);
  for (const [series, color] of Object.entries(options.wrong ?? {})) {
    panel.overrideByName(series, [{ id: 'thresholds', value: thresholds(['green', [1, color]]).build() }]);
  }
  return panel;
}

/**
 * The newest day that daily figures have.
 *
 * @param start when it began, of every series
 * @param fields the API fields that they come from
 */
export function newestDay(of: string, start: string, fields: string): Builder<Panel> {
  return numbers(`Latest day: ${of}`, 'suffix: days ago', 6, {
    description: `The newest UTC day that has figures, for the target whose figures are oldest (newest key of API ${fields}). The API may report a day some hours late.`,
    steps: ['green', [2, 'orange']],
    text: textOf({ 0: ['today', 'green'], 1: ['yesterday', 'green'] }),
    queries: { 'latest day': `floor((time() - min(${start})) / 86400)` },
    link: toExporter,
  });
}

/**
 * Grafana makes room for the name with the most letters, and cuts another that is wider. Hence the spaces: they count as letters
 * there, and are not drawn.
 */
const room = '  ';

/** A current ranking as bars; ten fit into the usual height. For a share, a full bar is 100 %. */
export function bars(title: string, unit: Unit, span: number, options: DrawnOptions): Builder<Panel> {
  const { queries, nothing, link } = options;
  const needsRules = nothing !== undefined && Object.values(queries).some(readsRecords);
  const absent = needsRules ? withoutRules : nothing;
  const framing = {
    height: 8,
    steps: ['blue'] as const,
    ...options,
    ...(absent !== undefined && { nothing: absent }),
  };
  const roomy = Object.entries(queries).map(
    ([legend, expr]) => [`${legend}${room}`, needsRules ? orNothing(expr) : expr] as const,
  );
  const panel = framed(new bargauge.PanelBuilder(), title, unit, span, framing)
    .min(0)
    .orientation(VizOrientation.Horizontal)
    .displayMode(BarGaugeDisplayMode.Basic)
    .sizing(BarGaugeSizing.Manual)
    .minVizHeight(14)
    .maxVizHeight(24)
    .text(new VizTextDisplayOptionsBuilder().titleSize(12).valueSize(14))
    .reduceOptions(lastValue())
    .targets(targetsOf(Object.fromEntries(roomy)).map((target) => target.instant()));
  if (unit === 'percentunit') panel.max(1);
  if (absent !== undefined) {
    // Otherwise the text would have the colour of the lowest value.
    const result = { text: absent, color: 'text' };
    const none = {
      type: MappingType.SpecialValue as const,
      options: { match: SpecialValueMatch.Null, result },
    };
    panel.mappings([none, ...(needsRules ? [nothingText(nothing)] : [])]);
    // As the only value it would be the highest, too, and so have a full bar.
    const isNothing = { reducer: 'lastNotNull', op: 'eq', value: nothingFound };
    if (needsRules)
      panel.withOverride({
        matcher: { id: 'byValue', options: isNothing },
        properties: [{ id: 'max', value: 1 }],
      });
  }
  if (link) panel.dataLinks([dataLink(link)]);
  return panel;
}

/** The state of each series over time as a coloured band. A gap is time without a reading. */
export function timeline(
  title: string,
  span: number,
  options: DrawnOptions & { readonly states: ValueMapping },
): Builder<Panel> {
  const { queries, states, link } = options;
  const panel = framed(new statetimeline.PanelBuilder(), title, 'none', span, { height: 10, ...options })
    .maxDataPoints(120)
    .mappings([states])
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
    .targets(graphsOf(queries));
  if (link) panel.dataLinks([dataLink(link)]);
  return panel;
}
