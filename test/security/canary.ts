/** Unmistakable secrets, a search for them in any form, and the bundle whose output is searched. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished } from 'vitest';

/** Looks like a key of bunny.net. */
export function newKey(): string {
  const groups = [4, 2, 2, 2, 10, 2, 2, 2, 6];
  return groups.map((bytes) => randomBytes(bytes).toString('hex')).join('-');
}

/** The secret part of a private key, in any format. */
export function privatePartOf(pem: string): Buffer {
  const { d = '' } = createPrivateKey(pem).export({ format: 'jwk' });
  return Buffer.from(d, 'base64url');
}

/** Shorter parts may occur by chance, and help nobody. */
const shortestPart = 10;

function formsOf(secret: string | Buffer): readonly string[] {
  const bytes = Buffer.from(secret);
  // The secret part of a private key is within the Base64 of its file, where it depends on its offset.
  const offsets = typeof secret === 'string' ? [0] : [0, 1, 2];
  const base64 = offsets.map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : before + 1)
      .replace(typeof secret === 'string' ? /=+$/ : /.?=+$/, ''),
  );
  const urls = base64.map((text) => text.replace(/\+/g, '-').replace(/\//g, '_'));
  const coded = [bytes.toString('hex'), ...base64, ...urls];
  if (typeof secret !== 'string') return coded;
  const parts = Array.from({ length: Math.max(1, secret.length - shortestPart + 1) }, (_, at) =>
    secret.slice(at, at + shortestPart),
  );
  const escaped = Array.from(secret)
    .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
  return [...parts, ...coded, encodeURIComponent(secret), escaped, Array.from(secret).reverse().join('')];
}

export type Canaries = Readonly<Record<string, string | Buffer>>;

/** The names of the secrets in a text, with the form that was found. */
export function found(canaries: Canaries, text: string): readonly string[] {
  const plain = text.toLowerCase();
  return Object.entries(canaries).flatMap(([name, secret]) => {
    const form = formsOf(secret).find((one) => plain.includes(one.toLowerCase()));
    return form === undefined ? [] : [`${name}: …${around(plain, form.toLowerCase())}…`];
  });
}

function around(text: string, form: string): string {
  const at = text.indexOf(form);
  return text.slice(Math.max(0, at - 60), at + form.length + 60);
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Both streams. */
  readonly output: string;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Both streams so far. */
  readonly output: () => string;
  /** The first match in the output, once there is one. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Flags for Node itself. */
  readonly node?: readonly string[];
  /** A different Node. */
  readonly execPath?: string;
}

/** The bundle, with only PATH from this process's environment; it ends with the test at the latest. */
export function run(args: readonly string[], { env = {}, node = [], execPath }: RunOptions = {}): Running {
  const child = spawn(execPath ?? process.execPath, [...node, 'dist/bunnynet-exporter.js', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const streams = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output += text;
      streams[name] += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, output, ...streams }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const until = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(output);
        if (match) resolve(match);
      };
      listeners.add(look);
      look();
      void ended.then(() => reject(new Error(`ended without ${pattern}: ${output.slice(-2000)}`)));
    });
  return { child, ended, output: () => output, until };
}

/** Waits until a log line has the message; resolves with the line. */
export async function logged(running: Running, message: string): Promise<Record<string, unknown>> {
  const find = () =>
    running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find(({ msg }) => String(msg).includes(message));
  await expect.poll(find).toBeDefined();
  return find() ?? {};
}

/** The address of the server, from the log in either format. */
export async function originOf(running: Running): Promise<string> {
  const [, origin = ''] = await running.until(/(https?:\/\/127\.0\.0\.1:\d+)\/metrics/);
  return origin;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Page {
  readonly status: number;
  readonly body: string;
  /** Status, headers and decoded body. */
  readonly all: string;
}

/** Fetches a page over plain HTTP. */
export async function page(url: string, asked: Asked = {}): Promise<Page> {
  const response = await fetch(url, { ...asked, redirect: 'manual' });
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return { status: response.status, body, all: `${response.status}\n${headers}\n\n${body}` };
}

/** Every file below a directory, with gzip decoded. */
export function filesIn(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    .map((bytes) => (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1'));
}
