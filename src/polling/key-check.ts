/**
 * Tells a refused key from a single thing that a key may not read. A key is refused when its API refuses something and
 * accepts nothing. Until that is known, the verdict waits for other polls with the key.
 */
import type { ApiName } from '../resources/resource.ts';
import type { Poll } from './target.ts';

type OnVerdict = (isKeyRefused: boolean) => void;

/** What the last answer to a poll said about the key. A timeout says nothing. */
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

  constructor(api: ApiName) {
    this.api = api;
  }

  find(standing: Standing): string | undefined {
    for (const [pollKey, each] of this.standings) if (each === standing) return pollKey;
    return undefined;
  }

  /** Decides by what is known so far. */
  decide(): void {
    this.isRefused = this.find('accepted') === undefined && this.find('refused') !== undefined;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const onVerdict of waiting) onVerdict(this.isRefused);
  }

  /** A poll ended or was removed. Decides, unless the end of another one can tell more. */
  ended(pollKey: string): void {
    if (this.probe === pollKey) this.probe = undefined;
    if (this.waiting.size > 0 && this.probe === undefined && this.find('pending') === undefined)
      this.decide();
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
    checked.standings.set(key, 'pending');
  }

  remove(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    checked.waiting.delete(poll.key);
    checked.standings.delete(poll.key);
    checked.isRefused &&= checked.find('refused') !== undefined;
    checked.ended(poll.key);
    if (checked.standings.size === 0) this.#keys.delete(nameOf(poll.api, poll.credential));
  }

  /** If the key was refused, everything that was refused is asked again. */
  succeeded(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    const { isRefused: wasRefused, standings, waiting } = checked;
    standings.set(poll.key, 'accepted');
    checked.lastSuccessMs = performance.now();
    checked.probe = undefined;
    if (wasRefused || waiting.size > 0) checked.decide();
    if (!wasRefused) return;
    for (const [pollKey, standing] of standings) if (standing === 'refused') this.#askNow(pollKey);
  }

  /** It failed, but not because of its key. */
  failed(poll: Poll): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    if (checked.standings.get(poll.key) === 'pending') checked.standings.set(poll.key, 'unknown');
    checked.ended(poll.key);
  }

  /** It got 401 or 403, or its key cannot be read. If others were accepted, one of them is asked again. */
  refused(poll: Poll, onVerdict: OnVerdict): void {
    const checked = this.#keyOf(poll);
    if (!checked) return;
    checked.standings.set(poll.key, 'refused');
    checked.waiting.set(poll.key, onVerdict);
    if (checked.probe === poll.key) checked.probe = undefined;
    const isRecent = performance.now() - checked.lastSuccessMs < recentMs;
    if (!isRecent && checked.probe === undefined) {
      checked.probe = checked.find('accepted');
      if (checked.probe !== undefined) this.#askNow(checked.probe);
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
    return checked?.standings.has(key) ? checked : undefined;
  }
}

function nameOf(api: ApiName, credential: string): string {
  return `${api} ${credential}`;
}
