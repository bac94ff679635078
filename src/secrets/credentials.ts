/**
 * The one place that reads keys, holds them and hands them out wrapped. A key file is checked at every read, so that a
 * rotated key is used from the next request on.
 */
import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { inspect } from 'node:util';
import type { CredentialSource } from '../config/config.ts';
import { unreadable } from '../text.ts';
import { isExposed } from './file-permissions.ts';
import { Redactor, redacted } from './redactor.ts';

/** A key that only `reveal()` shows: printed, inspected or serialised it is `[redacted]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [Symbol.toPrimitive](): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}

/** There is no key to use. The message says why and never holds any of it. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

export interface CredentialProblem {
  readonly credential: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface Credentials {
  /** Reads every key and says what is wrong, never what is in them. */
  check(): Promise<readonly CredentialProblem[]>;
  /** The key as it is now. Rejects with a `CredentialError` when there was none yet; keeps the last good one otherwise. */
  read(name: string): Promise<Secret>;
  /** Grows when the key changed since it was first read; 0 before that. */
  version(name: string): number;
  /** The text with every part of a key that was read taken out: for texts from outside. */
  redact(text: string): string;
}

export interface CredentialsOptions {
  /** A key file stopped being readable (the last good key stays in use), or, with undefined, is readable again. */
  readonly onTrouble?: (name: string, message: string | undefined) => void;
  /** One that learned the keys of an earlier configuration, whose answers may still come. */
  readonly redactor?: Redactor;
}

const maxKeyBytes = 4096;

/** Looks like a key of bunny.net, put by mistake where a variable or a file is named. */
const keyLike = /^[0-9a-f_-]{30,}$/i;

/** The name of a variable or path of a file, fit for a message. */
function shown(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return keyLike.test(last) ? `${name.slice(0, -last.length)}${redacted}` : name;
}

/** A file that changed so recently may change again without its times showing it. */
const settledMs = 1000;

export function createCredentials(
  sources: Readonly<Record<string, CredentialSource>>,
  env: Readonly<Record<string, string | undefined>>,
  { onTrouble = () => {}, redactor = new Redactor() }: CredentialsOptions = {},
): Credentials {
  const keys = new Map<string, Key>();
  for (const [name, source] of Object.entries(sources)) {
    keys.set(
      name,
      'env' in source
        ? new EnvKey(source.env, env)
        : new FileKey(source.file, (message) => onTrouble(name, message)),
    );
  }
  const key = (name: string): Key => {
    const found = keys.get(name);
    if (found === undefined) throw new CredentialError(`the credential ${name} is not defined`);
    return found;
  };
  return {
    check: async () => {
      const checked = [...keys].map(async ([credential, { check }]) =>
        (await check()).map((problem) => ({ credential, ...problem })),
      );
      return (await Promise.all(checked)).flat();
    },
    read: async (name) => {
      const secret = await key(name).read();
      redactor.learn(name, secret.reveal());
      return secret;
    },
    redact: (text) => redactor.redact(text),
    version: (name) => key(name).version(),
  };
}

type KeyProblem = Omit<CredentialProblem, 'credential'>;

interface Key {
  readonly check: () => Promise<readonly KeyProblem[]>;
  readonly read: () => Promise<Secret>;
  readonly version: () => number;
}

class EnvKey implements Key {
  readonly #variable: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  #read = false;

  constructor(variable: string, env: Readonly<Record<string, string | undefined>>) {
    this.#variable = variable;
    this.#env = env;
  }

  readonly check = async (): Promise<readonly KeyProblem[]> => await problemsOf(this.read());

  readonly read = (): Promise<Secret> => {
    const text = this.#env[this.#variable];
    const where = `the environment variable ${shown(this.#variable)}`;
    if (text === undefined) {
      return Promise.reject(new CredentialError(`expected the key in ${where}, which is not set`));
    }
    const key = parseKey(text);
    if ('wrong' in key)
      return Promise.reject(new CredentialError(`expected a key in ${where}; ${key.wrong}`));
    this.#read = true;
    return Promise.resolve(key.secret);
  };

  readonly version = (): number => (this.#read ? 1 : 0);
}

class FileKey implements Key {
  readonly #path: string;
  readonly #onTrouble: (message: string | undefined) => void;
  #current: { readonly secret: Secret; readonly identity: string; readonly settled: boolean } | undefined;
  #version = 0;
  #trouble: string | undefined;
  #reading: Promise<Secret> | undefined;

  constructor(path: string, onTrouble: (message: string | undefined) => void) {
    this.#path = path;
    this.#onTrouble = onTrouble;
  }

  readonly check = async (): Promise<readonly KeyProblem[]> => {
    const problems = await problemsOf(readKeyFile(this.#path));
    return problems.length > 0 ? problems : await this.#filePermissions();
  };

  readonly version = (): number => this.#version;

  /** Reads at the same time share one look at the file. */
  readonly read = (): Promise<Secret> => {
    this.#reading ??= this.#refresh().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  };

  async #refresh(): Promise<Secret> {
    try {
      const now = await stat(this.#path, { bigint: true });
      if (this.#current?.settled === true && this.#current.identity === identityOf(now)) {
        this.#recovered();
        return this.#current.secret;
      }
    } catch {
      // Reading the file fails the same way, and says why.
    }
    try {
      const { secret, stats } = await readKeyFile(this.#path);
      if (this.#current?.secret.reveal() !== secret.reveal()) this.#version++;
      const settled = Date.now() - Number(stats.mtimeMs) > settledMs;
      this.#current = { secret, identity: identityOf(stats), settled };
      this.#recovered();
      return secret;
    } catch (error) {
      if (this.#current === undefined || !(error instanceof CredentialError)) throw error;
      if (this.#trouble !== error.message) {
        this.#trouble = error.message;
        this.#onTrouble(error.message);
      }
      return this.#current.secret;
    }
  }

  #recovered(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#onTrouble(undefined);
  }

  async #filePermissions(): Promise<readonly KeyProblem[]> {
    if (!(await isExposed(this.#path))) return [];
    const message = `every user of this machine can read the key file ${this.#path}: chmod o-r takes that away`;
    return [{ severity: 'warning', message }];
  }
}

/** Tells one state of a file from another, through symbolic links. */
function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

async function readKeyFile(path: string): Promise<{ secret: Secret; stats: BigIntStats }> {
  let handle: FileHandle | undefined;
  try {
    const what = await stat(path);
    if (what.isDirectory()) throw new CredentialError(`expected the key file ${path}; it is a directory`);
    if (!what.isFile()) throw new CredentialError(`expected the key file ${path}; it is not a regular file`);
    handle = await open(path, constants.O_RDONLY);
    const stats = await handle.stat({ bigint: true });
    const buffer = Buffer.alloc(maxKeyBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead;
    }
    const key =
      length > maxKeyBytes
        ? { wrong: `it is larger than ${maxKeyBytes} bytes` }
        : parseKey(buffer.toString('latin1', 0, length));
    buffer.fill(0);
    if ('wrong' in key) throw new CredentialError(`expected a key in the file ${path}; ${key.wrong}`);
    return { secret: key.secret, stats };
  } catch (error) {
    throw error instanceof CredentialError
      ? error
      : new CredentialError(`expected the key file ${shown(path)}; ${unreadable(error)}`);
  } finally {
    await handle?.close();
  }
}

/** Editors end a file with a line break; anything else that is not visible ASCII is a mistake or an attack. */
function parseKey(text: string): { readonly secret: Secret } | { readonly wrong: string } {
  const key = text.replace(/[\r\n]+$/, '');
  if (key === '') return { wrong: 'it is empty' };
  if (key.length > maxKeyBytes) return { wrong: `it is larger than ${maxKeyBytes} bytes` };
  if (/[^\x20-\x7e]/.test(key)) return { wrong: 'it holds control characters or characters beyond ASCII' };
  if (key.includes(' ')) return { wrong: 'it holds a space' };
  return { secret: new Secret(key) };
}

async function problemsOf(reading: Promise<unknown>): Promise<readonly KeyProblem[]> {
  try {
    await reading;
    return [];
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    return [{ severity: 'error', message: error.message }];
  }
}
