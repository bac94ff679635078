/** The loops of everything that is polled, by the keys of their polls. There are never two polls of the same key at once. */
import { setMaxListeners } from 'node:events';
import type { Pacer } from '../api/pacer.ts';
import type { ApiName } from '../resources/resource.ts';
import type { Turns } from '../turns.ts';
import { Loop, type LoopContext } from './loop.ts';
import { Places } from './schedule.ts';
import type { Poll } from './target.ts';

export type Pace = Pick<Pacer, 'enqueue' | 'setQueues'>;

export class Loops {
  readonly #paceOf: (api: ApiName) => Pace;
  readonly #context: LoopContext;
  readonly #abort = new AbortController();
  readonly #loops = new Map<string, Loop>();
  /** Those added since the last `startAll`. */
  #new: Loop[] = [];
  /** The last poll of a stopped loop, while it is under way. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #queues = new Map<ApiName, Map<string, Places>>();
  #pending = 0;

  constructor(run: LoopContext['run'], paceOf: (api: ApiName) => Pace) {
    this.#paceOf = paceOf;
    this.#context = {
      run,
      enqueue: (poll, waiter) => paceOf(poll.api).enqueue(poll.queue, waiter),
      placesOf: (poll) => this.#placesOf(poll),
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

  /** How many have not been polled once. */
  get pending(): number {
    return this.#pending;
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { loops: this.#loops.size, leaving: this.#leaving.size };
  }

  /** Adds a loop, which `startAll` starts. */
  add(poll: Poll): void {
    const loop = new Loop(poll, this.#context);
    this.#loops.set(poll.key, loop);
    this.#new.push(loop);
    this.#pending++;
  }

  /** Notes that a loop was polled. Returns whether that was the first time. */
  ended(loop: Loop): boolean {
    if (loop.hasEnded || loop.isStopped) return false;
    loop.hasEnded = true;
    this.#pending--;
    return true;
  }

  /** Starts what was added, in the order of offsets, so that the first round has the order of the later ones. */
  async startAll(turns: Turns): Promise<void> {
    const added = this.#new.sort((a, b) => a.offset - b.offset);
    this.#new = [];
    for (const loop of added) {
      if (turns.isOver) await turns.next();
      const leaving = this.#leaving.get(loop.poll.key);
      if (leaving) void leaving.then(() => loop.start());
      else loop.start();
    }
    for (const [api, queues] of this.#queues) {
      const used = [...queues].filter(([, places]) => !places.isEmpty);
      this.#paceOf(api).setQueues(used.map(([queue]) => queue));
    }
  }

  /** Stops a loop and returns it. */
  stop(key: string): Loop | undefined {
    const loop = this.#loops.get(key);
    if (!loop) return undefined;
    if (!loop.hasEnded) this.#pending--;
    this.#loops.delete(key);
    const { running } = loop;
    loop.stop();
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

  #placesOf({ api, queue }: Poll): Places {
    const queues = this.#queues.get(api) ?? new Map<string, Places>();
    const places = queues.get(queue) ?? new Places();
    this.#queues.set(api, queues.set(queue, places));
    return places;
  }
}
