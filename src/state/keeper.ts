/**
 * Writes the state every five minutes, soon after a series has begun, and at the end. Knows nothing of what it writes. What goes wrong
 * is its `problem`, and ends nothing.
 */
import { randomUUID } from 'node:crypto';
import { readHead, writeState } from './file.ts';
import { type StateHead, stateVersion, type TargetState } from './form.ts';

const intervalMs = 300_000;

/** Between two writes, as long as series begin: also so that writing takes a twentieth of the time at most. */
const leastPauseMs = 2000;
const pauseFactor = 20;

/** A write that takes longer is a problem. */
const patienceMs = 30_000;

export interface KeeperOptions {
  readonly path: string;
  /** The writer of the state that was read at the start; undefined if there was none. */
  readonly readWriter: string | undefined;
  /** What to write, one target after another. */
  readonly states: () => Iterable<TargetState>;
  /** Unix time. */
  readonly now: () => number;
  /** Every write goes through it. Default: nothing happens to it. */
  readonly during?: ((write: Promise<void>) => Promise<void>) | undefined;
}

/** Why the state is not written. */
export interface StateProblem {
  readonly message: string;
  /** When the first write failed so. Unix time. */
  readonly sinceMs: number;
  /** Whether another process writes the same file: then this one does not write any more. */
  readonly isForeign: boolean;
}

export class StateKeeper {
  readonly #options: KeeperOptions;
  /** This process, to all that read the file. */
  readonly #writer = randomUUID();
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  /** The write under way. */
  #writing: Promise<void> | undefined;
  #isWantedAgain = false;
  #mayWriteAtMs = Number.NEGATIVE_INFINITY;
  #hasEnded = false;
  /** When the last write succeeded. Unix time. */
  lastWriteMs: number | undefined;
  problem: StateProblem | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Writes from now on: at once, since another process that writes the same file then knows. */
  begin(): void {
    this.#timer = setInterval(() => void this.#write(), intervalMs).unref();
    void this.#write();
  }

  /** Something has begun that the file lacks. */
  writeSoon(): void {
    if (this.#timer === undefined || this.#hasEnded || this.#soon) return;
    const waitMs = Math.max(0, this.#mayWriteAtMs - performance.now());
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      void this.#write();
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
    if (this.#hasEnded || this.problem?.isForeign) return Promise.resolve();
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
    const beganAt = process.hrtime.bigint();
    const impatience = setTimeout(() => {
      this.#fail(`the state file ${path} cannot be written: it takes longer than ${patienceMs / 1000} s`);
    }, patienceMs).unref();
    try {
      if (await this.#isForeign()) return;
      const head: StateHead = {
        version: stateVersion,
        writer: this.#writer,
        written_by: 'exporter',
        written_at: now() / 1000,
      };
      await writeState(path, head, states());
      this.problem = undefined;
      this.lastWriteMs = now();
    } catch (error) {
      this.#fail((error as Error).message);
    } finally {
      clearTimeout(impatience);
      const tookMs = Number(process.hrtime.bigint() - beganAt) / 1e6;
      this.#mayWriteAtMs = performance.now() + Math.max(leastPauseMs, pauseFactor * tookMs);
    }
  }

  async #isForeign(): Promise<boolean> {
    const { path, readWriter } = this.#options;
    const head = await readHead(path);
    const isFirst = this.lastWriteMs === undefined;
    if (head === undefined || head.writer === this.#writer || (isFirst && head.writer === readWriter))
      return false;
    this.#fail(
      `another process writes the state file ${path}, so this one does not write it any more: give each exporter a file of its own`,
      true,
    );
    return true;
  }

  #fail(message: string, isForeign = false): void {
    const sinceMs = this.problem?.sinceMs ?? this.#options.now();
    this.problem = { message, sinceMs, isForeign };
  }
}
