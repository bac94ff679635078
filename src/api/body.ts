/** From the bytes of an answer to a parsed body: bounded decoding, and JSON that keeps large integers whole. */
import { promisify } from 'node:util';
import type { ZlibOptions } from 'node:zlib';
import { parse as parseLossless } from 'lossless-json';
import { type Answer, ApiError } from './errors.ts';

/** What of node:zlib decodes each coding. */
const decoders: ReadonlyMap<string, 'brotliDecompress' | 'gunzip' | 'inflate'> = new Map([
  ['gzip', 'gunzip'],
  ['x-gzip', 'gunzip'],
  ['deflate', 'inflate'],
  ['br', 'brotliDecompress'],
] as const);

/** How deep arrays and objects may be nested; the API's own are at most 5 deep. */
const maxDepth = 64;

/** How many values a body may hold; a page of 1,000 zones, each with 200 rules listed, has fewer. */
const maxValues = 250_000;

/**
 * The text of a body. No encoding is asked for, but some answers have one.
 *
 * @throws {ApiError} (schema) for an encoding that is unknown or not that of the bytes, and beyond maxBytes
 */
export async function decodeBody(
  bytes: Buffer,
  coding: string | undefined,
  maxBytes: number,
  answer: Answer,
): Promise<string> {
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || bytes.length === 0) return bytes.toString('utf8');
  const decoder = decoders.get(name);
  if (!decoder)
    throw new ApiError('schema', `the body has the unknown coding ${JSON.stringify(name)}`, answer);
  try {
    // Loaded at its first use: with Node 26 that takes 5 ms of a start.
    const decode = promisify<Uint8Array, ZlibOptions, Buffer>(process.getBuiltinModule('node:zlib')[decoder]);
    return (await decode(bytes, { maxOutputLength: maxBytes })).toString('utf8');
  } catch (cause) {
    const tooLong = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new ApiError(
      'schema',
      tooLong ? tooLongMessage(maxBytes) : `the body is not the ${name} that its header says`,
      answer,
    );
  }
}

export function tooLongMessage(maxBytes: number): string {
  return `the body is longer than max_response_bytes (${maxBytes})`;
}

/** Compared as numbers, which takes a third of the time. */
const sign = {
  escape: 92,
  quote: 34,
  comma: 44,
  array: 91,
  object: 123,
  endOfArray: 93,
  endOfObject: 125,
} as const;

/**
 * Says what exceeds the limits of a JSON text. A few bytes take many times their memory once parsed, and a million nested
 * brackets would block the process.
 */
function excessOf(text: string): string | undefined {
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === sign.escape) at++;
      else if (character === sign.quote) inString = false;
    } else if (character === sign.quote) inString = true;
    else if (character === sign.comma) values++;
    else if (character === sign.array || character === sign.object) {
      values++;
      depth++;
    } else if (character === sign.endOfArray || character === sign.endOfObject) depth--;
    if (depth > maxDepth) return 'the body is nested too deeply';
    if (values > maxValues) return `the body has more than ${maxValues} values`;
  }
  return undefined;
}

/**
 * Whole numbers of up to 64 bits keep all their digits: those beyond 2^53 become bigint. Longer ones do not: BigInt would
 * take seconds for as many digits as fit into a body.
 */
function parseNumber(text: string): number | bigint {
  const value = Number(text);
  return /^-?\d{1,20}$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

/** A duplicate key has its last value, as in JSON.parse. */
const lossless = { parseNumber, onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue };

/**
 * The value of a JSON text.
 *
 * @throws {ApiError} (schema) for what is not JSON, is nested too deeply or has too many values
 */
export function parseJson(text: string, answer: Answer): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (json.trim() === '') throw new ApiError('schema', 'the body is empty', answer);
  const excess = excessOf(json);
  if (excess !== undefined) throw new ApiError('schema', excess, answer);
  try {
    // JSON.parse is much faster, and exact as long as no number exceeds 2^53.
    return /\d{16}/.test(json) ? parseLossless(json, undefined, lossless) : JSON.parse(json);
  } catch {
    const start = json.trimStart().slice(0, 1);
    throw new ApiError(
      'schema',
      start === '<' ? 'the body is HTML, not JSON' : 'the body is not JSON',
      answer,
    );
  }
}
