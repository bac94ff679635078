/** The forms in which the APIs say no: problem details, the envelope of Shield and that of video (reference 2.2, 2.3, 4.6). */
import { hash } from './random.ts';
import type { Answer } from './reply.ts';

export interface Form {
  /** For a missing or wrong key. */
  readonly unauthorized: Answer;
  readonly notFound: Answer;
  /** Any other error. */
  failed(status: number, title: string): Answer;
  /** A failure that arrives with a good status; absent where the API has none. */
  rejected?(status: 200 | 202, error: RejectionError): Answer;
  /** An error that repeats a text of the request. */
  echoed(text: string): Answer;
}

export interface RejectionError {
  readonly errorKey: string;
  readonly statusCode: number;
}

/** ErrorDetails of the application API (reference 2.2). */
export const problemDetails: Form = {
  unauthorized: { status: 401 },
  notFound: problem(404, 'Not Found'),
  failed: problem,
  echoed: (text) => {
    const title = refusal(text);
    return { status: 500, body: { title, status: 500, detail: title, instance: `/?key=${text}` } };
  },
};

function problem(status: number, title: string): Answer {
  return { status, body: { title, status, detail: null, instance: null, errors: null } };
}

/** `{ error, data }` of the Shield API (reference 2.3). */
export const shieldEnvelope = {
  unauthorized: { status: 401, body: { title: 'Unauthorized', status: 401 } },
  notFound: shieldError(404, 'Not Found'),
  failed: shieldError,
  rejected: (status, { errorKey, statusCode }) => ({
    status,
    body: {
      error: { statusCode, success: false, message: `Request rejected: ${errorKey}`, errorKey },
      data: null,
    },
  }),
  echoed: (text) => ({
    status: 200,
    body: {
      error: { statusCode: 500, success: false, message: refusal(text), errorKey: `refused.${text}` },
      data: null,
    },
  }),
} as const satisfies Form;

function shieldError(status: number, title: string): Answer {
  const error = { statusCode: status, success: false, message: title, errorKey: null };
  return { status, body: { statusCode: status, error, data: null } };
}

/** A good answer of the Shield API: `error` may be null, absent, or the empty default envelope. */
export function shieldData(seed: number, data: unknown): Answer {
  const envelopes = [
    { error: null, data },
    { data },
    { error: { statusCode: 0, success: false, message: null, errorKey: null }, data },
  ];
  return { status: 200, body: envelopes[hash(seed, 0x71) % 3] };
}

/** `{ success, message, statusCode, data }` of the video API (reference 4.6). */
export const videoEnvelope = {
  unauthorized: { status: 401 },
  notFound: {
    status: 404,
    body: { success: false, message: 'The requested video was not found', statusCode: 404 },
  },
  failed: (status, title) => ({ status, body: { success: false, message: title, statusCode: status } }),
  rejected: (status, { errorKey }) => ({
    status,
    body: { success: false, message: `Request rejected: ${errorKey}`, statusCode: 500, data: null },
  }),
  echoed: (text) => ({
    status: 403,
    body: { success: false, message: refusal(text), statusCode: 403 },
  }),
} as const satisfies Form;

function refusal(text: string): string {
  return `The key ${text} is not welcome.`;
}

/** Reasons why the Shield API answers a well-formed request with `data: null` (reference 2.3). */
export const rejections = {
  unknownZone: { errorKey: 'not_found_or_unauthorised_access.shieldzone', statusCode: 404 },
  // Named after its siblings: the vendor's word for it is not known.
  unknownEndpoint: { errorKey: 'not_found.api_guardian_endpoint', statusCode: 404 },
  noRateLimits: { errorKey: 'not_found.ratelimit_shieldzone', statusCode: 404 },
  notOnPlan: { errorKey: 'feature_not_available_on_plan', statusCode: 403 },
} as const satisfies Record<string, RejectionError>;
export type Rejection = keyof typeof rejections;

/** Rejections arrive with either status: which one depends on the id that was asked for. */
export function rejected(reason: Rejection, id: string): Answer {
  const status = Number(id.at(-1) ?? 0) % 2 === 0 ? 202 : 200;
  return shieldEnvelope.rejected(status, rejections[reason]);
}

export function malformedId(field: string): Answer {
  return {
    status: 400,
    body: {
      title: 'One or more validation errors occurred.',
      status: 400,
      errors: [{ field, message: 'The value is not valid.' }],
    },
  };
}
