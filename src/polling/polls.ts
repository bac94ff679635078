/**
 * The polls there are: it starts, changes and stops them as pools and providers decide, runs one when it is due, and takes note
 * of how it ended. What a listing has found is followed by others.
 */
import type { Permit } from '../api/pacer.ts';
import { type ApiName, type Found, isReadAlone, type Resource } from '../resources/resource.ts';
import { AddressCheck } from './address-check.ts';
import { FailureLog } from './failure-log.ts';
import { KeyCheck } from './key-check.ts';
import type { Loop } from './loop.ts';
import { Loops, type Pace } from './loops.ts';
import { isCounted, type Outcome, Poller, type PollerOptions, type PollObserver } from './poller.ts';
import type { TargetLoops } from './pool.ts';
import { type Poll, readPollOf, type Target } from './target.ts';

export interface PollsObserver extends PollObserver {
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
}

/** Where polls go, and who hears of them. */
export interface PollSources
  extends Pick<PollerOptions, 'clientOf' | 'log' | 'redact' | 'keySource' | 'isOnce'> {
  readonly observer: PollsObserver;
  readonly paceOf: (api: ApiName) => Pace;
}

export interface PollsOptions extends PollSources, Pick<PollerOptions, 'states' | 'foundBefore' | 'now'> {
  readonly baseUrlOf: (api: ApiName) => string | undefined;
  /** Whether a listing is about to give a reading to the targets that it feeds. */
  readonly isFedByItself: (loop: Loop) => boolean;
  /** The poll of a listing has ended. found: undefined when it failed. */
  readonly follow: (
    loop: Loop,
    found: readonly Found[] | undefined,
    durationSeconds: number,
  ) => Promise<void>;
  readonly onFailed: () => void;
  /** A poll has ended for the first time, whatever the outcome. */
  readonly onFirstEnd: () => void;
}

export class Polls {
  /** Which keys are refused. */
  readonly keys = new KeyCheck((pollKey) => this.loops.get(pollKey)?.runNow());
  readonly failureLog: FailureLog;
  readonly loops: Loops;
  readonly poller: Poller;
  /** Whether polls came, changed or went since somebody last cared. */
  hasChanged = false;
  readonly #options: PollsOptions;
  readonly #addressCheck = new AddressCheck();

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

  /** The APIs may have other addresses from now on. */
  forgetAddresses(): void {
    this.#addressCheck.reset();
  }

  /** What a pool decides of the targets of a resource. */
  targetLoops(resource: Resource): TargetLoops {
    const { states } = this.#options;
    return {
      start: (target) => {
        states.add(target);
        if (isReadAlone(resource)) this.start(readPollOf(resource, target));
        else this.#feed(target);
      },
      update: (before, target, isOther) => {
        states.update(target);
        if (isReadAlone(resource)) {
          this.update(readPollOf(resource, target));
          if (isOther) this.loops.get(target.key)?.runNow();
        } else {
          this.loops.get(before.pollKey)?.unfeed(before);
          this.#feed(target);
        }
      },
      stop: (target) => {
        states.remove(target.key);
        if (isReadAlone(resource)) this.stop(target.key);
        else this.loops.get(target.pollKey)?.unfeed(target);
      },
    };
  }

  start(poll: Poll): void {
    this.loops.add(poll);
    this.keys.add(poll);
    this.hasChanged = true;
  }

  update(poll: Poll): void {
    const before = this.loops.get(poll.key)?.poll;
    this.loops.update(poll);
    this.hasChanged = true;
    if (!before || before.credential === poll.credential) return;
    this.keys.remove(before);
    this.keys.add(poll);
  }

  stop(key: string): void {
    const loop = this.loops.stop(key);
    this.hasChanged = true;
    this.failureLog.forget(key);
    if (!loop) return;
    this.#addressCheck.forget(loop.poll);
    this.keys.remove(loop.poll);
  }

  /** Asks at once what failed for a reason that may be gone now. credential: only what is asked with it. */
  retry(credential?: string): void {
    for (const loop of this.loops.all())
      if (loop.health.lasting > 0 && loop.poll.credential === (credential ?? loop.poll.credential))
        loop.runNow();
  }

  #feed(target: Target): void {
    const loop = this.loops.get(target.pollKey);
    loop?.feed(target);
    if (loop && !this.#options.isFedByItself(loop)) loop.runNow();
  }

  async #run(loop: Loop, permit: Permit, lagMs: number): Promise<number> {
    const { poll } = loop;
    if (isCounted(poll)) this.#options.observer.started(poll.kind, lagMs / 1000);
    const targets = () => (poll.type === 'read' ? [poll.target] : loop.fed.values());
    const outcome = await this.poller.poll(poll, targets, loop, permit);
    if (!loop.isStopped) await this.#ended(loop, poll, outcome);
    // Of a poll that is wanted no more, the log remembers nothing.
    if (!this.loops.get(poll.key)) this.failureLog.forget(poll.key);
    return outcome.backoffFactor;
  }

  async #ended(loop: Loop, poll: Poll, { found, durationSeconds, isMissing }: Outcome): Promise<void> {
    this.#checkAddress(poll, isMissing);
    if (loop.health.lastFailure) this.#options.onFailed();
    if (poll.type === 'listing') await this.#options.follow(loop, found, durationSeconds);
    // The poll of a target as it was before counts for nothing.
    else if (poll !== loop.poll) return;
    if (this.loops.ended(loop)) this.#options.onFirstEnd();
  }

  #checkAddress(poll: Poll, isMissing: boolean): void {
    const { api } = poll;
    if (!this.#addressCheck.ended(poll, isMissing, this.loops.countOf(api))) return;
    const url = this.#options.baseUrlOf(api);
    this.#options.log.warn(
      { api, base_url: url },
      `every request to ${url} answers HTTP 404: check apis.${api}.base_url`,
    );
  }
}
