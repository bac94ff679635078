/**
 * The counters of all targets. Where they are saved, they outlive their targets: what left goes on when it comes back, also after a
 * restart. Elsewhere they end with the target.
 */

import { unixOf, uptimeOf } from '../clock.ts';
import { type Ids, idText } from '../resources/resource.ts';
import { dayMs } from '../resources/times.ts';
import { Counters } from './counters.ts';
import type { StateFile, TargetState } from './state-form.ts';

/** How long counters of what left are kept, and of how many targets at least. Of more, those that left first go. */
const leftMaxMs = 28 * dayMs;
const leftMax = 1000;

/** Whose counters they are: at another address it is another target, with another account it is the same. */
interface Whose {
  readonly kind: string;
  readonly ids: Ids;
  readonly baseUrl: string;
  readonly account: string;
}

interface Entry extends Whose {
  readonly counters: Counters;
  /**
   * awaited: an earlier process polled it, and what lists it may not have been read yet. A number: when it left, by
   * the clock that never jumps, since the other one may be set meanwhile.
   */
  readonly state: 'polled' | 'awaited' | number;
}

export interface BookOptions {
  /** Where counters are saved: called when a series has begun. */
  readonly onBegun?: (() => void) | undefined;
  /** The kinds of which a listing was never complete, so that more of their targets may be found. */
  readonly unlistedKinds: () => ReadonlySet<string>;
  /** Unix time. */
  readonly now: () => number;
  /** A clock that never jumps. */
  readonly uptimeMs: () => number;
}

export class CounterBook {
  readonly #options: BookOptions;
  readonly #entries = new Map<string, Entry>();
  #polled = 0;
  /** The most that were polled at once, also by the processes before, as far as the state tells. */
  #mostPolled = 0;

  constructor(options: BookOptions) {
    this.#options = options;
  }

  /** Goes on with what an earlier process has counted. Keeps nothing of the state. */
  restore({ targets }: Pick<StateFile, 'targets'>): void {
    const { onBegun, now, uptimeMs } = this.#options;
    const at = { nowMs: now(), uptimeMs: uptimeMs() };
    for (const target of targets) {
      const counters = Counters.restored(target, at, onBegun);
      const whose = whoseOf({ ...target, baseUrl: target.base_url });
      const state = target.left === undefined ? 'awaited' : uptimeOf(target.left * 1000, at);
      if (counters) this.#entries.set(keyOf(whose), { ...whose, counters, state });
    }
    const polled = targets.reduce((sum, { left }) => sum + Number(left === undefined), 0);
    // Of those that left, twice as many are kept as were polled at once: half of them were.
    this.#mostPolled = Math.max(polled, Math.ceil((targets.length - polled) / 2));
  }

  /** The counters of a target that is polled from now on; undefined where its kind has none. */
  open(target: Whose): Counters | undefined {
    const key = keyOf(target);
    const known = this.#entries.get(key);
    const counters = known?.counters ?? Counters.of(target.kind, this.#options.onBegun);
    if (!counters) return undefined;
    this.#entries.set(key, { ...whoseOf(target), counters, state: 'polled' });
    if (known?.state !== 'polled') this.#polled++;
    this.#mostPolled = Math.max(this.#mostPolled, this.#polled);
    return counters;
  }

  /** A target is polled no longer. */
  close(target: Whose): void {
    const key = keyOf(target);
    const entry = this.#entries.get(key);
    if (entry?.state !== 'polled') return;
    this.#polled--;
    if (!this.#options.onBegun) this.#entries.delete(key);
    else this.#entries.set(key, { ...entry, ...whoseOf(target), state: this.#options.uptimeMs() });
  }

  /** What is to be saved, each target as it is when its turn comes. */
  *states(): Iterable<TargetState> {
    const { now, uptimeMs } = this.#options;
    this.#forget(uptimeMs());
    for (const { kind, ids, baseUrl, account, counters, state } of this.#entries.values()) {
      const at = { nowMs: now(), uptimeMs: uptimeMs() };
      const saved = counters.stateAt(at);
      const left = typeof state === 'number' ? { left: Math.round(unixOf(state, at)) / 1000 } : {};
      if (saved) yield { kind, ids, base_url: baseUrl, account, ...saved, ...left };
    }
  }

  /** What is awaited, and what no complete listing had, has left. What left long ago is forgotten. */
  #forget(uptimeMs: number): void {
    const unlisted = this.#options.unlistedKinds();
    const left: (readonly [key: string, leftMs: number])[] = [];
    for (const [key, entry] of this.#entries) {
      const isGone = entry.state === 'awaited' && !unlisted.has(entry.kind);
      if (isGone) this.#entries.set(key, { ...entry, state: uptimeMs });
      const leftMs = isGone ? uptimeMs : entry.state;
      if (typeof leftMs === 'number') left.push([key, leftMs]);
    }
    const most = Math.max(leftMax, 2 * this.#mostPolled);
    left.sort(([, a], [, b]) => b - a);
    for (const [at, [key, leftMs]] of left.entries())
      if (at >= most || leftMs < uptimeMs - leftMaxMs) this.#entries.delete(key);
  }
}

function whoseOf({ kind, ids, baseUrl, account }: Whose): Whose {
  return { kind, ids, baseUrl, account };
}

function keyOf({ kind, ids, baseUrl }: Whose): string {
  return `${kind}/${idText(ids)}@${baseUrl}`;
}
