/**
 * The counters of all targets. Where they are saved, they outlive their targets: what left goes on when it comes back, also after a
 * restart. Elsewhere they end with the target.
 */
import type { StateFile, TargetState } from '../state/form.ts';
import { Counters } from './counters.ts';
import { idText } from './discovered.ts';
import type { Target } from './spec.ts';

/** How long counters of what left are kept. */
const keptMs = 28 * 86_400_000;

/** Whose counters they are: at another address it is another target, with another account it is the same. */
type Whose = Pick<Target, 'kind' | 'ids' | 'baseUrl' | 'account'>;

interface Entry extends Whose {
  readonly counters: Counters;
  /** When the target left; undefined while it is polled. Unix time. */
  readonly leftMs: number | undefined;
}

export interface BookOptions {
  /** What an earlier process has counted. */
  readonly state?: StateFile | undefined;
  /** Where counters are saved: called when a series has begun. */
  readonly onBegun?: (() => void) | undefined;
  /** Unix time. */
  readonly now: () => number;
  /** A clock that never jumps. */
  readonly uptimeMs: () => number;
}

export class CounterBook {
  readonly #options: BookOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: BookOptions) {
    const { state, onBegun, now, uptimeMs } = options;
    this.#options = options;
    const at = { nowMs: now(), uptimeMs: uptimeMs() };
    for (const target of state?.targets ?? []) {
      const counters = Counters.restored(target, at, onBegun);
      const whose = whoseOf({ ...target, baseUrl: target.base_url });
      // What no listing has found yet may still be there.
      const leftMs = target.left === undefined ? at.nowMs : target.left * 1000;
      if (counters) this.#entries.set(keyOf(whose), { ...whose, counters, leftMs });
    }
  }

  /** The counters of a target that is polled from now on; undefined where its kind has none. */
  open(target: Whose): Counters | undefined {
    const key = keyOf(target);
    const counters = this.#entries.get(key)?.counters ?? Counters.of(target.kind, this.#options.onBegun);
    if (counters) this.#entries.set(key, { ...whoseOf(target), counters, leftMs: undefined });
    return counters;
  }

  /** A target is polled no longer. */
  close(target: Whose): void {
    const key = keyOf(target);
    const entry = this.#entries.get(key);
    if (!this.#options.onBegun) this.#entries.delete(key);
    else if (entry) this.#entries.set(key, { ...entry, ...whoseOf(target), leftMs: this.#options.now() });
  }

  /** What is to be saved, each target as it is when its turn comes. Forgets what left long ago. */
  *states(): Iterable<TargetState> {
    const oldestMs = this.#options.now() - keptMs;
    for (const [key, { leftMs }] of this.#entries)
      if (leftMs !== undefined && leftMs < oldestMs) this.#entries.delete(key);
    const { now, uptimeMs } = this.#options;
    for (const entry of this.#entries.values()) {
      const saved = entry.counters.stateAt({ nowMs: now(), uptimeMs: uptimeMs() });
      if (!saved) continue;
      const { kind, ids, baseUrl, account, leftMs } = entry;
      yield {
        kind,
        ids,
        base_url: baseUrl,
        account,
        ...saved,
        ...(leftMs !== undefined && { left: leftMs / 1000 }),
      };
    }
  }
}

function whoseOf({ kind, ids, baseUrl, account }: Whose): Whose {
  return { kind, ids, baseUrl, account };
}

function keyOf({ kind, ids, baseUrl }: Whose): string {
  return `${kind}/${idText(ids)}@${baseUrl}`;
}
