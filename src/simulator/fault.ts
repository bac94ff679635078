/** What a fault is: the request that it strikes, how it is played, and the usual ways to declare one. */
import type { ServerResponse } from 'node:http';
import { type AnyOperation, type OperationName, operations } from './dataset.ts';
import { rejections, shieldEnvelope } from './forms.ts';
import { type Answer, type Form, isPaged, type Pages, type Rejection } from './kind.ts';
import { bytesOf, type Reply, replyOf } from './reply.ts';

/** What a fault may be told beyond its type; each type lists those it heeds. */
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

/** The request that a fault strikes, and what it needs to play. */
export interface Situation {
  readonly operation: AnyOperation;
  readonly parameters: FaultParameters;
  /** The key that came with the request, as it came. */
  readonly sentKey: string;
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** The listing that was asked for, where it comes in pages. */
  readonly pages: Pages | undefined;
}

type Change = (reply: Reply, situation: Situation) => Reply;

/** Sends the right reply wrongly. */
interface Wire {
  /** False where not even a status line is sent. */
  readonly sendsHead: boolean;
  readonly send: (response: ServerResponse, reply: Reply) => void;
}

export interface FaultDeclaration {
  /** One line, for people. */
  readonly description: string;
  /** Operations to which it can happen. */
  readonly appliesTo: readonly OperationName[];
  /** Puts another reply in the place of the right one. */
  readonly change?: Change;
  readonly wire?: Wire;
}

export type Applies = (operation: AnyOperation) => boolean;

/** Changes whatever the answer was. Without a change the answer is right. appliesTo: default to all operations, here and below. */
export function changed(description: string, change?: Change, appliesTo: Applies = () => true) {
  const names = operations.filter(appliesTo).map(({ name }) => name);
  return { description, appliesTo: names, ...(change && { change }) };
}

/** Answers with this in place of whatever the answer was. */
export function instead(description: string, reply: (situation: Situation) => Reply, appliesTo?: Applies) {
  return changed(description, (_reply, situation) => reply(situation), appliesTo);
}

/** Changes a good answer; what the API refuses, it refuses as before. */
export function spoilt(description: string, change: Change, appliesTo?: Applies) {
  const ifGood: Change = (reply, situation) => (reply.status === 200 ? change(reply, situation) : reply);
  return changed(description, ifGood, appliesTo);
}

/** Changes the text of a good answer. */
export function rewritten(
  description: string,
  rewrite: (text: string, situation: Situation) => string,
  appliesTo?: Applies,
) {
  const change: Change = (reply, situation) => {
    const bytes = Buffer.from(rewrite(bytesOf(reply).toString('utf8'), situation));
    return { status: reply.status, headers: reply.headers, bytes };
  };
  return spoilt(description, change, appliesTo);
}

/** Puts another page in the place of the right one. An empty listing stays as it is. */
export function paged(description: string, answer: (pages: Pages, right: Answer) => Answer) {
  const change: Change = (reply, { pages }) =>
    pages && pages.totalPages > 0
      ? replyOf(answer(pages, { status: reply.status, body: reply.json }))
      : reply;
  return spoilt(description, change, isPaged);
}

/** Sends the right answer wrongly. */
export function onWire(description: string, sendsHead: boolean, send: Wire['send']): FaultDeclaration {
  return { ...changed(description), wire: { sendsHead, send } };
}

/** An error in the form of the operation. */
export function refused(description: string, answer: (form: Form) => Answer, appliesTo?: Applies) {
  return instead(description, ({ operation }) => replyOf(answer(operation.form)), appliesTo);
}

export function failing(status: number, title: string): FaultDeclaration {
  return refused(`HTTP ${status} with an error object`, (form) => form.failed(status, title));
}

/** Any failure that comes with a good status. */
export function anyRejection(description: string, status: 200 | 202): FaultDeclaration {
  const error = { errorKey: 'internal_failure.metrics', statusCode: 500 };
  const answer = (form: Form) => form.rejected?.(status, error) ?? form.failed(500, error.errorKey);
  return refused(description, answer, ({ form }) => 'rejected' in form);
}

/** One of the failures that the Shield API has a name for. */
export function rejection(description: string, status: 200 | 202, reason: Rejection): FaultDeclaration {
  const reply = () => replyOf(shieldEnvelope.rejected(status, rejections[reason]));
  return instead(description, reply, (operation) => operation.rejections?.includes(reason) ?? false);
}
