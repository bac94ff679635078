/** What the simulator saw: requests, counted by operation, and kept on demand. */
import type { Asked, Exchange, KeyKind } from './api.ts';
import { type OperationName, operations } from './dataset.ts';

/** One request, as the server saw it. */
export interface SeenRequest {
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly atMs: number;
  readonly operation: OperationName | 'other';
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly key: KeyKind;
  /** Of the answer; 0 until there is one, and where a fault sends none. */
  readonly status: number;
}

export interface Counter {
  /** Requests that arrived, answered or not. */
  readonly requests: number;
  /** Answers by HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const maxSeenRequests = 100_000;

export type RequestLog = ReturnType<typeof createRequestLog>;

export function createRequestLog(keepsRequests: boolean) {
  const requests: SeenRequest[] = [];
  const counters = Object.fromEntries(
    [...operations.map(({ name }) => name), 'other'].map((name) => [name, { requests: 0, statuses: {} }]),
  ) as Record<OperationName | 'other', { requests: number; statuses: Record<string, number> }>;
  return {
    counters: counters as Readonly<Record<OperationName | 'other', Counter>>,
    requests: requests as readonly SeenRequest[],
    /** Records a request. Call the returned function with the status when the answer is sent. */
    arrived({ method, url: path }: Asked, exchange: Exchange) {
      const operation = exchange.operation?.name ?? ('other' as const);
      const seen = { atMs: performance.now(), operation, method, path, key: exchange.key, status: 0 };
      const counter = counters[operation];
      counter.requests += 1;
      if (keepsRequests) {
        if (requests.length >= maxSeenRequests) requests.splice(0, maxSeenRequests / 2);
        requests.push(seen);
      }
      return (status: number) => {
        seen.status = status;
        counter.statuses[status] = (counter.statuses[status] ?? 0) + 1;
      };
    },
  };
}
