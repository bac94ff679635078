/** What the log says of causes: the difference between two lists of them. */
import type { Logger } from 'pino';
import { uptimeOf } from '../clock.ts';
import { nameOf } from '../polling/listed-things.ts';
import { type Failure, isHostFailure } from '../polling/record.ts';
import type { Spec } from '../polling/spec.ts';
import { durationInWords } from '../text.ts';
import type { Cause } from './cause.ts';

interface Known {
  cause: Cause;
  /** By the machine's uptime. */
  readonly sinceMs: number;
  /** The cause as it was when it affected the most. */
  largest: Cause;
  /** What was said of it last. */
  said: string;
  /** When that was, by the machine's uptime. */
  saidAtMs: number;
  /** Since when what it affects failed in the previous list, by its key. Unix times. */
  sinceOf: ReadonlyMap<string, number | undefined>;
  /** Whether anything of it has begun anew since it was said, and not only joined it. */
  hasBegunAnew: boolean;
  /** When each of what was said of it was. Unix times. */
  readonly saidMs: Map<string, number>;
}

/** Where the reason goes back and forth, as in an outage, the same is not said again so soon. */
const repeatMs = 600_000;

/** What is wrong and what to do, without how much it affects. */
function sayingOf({ reason, tone, advice }: Cause): string {
  return `${reason} ${tone} ${advice}`;
}

function sizeOf({ targets, listings }: Cause): number {
  return targets.length + listings.length;
}

/** What a cause affects, with its last failure. */
function* affectedBy({
  targets,
  listings,
}: Cause): Generator<readonly [Pick<Spec, 'key' | 'baseUrl'>, Failure | undefined]> {
  for (const { target, lastFailure } of targets) yield [target, lastFailure];
  for (const { poll, lastFailure } of listings) yield [poll, lastFailure];
}

/** What a cause affects: when each failed last, by its key. */
function* failuresOf(cause: Cause): Generator<readonly [key: string, atMs: number | undefined]> {
  for (const [{ key }, failure] of affectedBy(cause)) yield [key, failure?.atMs];
}

/** Since when what a cause affects fails, by its key without its address: at another one it is the same. */
function* sincesOf(cause: Cause): Generator<readonly [key: string, sinceMs: number | undefined]> {
  for (const [{ key, baseUrl }, failure] of affectedBy(cause))
    yield [key.replace(`@${baseUrl}`, ''), failure?.sinceMs];
}

/** Whether a cause is only what is left of outages. keys: what those affected. A key that has been refused since then is no part of it. */
function isRestOf(cause: Cause, keys: ReadonlySet<string>): boolean {
  if (keys.size === 0 || !cause.failure || !isHostFailure(cause.failure)) return false;
  return [...failuresOf(cause)].every(([key]) => keys.has(key));
}

export class CauseLog {
  readonly #log: Logger;
  readonly #known = new Map<string, Known>();
  /** What failed in the previous list, and when last. */
  #failures: ReadonlyMap<string, number | undefined> = new Map();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * A cause that is new is a warning, and so is one of which something else is known or advised than was said; one that ended is an info
   * line, with how much it affected at most. What has begun anew since, with another key or at another address, is said again. What failed before and has not been polled since is no news under another cause; and a
   * cause is not over if what it affected fails for another.
   *
   * @param nowMs Unix time
   * @param uptimeMs the same moment, by the machine's uptime
   */
  write(causes: readonly Cause[], nowMs: number, uptimeMs = nowMs): void {
    const ended = new Map(this.#known);
    const isKnown = ({ id }: Cause) => this.#known.has(id);
    const rest = causes.every(isKnown) ? new Set<string>() : this.#restOfOutages();
    const isNews = (cause: Cause) =>
      sizeOf(cause) === 0 || (this.#hasNewFailure(cause) && !isRestOf(cause, rest));
    const failures = new Map<string, number | undefined>();
    for (const cause of causes) for (const [key, atMs] of failuresOf(cause)) failures.set(key, atMs);
    const logged = causes.filter((cause) => isKnown(cause) || isNews(cause));
    for (const cause of logged) {
      ended.delete(cause.id);
      this.#note(cause, nowMs, uptimeMs);
    }
    const keys = new Set(
      ended.size > 0 ? logged.flatMap((cause) => Array.from(failuresOf(cause), ([key]) => key)) : [],
    );
    for (const [id, known] of ended) {
      this.#known.delete(id);
      const isTakenOver = [...failuresOf(known.cause)].some(([key]) => keys.has(key));
      if (!isTakenOver) this.#end(known, uptimeMs);
    }
    this.#failures = failures;
  }

  /** What outages affected: when a host can be read again, the rest of it may just not have been polled since. */
  #restOfOutages(): ReadonlySet<string> {
    const outages = [...this.#known.values()].filter(({ cause }) => cause.isDown);
    return new Set(outages.flatMap(({ cause }) => Array.from(failuresOf(cause), ([key]) => key)));
  }

  #hasNewFailure(cause: Cause): boolean {
    for (const [key, atMs] of failuresOf(cause))
      if (!this.#failures.has(key) || this.#failures.get(key) !== atMs) return true;
    return false;
  }

  #note(cause: Cause, nowMs: number, uptimeMs: number): void {
    let known = this.#known.get(cause.id);
    const beganMs = uptimeOf(cause.sinceMs ?? nowMs, { nowMs, uptimeMs });
    if (!known) {
      const unsaid = {
        said: '',
        saidAtMs: uptimeMs,
        sinceOf: new Map(),
        hasBegunAnew: false,
        saidMs: new Map(),
      };
      known = { cause, sinceMs: beganMs, largest: cause, ...unsaid };
      this.#known.set(cause.id, known);
    }
    known.cause = cause;
    if (sizeOf(cause) > sizeOf(known.largest)) known.largest = cause;
    // What a host fails with goes back and forth in an outage, of thousands.
    if (cause.failure && !isHostFailure(cause.failure)) {
      const { sinceOf } = known;
      known.sinceOf = new Map(sincesOf(cause));
      for (const [key, sinceMs] of known.sinceOf)
        known.hasBegunAnew ||= sinceOf.has(key) && sinceOf.get(key) !== sinceMs;
      if (known.hasBegunAnew && beganMs > known.saidAtMs) {
        known.said = '';
        known.saidMs.clear();
      }
    }
    const saying = sayingOf(cause);
    const saidMs = known.saidMs.get(saying);
    const isRepeated = saidMs !== undefined && Math.abs(nowMs - saidMs) < repeatMs;
    if (saying === known.said || isRepeated) return;
    known.said = saying;
    known.saidAtMs = uptimeMs;
    known.hasBegunAnew = false;
    known.saidMs.set(saying, nowMs);
    this.#warn(cause);
  }

  #end({ cause, sinceMs, largest }: Known, uptimeMs: number): void {
    const affected = largest.affected === '' ? '' : `; it affected ${largest.affected}`;
    this.#log.info(
      { cause: cause.reason },
      `this is over after ${durationInWords(uptimeMs - sinceMs)}: ${cause.title}${affected}`,
    );
  }

  #warn({ reason, failure, title, affected, meaning, advice, targets, listings }: Cause): void {
    const [target] = targets.map((status) => status.target);
    const [listing] = listings;
    const parent = listing?.poll.parent;
    const specs = [...targets.map((status) => status.target), ...listings.map(({ poll }) => poll)];
    // Of several, none is to blame.
    const only = (field: 'kind' | 'credential') => {
      const [value, ...others] = new Set(specs.map((spec) => spec[field]));
      return value === undefined || others.length > 0 ? {} : { [field]: value };
    };
    const fields = {
      cause: reason,
      ...(failure && { result: failure.result, reason: failure.message, status: failure.status }),
      ...only('kind'),
      ...only('credential'),
      ...(target && { targets: targets.length }),
      // A single target is named.
      ...(targets.length === 1 && target && { target: target.ids, name: target.name }),
      ...(listings.length === 1 && parent && { parent: nameOf(parent) }),
      ...(listing && { listings: listings.length }),
    };
    const extent = affected === '' ? '' : `: ${affected}`;
    this.#log.warn(fields, [`${title}${extent}.`, meaning, advice].filter(Boolean).join(' '));
  }
}
