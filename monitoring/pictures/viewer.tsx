/**
 * Draws a dashboard in a page with Grafana's own components: stat, bar gauge, time series and table. Its packages do not
 * export the state timeline and the rows, so these are drawn here in the simplest way. It gets the answers of Prometheus
 * and makes no requests.
 */
import {
  applyFieldOverrides,
  createTheme,
  type DataFrame,
  type DataTransformerConfig,
  dataLinksOverrideProcessor,
  dateTime,
  displayNameOverrideProcessor,
  type Field,
  FieldColorModeId,
  FieldConfigOptionsRegistry,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  FieldType,
  formattedValueToString,
  type GrafanaTheme2,
  getDisplayValueAlignmentFactors,
  getFieldDisplayName,
  getFieldDisplayValues,
  identityOverrideProcessor,
  MappingType,
  numberOverrideProcessor,
  standardTransformers,
  standardTransformersRegistry,
  ThemeContext,
  type TimeRange,
  thresholdsOverrideProcessor,
  transformDataFrame,
  unitOverrideProcessor,
  VizOrientation,
  valueMappingsOverrideProcessor,
} from '@grafana/data';
import { BarGaugeValueMode } from '@grafana/schema';
import {
  BarGauge,
  BigValue,
  type BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ErrorBoundary,
  GlobalStyles,
  PanelChrome,
  Table,
  TimeSeries,
  type UPlotConfigBuilder,
  VizLegend,
  VizRepeater,
} from '@grafana/ui';
import { type ReactNode, useLayoutEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { firstValueFrom } from 'rxjs';
import plotStyle from 'uplot/dist/uPlot.min.css';
import type { Drawing, Drawn, Mark, PanelModel, Series, Target } from './drawing.ts';

// Some have two names.
const transformers = new Map(Object.values(standardTransformers).map((each) => [each.id, each]));
standardTransformersRegistry.setInit(() =>
  [...transformers.values()].map((transformation) => ({
    id: transformation.id,
    name: transformation.name,
    transformation,
    editor: () => null,
  })),
);

const processors: Readonly<Record<string, FieldConfigPropertyItem['process']>> = {
  unit: unitOverrideProcessor as FieldConfigPropertyItem['process'],
  decimals: numberOverrideProcessor as FieldConfigPropertyItem['process'],
  min: numberOverrideProcessor as FieldConfigPropertyItem['process'],
  max: numberOverrideProcessor as FieldConfigPropertyItem['process'],
  displayName: displayNameOverrideProcessor as FieldConfigPropertyItem['process'],
  mappings: valueMappingsOverrideProcessor as FieldConfigPropertyItem['process'],
  thresholds: thresholdsOverrideProcessor as FieldConfigPropertyItem['process'],
  links: dataLinksOverrideProcessor as FieldConfigPropertyItem['process'],
  noValue: identityOverrideProcessor as FieldConfigPropertyItem['process'],
  color: identityOverrideProcessor as FieldConfigPropertyItem['process'],
};

/** What the panels set under `custom`; other options are ignored. */
const customOptions = [
  ...['align', 'cellOptions', 'filterable', 'hidden', 'minWidth', 'width'],
  ...['axisSoftMax', 'drawStyle', 'fillOpacity', 'lineWidth', 'showPoints', 'stacking'],
];
const registry = new FieldConfigOptionsRegistry(() => [
  ...Object.entries(processors).map(([id, process]) => item(id, id, process)),
  ...customOptions.map((path) => item(`custom.${path}`, path, identityOverrideProcessor, true)),
]);

function item(id: string, path: string, process: unknown, isCustom = false): FieldConfigPropertyItem {
  return {
    id,
    path,
    isCustom,
    name: id,
    process: process as FieldConfigPropertyItem['process'],
    shouldApply: () => true,
    editor: () => null,
    override: () => null,
    settings: {},
  } as unknown as FieldConfigPropertyItem;
}

/** With Grafana's default colours for the type of panel. */
function configOf({ type, fieldConfig }: PanelModel): FieldConfigSource {
  const { defaults, overrides } = fieldConfig as FieldConfigSource;
  const mode = type === 'timeseries' ? FieldColorModeId.PaletteClassic : FieldColorModeId.Thresholds;
  return { defaults: { color: { mode }, ...defaults }, overrides };
}

const asIs = (text: string): string => text;

function numberOf(text: string): number {
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
}

function legendOf({ legendFormat }: Target, { metric }: Series): string {
  if (legendFormat)
    return legendFormat.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '');
  const { __name__: name = '', ...labels } = metric;
  return `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(', ')}}`;
}

function seriesFrames(target: Target, answer: readonly Series[], stepSeconds: number): DataFrame[] {
  return answer.map((series) => ({
    refId: target.refId,
    length: series.values.length,
    fields: [
      {
        name: 'Time',
        type: FieldType.time,
        config: target.instant ? {} : { interval: stepSeconds * 1000 },
        values: series.values.map(([time]) => time * 1000),
      },
      {
        name: 'Value',
        type: FieldType.number,
        labels: series.metric,
        config: { displayNameFromDS: legendOf(target, series) },
        values: series.values.map(([, value]) => numberOf(value)),
      },
    ],
  }));
}

/** One frame of all series: a column for each label, and the value, as Grafana names them. */
function tableFrame(target: Target, answer: readonly Series[], valueName: string): DataFrame {
  const labels = [...new Set(answer.flatMap(({ metric }) => Object.keys(metric)))].toSorted();
  return {
    refId: target.refId,
    length: answer.length,
    fields: [
      {
        name: 'Time',
        type: FieldType.time,
        config: {},
        values: answer.map(({ values }) => (values[0]?.[0] ?? 0) * 1000),
      },
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        config: {},
        values: answer.map(({ metric }) => metric[label] ?? ''),
      })),
      {
        name: valueName,
        type: FieldType.number,
        config: {},
        values: answer.map(({ values }) => numberOf(values[0]?.[1] ?? 'NaN')),
      },
    ],
  };
}

async function framesOf(panel: PanelModel, drawing: Drawing, theme: GrafanaTheme2): Promise<DataFrame[]> {
  const answers = drawing.answers[panel.id] ?? {};
  const answered = (panel.targets ?? []).filter(({ refId }) => (answers[refId] ?? []).length > 0);
  const isTable = panel.targets?.[0]?.format === 'table';
  let data = answered.flatMap((target) => {
    const answer = answers[target.refId] ?? [];
    // Grafana numbers the values if more than one query has an answer.
    return isTable
      ? [tableFrame(target, answer, answered.length > 1 ? `Value #${target.refId}` : 'Value')]
      : seriesFrames(target, answer, drawing.stepSeconds);
  });
  if (panel.transformations?.length) {
    data = await firstValueFrom(
      transformDataFrame(panel.transformations as DataTransformerConfig[], data, { interpolate: asIs }),
    );
  }
  return applyFieldOverrides({
    data,
    fieldConfig: configOf(panel),
    fieldConfigRegistry: registry,
    replaceVariables: asIs,
    theme,
    timeZone: 'utc',
  });
}

interface Viewed {
  readonly panel: PanelModel;
  readonly frames: DataFrame[];
  readonly width: number;
  readonly height: number;
  readonly theme: GrafanaTheme2;
  readonly timeRange: TimeRange;
  readonly marks: readonly Mark[];
}

/** The text of the only value, if that stands for nothing: a number that a mapping turns into a sentence. */
function saidBy(panel: PanelModel, frames: readonly DataFrame[]): string | undefined {
  const numbers = frames.flatMap(({ fields }) => fields.filter(({ type }) => type === FieldType.number));
  const [only, ...more] = numbers.flatMap(({ values }) => [...values] as number[]);
  const texts = (configOf(panel).defaults.mappings ?? []).flatMap(({ type, options }) =>
    type === MappingType.ValueToText
      ? [(options as Record<string, { text?: string }>)[String(only)]?.text]
      : [],
  );
  return more.length === 0 ? texts.find((text) => text?.endsWith('.')) : undefined;
}

/** As Grafana's PanelDataErrorView. */
function NoData({ panel }: Viewed) {
  return <div className="no-data">{configOf(panel).defaults.noValue ?? 'No data'}</div>;
}

function displayValues({ panel, frames, theme }: Viewed, sparkline: boolean) {
  const { reduceOptions } = panel.options as { reduceOptions: never };
  return getFieldDisplayValues({
    fieldConfig: configOf(panel),
    reduceOptions,
    replaceVariables: asIs,
    theme,
    data: frames,
    sparkline,
    timeZone: 'utc',
  });
}

/** As Grafana's StatPanel. */
function Stat(viewed: Viewed) {
  const { panel, theme, width, height } = viewed;
  const options = panel.options as {
    graphMode: BigValueGraphMode;
    colorMode: BigValueColorMode;
    justifyMode: never;
    wideLayout?: boolean;
    textMode?: BigValueTextMode;
    orientation?: VizOrientation;
    text?: never;
  };
  const values = displayValues(viewed, options.graphMode !== BigValueGraphMode.None);
  return (
    <VizRepeater
      getValues={() => values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, alignmentFactors, width: valueWidth, height: valueHeight, count }) => (
        <BigValue
          value={value.display}
          count={count}
          sparkline={value.sparkline}
          colorMode={options.colorMode}
          graphMode={options.graphMode}
          justifyMode={options.justifyMode}
          textMode={options.textMode ?? BigValueTextMode.Auto}
          alignmentFactors={alignmentFactors}
          text={options.text}
          disableWideLayout={!options.wideLayout}
          width={valueWidth}
          height={valueHeight}
          theme={theme}
        />
      )}
      width={width}
      height={height}
      source={values}
      itemSpacing={3}
      renderCounter={0}
      autoGrid
      orientation={options.orientation ?? VizOrientation.Auto}
    />
  );
}

const barSpacingPx = 10;

/** As Grafana's BarGaugePanel. */
function Bars(viewed: Viewed) {
  const { panel, theme, width, height } = viewed;
  const options = panel.options as {
    displayMode: never;
    orientation: VizOrientation;
    valueMode?: BarGaugeValueMode;
    namePlacement?: never;
    showUnfilled?: boolean;
    minVizWidth?: number;
    minVizHeight?: number;
    maxVizHeight?: number;
    sizing?: string;
    text?: never;
  };
  const values = displayValues(viewed, false);
  return (
    <div style={{ height, overflow: 'hidden auto' }}>
      <VizRepeater
        getValues={() => values}
        getAlignmentFactors={getDisplayValueAlignmentFactors}
        renderValue={({
          value,
          alignmentFactors,
          orientation,
          width: valueWidth,
          height: valueHeight,
          count,
        }) => (
          <BarGauge
            value={count === 1 && !value.display.title ? { ...value.display, title: '' } : value.display}
            width={valueWidth}
            height={valueHeight}
            orientation={orientation}
            field={value.field}
            text={options.text}
            display={value.view?.getFieldDisplayProcessor(value.colIndex ?? 0)}
            theme={theme}
            itemSpacing={barSpacingPx}
            displayMode={options.displayMode}
            alignmentFactors={count > 1 ? alignmentFactors : undefined}
            showUnfilled={options.showUnfilled ?? true}
            valueDisplayMode={options.valueMode ?? BarGaugeValueMode.Color}
            namePlacement={options.namePlacement}
          />
        )}
        width={width}
        height={height}
        source={values}
        itemSpacing={barSpacingPx}
        renderCounter={0}
        minVizWidth={options.minVizWidth ?? 8}
        minVizHeight={options.minVizHeight ?? 16}
        maxVizHeight={options.maxVizHeight ?? 300}
        orientation={options.orientation}
      />
    </div>
  );
}

/** Dashed lines; Grafana does not export its plugin for annotations. */
function Marks({
  config,
  marks,
  theme,
}: {
  config: UPlotConfigBuilder;
  marks: readonly Mark[];
  theme: GrafanaTheme2;
}) {
  useLayoutEffect(() => {
    config.addHook('draw', (plot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      for (const { at, color } of marks) {
        const x = Math.round(plot.valToPos(at * 1000, 'x', true));
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.strokeStyle = theme.visualization.getColorByName(color);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
      }
      ctx.restore();
    });
  }, [config, marks, theme]);
  return null;
}

function Lines({ panel, frames, theme, width, height, timeRange, marks }: Viewed) {
  const { legend } = panel.options as { legend: never };
  return (
    <TimeSeries
      frames={frames}
      structureRev={1}
      timeRange={timeRange}
      timeZone="utc"
      width={width}
      height={height}
      legend={legend}
      options={{}}
    >
      {(config) => <Marks config={config} marks={marks} theme={theme} />}
    </TimeSeries>
  );
}

function Rows({ panel, frames, width, height, timeRange }: Viewed) {
  const { sortBy, cellHeight } = panel.options as { sortBy: never; cellHeight: never };
  const [frame] = frames;
  if (!frame) return null;
  return (
    <Table
      data={frame}
      width={width}
      height={height}
      initialSortBy={sortBy}
      cellHeight={cellHeight}
      timeRange={timeRange}
      fieldConfig={configOf(panel)}
      showTypeIcons={false}
    />
  );
}

/** A band for each series, coloured by the mapping of its value; equal neighbours are merged. Not Grafana's code. */
function Timeline({ frames, theme, width, height, timeRange }: Viewed) {
  const bands = frames.flatMap((frame) => {
    const [times, field] = frame.fields as [Field<number>, Field<number>];
    return [
      {
        name: getFieldDisplayName(field, frame, frames),
        times: times.values,
        step: times.config.interval ?? 0,
        field,
      },
    ];
  });
  const from = timeRange.from.valueOf();
  const to = timeRange.to.valueOf();
  const nameWidth = Math.min(220, 16 + Math.max(...bands.map(({ name }) => name.length)) * 6.6);
  const at = (time: number) => ((time - from) / (to - from)) * (width - nameWidth);
  const seen = new Map<string, string>();
  const rowHeight = Math.min(28, (height - 52) / bands.length);
  return (
    <div style={{ fontSize: 12 }}>
      {bands.map(({ name, times, step, field }) => {
        const runs: { from: number; to: number; value: number; isClosed: boolean }[] = [];
        times.forEach((time, index) => {
          const value = field.values[index] ?? 0;
          const last = runs.at(-1);
          if (last && last.value === value && time - last.to <= 1.5 * step) last.to = time;
          else {
            if (last && time - last.to <= 1.5 * step) Object.assign(last, { to: time, isClosed: true });
            runs.push({ from: time, to: time, value, isClosed: false });
          }
        });
        return (
          <div key={name} style={{ display: 'flex', height: rowHeight, alignItems: 'center' }}>
            <div
              style={{
                width: nameWidth,
                paddingRight: 8,
                textAlign: 'right',
                overflow: 'hidden',
                whiteSpace: 'nowrap',
                textOverflow: 'ellipsis',
              }}
            >
              {name}
            </div>
            <div style={{ position: 'relative', flex: 1, height: rowHeight * 0.85 }}>
              {runs.map((run) => {
                const shown = field.display?.(run.value);
                const text = shown ? formattedValueToString(shown) : String(run.value);
                seen.set(text, shown?.color ?? '');
                const left = Math.max(0, at(run.from));
                // The last value lasts until the next one is due.
                const band = at(Math.min(to, run.isClosed ? run.to : run.to + step)) - left;
                return (
                  <div
                    key={run.from}
                    style={{
                      position: 'absolute',
                      left,
                      width: Math.max(1, band),
                      height: '100%',
                      overflow: 'hidden',
                      background: shown?.color,
                      opacity: 0.85,
                      color: theme.colors.getContrastText(shown?.color ?? '#888'),
                      paddingLeft: 4,
                      lineHeight: `${rowHeight * 0.85}px`,
                      whiteSpace: 'nowrap',
                    }}
                  >
                    {band > text.length * 8 ? text : ''}
                  </div>
                );
              })}
            </div>
          </div>
        );
      })}
      <div
        style={{
          display: 'flex',
          justifyContent: 'space-between',
          paddingLeft: nameWidth,
          color: theme.colors.text.secondary,
        }}
      >
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <span key={share}>
            {dateTime(from + share * (to - from))
              .utc()
              .format(to - from < 3_600_000 ? 'HH:mm:ss' : 'HH:mm')}
          </span>
        ))}
      </div>
      <VizLegend
        placement="bottom"
        displayMode={'list' as never}
        items={[...seen].map(([label, color]) => ({ label, color, yAxis: 1 }))}
      />
    </div>
  );
}

const views: Readonly<Record<string, (viewed: Viewed) => ReactNode>> = {
  stat: Stat,
  bargauge: Bars,
  timeseries: Lines,
  table: Rows,
  'state-timeline': Timeline,
};

const cellPx = 30;
const gapPx = 8;

globalThis.draw = async (drawing) => {
  const theme = createTheme({ colors: { mode: drawing.theme } });
  const from = dateTime(drawing.from * 1000);
  const to = dateTime(drawing.to * 1000);
  const timeRange: TimeRange = { from, to, raw: { from, to } };
  const columnPx = (drawing.widthPx - gapPx) / 24;
  const errors = new Map<number, string>();
  const nothings = new Map<number, string>();
  const boxes: ReactNode[] = [];
  const shown: PanelModel[] = [];
  let top = 52;
  /** Where the current section begins, in pixels, and its first row of cells. */
  let section = { top, row: 0 };
  const place = async (panel: PanelModel) => {
    const { x, y, w, h } = panel.gridPos;
    const height = h * (cellPx + gapPx) - gapPx;
    const style = {
      position: 'absolute' as const,
      left: gapPx + x * columnPx,
      top: section.top + (y - section.row) * (cellPx + gapPx),
    };
    top = Math.max(top, style.top + height + gapPx);
    shown.push(panel);
    const View = views[panel.type];
    const width = w * columnPx - gapPx;
    let content: (innerWidth: number, innerHeight: number) => ReactNode;
    try {
      if (!View) throw new Error(`a panel of type ${panel.type} cannot be drawn`);
      const frames = await framesOf(panel, drawing, theme);
      const hasValues = frames.some((frame) => frame.length > 0);
      const said = hasValues ? saidBy(panel, frames) : (configOf(panel).defaults.noValue ?? 'No data');
      if (said !== undefined) nothings.set(panel.id, said);
      const Shown = hasValues || panel.type === 'stat' || panel.type === 'bargauge' ? View : NoData;
      content = (innerWidth, innerHeight) => (
        <ErrorBoundary onError={(error) => errors.set(panel.id, error.message)}>
          {({ error }) =>
            error ? (
              <div className="error">{error.message}</div>
            ) : (
              <Shown
                {...{
                  panel,
                  frames,
                  theme,
                  timeRange,
                  width: innerWidth,
                  height: innerHeight,
                  marks: drawing.marks,
                }}
              />
            )
          }
        </ErrorBoundary>
      );
    } catch (error) {
      errors.set(panel.id, String(error));
      content = () => <div className="error">{String(error)}</div>;
    }
    boxes.push(
      <div key={panel.id} id={`panel-${panel.id}`} style={style}>
        <PanelChrome width={width} height={height} title={panel.title} description={panel.description ?? ''}>
          {content}
        </PanelChrome>
      </div>,
    );
  };
  for (const panel of drawing.panels) {
    if (panel.type === 'row') {
      const isClosed = panel.collapsed === true && drawing.rowsAsSaved;
      boxes.push(
        <h3
          key={panel.id}
          className="row"
          style={{ top: top + 6 }}
        >{`${isClosed ? '›' : '⌄'} ${panel.title}`}</h3>,
      );
      top += 38;
      section = { top, row: panel.gridPos.y + 1 };
      if (!isClosed) for (const inner of panel.panels ?? []) await place(inner);
      continue;
    }
    if (top === 52 && boxes.length === 0) section = { top, row: panel.gridPos.y };
    await place(panel);
  }
  const root = createRoot(document.getElementById('root') as HTMLElement);
  // Labels of axes are measured once: the font must have been looked for before.
  root.render(<GlobalStyles />);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await document.fonts.load('12px Inter').catch(() => undefined);
  root.render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <style>{plotStyle}</style>
      <style>{`
        body { background: ${theme.colors.background.canvas}; margin: 0; font-family: Inter, "DejaVu Sans", Arial, sans-serif; }
        #root { position: relative; width: ${drawing.widthPx}px; height: ${top}px; overflow: hidden; color: ${theme.colors.text.primary}; }
        .heading { position: absolute; left: 16px; top: 14px; font-size: 18px; }
        .row { position: absolute; left: 12px; font-size: 16px; font-weight: 500; margin: 0; }
        .no-data { height: 100%; display: flex; align-items: center; justify-content: center; color: ${theme.colors.text.secondary}; text-align: center; }
        .error { color: ${theme.colors.error.text}; }
      `}</style>
      <div className="heading">{drawing.title}</div>
      {boxes}
    </ThemeContext.Provider>,
  );
  // Grafana's components measure themselves once they are there, and uPlot draws in the frame after.
  await new Promise((resolve) => setTimeout(resolve, 800));
  await document.fonts.ready;
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  return shown.map(({ id, title }): Drawn => {
    const headings = [...document.querySelectorAll(`#panel-${id} :is(h2, [role=columnheader] button)`)];
    const error = errors.get(id);
    const nothing = nothings.get(id);
    return {
      id,
      title,
      cut: headings.length === 0 || headings.some((each) => each.scrollWidth > each.clientWidth),
      ...(nothing === undefined ? {} : { nothing }),
      ...(error === undefined ? {} : { error }),
    };
  });
};
