/** For how long an API gets no requests with a key, or none at all: what its 429s say. Reads no clock, and knows no requests. */
import { pauseMs } from './retry.ts';

/** The API as a whole is paused for no longer than this; then a request tries. */
const longestOfApiMs = 60_000;

/** What nobody asks for any more is forgotten after this time. */
const forgottenAfterMs = 3_600_000;

export interface Pause {
  readonly untilMs: number;
  /** When the first of the pauses in a row began. */
  readonly sinceMs: number;
}

interface KeyPause extends Pause {
  /** The pauses in a row, without another answer between them. */
  readonly refusals: number;
}

/** Times are those of any clock that never jumps back. */
export class Pauses {
  /** By credential: those that are paused, or whose next request has to show that the API answers again. */
  readonly #keys = new Map<string, KeyPause>();
  /** The ids of the keys whose first 429 in a row came after the last reading with any key. */
  readonly #refusedSinceRead = new Set<string>();
  #api: Pause | undefined;

  /** The pause of a key, or the last one until it has another answer than 429. */
  of(credential: string): Pause | undefined {
    return this.#keys.get(credential);
  }

  /** The same of the API as a whole. */
  get ofApi(): Pause | undefined {
    return this.#api;
  }

  /** The pauses of keys that go on, by credential. */
  *during(nowMs: number): Iterable<readonly [credential: string, pause: Pause]> {
    for (const entry of this.#keys) if (entry[1].untilMs > nowMs) yield entry;
  }

  /**
   * A request with this key got 429. Several for requests that were in flight together count as one. Returns whether its pause
   * began or became longer.
   *
   * @param keyId the same for the same key under two names
   */
  refused(credential: string, keyId: string, retryAfterMs: number | undefined, nowMs: number): boolean {
    for (const [name, { untilMs }] of this.#keys)
      if (untilMs < nowMs - forgottenAfterMs) this.#keys.delete(name);
    const before = this.#keys.get(credential);
    const isPaused = before !== undefined && before.untilMs > nowMs;
    const isFirst = before === undefined || before.refusals === 0;
    const refusals = (before?.refusals ?? 0) + (isPaused && !isFirst ? 0 : 1);
    const forMs = pauseMs(refusals - 1, retryAfterMs);
    const isChanged = !isPaused || retryAfterMs !== undefined;
    if (isChanged)
      this.#keys.set(credential, {
        untilMs: Math.max(before?.untilMs ?? 0, nowMs + forMs),
        refusals,
        sinceMs: isFirst ? nowMs : before.sinceMs,
      });
    // A key that is refused again and again, while others are read, says nothing of the API.
    if (isFirst) this.#refusedSinceRead.add(keyId);
    if (this.#refusedSinceRead.size > 1 && this.#refusedSinceRead.has(keyId)) this.#pauseApi(forMs, nowMs);
    return isChanged;
  }

  /** A request with this key had another outcome than 429. isRead: whether it was answered well. */
  answered(credential: string, isRead: boolean, nowMs: number): void {
    const pause = this.#keys.get(credential);
    if (pause && pause.untilMs > nowMs) this.#keys.set(credential, { ...pause, refusals: 0 });
    else this.#keys.delete(credential);
    const isApiPaused = this.#api !== undefined && this.#api.untilMs > nowMs;
    if (isRead || !isApiPaused) this.#api = undefined;
    if (isRead) this.#refusedSinceRead.clear();
  }

  #pauseApi(forMs: number, nowMs: number): void {
    if (this.#api && this.#api.untilMs > nowMs) return;
    const { sinceMs = nowMs } = this.#api ?? {};
    this.#api = { untilMs: nowMs + Math.min(forMs, longestOfApiMs), sinceMs };
  }
}
