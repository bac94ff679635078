/** Answers inside a body: in the `data` of an envelope that can also report an error, or in a field. */
import { type Documented, documentedFields } from './documented.ts';
import {
  type Answer,
  anything,
  fieldOf,
  isObject,
  nameOf,
  object,
  ReadingError,
  saysNotFound,
} from './fields.ts';
import type { FailureOf, Operation } from './resource.ts';

/** An answer in the `data` of its body. beside: what is documented beside it. */
export function enveloped<Reading>(answer: Answer<Reading>, beside = 'error'): Answer<Reading> {
  const unwrap = answer.documented.elements ? unwrapList : unwrapData;
  const from: Answer<Reading>['from'] = (body, ...others) => answer.from(unwrap(body), ...others);
  return { ...answer, documented: fieldsOf('data', answer, beside), from };
}

/**
 * An answer in a field of its body. beside: what is documented beside it.
 *
 * @param isNone whether the fields beside it say that there is nothing: then it may be missing
 */
export function within<Reading>(
  field: string,
  answer: Answer<Reading>,
  beside: string,
  isNone: (body: unknown) => boolean = () => false,
): Answer<Reading> {
  const outer = object({ [field]: anything }, beside);
  const from: Answer<Reading>['from'] = (body, ...others) => {
    const given = outer.from(body, ...others)[field];
    return given === undefined && isNone(body) ? answer.nothing : answer.from(given, ...others);
  };
  const shape = { ...answer.shape, ...outer.shape };
  return { ...answer, shape, documented: fieldsOf(field, answer, beside), from };
}

/** An answer whose fields stand beside the error, instead of in `data`. There they are read, too. error: what it is called. */
export function besideError<Reading>(answer: Answer<Reading>, error = 'error'): Answer<Reading> {
  const documented = {
    fields: new Map([...(answer.documented.fields ?? []), ...documentedFields(error)]),
  };
  const from: Answer<Reading>['from'] = (body, ...others) =>
    answer.from(unwrapData(isObject(body) ? { ...body, data: body['data'] ?? body } : body), ...others);
  return { ...answer, documented, from };
}

function fieldsOf(field: string, { documented }: Answer, beside: string): Documented {
  return { fields: new Map([[field, documented], ...documentedFields(beside)]) };
}

/**
 * The texts and flags of an error envelope: `success`, `message`, `errorKey`, `statusCode`. A value of another type counts as absent.
 * It stands in `error`, in `errorResponse` or around the data: the first of them that names the error, else the first.
 */
function envelopeOf(body: Readonly<Record<string, unknown>>) {
  const places = ['error', 'errorResponse'].flatMap((name) => fieldOf(body, name) ?? []);
  const named = [...places, body].find((place) => isObject(place) && hasText(fieldOf(place, 'errorKey')));
  const given = named ?? places[0] ?? body;
  const about = isObject(given) ? given : { message: given };
  const [message, errorKey, statusCode] = ['message', 'errorKey', 'statusCode'].map((name) =>
    fieldOf(about, name),
  );
  return {
    success: fieldOf(about, 'success'),
    message: typeof message === 'string' ? message : '',
    errorKey: typeof errorKey === 'string' ? errorKey : '',
    statusCode: Number(statusCode),
  };
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/**
 * The `data` of a shield or video answer. `success: false` alone is no error, for good answers carry an empty default
 * envelope; it is one together with a message or a key, whatever the HTTP status was.
 *
 * @throws {ReadingError} `not_found` or `rejected` for an error in the body, `schema` for a body without data
 */
export function unwrapData(body: unknown): unknown {
  if (!isObject(body)) throw new ReadingError('schema', `expected an object, got ${nameOf(body)}`);
  const { success, message, errorKey } = envelopeOf(body);
  const failed = success === false;
  const data = fieldOf(body, 'data') ?? undefined;
  const hasData = data !== undefined;
  const reason = [errorKey, message].filter((part) => part !== '').join(': ');
  // Without data a reason is enough, and so is a name of the error: `success` may be missing, as any field may.
  const isError = failed || ((!hasData || errorKey !== '') && success !== true);
  if (reason !== '' && isError)
    throw new ReadingError(saysNotFound(errorKey) ? 'not_found' : 'rejected', reason, errorKey || undefined);
  if (!hasData) {
    throw failed
      ? new ReadingError('rejected', 'the answer has no data and gives no reason')
      : new ReadingError('schema', 'the answer has no data');
  }
  return data;
}

/**
 * The `data` of an answer that is a list. Null is an empty list if the envelope reports no failure. Without an envelope it counts
 * as missing, for an empty list would remove everything that was found before.
 *
 * @param isNone whether the answer says elsewhere that it lists nothing: then `data` may be missing
 * @throws {ReadingError} as `unwrapData`
 */
export function unwrapList(body: unknown, isNone = false): unknown {
  const data = isObject(body) ? fieldOf(body, 'data') : undefined;
  if (isObject(body) && (data ?? null) === null) {
    const { success, message, errorKey, statusCode } = envelopeOf(body);
    const hasFailed = errorKey !== '' || (message !== '' && success !== true) || statusCode >= 400;
    const hasEnvelope = ['error', 'errorResponse', 'success'].some(
      (name) => fieldOf(body, name) !== undefined,
    );
    if (!hasFailed && (isNone || (hasEnvelope && data === null))) return [];
  }
  return unwrapData(body);
}

/**
 * Whether the plan of a Shield Zone lacks what was asked for. Any operation of Shield can answer so: with HTTP 202, no data and one of
 * these keys, or with HTTP 400.
 */
export function isNotInPlan({ api }: Pick<Operation, 'api'>, { errorKey = '' }: FailureOf): boolean {
  return api === 'shield' && /^(invalid_plan_type|feature_not_available)/.test(errorKey);
}
