/** The only place that reads keys, and wraps them: each from its variable or its file. */

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { inspect } from 'node:util';
import type { Environment } from '../env.ts';
import { isExposed, readStart } from '../files.ts';
import { unreadable } from '../text.ts';
import { patternOf, redacted } from './redactor.ts';
import { howHandedOver } from './service.ts';

/** Where a key is read: never the key itself. */
export type CredentialSource = { readonly env: string } | { readonly file: string };

/** A key that only `reveal()` shows. Printed, inspected or serialised it is `[redacted]`. */
export class Secret {
  readonly #text: string;
  /** Made when it is needed first: most of 10,000 keys never are. */
  #pattern: RegExp | undefined;
  #id: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  /** A hash: it differs for different keys, and does not reveal them. */
  get id(): string {
    this.#id ??= createHash('sha256').update(this.#text).digest('base64');
    return this.#id;
  }

  isSameAs(other: Secret): boolean {
    return this.#text === other.#text;
  }

  /** Replaces the key in an answer or an error, in any of its forms, with `[redacted]`. */
  hideIn(text: string): string {
    this.#pattern ??= patternOf(this.#text);
    return this.#pattern ? text.replaceAll(this.#pattern, redacted) : text;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}

/** There is no usable key. The message says why, and contains no part of it. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

/** A key that can be used, or why it cannot. */
export type KeyOrProblem = Secret | CredentialError;

export interface CredentialProblem {
  readonly credential: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface CredentialsOptions {
  /** The most time that reading a key file may take: its mount may hang. Default: 5 s. */
  readonly maxReadMs?: number | undefined;
}

const maxKeyBytes = 4096;

/** Probably a key, put where the name of a variable or a file belongs. */
const keyLike = /^[0-9a-f_-]{30,}$/i;

/** The name of a variable or a file for a message, without what looks like a key. */
function shown(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return keyLike.test(last) ? `${name.slice(0, -last.length)}${redacted}` : name;
}

export class Credentials {
  readonly #sources: Readonly<Record<string, CredentialSource>>;
  readonly #env: Environment;
  readonly #maxReadMs: number;

  constructor(
    sources: Readonly<Record<string, CredentialSource>>,
    env: Environment,
    { maxReadMs = 5000 }: CredentialsOptions = {},
  ) {
    this.#sources = sources;
    this.#env = env;
    this.#maxReadMs = maxReadMs;
  }

  /** Reads every key and says what is wrong with them. */
  async check(): Promise<readonly CredentialProblem[]> {
    const checks = Object.entries(this.#sources).map((entry) => this.#check(...entry));
    return (await Promise.all(checks)).flat();
  }

  /** Every key as it is now, or why it cannot be read, by credential. */
  async readAll(): Promise<ReadonlyMap<string, KeyOrProblem>> {
    const reads = Object.entries(this.#sources).map(
      async ([name, source]) => [name, await this.#read(source)] as const,
    );
    return new Map(await Promise.all(reads));
  }

  /** Where the key comes from, for messages: `from $VARIABLE`, `from the file /path`. */
  describe(name: string): string {
    const source = this.#sources[name];
    if (source === undefined) return 'not defined';
    return 'env' in source ? `from $${shown(source.env)}` : `from the file ${shown(source.file)}`;
  }

  async #check(credential: string, source: CredentialSource): Promise<readonly CredentialProblem[]> {
    const key = await this.#read(source);
    if (key instanceof CredentialError) return [{ credential, severity: 'error', message: key.message }];
    if (!('file' in source && isExposed(source.file))) return [];
    const message = `every user of this machine can read the key file ${source.file}: restrict it with chmod o-r`;
    return [{ credential, severity: 'warning', message }];
  }

  async #read(source: CredentialSource): Promise<KeyOrProblem> {
    try {
      return 'env' in source
        ? readVariable(source.env, this.#env)
        : await readInTime(source.file, this.#maxReadMs, this.#env);
    } catch (error) {
      if (error instanceof CredentialError) return error;
      throw error;
    }
  }
}

function readVariable(variable: string, env: Environment): Secret {
  const where = `in the environment variable ${shown(variable)}`;
  const text = env[variable];
  if (text === undefined) throw new CredentialError(`expected the key ${where}, which is not set`);
  return parseKey(text, where);
}

/**
 * Reads in flight, by path, and when they began. At most one for each file: a mount that hangs must not occupy all of Node's few
 * threads for files.
 */
const reads = new Map<string, { readonly key: Promise<Secret>; readonly startedMs: number }>();

/** The key of a file. Rejects when the read in flight takes too long; then further calls reject at once until that read ends. */
function readInTime(path: string, maxReadMs: number, env: Environment): Promise<Secret> {
  let read = reads.get(path);
  if (!read) {
    read = { key: readKeyFile(path, env).finally(() => reads.delete(path)), startedMs: performance.now() };
    reads.set(path, read);
  }
  const { key, startedMs } = read;
  return new Promise((resolve, reject) => {
    const giveUp = () =>
      reject(
        new CredentialError(
          `expected the key file ${shown(path)}; reading it takes longer than ${maxReadMs} ms`,
        ),
      );
    const timer = setTimeout(giveUp, startedMs + maxReadMs - performance.now());
    key.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function readKeyFile(path: string, env: Environment): Promise<Secret> {
  try {
    // Before opening it, because opening a FIFO would block.
    const what = await stat(path);
    const kind = what.isDirectory() ? 'a directory' : 'not a regular file';
    if (!what.isFile()) throw new CredentialError(`expected the key file ${path}; it is ${kind}`);
    const content = await readStart(path, maxKeyBytes + 1);
    const text = content.toString('latin1');
    content.fill(0);
    return parseKey(text, `in the file ${path}`);
  } catch (error) {
    if (error instanceof CredentialError) throw error;
    const how = howHandedOver(shown(path), (error as NodeJS.ErrnoException).code, env);
    throw new CredentialError(`expected the key file ${shown(path)}; ${unreadable(error)}${how}`);
  }
}

/**
 * Allows a line break at the end, as editors write it. Anything else but visible ASCII is a mistake or an attack.
 *
 * @param where for the message: `in the file /path`
 * @throws {CredentialError} if the text cannot be a key
 */
export function parseKey(text: string, where: string): Secret {
  const refuse = (why: string) => new CredentialError(`expected a key ${where}; ${why}`);
  if (text.length > maxKeyBytes) throw refuse(`it is larger than ${maxKeyBytes} bytes`);
  const key = text.replace(/[\r\n]+$/, '');
  if (key === '') throw refuse('it is empty');
  if (/^(["']).*\1$/.test(key)) throw refuse('it is in quotes: remove them');
  // A file is read as Latin-1.
  if (/^(?:\uFEFF|\u00EF\u00BB\u00BF)/.test(key))
    throw refuse('it begins with a byte order mark: save it as plain text without one');
  // At the end of a key in base64 there may be one or two.
  if (/^\s*(?:export\s+)?[A-Za-z_]\w*=[^=]/.test(key))
    throw refuse('it begins with NAME=, as a file of variables does; it must be the key alone');
  if (/^\s*[{[]/.test(key)) throw refuse('it looks like JSON; it must be the key alone');
  if (/[\r\n]/.test(key)) throw refuse('it has several lines; it must be the key alone, on one line');
  if (/[^\x20-\x7e]/.test(key)) throw refuse('it holds control characters or characters beyond ASCII');
  if (key.includes(' ')) throw refuse('it holds a space');
  return new Secret(key);
}
