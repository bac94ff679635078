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

export interface RequestLog {
  readonly counters: Readonly<Record<OperationName | 'other', Counter>>;
  readonly requests: readonly SeenRequest[];
  /** Notes a request. Call the returned function with the status when the answer is sent. */
  arrived(asked: Asked, exchange: Exchange): (status: number) => void;
}

const maxSeenRequests = 100_000;

export function createRequestLog(keepsRequests: boolean): RequestLog {
  const requests: SeenRequest[] = [];
  const counters = Object.fromEntries(
    [...operations.map(({ name }) => name), 'other'].map((name) => [name, { requests: 0, statuses: {} }]),
  ) as Record<OperationName | 'other', { requests: number; statuses: Record<string, number> }>;
  return {
    counters,
    requests,
    arrived({ method, url }, { operation, key }) {
      const seen = {
        atMs: performance.now(),
        operation: operation?.name ?? ('other' as const),
        method,
        path: url,
        key,
        status: 0,
      };
      const counter = counters[seen.operation];
      counter.requests += 1;
      if (keepsRequests) {
        if (requests.length >= maxSeenRequests) requests.splice(0, maxSeenRequests / 2);
        requests.push(seen);
      }
      return (status) => {
        seen.status = status;
        counter.statuses[status] = (counter.statuses[status] ?? 0) + 1;
      };
    },
  };
}
