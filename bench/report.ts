/** Figures, and tables as text, the same for the terminal and for files. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

export interface Table {
  readonly title: string;
  /** What the reader needs to know. */
  readonly note?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the page for users has it. */
  readonly isForUsers?: boolean;
}

/** One of the project's aims, and the result of this run. */
export interface Aim {
  readonly what: string;
  readonly wanted: string;
  /** Of the other build, if there is one. */
  readonly other?: string | undefined;
  /** Of this build. */
  readonly measured: string;
  readonly met: boolean;
}

export interface Part {
  readonly tables: readonly Table[];
  readonly aims: readonly Aim[];
  /** What the page for users says about sizing with the figures of this part. */
  readonly sizing?: string;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
}

const startedMs = performance.now();

/** Progress on stderr, so that stdout has only the tables. */
export function log(text: string): void {
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.error(`${String(seconds).padStart(4)} s, load ${loadAverage().toFixed(1)}: ${text}`);
}

/** A multiple: 0.042, 0.98, 17, 340. */
export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${ratio < 10 ? Number(ratio.toFixed(2)) : plain(ratio)} ×` : '-';
}

/** Undefined: not measured. */
export function milliseconds(value: number | undefined): string {
  return value === undefined ? '-' : `${plain(value)} ms`;
}

export function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? '-' : `${plain(bytes / 1e6)} MB`;
}

/** Two digits; whole from a hundred on. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(2)));
}

/** ratio: of this build; otherRatio: of the other one. */
export function atMost(what: string, limit: number, ratio: number, otherRatio?: number): Aim {
  return { what, wanted: `≤ ${limit} ×`, ...ofBuilds(ratio, otherRatio), met: ratio <= limit };
}

export function atLeast(what: string, limit: number, ratio: number, otherRatio?: number): Aim {
  return { what, wanted: `≥ ${limit} ×`, ...ofBuilds(ratio, otherRatio), met: ratio >= limit };
}

function ofBuilds(ratio: number, otherRatio: number | undefined): Pick<Aim, 'measured' | 'other'> {
  return { measured: times(ratio), other: otherRatio === undefined ? undefined : times(otherRatio) };
}

/** This build beside the other one; none without another one. */
export function besideOther(
  what: string,
  limit: number,
  own: number | undefined,
  other: number | undefined,
): readonly Aim[] {
  if (own === undefined || other === undefined) return [];
  return [{ ...atMost(what, limit, own / other), other: times(1) }];
}

/** Load of the machine over the last minute, which shows whether anything else was running. */
export function loadAverage(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]);
}

export function machine(): string {
  const [first] = cpus();
  return `${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), Linux, Node ${process.versions.node}`;
}

/** As Markdown, aligned so that it is readable in a terminal, too. */
export function renderTable({ title, note, columns, rows }: Table): string {
  const widths = columns.map((column, at) =>
    Math.max(...[columns, ...rows].map((row) => (row[at] ?? column).length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${columns.map((_, at) => (at === 0 ? (cells[at] ?? '').padEnd(widths[at] ?? 0) : (cells[at] ?? '').padStart(widths[at] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [`### ${title}`, '', ...(note ? [note, ''] : []), line(columns), rule, ...rows.map(line), ''].join(
    '\n',
  );
}

/** otherBuild: undefined if only one build was measured. */
export function aimsTable(aims: readonly Aim[], otherBuild: string | undefined): Table {
  const ifOther = (cell: string) => (otherBuild === undefined ? [] : [cell]);
  return {
    title: 'Aims',
    columns: ['', ...ifOther(otherBuild ?? ''), 'this build', 'wanted', 'met'],
    rows: aims.map(({ what, wanted, other = '-', measured, met }) => [
      what,
      ...ifOther(other),
      measured,
      wanted,
      met ? 'yes' : 'NO',
    ]),
  };
}
