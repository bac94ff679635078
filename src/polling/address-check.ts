/** Notices an API that answers every request with HTTP 404: its base URL is wrong, or none of its ids is right. */
import type { ApiName } from '../resources/resource.ts';
import type { Poll } from './target.ts';

export class AddressCheck {
  /** The polls of an API that have got nothing but 404 so far. */
  readonly #missing = new Map<ApiName, Set<string>>();
  /** APIs with an answer other than 404, and APIs that were warned about. */
  readonly #settled = new Set<ApiName>();

  /**
   * A poll has ended. Returns true once: when every poll of the API has got 404.
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
    // An account always has its listings, even if they are empty.
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
