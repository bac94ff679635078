/** The loops of everything that is polled, by key. Polls of the same key never overlap. */
import { setMaxListeners } from 'node:events';
import type { Pacer } from '../api/pacer.ts';
import { Fifo } from '../fifo.ts';
import type { ApiName } from '../resources/resource.ts';
import { Turns } from '../turns.ts';
import { Loop, type LoopContext } from './loop.ts';
import type { Poll } from './target.ts';

export type Pace = Pick<Pacer, 'enqueue' | 'setQueues'>;

export interface PollsOptions {
  readonly paceOf: (api: ApiName) => Pace;
  readonly run: LoopContext['run'];
}

export class Polls {
  readonly #abort = new AbortController();
  readonly #context: LoopContext;
  readonly #loops = new Map<string, Loop>();
  /** Those that have not begun. A plan may add very many. */
  readonly #starting = new Fifo<Loop>();
  /** The last poll of a stopped loop, while it is under way. */
  readonly #leaving = new Map<string, Promise<void>>();

  constructor({ paceOf, run }: PollsOptions) {
    this.#context = {
      run,
      enqueue: ({ api, queue }, waiter) => paceOf(api).enqueue(queue, waiter),
      signal: this.#abort.signal,
    };
    // Every request under way listens to it.
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

  /** A poll that is added again starts after its old request has ended. */
  add(poll: Poll): Loop {
    const loop = new Loop(poll, this.#context);
    this.#loops.set(poll.key, loop);
    const leaving = this.#leaving.get(poll.key);
    if (leaving) void leaving.then(() => this.#start(loop));
    else this.#start(loop);
    return loop;
  }

  /** Has a loop begin soon, with the others that do a few milliseconds at a time. */
  #start(loop: Loop): void {
    this.#starting.push(loop);
    if (this.#starting.length === 1) setTimeout(() => this.#startSome());
  }

  #startSome(): void {
    for (const turns = new Turns(); this.#starting.length > 0 && !turns.isOver; )
      this.#starting.shift()?.start();
    if (this.#starting.length > 0) setTimeout(() => this.#startSome());
  }

  remove(key: string): void {
    const loop = this.#loops.get(key);
    if (!loop) return;
    const { running } = loop;
    const forget = () => void this.#leaving.delete(key);
    if (running) this.#leaving.set(key, running.then(forget));
    loop.stop();
    this.#loops.delete(key);
  }

  /** Ends every poll; resolves when none is under way. */
  async end(): Promise<void> {
    this.#abort.abort(new Error('the exporter is stopping'));
    const running = [...this.#loops.values()].map((loop) => loop.running);
    for (const loop of this.#loops.values()) loop.stop();
    await Promise.allSettled([...running, ...this.#leaving.values()]);
  }
}
