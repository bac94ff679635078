/**
 * The loops of all that is polled, by the keys of their polls: never two of the same key at once, each waiting in the queue of
 * its kind at the pacer of its API.
 */
import { setMaxListeners } from 'node:events';
import type { Waiter } from '../api/pacer.ts';
import type { ApiName } from '../resources/resource.ts';
import type { Turns } from '../turns.ts';
import { Loop, type LoopContext } from './loop.ts';
import { Places } from './schedule.ts';
import type { Poll } from './target.ts';

/** The pacer of one API, as far as polls need it. */
export interface Pace {
  enqueue(queue: string, waiter: Waiter): void;
  /** The queues that polls wait in from now on. */
  setQueues(queues: Iterable<string>): void;
}

interface Queue {
  readonly places: Places;
  polls: number;
}

export class Loops {
  readonly #paceOf: (api: ApiName) => Pace;
  readonly #context: LoopContext;
  readonly #abort = new AbortController();
  readonly #loops = new Map<string, Loop>();
  /** Those that were added since the last `startAll`. */
  #new: Loop[] = [];
  /** By the key of a stopped loop: the end of its poll that is still under way. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #queues = new Map<ApiName, Map<string, Queue>>();
  #pending = 0;

  constructor(run: LoopContext['run'], paceOf: (api: ApiName) => Pace) {
    this.#paceOf = paceOf;
    this.#context = {
      run,
      enqueue: (poll, waiter) => paceOf(poll.api).enqueue(poll.queue, waiter),
      placesOf: (poll) => this.#queueOf(poll).places,
      anchorMs: performance.now(),
      signal: this.#abort.signal,
    };
    // Every request under way listens for the end.
    setMaxListeners(0, this.#abort.signal);
  }

  get(key: string): Loop | undefined {
    return this.#loops.get(key);
  }

  all(): Iterable<Loop> {
    return this.#loops.values();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** How many polls an API has. */
  countOf(api: ApiName): number {
    let polls = 0;
    for (const queue of this.#queues.get(api)?.values() ?? []) polls += queue.polls;
    return polls;
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    let queues = 0;
    for (const ofApi of this.#queues.values()) queues += ofApi.size;
    let fed = 0;
    for (const loop of this.#loops.values()) fed += loop.fed.size;
    return { loops: this.#loops.size, leaving: this.#leaving.size, queues, fed };
  }

  /** A new loop; it starts with `startAll`. */
  add(poll: Poll): void {
    const loop = new Loop(poll, this.#context);
    this.#loops.set(poll.key, loop);
    this.#queueOf(poll).polls++;
    this.#new.push(loop);
    this.#pending++;
  }

  /** How many have not been polled once. */
  get pending(): number {
    return this.#pending;
  }

  /** A loop has been polled. Returns whether that was the first time. */
  ended(loop: Loop): boolean {
    if (loop.hasEnded || loop.isStopped) return false;
    loop.hasEnded = true;
    this.#pending--;
    return true;
  }

  /** Starts what was added, in the order of offsets: what is polled together from then on is polled together at first, too. */
  async startAll(turns: Turns): Promise<void> {
    const added = this.#new.sort((a, b) => a.offset - b.offset);
    this.#new = [];
    for (const loop of added) {
      if (turns.isOver) await turns.next();
      const left = this.#leaving.get(loop.poll.key);
      if (left) void left.then(() => loop.start());
      else loop.start();
    }
    for (const [api, queues] of this.#queues) this.#paceOf(api).setQueues(queues.keys());
  }

  update(poll: Poll): void {
    const loop = this.#loops.get(poll.key);
    if (!loop) return;
    const before = loop.poll;
    this.#queueOf(poll).polls++;
    loop.update(poll);
    this.#release(before);
  }

  /** Returns the loop that is stopped. */
  stop(key: string): Loop | undefined {
    const loop = this.#loops.get(key);
    if (!loop) return undefined;
    if (!loop.hasEnded) this.#pending--;
    this.#loops.delete(key);
    const { running, poll } = loop;
    loop.stop();
    this.#release(poll);
    if (running)
      this.#leaving.set(
        key,
        running.then(() => void this.#leaving.delete(key)),
      );
    return loop;
  }

  /** Ends every poll; resolves when none is under way. */
  async end(): Promise<void> {
    this.#abort.abort(new Error('the exporter is stopping'));
    const running = [...this.#loops.values()].map((loop) => loop.running);
    for (const loop of this.#loops.values()) loop.stop();
    await Promise.allSettled([...running, ...this.#leaving.values()]);
  }

  #queueOf({ api, queue }: Poll): Queue {
    const queues = this.#queues.get(api) ?? new Map<string, Queue>();
    const known = queues.get(queue) ?? { places: new Places(), polls: 0 };
    this.#queues.set(api, queues.set(queue, known));
    return known;
  }

  #release({ api, queue }: Poll): void {
    const queues = this.#queues.get(api);
    const known = queues?.get(queue);
    if (known && --known.polls === 0) queues?.delete(queue);
  }
}
