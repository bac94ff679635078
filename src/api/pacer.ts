/**
 * Who may ask an API when: its requests a second, its concurrency and its pauses, shared fairly by the kinds that ask it.
 * It knows nothing of what is asked.
 */

/** The right to make one request. */
export interface Turn {
  /** Frees the place; a second call does nothing. */
  release(): void;
}

/** Called when its turn has come; answers false when it does not want it any more, which then costs nothing. */
export type Waiter = (turn: Turn) => boolean;

/** First in, first out, without moving the rest at each step. */
class Queue<Item> {
  #items: Item[] = [];
  #head = 0;

  get length(): number {
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

interface Lane {
  /** Requests of polls that have begun: further pages and tries. They go first, so that what was begun ends. */
  readonly continuing: Queue<Waiter>;
  readonly fresh: Queue<Waiter>;
  inFlight: number;
  /** Whether the kind ever asked: for others no place is kept. */
  isUsed: boolean;
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
 * A token bucket before a round of lanes, one a kind. In any second at most `requestsPerSecond` + the burst requests
 * start. A kind that has no request under way has a place kept for it, so that the hanging requests of the others, even of
 * all of them, leave it one; where there are fewer places than kinds, they are taken in turn.
 */
export class Pacer {
  #pace: Pace;
  #burst: number;
  readonly #lanes: readonly Lane[];
  readonly #laneOf = new Map<string, Lane>();
  #nextLane = 0;
  #inFlight = 0;
  #tokens: number;
  #refilledAtMs = performance.now();
  #pausedUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pace: Pace, kinds: readonly string[]) {
    this.#pace = pace;
    this.#burst = burstOf(pace.requestsPerSecond);
    this.#tokens = this.#burst;
    for (const kind of kinds) {
      this.#laneOf.set(kind, {
        continuing: new Queue(),
        fresh: new Queue(),
        inFlight: 0,
        isUsed: false,
      });
    }
    this.#lanes = [...this.#laneOf.values()];
  }

  /** Goes on at another pace; who waits keeps the place in line. */
  setPace(pace: Pace): void {
    this.#pace = pace;
    this.#burst = burstOf(pace.requestsPerSecond);
    // The wait under way is that of the old pace.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#serve();
  }

  /** Puts a new poll of a kind in line. */
  enqueue(kind: string, waiter: Waiter): void {
    this.#lane(kind).fresh.push(waiter);
    this.#serve();
  }

  /** A turn for a poll that has begun. Rejects with the signal's reason when it is aborted first. */
  turn(kind: string, signal: AbortSignal): Promise<Turn> {
    const lane = this.#lane(kind);
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      lane.continuing.push((turn) => {
        signal.removeEventListener('abort', onAbort);
        if (!signal.aborted) resolve(turn);
        return !signal.aborted;
      });
      this.#serve();
    });
  }

  /** Lets nobody begin for that long; a pause that is under way is only ever prolonged. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
  }

  /** How much of a pause is left, in milliseconds. */
  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - performance.now());
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#pausedUntilMs = Number.POSITIVE_INFINITY;
  }

  #lane(kind: string): Lane {
    const lane = this.#laneOf.get(kind);
    if (!lane) throw new Error(`no lane for the kind ${kind}`);
    lane.isUsed = true;
    return lane;
  }

  /** The place in the round of the next lane that has somebody waiting and a place left. */
  #choose(): number | undefined {
    for (let step = 0; step < this.#lanes.length; step++) {
      const at = (this.#nextLane + step) % this.#lanes.length;
      const lane = this.#lanes[at];
      if (lane && lane.continuing.length + lane.fresh.length > 0 && this.#hasPlaceFor(lane)) return at;
    }
    return undefined;
  }

  #hasPlaceFor(lane: Lane): boolean {
    const free = this.#pace.maxConcurrency - this.#inFlight;
    if (lane.inFlight === 0) return free > 0;
    const idle = this.#lanes.filter((other) => other.isUsed && other.inFlight === 0).length;
    // Of a few places more than half are not left empty for who may come.
    return free > Math.min(idle, Math.floor(this.#pace.maxConcurrency / 2));
  }

  #serve(): void {
    for (;;) {
      const at = this.#choose();
      const lane = at === undefined ? undefined : this.#lanes[at];
      if (at === undefined || !lane) return;
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        this.#serveIn(waitMs);
        return;
      }
      const waiter = lane.continuing.shift() ?? lane.fresh.shift();
      this.#tokens -= 1;
      if (waiter?.(this.#take(lane))) {
        this.#nextLane = at + 1;
      } else {
        this.#tokens += 1;
        this.#giveBack(lane);
      }
    }
  }

  #take(lane: Lane): Turn {
    let held = true;
    lane.inFlight++;
    this.#inFlight++;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#giveBack(lane);
        this.#serve();
      },
    };
  }

  #giveBack(lane: Lane): void {
    lane.inFlight--;
    this.#inFlight--;
  }

  /** How long the next request has to wait for its token, or for the end of a pause. */
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
