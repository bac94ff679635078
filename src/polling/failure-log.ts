/**
 * What the log says of failing polls and stale values. The first few failures of a kind have a line each; the rest share a
 * summary, and so does their recovery. Every single one is logged at debug.
 */
import type { Logger } from 'pino';
import { count, formatDuration, plural } from '../text.ts';

/** What failures that share a summary have in common. */
export interface FailureGroup {
  readonly key: string;
  /** What is polled: `application`, `video_storage listing`. */
  readonly what: string;
  readonly result: string;
  readonly message: string;
  readonly fields: object;
  /** The credential whose key was refused. All its failures have one line. */
  readonly refused?: string | undefined;
}

interface Group extends FailureGroup {
  readonly beganMs: number;
  readonly failing: Set<string>;
  /** Those that succeed again while others still fail. */
  readonly recovered: Set<string>;
  /** How many had a line of their own. */
  told: number;
  /** How many no line has mentioned yet. */
  untold: number;
  /** How many had recovered at the last summary, and how many of them a line has mentioned. */
  recoveredBefore: number;
  recoveredTold: number;
}

/** A line about several polls or targets of one kind. */
interface Summary {
  readonly what: string;
  readonly size: number;
  readonly fields: object;
  readonly line: string;
}

interface Recovery extends Summary {
  readonly lastedMs: number;
}

/** Summaries of one sort, and how a line about all of them ends. */
interface Report {
  readonly level: 'warn' | 'info';
  readonly unit: 'polls' | 'targets';
  readonly summaries: readonly Summary[];
  readonly end: string;
}

/** How many lines of their own a group has; and in a minute all failures, and all stale values, of which failures say why. */
const maxOwnLines = 5;
const maxOwnLinesAMinute = { polls: 20, aged: 10 };
const gone = 'had values too old, which have left the page';
/** If there are more summaries at a time, those of failures become one, and so on. */
const maxSummaries = 3;

export class FailureLog {
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #groups = new Map<string, Group>();
  /** The group of each poll that fails or has recovered. */
  readonly #groupOf = new Map<string, Group>();
  /** By kind, how many targets became stale since the last summary. */
  readonly #aged = new Map<string, { told: number; untold: number }>();
  #recoveries: Recovery[] = [];
  #minuteBeganMs = Number.NEGATIVE_INFINITY;
  #ownLines = { polls: 0, aged: 0 };

  /** nowMs: a clock that never jumps. */
  constructor(log: Logger, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Only the first of failures in a row counts, or one that is about the key when the last was not. */
  failed(pollKey: string, about: FailureGroup, fields: object, line: string): void {
    const before = this.#groupOf.get(pollKey);
    const isRefused = about.refused !== undefined;
    if (before?.failing.has(pollKey) && isRefused === (before.refused !== undefined)) return;
    this.forget(pollKey);
    const group = this.#groups.get(about.key) ?? {
      ...about,
      beganMs: this.#nowMs(),
      failing: new Set<string>(),
      recovered: new Set<string>(),
      told: 0,
      untold: 0,
      recoveredBefore: 0,
      recoveredTold: 0,
    };
    this.#groups.set(about.key, group);
    this.#groupOf.set(pollKey, group);
    group.failing.add(pollKey);
    const isOwn = group.told < (isRefused ? 1 : maxOwnLines) && this.#mayWrite();
    if (isOwn) group.told++;
    else if (!isRefused || group.told === 0) group.untold++;
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  /** fields: only called if the poll had failed. */
  succeeded(pollKey: string, fields: () => object): void {
    const group = this.#groupOf.get(pollKey);
    if (!group?.failing.has(pollKey)) return;
    const isOwn = group.told === sizeOf(group) && this.#mayWrite();
    this.#log[isOwn ? 'info' : 'debug'](fields(), 'polls succeed again; values are fresh');
    if (isOwn) {
      this.forget(pollKey);
    } else {
      group.failing.delete(pollKey);
      group.recovered.add(pollKey);
      this.#endIfOver(group);
    }
  }

  /** A poll is no longer wanted. */
  forget(pollKey: string): void {
    const group = this.#groupOf.get(pollKey);
    if (!group) return;
    this.#groupOf.delete(pollKey);
    group.failing.delete(pollKey);
    group.recovered.delete(pollKey);
    group.told = Math.min(group.told, sizeOf(group));
    group.untold = Math.min(group.untold, sizeOf(group));
    group.recoveredTold = Math.min(group.recoveredTold, group.recovered.size);
    this.#endIfOver(group);
  }

  /** The values of a target became too old. */
  aged(kind: string, fields: object, line: string): void {
    const aged = this.#aged.get(kind) ?? { told: 0, untold: 0 };
    this.#aged.set(kind, aged);
    const isOwn = aged.told < maxOwnLines && this.#mayWrite('aged');
    aged[isOwn ? 'told' : 'untold']++;
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  get sizes(): Readonly<Record<string, number>> {
    return { failureGroups: this.#groups.size, failing: this.#groupOf.size, aged: this.#aged.size };
  }

  tell(): void {
    const groups = [...this.#groups.values()].filter(({ untold }) => untold > 0);
    const aged = [...this.#aged].filter(([, { untold }]) => untold > 0);
    for (const group of this.#groups.values()) this.#noteStalledRecovery(group);
    const recoveries = this.#recoveries;
    const lastedMs = recoveries.reduce((longest, recovery) => Math.max(longest, recovery.lastedMs), 0);
    const failing = [...this.#groups.values()].reduce((sum, group) => sum + group.failing.size, 0);
    const left = failing === 0 ? 'none fails any more' : `${count(failing)} still fail`;
    const lasted = `succeed again after up to ${durationText(lastedMs)}; ${left}`;
    this.#write([
      {
        level: 'warn',
        unit: 'polls',
        summaries: groups.map(failureSummary),
        end: `failed: ${resultsOf(groups)}`,
      },
      { level: 'warn', unit: 'targets', summaries: aged.map(agedSummary), end: gone },
      { level: 'info', unit: 'polls', summaries: recoveries, end: lasted },
    ]);
    for (const group of groups) group.untold = 0;
    this.#aged.clear();
    this.#recoveries = [];
  }

  #endIfOver(group: Group): void {
    const { key, failing, recovered, told, untold } = group;
    if (failing.size > 0) return;
    this.#groups.delete(key);
    for (const pollKey of recovered) this.#groupOf.delete(pollKey);
    // If the log did not mention the failures, it does not mention their end.
    if (told > 0 || untold < recovered.size) this.#noteRecovery(group);
  }

  /** Some succeed again, and others do not: reported once no more have followed since the last summary. */
  #noteStalledRecovery(group: Group): void {
    const { refused, recoveredBefore, recoveredTold } = group;
    const { size } = group.recovered;
    group.recoveredBefore = size;
    if (size !== recoveredBefore || size <= recoveredTold || refused !== undefined) return;
    group.recoveredTold = size;
    this.#noteRecovery(group);
  }

  #noteRecovery(group: Group): void {
    const { what, refused, beganMs } = group;
    const { size } = group.recovered;
    const fields = { ...group.fields, polls: size };
    const lastedMs = this.#nowMs() - beganMs;
    const line = recoveryText(group, lastedMs);
    // That a key works again is not summed up with other things.
    if (refused !== undefined && this.#mayWrite()) this.#log.info(fields, line);
    else this.#recoveries.push({ what, size, fields, line, lastedMs });
  }

  #mayWrite(about: keyof typeof maxOwnLinesAMinute = 'polls'): boolean {
    const nowMs = this.#nowMs();
    if (nowMs - this.#minuteBeganMs >= 60_000) {
      this.#minuteBeganMs = nowMs;
      this.#ownLines = { polls: 0, aged: 0 };
    }
    if (this.#ownLines[about] >= maxOwnLinesAMinute[about]) return false;
    this.#ownLines[about]++;
    return true;
  }

  /** Writes the summaries or, if they are too many, one line for each report. */
  #write(reports: readonly Report[]): void {
    const isMany = reports.flatMap(({ summaries }) => summaries).length > maxSummaries;
    for (const { level, unit, summaries, end } of reports) {
      if (!isMany || summaries.length < 2) {
        for (const { fields, line } of summaries) this.#log[level](fields, line);
        continue;
      }
      const size = summaries.reduce((sum, each) => sum + each.size, 0);
      const kinds = new Set(summaries.map((each) => each.what)).size;
      const more = level === 'warn' ? 'more ' : '';
      this.#log[level]({ [unit]: size }, `${count(size)} ${more}${unit} of ${plural(kinds, 'kind')} ${end}`);
    }
  }
}

function sizeOf({ failing, recovered }: Group): number {
  return failing.size + recovered.size;
}

function failureSummary({ fields, what, result, message, untold: polls }: Group): Summary {
  const line = `${plural(polls, `more ${what} poll`)} failed: ${message} (${result})`;
  return { what, size: polls, fields: { ...fields, result, reason: message, polls }, line };
}

/** `4,980 server_error, 50 timeout` */
function resultsOf(groups: readonly Group[]): string {
  const byResult = new Map<string, number>();
  for (const { result, untold } of groups) byResult.set(result, (byResult.get(result) ?? 0) + untold);
  return Array.from(byResult, ([result, polls]) => `${count(polls)} ${result}`).join(', ');
}

function agedSummary([kind, { untold: targets }]: [string, { untold: number }]): Summary {
  const line = `${plural(targets, `more ${kind} target`)} ${gone}`;
  return { what: kind, size: targets, fields: { kind, targets }, line };
}

function durationText(durationMs: number): string {
  return formatDuration(Math.round(durationMs / 1000) * 1000);
}

function recoveryText({ what, refused, failing, recovered }: Group, lastedMs: number): string {
  const polls = recovered.size;
  const lasted = `after ${durationText(lastedMs)}`;
  if (failing.size > 0) {
    const rest = failing.size === 1 ? '1 still fails' : `${count(failing.size)} still fail`;
    return `${count(polls)} of ${plural(polls + failing.size, `${what} poll`)} succeed again, ${rest}`;
  }
  if (refused !== undefined)
    return `the key of ${refused} is accepted again: ${plural(polls, 'poll')} succeed ${lasted}`;
  return polls === 1
    ? `the ${what} poll succeeds again ${lasted}`
    : `all ${plural(polls, `${what} poll`)} succeed again ${lasted}`;
}
