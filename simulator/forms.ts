/** What the operations of an API have in common, and how each API reports errors. */
import { hash } from './entities.ts';
import { type Answer, type Form, ok, type Rejection, type RejectionError } from './kind.ts';

/** ErrorDetails of the application API. */
export const problemDetails: Form = {
  unauthorized: { status: 401 },
  missing: (id) => {
    const detail = `${id} was not found.`;
    return { status: 404, body: { title: 'Not Found', status: 404, detail, instance: `/apps/${id}` } };
  },
  error: (status, title) => ({ status, body: { title, status, detail: null, instance: null } }),
};

/** `{ ErrorKey, Field, Message }` of the core API. */
const coreErrors: Form = {
  unauthorized: { status: 401 },
  missing: () => coreErrors.error(404, 'The requested resource was not found'),
  error: (status, Message) => ({ status, body: { ErrorKey: 'failed', Field: null, Message } }),
};

/** `{ error, data }` of the Shield API. */
export const shieldEnvelope = {
  unauthorized: { status: 401, body: { title: 'Unauthorized', status: 401 } },
  missing: (id) => rejected('unknownZone', id),
  error: (statusCode, message) => {
    const error = { statusCode, success: false, message, errorKey: null };
    return { status: statusCode, body: { statusCode, error, data: null } };
  },
  rejected: (status, { errorKey, statusCode }) => {
    const message = `Request rejected: ${errorKey}`;
    return { status, body: { error: { statusCode, success: false, message, errorKey }, data: null } };
  },
} as const satisfies Form;

/** `{ success, message, statusCode, data }` of the video API. */
export const videoEnvelope: Form = {
  unauthorized: { status: 401 },
  missing: () => videoEnvelope.error(404, 'The requested video was not found'),
  error: (statusCode, message) => ({ status: statusCode, body: { success: false, message, statusCode } }),
  rejected: (status, { errorKey, statusCode }) => {
    const message = `Request rejected: ${errorKey}`;
    return { status, body: { success: false, message, statusCode, data: null } };
  },
};

/** `{ error: { code, message, details } }` of the API of origin errors. */
const originErrors: Form = {
  unauthorized: { status: 401 },
  missing: () => originErrors.error(404, 'The requested pull zone was not found'),
  error: (status, message) => ({ status, body: { error: { code: 'failed', message, details: null } } }),
};

export const applicationApi = { api: 'application', key: 'account', form: problemDetails } as const;
export const shieldApi = { api: 'shield', key: 'account', form: shieldEnvelope } as const;
/** An id of a storage zone that the account does not have is answered as a refused key is, but without a body. */
const storageErrors: Form = { ...coreErrors, missing: () => ({ status: 401 }) };
export const storageApi = { api: 'core', key: 'account', form: storageErrors } as const;
export const coreApi = { api: 'core', key: 'account', form: coreErrors } as const;
export const videoApi = { api: 'video', key: 'library', form: videoEnvelope } as const;

export const originErrorsApi = { api: 'origin_errors', key: 'account', form: originErrors } as const;

/** A default envelope without an error. */
export const noError = { statusCode: 0, success: false, message: null, errorKey: null };

/** A good answer of the Shield API: `error` may be null, absent, or the empty default envelope. */
export function shieldData(seed: number, data: unknown): Answer {
  return ok([{ error: null, data }, { data }, { error: noError, data }][hash(seed, 0x71) % 3]);
}

/** API Guardian of a zone that nobody configured. Only how its key ends was recorded. */
export const noConfiguration: Answer = {
  ...shieldEnvelope.rejected(202, { errorKey: 'api_guardian.no_configuration', statusCode: 404 }),
  status: 404,
};

/** Reasons why the Shield API answers a well-formed request with `data: null`. */
export const rejections = {
  unknownZone: { errorKey: 'not_found_or_unauthorised_access.shieldzone', statusCode: 404 },
  noRateLimits: { errorKey: 'not_found.ratelimit_shieldzone', statusCode: 404 },
  // Only how it begins was recorded.
  notOnPlan: { errorKey: 'invalid_plan_type.shieldzone', statusCode: 403 },
} as const satisfies Record<Rejection, RejectionError>;

/** What a plan lacks is 202. Other rejections arrive with either status: which one depends on the id in the request. */
export function rejected(reason: Rejection, id: string): Answer {
  const is200 = reason !== 'notOnPlan' && Number(id.at(-1)) % 2 === 1;
  return shieldEnvelope.rejected(is200 ? 200 : 202, rejections[reason]);
}
