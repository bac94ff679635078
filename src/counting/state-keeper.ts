/**
 * Writes the state every five minutes, soon after a series has begun, and at the end; but not what another process writes. Knows nothing
 * of what it writes. What goes wrong is its `problem`, and ends nothing.
 */
import { randomUUID } from 'node:crypto';
import { readReplaced, writeState } from './state-file.ts';
import { type StateHead, stateVersion, type TargetState } from './state-form.ts';

const intervalMs = 300_000;

/** What begins together is one write. */
const soonMs = 1000;
/** Between two writes soon after a series has begun: also so that writing takes a twentieth of the time at most. */
const leastPauseMs = 10_000;
const pauseFactor = 20;
/** A write that takes longer is a problem. */
const patienceMs = 30_000;

/** Another process that has written nothing for so long has ended: it writes twice in that time. */
const quietMs = 600_000;
/** A timer may come a little early. */
const earlyMs = 1000;

export interface KeeperOptions {
  readonly path: string;
  /** The writer of the state that was read at the start; undefined if there was none. */
  readonly readWriter: string | undefined;
  /** What to write, one target after another. */
  readonly states: () => Iterable<TargetState>;
  /** Unix time. */
  readonly now: () => number;
  /** What writes soon after a series has begun may take in a day: half of it at once, the rest in the course of the day. Default: a gigabyte. */
  readonly earlyBytesADay?: number | undefined;
  /** Every write goes through it. Default: nothing happens to it. */
  readonly during?: ((write: Promise<void>) => Promise<void>) | undefined;
}

/** Why the state is not written. */
export interface StateProblem {
  readonly message: string;
  /** When the first write failed. Unix time. */
  readonly sinceMs: number;
  /** Who else has written the file; undefined where that is not why. */
  readonly writtenBy: StateHead['written_by'] | undefined;
}

/** How the writes go. Unix times. */
export interface StateWrites {
  /** When the last one succeeded; undefined before the first. */
  readonly lastWriteMs: number | undefined;
  readonly failingSinceMs: number | undefined;
}

export class StateKeeper {
  readonly #options: KeeperOptions;
  /** By which all that read the file know what this process wrote. */
  readonly #writer = randomUUID();
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  /** The write under way. */
  #writing: Promise<void> | undefined;
  #isWantedAgain = false;
  #mayWriteSoonAtMs = Number.NEGATIVE_INFINITY;
  readonly #early: Allowance;
  /** What another process wrote: the line it begins with, and since when that has been the same, as `performance.now()` counts. */
  #foreign: { readonly line: string; readonly sinceMs: number } | undefined;
  #hasEnded = false;
  #lastWriteMs: number | undefined;
  #lastBytes = 0;
  problem: StateProblem | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#early = new Allowance(options.earlyBytesADay ?? 1e9);
  }

  get writes(): StateWrites {
    return { lastWriteMs: this.#lastWriteMs, failingSinceMs: this.problem?.sinceMs };
  }

  /** Writes from now on: at once, since another process that writes the same file then knows. */
  begin(): void {
    this.#timer = setInterval(() => void this.#write(), intervalMs).unref();
    void this.#write();
  }

  /** Something has begun that is not in the file. */
  writeSoon(): void {
    if (this.#timer === undefined || this.#soon) return;
    const waitMs = Math.max(soonMs, this.#mayWriteSoonAtMs - performance.now());
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      if (!this.#early.take(this.#lastBytes)) return;
      const beganMs = performance.now();
      this.#mayWriteSoonAtMs = beganMs + leastPauseMs;
      void this.#write().then(() => {
        const endedMs = performance.now();
        const restedAtMs = endedMs + pauseFactor * (endedMs - beganMs);
        this.#mayWriteSoonAtMs = Math.max(this.#mayWriteSoonAtMs, restedAtMs);
      });
    }, waitMs).unref();
  }

  /** Resolves when no write is under way. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Writes for the last time. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.settled();
    if (this.#timer !== undefined) await this.#write();
    this.#hasEnded = true;
  }

  /** One write at a time; another is wanted then, if this is called meanwhile. Never rejects. */
  #write(): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    if (this.#writing) {
      this.#isWantedAgain = true;
      return this.#writing;
    }
    this.#isWantedAgain = false;
    const { during = (write) => write } = this.#options;
    this.#writing = during(this.#writeNow()).finally(() => {
      this.#writing = undefined;
      if (this.#isWantedAgain) this.writeSoon();
    });
    return this.#writing;
  }

  async #writeNow(): Promise<void> {
    const { path, states, now } = this.#options;
    const impatience = setTimeout(() => {
      this.#fail(`the state file ${path} cannot be written: it takes longer than ${patienceMs / 1000} s`);
    }, patienceMs).unref();
    try {
      if (!(await this.#mayReplace())) return;
      const head: StateHead = {
        version: stateVersion,
        writer: this.#writer,
        written_by: 'exporter',
        written_at: now() / 1000,
      };
      this.#lastBytes = await writeState(path, head, states());
      this.problem = undefined;
      this.#lastWriteMs = now();
    } catch (error) {
      this.#fail((error as Error).message);
    } finally {
      clearTimeout(impatience);
    }
  }

  /**
   * Whether the file is this process' own, or that of one that has ended. A history that came after the start is never replaced: the
   * next start goes on from it.
   */
  async #mayReplace(): Promise<boolean> {
    const { path, readWriter } = this.#options;
    const replaced = await readReplaced(path);
    const { writer, written_by } = replaced?.head ?? {};
    const isFirst = this.#lastWriteMs === undefined;
    if (!replaced || writer === this.#writer || (isFirst && writer !== undefined && writer === readWriter)) {
      this.#foreign = undefined;
      return true;
    }
    if (written_by === 'backfill') {
      this.#fail(
        `a history was written to the state file ${path} after this process had started. Restart it, so that it goes on from the history; it writes nothing until then`,
        written_by,
      );
      return false;
    }
    const nowMs = performance.now();
    if (this.#foreign?.line !== replaced.line) this.#foreign = { line: replaced.line, sinceMs: nowMs };
    if (nowMs - this.#foreign.sinceMs >= quietMs - earlyMs) {
      this.#foreign = undefined;
      return true;
    }
    this.#fail(
      `another process writes the state file ${path}, so this one does not, until the other has written nothing for ten minutes. Give each exporter a file of its own`,
      'exporter',
    );
    return false;
  }

  #fail(message: string, writtenBy?: StateProblem['writtenBy']): void {
    const sinceMs = this.problem?.sinceMs ?? this.#options.now();
    this.problem = { message, sinceMs, writtenBy };
  }
}

/** At most so much in a day: half of it at once, and the rest as it comes back. */
class Allowance {
  readonly #most: number;
  readonly #perMs: number;
  #left: number;
  #asOfMs = performance.now();

  constructor(aDay: number) {
    this.#most = aDay / 2;
    this.#perMs = aDay / 2 / 86_400_000;
    this.#left = this.#most;
  }

  /** Takes so much, if that is there. */
  take(much: number): boolean {
    const nowMs = performance.now();
    this.#left = Math.min(this.#most, this.#left + (nowMs - this.#asOfMs) * this.#perMs);
    this.#asOfMs = nowMs;
    if (much > this.#left) return false;
    this.#left -= much;
    return true;
  }
}
