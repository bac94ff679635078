/**
 * What people see on a terminal beside the output itself: colours, a line of progress, and tables. It touches no process:
 * streams and the environment are handed to it.
 */
import type { TargetStatus } from '../polling/target-states.ts';

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const sgr = (on: number, off: number) => (text: string) => `\u001B[${on}m${text}\u001B[${off}m`;
const asItIs = (text: string) => text;

export const colours: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
};

export const plain: Style = { bold: asItIs, dim: asItIs, red: asItIs, green: asItIs, yellow: asItIs };

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Colours on a terminal that has them, unless NO_COLOR says otherwise. */
export function styleFor({ isTTY }: Pick<Terminal, 'isTTY'>, env: Environment): Style {
  return isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? colours : plain;
}

/** Without anything that would move the cursor, change colours or turn the direction: for what others have written. */
export function plainText(text: string): string {
  return text.replaceAll(/\p{C}+/gu, ' ');
}

/** The last line of a terminal, drawn again and again; what else is written goes above it. */
export class ProgressLine {
  readonly #terminal: Terminal;
  #shown = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Cut to the width of the terminal, for a line that wraps cannot be drawn again. */
  show(text: string): void {
    // A terminal that does not know its width says 0.
    const columns = this.#terminal.columns || 80;
    const line = text.length < columns ? text : `${text.slice(0, columns - 2)}…`;
    if (line === this.#shown) return;
    this.#shown = line;
    this.#terminal.write(`\r\u001B[K${line}`);
  }

  /** Writes whole lines above. */
  write(text: string): void {
    if (this.#shown === '') return void this.#terminal.write(text);
    this.#terminal.write(`\r\u001B[K${text}${this.#shown}`);
  }

  clear(): void {
    if (this.#shown !== '') this.#terminal.write('\r\u001B[K');
    this.#shown = '';
  }
}

interface Tally {
  targets: number;
  ok: number;
  failing: number;
  absent: number;
  pending: number;
}

function tally(statuses: readonly TargetStatus[]): Tally {
  const counts: Tally = { targets: statuses.length, ok: 0, failing: 0, absent: 0, pending: 0 };
  for (const { state } of statuses) counts[state]++;
  return counts;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

/** `polled 12 of 36 targets, 2 failing, 1.2 s` */
export function progressText(statuses: readonly TargetStatus[], durationMs: number): string {
  const { targets, pending, failing, absent } = tally(statuses);
  const trouble = failing + absent > 0 ? `, ${failing + absent} failing` : '';
  return `polled ${targets - pending} of ${targets} targets${trouble}, ${seconds(durationMs)}`;
}

/** Columns two spaces apart; the first is text, the others are numbers. */
function table(rows: readonly (readonly string[])[], style: Style): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  '),
  );
  return lines.map((line, at) => `${at === 0 ? style.dim(line) : line}\n`).join('');
}

/** How many of the targets that failed are told one by one. */
const toldFailures = 20;

/** What came of polling every target once: a table by kind, and each failure with its reason. */
export function pollReport(statuses: readonly TargetStatus[], durationMs: number, style: Style): string {
  const kinds = [...new Set(statuses.map(({ target }) => target.kind))];
  const row = (name: string, of: readonly TargetStatus[]) => {
    const { targets, ok, failing, absent } = tally(of);
    return [name, ...[targets, ok, failing, absent].map((n) => n.toLocaleString('en-US'))];
  };
  const ofKinds = kinds.map((kind) =>
    row(
      kind,
      statuses.filter(({ target }) => target.kind === kind),
    ),
  );
  const rows = [['kind', 'targets', 'ok', 'failing', 'absent'], ...ofKinds];
  const unwell = statuses.filter(({ state }) => state !== 'ok');
  const failures = unwell.slice(0, toldFailures).map(({ target, lastFailure }) => {
    const ids = Object.values(target.ids).join('/');
    const who = target.name === undefined ? ids : `${target.name} (${ids})`;
    const why = lastFailure ? `${lastFailure.result}: ${lastFailure.message}` : 'not polled';
    return `${style.red('✗')} ${style.bold(plainText(`${target.kind} ${who}`))}: ${plainText(why)}\n`;
  });
  const more = unwell.length - failures.length;
  const verdict =
    unwell.length === 0
      ? `${style.green('✓')} every poll succeeded, in ${seconds(durationMs)}\n`
      : `${style.red('✗')} ${unwell.length} of ${statuses.length} targets failed, in ${seconds(durationMs)}\n`;
  return [
    '\n',
    table(rows.length > 2 ? [...rows, row('all', statuses)] : rows, style),
    failures.length > 0 ? '\n' : '',
    ...failures,
    more > 0 ? style.dim(`  … and ${more} more\n`) : '',
    `\n${verdict}`,
  ].join('');
}

/** The summary of a configuration with its heads dimmed and its warnings marked: blocks with an empty line between. */
export function dressedSummary(summary: string, warnings: readonly string[], style: Style): string {
  const blocks = summary.trimEnd().split('\n\n');
  const dressed = blocks.map((block) => {
    const [head = '', ...rows] = block.split('\n');
    if (warnings.includes(head)) return `${style.yellow('!')} ${head}`;
    return [style.dim(head), ...rows].join('\n');
  });
  return `${dressed.join('\n\n')}\n\n${style.green('✓')} the configuration is good\n`;
}

/** Problems, one a line, each marked. */
export function dressedProblems(message: string, style: Style): string {
  return message
    .split('\n')
    .map((line) => {
      const [, place = '', what = line] = /^(\S+?: )(.*)$/.exec(line) ?? [];
      return `${style.red('✗')} ${style.bold(place)}${what}`;
    })
    .join('\n');
}
