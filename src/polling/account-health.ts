/**
 * Whether an account can be read, from one pass over what is polled with its own key: what failed since its last success, whether the
 * thing that was read last fails, too, and what to poll to know that. What it is not time for says nothing. Pure.
 */
import type { ApiName } from '../resources/resource.ts';
import type { Polled } from './record.ts';

/** So many failures since the last success are a reason to ask something else. */
const enough = 2;

/** The least time between two polls that are made to know. */
const probePauseMs = 300_000;

/** Answers to the key: what was asked for is not there. They say neither that the account can be read nor that it cannot. */
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

/** What the tasks with the own key of one account say of it. */
export class SeenAccount<Task extends Polled> {
  readonly #apis = new Set<ApiName>();
  readonly #failed: Task[] = [];
  /** What was read last of each operation, of what is read well. */
  readonly #newest = new Map<string, Task>();
  #lastSuccessMs = Number.NEGATIVE_INFINITY;
  /** By the machine's uptime. */
  #readMs = Number.NEGATIVE_INFINITY;
  #probedMs = Number.NEGATIVE_INFINITY;
  /** The last probe that failed. */
  #badProbeMs = Number.NEGATIVE_INFINITY;

  add(task: Task): void {
    const { record, lackingSinceMs, accountProbedMs } = task;
    const { lastFailure, lastSuccessMs, endedMs } = record;
    this.#apis.add(task.spec.api);
    const isRead = lastSuccessMs !== undefined && lackingSinceMs === undefined;
    if (isRead) {
      this.#lastSuccessMs = Math.max(this.#lastSuccessMs, lastSuccessMs);
      // When the last success of what fails since ended is not known.
      this.#readMs = Math.max(this.#readMs, lastFailure ? record.readBeganMs : endedMs);
    }
    const isFailing = lastFailure !== undefined && !neutral.includes(lastFailure.result);
    if (isFailing) this.#failed.push(task);
    else if (isRead && !lastFailure) {
      const { operation } = task;
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
    const failed = this.#failed.filter(({ record }) => record.endedMs > this.#readMs);
    const next = failed.length > 0 ? this.#nextToAsk(failed) : undefined;
    const isFailing = failed.length > 0 && (next === undefined || this.#badProbeMs > this.#readMs);
    const mayProbe = countOf(failed, this.#readMs) >= enough && uptimeMs >= this.#probedMs + probePauseMs;
    return {
      lastSuccessMs: this.#lastSuccessMs,
      failing: isFailing ? reasonOf(failed, down) : undefined,
      probe: !isFailing && mayProbe ? next : undefined,
      apis: this.#apis,
    };
  }

  /** What was read last, of another operation than what failed where there is one; undefined where nothing is read well. */
  #nextToAsk(failed: readonly Task[]): Task | undefined {
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
function countOf(failed: readonly Polled[], sinceMs: number): number {
  return failed.reduce((sum, { record }) => {
    const { permanentFailures, transientFailures, unanswered, deniedSinceMs } = record;
    const beganMs = unanswered?.sinceMs ?? deniedSinceMs ?? Number.NEGATIVE_INFINITY;
    return sum + (beganMs > sinceMs ? Math.max(1, permanentFailures + transientFailures) : 1);
  }, 0);
}

function reasonOf(failed: readonly Polled[], down: ReadonlySet<ApiName>): string | undefined {
  if (failed.every(({ spec }) => down.has(spec.api))) return 'api_down';
  const results = new Map<string, number>();
  for (const { record } of failed) {
    const { result = '' } = record.lastFailure ?? {};
    results.set(result, (results.get(result) ?? 0) + 1);
  }
  const [[reason] = []] = [...results].toSorted(([, a], [, b]) => b - a);
  return reason;
}
