/**
 * For how long an API gets no requests of a kind with a key, none with the key at all, or none whatever: what its 429s say. Reads no
 * clock, and knows no requests.
 */
import { pauseForMs } from './retry.ts';

/** The API as a whole is paused for no longer than this; then a request tries. */
const longestOfApiMs = 60_000;

/** What nobody asks for any more is forgotten after this time. */
const forgottenAfterMs = 3_600_000;

/** What a request is made with, and for. */
export interface KeyAndKind {
  /** Of the key itself, at an address: another key under the same name has another one. */
  readonly keyId: string;
  readonly kind: string;
}

export interface Pause {
  readonly untilMs: number;
  /** When the first 429 of the row was. */
  readonly sinceMs: number;
  /** The pauses in a row, without another answer between them. */
  readonly refusals: number;
}

/**
 * The pauses of a key. Each stays after its end until an answer other than 429 shows that it is over; a reading ends that of the whole key
 * at once.
 */
export interface KeyPauses {
  /** Of all that is asked with it. */
  whole: Pause | undefined;
  readonly kinds: Map<string, Pause>;
  /** The kinds that got 429 since the last reading with the key; true where the first 429 of its row came since then, too. */
  readonly refusedSinceRead: Map<string, boolean>;
  /** Whether the first pause of a row as a whole came since the last reading with any key. */
  isPausedSinceRead: boolean;
  refusedMs: number;
}

/** Times are those of any clock that never jumps back. */
export class Pauses {
  readonly #keys = new Map<string, KeyPauses>();
  #api: Pause | undefined;

  /** Undefined where nothing is paused. */
  ofKey(keyId: string): Readonly<KeyPauses> | undefined {
    return this.#keys.get(keyId);
  }

  /** Whether any answer may change something. */
  get isAny(): boolean {
    return this.#keys.size > 0 || this.#api !== undefined;
  }

  /** The pause of the API as a whole, or the last one until an answer other than 429 shows that it is over. */
  get ofApi(): Pause | undefined {
    return this.#api;
  }

  /**
   * A request got 429. That pauses its kind at its key; the key, if another kind got 429 with it and nothing was read with it since;
   * the API, if another key is paused as a whole and nothing was read at the API since. Several 429s for requests that were in flight
   * together count as one.
   */
  refused({ keyId, kind }: KeyAndKind, retryAfterMs: number | undefined, nowMs: number): void {
    this.#forget(nowMs);
    const none = {
      whole: undefined,
      kinds: new Map(),
      refusedSinceRead: new Map(),
      isPausedSinceRead: false,
    };
    const key: KeyPauses = this.#keys.get(keyId) ?? { ...none, refusedMs: nowMs };
    this.#keys.set(keyId, key);
    key.refusedMs = nowMs;
    const before = key.kinds.get(kind);
    key.kinds.set(kind, prolonged(before, retryAfterMs, nowMs));
    // A kind that is refused again and again, while others are read, says nothing of the key.
    const isFirst = isFirstOfRow(before) || (key.refusedSinceRead.get(kind) ?? false);
    key.refusedSinceRead.set(kind, isFirst);
    const firsts = [...key.refusedSinceRead.values()].filter(Boolean);
    if (isFirst && firsts.length > 1) this.#pauseKey(key, retryAfterMs, nowMs);
  }

  /** A request had another outcome than 429. isRead: whether it was answered well. */
  answered({ keyId, kind }: KeyAndKind, isRead: boolean, nowMs: number): void {
    const key = this.#keys.get(keyId);
    if (key) {
      const ofKind = answeredPause(key.kinds.get(kind), nowMs);
      if (ofKind) key.kinds.set(kind, ofKind);
      else key.kinds.delete(kind);
      key.whole = isRead ? undefined : answeredPause(key.whole, nowMs);
      if (isRead) key.refusedSinceRead.clear();
      if (!key.whole && key.kinds.size + key.refusedSinceRead.size === 0) this.#keys.delete(keyId);
    }
    this.#api = isRead ? undefined : answeredPause(this.#api, nowMs);
    if (isRead) for (const one of this.#keys.values()) one.isPausedSinceRead = false;
  }

  #pauseKey(key: KeyPauses, retryAfterMs: number | undefined, nowMs: number): void {
    // A key that is refused again and again, while others are read, says nothing of the API.
    if (isFirstOfRow(key.whole)) key.isPausedSinceRead = true;
    key.whole = prolonged(key.whole, retryAfterMs, nowMs);
    const paused = [...this.#keys.values()].filter(({ isPausedSinceRead }) => isPausedSinceRead);
    if (!key.isPausedSinceRead || paused.length < 2) return;
    if (this.#api && this.#api.untilMs > nowMs) return;
    const { untilMs, ...pause } = prolonged(this.#api, retryAfterMs, nowMs);
    this.#api = { ...pause, untilMs: Math.min(untilMs, nowMs + longestOfApiMs) };
  }

  #forget(nowMs: number): void {
    for (const [keyId, { refusedMs }] of this.#keys)
      if (refusedMs < nowMs - forgottenAfterMs) this.#keys.delete(keyId);
  }
}

function isFirstOfRow(pause: Pause | undefined): boolean {
  return pause === undefined || pause.refusals === 0;
}

/** A pause after one more 429. The same one, if that came during the pause and says no time. */
function prolonged(before: Pause | undefined, retryAfterMs: number | undefined, nowMs: number): Pause {
  const isPaused = before !== undefined && before.untilMs > nowMs;
  if (isPaused && retryAfterMs === undefined) return before;
  const isFirst = isFirstOfRow(before);
  const refusals = (before?.refusals ?? 0) + (isPaused && !isFirst ? 0 : 1);
  return {
    untilMs: Math.max(before?.untilMs ?? 0, nowMs + pauseForMs(refusals - 1, retryAfterMs)),
    sinceMs: isFirst ? nowMs : (before?.sinceMs ?? nowMs),
    refusals,
  };
}

/** A pause after another answer than 429: it goes on to its end, but the row of refusals is over. */
function answeredPause(pause: Pause | undefined, nowMs: number): Pause | undefined {
  return pause && pause.untilMs > nowMs ? { ...pause, refusals: 0 } : undefined;
}
