/**
 * What the log says of failing polls and stale values. The first few of a kind have a line each, the rest share a summary, and
 * so does their recovery. Every single one is logged at debug.
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
  /** The credential whose key was refused: one line says so, and one says when it is accepted again. */
  readonly refused?: string | undefined;
}

interface Group extends FailureGroup {
  readonly beganMs: number;
  readonly failing: Set<string>;
  /** All that have failed since it began. */
  total: number;
  /** Those of them with a line of their own. */
  told: number;
  /** Those that no line has mentioned yet. */
  untold: number;
  hasToldPart: boolean;
}

/** So many of a group have their own line, */
const maxOwnLines = 5;
/** and so many of all groups in a minute. */
const maxOwnLinesAMinute = 20;
/** How long the first summary waits for more to tell of, and how far apart summaries are. */
const gatherMs = 5000;
const summaryIntervalMs = 30_000;
/** More lines than this at a time become one. */
const maxLines = 3;

/** When a summary may be written next. */
class Pace {
  #sinceMs: number | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** There is something to tell. */
  want(nowMs: number): void {
    this.#sinceMs ??= nowMs;
  }

  get isWanted(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** Whether it is time; then it counts as told. */
  take(nowMs: number, atOnce: boolean): boolean {
    if (this.#sinceMs === undefined) return false;
    if (!atOnce && nowMs < Math.max(this.#sinceMs + gatherMs, this.#lastMs + summaryIntervalMs)) return false;
    this.#sinceMs = undefined;
    this.#lastMs = nowMs;
    return true;
  }
}

function kindsOf(lines: readonly { what: string }[]): string {
  return plural(new Set(lines.map(({ what }) => what)).size, 'kind');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

interface Recovery {
  readonly what: string;
  readonly fields: object;
  readonly refused: string | undefined;
  readonly recovered: number;
  readonly stillFailing: number;
  readonly lastedMs: number;
}

export class FailureLog {
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #groups = new Map<string, Group>();
  /** The group of each poll that is failing. */
  readonly #groupOf = new Map<string, Group>();
  /** By kind: targets that became stale this minute, with and without a line of their own. */
  readonly #aged = new Map<string, { told: number; untold: number }>();
  #recoveries: Recovery[] = [];
  readonly #failurePace = new Pace();
  readonly #recoveryPace = new Pace();
  readonly #agedPace = new Pace();
  #minuteBeganMs = Number.NEGATIVE_INFINITY;
  #ownLines = 0;

  /** nowMs: a clock that never jumps. */
  constructor(log: Logger, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** A poll has failed; of failures in a row only the first counts, unless it is now the key that is refused, or no longer. */
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
      this.#failurePace.want(this.#nowMs());
    }
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  /** A poll has succeeded. fields: called only if it had failed before. */
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

  /** A poll is wanted no more. */
  forget(pollKey: string): void {
    const group = this.#leave(pollKey);
    if (!group) return;
    group.total--;
    group.told = Math.min(group.told, group.total);
    group.untold = Math.min(group.untold, group.total);
  }

  /** Whether a poll fails, or a summary is still to come. */
  get isBusy(): boolean {
    const paces = [this.#failurePace, this.#agedPace, this.#recoveryPace];
    return this.#groupOf.size > 0 || paces.some(({ isWanted }) => isWanted);
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { failureGroups: this.#groups.size, failing: this.#groupOf.size, aged: this.#aged.size };
  }

  /** The values of a target have become too old. */
  aged(kind: string, fields: object, line: string): void {
    const aged = this.#aged.get(kind) ?? { told: 0, untold: 0 };
    this.#aged.set(kind, aged);
    this.#beginMinute();
    const isOwn = aged.told < maxOwnLines && this.#mayWrite();
    if (isOwn) {
      aged.told++;
    } else {
      aged.untold++;
      this.#agedPace.want(this.#nowMs());
    }
    this.#log[isOwn ? 'warn' : 'debug'](fields, line);
  }

  /** Writes the summaries that are due; atOnce: all that there is to tell. */
  tell(atOnce = false): void {
    const nowMs = this.#nowMs();
    if (this.#failurePace.take(nowMs, atOnce)) this.#tellFailures();
    if (this.#agedPace.take(nowMs, atOnce)) this.#tellAged();
    if (this.#recoveryPace.take(nowMs, atOnce)) this.#tellRecoveries();
  }

  #leave(pollKey: string): Group | undefined {
    const group = this.#groupOf.get(pollKey);
    this.#groupOf.delete(pollKey);
    group?.failing.delete(pollKey);
    if (group?.failing.size === 0) this.#groups.delete(group.key);
    return group;
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

  /** For a group that shares summaries: notes when it is over, and once before that when most of it is. */
  #noteRecovery(group: Group): void {
    const { what, fields, refused, total, failing, beganMs } = group;
    const isOver = failing.size === 0;
    if (!isOver && (group.hasToldPart || failing.size * 2 > total || refused !== undefined)) return;
    const nowMs = this.#nowMs();
    // Nothing was said of these failures, so nothing is said of their end.
    if (group.told === 0 && group.untold === total) return;
    group.hasToldPart = true;
    this.#recoveries.push({
      what,
      fields,
      refused,
      recovered: total - failing.size,
      stillFailing: failing.size,
      lastedMs: nowMs - beganMs,
    });
    this.#recoveryPace.want(nowMs);
  }

  #tellFailures(): void {
    const groups = [...this.#groups.values()].filter(({ untold }) => untold > 0);
    const untold = sum(groups.map((group) => group.untold));
    if (groups.length > maxLines) {
      const results = [...new Set(groups.map(({ result }) => result))].map((result) => {
        const polls = sum(groups.map((group) => (group.result === result ? group.untold : 0)));
        return `${count(polls)} ${result}`;
      });
      this.#log.warn(
        { polls: untold },
        `${plural(untold, 'more poll')} of ${kindsOf(groups)} failed: ${results.join(', ')}`,
      );
    } else {
      for (const { fields, what, message, result, untold: polls } of groups)
        this.#log.warn(
          { ...fields, result, reason: message, polls },
          `${plural(polls, `more ${what} poll`)} failed: ${message} (${result})`,
        );
    }
    for (const group of groups) group.untold = 0;
  }

  #tellAged(): void {
    const aged = [...this.#aged].flatMap(([what, { untold }]) => (untold > 0 ? [{ what, untold }] : []));
    const total = sum(aged.map(({ untold }) => untold));
    const gone = 'values too old, which have left the page';
    if (aged.length > maxLines)
      this.#log.warn({ targets: total }, `${plural(total, 'more target')} of ${kindsOf(aged)} had ${gone}`);
    else
      for (const { what: kind, untold } of aged)
        this.#log.warn({ kind, targets: untold }, `${plural(untold, `more ${kind} target`)} had ${gone}`);
    for (const each of this.#aged.values()) each.untold = 0;
  }

  #tellRecoveries(): void {
    const recoveries = this.#recoveries;
    this.#recoveries = [];
    if (recoveries.length > maxLines) {
      const polls = sum(recoveries.map(({ recovered }) => recovered));
      const stillFailing = sum(recoveries.map((one) => one.stillFailing));
      const lasted = durationText(Math.max(...recoveries.map(({ lastedMs }) => lastedMs)));
      const rest = stillFailing > 0 ? `; ${count(stillFailing)} still fail` : '';
      const line = `${plural(polls, 'poll')} of ${kindsOf(recoveries)} succeed again after ${lasted}${rest}`;
      this.#log.info({ polls }, line);
      return;
    }
    for (const one of recoveries) this.#log.info({ ...one.fields, polls: one.recovered }, recoveryText(one));
  }
}

function durationText(durationMs: number): string {
  return formatDuration(Math.round(durationMs / 1000) * 1000);
}

function recoveryText({ what, refused, recovered, stillFailing, lastedMs }: Recovery): string {
  const lasted = `after ${durationText(lastedMs)}`;
  if (refused !== undefined)
    return `the key of ${refused} is accepted again: ${plural(recovered, 'poll')} succeed ${lasted}`;
  if (stillFailing > 0)
    return `${count(recovered)} of ${plural(recovered + stillFailing, `${what} poll`)} succeed again ${lasted}; ${count(stillFailing)} still fail`;
  return recovered === 1
    ? `the ${what} poll succeeds again ${lasted}`
    : `all ${plural(recovered, `${what} poll`)} succeed again ${lasted}`;
}
