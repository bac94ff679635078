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
  /** The credential whose key was refused: one line says so, and one when it is accepted again. */
  readonly refused?: string | undefined;
}

interface Group extends FailureGroup {
  readonly beganMs: number;
  readonly failing: Set<string>;
  /** How many failed since it began. */
  total: number;
  /** How many of them have a line of their own. */
  told: number;
  /** How many no line has mentioned yet. */
  untold: number;
  hasToldPart: boolean;
}

interface Summary {
  /** What it is about, to count the kinds. */
  readonly what: string;
  readonly fields: object;
  readonly line: string;
}

interface Recovery extends Summary {
  readonly recovered: number;
  readonly stillFailing: number;
  readonly lastedMs: number;
}

/** How many lines of their own a group has, and all groups together in a minute. */
const maxOwnLines = 5;
const maxOwnLinesAMinute = 20;
/** How long the first summary waits for more, and how far apart summaries are. */
const gatherMs = 5000;
const summaryIntervalMs = 30_000;
/** If there are more summaries at a time, they become one. */
const maxSummaries = 3;

export class FailureLog {
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #groups = new Map<string, Group>();
  /** The group of each failing poll. */
  readonly #groupOf = new Map<string, Group>();
  /** By kind: targets that became stale, with a line of their own in this minute, and those not mentioned yet. */
  readonly #aged = new Map<string, { told: number; untold: number }>();
  #recoveries: Recovery[] = [];
  /** Since when there is something to summarize. */
  #untoldSinceMs: number | undefined;
  #lastSummaryMs = Number.NEGATIVE_INFINITY;
  #minuteBeganMs = Number.NEGATIVE_INFINITY;
  #ownLines = 0;

  /** nowMs: a clock that never jumps. */
  constructor(log: Logger, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** A poll failed. Only the first of failures in a row counts, unless its key is now refused or no longer is. */
  failed(pollKey: string, about: FailureGroup, fields: object, line: string): void {
    const known = this.#groupOf.get(pollKey);
    if (known) {
      if ((known.refused === undefined) === (about.refused === undefined)) return;
      this.forget(pollKey);
      if (known.refused !== undefined && known.failing.size === 0 && known.total > 0)
        this.#noteRecovery(known);
    }
    const group = this.#groups.get(about.key) ?? {
      ...about,
      beganMs: this.#nowMs(),
      failing: new Set<string>(),
      total: 0,
      told: 0,
      untold: 0,
      hasToldPart: false,
    };
    this.#groups.set(about.key, group);
    this.#groupOf.set(pollKey, group);
    group.failing.add(pollKey);
    group.total++;
    const isOwn = group.told < (group.refused === undefined ? maxOwnLines : 1) && this.#mayWrite();
    if (isOwn) {
      group.told++;
    } else if (group.refused === undefined || group.told === 0) {
      group.untold++;
      this.#wantSummary();
    }
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  /** A poll succeeded. fields: called only if it had failed before. */
  succeeded(pollKey: string, fields: () => object): void {
    const group = this.#leave(pollKey);
    if (!group) return;
    const isOwn = group.told === group.total && this.#mayWrite();
    this.#log[isOwn ? 'info' : 'debug'](fields(), 'polls succeed again; values are fresh');
    if (isOwn) {
      group.told--;
      group.total--;
    } else if (group.told < group.total || group.failing.size === 0) this.#noteRecovery(group);
  }

  /** A poll is no longer wanted. */
  forget(pollKey: string): void {
    const group = this.#leave(pollKey);
    if (!group) return;
    group.total--;
    group.told = Math.min(group.told, group.total);
    group.untold = Math.min(group.untold, group.total);
  }

  /** The values of a target became too old. */
  aged(kind: string, fields: object, line: string): void {
    const aged = this.#aged.get(kind) ?? { told: 0, untold: 0 };
    this.#aged.set(kind, aged);
    this.#beginMinute();
    const isOwn = aged.told < maxOwnLines && this.#mayWrite();
    if (isOwn) {
      aged.told++;
    } else {
      aged.untold++;
      this.#wantSummary();
    }
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { failureGroups: this.#groups.size, failing: this.#groupOf.size, aged: this.#aged.size };
  }

  /** Writes the summaries if they are due, or at once. */
  tell(atOnce = false): void {
    if (this.#untoldSinceMs === undefined) return;
    const nowMs = this.#nowMs();
    const dueMs = Math.max(this.#untoldSinceMs + gatherMs, this.#lastSummaryMs + summaryIntervalMs);
    if (nowMs < dueMs && !atOnce) return;
    this.#untoldSinceMs = undefined;
    this.#lastSummaryMs = nowMs;
    this.#tellFailures();
    this.#tellAged();
    this.#tellRecoveries();
  }

  #leave(pollKey: string): Group | undefined {
    const group = this.#groupOf.get(pollKey);
    this.#groupOf.delete(pollKey);
    group?.failing.delete(pollKey);
    if (group?.failing.size === 0) this.#groups.delete(group.key);
    return group;
  }

  #wantSummary(): void {
    this.#untoldSinceMs ??= this.#nowMs();
  }

  #beginMinute(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#minuteBeganMs < 60_000) return;
    this.#minuteBeganMs = nowMs;
    this.#ownLines = 0;
    for (const aged of this.#aged.values()) aged.told = 0;
  }

  #mayWrite(): boolean {
    this.#beginMinute();
    if (this.#ownLines >= maxOwnLinesAMinute) return false;
    this.#ownLines++;
    return true;
  }

  /** Notes when a group that shares summaries is over, and once before that when most of it is. */
  #noteRecovery(group: Group): void {
    const { what, fields, refused, total, failing, beganMs } = group;
    const isOver = failing.size === 0;
    if (!isOver && (group.hasToldPart || failing.size * 2 > total || refused !== undefined)) return;
    // If nothing was said of the failures, nothing is said of their end.
    if (group.told === 0 && group.untold === total) return;
    group.hasToldPart = true;
    const about = { recovered: total - failing.size, stillFailing: failing.size };
    const lastedMs = this.#nowMs() - beganMs;
    const line = recoveryText(what, refused, about.recovered, about.stillFailing, lastedMs);
    this.#recoveries.push({ what, fields: { ...fields, polls: about.recovered }, line, lastedMs, ...about });
    this.#wantSummary();
  }

  #tellFailures(): void {
    const groups = [...this.#groups.values()].filter(({ untold }) => untold > 0);
    const lines = groups.map(({ fields, what, result, message, untold: polls }) => ({
      what,
      fields: { ...fields, result, reason: message, polls },
      line: `${plural(polls, `more ${what} poll`)} failed: ${message} (${result})`,
    }));
    this.#write('warn', lines, (kinds) => {
      const polls = sum(groups.map(({ untold }) => untold));
      const results = [...new Set(groups.map(({ result }) => result))].map((result) => {
        const same = groups.filter((group) => group.result === result);
        return `${count(sum(same.map(({ untold }) => untold)))} ${result}`;
      });
      return [{ polls }, `${plural(polls, 'more poll')} of ${kinds} failed: ${results.join(', ')}`];
    });
    for (const group of groups) group.untold = 0;
  }

  #tellAged(): void {
    const aged = [...this.#aged].filter(([, { untold }]) => untold > 0);
    const gone = 'had values too old, which have left the page';
    const lines = aged.map(([kind, { untold: targets }]) => ({
      what: kind,
      fields: { kind, targets },
      line: `${plural(targets, `more ${kind} target`)} ${gone}`,
    }));
    this.#write('warn', lines, (kinds) => {
      const targets = sum(aged.map(([, { untold }]) => untold));
      return [{ targets }, `${plural(targets, 'more target')} of ${kinds} ${gone}`];
    });
    for (const [, each] of aged) each.untold = 0;
  }

  #tellRecoveries(): void {
    const recoveries = this.#recoveries;
    this.#recoveries = [];
    this.#write('info', recoveries, (kinds) => {
      const polls = sum(recoveries.map(({ recovered }) => recovered));
      const stillFailing = sum(recoveries.map((one) => one.stillFailing));
      const lasted = durationText(Math.max(...recoveries.map(({ lastedMs }) => lastedMs)));
      const rest = stillFailing > 0 ? `; ${count(stillFailing)} still fail` : '';
      return [{ polls }, `${plural(polls, 'poll')} of ${kinds} succeed again after ${lasted}${rest}`];
    });
  }

  /** A line each, or if they are too many, one for all. */
  #write(
    level: 'warn' | 'info',
    lines: readonly Summary[],
    ofAll: (kinds: string) => [fields: object, line: string],
  ): void {
    const kinds = plural(new Set(lines.map(({ what }) => what)).size, 'kind');
    if (lines.length > maxSummaries) this.#log[level](...ofAll(kinds));
    else for (const { fields, line } of lines) this.#log[level](fields, line);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

function durationText(durationMs: number): string {
  return formatDuration(Math.round(durationMs / 1000) * 1000);
}

function recoveryText(
  what: string,
  refused: string | undefined,
  recovered: number,
  stillFailing: number,
  lastedMs: number,
): string {
  const lasted = `after ${durationText(lastedMs)}`;
  if (refused !== undefined)
    return `the key of ${refused} is accepted again: ${plural(recovered, 'poll')} succeed ${lasted}`;
  if (stillFailing > 0)
    return `${count(recovered)} of ${plural(recovered + stillFailing, `${what} poll`)} succeed again ${lasted}; ${count(stillFailing)} still fail`;
  return recovered === 1
    ? `the ${what} poll succeeds again ${lasted}`
    : `all ${plural(recovered, `${what} poll`)} succeed again ${lasted}`;
}
