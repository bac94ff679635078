/**
 * Tells a refused key from a single thing that a key may not read. A key is refused when nothing of its API succeeds with it.
 * Until that is known, another poll is asked and the verdict waits.
 */
import type { ApiName } from '../resources/resource.ts';
import type { Poll } from './target.ts';

/** Told once whether the key is refused. */
type OnVerdict = (isKeyRefused: boolean) => void;

/** What the latest poll says about the key. A timeout says nothing and leaves the standing as it was. */
type Standing = 'pending' | 'unknown' | 'accepted' | 'refused';

/** If something was read with the key this recently, no probe is needed. */
const recentMs = 2000;

/** One key at one API. */
class CheckedKey {
  readonly api: ApiName;
  readonly #standings = new Map<string, Standing>();
  readonly #counts: Record<Standing, number> = { pending: 0, unknown: 0, accepted: 0, refused: 0 };
  readonly #waiting = new Map<string, OnVerdict>();
  /** The poll that is asked again to learn whether the key still works. */
  #probe: string | undefined;
  #lastSuccessMs = Number.NEGATIVE_INFINITY;
  isRefused = false;

  constructor(api: ApiName) {
    this.api = api;
  }

  get isUsed(): boolean {
    return this.#standings.size > 0;
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  has(pollKey: string): boolean {
    return this.#standings.has(pollKey);
  }

  remove(pollKey: string): void {
    this.#waiting.delete(pollKey);
    this.#set(pollKey, undefined);
    if (this.#counts.refused === 0) this.isRefused = false;
    this.#ended(pollKey);
  }

  /** Returns the polls that were refused and may work now. */
  succeeded(pollKey: string): readonly string[] {
    const wasRefused = this.isRefused;
    this.#set(pollKey, 'accepted');
    this.#lastSuccessMs = performance.now();
    this.#probe = undefined;
    this.decide();
    if (!wasRefused) return [];
    return [...this.#standings].flatMap(([key, standing]) => (standing === 'refused' ? [key] : []));
  }

  add(pollKey: string): void {
    this.#set(pollKey, 'pending');
  }

  failed(pollKey: string): void {
    if (this.#standings.get(pollKey) === 'pending') this.#set(pollKey, 'unknown');
    this.#ended(pollKey);
  }

  /** Returns the poll to ask now, if one is needed for the verdict. */
  refused(pollKey: string, onVerdict: OnVerdict): string | undefined {
    this.#set(pollKey, 'refused');
    this.#waiting.set(pollKey, onVerdict);
    if (this.#probe === pollKey) this.#probe = undefined;
    if (performance.now() - this.#lastSuccessMs < recentMs) this.decide();
    else if (this.#probe !== undefined) return undefined;
    else if (this.#counts.accepted > 0) this.#probe = this.#chooseProbe(pollKey);
    else if (this.#counts.pending === 0) this.decide();
    return this.#probe;
  }

  decide(): void {
    const { accepted, refused } = this.#counts;
    this.isRefused = refused > 0 && accepted === 0;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const onVerdict of waiting) onVerdict(this.isRefused);
  }

  /** A poll ended without saying anything about the key, or is no longer wanted: the verdict may have waited for it. */
  #ended(pollKey: string): void {
    if (this.#probe === pollKey) this.#probe = undefined;
    else if (this.#probe !== undefined || this.#counts.pending > 0) return;
    if (this.isWaiting) this.decide();
  }

  /** Things of one kind are often refused together, so another kind tells more. A poll's key begins with its kind. */
  #chooseProbe(refused: string): string | undefined {
    const kind = /^\w+/.exec(refused)?.[0] ?? '';
    let probe: string | undefined;
    for (const [pollKey, standing] of this.#standings) {
      if (standing !== 'accepted') continue;
      if (!pollKey.startsWith(kind)) return pollKey;
      probe ??= pollKey;
    }
    return probe;
  }

  #set(pollKey: string, standing: Standing | undefined): void {
    const before = this.#standings.get(pollKey);
    if (before !== undefined) this.#counts[before]--;
    if (standing === undefined) {
      this.#standings.delete(pollKey);
    } else {
      this.#counts[standing]++;
      this.#standings.set(pollKey, standing);
    }
  }
}

export class KeyCheck {
  readonly #askNow: (pollKey: string) => void;
  readonly #keys = new Map<string, CheckedKey>();

  constructor(askNow: (pollKey: string) => void) {
    this.#askNow = askNow;
  }

  /** A poll is wanted from now on. */
  add({ api, credential, key }: Poll): void {
    const name = nameOf(api, credential);
    const checked = this.#keys.get(name) ?? new CheckedKey(api);
    this.#keys.set(name, checked);
    checked.add(key);
  }

  /** A poll is wanted no more. */
  remove(poll: Poll): void {
    const checked = this.#keyOf(poll);
    checked?.remove(poll.key);
    if (checked?.isUsed === false) this.#keys.delete(nameOf(poll.api, poll.credential));
  }

  succeeded(poll: Poll): void {
    for (const key of this.#keyOf(poll)?.succeeded(poll.key) ?? []) this.#askNow(key);
  }

  /** It failed, but not because of its key. */
  failed(poll: Poll): void {
    this.#keyOf(poll)?.failed(poll.key);
  }

  /** It got 401 or 403, or the key cannot be read. */
  refused(poll: Poll, onVerdict: OnVerdict): void {
    const probe = this.#keyOf(poll)?.refused(poll.key, onVerdict);
    if (probe !== undefined) this.#askNow(probe);
  }

  /** Decides the waiting verdicts by what is known: the probes take too long. */
  settle(): void {
    for (const checked of this.#keys.values()) if (checked.isWaiting) checked.decide();
  }

  get isWaiting(): boolean {
    for (const checked of this.#keys.values()) if (checked.isWaiting) return true;
    return false;
  }

  /** Whether nothing can be read with the key. */
  isRefused(api: ApiName, credential: string): boolean {
    return this.#keys.get(nameOf(api, credential))?.isRefused ?? false;
  }

  /** How many keys an API refuses. */
  refusedKeys(api: ApiName): number {
    let keys = 0;
    for (const checked of this.#keys.values()) if (checked.api === api && checked.isRefused) keys++;
    return keys;
  }

  /** Sizes by name: what must not grow while targets come and go. */
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
