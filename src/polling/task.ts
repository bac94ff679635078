/**
 * A task is one polled thing: a target or a listing. It has its spec, the record of its polls and its place in line. What it polls
 * and when is decided by the engine.
 */

import { offsetOf } from '../hash.ts';
import type { Discovered } from './discovered.ts';
import { neverPolled, type PollRecord } from './record.ts';
import { type ListingSpec, operationOf, type Spec } from './spec.ts';

/** One list for all tasks: rarely somebody waits for a poll. */
const nobody: readonly (() => void)[] = [];

/** What the polls of any task have. */
export class PollTask<Of extends Spec = Spec> {
  spec: Of;
  record: PollRecord = neverPolled;
  /** idle: not in line; it may be in the timetable. */
  phase: 'idle' | 'queued' | 'running' | 'stopped' = 'idle';
  /** Where in its interval it is polled: from 0 to 1. */
  readonly offset: number;
  /** When it last became due, by the machine's uptime. */
  dueAtMs = 0;
  /** When it last was to tell whether its API is down, by the machine's uptime. */
  probedMs: number | undefined;
  /** When it may be tried again while its API is down, by the machine's uptime; undefined until it is in line for that. */
  retryAtMs: number | undefined;
  /** Ends the wait for its turn. */
  wait: AbortController | undefined;
  /** Resolves when the poll under way has ended. */
  running: Promise<void> | undefined;
  /** Whether to poll again as soon as the poll under way has ended. */
  isWantedAgain = false;
  /** Called when the next poll that begins has ended. */
  waiters = nobody;
  /** Since when the API answers that the plan lacks it. Unix time; undefined where the last answer gave something. */
  lackingSinceMs: number | undefined;
  /** How often what is polled became another: a poll that began before no longer counts. */
  #changes = 0;

  constructor(spec: Of) {
    this.spec = spec;
    this.offset = offsetOf(spec.key);
  }

  get operation(): string {
    return operationOf(this.spec);
  }

  /** What is begun now no longer counts. */
  outdate(): void {
    this.#changes++;
  }

  /** Tells whether what is begun now still counts: not after a stop, nor after an update that must be read again. */
  begin(): () => boolean {
    const changes = this.#changes;
    return () => this.phase !== 'stopped' && this.#changes === changes;
  }

  stop(): void {
    this.phase = 'stopped';
    this.wait?.abort();
    this.releaseWaiters();
  }

  releaseWaiters(): void {
    const { waiters } = this;
    this.waiters = nobody;
    for (const resolve of waiters) resolve();
  }
}

/** What a listing had. */
export interface Snapshot {
  readonly entries: readonly Discovered[];
  /** The id of the key that it was read with. */
  readonly keyId: string;
  /** The last two complete runs, the older one first. */
  readonly runs?: readonly CompleteRun[] | undefined;
}

/** What a run of a listing had that did not change meanwhile. */
export interface CompleteRun {
  /** Unix time. */
  readonly beganMs: number;
  readonly entries: readonly Discovered[];
}

export class ListingTask extends PollTask<ListingSpec> {
  /** What the last run had that was taken over; undefined before the first. */
  snapshot: Snapshot | undefined;
  /** Whether the run under way has everything: it is about to be delivered. */
  isDelivering = false;
  /** Runs in a row in which the listing changed while it was read. */
  movedRuns = 0;
  /** How many of these runs in a row lacked a thing, by its ids. */
  lacked: ReadonlyMap<string, number> = new Map();
}
