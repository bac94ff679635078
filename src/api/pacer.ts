/** Decides when each request to an API may start: its rate, concurrency and pauses, shared fairly between queues. */

import { Fifo } from '../fifo.ts';

/** The right to make one request. */
export interface Permit {
  /** Ends the request; a second call does nothing. */
  release(): void;
}

/** Takes a permit when it is its turn. Returns false if it no longer wants one. */
export type Waiter = (permit: Permit) => boolean;

interface Queue {
  readonly name: string;
  /** Of polls under way, for a page or a retry. They go first, so that the polls finish. */
  readonly continuing: Set<Waiter>;
  readonly fresh: Fifo<Waiter>;
  inFlight: number;
  /** Whether a slot is kept for it. Other queues are deleted when they are empty. */
  isSet: boolean;
}

export interface Pace {
  readonly requestsPerSecond: number;
  readonly maxConcurrency: number;
}

/** How many may start at once after a rest: a twentieth of a second's worth, at least one. */
export function burstOf(requestsPerSecond: number): number {
  return Math.max(1, Math.floor(requestsPerSecond / 20));
}

/**
 * A token bucket, and queues that are served in turn. At most `requestsPerSecond` + the burst requests start in any second. A
 * slot of `maxConcurrency` is kept free for each queue of `setQueues` without a request in flight, so that hanging requests of
 * other queues cannot block it; with fewer slots than queues, they take turns.
 */
export class Pacer {
  #pace: Pace;
  /** In the order of their turns. */
  readonly #queues = new Map<string, Queue>();
  /** The name of the queue that was served last. */
  #lastServed = '';
  #inFlight = 0;
  #tokens: number;
  #refilledAtMs = performance.now();
  #pausedUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
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

  /** Sets the queues that a slot is kept for. Others exist, and are served, while they have waiters. */
  setQueues(names: Iterable<string>): void {
    for (const queue of this.#queues.values()) queue.isSet = false;
    for (const name of names) this.#queue(name).isSet = true;
    this.#serve();
  }

  /** How many queues there are. */
  get size(): number {
    return this.#queues.size;
  }

  /** Adds a new poll to a queue. */
  enqueue(queue: string, waiter: Waiter): void {
    this.#queue(queue).fresh.push(waiter);
    this.#serve();
  }

  /**
   * A permit for a poll that is under way. Rejects if the signal is aborted first, if there is none by `untilMs`, or if the poll
   * was stopped when its turn comes.
   *
   * @param untilMs as `performance.now()` counts; default: no limit
   */
  permit(queue: string, signal: AbortSignal, untilMs?: number, isStopped?: () => boolean): Promise<Permit> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const { continuing } = this.#queue(queue);
      const leave = () => {
        continuing.delete(waiter);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const waiter = (permit: Permit) => {
        // Another abort listener may have run first, and released this permit.
        if (signal.aborted) return false;
        leave();
        if (isStopped?.()) {
          reject(new Error('the poll was stopped'));
          return false;
        }
        resolve(permit);
        return true;
      };
      const giveUp = () => {
        leave();
        reject(signal.aborted ? (signal.reason as Error) : new Error('no permit in time'));
      };
      const timer = untilMs === undefined ? undefined : setTimeout(giveUp, untilMs - performance.now());
      signal.addEventListener('abort', giveUp);
      continuing.add(waiter);
      this.#serve();
    });
  }

  /** Starts nothing for this long; a longer pause stays as it is. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
  }

  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - performance.now());
  }

  /** Starts nothing more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#isClosed = true;
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name);
    if (known) return known;
    const queue: Queue = { name, continuing: new Set(), fresh: new Fifo(), inFlight: 0, isSet: false };
    this.#queues.set(name, queue);
    return queue;
  }

  /** Of the queues that may start a request, the one that has waited longest for its turn. */
  #choose(): Queue | undefined {
    // The queue that was served last goes to the end, also behind new ones.
    const last = this.#queues.get(this.#lastServed);
    if (last) {
      this.#queues.delete(last.name);
      this.#queues.set(last.name, last);
    }
    let idle = 0;
    for (const queue of this.#queues.values()) {
      if (queue.inFlight > 0) continue;
      if (queue.isSet) idle++;
      else if (!hasWaiters(queue)) this.#queues.delete(queue.name);
    }
    const free = this.#pace.maxConcurrency - this.#inFlight;
    // Never more than half of them: these queues may have no request.
    const kept = Math.min(idle, Math.floor(this.#pace.maxConcurrency / 2));
    for (const queue of this.#queues.values())
      if (hasWaiters(queue) && free > (queue.inFlight === 0 ? 0 : kept)) return queue;
    return undefined;
  }

  #serve(): void {
    if (this.#isClosed) return;
    for (let queue = this.#choose(); queue; queue = this.#choose()) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        this.#serveIn(waitMs);
        return;
      }
      const waiter = nextWaiter(queue);
      this.#tokens -= 1;
      if (waiter?.(this.#take(queue))) {
        this.#lastServed = queue.name;
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

  /** How long the next request must wait for a token or the end of a pause. */
  #waitMs(): number {
    const nowMs = performance.now();
    const { requestsPerSecond } = this.#pace;
    const earned = ((nowMs - this.#refilledAtMs) / 1000) * requestsPerSecond;
    this.#tokens = Math.min(burstOf(requestsPerSecond), this.#tokens + earned);
    this.#refilledAtMs = nowMs;
    return Math.max(this.#pausedUntilMs - nowMs, ((1 - this.#tokens) / requestsPerSecond) * 1000);
  }

  #serveIn(waitMs: number): void {
    const serve = () => {
      this.#timer = undefined;
      this.#serve();
    };
    this.#timer ??= setTimeout(serve, Math.min(Math.ceil(waitMs), 60_000));
  }
}

function hasWaiters({ continuing, fresh }: Queue): boolean {
  return continuing.size + fresh.length > 0;
}

function nextWaiter({ continuing, fresh }: Queue): Waiter | undefined {
  const [first] = continuing;
  if (!first) return fresh.shift();
  continuing.delete(first);
  return first;
}
