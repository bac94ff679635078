/**
 * Whether an account can be read, from one pass over what is polled with its own key: what failed since its last success, whether the
 * thing that was read last fails, too, and what to poll to know that. What is merely not due says nothing. Pure.
 */
import type { ApiName } from '../resources/resource.ts';
import type { Polled, PollRecord } from './record.ts';

/** So many failures since the last success are a reason to ask something else. */
const enough = 2;

/** The least time between two polls that are made to know. */
const probePauseMs = 300_000;

/** Answers to the key: what was asked for is not there, or is rejected. They say neither that the account can be read nor that it cannot. */
const neutral: readonly string[] = ['not_found', 'rejected'];

/** Why nothing of an account can be read, as far as one poll tells. */
export const accountReasons = [
  'auth',
  'rate_limited',
  'server_error',
  'timeout',
  'network',
  'schema',
  'api_down',
] as const;

export interface AccountHealth<Task extends Polled = Polled> {
  /** Unix time; minus infinity before the first. */
  readonly lastSuccessMs: number;
  /**
   * The commonest result of what failed since its last success, or `api_down` where that is an API that is down; undefined while
   * something can be read, or may be.
   */
  readonly failing: string | undefined;
  /** What to poll at once, because its answer tells whether the account can be read. */
  readonly probe: Task | undefined;
  /** What its key is for. */
  readonly apis: ReadonlySet<ApiName>;
}

/** What failed for one reason. */
interface Failed {
  readonly api: ApiName;
  readonly operation: string;
  readonly result: string;
  readonly records: PollRecord[];
}

/** What the tasks with the own key of one account say of it. */
export class SeenAccount<Task extends Polled> {
  readonly #apis = new Set<ApiName>();
  readonly #failed = new Map<string, Failed>();
  /** That of the task before. */
  #lastFailed: Failed | undefined;
  /** What was read last of each operation, of what is read well. */
  readonly #newest = new Map<string, Task>();
  #lastSuccessMs = Number.NEGATIVE_INFINITY;
  /** By the machine's uptime. */
  #readMs = Number.NEGATIVE_INFINITY;
  #probedMs = Number.NEGATIVE_INFINITY;
  /** The last probe that failed. */
  #badProbeMs = Number.NEGATIVE_INFINITY;

  add(task: Task, operation: string): void {
    const { record, lackingSinceMs, accountProbedMs } = task;
    const { lastFailure, lastSuccessMs, endedMs } = record;
    this.#apis.add(task.spec.api);
    const isRead = lastSuccessMs !== undefined && lackingSinceMs === undefined;
    // Of what fails now, it is known when its last success began, and not when it ended.
    const readMs = isRead ? (lastFailure ? record.readBeganMs : endedMs) : Number.NEGATIVE_INFINITY;
    if (isRead && readMs >= this.#readMs) {
      this.#readMs = readMs;
      // The wall clock may have been set back.
      this.#lastSuccessMs = lastSuccessMs;
    }
    const isFailing = lastFailure !== undefined && !neutral.includes(lastFailure.result);
    if (isFailing) this.#addFailed(task, operation, lastFailure.result);
    else if (isRead && !lastFailure) {
      const newest = this.#newest.get(operation);
      if (!newest || endedMs > newest.record.endedMs) this.#newest.set(operation, task);
    }
    if (accountProbedMs === undefined) return;
    this.#probedMs = Math.max(this.#probedMs, accountProbedMs);
    if (isFailing && endedMs >= accountProbedMs)
      this.#badProbeMs = Math.max(this.#badProbeMs, accountProbedMs);
  }

  /** down: the APIs that are; uptimeMs: now, by the machine's uptime. */
  health(down: ReadonlySet<ApiName>, uptimeMs: number): AccountHealth<Task> {
    const failed = [...this.#failed.values()].filter(({ records }) =>
      records.some(({ endedMs }) => endedMs > this.#readMs),
    );
    const next = failed.length > 0 ? this.#nextToAsk(failed) : undefined;
    const isFailing = failed.length > 0 && (next === undefined || this.#badProbeMs > this.#readMs);
    const mayProbe = uptimeMs >= this.#probedMs + probePauseMs && timesOf(failed, this.#readMs) >= enough;
    return {
      lastSuccessMs: this.#lastSuccessMs,
      failing: isFailing ? commonestReason(failed, this.#readMs, down) : undefined,
      probe: !isFailing && mayProbe ? next : undefined,
      apis: this.#apis,
    };
  }

  #addFailed({ spec: { api }, record }: Task, operation: string, result: string): void {
    let failed = this.#lastFailed;
    // To make a key of these for each would be most of the work.
    if (failed?.operation !== operation || failed.result !== result || failed.api !== api) {
      const key = `${api} ${operation} ${result}`;
      failed = this.#failed.get(key) ?? { api, operation, result, records: [] };
      this.#failed.set(key, failed);
      this.#lastFailed = failed;
    }
    failed.records.push(record);
  }

  /** What was read last, of another operation than what failed where there is one; undefined where nothing is read well. */
  #nextToAsk(failed: readonly Failed[]): Task | undefined {
    const operations = new Set(failed.map(({ operation }) => operation));
    const good = [...this.#newest.values()];
    const others = good.filter(({ operation }) => !operations.has(operation));
    return (others.length > 0 ? others : good).reduce<Task | undefined>(
      (last, one) => (last && last.record.endedMs >= one.record.endedMs ? last : one),
      undefined,
    );
  }
}

/** How many polls failed since then, by the machine's uptime. Of what failed before already, one. */
function timesOf(failed: readonly Failed[], sinceMs: number): number {
  let sum = 0;
  for (const { records } of failed)
    for (const { endedMs, unanswered, deniedSinceMs, permanentFailures, transientFailures } of records) {
      if (endedMs <= sinceMs) continue;
      const begunMs = unanswered?.sinceMs ?? deniedSinceMs ?? Number.NEGATIVE_INFINITY;
      sum += begunMs > sinceMs ? Math.max(1, permanentFailures + transientFailures) : 1;
    }
  return sum;
}

/** The result that most of what failed since then has. */
function commonestReason(
  failed: readonly Failed[],
  sinceMs: number,
  down: ReadonlySet<ApiName>,
): string | undefined {
  if (failed.every(({ api }) => down.has(api))) return 'api_down';
  const results = new Map<string, number>();
  for (const { result, records } of failed) {
    const since = records.filter(({ endedMs }) => endedMs > sinceMs);
    results.set(result, (results.get(result) ?? 0) + since.length);
  }
  const [[reason] = []] = [...results].toSorted(([, a], [, b]) => b - a);
  return reason;
}
