/**
 * Decides when each request to an API may start: its rate, concurrency and pauses, with turns between accounts, then between the
 * keys of an account, then between the kinds that are read with a key.
 */

import { Pauses } from './pauses.ts';

/** The right to make one request. */
export interface Permit {
  /** Ends the request; a second call does nothing. */
  release(): void;
}

/** Who waits for a permit. */
interface Waiter {
  start(permit: Permit): void;
  giveUp(error: Error): void;
}

/** Where a request waits. */
export interface Lane {
  readonly account: string;
  /** The name of the key: that of the account, or of a part of it that has its own. */
  readonly credential: string;
  /** What is read, as a kind. */
  readonly queue: string;
}

export interface Wish {
  /** Whether it is the first request of a poll: those of polls under way go before it, so that these finish. */
  readonly isFirst?: boolean | undefined;
  /** It waits no longer, as `performance.now()` counts. Default: no limit. */
  readonly untilMs?: number | undefined;
}

export interface Pace {
  readonly requestsPerSecond: number;
  readonly maxConcurrency: number;
  /** What is paused for longer, from the first 429 on, is told so instead of waiting. Default: it waits. */
  readonly longestPauseMs?: number | undefined;
}

/** How many may start at once after a rest: a twentieth of a second's worth, at least one. */
export function burstOf(requestsPerSecond: number): number {
  return Math.max(1, Math.floor(requestsPerSecond / 20));
}

/** No permit comes: the key is paused for longer than anything waits here. */
export class PausedError extends Error {
  override readonly name = 'PausedError';
}

/** Takes turns with others. */
interface Member {
  /** The number of its last turn. The smallest is next. */
  turn: number;
  inFlight: number;
}

interface Kind extends Member {
  readonly name: string;
  /** Of polls under way, for a page or a retry. */
  readonly further: Set<Waiter>;
  /** The first requests of polls. */
  readonly first: Set<Waiter>;
}

interface Key extends Member {
  readonly credential: string;
  readonly kinds: Map<string, Kind>;
}

interface Account extends Member {
  readonly name: string;
  readonly keys: Map<string, Key>;
}

/** An account, a key and a kind. */
type Place = readonly [account: Account, key: Key, kind: Kind];

/**
 * A token bucket, and lanes that are served in turn. At most `requestsPerSecond` + the burst requests start in any second. While
 * others wait, an account has at most its share of `maxConcurrency`, and at least one slot; so has a key of the slots of its
 * account. A slot is reserved for each kind and account of `reserveFor` without a request in flight, so that hanging requests of
 * others cannot block it. Of a key that was paused, and of the API, one request tries before the others follow.
 *
 * Nothing is counted ahead: whose turn it is is found by looking at all that wait, once for each request that starts.
 */
export class Pacer {
  #pace: Pace;
  readonly #pauses = new Pauses();
  readonly #accounts = new Map<string, Account>();
  /** How many requests of each kind are in flight, with whichever key. */
  readonly #inFlightByKind = new Map<string, number>();
  #reserved: Readonly<Record<'queues' | 'accounts', ReadonlySet<string>>> = {
    queues: new Set(),
    accounts: new Set(),
  };
  #waiting = 0;
  #inFlight = 0;
  /** The number of the last turn that anybody had. */
  #turn = 0;
  #slowPerSecond: number | undefined;
  #tokens: number;
  #refilledAtMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isServing = false;
  #isClosed = false;

  constructor(pace: Pace) {
    this.#pace = pace;
    this.#tokens = burstOf(pace.requestsPerSecond);
  }

  /** Changes the pace; waiters keep their position. */
  setPace(pace: Pace): void {
    this.#refill();
    this.#pace = pace;
    this.#serve();
  }

  /**
   * Starts no more requests a second than this until it is told otherwise, and never more than the pace allows. undefined: as many
   * as the pace allows, from now on.
   */
  slowDown(requestsPerSecond: number | undefined): void {
    if (requestsPerSecond === this.#slowPerSecond) return;
    this.#refill();
    this.#slowPerSecond = requestsPerSecond;
    this.#serve();
  }

  get #requestsPerSecond(): number {
    return Math.min(this.#pace.requestsPerSecond, this.#slowPerSecond ?? Number.POSITIVE_INFINITY);
  }

  /** Sets the kinds and the accounts that have a slot in reserve. Others are served all the same. */
  reserveFor({ queues, accounts }: Readonly<Record<'queues' | 'accounts', Iterable<string>>>): void {
    this.#reserved = { queues: new Set(queues), accounts: new Set(accounts) };
    this.#serve();
  }

  /** How many lanes have a waiter or a request in flight. */
  get size(): number {
    let size = 0;
    for (const { keys } of this.#accounts.values()) for (const { kinds } of keys.values()) size += kinds.size;
    return size;
  }

  /** A permit for one request. Rejects with the reason of the signal, with a `PausedError`, or if there is none by `untilMs`. */
  permit(lane: Lane, { isFirst = false, untilMs }: Wish, signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isGivenUp(lane.credential)) throw new PausedError('paused for too long');
      const place = this.#placeOf(lane);
      const waiters = isFirst ? place[2].first : place[2].further;
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        waiters.delete(waiter);
        this.#waiting--;
      };
      const waiter: Waiter = {
        start(permit) {
          leave();
          resolve(permit);
        },
        giveUp: (error) => {
          leave();
          this.#forget(place);
          reject(error);
        },
      };
      const abort = () => waiter.giveUp(signal.reason as Error);
      const endTime = () => waiter.giveUp(new Error('no permit in time'));
      const timer = untilMs === undefined ? undefined : setTimeout(endTime, untilMs - performance.now());
      signal.addEventListener('abort', abort);
      waiters.add(waiter);
      this.#waiting++;
      this.#serve();
    });
  }

  /**
   * A request got 429: its key is paused, and perhaps the API. Returns whether the pause of the key began or became longer.
   *
   * @param keyId the same for the same key under two names
   */
  refused(credential: string, keyId: string, retryAfterMs: number | undefined): boolean {
    const isChanged = this.#pauses.refused(credential, keyId, retryAfterMs, performance.now());
    if (this.#pace.longestPauseMs !== undefined) this.#giveUpPaused();
    this.#serve();
    return isChanged;
  }

  /** A request had another outcome than 429. isRead: whether it was answered well. */
  answered(credential: string, isRead: boolean): void {
    const isPaused = this.#pauses.of(credential) ?? this.#pauses.ofApi;
    this.#pauses.answered(credential, isRead, performance.now());
    if (isPaused) this.#serve();
  }

  /** For how long no request with a key starts, in milliseconds. */
  pausedForMs(credential: string): number {
    const { ofApi } = this.#pauses;
    const untilMs = Math.max(ofApi?.untilMs ?? 0, this.#pauses.of(credential)?.untilMs ?? 0);
    return Math.max(0, untilMs - performance.now());
  }

  /** The keys that are paused, and for how long; an empty credential stands for the API as a whole. */
  pauses(): readonly { readonly credential: string; readonly forMs: number }[] {
    const nowMs = performance.now();
    const forMs = ({ untilMs }: { readonly untilMs: number }) => untilMs - nowMs;
    const { ofApi } = this.#pauses;
    return [
      ...(ofApi && ofApi.untilMs > nowMs ? [{ credential: '', forMs: forMs(ofApi) }] : []),
      ...Array.from(this.#pauses.during(nowMs), ([credential, pause]) => ({
        credential,
        forMs: forMs(pause),
      })),
    ];
  }

  /** Starts nothing more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#isClosed = true;
  }

  /** Whether a pause is longer than anything waits here. */
  #isGivenUp(credential: string): boolean {
    const { longestPauseMs = Number.POSITIVE_INFINITY } = this.#pace;
    const nowMs = performance.now();
    return [this.#pauses.ofApi, this.#pauses.of(credential)].some(
      (pause) => pause && pause.untilMs > nowMs && pause.untilMs - pause.sinceMs > longestPauseMs,
    );
  }

  #giveUpPaused(): void {
    for (const account of this.#accounts.values())
      for (const key of account.keys.values())
        for (const { further, first } of this.#isGivenUp(key.credential) ? key.kinds.values() : [])
          for (const waiter of [...further, ...first]) waiter.giveUp(new PausedError('paused for too long'));
  }

  // The lanes.

  #placeOf({ account: name, credential, queue }: Lane): Place {
    // A new one goes before the one that had the last turn. Before all others it would let those that come and go have all the turns.
    const of = { turn: this.#turn - 1, inFlight: 0 };
    const account = this.#accounts.get(name) ?? { ...of, name, keys: new Map() };
    const key = account.keys.get(credential) ?? { ...of, credential, kinds: new Map() };
    const kind = key.kinds.get(queue) ?? { ...of, name: queue, further: new Set(), first: new Set() };
    this.#accounts.set(name, account);
    account.keys.set(credential, key);
    key.kinds.set(queue, kind);
    return [account, key, kind];
  }

  /** Forgets what neither waits nor has a request in flight. */
  #forget([account, key, kind]: Place): void {
    if (!hasWaiters(kind) && kind.inFlight === 0) key.kinds.delete(kind.name);
    if (key.kinds.size === 0) account.keys.delete(key.credential);
    if (account.keys.size === 0) this.#accounts.delete(account.name);
  }

  /** Whether a key has something that may start now. */
  #isReady({ credential, kinds, inFlight }: Key, nowMs: number): boolean {
    const pause = this.#pauses.of(credential);
    // A request shows whether it still is paused.
    if (pause && (pause.untilMs > nowMs || inFlight > 0)) return false;
    for (const kind of kinds.values()) if (hasWaiters(kind)) return true;
    return false;
  }

  // Who is next.

  #serve(): void {
    if (this.#isClosed || this.#isServing) return;
    this.#isServing = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      while (this.#waiting > 0 && this.#inFlight < this.#pace.maxConcurrency) {
        const { ofApi } = this.#pauses;
        // A request shows whether the API still is paused.
        if (ofApi && this.#inFlight > 0) return;
        const waitMs = this.#waitMs();
        const place = waitMs > 0 ? undefined : this.#findNext();
        if (!place) {
          this.#serveIn(waitMs > 0 ? waitMs : this.#pauseEndsInMs());
          return;
        }
        this.#start(place);
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** Whose turn it is; undefined if nobody may start now. */
  #findNext(): Place | undefined {
    const nowMs = performance.now();
    const isReady = (key: Key) => this.#isReady(key, nowMs);
    const { maxConcurrency } = this.#pace;
    // Never more than half of them: those that they are reserved for may have no request.
    const reserved = Math.min(this.#idleReserved(), Math.floor(maxConcurrency / 2));
    const isFree = maxConcurrency - this.#inFlight > reserved;
    const accounts = [...this.#accounts.values()];
    const ofAccount = shareOf(maxConcurrency, accounts, ({ keys }) => [...keys.values()].some(isReady));
    return leastOf(accounts, (account) => {
      if (account.inFlight >= ofAccount) return undefined;
      const mayStart = (kind: Kind) =>
        isFree || account.inFlight === 0 || !this.#inFlightByKind.has(kind.name);
      const keys = [...account.keys.values()];
      const ofKey = shareOf(ofAccount, keys, isReady);
      return leastOf(keys, (key) =>
        key.inFlight < ofKey && isReady(key)
          ? leastOf(key.kinds.values(), (kind) =>
              hasWaiters(kind) && mayStart(kind) ? ([account, key, kind] as const) : undefined,
            )
          : undefined,
      );
    });
  }

  /** How many slots are kept for kinds and accounts that have no request in flight. */
  #idleReserved(): number {
    const { queues, accounts } = this.#reserved;
    const idleKinds = [...queues].filter((name) => !this.#inFlightByKind.has(name));
    const idleAccounts = [...accounts].filter((name) => !this.#accounts.get(name)?.inFlight);
    return idleKinds.length + idleAccounts.length;
  }

  /** Gives a permit to the first of a kind. */
  #start(place: Place): void {
    const [, , kind] = place;
    const [waiter] = kind.further.size > 0 ? kind.further : kind.first;
    this.#tokens -= 1;
    this.#turn++;
    for (const member of place) member.turn = this.#turn;
    this.#changeInFlight(place, 1);
    waiter?.start(this.#permit(place));
  }

  #changeInFlight(place: Place, change: 1 | -1): void {
    const [, , { name }] = place;
    this.#inFlight += change;
    for (const member of place) member.inFlight += change;
    const ofKind = (this.#inFlightByKind.get(name) ?? 0) + change;
    if (ofKind > 0) this.#inFlightByKind.set(name, ofKind);
    else this.#inFlightByKind.delete(name);
    this.#forget(place);
  }

  #permit(place: Place): Permit {
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#changeInFlight(place, -1);
        this.#serve();
      },
    };
  }

  /** How long the next request must wait for a token or the end of a pause of the API. */
  #waitMs(): number {
    this.#refill();
    const pausedMs = (this.#pauses.ofApi?.untilMs ?? 0) - performance.now();
    return Math.max(pausedMs, ((1 - this.#tokens) / this.#requestsPerSecond) * 1000);
  }

  #refill(): void {
    const nowMs = performance.now();
    const requestsPerSecond = this.#requestsPerSecond;
    const earned = ((nowMs - this.#refilledAtMs) / 1000) * requestsPerSecond;
    this.#tokens = Math.min(burstOf(requestsPerSecond), this.#tokens + earned);
    this.#refilledAtMs = nowMs;
  }

  /** How long it is until the first of the keys that wait is paused no longer; infinite if none is paused. */
  #pauseEndsInMs(): number {
    const nowMs = performance.now();
    let inMs = Number.POSITIVE_INFINITY;
    for (const [credential, { untilMs }] of this.#pauses.during(nowMs))
      for (const { keys } of this.#accounts.values())
        if (keys.has(credential)) inMs = Math.min(inMs, untilMs - nowMs);
    return inMs;
  }

  #serveIn(waitMs: number): void {
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#serve(), Math.min(Math.ceil(waitMs), 60_000));
  }
}

/** What is found of the member whose last turn is the longest ago, of those of which something is found. */
function leastOf<One extends Member, Found>(
  members: Iterable<One>,
  find: (member: One) => Found | undefined,
): Found | undefined {
  let turn = Number.POSITIVE_INFINITY;
  let found: Found | undefined;
  for (const member of members) {
    const ofMember = member.turn < turn ? find(member) : undefined;
    if (ofMember === undefined) continue;
    found = ofMember;
    turn = member.turn;
  }
  return found;
}

/** How many of the slots one of those that share them may have: all of them while no other waits. */
function shareOf<One extends Member>(
  slots: number,
  members: readonly One[],
  isReady: (one: One) => boolean,
): number {
  let ready = 0;
  let wanting = 0;
  for (const member of members) {
    const isWaiting = isReady(member);
    if (isWaiting) ready++;
    if (isWaiting || member.inFlight > 0) wanting++;
  }
  return ready > 1 ? Math.max(1, Math.floor(slots / wanting)) : slots;
}

function hasWaiters({ further, first }: Kind): boolean {
  return further.size + first.size > 0;
}
