/**
 * Decides when each request to an API may start: its rate, concurrency and pauses, with turns between accounts, then between the
 * keys of an account, then between the kinds that are read with a key.
 */

import { Fifo } from '../fifo.ts';
import { Pauses } from './pauses.ts';

/** The right to make one request. */
export interface Permit {
  /** Ends the request; a second call does nothing. */
  release(): void;
}

/**
 * Takes a permit when it is its turn. Returns false if it no longer wants one. Without a permit: its key is paused for longer than
 * anything waits here (see {@link Pace.longestPauseMs}); then it does not wait any more.
 */
export type Waiter = (permit: Permit | undefined) => boolean;

/** Where a request waits. */
export interface Lane {
  readonly account: string;
  /** The name of the key: that of the account, or of a part of it that has its own. */
  readonly credential: string;
  /** What is read, as a kind. */
  readonly queue: string;
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

/** Members that want something, in the order of their turns. Who had one goes to the end, who wants nothing leaves. */
class Line<Member extends { isInLine: boolean }> {
  readonly #members = new Fifo<Member>();
  readonly #isReady: (member: Member) => boolean;

  constructor(isReady: (member: Member) => boolean) {
    this.#isReady = isReady;
  }

  join(member: Member): void {
    if (member.isInLine) return;
    member.isInLine = true;
    this.#members.push(member);
  }

  /** Offers a turn to one after another, until one takes it. Only those that have a request in flight may refuse, so few do. */
  offer(take: (member: Member) => boolean): boolean {
    for (let left = this.#members.length; left > 0; left--) {
      const member = this.#members.shift();
      if (!member) return false;
      const isTaken = this.#isReady(member) && take(member);
      member.isInLine = false;
      if (this.#isReady(member)) this.join(member);
      if (isTaken) return true;
    }
    return false;
  }
}

/** What shares slots. */
interface Shared {
  /** How many of its members have something that may start now. */
  ready: number;
  /** How many of its members have that, or a request in flight. */
  wanting: number;
}

interface Account extends Shared {
  readonly name: string;
  readonly keys: Map<string, Key>;
  readonly line: Line<Key>;
  /** By kind: how many keys have something of it that may start now. */
  readonly readyKinds: Map<string, number>;
  inFlight: number;
  isInLine: boolean;
}

interface Key {
  readonly account: Account;
  readonly credential: string;
  readonly kinds: Map<string, Kind>;
  readonly line: Line<Kind>;
  waiting: number;
  inFlight: number;
  isInLine: boolean;
  /** As its account counts it. */
  isReady: boolean;
  isWanting: boolean;
}

interface Kind {
  readonly key: Key;
  readonly name: string;
  /** Of polls under way, for a page or a retry. They go first, so that the polls finish. */
  readonly continuing: Set<Waiter>;
  readonly fresh: Fifo<Waiter>;
  isInLine: boolean;
  /** Whether its account counts it as ready. */
  isReady: boolean;
}

/** Names that have a slot in reserve while none of their requests is in flight. */
class Reserved {
  #names: ReadonlySet<string> = new Set();
  readonly #inFlight = new Map<string, number>();
  /** How many have no request in flight. */
  idle = 0;

  set(names: Iterable<string>): void {
    this.#names = new Set(names);
    this.idle = [...this.#names].filter((name) => this.inFlight(name) === 0).length;
  }

  inFlight(name: string): number {
    return this.#inFlight.get(name) ?? 0;
  }

  add(name: string, change: 1 | -1): void {
    const before = this.inFlight(name);
    const after = before + change;
    if (after === 0) this.#inFlight.delete(name);
    else this.#inFlight.set(name, after);
    if (this.#names.has(name)) this.idle += Number(after === 0) - Number(before === 0);
  }
}

/**
 * A token bucket, and lanes that are served in turn. At most `requestsPerSecond` + the burst requests start in any second. While
 * others wait, an account has at most its share of `maxConcurrency`, and at least one slot; so has a key of the slots of its
 * account. A slot is reserved for each kind and account of `reserveFor` without a request in flight, so that hanging requests of
 * others cannot block it. Of a key that was paused, and of the API, one request tries before the others follow.
 */
export class Pacer {
  #pace: Pace;
  readonly #pauses = new Pauses();
  readonly #accounts = new Map<string, Account>();
  readonly #line = new Line<Account>(({ ready }) => ready > 0);
  readonly #shared: Shared = { ready: 0, wanting: 0 };
  readonly #reservedKinds = new Reserved();
  readonly #reservedAccounts = new Reserved();
  #inFlight = 0;
  #tokens: number;
  #refilledAtMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  /** By credential: when its pause ends. */
  readonly #resumptions = new Map<string, NodeJS.Timeout>();
  #isServing = false;
  #isClosed = false;

  constructor(pace: Pace) {
    this.#pace = pace;
    this.#tokens = burstOf(pace.requestsPerSecond);
  }

  /** Changes the pace; waiters keep their position. */
  setPace(pace: Pace): void {
    this.#pace = pace;
    // The timer was set for the old pace.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#serve();
  }

  /** Sets the kinds and the accounts that have a slot in reserve. Others are served all the same. */
  reserveFor({ queues, accounts }: Readonly<Record<'queues' | 'accounts', Iterable<string>>>): void {
    this.#reservedKinds.set(queues);
    this.#reservedAccounts.set(accounts);
    this.#serve();
  }

  /** How many lanes have a waiter or a request in flight. */
  get size(): number {
    let size = 0;
    for (const { keys } of this.#accounts.values()) for (const { kinds } of keys.values()) size += kinds.size;
    return size;
  }

  /** Adds a new poll to a lane. */
  enqueue(lane: Lane, waiter: Waiter): void {
    if (this.#isGivenUp(lane.credential)) {
      waiter(undefined);
      return;
    }
    const kind = this.#kindOf(lane);
    kind.fresh.push(waiter);
    this.#changeWaiting(kind, 1);
    this.#serve();
  }

  /**
   * A permit for a poll that is under way. Rejects if the signal is aborted first, if there is none by `untilMs`, if the poll was
   * stopped when its turn comes, or with a `PausedError`.
   *
   * @param untilMs as `performance.now()` counts; default: no limit
   */
  permit(lane: Lane, signal: AbortSignal, untilMs?: number, isStopped?: () => boolean): Promise<Permit> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isGivenUp(lane.credential)) throw new PausedError('paused for too long');
      const kind = this.#kindOf(lane);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const waiter: Waiter = (permit) => {
        // Another abort listener may have run first, and released this permit.
        if (signal.aborted) return false;
        settle();
        if (!permit) reject(new PausedError('paused for too long'));
        else if (isStopped?.()) reject(new Error('the poll was stopped'));
        else {
          resolve(permit);
          return true;
        }
        return false;
      };
      const giveUp = () => {
        settle();
        if (kind.continuing.delete(waiter)) this.#changeWaiting(kind, -1);
        reject(signal.aborted ? (signal.reason as Error) : new Error('no permit in time'));
      };
      const timer = untilMs === undefined ? undefined : setTimeout(giveUp, untilMs - performance.now());
      signal.addEventListener('abort', giveUp);
      kind.continuing.add(waiter);
      this.#changeWaiting(kind, 1);
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
    this.#recountKey(credential);
    if (this.#pace.longestPauseMs !== undefined) this.#giveUpPaused();
    return isChanged;
  }

  /** A request had another outcome than 429. isRead: whether it was answered well. */
  answered(credential: string, isRead: boolean): void {
    const { ofApi } = this.#pauses;
    const pause = this.#pauses.of(credential);
    this.#pauses.answered(credential, isRead, performance.now());
    if (!pause && !ofApi) return;
    this.#recountKey(credential);
    // It may be that of a pause of the API that has ended.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#serve();
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
    for (const timer of this.#resumptions.values()) clearTimeout(timer);
    this.#resumptions.clear();
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
      for (const key of account.keys.values()) if (this.#isGivenUp(key.credential)) this.#giveUp(key);
  }

  #giveUp(key: Key): void {
    for (const kind of key.kinds.values()) {
      for (let waiter = nextWaiter(kind); waiter; waiter = nextWaiter(kind)) {
        this.#changeWaiting(kind, -1);
        waiter(undefined);
      }
    }
  }

  // The lanes, and what is counted of them.

  #kindOf({ account: accountName, credential, queue }: Lane): Kind {
    let account = this.#accounts.get(accountName);
    if (!account) {
      account = {
        name: accountName,
        keys: new Map(),
        line: new Line<Key>(({ isReady }) => isReady),
        readyKinds: new Map(),
        inFlight: 0,
        isInLine: false,
        ready: 0,
        wanting: 0,
      };
      this.#accounts.set(accountName, account);
    }
    let key = account.keys.get(credential);
    if (!key) {
      key = {
        account,
        credential,
        kinds: new Map(),
        line: new Line<Kind>(hasWaiters),
        waiting: 0,
        inFlight: 0,
        isInLine: false,
        isReady: false,
        isWanting: false,
      };
      account.keys.set(credential, key);
    }
    let kind = key.kinds.get(queue);
    if (!kind) {
      kind = { key, name: queue, continuing: new Set(), fresh: new Fifo(), isInLine: false, isReady: false };
      key.kinds.set(queue, kind);
    }
    return kind;
  }

  #changeWaiting(kind: Kind, change: 1 | -1): void {
    const { key } = kind;
    key.waiting += change;
    if (hasWaiters(kind)) key.line.join(kind);
    this.#recount(key, kind);
  }

  #changeInFlight({ key, name }: Kind, change: 1 | -1): void {
    const { account } = key;
    this.#inFlight += change;
    account.inFlight += change;
    key.inFlight += change;
    this.#reservedKinds.add(name, change);
    this.#reservedAccounts.add(account.name, change);
    this.#recount(key);
  }

  /** Whether a key is paused, or a request shows whether it still is. */
  #isBlocked({ credential, inFlight }: Key): boolean {
    const pause = this.#pauses.of(credential);
    return pause !== undefined && (pause.untilMs > performance.now() || inFlight > 0);
  }

  /** Brings up to date what is counted of a key, after any change of it. kind: the only one whose waiters have changed. */
  #recount(key: Key, kind?: Kind): void {
    const { account } = key;
    const wasReady = key.isReady;
    key.isReady = key.waiting > 0 && !this.#isBlocked(key);
    const isWanting = key.isReady || key.inFlight > 0;
    if (key.isReady && !wasReady) account.line.join(key);
    this.#count(account, key.isReady, wasReady, isWanting, key.isWanting);
    key.isWanting = isWanting;
    for (const one of key.isReady === wasReady ? (kind ? [kind] : []) : key.kinds.values())
      this.#recountKind(one);
    if (kind && !hasWaiters(kind)) key.kinds.delete(kind.name);
    if (key.waiting > 0 || key.inFlight > 0) return;
    account.keys.delete(key.credential);
    if (account.keys.size === 0) this.#accounts.delete(account.name);
  }

  #recountKind(kind: Kind): void {
    const { key, name } = kind;
    const { readyKinds } = key.account;
    const isReady = key.isReady && hasWaiters(kind);
    if (isReady === kind.isReady) return;
    kind.isReady = isReady;
    readyKinds.set(name, (readyKinds.get(name) ?? 0) + (isReady ? 1 : -1));
    if (readyKinds.get(name) === 0) readyKinds.delete(name);
  }

  #count(
    account: Account,
    isReady: boolean,
    wasReady: boolean,
    isWanting: boolean,
    wasWanting: boolean,
  ): void {
    const before = { isReady: account.ready > 0, isWanting: account.wanting > 0 };
    account.ready += Number(isReady) - Number(wasReady);
    account.wanting += Number(isWanting) - Number(wasWanting);
    this.#shared.ready += Number(account.ready > 0) - Number(before.isReady);
    this.#shared.wanting += Number(account.wanting > 0) - Number(before.isWanting);
    if (account.ready > 0) this.#line.join(account);
  }

  /** After a change of its pause. */
  #recountKey(credential: string): void {
    clearTimeout(this.#resumptions.get(credential));
    this.#resumptions.delete(credential);
    const waitMs = (this.#pauses.of(credential)?.untilMs ?? 0) - performance.now();
    const resume = () => {
      this.#recountKey(credential);
      this.#serve();
    };
    if (waitMs > 0 && !this.#isClosed)
      this.#resumptions.set(credential, setTimeout(resume, Math.ceil(waitMs)));
    for (const { keys } of this.#accounts.values()) {
      const key = keys.get(credential);
      if (key) this.#recount(key);
    }
  }

  // Who is next.

  #serve(): void {
    if (this.#isClosed || this.#isServing) return;
    this.#isServing = true;
    try {
      while (this.#shared.ready > 0 && this.#inFlight < this.#pace.maxConcurrency) {
        const { ofApi } = this.#pauses;
        // A request shows whether the API still is paused.
        if (ofApi && this.#inFlight > 0) return;
        const waitMs = this.#waitMs();
        if (waitMs > 0) {
          this.#serveIn(waitMs);
          return;
        }
        if (!this.#serveOne()) return;
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** Gives a permit to whom it is due. Returns false if there is nobody. */
  #serveOne(): boolean {
    const { maxConcurrency } = this.#pace;
    const free = maxConcurrency - this.#inFlight;
    // Never more than half of them: those that they are reserved for may have no request.
    const reserved = Math.min(
      this.#reservedKinds.idle + this.#reservedAccounts.idle,
      Math.floor(maxConcurrency / 2),
    );
    return this.#line.offer((account) => {
      const ofAccount = shareOf(maxConcurrency, this.#shared);
      if (account.inFlight >= ofAccount) return false;
      const isFree = free > reserved || account.inFlight === 0;
      const mayStart = (name: string) => isFree || this.#reservedKinds.inFlight(name) === 0;
      // There may be a thousand keys, but few kinds.
      if (!isFree && ![...account.readyKinds.keys()].some(mayStart)) return false;
      const ofKey = shareOf(ofAccount, account);
      return account.line.offer(
        (key) => key.inFlight < ofKey && key.line.offer((kind) => mayStart(kind.name) && this.#start(kind)),
      );
    });
  }

  /** Gives a permit to the first of a kind that wants it. */
  #start(kind: Kind): boolean {
    for (let waiter = nextWaiter(kind); waiter; waiter = nextWaiter(kind)) {
      this.#changeInFlight(kind, 1);
      this.#changeWaiting(kind, -1);
      this.#tokens -= 1;
      if (waiter(this.#permit(kind))) return true;
      this.#tokens += 1;
      this.#changeInFlight(kind, -1);
    }
    return false;
  }

  #permit(kind: Kind): Permit {
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#changeInFlight(kind, -1);
        this.#serve();
      },
    };
  }

  /** How long the next request must wait for a token or the end of a pause of the API. */
  #waitMs(): number {
    const nowMs = performance.now();
    const { requestsPerSecond } = this.#pace;
    const earned = ((nowMs - this.#refilledAtMs) / 1000) * requestsPerSecond;
    this.#tokens = Math.min(burstOf(requestsPerSecond), this.#tokens + earned);
    this.#refilledAtMs = nowMs;
    const pausedMs = (this.#pauses.ofApi?.untilMs ?? 0) - nowMs;
    return Math.max(pausedMs, ((1 - this.#tokens) / requestsPerSecond) * 1000);
  }

  #serveIn(waitMs: number): void {
    const serve = () => {
      this.#timer = undefined;
      this.#serve();
    };
    this.#timer ??= setTimeout(serve, Math.min(Math.ceil(waitMs), 60_000));
  }
}

/** How many of the slots one of those that share them may have: all of them while no other waits. */
function shareOf(slots: number, { ready, wanting }: Shared): number {
  return ready > 1 ? Math.max(1, Math.floor(slots / wanting)) : slots;
}

function hasWaiters({ continuing, fresh }: Kind): boolean {
  return continuing.size + fresh.length > 0;
}

function nextWaiter({ continuing, fresh }: Kind): Waiter | undefined {
  const [first] = continuing;
  if (!first) return fresh.shift();
  continuing.delete(first);
  return first;
}
