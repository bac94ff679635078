/** What the log says of causes: the difference between two lists of them. */
import type { Logger } from 'pino';
import { durationInWords } from '../text.ts';
import type { Cause } from './causes.ts';

interface Known {
  cause: Cause;
  readonly sinceMs: number;
  /** How many targets and listings the last line named. */
  loggedSize: number;
  /** The most that it affected. */
  largest: Cause;
}

function sizeOf({ targets, listings }: Cause): number {
  return targets.length + listings.length;
}

export class CauseLog {
  readonly #log: Logger;
  readonly #known = new Map<string, Known>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** A cause that is new, grew tenfold or has another meaning is a warning; one that ended is an info line. nowMs: Unix time. */
  write(causes: readonly Cause[], nowMs: number): void {
    const ended = new Map(this.#known);
    for (const cause of causes) {
      ended.delete(cause.id);
      const before = this.#known.get(cause.id);
      const size = sizeOf(cause);
      if (!before) {
        this.#known.set(cause.id, { cause, sinceMs: cause.sinceMs, loggedSize: size, largest: cause });
        this.#warn(cause);
        continue;
      }
      const isOther = cause.stage !== before.cause.stage || size >= 10 * Math.max(1, before.loggedSize);
      before.cause = cause;
      if (size > sizeOf(before.largest)) before.largest = cause;
      if (!isOther) continue;
      before.loggedSize = size;
      this.#warn(cause);
    }
    for (const [id, { cause, sinceMs, largest }] of ended) {
      this.#known.delete(id);
      const affected = largest.affected === '' ? '' : `; it affected ${largest.affected}`;
      this.#log.info(
        { cause: cause.reason },
        `over after ${durationInWords(nowMs - sinceMs)}: ${cause.title}${affected}`,
      );
    }
  }

  #warn({ reason, title, affected, meaning, advice, targets, listings }: Cause): void {
    const [target] = targets.map((status) => status.target);
    const [listing] = listings;
    const { lastFailure } = targets[0] ?? listing ?? {};
    const fields = {
      cause: reason,
      ...(lastFailure && {
        result: lastFailure.result,
        reason: lastFailure.message,
        status: lastFailure.status,
      }),
      ...(target && { kind: target.kind, credential: target.credential, targets: targets.length }),
      // A single one is named.
      ...(targets.length === 1 && target && { target: target.ids, name: target.name }),
      ...(!target && listing && { kind: listing.poll.kind, credential: listing.poll.credential }),
      ...(listing && { listings: listings.length }),
    };
    const extent = affected === '' ? '' : `: ${affected}`;
    this.#log.warn(fields, [`${title}${extent}.`, meaning, advice].filter(Boolean).join(' '));
  }
}
