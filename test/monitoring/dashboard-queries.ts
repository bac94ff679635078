/** The queries of panels and variables, and how Grafana replaces the variables in them. */
import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import { firingCount, nothingFound } from '../../monitoring/src/promql.ts';

export interface PanelQuery {
  /** The titles of the dashboard and the panel. */
  readonly place: string;
  readonly panelId: number;
  readonly refId: string;
  readonly expr: string;
  readonly instant: boolean;
  readonly legend: string | undefined;
}

export function panelsOf(dashboard: Dashboard): readonly (Panel | RowPanel)[] {
  return (dashboard.panels ?? []).flatMap((panel) =>
    'panels' in panel ? [panel, ...panel.panels] : [panel],
  );
}

export function isRow(panel: Panel | RowPanel): panel is RowPanel {
  return panel.type === 'row';
}

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant?: boolean;
  readonly legendFormat?: string;
}

export function queriesOf(dashboard: Dashboard): readonly PanelQuery[] {
  return panelsOf(dashboard).flatMap((panel) =>
    isRow(panel)
      ? []
      : (panel.targets ?? []).map((target) => {
          const { refId, expr, instant, legendFormat } = target as unknown as Target;
          return {
            place: `${dashboard.title}: ${panel.title}`,
            panelId: panel.id ?? 0,
            refId,
            expr,
            instant: instant === true,
            legend: legendFormat,
          };
        }),
  );
}

/** Whether a query has an answer only where the panel has nothing to show. */
export function saysNothing({ expr }: PanelQuery): boolean {
  return expr.startsWith(`0 * max(${firingCount}) unless`);
}

/** Whether the value stands for nothing. */
export function isNothing({ values }: { readonly values: readonly (readonly [number, string])[] }): boolean {
  return values.every(([, value]) => Number(value) === nothingFound);
}

export interface AnnotationQuery {
  readonly name: string;
  readonly expr: string;
  readonly color: string;
  /** The value is the time of the mark, in milliseconds. */
  readonly hasTimes: boolean;
}

/** The queries that mark alerts and changes in the charts. */
export function annotationQueries(dashboard: Dashboard): readonly AnnotationQuery[] {
  return (dashboard.annotations?.list ?? []).map(({ name, expr = '', iconColor: color, ...more }) => ({
    name,
    expr,
    color,
    hasTimes: 'useValueForTime' in more,
  }));
}

/** The queries of the variables that are PromQL, and the metrics of the others, as PromQL. */
export function variableQueries(dashboard: Dashboard): readonly { name: string; expr: string }[] {
  return (dashboard.templating.list ?? []).flatMap(({ name, type, query }) => {
    if (type !== 'query' || typeof query !== 'object') return [];
    const text = String(query['query']);
    const expr = /^query_result\((.*)\)$/.exec(text)?.[1] ?? /^label_values\((.+), \w+\)$/.exec(text)?.[1];
    if (expr === undefined)
      throw new Error(`variable ${name} of ${dashboard.title}: not understood: ${text}`);
    return [{ name, expr }];
  });
}

export interface Substitution {
  readonly rangeSeconds: number;
  readonly stepSeconds: number;
  /** By the name of the variable. Default: `.+`, as for "All". */
  readonly variables?: Readonly<Record<string, string>>;
}

export function substitute(
  expr: string,
  { rangeSeconds, stepSeconds, variables = {} }: Substitution,
): string {
  return expr
    .replaceAll('$__range', `${rangeSeconds}s`)
    .replaceAll('$__interval', `${stepSeconds}s`)
    .replaceAll('$__rate_interval', `${4 * stepSeconds}s`)
    .replaceAll(/\$([a-z]+)\b/g, (_, name: string) => variables[name] ?? '.+');
}
