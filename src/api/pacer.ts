/**
 * Decides when each request to an API may start: its rate, concurrency and pauses, with turns between accounts, then between the
 * keys of an account, then between the kinds that are read with a key.
 */

import { type KeyPauses, type Pause, Pauses } from './pauses.ts';

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

/** Which queue a request waits in, and what it asks for there. */
export interface QueueAddress {
  readonly account: string;
  /** The name of the key: that of the account, or of a part of it that has its own. */
  readonly credential: string;
  /** What is read. A 429 pauses it with its listings. */
  readonly kind: string;
  /** The name of the queue at its key: of its kind, or of the listings of that. */
  readonly queue: string;
}

/** What is paused after a 429. Of a kind that is paused at a key; without it of the key; without a credential of the API as a whole. */
export interface PausedPart {
  readonly credential: string;
  readonly kind: string;
  readonly forMs: number;
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

/** No permit comes: what would be asked is paused for longer than anything waits here. */
export class PausedError extends Error {
  override readonly name = 'PausedError';
}

/** Takes turns with others. */
interface Member {
  /** The number of its last turn. The smallest is next. */
  turn: number;
  inFlight: number;
}

interface Queue extends Member {
  readonly name: string;
  readonly kind: string;
  /** Of polls under way, for a page or a retry. */
  readonly further: Set<Waiter>;
  /** The first requests of polls. */
  readonly first: Set<Waiter>;
}

interface Key extends Member {
  readonly credential: string;
  readonly queues: Map<string, Queue>;
}

interface Account extends Member {
  readonly name: string;
  readonly keys: Map<string, Key>;
}

type QueuePath = readonly [account: Account, key: Key, queue: Queue];

/**
 * A token bucket, and queues that are served in turn. At most `requestsPerSecond` + the burst requests start in any second. While
 * others wait, an account has at most its share of `maxConcurrency`, and at least one slot; so has a key of the slots of its
 * account. A slot is reserved for each queue and account of `reserveFor` without a request in flight, so that hanging requests of
 * others cannot block it. Of what was paused (a kind at a key, a key, the API) one request tries before the others follow.
 *
 * Nothing is counted ahead: whose turn it is is found by looking at all that wait, once for each request that starts.
 */
export class Pacer {
  #pace: Pace;
  readonly #keyIdOf: (credential: string) => string;
  #pauses = new Pauses();
  readonly #accounts = new Map<string, Account>();
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
  #isClosed = false;

  /** keyIdOf: an id of the key that a credential has now, and of where it is for. Default: they never change. */
  constructor(pace: Pace, keyIdOf = (credential: string) => credential) {
    this.#pace = pace;
    this.#keyIdOf = keyIdOf;
    this.#tokens = burstOf(pace.requestsPerSecond);
  }

  /** Changes the pace; waiters keep their position. hasMoved: whether the API is at another address now. */
  setPace(pace: Pace, hasMoved = false): void {
    this.#pace = pace;
    // Those were of the former address.
    if (hasMoved) this.#pauses = new Pauses();
    this.#serve();
  }

  /**
   * Starts no more requests a second than this until an answer is read, or it is told otherwise, and never more than the pace allows.
   * undefined: as many as the pace allows, from now on.
   */
  slowDown(requestsPerSecond: number | undefined): void {
    if (requestsPerSecond === this.#slowPerSecond) return;
    this.#slowPerSecond = requestsPerSecond;
    this.#serve();
  }

  get #requestsPerSecond(): number {
    return Math.min(this.#pace.requestsPerSecond, this.#slowPerSecond ?? Number.POSITIVE_INFINITY);
  }

  /** Sets the queues and the accounts that have a slot in reserve. Others are served all the same. */
  reserveFor({ queues, accounts }: Readonly<Record<'queues' | 'accounts', Iterable<string>>>): void {
    this.#reserved = { queues: new Set(queues), accounts: new Set(accounts) };
    this.#serve();
  }

  /** How many queues have a waiter or a request in flight. */
  get size(): number {
    let size = 0;
    for (const { keys } of this.#accounts.values())
      for (const { queues } of keys.values()) size += queues.size;
    return size;
  }

  /** A permit for one request. Rejects with the reason of the signal, with a `PausedError`, or if there is none by `untilMs`. */
  permit(
    address: QueueAddress,
    { isFirst = false, untilMs = Number.POSITIVE_INFINITY }: Wish,
    signal: AbortSignal,
  ): Promise<Permit> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isGivenUp(address)) throw new PausedError('paused for too long');
      const path = this.#pathOf(address);
      const waiters = isFirst ? path[2].first : path[2].further;
      let stopListening = () => {};
      const leave = () => {
        stopListening();
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
          this.#forget(path);
          reject(error);
        },
      };
      waiters.add(waiter);
      this.#waiting++;
      this.#serve();
      // Mostly it need not wait.
      if (!waiters.has(waiter)) return;
      const abort = () => waiter.giveUp(signal.reason as Error);
      const endTime = () => waiter.giveUp(new Error('no permit in time'));
      const waitMs = untilMs - performance.now();
      const timer = waitMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(endTime, waitMs);
      signal.addEventListener('abort', abort);
      stopListening = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
    });
  }

  /**
   * A request got 429: its kind is paused at its key, and perhaps the key, and the API. A former key or address is not heard.
   *
   * @param keyId of the key that it was sent with, and where to
   */
  refused({ credential, kind }: QueueAddress, keyId: string, retryAfterMs: number | undefined): void {
    if (keyId !== this.#keyIdOf(credential)) return;
    this.#pauses.refused({ keyId, kind }, retryAfterMs, performance.now());
    if (this.#pace.longestPauseMs !== undefined) this.#giveUpPaused();
    this.#serve();
  }

  /** A request with this key had another outcome than 429, see `refused`. isRead: whether it was answered well. */
  answered({ credential, kind }: QueueAddress, keyId: string, isRead: boolean): void {
    if (keyId !== this.#keyIdOf(credential)) return;
    // The next pages of the same poll are not to wait for its end.
    if (isRead) this.slowDown(undefined);
    if (!this.#pauses.isAny) return;
    this.#pauses.answered({ keyId, kind }, isRead, performance.now());
    this.#serve();
  }

  /** What holds a request back the longest: the API, its key or its kind; undefined if it is not paused. */
  pauseOf({ credential, kind }: QueueAddress): PausedPart | undefined {
    const { ofApi } = this.#pauses;
    const ofKey = this.#pausesOf(credential);
    const nowMs = performance.now();
    const partOf = (pause: Pause | undefined, part: Omit<PausedPart, 'forMs'>) =>
      pause && pause.untilMs > nowMs ? [{ ...part, forMs: pause.untilMs - nowMs }] : [];
    const [longest] = [
      ...partOf(ofApi, { credential: '', kind: '' }),
      ...partOf(ofKey?.whole, { credential, kind: '' }),
      ...partOf(ofKey?.kinds.get(kind), { credential, kind }),
    ].toSorted((a, b) => b.forMs - a.forMs);
    return longest;
  }

  /** All that is paused with the keys that these credentials have now, and for how long. A key may have several names. */
  pauses(credentials: Iterable<string>): readonly PausedPart[] {
    const nowMs = performance.now();
    const { ofApi, isAny } = this.#pauses;
    const parts: PausedPart[] = [];
    // There may be a thousand credentials.
    if (!isAny) return parts;
    const add = (credential: string, kind: string, pause: Pause | undefined) => {
      if (pause && pause.untilMs > nowMs) parts.push({ credential, kind, forMs: pause.untilMs - nowMs });
    };
    add('', '', ofApi);
    for (const credential of credentials) {
      const { whole, kinds = [] } = this.#pausesOf(credential) ?? {};
      add(credential, '', whole);
      for (const [kind, pause] of kinds) add(credential, kind, pause);
    }
    return parts;
  }

  /** Starts nothing more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#isClosed = true;
  }

  #pausesOf(credential: string): Readonly<KeyPauses> | undefined {
    return this.#pauses.isAny ? this.#pauses.ofKey(this.#keyIdOf(credential)) : undefined;
  }

  /** Whether a pause is longer than anything waits here. */
  #isGivenUp({ credential, kind }: Pick<QueueAddress, 'credential' | 'kind'>): boolean {
    const { longestPauseMs = Number.POSITIVE_INFINITY } = this.#pace;
    const nowMs = performance.now();
    const ofKey = this.#pausesOf(credential);
    return [this.#pauses.ofApi, ofKey?.whole, ofKey?.kinds.get(kind)].some(
      (pause) => pause && pause.untilMs > nowMs && pause.untilMs - pause.sinceMs > longestPauseMs,
    );
  }

  #giveUpPaused(): void {
    for (const { keys } of this.#accounts.values())
      for (const { credential, queues } of keys.values())
        for (const { kind, further, first } of queues.values())
          for (const waiter of this.#isGivenUp({ credential, kind }) ? [...further, ...first] : [])
            waiter.giveUp(new PausedError('paused for too long'));
  }

  // The queues.

  #pathOf({ account: name, credential, kind, queue: queueName }: QueueAddress): QueuePath {
    // A new one goes before the one that had the last turn. Before all others it would let those that come and go have all the turns.
    const of = { turn: this.#turn - 1, inFlight: 0 };
    const account: Account = this.#accounts.get(name) ?? { ...of, name, keys: new Map() };
    const key: Key = account.keys.get(credential) ?? { ...of, credential, queues: new Map() };
    const queue: Queue = key.queues.get(queueName) ?? {
      ...of,
      name: queueName,
      kind,
      further: new Set(),
      first: new Set(),
    };
    this.#accounts.set(name, account);
    account.keys.set(credential, key);
    key.queues.set(queueName, queue);
    return [account, key, queue];
  }

  /** Forgets what neither waits nor has a request in flight. */
  #forget([account, key, queue]: QueuePath): void {
    if (!hasWaiters(queue) && queue.inFlight === 0) key.queues.delete(queue.name);
    if (key.queues.size === 0) account.keys.delete(key.credential);
    if (account.keys.size === 0) this.#accounts.delete(account.name);
  }

  /** Whether a key has something that may start now. */
  #isReady(key: Key, nowMs: number): boolean {
    if (this.#pausesOf(key.credential)) return this.#readyQueues(key, nowMs).length > 0;
    for (const queue of key.queues.values()) if (hasWaiters(queue)) return true;
    return false;
  }

  /** The queues of a key that have something that may start now. */
  #readyQueues({ credential, queues, inFlight }: Key, nowMs: number): readonly Queue[] {
    const waiting = [...queues.values()].filter(hasWaiters);
    const pauses = this.#pausesOf(credential);
    if (!pauses) return waiting;
    // Once a pause is over, a request shows whether what was paused is answered again.
    const isHeldBack = (pause: Pause | undefined, inFlightOf: () => number) =>
      pause !== undefined && (pause.untilMs > nowMs || inFlightOf() > 0);
    if (isHeldBack(pauses.whole, () => inFlight)) return [];
    const inFlightOf = (kind: string) =>
      [...queues.values()].reduce((sum, one) => sum + (one.kind === kind ? one.inFlight : 0), 0);
    const ready = waiting.filter(({ kind }) => !isHeldBack(pauses.kinds.get(kind), () => inFlightOf(kind)));
    if (!pauses.whole) return ready;
    const others = ready.filter(({ kind }) => !pauses.refusedSinceRead.has(kind));
    return others.length > 0 ? others : ready;
  }

  // Who is next.

  #serve(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting > 0 && this.#inFlight < this.#pace.maxConcurrency) {
      const { ofApi } = this.#pauses;
      // A request shows whether the API still is paused.
      if (ofApi && this.#inFlight > 0) return;
      const waitMs = this.#waitMs();
      const path = waitMs > 0 ? undefined : this.#findNext();
      if (!path) {
        this.#serveIn(waitMs > 0 ? waitMs : this.#pauseEndsInMs());
        return;
      }
      this.#start(path);
    }
  }

  /** Whose turn it is; undefined if nobody may start now. */
  #findNext(): QueuePath | undefined {
    const nowMs = performance.now();
    const { maxConcurrency } = this.#pace;
    // Never more than half of them: those that they are reserved for may have no request.
    const reserved = Math.min(this.#idleReserved(), Math.floor(maxConcurrency / 2));
    const isFree = maxConcurrency - this.#inFlight > reserved;
    const readyKeys = new Map<Account, readonly Key[]>();
    for (const account of this.#accounts.values()) {
      const keys = [...account.keys.values()].filter((key) => this.#isReady(key, nowMs));
      if (keys.length > 0) readyKeys.set(account, keys);
    }
    const ofAccount = shareOf(maxConcurrency, [...readyKeys.keys()], this.#accounts.values());
    return leastOf(
      readyKeys,
      ([account]) => account,
      ([account, keys]) => {
        if (account.inFlight >= ofAccount) return undefined;
        const busy = isFree ? undefined : busyQueues(account);
        const mayStart = ({ name }: Queue) => account.inFlight === 0 || !busy?.has(name);
        const ofKey = shareOf(ofAccount, keys, account.keys.values());
        return leastOf(keys, itself, (key) => {
          if (key.inFlight >= ofKey) return undefined;
          const queues = this.#readyQueues(key, nowMs).filter(mayStart);
          return leastOf(queues, itself, (queue) => [account, key, queue] as const);
        });
      },
    );
  }

  /** How many slots are kept for queues and accounts that have no request in flight. */
  #idleReserved(): number {
    const { queues, accounts } = this.#reserved;
    const busy = new Set<string>();
    for (const account of this.#accounts.values()) for (const name of busyQueues(account)) busy.add(name);
    let idle = 0;
    for (const name of queues) if (!busy.has(name)) idle++;
    for (const name of accounts) if (!this.#accounts.get(name)?.inFlight) idle++;
    return idle;
  }

  /** Gives a permit to the first of a queue. */
  #start(path: QueuePath): void {
    const [, , { further, first }] = path;
    const [waiter] = further.size > 0 ? further : first;
    this.#tokens -= 1;
    this.#turn++;
    for (const member of path) member.turn = this.#turn;
    this.#changeInFlight(path, 1);
    waiter?.start(this.#permit(path));
  }

  #changeInFlight(path: QueuePath, change: 1 | -1): void {
    this.#inFlight += change;
    for (const member of path) member.inFlight += change;
    this.#forget(path);
  }

  #permit(path: QueuePath): Permit {
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#changeInFlight(path, -1);
        this.#serve();
      },
    };
  }

  /** How long the next request must wait for a token or the end of a pause of the API. */
  #waitMs(): number {
    const nowMs = performance.now();
    const requestsPerSecond = this.#requestsPerSecond;
    const earned = ((nowMs - this.#refilledAtMs) / 1000) * requestsPerSecond;
    this.#tokens = Math.min(burstOf(requestsPerSecond), this.#tokens + earned);
    this.#refilledAtMs = nowMs;
    const pausedMs = (this.#pauses.ofApi?.untilMs ?? 0) - nowMs;
    return Math.max(pausedMs, ((1 - this.#tokens) / requestsPerSecond) * 1000);
  }

  /** How long it is until something that waits is paused no longer; infinite if nothing is paused. */
  #pauseEndsInMs(): number {
    const nowMs = performance.now();
    let inMs = Number.POSITIVE_INFINITY;
    for (const { keys } of this.#accounts.values()) {
      for (const { credential, queues } of keys.values()) {
        const pauses = this.#pausesOf(credential);
        for (const queue of pauses ? queues.values() : []) {
          const ofKind = pauses?.kinds.get(queue.kind);
          const untilMs = Math.max(pauses?.whole?.untilMs ?? 0, ofKind?.untilMs ?? 0);
          if (hasWaiters(queue) && untilMs > nowMs) inMs = Math.min(inMs, untilMs - nowMs);
        }
      }
    }
    return inMs;
  }

  #serveIn(waitMs: number): void {
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#serve(), Math.min(Math.ceil(waitMs), 60_000));
  }
}

/** What is found of the one whose last turn is the longest ago, of those of which something is found. */
function leastOf<One, Found>(
  all: Iterable<One>,
  memberOf: (one: One) => Member,
  find: (one: One) => Found | undefined,
): Found | undefined {
  let leastTurn = Number.POSITIVE_INFINITY;
  let found: Found | undefined;
  for (const one of all) {
    const { turn } = memberOf(one);
    const ofOne = turn < leastTurn ? find(one) : undefined;
    if (ofOne === undefined) continue;
    found = ofOne;
    leastTurn = turn;
  }
  return found;
}

/** The queues of an account that have a request in flight, with whichever key. */
function busyQueues({ keys }: Account): ReadonlySet<string> {
  const busy = new Set<string>();
  for (const { queues } of keys.values())
    for (const { name, inFlight } of queues.values()) if (inFlight > 0) busy.add(name);
  return busy;
}

function itself<One>(one: One): One {
  return one;
}

/** How many of the slots one of those that share them may have: all of them while no other waits. */
function shareOf(slots: number, ready: readonly Member[], all: Iterable<Member>): number {
  if (ready.length < 2) return slots;
  let wanting = ready.filter(({ inFlight }) => inFlight === 0).length;
  for (const { inFlight } of all) if (inFlight > 0) wanting++;
  return Math.max(1, Math.floor(slots / wanting));
}

function hasWaiters({ further, first }: Queue): boolean {
  return further.size + first.size > 0;
}
