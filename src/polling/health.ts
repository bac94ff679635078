/**
 * How each API and each key is, from one pass over what is polled. Everybody who wants to know asks here: when to retry, causes, the
 * exporter's own metrics, the status page and the log. Pure: it knows no timetable and no page.
 *
 * An API is down if nothing that was tried since its last answer got one, and if something else that had been read until then was
 * asked and got none either. If there is nothing else to ask, that is enough. So one operation that fails, however often and for
 * however many targets, is no outage while another one is read.
 */
import type { ApiName } from '../resources/resource.ts';
import { type AccountHealth, SeenAccount } from './account-health.ts';
import { hasEnded, isDenial, isRefusal, type Polled, type PollRecord } from './record.ts';

/** So many requests in a row without an answer are no coincidence. */
const enough = 5;

/** The least time between two probes of an API; and how long it is not down after one that was answered. */
const probePauseMs = 60_000;

/** While some things are polled for the first time, others may fail in the same moment: so short a silence says nothing. */
const silenceMs = 2000;

/** A key at an API. */
export interface KeyHealth {
  /** Whose it is. */
  readonly account: string;
  /** Whether the API answered 401, and no poll that began since was read with the key. */
  readonly isRefused: boolean;
  /** When the last poll began that was read well, by the machine's uptime; minus infinity before the first. */
  readonly readBeganMs: number;
  /** The same of the key that it is now alone. */
  readonly ownReadBeganMs: number;
  /** Since when something is answered 401 or 403, by the machine's uptime; infinite where nothing is. */
  readonly deniedSinceMs: number;
}

export interface ApiHealth<Task extends Polled = Polled> {
  /**
   * down: it answers nothing; failing: the last poll of everything failed, for any reason; read: that of something succeeded; pending:
   * none has ended.
   */
  readonly state: 'pending' | 'read' | 'failing' | 'down';
  /** When the last poll began that was read well, by the machine's uptime; minus infinity before the first. */
  readonly readBeganMs: number;
  /** When the first failure since then was, by the machine's uptime; undefined without one. */
  readonly failingSinceMs: number | undefined;
  /** Whether several requests in a row got no answer: it may be down. */
  readonly isSuspected: boolean;
  /** From when on it is down if nothing else happens, by the machine's uptime; infinite if it is already, or will not be. */
  readonly changesAtMs: number;
  /** What to poll at once, because its answer tells whether the API is down: the thing that was read last. */
  readonly probe: Task | undefined;
  /** Whether a poll of this, begun now, tells whether the API is down. */
  readonly tells: (task: Polled) => boolean;
  /** By credential. */
  readonly keys: ReadonlyMap<string, KeyHealth>;
}

export interface Health<Task extends Polled = Polled> {
  readonly apis: ReadonlyMap<ApiName, ApiHealth<Task>>;
  /** Those of which something is polled with their own key. */
  readonly accounts: ReadonlyMap<string, AccountHealth<Task>>;
  /** When it changes by itself, by the machine's uptime; infinite if it does not. */
  readonly changesAtMs: number;
}

/**
 * @param uptimeMs now, by the machine's uptime
 * @param keyIdOf the id of the key that a credential has now
 */
export function health<Task extends Polled>(
  polled: Iterable<Task>,
  uptimeMs: number,
  keyIdOf: (credential: string) => string | undefined = () => undefined,
): Health<Task> {
  const seen = new Map<ApiName, SeenApi<Task>>();
  const seenAccounts = new Map<string, SeenAccount<Task>>();
  for (const task of polled) {
    const { api: name, account: owner, credential } = task.spec;
    const { operation } = task;
    let api = seen.get(name);
    if (!api) {
      api = new SeenApi(keyIdOf);
      seen.set(name, api);
    }
    api.add(task, operation);
    // The key of a library says nothing of that of its account.
    if (credential !== owner) continue;
    let account = seenAccounts.get(owner);
    if (!account) {
      account = new SeenAccount();
      seenAccounts.set(owner, account);
    }
    account.add(task, operation);
  }
  let changesAtMs = Number.POSITIVE_INFINITY;
  const apis = new Map<ApiName, ApiHealth<Task>>();
  for (const [name, api] of seen) {
    const found = api.health(uptimeMs);
    apis.set(name, found);
    changesAtMs = Math.min(changesAtMs, found.changesAtMs);
  }
  const down = new Set([...apis].flatMap(([name, { state }]) => (state === 'down' ? name : [])));
  const accounts = new Map(
    Array.from(seenAccounts, ([name, account]) => [name, account.health(down, uptimeMs)] as const),
  );
  return { apis, accounts, changesAtMs };
}

/** Why nothing of an account can be read; undefined while something can. isPaused: whether an API has paused its key. */
export function failingReason(
  { failing, apis }: Pick<AccountHealth, 'failing' | 'apis'>,
  isPaused: (api: ApiName) => boolean,
): string | undefined {
  return failing ?? ([...apis].every(isPaused) ? 'rate_limited' : undefined);
}

/**
 * Since when nothing can be read, by the machine's uptime: the first failure of these APIs after their last success, or else when that
 * began.
 */
export function failingSince(apis: Iterable<ApiHealth>): number | undefined {
  let readBeganMs = Number.NEGATIVE_INFINITY;
  for (const api of apis) readBeganMs = Math.max(readBeganMs, api.readBeganMs);
  let firstMs = Number.POSITIVE_INFINITY;
  for (const { failingSinceMs = firstMs } of apis)
    if (failingSinceMs >= readBeganMs) firstMs = Math.min(firstMs, failingSinceMs);
  // All that fails now may have failed before that success, too, for other reasons: then nobody knows more than when that was.
  return [firstMs, readBeganMs].find(Number.isFinite);
}

/** Whether nothing of an API can be read now. */
export function isUnread(api: ApiHealth | undefined): boolean {
  return api?.state === 'down' || api?.state === 'failing';
}

/** Since when nothing of any API can be read, by the machine's uptime; undefined while something can. */
export function unreadSince({ apis }: Health): number | undefined {
  const all = [...apis.values()];
  return all.length > 0 && all.every(isUnread) ? failingSince(all) : undefined;
}

/** The APIs of which something was ever read with a key. isOwn: the one that it is now, for what was answered to that. */
export function readAt({ apis }: Health, credential: string, isOwn = true): readonly ApiName[] {
  const read: ApiName[] = [];
  for (const [api, { keys }] of apis) {
    const key = keys.get(credential);
    if (Number.isFinite(isOwn ? key?.ownReadBeganMs : key?.readBeganMs)) read.push(api);
  }
  return read;
}

/** Whether the API answered 401, and nothing was read with this key since. */
export function isRefused({ apis }: Health, api: ApiName, credential: string): boolean {
  return apis.get(api)?.keys.get(credential)?.isRefused ?? false;
}

/**
 * The other APIs that accept a key which these deny something: by what was read in a request that began after that. What was read
 * before says nothing, since the key may have been revoked then.
 */
export function acceptedBeside(
  { apis }: Health,
  credential: string,
  denying: ReadonlySet<ApiName>,
): readonly ApiName[] {
  const keys = Array.from(apis, ([name, api]) => [name, api.keys.get(credential)] as const);
  const deniedMs = keys.flatMap(([name, key]) => (key && denying.has(name) ? key.deniedSinceMs : []));
  const sinceMs = Math.max(...deniedMs);
  return keys.flatMap(([name, key]) =>
    !denying.has(name) && key && !key.isRefused && key.readBeganMs > sinceMs ? name : [],
  );
}

/** Where something was read at the last poll. */
export function isGood({ lastFailure, readBeganMs }: PollRecord): boolean {
  return !lastFailure && Number.isFinite(readBeganMs);
}

interface SeenOperation<Task> {
  hasEnded: boolean;
  /** When a request last got no answer; minus infinity without one. */
  unansweredMs: number;
  /** What was read last, of what is read well. */
  newest: Task | undefined;
}

interface SeenKey {
  readonly account: string;
  /** Of the key that it is now. */
  readonly keyId: string | undefined;
  /** Whether anything that was asked with that key tells of it. */
  isTold: boolean;
  /** When the last poll began that was read well, and was asked with no other key since. */
  formerBeganMs: number;
  /** Since when the newest of what is refused (401) is, by the machine's uptime; minus infinity without one. */
  refusedSinceMs: number;
  /** As in `KeyHealth`. */
  readBeganMs: number;
  deniedSinceMs: number;
}

/** What the tasks of one API say of it. */
class SeenApi<Task extends Polled> {
  readonly #keyIdOf: (credential: string) => string | undefined;
  readonly #operations = new Map<string, SeenOperation<Task>>();
  readonly #keys = new Map<string, SeenKey>();
  /** Of what fails. */
  readonly #failing: PollRecord[] = [];
  #tasks = 0;
  #ended = 0;
  #readBeganMs = Number.NEGATIVE_INFINITY;
  /** Of the API, by the machine's uptime; minus infinity before the first answer. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #probedMs = Number.NEGATIVE_INFINITY;
  /** The last probe that was answered, and the last that was not. */
  #goodProbeMs = Number.NEGATIVE_INFINITY;
  #badProbeMs = Number.NEGATIVE_INFINITY;

  constructor(keyIdOf: (credential: string) => string | undefined) {
    this.#keyIdOf = keyIdOf;
  }

  add(task: Task, path: string): void {
    const { record, probedMs } = task;
    const { lastFailure, answeredMs, endedMs, unanswered } = record;
    this.#tasks++;
    this.#addToKey(task);
    const operation = this.#operationOf(path);
    if (hasEnded(record)) {
      this.#ended++;
      operation.hasEnded = true;
    }
    this.#answeredMs = Math.max(this.#answeredMs, answeredMs);
    this.#readBeganMs = Math.max(this.#readBeganMs, record.readBeganMs);
    if (lastFailure) this.#failing.push(record);
    if (unanswered) operation.unansweredMs = Math.max(operation.unansweredMs, endedMs);
    else if (isGood(record)) {
      if (!operation.newest || answeredMs > operation.newest.record.answeredMs) operation.newest = task;
    }
    if (probedMs === undefined) return;
    this.#probedMs = Math.max(this.#probedMs, probedMs);
    if (answeredMs >= probedMs) this.#goodProbeMs = Math.max(this.#goodProbeMs, probedMs);
    if (unanswered && endedMs >= probedMs) this.#badProbeMs = Math.max(this.#badProbeMs, probedMs);
  }

  health(uptimeMs: number): ApiHealth<Task> {
    const answeredMs = this.#answeredMs;
    let inVain = 0;
    let silentSinceMs = Number.POSITIVE_INFINITY;
    for (const { unanswered, endedMs } of this.#failing) {
      if (!unanswered || endedMs <= answeredMs) continue;
      // Of what failed before that answer, too, it is not known how often it has failed since: once at least.
      const isOfSilence = unanswered.sinceMs > answeredMs;
      inVain += isOfSilence ? unanswered.requests : 1;
      silentSinceMs = Math.min(silentSinceMs, isOfSilence ? unanswered.sinceMs : endedMs);
    }
    const isSuspected = inVain >= Math.min(enough, this.#tasks) && inVain > 0;
    // `tells` stays until the next look: it keeps these, and not the records.
    const byPath = this.#operations;
    const operations = [...byPath.values()];
    const good = operations.filter(({ newest }) => newest !== undefined);
    const others = good.filter(({ unansweredMs }) => unansweredMs <= answeredMs);
    const hasAskedEach = operations.every(({ hasEnded }) => hasEnded);
    const enoughAtMs = hasAskedEach ? silentSinceMs + silenceMs : Number.POSITIVE_INFINITY;
    const askedAllAtMs = this.#ended === this.#tasks ? Number.NEGATIVE_INFINITY : enoughAtMs;
    const nothingLeftAtMs = good.length === 0 ? askedAllAtMs : Number.POSITIVE_INFINITY;
    const provenAtMs = this.#badProbeMs > answeredMs ? Number.NEGATIVE_INFINITY : nothingLeftAtMs;
    // A probe that was answered puts it off.
    const upUntilMs = this.#goodProbeMs + probePauseMs;
    const isUp = uptimeMs < upUntilMs;
    const downAtMs = isSuspected ? Math.max(provenAtMs, upUntilMs) : Number.POSITIVE_INFINITY;
    const isDown = uptimeMs >= downAtMs;
    const mayProbe = isSuspected && !isDown && uptimeMs >= this.#probedMs + probePauseMs;
    return {
      state: isDown ? 'down' : good.length > 0 ? 'read' : this.#ended > 0 ? 'failing' : 'pending',
      readBeganMs: this.#readBeganMs,
      failingSinceMs: this.#failingSinceMs(),
      isSuspected,
      changesAtMs: isDown ? Number.POSITIVE_INFINITY : downAtMs,
      probe: mayProbe ? newestOf(others.length > 0 ? others : good) : undefined,
      tells: ({ operation, record }) =>
        isSuspected &&
        !isUp &&
        isGood(record) &&
        (others.length === 0 || (byPath.get(operation)?.unansweredMs ?? 0) <= answeredMs),
      keys: new Map(
        Array.from(this.#keys, ([credential, key]) => {
          const { account, deniedSinceMs, refusedSinceMs } = key;
          const readBeganMs = key.isTold ? key.readBeganMs : key.formerBeganMs;
          return [
            credential,
            {
              account,
              isRefused: readBeganMs < refusedSinceMs,
              readBeganMs,
              ownReadBeganMs: key.readBeganMs,
              deniedSinceMs,
            },
          ];
        }),
      ),
    };
  }

  #operationOf(path: string): SeenOperation<Task> {
    let operation = this.#operations.get(path);
    if (!operation) {
      operation = { hasEnded: false, unansweredMs: Number.NEGATIVE_INFINITY, newest: undefined };
      this.#operations.set(path, operation);
    }
    return operation;
  }

  #addToKey({ spec: { credential, account }, record }: Task): void {
    const { lastFailure, deniedSinceMs, askedWith, readWith, readBeganMs } = record;
    let key = this.#keys.get(credential);
    if (!key) {
      key = {
        account,
        keyId: this.#keyIdOf(credential),
        isTold: false,
        formerBeganMs: Number.NEGATIVE_INFINITY,
        refusedSinceMs: Number.NEGATIVE_INFINITY,
        readBeganMs: Number.NEGATIVE_INFINITY,
        deniedSinceMs: Number.POSITIVE_INFINITY,
      };
      this.#keys.set(credential, key);
    }
    // What was read with another key says nothing of this one, also where this was not asked for yet.
    if (readWith === key.keyId) key.readBeganMs = Math.max(key.readBeganMs, readBeganMs);
    // Until an answer tells of this one, what is known of the former key holds.
    if (readWith === askedWith) key.formerBeganMs = Math.max(key.formerBeganMs, readBeganMs);
    const tells = isGood(record) || (lastFailure !== undefined && isDenial(lastFailure));
    key.isTold ||= askedWith === key.keyId && tells;
    if (deniedSinceMs !== undefined && lastFailure && !lastFailure.doubt)
      key.deniedSinceMs = Math.min(key.deniedSinceMs, deniedSinceMs);
    if (lastFailure && isRefusal(lastFailure))
      key.refusedSinceMs = Math.max(key.refusedSinceMs, deniedSinceMs ?? key.refusedSinceMs);
  }

  #failingSinceMs(): number | undefined {
    let firstMs: number | undefined;
    for (const { failingSinceMs: atMs } of this.#failing)
      if (atMs !== undefined && atMs >= this.#readBeganMs && atMs < (firstMs ?? Number.POSITIVE_INFINITY))
        firstMs = atMs;
    return firstMs;
  }
}

function newestOf<Task extends Polled>(operations: readonly SeenOperation<Task>[]): Task | undefined {
  let found: Task | undefined;
  for (const { newest } of operations)
    if (newest && (!found || newest.record.answeredMs > found.record.answeredMs)) found = newest;
  return found;
}
