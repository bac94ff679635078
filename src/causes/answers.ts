/** What the answers of an API say of the API itself and of the keys it is read with. Pure: derived from the records of polls. */
import type { PollRecord } from '../polling/loop.ts';
import type { Poll } from '../polling/target.ts';
import type { ApiName } from '../resources/resource.ts';

export interface Polled {
  readonly poll: Pick<Poll, 'api' | 'credential' | 'intervalMs'>;
  readonly record: PollRecord;
}

/** The polls of one API with one key. */
interface OfKey {
  readonly api: ApiName;
  readonly credential: string;
  /** Unix time, of any of its polls. */
  lastSuccessMs: number;
  /** When the first of the refusals (401) in force was; infinite without one. */
  refusedSinceMs: number;
}

interface OfApi {
  ended: number;
  failing: number;
  /** How many of the failing got 401 or 403, or have no key. */
  refused: number;
  /** How many failed after the last success of any poll, for a reason that could be the API's. */
  failedSince: number;
  lastSuccessMs: number;
  shortestMs: number;
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
  /** Unix time of the last success at this API; undefined if there was none. */
  lastSuccessMs(api: ApiName): number | undefined;
  /** Whether the API answered 401, and nothing was read with this key since. */
  isRefused(api: ApiName, credential: string): boolean;
  /** The APIs at which the key works. */
  worksAt(credential: string): readonly ApiName[];
  /** How many keys an API refuses. */
  refusedKeys(api: ApiName): number;
}

/** nowMs: Unix time. */
export function answersOf(polls: Iterable<Polled>, nowMs: number): Answers {
  const keys = new Map<string, OfKey>();
  const apis = new Map<ApiName, OfApi>();
  const all = [...polls];
  for (const { poll, record } of all) {
    const { api, credential, intervalMs } = poll;
    const { lastSuccessMs = Number.NEGATIVE_INFINITY, lastFailure } = record;
    const known = keys.get(`${api} ${credential}`);
    const key: OfKey = known ?? {
      api,
      credential,
      lastSuccessMs: Number.NEGATIVE_INFINITY,
      refusedSinceMs: Number.POSITIVE_INFINITY,
    };
    if (!known) keys.set(`${api} ${credential}`, key);
    const ofApi = apis.get(api) ?? {
      ended: 0,
      failing: 0,
      refused: 0,
      failedSince: 0,
      lastSuccessMs: Number.NEGATIVE_INFINITY,
      shortestMs: Number.POSITIVE_INFINITY,
    };
    apis.set(api, ofApi);
    key.lastSuccessMs = Math.max(key.lastSuccessMs, lastSuccessMs);
    ofApi.lastSuccessMs = Math.max(ofApi.lastSuccessMs, lastSuccessMs);
    ofApi.shortestMs = Math.min(ofApi.shortestMs, intervalMs);
    if (lastFailure || record.lastSuccessMs !== undefined) ofApi.ended++;
    if (lastFailure) ofApi.failing++;
    if (lastFailure?.result === 'auth') ofApi.refused++;
    // A page in HTML with 401 is no answer of the API.
    if (lastFailure?.result === 'auth' && lastFailure.status === 401)
      key.refusedSinceMs = Math.min(key.refusedSinceMs, lastFailure.sinceMs);
  }
  for (const { poll, record } of all) {
    const ofApi = apis.get(poll.api);
    const { lastFailure } = record;
    if (!ofApi || !lastFailure || notOfApi.includes(lastFailure.result)) continue;
    if (lastFailure.atMs >= ofApi.lastSuccessMs) ofApi.failedSince++;
  }
  const isRefusedKey = ({ refusedSinceMs, lastSuccessMs }: OfKey) =>
    refusedSinceMs < Number.POSITIVE_INFINITY && lastSuccessMs < refusedSinceMs;
  const isFailing = (api: ApiName) => {
    const { failing = 0, ended = 0 } = apis.get(api) ?? {};
    return failing > 0 && failing === ended;
  };
  return {
    isFailing,
    isUnreadable(api) {
      const of = apis.get(api);
      if (!of || of.failing === of.refused) return false;
      if (isFailing(api)) return true;
      if (of.failedSince === 0) return false;
      // Some are polled once an hour: they need not fail before the others count.
      return of.failedSince >= Math.min(enough, of.ended) || nowMs - of.lastSuccessMs > 1.5 * of.shortestMs;
    },
    lastSuccessMs(api) {
      const atMs = apis.get(api)?.lastSuccessMs ?? Number.NEGATIVE_INFINITY;
      return Number.isFinite(atMs) ? atMs : undefined;
    },
    isRefused(api, credential) {
      const key = keys.get(`${api} ${credential}`);
      return key !== undefined && isRefusedKey(key);
    },
    worksAt: (credential) =>
      [...keys.values()]
        .filter(
          (key) => key.credential === credential && !isRefusedKey(key) && Number.isFinite(key.lastSuccessMs),
        )
        .map(({ api }) => api),
    refusedKeys: (api) => [...keys.values()].filter((key) => key.api === api && isRefusedKey(key)).length,
  };
}
