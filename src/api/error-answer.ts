/** Explains an answer that is an error: what the API says about it, or that what answered is no API. */
import { saysNotFound } from '../resources/fields.ts';
import type { ApiName } from '../resources/resource.ts';
import { capitalised } from '../text.ts';
import { parseJson } from './body.ts';
import {
  type Answer,
  ApiError,
  checkAdvice,
  isRetryable,
  type PollFailure,
  resultOfStatus,
} from './errors.ts';

/** Removes the key from a text. */
export type Hide = (text: string) => string;

/** An answer that was decoded. Its text may repeat the key. */
export interface AnswerText {
  readonly text: string;
  readonly hide: Hide;
  /** The header `content-type`. */
  readonly type: string | undefined;
  readonly answer: Answer;
}

/** A longer body of an error is not parsed: it only explains a status. */
const maxErrorLength = 65_536;

/** How much of a body is looked at for its title, and how much of a text is quoted. */
const maxRead = 4096;
const maxQuoted = 100;

/** How many of the wrong fields of a request are named. */
const maxFields = 3;

/** The API whose errors can be a JSON string. From any other it is the answer of something in between. */
const apiOfTexts: ApiName = 'application';

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** The text of a field. The core API begins its names with a capital letter. */
function textIn(fields: Fields, name: string): string | undefined {
  const given = fields[name] ?? fields[capitalised(name)];
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : undefined;
}

/** What is wrong with fields of the request: `[{field, message}]` or `{field: [message]}`. */
function wrongFields(errors: unknown): readonly string[] {
  const named: readonly (readonly [unknown, unknown])[] = Array.isArray(errors)
    ? errors
        .slice(0, maxFields)
        .map((one) => [textIn(fieldsOf(one), 'field'), textIn(fieldsOf(one), 'message') ?? one])
    : Object.entries(fieldsOf(errors)).slice(0, maxFields);
  return named.flatMap(([field, message]) => {
    const [first]: readonly unknown[] = [message].flat();
    const parts = [field, first].filter((part) => typeof part === 'string' && part !== '');
    return typeof first === 'string' ? parts.join(': ') : [];
  });
}

interface ErrorText {
  readonly errorKey?: string | undefined;
  /** Whether it has a form that the API gives its errors. */
  readonly isOfApi: boolean;
  readonly words: readonly (string | undefined)[];
}

/**
 * What the body of an error says: problem details, an envelope around or beside the data, the core API's
 * `{ErrorKey, Message}`, `{error, details}`, `{error: {code, message}}`, a list of any of them, or a JSON string.
 */
function errorTextIn(body: unknown, api: ApiName): ErrorText {
  if (typeof body === 'string') {
    const text = body.trim() || undefined;
    return { isOfApi: api === apiOfTexts && text !== undefined, words: [text] };
  }
  if (Array.isArray(body)) {
    const first = errorTextIn(body[0], api);
    return { ...first, isOfApi: first.isOfApi || textIn(fieldsOf(body[0]), 'message') !== undefined };
  }
  const outer = fieldsOf(body);
  const places = [outer['error'], outer['errorResponse'], outer['Error']].filter((one) => one ?? false);
  const [given] = places;
  const inner = fieldsOf(Array.isArray(given) ? given[0] : given);
  const all = [inner, ...places.slice(1).map(fieldsOf), outer];
  const pick = (name: string) => all.map((fields) => textIn(fields, name)).find((text) => text !== undefined);
  const errorKey = pick('errorKey') ?? textIn(inner, 'code');
  const isOfApi = errorKey !== undefined || all.some(isDocumented);
  const message =
    pick('detail') ?? pick('message') ?? (typeof given === 'string' ? textIn({ given }, 'given') : undefined);
  const errors = outer['errors'] ?? outer['Errors'] ?? inner['errors'];
  const words = [errorKey, pick('title'), message, pick('details'), ...wrongFields(errors)];
  return { errorKey, isOfApi, words };
}

/** `{Message}` of the core API, `{title, status}` of Magic Containers, `{success, message}` of Shield and Stream. */
function isDocumented(fields: Fields): boolean {
  const has = (name: string) => typeof fields[name] === 'string' && fields[name] !== '';
  if (has('Message')) return true;
  return (
    (has('title') && typeof fields['status'] === 'number') || (has('message') && fields['success'] === false)
  );
}

/** What a text says that may be JSON. */
function errorTextOf(text: string, api: ApiName): ErrorText | undefined {
  if (text.length > maxErrorLength) return undefined;
  try {
    return errorTextIn(parseJson(text, {}), api);
  } catch {
    return undefined;
  }
}

/** Whether this is a page for people rather than an answer of an API. Text that is JSON never is, whatever its type. */
export function isPage({ text, type = '' }: Pick<AnswerText, 'text' | 'type'>): boolean {
  return text.trimStart().startsWith('<') || /^\s*(text\/html|application\/xhtml)/i.test(type);
}

/** The title of a page, or how its text begins. */
function looksOf(text: string): string {
  const start = text.trimStart().slice(0, maxRead);
  const [, title = ''] = /<title[^>]*>([^<]*)/i.exec(start) ?? [];
  const plain = start.replaceAll(/<(script|style)\b.*?<\/\1>?/gis, ' ').replaceAll(/<[^>]*>?/g, ' ');
  const words = title.trim() === '' ? plain : title;
  return words.replaceAll(/\s+/g, ' ').trim().slice(0, maxQuoted);
}

/**
 * The error for a page in place of an answer: of a firewall, a proxy, a wrong base_url. It says nothing about the key or about
 * what was requested, so 401, 403 and 404 do not count as such.
 *
 * @param settings those that lead to the host
 */
export function errorOfPage(
  status: number,
  { text, hide, answer }: AnswerText,
  settings: readonly string[],
): ApiError {
  const result = resultOfStatus(status);
  const looks = looksOf(hide(text));
  const page = looks === '' ? 'an HTML page without text' : `an HTML page, ${JSON.stringify(looks)}`;
  return new ApiError(
    isRetryable(result) ? result : 'schema',
    `HTTP ${status}: what answered is no API, but ${page}`,
    answer,
    { advice: checkAdvice(...settings, 'the firewalls', 'the proxies in between'), isTransient: true },
  );
}

/** An error that names itself so says that the key is refused, or may not do this. */
const ofKey = /^(authentication|authori[sz]ation|unauthenticated|unauthori[sz]ed)/i;

/** The statuses with which the API refuses what was asked, rather than the key. */
const refusals: readonly number[] = [400, 404, 409, 410, 422];

/** What an error is: what the API calls it says more than its status, also of a 401, which may be about a day out of reach. */
function resultOf(status: number, errorKey: string | undefined): PollFailure {
  const result = resultOfStatus(status);
  if (errorKey === undefined || isRetryable(result)) return result;
  if (saysNotFound(errorKey)) return 'not_found';
  return status === 401 && !ofKey.test(errorKey) ? 'rejected' : result;
}

/**
 * The error for a status other than 2xx, with the reason that its body gives.
 *
 * @param settings those that lead to the host
 */
export function errorOfStatus(
  api: ApiName,
  status: number,
  response: AnswerText,
  settings: readonly string[],
): ApiError {
  const { hide, answer } = response;
  const text = hide(response.text);
  const isRedirect = status >= 300 && status < 400;
  const said = errorTextOf(response.text, api);
  if (!said && !isRedirect && isPage(response)) return errorOfPage(status, response, settings);
  const isPlain = !said && !isPage(response) && !/^\s*["[{]/.test(text);
  const { errorKey, isOfApi, words } = said ?? {
    isOfApi: false,
    words: [isPlain ? text.trim().slice(0, maxRead) || undefined : undefined],
  };
  const parts = [`HTTP ${status}`, ...words, isRedirect ? 'a redirect, which is not followed' : undefined];
  const message = parts.filter((part) => part !== undefined).join(': ');
  const advice = isRedirect ? checkAdvice(...settings) : undefined;
  // Once more: JSON may have written the key with escapes.
  return new ApiError(
    resultOf(status, errorKey),
    hide(message),
    { ...answer, errorKey: errorKey && hide(errorKey), isOfApi: isOfApi && refusals.includes(status) },
    { advice },
  );
}
