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
  missing: () => rejected('unknownZone', ''),
  error: (statusCode, message) => {
    const error = { statusCode, success: false, message, errorKey: null };
    return { status: statusCode, body: { statusCode, error, data: null } };
  },
  rejected: (status, { errorKey, statusCode, message = `Request rejected: ${errorKey}` }) => ({
    status,
    body: { error: { statusCode, success: false, message, errorKey }, data: null },
  }),
} as const satisfies Form;

/** Shield's answers without `data`: zeros beside the error, which is called `errorResponse`. */
export const shieldBesideError: Form = {
  ...shieldEnvelope,
  missing: () => {
    const error = { ...rejections.unknownZone, success: false };
    return { status: 202, body: { id: 0, shieldZoneId: 0, ruleConfiguration: null, errorResponse: error } };
  },
};

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

/** Reasons why the Shield API answers a well-formed request without data, as recorded. */
export const rejections = {
  unknownZone: {
    errorKey: 'not_found_or_unauthorised_access.shieldzone',
    statusCode: 202,
    message: 'Shield Zone not found or Unauthorized access.',
  },
  noRateLimits: { errorKey: 'not_found.ratelimit_shieldzone', statusCode: 202 },
  notOnPlan: { errorKey: 'invalid_plan_type.bot_detection', statusCode: 202 },
} as const satisfies Record<Rejection, RejectionError>;

/** What a plan lacks is HTTP 202, or HTTP 400 with the fields of the error around everything: which one depends on the id in the request. */
export function rejected(reason: Rejection, id: string): Answer {
  if (reason !== 'notOnPlan' || Number(id.at(-1)) % 2 === 0)
    return shieldEnvelope.rejected(202, rejections[reason]);
  const message = 'This feature is not available on your current plan.';
  const errorKey = 'feature_not_available_on_plan';
  return { status: 400, body: { statusCode: 400, success: false, message, errorKey } };
}
