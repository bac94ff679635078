/** Notices an API that answers every request with HTTP 404: its base URL is wrong, or none of its ids is right. */
import type { ApiName } from '../resources/resource.ts';
import type { Poll } from './target.ts';

export class AddressCheck {
  /** The polls of an API that have got nothing but 404 so far. */
  readonly #missing = new Map<ApiName, Set<string>>();
  /** The APIs that were heard of, or told of. */
  readonly #settled = new Set<ApiName>();

  /**
   * A poll has ended. Returns whether its API is to be told of now: once, when all of its polls got 404.
   *
   * @param isMissing whether it got 404 without a reason
   * @param polls how many polls the API has
   */
  ended(poll: Poll, isMissing: boolean, polls: number): boolean {
    const { api, key } = poll;
    if (this.#settled.has(api)) return false;
    if (!isMissing) {
      this.#settled.add(api);
      this.#missing.delete(api);
      return false;
    }
    const missing = this.#missing.get(api) ?? new Set();
    this.#missing.set(api, missing.add(key));
    // An account always has its listings, also where they are empty.
    const isCertain = missing.size > 1 || (poll.type === 'listing' && !poll.parent);
    if (!isCertain || missing.size < polls) return false;
    this.#settled.add(api);
    this.#missing.delete(api);
    return true;
  }

  forget({ api, key }: Poll): void {
    this.#missing.get(api)?.delete(key);
  }

  /** The API may have another address from now on. */
  reset(): void {
    this.#missing.clear();
    this.#settled.clear();
  }
}
