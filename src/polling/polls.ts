/**
 * All polls: starts, changes and stops them as pools and providers decide, carries one out when it is due, and passes on how it
 * ended.
 */
import type { Permit } from '../api/pacer.ts';
import { type ApiName, apiNames, isReadAlone, type Resource } from '../resources/resource.ts';
import { FailureLog } from './failure-log.ts';
import { KeyCheck } from './key-check.ts';
import type { Loop } from './loop.ts';
import { Loops, type Pace } from './loops.ts';
import { type Outcome, Poller, type PollerOptions, type PollObserver } from './poller.ts';
import type { TargetLoops } from './pool.ts';
import { isCounted, type Poll, readPollOf, type Target } from './target.ts';

export interface PollsObserver extends PollObserver {
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
}

export interface PollsOptions extends Omit<PollerOptions, 'failureLog' | 'keyCheck'> {
  readonly observer: PollsObserver;
  readonly paceOf: (api: ApiName) => Pace;
  /** The poll of a loop ended while it was still wanted. */
  readonly onEnd: (loop: Loop, outcome: Outcome) => Promise<void>;
  /** A loop was polled for the first time. */
  readonly onFirstEnd: () => void;
}

export class Polls {
  readonly keys = new KeyCheck((pollKey) => this.loops.get(pollKey)?.runNow());
  readonly failureLog: FailureLog;
  readonly loops: Loops;
  readonly poller: Poller;
  /** Set when polls are added, changed or removed; the reader resets it. */
  hasChanged = false;
  readonly #options: PollsOptions;
  /** APIs that answered something other than a bare 404, or were warned about. */
  readonly #answering = new Set<ApiName>();

  constructor(options: PollsOptions) {
    this.#options = options;
    this.failureLog = new FailureLog(options.log);
    this.poller = new Poller({ ...options, failureLog: this.failureLog, keyCheck: this.keys });
    this.loops = new Loops((loop, permit, lagMs) => this.#run(loop, permit, lagMs), options.paceOf);
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { ...this.loops.sizes, ...this.failureLog.sizes, ...this.keys.sizes };
  }

  /** The loops for the targets of a resource: one each, or that of the listing which reads them. */
  targetLoops(resource: Resource): TargetLoops {
    const { states } = this.#options;
    if (isReadAlone(resource))
      return {
        start: (target) => {
          states.add(target);
          this.start(readPollOf(resource, target));
        },
        update: (target, isOther) => {
          states.update(target);
          this.update(readPollOf(resource, target));
          if (isOther) this.loops.get(target.key)?.runNow();
        },
        stop: ({ key }) => {
          states.remove(key);
          this.stop(key);
        },
      };
    return {
      start: (target) => {
        states.add(target);
        this.#askFor(target);
      },
      update: (target) => {
        states.update(target);
        this.#askFor(target);
      },
      stop: ({ key }) => states.remove(key),
    };
  }

  /** Asks the listing that reads a target, unless the target gets its reading from it anyway. */
  #askFor({ pollKey }: Target): void {
    const loop = this.loops.get(pollKey);
    if (loop?.hasEnded && !loop.isTakenOver) loop.runNow();
  }

  start(poll: Poll): void {
    this.loops.add(poll);
    this.keys.add(poll);
    this.hasChanged = true;
  }

  update(poll: Poll): void {
    const loop = this.loops.get(poll.key);
    if (!loop) return;
    const before = loop.poll;
    loop.update(poll);
    this.hasChanged = true;
    if (before.credential === poll.credential) return;
    this.keys.remove(before);
    this.keys.add(poll);
  }

  stop(key: string): void {
    const loop = this.loops.stop(key);
    this.hasChanged = true;
    this.failureLog.forget(key);
    if (loop) this.keys.remove(loop.poll);
  }

  /** Asks at once what failed for a reason that may be gone now. credential: only what is asked with it. */
  retry(credential?: string): void {
    for (const loop of this.loops.all())
      if (loop.health.lasting > 0 && loop.poll.credential === (credential ?? loop.poll.credential))
        loop.runNow();
  }

  /** The APIs may have other addresses from now on. */
  forgetAddresses(): void {
    this.#answering.clear();
  }

  /** Warns once of an API that answered every poll with 404: its base URL is wrong, or all of the ids are. */
  checkAddresses(baseUrlOf: (api: ApiName) => string): void {
    for (const api of apiNames) {
      if (this.#answering.has(api)) continue;
      const loops = [...this.loops.all()].filter(({ poll }) => poll.api === api);
      // One id can be wrong, but an account always has its listings, even if they are empty.
      const isCertain = loops.length > 1 || loops.some(({ poll }) => poll.type === 'listing' && !poll.parent);
      if (!isCertain || !loops.every(({ isMissing }) => isMissing)) continue;
      this.#answering.add(api);
      const url = baseUrlOf(api);
      this.#options.log.warn(
        { api, base_url: url },
        `every request to ${url} answers HTTP 404: check apis.${api}.base_url`,
      );
    }
  }

  async #run(loop: Loop, permit: Permit, lagMs: number): Promise<number> {
    const { poll } = loop;
    const { observer, onEnd, onFirstEnd } = this.#options;
    if (isCounted(poll)) observer.started(poll.kind, lagMs / 1000);
    const outcome = await this.poller.poll(poll, loop, permit);
    if (!loop.isStopped) {
      loop.isMissing = outcome.isMissing;
      if (!loop.isMissing) this.#answering.add(poll.api);
      await onEnd(loop, outcome);
      // The poll of a target as it was before does not count.
      const isOutdated = poll.type === 'read' && poll !== loop.poll;
      if (!isOutdated && this.loops.ended(loop)) onFirstEnd();
    }
    // The log must not remember a poll that was stopped meanwhile.
    if (!this.loops.get(poll.key)) this.failureLog.forget(poll.key);
    return outcome.backoffFactor;
  }
}
