/** Decodes and parses the body of an answer within bounds, keeping large integers exact. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { parse as parseLossless } from 'lossless-json';
import { type Answer, ApiError } from './errors.ts';

const decoders = new Map([
  ['gzip', promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)],
  ['x-gzip', promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Uint8Array, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Uint8Array, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** How deep arrays and objects may be nested; the API's own are at most 5 deep. */
const maxDepth = 64;

/** How many values a body may hold; a page of 1,000 zones, each with 200 rules listed, has fewer. */
const maxValues = 250_000;

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
  if (!decode) throw unusable(`has the unknown coding ${JSON.stringify(name)}`, answer);
  try {
    return (await decode(bytes, { maxOutputLength: maxBytes })).toString('utf8');
  } catch (cause) {
    const isTooLong = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLong ? tooLong(maxBytes, answer) : unusable(`is not the ${name} that its header says`, answer);
  }
}

function unusable(why: string, answer: Answer): ApiError {
  return new ApiError('schema', `the body ${why}`, answer);
}

export function tooLong(maxBytes: number, answer: Answer): ApiError {
  return unusable(`is longer than max_response_bytes (${maxBytes})`, answer);
}

/**
 * Says which limit a JSON text exceeds. Parsed values take many times the memory of their text, and a million nested brackets
 * would block the process.
 */
function excessOf(text: string): string | undefined {
  const brackets = text.split('{').length + text.split('[').length - 2;
  // Most bodies are so short that nothing needs to be counted.
  if (text.length <= maxValues && brackets <= maxDepth) return undefined;
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === ',') values++;
    else if (character === '[' || character === '{') {
      values++;
      depth++;
    } else if (character === ']' || character === '}') depth--;
    if (depth > maxDepth) return 'is nested too deeply';
    if (values > maxValues) return `has more than ${maxValues} values`;
  }
  return undefined;
}

/**
 * Integers beyond 2^53 become bigint, so ids keep all their digits. Numbers longer than 20 digits stay inexact: BigInt would take
 * seconds for the longest that fits into a body.
 */
function parseNumber(text: string): number | bigint {
  const value = Number(text);
  return /^-?\d{1,20}$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

/** Of duplicate keys the last one counts, as in JSON.parse. */
const lossless = { parseNumber, onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue };

/**
 * The value of a JSON text.
 *
 * @throws {ApiError} (schema) if it is not JSON, nested too deeply, or has too many values
 */
export function parseJson(text: string, answer: Answer): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (json.trim() === '') throw unusable('is empty', answer);
  const excess = excessOf(json);
  if (excess !== undefined) throw unusable(excess, answer);
  try {
    // JSON.parse is much faster, and exact for numbers of up to 15 digits.
    return /\d{16}/.test(json) ? parseLossless(json, undefined, lossless) : JSON.parse(json);
  } catch {
    const isHtml = json.trimStart().startsWith('<');
    throw unusable(isHtml ? 'is HTML, not JSON' : 'is not JSON', answer);
  }
}
