/** The requests to the simulator: counted by operation, and kept if the options say so. */
import type { ApiRequest, Exchange, KeyKind } from './api.ts';
import { type OperationName, operations } from './dataset.ts';

/** One request, as it was received. */
export interface LoggedRequest {
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly atMs: number;
  readonly operation: OperationName | 'other';
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly key: KeyKind;
  /** HTTP status of the answer; 0 until it is sent, and if a fault sends none. */
  readonly status: number;
}

export interface Counter {
  /** Requests that arrived, answered or not. */
  readonly requests: number;
  /** Answers by HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const maxLoggedRequests = 100_000;

export type RequestLog = ReturnType<typeof createRequestLog>;

export function createRequestLog(keepsRequests: boolean) {
  const requests: LoggedRequest[] = [];
  const counters = Object.fromEntries(
    [...operations.map(({ name }) => name), 'other'].map((name) => [name, { requests: 0, statuses: {} }]),
  ) as Record<OperationName | 'other', { requests: number; statuses: Record<string, number> }>;
  return {
    counters: counters as Readonly<Record<OperationName | 'other', Counter>>,
    requests: requests as readonly LoggedRequest[],
    /** Records a request. Call the returned function with the status when the answer is sent. */
    arrived({ method, url: path }: ApiRequest, exchange: Exchange) {
      const operation = exchange.operation?.name ?? ('other' as const);
      const logged = { atMs: performance.now(), operation, method, path, key: exchange.key, status: 0 };
      const counter = counters[operation];
      counter.requests += 1;
      if (keepsRequests) {
        if (requests.length >= maxLoggedRequests) requests.splice(0, maxLoggedRequests / 2);
        requests.push(logged);
      }
      return (status: number) => {
        logged.status = status;
        counter.statuses[status] = (counter.statuses[status] ?? 0) + 1;
      };
    },
  };
}
