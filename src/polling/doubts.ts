/**
 * Whether a 401 is about the id that was requested or about the key: the API answers both alike. Something else that is requested
 * with the key afterwards tells. One request is made at once for all that is in doubt about a key at an API, and each poll that is
 * read well is another. Knows neither the plan nor the timetable.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../api/errors.ts';
import { type Get, isReadAlone, silent } from '../resources/resource.ts';
import { parentOf } from './discovered.ts';
import { isBare401, type Verdict } from './record.ts';
import { isFoundKey, type ListingSpec, type Spec, sourceOf } from './spec.ts';
import type { Task } from './target-task.ts';

/** The least time between two requests that are made to know. */
const pauseMs = 1000;

/** For so long after such a request got 401, too, each 401 is of the key. */
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
  const { key, api, queue, credential, intervalMs, keyId, account, baseUrl } = spec;
  return {
    type: 'listing',
    key,
    kind: listing.kind,
    api,
    queue,
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
 * Makes the first request of this alone: true if it is answered well, false if it gets 401, too. Undefined for any other failure, and
 * for a 401 of a product that the account may lack.
 *
 * @param nowMs Unix time
 */
export async function opens(spec: Spec, get: Get, nowMs: number): Promise<boolean | undefined> {
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

/** A key at an API. */
interface Source {
  /** What is in doubt, with the time of its 401, by the machine's uptime. */
  readonly open: Map<Task, number>;
  /** Whether something came into doubt since it was asked last. */
  isWanted: boolean;
  /** When it was asked last, as `performance.now()` counts. */
  askedMs: number;
  asking: Promise<void> | undefined;
  /** Aborted once it is forgotten. */
  readonly end: AbortController;
  /** Whether what was asked last got 401, too, and nothing was read since. */
  isRefused: boolean;
}

interface DoubtsOptions {
  /** Requests something else with the key of a task: true if that is answered well, false if it gets 401, too. */
  readonly opensOther: (task: Task, signal: AbortSignal) => Promise<boolean | undefined>;
  readonly decide: (task: Task, verdict: Verdict) => void;
  /** Nothing more is asked about a key for now. */
  readonly onAsked: () => void;
}

export class Doubts {
  readonly #options: DoubtsOptions;
  readonly #sources = new Map<string, Source>();

  constructor(options: DoubtsOptions) {
    this.#options = options;
  }

  get isAsking(): boolean {
    return [...this.#sources.values()].some(({ asking }) => asking !== undefined);
  }

  /** Resolves when nothing more is asked about what is in doubt now. */
  async asked(): Promise<void> {
    await Promise.all([...this.#sources.values()].flatMap(({ asking }) => asking ?? []));
  }

  /** A poll ended with a 401 that may be about its id, see {@link isInDoubt}. */
  add(task: Task): void {
    const name = sourceOf(task.spec);
    let source = this.#sources.get(name);
    if (!source) {
      const askedMs = Number.NEGATIVE_INFINITY;
      source = {
        open: new Map(),
        isWanted: false,
        askedMs,
        asking: undefined,
        isRefused: false,
        end: new AbortController(),
      };
      this.#sources.set(name, source);
    }
    source.open.set(task, task.record.answeredMs);
    if (source.isRefused && performance.now() < source.askedMs + refusedMs)
      this.#decide(source, source.open, 'key');
    else {
      source.isWanted = true;
      source.asking ??= this.#ask(source);
    }
  }

  /** A poll was read well that began then, by the machine's uptime. */
  read(spec: Spec, beganMs: number): void {
    const source = this.#sources.get(sourceOf(spec));
    if (!source) return;
    source.isRefused = false;
    const earlier = [...source.open].filter(([, atMs]) => atMs < beganMs);
    this.#decide(source, earlier, 'id');
  }

  /** What was answered to a key no longer says anything of it. Default: to all keys. */
  forget(source?: string): void {
    for (const name of source === undefined ? [...this.#sources.keys()] : [source]) {
      this.#sources.get(name)?.end.abort(new Error('it is asked no more'));
      this.#sources.delete(name);
    }
  }

  async #ask(source: Source): Promise<void> {
    const { opensOther, onAsked } = this.#options;
    const { signal } = source.end;
    while (source.isWanted && source.open.size > 0 && !signal.aborted) {
      const waitMs = source.askedMs + pauseMs - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      source.isWanted = false;
      source.askedMs = performance.now();
      const asked = [...source.open];
      const [first] = asked;
      const isGood = first && (await opensOther(first[0], signal));
      if (signal.aborted) break;
      source.isRefused = isGood === false;
      if (isGood === false) this.#decide(source, source.open, 'key');
      else this.#decide(source, asked, isGood && 'id');
    }
    source.asking = undefined;
    onAsked();
  }

  #decide({ open }: Source, doubts: Iterable<readonly [Task, number]>, verdict: Verdict): void {
    for (const [task, atMs] of doubts) {
      if (open.get(task) !== atMs) continue;
      const { record } = task;
      const isDoubted = record.answeredMs === atMs && isBare401(record.lastFailure);
      if (isDoubted) this.#options.decide(task, verdict);
      if (!isDoubted || verdict !== undefined) open.delete(task);
    }
  }
}
