/** What a fault is: the request that it strikes, how it is played, and the usual ways to declare one. */
import type { ServerResponse } from 'node:http';
import { type AnyOperation, type OperationName, operations } from './dataset.ts';
import { rejections, shieldEnvelope } from './forms.ts';
import { type Answer, type Form, isPaged, type Pages, type Rejection } from './kind.ts';
import { type DataFault, mutateReading } from './mutations.ts';
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
type Send = (response: ServerResponse, reply: Reply) => void;

type Play =
  /** Waits, then goes on as if nothing was. */
  | { readonly stage: 'delay' }
  /** Puts another reply in the place of the right one. */
  | { readonly stage: 'reply'; readonly change: Change }
  /** Sends the right reply wrongly. */
  | {
      readonly stage: 'wire';
      readonly sendsHead: boolean;
      readonly send: Send;
    };

export interface FaultDeclaration {
  /** One line, for people. */
  readonly description: string;
  /** Operations to which it can happen. */
  readonly appliesTo: readonly OperationName[];
  readonly play: Play;
}

export type Applies = (operation: AnyOperation) => boolean;

/** appliesTo: default to all operations, here and below. */
function declared(description: string, play: Play, appliesTo: Applies = () => true): FaultDeclaration {
  return { description, appliesTo: operations.filter(appliesTo).map(({ name }) => name), play };
}

/** The answer is right and late. */
export function late(description: string): FaultDeclaration {
  return declared(description, { stage: 'delay' });
}

/** Changes whatever the answer was. */
function changed(description: string, change: Change, appliesTo?: Applies): FaultDeclaration {
  return declared(description, { stage: 'reply', change }, appliesTo);
}

/** Answers with this in place of whatever the answer was. */
export function instead(description: string, reply: (situation: Situation) => Reply, appliesTo?: Applies) {
  return changed(description, (_reply, situation) => reply(situation), appliesTo);
}

/** Changes a good answer; what the API refuses, it refuses as before. */
export function spoilt(description: string, change: Change, appliesTo?: Applies): FaultDeclaration {
  const ifGood: Change = (reply, situation) => (reply.status === 200 ? change(reply, situation) : reply);
  return changed(description, ifGood, appliesTo);
}

/** Changes the data in a good answer. */
export function mutated<Type extends string>(faults: Readonly<Record<Type, DataFault>>) {
  const declarations = Object.entries<DataFault>(faults).map(([type, { says, change, to }]) => {
    const mutate: Change = (reply, { operation }) => ({
      ...reply,
      json: mutateReading(operation.traits, reply.json, change),
    });
    return [type, spoilt(says, mutate, to && (({ traits }) => to.some((trait) => trait in traits)))];
  });
  return Object.fromEntries(declarations) as Record<Type, FaultDeclaration>;
}

/** Changes the text of a good answer. */
export function rewritten(
  description: string,
  rewrite: (text: string, situation: Situation) => string,
  appliesTo?: Applies,
) {
  const change: Change = (reply, situation) => {
    const { status, headers } = reply;
    return { status, headers, bytes: Buffer.from(rewrite(bytesOf(reply).toString('utf8'), situation)) };
  };
  return spoilt(description, change, appliesTo);
}

/** Puts another page in the place of the right one. */
export function paged(description: string, answer: (pages: Pages, right: Answer) => Answer) {
  const change: Change = (reply, { pages }) =>
    pages ? replyOf(answer(pages, { status: reply.status, body: reply.json })) : reply;
  return spoilt(description, change, isPaged);
}

/** sendsHead: false where not even a status line is sent. */
export function onWire(description: string, sendsHead: boolean, send: Send): FaultDeclaration {
  return declared(description, { stage: 'wire', sendsHead, send });
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
