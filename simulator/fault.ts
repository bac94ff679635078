/** What a fault is, and the usual ways to declare one. */
import type { ServerResponse } from 'node:http';
import { type AnyOperation, type OperationName, operations } from './dataset.ts';
import { type Answer, isPaged, type Pages } from './kind.ts';
import { type Reply, replyOf } from './reply.ts';

/** Settings of a fault beside its type; each names the type that uses it. */
export interface FaultParameters {
  /** Of `latency`. Default 1000. */
  readonly latencyMs?: number;
  /** Of the statuses with Retry-After, whole. Default 2. */
  readonly retryAfterSeconds?: number;
  /** Of `redirect`. Default: the simulator itself under another host name, at `/elsewhere`. */
  readonly location?: string;
  /** Of `redirect`. Default 302. */
  readonly redirectStatus?: 301 | 302 | 303 | 307 | 308;
  /** Of `page-fails`: the first page that fails. Default 2. */
  readonly page?: number;
  /** Of `gzip-bomb`: its size when decoded. Default 64 MiB. */
  readonly decodedBytes?: number;
  /** Of `deep-nesting`: lists in lists. Default 100,000. */
  readonly depth?: number;
}

/** The request that a fault strikes. */
export interface Situation {
  readonly operation: AnyOperation;
  readonly parameters: FaultParameters;
  /** The key in the request. */
  readonly sentKey: string;
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** The listing behind the request, if it has pages. */
  readonly pages: Pages | undefined;
}

/** Makes the reply of a fault from the right one. */
export type Change = (reply: Reply, situation: Situation) => Reply;

export interface FaultDeclaration {
  /** One line, for people. */
  readonly description: string;
  /** Operations to which it can happen. */
  readonly appliesTo: readonly OperationName[];
  readonly change?: Change;
  /** How the reply is sent, if not in the normal way. */
  readonly send?: (response: ServerResponse, reply: Reply) => void;
  /** True where not even a status line is sent. */
  readonly isSilent?: boolean;
}

export type Applies = (operation: AnyOperation) => boolean;

const always: Applies = () => true;

export function fault(
  description: string,
  behaviour: Omit<FaultDeclaration, 'description' | 'appliesTo'>,
  applies = always,
): FaultDeclaration {
  return { description, appliesTo: operations.filter(applies).map(({ name }) => name), ...behaviour };
}

/** A fault that answers with this reply instead of the right one. */
export function instead(description: string, reply: (situation: Situation) => Reply, applies?: Applies) {
  return fault(description, { change: (_reply, situation) => reply(situation) }, applies);
}

/** A fault that changes a good answer, and leaves errors as they are. */
export function edited(description: string, change: Change, applies?: Applies) {
  const ifGood: Change = (reply, situation) => (reply.status === 200 ? change(reply, situation) : reply);
  return fault(description, { change: ifGood }, applies);
}

/** A fault that answers with another page instead of the right one. An empty listing stays as it is. */
export function paged(description: string, answer: (pages: Pages) => Answer) {
  const change: Change = (reply, { pages }) =>
    pages && pages.totalPages > 0 ? replyOf(answer(pages)) : reply;
  return edited(description, change, isPaged);
}
