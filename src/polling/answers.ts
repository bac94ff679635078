/** What the answers of an API say of the API itself and of the keys it is read with. Pure: derived from the records of polls. */

import type { ApiName } from '../resources/resource.ts';
import type { PollRecord } from './record.ts';
import type { Spec } from './spec.ts';

export interface Polled {
  readonly spec: Pick<Spec, 'api' | 'credential' | 'account' | 'intervalMs'>;
  readonly record: PollRecord;
}

/** The polls of one API with one key. Times are Unix times. */
interface OfKey {
  /** Whose it is. */
  readonly account: string;
  /** Of any of its polls; minus infinity without one. */
  lastSuccessMs: number;
  /** When the first of the refusals (401) in force was; infinite without one. */
  refusedSinceMs: number;
}

class OfApi {
  readonly keys = new Map<string, OfKey>();
  ended = 0;
  failing = 0;
  /** How many of the failing got 401 or 403, or have no key. */
  refused = 0;
  /** When what could be the API's fault failed. */
  readonly failuresMs: number[] = [];
  /** Since when each of the failing fails. */
  readonly failingSinceMs: number[] = [];
  lastSuccessMs = Number.NEGATIVE_INFINITY;
  shortestMs = Number.POSITIVE_INFINITY;

  keyOf({ credential, account }: Polled['spec']): OfKey {
    let key = this.keys.get(credential);
    if (!key) {
      key = { account, lastSuccessMs: Number.NEGATIVE_INFINITY, refusedSinceMs: Number.POSITIVE_INFINITY };
      this.keys.set(credential, key);
    }
    return key;
  }
}

function isRefusedKey({ refusedSinceMs, lastSuccessMs }: OfKey): boolean {
  return refusedSinceMs < Number.POSITIVE_INFINITY && lastSuccessMs < refusedSinceMs;
}

/** So many polls that fail one after another are no coincidence. */
const enough = 5;

/** Failures of one thing, or of one key. */
const notOfApi: readonly string[] = ['auth', 'not_found', 'rejected'];

export interface Answers {
  /** Whether everything failed at its last try, whatever the reason. */
  isFailing(api: ApiName): boolean;
  /** Whether nothing of the API was read lately and what was tried failed, not only because of keys. */
  isUnreadable(api: ApiName): boolean;
  /** Whether the API answered 401, and nothing was read with this key since. */
  isRefused(api: ApiName, credential: string): boolean;
  /** The APIs at which the key works. */
  worksAt(credential: string): readonly ApiName[];
  /** The keys that an API is read with, by credential, whose they are, and whether it refuses them. */
  keys(api: ApiName): readonly {
    readonly credential: string;
    readonly account: string;
    readonly isRefused: boolean;
  }[];
  /** When the first of these APIs' failures after their last success was, as Unix time; without one, that success. */
  failingSince(apis: Iterable<ApiName>): number | undefined;
  /** Since when nothing at all can be read, as Unix time; undefined while something can. */
  nothingReadSince(): number | undefined;
}

/** The answers at a Unix time: whether something was read lately depends on it. */
export type AnswersAt = (nowMs: number) => Answers;

export function answersOf(polls: Iterable<Polled>): AnswersAt {
  const apis = new Map<ApiName, OfApi>();
  for (const { spec, record } of polls) {
    const of = apis.get(spec.api) ?? new OfApi();
    apis.set(spec.api, of);
    const key = of.keyOf(spec);
    const { lastSuccessMs, lastFailure } = record;
    of.shortestMs = Math.min(of.shortestMs, spec.intervalMs);
    if (lastSuccessMs !== undefined) {
      key.lastSuccessMs = Math.max(key.lastSuccessMs, lastSuccessMs);
      of.lastSuccessMs = Math.max(of.lastSuccessMs, lastSuccessMs);
    }
    if (lastFailure || lastSuccessMs !== undefined) of.ended++;
    if (!lastFailure) continue;
    const { result, status, atMs, sinceMs } = lastFailure;
    of.failing++;
    of.failingSinceMs.push(record.failingSinceMs ?? atMs);
    if (result === 'auth') of.refused++;
    // A page in HTML with 401 is no answer of the API.
    if (result === 'auth' && status === 401) key.refusedSinceMs = Math.min(key.refusedSinceMs, sinceMs);
    if (!notOfApi.includes(result)) of.failuresMs.push(atMs);
  }
  const isFailing = (api: ApiName) => {
    const { failing = 0, ended = 0 } = apis.get(api) ?? {};
    return failing > 0 && failing === ended;
  };
  const isUnreadable = (api: ApiName, nowMs: number) => {
    const of = apis.get(api);
    if (!of || of.failing === of.refused) return false;
    if (isFailing(api)) return true;
    const { ended, lastSuccessMs, shortestMs } = of;
    const failedSince = of.failuresMs.filter((atMs) => atMs >= lastSuccessMs).length;
    if (failedSince === 0) return false;
    // Some are polled once an hour: they need not fail before the others count.
    return failedSince >= Math.min(enough, ended) || nowMs - lastSuccessMs > 1.5 * shortestMs;
  };
  const failingSince = (names: Iterable<ApiName>) => {
    const some = [...names].flatMap((name) => apis.get(name) ?? []);
    const lastSuccessMs = some.reduce(
      (last, of) => Math.max(last, of.lastSuccessMs),
      Number.NEGATIVE_INFINITY,
    );
    const first = some
      .flatMap((of) => of.failingSinceMs)
      .reduce((a, b) => (b < lastSuccessMs ? a : Math.min(a, b)), Number.POSITIVE_INFINITY);
    // What fails may all have failed before: then for other reasons.
    return [first, lastSuccessMs].find(Number.isFinite);
  };
  return (nowMs) => ({
    isFailing,
    failingSince,
    isUnreadable: (api) => isUnreadable(api, nowMs),
    isRefused(api, credential) {
      const key = apis.get(api)?.keys.get(credential);
      return key !== undefined && isRefusedKey(key);
    },
    worksAt(credential) {
      const isWorking = (key: OfKey | undefined) =>
        key !== undefined && !isRefusedKey(key) && Number.isFinite(key.lastSuccessMs);
      return [...apis].filter(([, { keys }]) => isWorking(keys.get(credential))).map(([api]) => api);
    },
    keys: (api) =>
      Array.from(apis.get(api)?.keys ?? [], ([credential, key]) => ({
        credential,
        account: key.account,
        isRefused: isRefusedKey(key),
      })),
    nothingReadSince() {
      const isRead = (api: ApiName) => !isUnreadable(api, nowMs) && !isFailing(api);
      return [...apis.keys()].some(isRead) ? undefined : failingSince(apis.keys());
    },
  });
}
