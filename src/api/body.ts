/** Decodes and parses the body of an answer within bounds, keeping large integers exact. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { parse as parseLossless } from 'lossless-json';
import { type Answer, ApiError, TooLargeError } from './errors.ts';

const decoders = new Map([
  ['gzip', promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)],
  ['x-gzip', promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Uint8Array, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Uint8Array, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** How deep arrays and objects may be nested; the API's own are at most 5 deep. */
const maxDepth = 64;

/**
 * A body may hold one value for so many bytes of max_response_bytes: parsed values take more memory than their text, up to 92
 * bytes for a value, so 43 MiB with the default. Records of DNS zones are the densest, with 16 bytes or more for a value: a
 * zone of 17,000 is within the default.
 */
const bytesPerValue = 17;

/**
 * The text of a body. We ask for no content coding, but some answers have one.
 *
 * @throws {ApiError} (schema) if the coding is unknown or wrong, or the body is longer than maxBytes
 */
export async function decodeBody(
  bytes: Buffer,
  coding: string | undefined,
  maxBytes: number,
  answer: Answer,
): Promise<string> {
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || bytes.length === 0) return bytes.toString('utf8');
  const decode = decoders.get(name);
  if (!decode) throw unusable(`has the unknown coding ${JSON.stringify(name)}`, answer, false);
  try {
    return (await decode(bytes, { maxOutputLength: maxBytes })).toString('utf8');
  } catch (cause) {
    const isTooLong = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLong ? tooLong(maxBytes, answer) : unusable(`is not the ${name} that its header says`, answer);
  }
}

/** A name, an id or a reason is shorter, and so is a key: a longer one is refused all the same when it is cut to this. */
const maxTextLength = 5000;

const longText = new RegExp(`"[^"]{${maxTextLength}}`);

/** Whether a JSON text may have a string that `boundedText` would change. What was decoded from UTF-8 is well-formed but for escapes. */
export function mayBeUnsafe(json: string): boolean {
  return /\\ud[89a-f]/i.test(json) || (json.length > maxTextLength && longText.test(json));
}

/**
 * The beginning of a long text, with U+FFFD for each half of a surrogate pair that stands alone: JSON can have such text, UTF-8
 * and URLs cannot.
 */
export function boundedText(text: string): string {
  return text.slice(0, maxTextLength).replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

function unusable(why: string, answer: Answer, isTransient = true): ApiError {
  return new ApiError('schema', `the body ${why}`, answer, { isTransient });
}

export function tooLong(maxBytes: number, answer: Answer): ApiError {
  return new TooLargeError(`the body is longer than max_response_bytes (${maxBytes})`, answer);
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * A text with those JSON escapes resolved that a key, which is visible ASCII, can be written with. In place: the matches of a
 * pattern take ten times the memory of a body that is all escapes.
 */
export function unescaped(text: string): string {
  const bytes = Buffer.from(text);
  let length = 0;
  // What is before it has been moved.
  let from = 0;
  for (let at = bytes.indexOf(backslash); at !== -1; at = bytes.indexOf(backslash, from + 1)) {
    bytes.copyWithin(length, from, at);
    length += at - from;
    from = at;
    const next = String.fromCharCode(bytes[at + 1] ?? 0);
    const code = next === 'u' ? Number.parseInt(bytes.toString('latin1', at + 2, at + 6), 16) : 0;
    if (code >= 0x20 && code < 0x7f) {
      from = at + 5;
      bytes[from] = code;
    } else if ('"\\/'.includes(next)) from = at + 1;
  }
  bytes.copyWithin(length, from);
  return bytes.toString('utf8', 0, length + bytes.length - from);
}

/** Where the string ends that begins here. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

/** `-`, digits, and in a number that has begun also `+`, `.`, `e` and `E`. */
const beginsNumber = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2d;
const continuesNumber = (code: number) =>
  beginsNumber(code) || code === 0x2e || code === 0x2b || code === 0x65 || code === 0x45;

/** An integer of up to 20 digits that a number cannot hold exactly. Longer ones stay inexact: BigInt would take seconds for them. */
function isLongInteger(token: string): boolean {
  return /^-?\d{16,20}$/.test(token) && !Number.isSafeInteger(Number(token));
}

/** What has to be known of a JSON text before it is parsed. */
interface Contents {
  /** Commas and opening brackets: there are not more values. */
  readonly values: number;
  readonly isTooDeep: boolean;
  readonly hasLongIntegers: boolean;
}

/** Goes through the tokens of a text once, by character codes and without copies: 8 MiB take some 50 ms. */
function scan(text: string): Contents {
  let depth = 0;
  let values = 0;
  let hasLongIntegers = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === 0x2c) {
      values++;
    } else if (code === 0x5b || code === 0x7b) {
      values++;
      depth++;
      if (depth > maxDepth) return { values, isTooDeep: true, hasLongIntegers };
    } else if (code === 0x5d || code === 0x7d) {
      depth--;
    } else if (beginsNumber(code)) {
      const from = at;
      while (continuesNumber(text.charCodeAt(at + 1))) at++;
      hasLongIntegers ||= at - from >= 15 && isLongInteger(text.slice(from, at + 1));
    }
  }
  return { values, isTooDeep: false, hasLongIntegers };
}

/** Integers beyond 2^53 become bigint, so ids keep all their digits. Of duplicate keys the last one counts, as in JSON.parse. */
const lossless = {
  parseNumber: (token: string) => (isLongInteger(token) ? BigInt(token) : Number(token)),
  onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
};

/**
 * The value of a JSON text.
 *
 * @param maxBytes the setting, from which follows how many values a body may hold; default: no limit
 * @throws {ApiError} (schema) if it is not JSON, nested too deeply, or has too many values
 */
export function parseJson(text: string, answer: Answer, maxBytes = Number.POSITIVE_INFINITY): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (json.trim() === '') throw unusable('is empty', answer);
  const { values, isTooDeep, hasLongIntegers } = scan(json);
  if (isTooDeep) throw unusable('is nested too deeply', answer, false);
  const maxValues = Math.floor(maxBytes / bytesPerValue);
  if (values > maxValues) {
    const bound = `max_response_bytes (${maxBytes}) allows: ${maxValues}`;
    throw new TooLargeError(`the body has more values than ${bound}`, answer);
  }
  try {
    // JSON.parse is much faster, and exact for all other numbers.
    return hasLongIntegers ? parseLossless(json, undefined, lossless) : JSON.parse(json);
  } catch {
    throw unusable('is not JSON', answer);
  }
}
