/**
 * Whether a 401 is about the id that was requested or about the key: the API answers both alike. Something else that is requested
 * with the key afterwards tells. One request is made at once for all that is in doubt about a key at an API, and each poll that is
 * read well is another. Knows neither the plan nor the timetable.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../api/errors.ts';
import { type Get, isReadAlone, silent } from '../resources/resource.ts';
import { parentOf } from './listed-things.ts';
import { isBare401 } from './record.ts';
import { isFoundKey, keyAtApi, type ListingSpec, type Spec } from './spec.ts';
import type { Task } from './target-task.ts';

/** The least time between two requests that are made only to learn whose fault a 401 is. */
const pauseMs = 1000;

/** For so long after such a request was refused, a further 401 with the key needs no other: the key is refused. */
const refusedMs = 60_000;

/** The ids of what is requested; undefined where it is of the account as a whole. */
function idsOf(spec: Spec) {
  if (spec.type === 'listing') return spec.parent?.ids;
  return isReadAlone(spec.resource) && spec.resource.ofAccount ? undefined : spec.ids;
}

/** Whether a 401 may be about an id. The own key of a library came with the id of that, so both are right. */
export function mayBeAboutId(spec: Spec): boolean {
  const ids = idsOf(spec);
  return ids !== undefined && !(isFoundKey(spec.credential) && Object.keys(ids).length === 1);
}

/** Whether the last poll of a task ended with a 401 that may be about its id. */
export function isInDoubt({ spec, record }: Task): boolean {
  return isBare401(record.lastFailure) && mayBeAboutId(spec);
}

/** The listing that shows whether the key of a task is good: of those of its API the one nearest to the account. */
export function listingBehind(spec: Spec): ListingSpec | undefined {
  let listing: ListingSpec['listing'] | undefined;
  const own = spec.type === 'listing' ? spec.listing.parent : spec.resource.listing;
  for (let one = own; one; one = one.parent) if (one.api === spec.api) listing = one;
  if (!listing) return undefined;
  const { key, api, credential, intervalMs, keyId, account, baseUrl } = spec;
  return {
    type: 'listing',
    key,
    kind: listing.kind,
    api,
    credential,
    intervalMs,
    keyId,
    account,
    baseUrl,
    namesKey: undefined,
    listing,
    parent: parentOf(listing, idsOf(spec) ?? {}),
    afterKey: undefined,
    isRead: false,
  };
}

/**
 * Whether its key is good for what a spec is about. Makes the first request of it alone: true if it is answered well, false if it gets
 * 401, too. Undefined for any other failure, and for a 401 of a product that the account may lack.
 *
 * @param nowMs Unix time
 */
export async function isKeyGood(spec: Spec, get: Get, nowMs: number): Promise<boolean | undefined> {
  let first: Promise<unknown> | undefined;
  const getFirst: Get = async (path) => {
    first ??= get(path);
    await first;
    throw new Error('the first answer is enough');
  };
  const reading =
    spec.type === 'listing'
      ? spec.listing.discover(getFirst, spec.parent?.ids, silent, nowMs)
      : isReadAlone(spec.resource) && spec.resource.read(getFirst, spec.ids, silent, { nowMs });
  await Promise.allSettled([reading]);
  try {
    await first;
    return first && true;
  } catch (error) {
    const mayLack = spec.type === 'listing' && spec.listing.optionalProduct === true;
    return error instanceof ApiError && error.answer.status === 401 && !mayLack ? false : undefined;
  }
}

/** What was asked with a key, to know what its 401s are about. Times are by the machine's uptime. */
export interface Asked {
  readonly beganMs: number;
  readonly endedMs: number;
  /** Whether it was answered well; false if it got 401, too; undefined if that tells nothing. */
  readonly isGood: boolean | undefined;
}

/**
 * Whose fault a bare 401 is. Of the id, if anything was read with the key by a request that began after it. Of the key, if what was
 * asked after it, or a minute before at most, got 401, too, and nothing was read since. Undecided, if what was asked after it tells nothing.
 * Undefined until then. Times are by the machine's uptime.
 *
 * @param atMs when it came
 * @param readBeganMs when the last poll with the key began that was read well
 */
export function faultOf(
  atMs: number,
  asked: Asked | undefined,
  readBeganMs: number,
): 'id' | 'key' | 'undecided' | undefined {
  if (readBeganMs > atMs || (asked?.isGood && asked.beganMs >= atMs)) return 'id';
  if (asked === undefined) return undefined;
  if (asked.isGood === false && asked.endedMs > Math.max(readBeganMs, atMs - refusedMs)) return 'key';
  return asked.beganMs >= atMs ? 'undecided' : undefined;
}

/** A key at an API. */
interface AskedKey {
  /** Whose fault is not known. */
  readonly tasks: Set<Task>;
  last: Asked | undefined;
  readBeganMs: number;
  asking: Promise<void> | undefined;
  /** Aborted once it is forgotten. */
  readonly end: AbortController;
}

interface DoubtsOptions {
  /** Requests something else with the key of a task: true if that is answered well, false if it gets 401, too. */
  readonly ask: (task: Task, signal: AbortSignal) => Promise<boolean | undefined>;
  readonly tell: (task: Task, fault: 'id' | 'key' | 'undecided') => void;
  /** Nothing more is asked about a key for now. */
  readonly onAsked: () => void;
  readonly uptimeMs: () => number;
}

/** Asks what the 401s are about that are in doubt, one request at a time for each key at an API. */
export class Doubts {
  readonly #options: DoubtsOptions;
  readonly #keys = new Map<string, AskedKey>();

  constructor(options: DoubtsOptions) {
    this.#options = options;
  }

  get isAsking(): boolean {
    return [...this.#keys.values()].some(({ asking }) => asking !== undefined);
  }

  /** Resolves when nothing more is asked about what is in doubt now. */
  async asked(): Promise<void> {
    await Promise.all([...this.#keys.values()].flatMap(({ asking }) => asking ?? []));
  }

  /** A poll ended with a 401 that may be about its id, see {@link isInDoubt}. */
  add(task: Task): void {
    const name = keyAtApi(task.spec);
    let key = this.#keys.get(name);
    if (!key) {
      key = {
        tasks: new Set(),
        last: undefined,
        readBeganMs: Number.NEGATIVE_INFINITY,
        asking: undefined,
        end: new AbortController(),
      };
      this.#keys.set(name, key);
    }
    // What came before it is decided already.
    this.#settle(key, [task]);
    if (key.tasks.has(task)) key.asking ??= this.#ask(key);
  }

  /** A poll was read well that began then, by the machine's uptime. */
  read(spec: Spec, beganMs: number): void {
    const key = this.#keys.get(keyAtApi(spec));
    if (!key) return;
    key.readBeganMs = Math.max(key.readBeganMs, beganMs);
    this.#settle(key, key.tasks);
  }

  /** What was answered to a key no longer says anything of it. Default: to all keys. */
  forget(key?: string): void {
    for (const name of key === undefined ? [...this.#keys.keys()] : [key]) {
      this.#keys.get(name)?.end.abort(new Error('it is asked no more'));
      this.#keys.delete(name);
    }
  }

  /** Only these are polled now: what else was in doubt has left, and so has each key with which nothing is polled. */
  retain(polled: Iterable<Task>): void {
    if (this.#keys.size === 0) return;
    const all = new Set(polled);
    const names = new Set(Array.from(all, ({ spec }) => keyAtApi(spec)));
    for (const [name, { tasks }] of this.#keys) {
      if (!names.has(name)) this.forget(name);
      for (const task of tasks) if (!all.has(task)) tasks.delete(task);
    }
  }

  async #ask(key: AskedKey): Promise<void> {
    const { ask, onAsked, uptimeMs } = this.#options;
    const { tasks, end } = key;
    const { signal } = end;
    // First whoever began it takes note of it: there may be nothing to ask.
    await Promise.resolve();
    const unasked = () => {
      const { beganMs = Number.NEGATIVE_INFINITY } = key.last ?? {};
      return [...tasks].find((task) => isInDoubt(task) && task.record.endedMs > beganMs);
    };
    while (unasked()) {
      const waitMs = key.last ? key.last.beganMs + pauseMs - uptimeMs() : 0;
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      // Meanwhile it may have left, or something else may have told.
      const task = unasked();
      if (signal.aborted || !task) break;
      const beganMs = uptimeMs();
      const isGood = await ask(task, signal);
      if (signal.aborted) break;
      key.last = { beganMs, endedMs: uptimeMs(), isGood };
      this.#settle(key, tasks);
    }
    key.asking = undefined;
    onAsked();
  }

  #settle({ tasks, last, readBeganMs }: AskedKey, some: Iterable<Task>): void {
    for (const task of some) {
      const isOpen = isInDoubt(task);
      const fault = isOpen ? faultOf(task.record.endedMs, last, readBeganMs) : undefined;
      if (fault !== undefined) this.#options.tell(task, fault);
      if (!isOpen || fault === 'id' || fault === 'key') tasks.delete(task);
      else tasks.add(task);
    }
  }
}
