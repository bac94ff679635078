/**
 * A task is one polled thing: a target or a listing. It has its spec, the record of its polls and its place in line. What it polls
 * and when is decided by the engine.
 */

import { offsetOf } from '../hash.ts';
import { enoughMovedRuns, type SnapshotEntry } from './listed-things.ts';
import { neverPolled, type PollRecord } from './record.ts';
import { type ListingSpec, operationOf, type Spec } from './spec.ts';

/** What the polls of any task have. */
export class PollTask<Of extends Spec = Spec> {
  spec: Of;
  record: PollRecord = neverPolled;
  /** Since when its last poll was due, by the machine's uptime. */
  dueSinceMs = 0;
  /** When it last was to tell whether its API is down, by the machine's uptime. */
  probedMs: number | undefined;
  /** When it last was to tell whether its account can be read, by the machine's uptime. */
  accountProbedMs: number | undefined;
  /** Since when the API answers that the plan lacks it. Unix time; undefined where the last answer gave something. */
  lackingSinceMs: number | undefined;
  /** The poll that is in line or under way. */
  #poll: AbortController | undefined;

  constructor(spec: Of) {
    this.spec = spec;
  }

  /** Where in its interval it is polled: from 0 to 1. Not kept: most targets have no polls of their own. */
  get offset(): number {
    return offsetOf(this.spec.key);
  }

  get operation(): string {
    return operationOf(this.spec);
  }

  /** Whether a poll is in line or under way. */
  get isBusy(): boolean {
    return this.#poll !== undefined;
  }

  /** A poll is in line from now on. Once the signal is aborted, nothing of it goes on and nothing of it counts. */
  begin(): AbortSignal {
    this.#poll = new AbortController();
    return this.#poll.signal;
  }

  /** The poll has ended, and counts. */
  end(): void {
    this.#poll = undefined;
  }

  /** What is in line or under way is no longer what is to be read. */
  abort(): void {
    this.#poll?.abort(new Error('the poll is no longer wanted'));
    this.#poll = undefined;
  }
}

/** What a listing had. */
export interface Snapshot {
  readonly entries: readonly SnapshotEntry[];
  /** The id of the key that it was read with. */
  readonly keyId: string;
  /** The last two complete runs, the older one first. */
  readonly runs?: readonly CompleteRun[] | undefined;
}

/** What a run of a listing had that did not change meanwhile. */
export interface CompleteRun {
  /** By the machine's uptime. */
  readonly beganMs: number;
  readonly entries: readonly SnapshotEntry[];
}

export class ListingTask extends PollTask<ListingSpec> {
  /** What the last run had that was taken over; undefined before the first. */
  snapshot: Snapshot | undefined;
  /** The keys of the targets that still get their reading from the run under way; undefined until that has everything. */
  delivering: Set<string> | undefined;
  /** Runs in a row in which the listing changed while it was read. */
  movedRuns = 0;
  /** How many of these runs in a row were without a thing, by its ids; undefined after a whole run. */
  missed: ReadonlyMap<string, number> | undefined;

  /** Whether it is known what the listing has: from a whole run, or from enough others in a row. */
  get isComplete(): boolean {
    return (
      this.snapshot !== undefined && (this.snapshot.runs !== undefined || this.movedRuns >= enoughMovedRuns)
    );
  }
}
