/**
 * Tells a refused key from a single thing that a key may not read. A key is refused when its API refuses something and
 * accepts nothing. Until that is known, the verdict waits for other polls with the key.
 */
import type { ApiName } from '../resources/resource.ts';
import type { Loop } from './loop.ts';
import type { Poll } from './target.ts';

type OnVerdict = (isKeyRefused: boolean) => void;

type LoopOf = (pollKey: string) => Pick<Loop, 'runNow' | 'hasten'> | undefined;

/** If something was read with the key this recently, the key is fine. */
const recentMs = 2000;

/** One key at one API. */
class CheckedKey {
  readonly api: ApiName;
  isRefused = false;
  /** The keys of its polls, by what the last answer said about the key. A timeout says nothing. */
  readonly pending = new Set<string>();
  readonly unknown = new Set<string>();
  readonly accepted = new Set<string>();
  readonly refused = new Set<string>();
  readonly #all = [this.pending, this.unknown, this.accepted, this.refused];
  readonly waiting = new Map<string, OnVerdict>();
  /** The poll that is asked again to learn whether the key still works. */
  probe: string | undefined;
  lastSuccessMs = Number.NEGATIVE_INFINITY;

  constructor(api: ApiName) {
    this.api = api;
  }

  has(pollKey: string): boolean {
    return this.#all.some((polls) => polls.has(pollKey));
  }

  get isEmpty(): boolean {
    return this.#all.every(({ size }) => size === 0);
  }

  move(pollKey: string, to: Set<string> | undefined): void {
    if (to?.has(pollKey)) return;
    for (const polls of this.#all) polls.delete(pollKey);
    to?.add(pollKey);
  }

  /** Decides by what is known so far. */
  decide(): void {
    this.isRefused = this.accepted.size === 0 && this.refused.size > 0;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const onVerdict of waiting) onVerdict(this.isRefused);
  }

  /** A poll ended or was removed. Decides, unless the end of another one can tell more. */
  ended(pollKey: string): void {
    if (this.probe === pollKey) this.probe = undefined;
    if (this.waiting.size > 0 && this.probe === undefined && this.pending.size === 0) this.decide();
  }
}

export class KeyCheck {
  readonly #loopOf: LoopOf;
  readonly #nowMs: () => number;
  readonly #keys = new Map<string, CheckedKey>();

  /** nowMs: a clock that never jumps. */
  constructor(loopOf: LoopOf, nowMs: () => number = () => performance.now()) {
    this.#loopOf = loopOf;
    this.#nowMs = nowMs;
  }

  add({ api, credential, key }: Poll): void {
    const name = nameOf(api, credential);
    const checked = this.#keys.get(name) ?? new CheckedKey(api);
    this.#keys.set(name, checked);
    checked.move(key, checked.pending);
  }

  remove(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    checked.waiting.delete(poll.key);
    checked.move(poll.key, undefined);
    checked.isRefused &&= checked.refused.size > 0;
    checked.ended(poll.key);
    if (checked.isEmpty) this.#keys.delete(nameOf(poll.api, poll.credential));
  }

  /** If the key was refused, everything that was refused is asked again. */
  succeeded(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    const { isRefused: wasRefused, waiting } = checked;
    checked.move(poll.key, checked.accepted);
    checked.lastSuccessMs = this.#nowMs();
    checked.probe = undefined;
    if (wasRefused || waiting.size > 0) checked.decide();
    if (wasRefused) for (const pollKey of checked.refused) this.#loopOf(pollKey)?.runNow();
  }

  /** It failed, but not because of its key. */
  failed(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    if (checked.pending.has(poll.key)) checked.move(poll.key, checked.unknown);
    checked.ended(poll.key);
  }

  /** It got 401 or 403, or its key cannot be read. If others were accepted, one of them is asked again. */
  refused(poll: Poll, onVerdict: OnVerdict): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    checked.move(poll.key, checked.refused);
    checked.waiting.set(poll.key, onVerdict);
    if (checked.probe === poll.key) checked.probe = undefined;
    const isRecent = this.#nowMs() - checked.lastSuccessMs < recentMs;
    if (!isRecent && checked.probe === undefined) {
      [checked.probe] = checked.accepted;
      // If it is being asked already, its answer is enough.
      if (checked.probe !== undefined) this.#loopOf(checked.probe)?.hasten();
    }
    checked.ended(poll.key);
  }

  /** Decides what still waits: other polls may take long. */
  settle(): void {
    for (const checked of this.#keys.values()) if (checked.waiting.size > 0) checked.decide();
  }

  refusedKeys(api: ApiName): number {
    return [...this.#keys.values()].filter((checked) => checked.api === api && checked.isRefused).length;
  }

  get sizes(): Readonly<Record<string, number>> {
    return { checkedKeys: this.#keys.size };
  }

  /** Undefined for a poll that is no longer wanted. */
  #keyOf({ api, credential, key }: Poll): CheckedKey | undefined {
    const checked = this.#keys.get(nameOf(api, credential));
    return checked?.has(key) ? checked : undefined;
  }
}

function nameOf(api: ApiName, credential: string): string {
  return `${api} ${credential}`;
}
