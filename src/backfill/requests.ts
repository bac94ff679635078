/** How a history asks the API, and what it says of a failure. */
import type { ApiClients } from '../api/client.ts';
import { failureIn } from '../api/errors.ts';
import {
  addressOf,
  enoughMovedRuns,
  type ListingOutcome,
  type ListingSpec,
  nameOf,
  type Spec,
} from '../polling/past.ts';
import { isNotInPlan } from '../resources/envelope.ts';
import { type Found, type Get, idText, silent } from '../resources/resource.ts';
import { safeLine } from '../text.ts';

export interface Reader {
  readonly clients: ApiClients;
  readonly signal: AbortSignal;
  /** How long a request may take, with its turn, retries and the pauses that the API asks for. */
  readonly budgetMs: number;
  /** Where the key of a credential comes from. */
  readonly describeKey: (credential: string) => string;
}

export function getFor({ clients, signal, budgetMs }: Reader, spec: Spec): Get {
  return (path) => clients[spec.api].get({ ...addressOf(spec), path, budgetMs }, signal);
}

/** How a request or a reading failed. Throws what is no failure of an answer. */
export function failureOf(error: unknown) {
  const failure = failureIn(error);
  if (!failure) throw error;
  const { result, answer, message } = failure;
  return { result, status: answer.status, errorKey: answer.errorKey, message: safeLine(message) };
}

/** Why something could not be read, for people. */
export function reasonText(
  { result, status, message }: Pick<ReturnType<typeof failureOf>, 'result' | 'status' | 'message'>,
  credential: string,
  { describeKey }: Pick<Reader, 'describeKey'>,
): string {
  return result === 'auth' && status === 401
    ? `the API refuses the key of ${credential} (${describeKey(credential)}). Correct it and begin anew`
    : message;
}

/** What one listing has; why, if it could not be read. nowMs: Unix time. */
export async function readListing(reader: Reader, spec: ListingSpec, nowMs: number): Promise<ListingOutcome> {
  const { listing, parent, account, credential } = spec;
  try {
    const entries = new Map<string, Found>();
    for (let runs = 0; runs < enoughMovedRuns; runs++) {
      const { found, moved } = await listing.discover(getFor(reader, spec), parent?.ids, silent, nowMs);
      if (moved === undefined) return { entries: [...found] };
      for (const one of found) entries.set(idText(one.ids), one);
    }
    return { entries: [...entries.values()] };
  } catch (error) {
    reader.signal.throwIfAborted();
    const failure = failureOf(error);
    if (listing.isEmpty?.(failure) || isNotInPlan(listing, failure)) return { entries: [] };
    const of = parent ? nameOf(parent) : account;
    return {
      failure: `the ${listing.nouns} of ${of}: ${reasonText(failure, credential, reader)}`,
      status: failure.status,
    };
  }
}
