/**
 * Tells a refused key from a single thing that a key may not read. A key is refused when nothing of its API succeeds with it.
 * Until that is known, another poll of the key is asked and the verdict waits.
 */
import type { ApiName } from '../resources/resource.ts';
import type { Poll } from './target.ts';

type OnVerdict = (isKeyRefused: boolean) => void;

/** What the latest poll says about the key. A timeout says nothing and leaves the standing as it was. */
type Standing = 'pending' | 'unknown' | 'accepted' | 'refused';

/** If something was read with the key this recently, the key is fine. */
const recentMs = 2000;

/** One key at one API. */
class CheckedKey {
  readonly api: ApiName;
  isRefused = false;
  /** By the keys of its polls. */
  readonly standings = new Map<string, Standing>();
  readonly waiting = new Map<string, OnVerdict>();
  /** The poll that is asked again to learn whether the key still works. */
  probe: string | undefined;
  lastSuccessMs = Number.NEGATIVE_INFINITY;
  readonly #counts: Record<Standing, number> = { pending: 0, unknown: 0, accepted: 0, refused: 0 };

  constructor(api: ApiName) {
    this.api = api;
  }

  count(standing: Standing): number {
    return this.#counts[standing];
  }

  set(pollKey: string, standing: Standing | undefined): void {
    const before = this.standings.get(pollKey);
    if (before) this.#counts[before]--;
    if (standing) {
      this.#counts[standing]++;
      this.standings.set(pollKey, standing);
    } else this.standings.delete(pollKey);
    if (this.probe === pollKey) this.probe = undefined;
  }

  decide(): void {
    this.isRefused = this.count('refused') > 0 && this.count('accepted') === 0;
    if (this.waiting.size === 0) return;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const onVerdict of waiting) onVerdict(this.isRefused);
  }

  /** Decides if no poll is left whose end could tell more. */
  decideIfAllEnded(): void {
    if (this.waiting.size > 0 && this.probe === undefined && this.count('pending') === 0) this.decide();
  }

  /** Things of one kind are often refused together, so another kind tells more. A poll's key begins with its kind. */
  chooseProbe(refused: string): string | undefined {
    const kind = /^\w+/.exec(refused)?.[0] ?? '';
    let probe: string | undefined;
    for (const [pollKey, standing] of this.standings) {
      if (standing !== 'accepted') continue;
      if (!pollKey.startsWith(kind)) return pollKey;
      probe ??= pollKey;
    }
    return probe;
  }
}

export class KeyCheck {
  readonly #askNow: (pollKey: string) => void;
  readonly #keys = new Map<string, CheckedKey>();

  constructor(askNow: (pollKey: string) => void) {
    this.#askNow = askNow;
  }

  add({ api, credential, key }: Poll): void {
    const name = nameOf(api, credential);
    const checked = this.#keys.get(name) ?? new CheckedKey(api);
    this.#keys.set(name, checked);
    checked.set(key, 'pending');
  }

  remove(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    checked.waiting.delete(poll.key);
    checked.set(poll.key, undefined);
    if (checked.count('refused') === 0) checked.isRefused = false;
    checked.decideIfAllEnded();
    if (checked.standings.size === 0) this.#keys.delete(nameOf(poll.api, poll.credential));
  }

  /** If the key was refused until now, everything that was refused is asked again. */
  succeeded(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    const wasRefused = checked.isRefused;
    checked.set(poll.key, 'accepted');
    checked.lastSuccessMs = performance.now();
    checked.probe = undefined;
    checked.decide();
    if (!wasRefused) return;
    for (const [pollKey, standing] of checked.standings) if (standing === 'refused') this.#askNow(pollKey);
  }

  /** It failed, but not because of its key. */
  failed(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    const standing = checked.standings.get(poll.key);
    const wasProbe = checked.probe === poll.key;
    checked.set(poll.key, standing === 'pending' ? 'unknown' : standing);
    if (wasProbe) checked.decide();
    else checked.decideIfAllEnded();
  }

  /** It got 401 or 403, or its key cannot be read. */
  refused(poll: Poll, onVerdict: OnVerdict): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    checked.set(poll.key, 'refused');
    checked.waiting.set(poll.key, onVerdict);
    if (performance.now() - checked.lastSuccessMs < recentMs) checked.decide();
    else if (checked.probe !== undefined) return;
    else if (checked.count('accepted') === 0) checked.decideIfAllEnded();
    else {
      checked.probe = checked.chooseProbe(poll.key);
      if (checked.probe !== undefined) this.#askNow(checked.probe);
    }
  }

  /** The probes take too long: decides what still waits by what is known so far. */
  settle(): void {
    for (const checked of this.#keys.values()) if (checked.waiting.size > 0) checked.decide();
  }

  /** How many keys an API refuses. */
  refusedKeys(api: ApiName): number {
    return [...this.#keys.values()].filter((checked) => checked.api === api && checked.isRefused).length;
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { checkedKeys: this.#keys.size };
  }

  /** Undefined for a poll that is no longer wanted. */
  #keyOf({ api, credential, key }: Poll): CheckedKey | undefined {
    const checked = this.#keys.get(nameOf(api, credential));
    return checked?.standings.has(key) ? checked : undefined;
  }
}

function nameOf(api: ApiName, credential: string): string {
  return `${api} ${credential}`;
}
