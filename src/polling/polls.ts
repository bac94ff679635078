/**
 * Everything that is polled, each thing by a loop. Pools and providers say what is wanted. Polls of the same key never
 * overlap.
 */
import { setMaxListeners } from 'node:events';
import type { Pacer, Permit } from '../api/pacer.ts';
import type { ListingLoops } from '../discovery/provider.ts';
import { type ApiName, isReadAlone, type Resource } from '../resources/resource.ts';
import type { FailureLog } from './failure-log.ts';
import type { KeyCheck } from './key-check.ts';
import { Loop, type LoopContext } from './loop.ts';
import type { TargetLoops } from './pool.ts';
import { type Poll, readPollOf, type Target } from './target.ts';
import type { TargetStates } from './target-states.ts';

export type Pace = Pick<Pacer, 'enqueue' | 'setQueues'>;

export interface PollsOptions {
  readonly resources: readonly Resource[];
  readonly states: Pick<TargetStates, 'add' | 'update' | 'remove'>;
  readonly keyCheck: KeyCheck;
  readonly failureLog: FailureLog;
  readonly paceOf: (api: ApiName) => Pace;
  readonly run: LoopContext['run'];
  readonly onFirstEnd: () => void;
}

export class Polls implements TargetLoops, ListingLoops {
  /** Set when polls are added, changed or removed. The engine resets it. */
  hasChanged = false;
  readonly #options: PollsOptions;
  readonly #abort = new AbortController();
  readonly #context: LoopContext;
  readonly #loops = new Map<string, Loop>();
  /** The last poll of a stopped loop, while it is under way. */
  readonly #leaving = new Map<string, Promise<void>>();
  #pending = 0;

  constructor(options: PollsOptions) {
    this.#options = options;
    this.#context = {
      run: (loop, permit, lagMs) => this.#run(loop, permit, lagMs),
      enqueue: ({ api, queue }, waiter) => options.paceOf(api).enqueue(queue, waiter),
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

  /** How many were not polled yet. */
  get pending(): number {
    return this.#pending;
  }

  get sizes(): Readonly<Record<string, number>> {
    return { loops: this.#loops.size, leaving: this.#leaving.size };
  }

  /** Polls a target: alone, or with the listing that reads it. */
  start(target: Target): void {
    this.#options.states.add(target);
    const poll = this.#readPollOf(target);
    if (poll) this.add(poll);
    else this.#askFor(target);
  }

  update(target: Target, isOther: boolean): void {
    this.#options.states.update(target);
    const poll = this.#readPollOf(target);
    if (poll) this.change(poll);
    else this.#askFor(target);
    if (poll && isOther) this.get(target.key)?.runNow();
  }

  stop({ key }: Target): void {
    this.#options.states.remove(key);
    this.remove(key);
  }

  add(poll: Poll): void {
    const loop = new Loop(poll, this.#context);
    this.#loops.set(poll.key, loop);
    this.#options.keyCheck.add(poll);
    this.#pending++;
    this.hasChanged = true;
    const leaving = this.#leaving.get(poll.key);
    if (leaving) void leaving.then(() => loop.start());
    else loop.start();
  }

  change(poll: Poll): void {
    const { keyCheck } = this.#options;
    const loop = this.#loops.get(poll.key);
    if (!loop) return;
    const before = loop.poll;
    loop.update(poll);
    this.hasChanged = true;
    if (before.credential === poll.credential) return;
    keyCheck.remove(before);
    keyCheck.add(poll);
  }

  remove(key: string): void {
    const { keyCheck, failureLog } = this.#options;
    const loop = this.#loops.get(key);
    if (!loop) return;
    const { running } = loop;
    const forget = () => void this.#leaving.delete(key);
    if (running) this.#leaving.set(key, running.then(forget));
    loop.stop();
    if (!loop.hasEnded) this.#pending--;
    this.#loops.delete(key);
    this.hasChanged = true;
    failureLog.forget(key);
    keyCheck.remove(loop.poll);
  }

  /** Asks at once what failed for a reason that may be gone. credential: only what is asked with it. */
  retry(credential?: string): void {
    for (const loop of this.#loops.values())
      if (loop.health.lasting > 0 && loop.poll.credential === (credential ?? loop.poll.credential))
        loop.runNow();
  }

  /** Whether an API answers every poll with 404, and gives no reason. */
  isNowhere(api: ApiName): boolean {
    const loops = [...this.#loops.values()].filter(({ poll }) => poll.api === api);
    // A single id can be wrong, but an account always has its listings.
    const isCertain = loops.length > 1 || loops.some(({ poll }) => poll.type === 'listing' && !poll.parent);
    return isCertain && loops.every(({ health }) => health.isMissing);
  }

  /** Ends every poll; resolves when none is under way. */
  async end(): Promise<void> {
    this.#abort.abort(new Error('the exporter is stopping'));
    const running = [...this.#loops.values()].map((loop) => loop.running);
    for (const loop of this.#loops.values()) loop.stop();
    await Promise.allSettled([...running, ...this.#leaving.values()]);
  }

  #readPollOf(target: Target): Poll | undefined {
    const resource = this.#options.resources.find(({ kind }) => kind === target.kind);
    return resource && isReadAlone(resource) ? readPollOf(resource, target) : undefined;
  }

  /** Asks the listing that reads a target, unless it is about to deliver readings. */
  #askFor({ pollKey }: Target): void {
    const loop = this.#loops.get(pollKey);
    if (loop?.hasEnded && !loop.isTakenOver) loop.runNow();
  }

  async #run(loop: Loop, permit: Permit, lagMs: number): Promise<number> {
    const { poll } = loop;
    const { run, onFirstEnd } = this.#options;
    const intervals = await run(loop, permit, lagMs);
    // The poll of a target that was replaced meanwhile does not count.
    const isOutdated = poll.type === 'read' && poll !== loop.poll;
    if (!loop.hasEnded && !loop.isStopped && !isOutdated) {
      loop.hasEnded = true;
      this.#pending--;
      onFirstEnd();
    }
    return intervals;
  }
}
