/**
 * Decides when each request to an API may start: requests per second, concurrency and pauses, shared fairly between the
 * queues that ask.
 */

/** The right to make one request. */
export interface Permit {
  /** Ends the request; a second call does nothing. */
  release(): void;
}

/** Called with its permit once it may start. Returns false if it no longer wants to, which then costs nothing. */
export type Waiter = (permit: Permit) => boolean;

/** First in, first out, without moving the rest at each step. */
class Fifo<Item> {
  #items: Item[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#head];
    this.#head++;
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

interface Queue {
  readonly name: string;
  /** Polls that have begun, waiting for a further page or a retry. They go first, so that what was begun ends. */
  readonly continuing: Set<Waiter>;
  readonly fresh: Fifo<Waiter>;
  inFlight: number;
  /** Whether a slot is kept for it. A queue that is not set goes away when it is empty. */
  isSet: boolean;
  /** The number of its last permit, counted over all queues. */
  lastPermit: number;
}

export interface Pace {
  readonly requestsPerSecond: number;
  readonly maxConcurrency: number;
}

/** How many requests may start at once after a rest: those of a twentieth of a second, at least one. */
export function burstOf(requestsPerSecond: number): number {
  return Math.max(1, Math.floor(requestsPerSecond / 20));
}

/**
 * A token bucket in front of queues that are served in turn. In any second at most `requestsPerSecond` + the burst
 * requests start. Each queue of `setQueues` that has no request in flight has one of the `maxConcurrency` slots kept
 * free, so that the hanging requests of the others cannot lock it out; with fewer slots than queues, they take turns.
 */
export class Pacer {
  #pace: Pace;
  #burst: number;
  readonly #queues = new Map<string, Queue>();
  /** Permits given so far. */
  #permits = 0;
  #inFlight = 0;
  #tokens: number;
  #refilledAtMs = performance.now();
  #pausedUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pace: Pace) {
    this.#pace = pace;
    this.#burst = burstOf(pace.requestsPerSecond);
    this.#tokens = this.#burst;
  }

  /** Changes the pace; waiters keep their position. */
  setPace(pace: Pace): void {
    this.#pace = pace;
    this.#burst = burstOf(pace.requestsPerSecond);
    // The current timer was computed from the old pace.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#serve();
  }

  /**
   * The queues that a slot is kept for from now on. One that is no longer among them keeps none, but its waiters are still
   * served. Other queues can be used as well: they come and go with their waiters.
   */
  setQueues(names: Iterable<string>): void {
    for (const queue of this.#queues.values()) queue.isSet = false;
    for (const name of names) this.#queue(name).isSet = true;
    this.#serve();
  }

  /** How many queues there are, the set ones and those with waiters. */
  get size(): number {
    return this.#queues.size;
  }

  /** Queues a new poll. */
  enqueue(queue: string, waiter: Waiter): void {
    this.#queue(queue).fresh.push(waiter);
    this.#serve();
  }

  /**
   * A permit for a poll that has begun. Rejects with the signal's reason if it is aborted first.
   *
   * @param untilMs when to give up and resolve with undefined, on the clock of `performance.now()`; default: never
   */
  permit(queue: string, signal: AbortSignal): Promise<Permit>;
  permit(queue: string, signal: AbortSignal, untilMs: number): Promise<Permit | undefined>;
  permit(queue: string, signal: AbortSignal, untilMs?: number): Promise<Permit | undefined> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const { continuing } = this.#queue(queue);
      const leave = () => {
        continuing.delete(waiter);
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const waiter = (permit: Permit) => {
        // An abort listener that ran before ours may have released the permit that would now be ours.
        if (signal.aborted) return false;
        leave();
        resolve(permit);
        return true;
      };
      const onAbort = () => {
        leave();
        reject(signal.reason as Error);
      };
      const onTooLate = () => {
        leave();
        resolve(undefined);
      };
      const timer = untilMs === undefined ? undefined : setTimeout(onTooLate, untilMs - performance.now());
      signal.addEventListener('abort', onAbort);
      continuing.add(waiter);
      this.#serve();
    });
  }

  /** Starts nothing for that long; never shortens a pause. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
  }

  /** How much of a pause is left, in milliseconds; Infinity once closed. */
  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - performance.now());
  }

  /** Starts nothing more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#pausedUntilMs = Number.POSITIVE_INFINITY;
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name);
    if (known) return known;
    const queue: Queue = {
      name,
      continuing: new Set(),
      fresh: new Fifo(),
      inFlight: 0,
      isSet: false,
      // In line behind all others but the one that was served last.
      lastPermit: this.#permits - 1,
    };
    this.#queues.set(name, queue);
    return queue;
  }

  /** Of the queues that have a waiter and may start a request, the one that was served longest ago. */
  #choose(): Queue | undefined {
    let idle = 0;
    for (const queue of this.#queues.values()) {
      if (queue.inFlight > 0) continue;
      if (queue.isSet) idle++;
      else if (!hasWaiters(queue)) this.#queues.delete(queue.name);
    }
    const free = this.#pace.maxConcurrency - this.#inFlight;
    // At most half of the slots stay free for queues that may have nothing to ask.
    const kept = Math.min(idle, Math.floor(this.#pace.maxConcurrency / 2));
    let next: Queue | undefined;
    for (const queue of this.#queues.values()) {
      if (!hasWaiters(queue) || free <= (queue.inFlight === 0 ? 0 : kept)) continue;
      if (!next || queue.lastPermit < next.lastPermit) next = queue;
    }
    return next;
  }

  #serve(): void {
    for (let queue = this.#choose(); queue; queue = this.#choose()) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        this.#serveIn(waitMs);
        return;
      }
      const waiter = nextWaiter(queue);
      this.#tokens -= 1;
      if (waiter?.(this.#take(queue))) {
        queue.lastPermit = ++this.#permits;
      } else {
        this.#tokens += 1;
        this.#giveBack(queue);
      }
    }
  }

  #take(queue: Queue): Permit {
    let held = true;
    queue.inFlight++;
    this.#inFlight++;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#giveBack(queue);
        this.#serve();
      },
    };
  }

  #giveBack(queue: Queue): void {
    queue.inFlight--;
    this.#inFlight--;
  }

  /** How long the next request has to wait for a token, or for the end of a pause. */
  #waitMs(): number {
    const nowMs = performance.now();
    const { requestsPerSecond } = this.#pace;
    const earned = ((nowMs - this.#refilledAtMs) / 1000) * requestsPerSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned);
    this.#refilledAtMs = nowMs;
    return Math.max(this.#pausedUntilMs - nowMs, ((1 - this.#tokens) / requestsPerSecond) * 1000);
  }

  #serveIn(waitMs: number): void {
    if (this.#timer || !Number.isFinite(waitMs)) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#serve();
      },
      Math.min(Math.ceil(waitMs), 60_000),
    );
  }
}

function hasWaiters({ continuing, fresh }: Queue): boolean {
  return continuing.size + fresh.size > 0;
}

function nextWaiter({ continuing, fresh }: Queue): Waiter | undefined {
  const [first] = continuing;
  if (!first) return fresh.shift();
  continuing.delete(first);
  return first;
}
