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
  /** How many of them had a line of their own. */
  told: number;
  /** How many no line has mentioned yet. */
  untold: number;
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
/** If there are more summaries at a time, they become one. */
const maxSummaries = 3;

export class FailureLog {
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #groups = new Map<string, Group>();
  /** The group of each failing poll. */
  readonly #groupOf = new Map<string, Group>();
  /** By kind, how many targets became stale since the last summary, with and without a line of their own. */
  readonly #aged = new Map<string, { told: number; untold: number }>();
  #recoveries: Recovery[] = [];
  #minuteBeganMs = Number.NEGATIVE_INFINITY;
  #ownLines = 0;

  /** nowMs: a clock that never jumps. */
  constructor(log: Logger, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Only the first of failures in a row counts, unless the key of the poll is now refused, or no longer is. */
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
    const isOwn = aged.told < maxOwnLines && this.#mayWrite();
    aged[isOwn ? 'told' : 'untold']++;
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  get sizes(): Readonly<Record<string, number>> {
    return { failureGroups: this.#groups.size, failing: this.#groupOf.size, aged: this.#aged.size };
  }

  tell(): void {
    this.#tellFailures();
    this.#tellAged();
    this.#tellRecoveries();
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
    this.#recoveries.push({ what, size, fields: { ...fields, polls: size }, line, lastedMs });
  }

  #mayWrite(): boolean {
    const nowMs = this.#nowMs();
    if (nowMs - this.#minuteBeganMs >= 60_000) {
      this.#minuteBeganMs = nowMs;
      this.#ownLines = 0;
    }
    if (this.#ownLines >= maxOwnLinesAMinute) return false;
    this.#ownLines++;
    return true;
  }

  #tellFailures(): void {
    const groups = [...this.#groups.values()].filter(({ untold }) => untold > 0);
    const lines = groups.map(({ fields, what, result, message, untold: polls }) => ({
      what,
      size: polls,
      fields: { ...fields, result, reason: message, polls },
      line: `${plural(polls, `more ${what} poll`)} failed: ${message} (${result})`,
    }));
    const byResult = new Map<string, number>();
    for (const group of groups) {
      byResult.set(group.result, (byResult.get(group.result) ?? 0) + group.untold);
      group.untold = 0;
    }
    const results = Array.from(byResult, ([result, polls]) => `${count(polls)} ${result}`);
    this.#write('warn', lines, (polls, kinds) => [
      { polls },
      `${plural(polls, 'more poll')} of ${kinds} failed: ${results.join(', ')}`,
    ]);
  }

  #tellAged(): void {
    const aged = [...this.#aged].filter(([, { untold }]) => untold > 0);
    this.#aged.clear();
    const gone = 'had values too old, which have left the page';
    const lines = aged.map(([kind, { untold: targets }]) => ({
      what: kind,
      size: targets,
      fields: { kind, targets },
      line: `${plural(targets, `more ${kind} target`)} ${gone}`,
    }));
    this.#write('warn', lines, (targets, kinds) => [
      { targets },
      `${plural(targets, 'more target')} of ${kinds} ${gone}`,
    ]);
  }

  #tellRecoveries(): void {
    const recoveries = this.#recoveries;
    this.#recoveries = [];
    this.#write('info', recoveries, (polls, kinds) => {
      const lasted = durationText(Math.max(...recoveries.map(({ lastedMs }) => lastedMs)));
      return [{ polls }, `${plural(polls, 'poll')} of ${kinds} succeed again after ${lasted}`];
    });
  }

  /** Writes the summaries, or one for all if they are too many. */
  #write(
    level: 'warn' | 'info',
    lines: readonly Summary[],
    ofAll: (size: number, kinds: string) => [fields: object, line: string],
  ): void {
    if (lines.length <= maxSummaries) {
      for (const { fields, line } of lines) this.#log[level](fields, line);
      return;
    }
    const size = lines.reduce((sum, each) => sum + each.size, 0);
    const kinds = new Set(lines.map(({ what }) => what)).size;
    this.#log[level](...ofAll(size, plural(kinds, 'kind')));
  }
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
