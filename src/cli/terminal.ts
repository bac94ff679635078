/** What people see on a terminal: colours, a progress line, tables, the outcome of `--once`. */

import { styleText } from 'node:util';
import type { Progress } from '../backfill/backfill.ts';
import type { Cause } from '../causes/cause.ts';
import type { Environment } from '../env.ts';
import type { ListingStatus } from '../polling/listing-status.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import type { Ids } from '../resources/resource.ts';
import { count, plural } from '../text.ts';

type Format = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export type Style = (format: Format, text: string) => string;

// `styleFor` decides whether to use it.
export const colours: Style = (format, text) => styleText(format, text, { validateStream: false });
export const plain: Style = (_, text) => text;

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Colours on a terminal that has them, unless NO_COLOR says otherwise. */
export function styleFor({ isTTY }: Pick<Terminal, 'isTTY'>, env: Environment): Style {
  return isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? colours : plain;
}

/** For text that others wrote: removes what could move the cursor, change colours or reverse the text. */
export function plainText(text: string): string {
  return text.replaceAll(/\p{C}+/gu, ' ');
}

/** The last line of a terminal, redrawn in place. Everything else is written above it. */
export class ProgressLine {
  readonly #terminal: Terminal;
  #shown = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Cut to the width of the terminal: a line that wraps cannot be redrawn. */
  show(text: string): void {
    // 0 if the terminal does not know its width.
    const columns = this.#terminal.columns || 80;
    const line = text.length < columns ? text : `${text.slice(0, columns - 2)}…`;
    if (line === this.#shown) return;
    this.#shown = line;
    this.#terminal.write(`\r\u001B[K${line}`);
  }

  /** Writes whole lines above it. */
  write(text: string): void {
    if (this.#shown === '') return void this.#terminal.write(text);
    this.#terminal.write(`\r\u001B[K${text}${this.#shown}`);
  }

  clear(): void {
    if (this.#shown !== '') this.#terminal.write('\r\u001B[K');
    this.#shown = '';
  }
}

function countStates(statuses: readonly TargetStatus[]) {
  const counts = { targets: statuses.length, ok: 0, lacking: 0, stale: 0, failing: 0, absent: 0, pending: 0 };
  for (const { state } of statuses) counts[state]++;
  return counts;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

/** `polled 12 of 36 targets, 2 failing, 1.2 s` */
export function progressText(statuses: readonly TargetStatus[], durationMs: number): string {
  const { targets, pending, failing, absent } = countStates(statuses);
  const trouble = failing + absent > 0 ? `, ${failing + absent} failing` : '';
  return `polled ${targets - pending} of ${plural(targets, 'target')}${trouble}, ${seconds(durationMs)}`;
}

/** `[#####.....] 12 of 24 requests, 120 MB written` */
export function historyProgressText({ done, planned, bytes }: Progress): string {
  const width = 30;
  const filled = Math.floor((width * done) / Math.max(1, planned));
  const bar = '#'.repeat(filled).padEnd(width, '.');
  return `[${bar}] ${count(done)} of ${plural(planned, 'request')}, ${count(bytes / 1e6)} MB written`;
}

/** Columns two spaces apart, the first row as headers. `numeric`: all columns but the first. */
export function table(rows: readonly (readonly string[])[], style: Style, numeric = false): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const pad = (cell: string, at: number) =>
    numeric && at > 0 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0);
  const lines = rows.map((row) => row.map(pad).join('  ').trimEnd());
  return lines.map((line, at) => `${at === 0 ? style('dim', line) : line}\n`).join('');
}

/** `application storefront (q7TzVb2)`, as plain text whatever the name holds. */
export function targetText(kind: string, name: string | undefined, ids: Ids): string {
  const id = Object.values(ids).join('/');
  return plainText(`${kind} ${name === undefined ? id : `${name} (${id})`}`).trim();
}

/** For each cause, how many targets and listings are named. */
const shownFailures = 5;

function causeText(cause: Cause, style: Style): string {
  const { tone, title, affected, meaning, advice, runbook, targets, listings } = cause;
  const names = [
    ...targets.slice(0, shownFailures).map(({ target: { kind, name, ids } }) => targetText(kind, name, ids)),
    ...listings.slice(0, Math.max(0, shownFailures - targets.length)).map(listingText),
  ];
  const more = targets.length + listings.length - names.length;
  return [
    `${style(tone === 'bad' ? 'red' : 'yellow', '✗')} ${style('bold', plainText(title))}${affected === '' ? '' : `: ${affected}`}`,
    ...(names.length > 0
      ? [style('dim', `    ${names.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`)]
      : [`    ${plainText(meaning)}`]),
    `    ${advice}`,
    style('dim', `    ${runbook}`),
    '',
  ].join('\n');
}

/** `videos of trailers (4711)`, `Shield Zones of account` */
function listingText({ poll: { listing, parent, credential } }: ListingStatus): string {
  const id = parent && Object.values(parent.ids).join('/');
  const of = parent?.name === undefined ? (id ?? credential) : `${parent.name} (${id})`;
  return plainText(`${listing.nouns} of ${of}`);
}

/** The outcome of polling every target once: a table by kind, each cause of failures with what to do, a verdict. */
export function pollReport(
  statuses: readonly TargetStatus[],
  listings: readonly ListingStatus[],
  causes: readonly Cause[],
  succeeded: boolean,
  durationMs: number,
  style: Style,
): string {
  const row = (name: string, of: readonly TargetStatus[]) => {
    const { targets, ok, failing, absent } = countStates(of);
    return [name, ...[targets, ok, failing, absent].map(count)];
  };
  const rows = [...new Set(statuses.map(({ target }) => target.kind))].map((kind) =>
    row(
      kind,
      statuses.filter(({ target }) => target.kind === kind),
    ),
  );
  if (rows.length > 1) rows.push(row('all', statuses));
  const failedOf = (states: readonly { readonly state: string }[], noun: string) => {
    const failed = states.filter(({ state }) => state !== 'ok' && state !== 'lacking').length;
    return failed === 0 ? [] : [`${count(failed)} of ${plural(states.length, noun)}`];
  };
  const failures = [...failedOf(statuses, 'target'), ...failedOf(listings, 'listing')];
  const good =
    statuses.length === 0 ? 'every listing succeeded, and there is no target' : 'every poll succeeded';
  // An account with the key of another one is not polled at all.
  const bad =
    failures.length > 0 ? `${failures.join(' and ')} failed` : `${good}, but not everything was polled`;
  const verdict = succeeded ? `${style('green', '✓')} ${good}` : `${style('red', '✗')} ${bad}`;
  return [
    '',
    ...(rows.length > 0
      ? [table([['kind', 'targets', 'ok', 'failing', 'absent'], ...rows], style, true)]
      : []),
    ...(causes.length > 0 ? [causes.map((cause) => causeText(cause, style)).join('')] : []),
    `${verdict}, in ${seconds(durationMs)}\n`,
  ].join('\n');
}
