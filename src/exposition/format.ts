/** The two text formats: how headers, labels and values are written, and every rule of escaping. */

import type { Sample } from '../resources/resource.ts';

export const formats = ['text', 'openmetrics'] as const;
/** text: Prometheus' text format 0.0.4; openmetrics: OpenMetrics text 1.0. Their headers differ; their rows are the same. */
export type Format = (typeof formats)[number];

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** What a page says about a family before its rows. */
export interface Header {
  readonly name: string;
  readonly help: string;
  /** info: a gauge that is always 1; its name ends in `_info`. The name of a counter ends in `_total`. */
  readonly type: 'gauge' | 'info' | 'counter' | 'histogram' | 'summary';
}

/** A family of the store. */
export interface FamilyHeader extends Header {
  readonly type: Exclude<Header['type'], 'histogram' | 'summary'>;
  /** What `?kind=` selects it by. */
  readonly kind: string;
}

export type Labels = Readonly<Record<string, string | number>>;

const endOfFile = Buffer.from('# EOF\n');

/**
 * The header lines of a family. OpenMetrics names it without its `_info` or `_total`, and has its unit, the one that its name
 * ends in, on a line of its own. The line stands there without a unit, too: with `type-and-unit-labels`, Prometheus (3.16) gives
 * a family without the line the unit of the family above it.
 */
export function renderHeader({ name, help, type }: Header, format: Format): string {
  if (format === 'text') {
    const typeName = type === 'info' ? 'gauge' : type;
    return `# HELP ${name} ${escapeText(help, /[\\\n]/g)}\n# TYPE ${name} ${typeName}\n`;
  }
  const base = type === 'gauge' ? name : name.replace(/_(info|total)$/, '');
  const [, unit = ''] = /_(seconds|bytes)$/.exec(base) ?? [];
  return `# TYPE ${base} ${type}\n# UNIT ${base} ${unit}\n# HELP ${base} ${escapeText(help, /[\\\n"]/g)}\n`;
}

/** The labels as written between the braces. Every target has some. */
export function renderLabels(labels: Labels = {}): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '' : ','}${name}="${escapeLabelValue(`${labels[name] ?? ''}`)}"`;
  }
  return text;
}

/** A value as both formats write it. */
export function renderNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/** labels: as written between the braces. */
export function renderRow(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${renderNumber(value)}\n`;
}

/** The rows of one family of a target; of two samples with the same labels the later one. */
export function renderRows(
  name: string,
  targetLabels: string,
  samples: readonly Sample[],
): { readonly text: string; readonly rows: number } {
  const beforeOwn = targetLabels === '' ? '' : `${targetLabels},`;
  const rowOf = (labels: string, value: number) =>
    renderRow(name, labels === '' ? targetLabels : beforeOwn + labels, value);
  const [first] = samples;
  // The usual case: making a Map each time would be a quarter of the work.
  if (first && samples.length === 1) return { text: rowOf(renderLabels(first.labels), first.value), rows: 1 };
  const values = new Map<string, number>();
  for (const { labels, value } of samples) values.set(renderLabels(labels), value);
  let text = '';
  for (const [labels, value] of values) text += rowOf(labels, value);
  return { text, rows: values.size };
}

/** What a page ends with. */
export function renderEnd(format: Format): readonly Buffer[] {
  return format === 'openmetrics' ? [endOfFile] : [];
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' };

function escapeText(text: string, special: RegExp): string {
  return text.replace(special, (character) => escapes[character] ?? character);
}

/** UTF-8 cannot encode lone surrogates, they become U+FFFD: two values that differ only there are the same series. */
function escapeLabelValue(value: string): string {
  // Hardly any value needs escaping, and this test is faster than a replacement.
  if (!/[\\\n"\ud800-\udfff]/.test(value)) return value;
  return value.replace(/[\\\n"]|\p{Surrogate}/gu, (character) => escapes[character] ?? '\uFFFD');
}
