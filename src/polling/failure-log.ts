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
  /** How many failed since it began. */
  total: number;
  /** How many of them had a line of their own. */
  told: number;
  /** How many no line has mentioned yet. */
  untold: number;
  /** How many had succeeded again at the last summary, and how many of them a line has mentioned. */
  recovered: number;
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

/** How many lines of their own a group has, and all groups together in a minute. */
const maxOwnLines = 5;
const maxOwnLinesAMinute = 20;
const gone = 'had values too old, which have left the page';
const summaryIntervalMs = 30_000;
/** If there are more summaries at a time, they become one. */
const maxSummaries = 3;

export class FailureLog {
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #groups = new Map<string, Group>();
  /** The group of each failing poll. */
  readonly #groupOf = new Map<string, Group>();
  /** By kind, how many targets became stale since the last summary. */
  readonly #aged = new Map<string, { told: number; untold: number }>();
  #recoveries: Recovery[] = [];
  #minuteBeganMs = Number.NEGATIVE_INFINITY;
  #ownLines = 0;
  #summarizedMs = Number.NEGATIVE_INFINITY;

  /** nowMs: a clock that never jumps. */
  constructor(log: Logger, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Only the first of failures in a row counts, or one that is about the key when the last was not. */
  failed(pollKey: string, about: FailureGroup, fields: object, line: string): void {
    const before = this.#groupOf.get(pollKey);
    const isRefused = about.refused !== undefined;
    if (before && isRefused === (before.refused !== undefined)) return;
    this.forget(pollKey);
    const group = this.#groups.get(about.key) ?? {
      ...about,
      beganMs: this.#nowMs(),
      failing: new Set<string>(),
      total: 0,
      told: 0,
      untold: 0,
      recovered: 0,
      recoveredTold: 0,
    };
    this.#groups.set(about.key, group);
    this.#groupOf.set(pollKey, group);
    group.failing.add(pollKey);
    group.total++;
    const isOwn = group.told < (isRefused ? 1 : maxOwnLines) && this.#mayWrite();
    if (isOwn) group.told++;
    else if (!isRefused || group.told === 0) group.untold++;
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  /** fields: only called if the poll had failed. */
  succeeded(pollKey: string, fields: () => object): void {
    const group = this.#groupOf.get(pollKey);
    if (!group) return;
    const isOwn = group.told === group.total && this.#mayWrite();
    this.#log[isOwn ? 'info' : 'debug'](fields(), 'polls succeed again; values are fresh');
    if (isOwn) this.forget(pollKey);
    else this.#leave(pollKey, group);
  }

  /** A poll is no longer wanted. */
  forget(pollKey: string): void {
    const group = this.#groupOf.get(pollKey);
    if (!group) return;
    group.total--;
    group.told = Math.min(group.told, group.total);
    group.untold = Math.min(group.untold, group.total);
    this.#leave(pollKey, group);
  }

  /** The values of a target became too old. */
  aged(kind: string, fields: object, line: string): void {
    const aged = this.#aged.get(kind) ?? { told: 0, untold: 0 };
    this.#aged.set(kind, aged);
    // Half of the lines are kept for failures, which say why values become stale.
    const isOwn = aged.told < maxOwnLines && this.#mayWrite(maxOwnLinesAMinute / 2);
    aged[isOwn ? 'told' : 'untold']++;
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  get sizes(): Readonly<Record<string, number>> {
    return { failureGroups: this.#groups.size, failing: this.#groupOf.size, aged: this.#aged.size };
  }

  /** Writes the summaries, if none were written in the past 30 seconds, or at once. */
  tell(atOnce = false): void {
    if (!atOnce && this.#nowMs() - this.#summarizedMs < summaryIntervalMs) return;
    const groups = [...this.#groups.values()].filter(({ untold }) => untold > 0);
    this.#write('warn', 'polls', groups.map(failureSummary), `failed: ${resultsOf(groups)}`);
    for (const group of groups) group.untold = 0;
    const aged = [...this.#aged].filter(([, { untold }]) => untold > 0);
    this.#write(
      'warn',
      'targets',
      aged.map(([kind, { untold }]) => agedSummary(kind, untold)),
      gone,
    );
    this.#aged.clear();
    for (const group of this.#groups.values()) this.#noteStalledRecovery(group);
    const lastedMs = Math.max(0, ...this.#recoveries.map((recovery) => recovery.lastedMs));
    const left = this.#groupOf.size === 0 ? 'none fails any more' : `${count(this.#groupOf.size)} still fail`;
    const recovered = `succeed again after up to ${durationText(lastedMs)}; ${left}`;
    this.#write('info', 'polls', this.#recoveries, recovered);
    this.#recoveries = [];
  }

  #leave(pollKey: string, group: Group): void {
    this.#groupOf.delete(pollKey);
    group.failing.delete(pollKey);
    if (group.failing.size > 0) return;
    this.#groups.delete(group.key);
    const { what, fields, total: size, told, untold, beganMs } = group;
    // If the log did not mention the failures, it does not mention their end.
    if (told === 0 && untold === size) return;
    const lastedMs = this.#nowMs() - beganMs;
    const line = recoveryText(group, lastedMs);
    if (group.refused !== undefined && this.#mayWrite()) {
      this.#log.info({ ...fields, polls: size }, line);
      return;
    }
    this.#recoveries.push({ what, size, fields: { ...fields, polls: size }, line, lastedMs });
  }

  /** Some succeed again, and others do not: reported once no more have followed since the last summary. */
  #noteStalledRecovery(group: Group): void {
    const { what, fields, total, failing, refused, recovered: before, recoveredTold } = group;
    const polls = total - failing.size;
    group.recovered = polls;
    if (polls !== before || polls <= recoveredTold || refused !== undefined) return;
    group.recoveredTold = polls;
    const lastedMs = this.#nowMs() - group.beganMs;
    const line = `${count(polls)} of ${plural(total, `${what} poll`)} succeed again, ${failing.size === 1 ? '1 still fails' : `${count(failing.size)} still fail`}`;
    this.#recoveries.push({ what, size: polls, fields: { ...fields, polls }, line, lastedMs });
  }

  #mayWrite(most = maxOwnLinesAMinute): boolean {
    const nowMs = this.#nowMs();
    if (nowMs - this.#minuteBeganMs >= 60_000) {
      this.#minuteBeganMs = nowMs;
      this.#ownLines = 0;
    }
    if (this.#ownLines >= most) return false;
    this.#ownLines++;
    return true;
  }

  /** Writes the summaries, or one for all if they are too many. */
  #write(
    level: 'warn' | 'info',
    unit: 'polls' | 'targets',
    summaries: readonly Summary[],
    end: string,
  ): void {
    if (summaries.length > 0) this.#summarizedMs = this.#nowMs();
    if (summaries.length <= maxSummaries) {
      for (const { fields, line } of summaries) this.#log[level](fields, line);
      return;
    }
    const size = summaries.reduce((sum, each) => sum + each.size, 0);
    const kinds = new Set(summaries.map((each) => each.what)).size;
    const more = level === 'warn' ? 'more ' : '';
    this.#log[level]({ [unit]: size }, `${count(size)} ${more}${unit} of ${plural(kinds, 'kind')} ${end}`);
  }
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

function agedSummary(kind: string, targets: number): Summary {
  const line = `${plural(targets, `more ${kind} target`)} ${gone}`;
  return { what: kind, size: targets, fields: { kind, targets }, line };
}

function durationText(durationMs: number): string {
  return formatDuration(Math.round(durationMs / 1000) * 1000);
}

function recoveryText({ what, refused, total }: Group, lastedMs: number): string {
  const lasted = `after ${durationText(lastedMs)}`;
  if (refused !== undefined)
    return `the key of ${refused} is accepted again: ${plural(total, 'poll')} succeed ${lasted}`;
  return total === 1
    ? `the ${what} poll succeeds again ${lasted}`
    : `all ${plural(total, `${what} poll`)} succeed again ${lasted}`;
}
