/** How the APIs answer, and in which form each says no: problem details, the envelope of Shield and that of video (reference 2.2, 2.3, 4.6). */

import { type Answer, type Form, ok, type Rejection, type RejectionError, type Request } from './kind.ts';
import { hash } from './random.ts';
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

/** `{ ErrorKey, Field, Message }` of the core API. */
const coreErrors: Form = {
  unauthorized: { status: 401 },
  notFound: coreError(404, 'not_found', 'The requested resource was not found'),
  failed: (status, title) => coreError(status, 'failed', title),
  echoed: (text) => coreError(500, 'failed', refusal(text)),
};

function coreError(status: number, ErrorKey: string, Message: string): Answer {
  return { status, body: { ErrorKey, Field: null, Message } };
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
  echoed: (text) =>
    ok({
      error: { statusCode: 500, success: false, message: refusal(text), errorKey: `refused.${text}` },
      data: null,
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
  echoed: (text) => ({ status: 403, body: { success: false, message: refusal(text), statusCode: 403 } }),
} as const satisfies Form;

/** What the operations of an API have in common. */
export const applicationApi = { api: 'application', key: 'account', form: problemDetails } as const;
export const shieldApi = { api: 'shield', key: 'account', form: shieldEnvelope } as const;
export const coreApi = { api: 'core', key: 'account', form: coreErrors } as const;
export const videoApi = { api: 'video', key: 'library', form: videoEnvelope } as const;

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
} as const satisfies Record<Rejection, RejectionError>;

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

/** Answers for the entity whose id is the first of a request. */
export function ofEach<Entity>(
  entities: readonly Entity[],
  idOf: (entity: Entity) => string,
  answer: (entity: Entity, request: Request) => Answer,
  otherwise: (id: string) => Answer = () => coreErrors.notFound,
): (request: Request) => Answer {
  const known = new Map(entities.map((entity) => [idOf(entity), entity]));
  return (request) => {
    const [id = ''] = request.ids;
    const entity = request.isRemoved(id) ? undefined : known.get(id);
    return entity ? answer(entity, request) : otherwise(id);
  };
}
