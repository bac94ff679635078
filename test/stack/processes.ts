/** Starts real programs, waits for them, and ends them by their process id. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

const started: ChildProcess[] = [];

/** A tool on this machine. A missing one is a failure, not a skip. */
export function toolPath(name: string): string {
  try {
    return execFileSync('which', [name], { encoding: 'utf8' }).trim();
  } catch {
    throw new Error(`${name} is not on this machine; .ci/run installs it`);
  }
}

/** Each launch of Chromium has a new profile. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** Starts a program; `output` is a file descriptor for its output. Nobody would read a pipe, and a full one stops the program. */
export function start(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  output: 'ignore' | number = 'ignore',
): ChildProcess {
  const child = spawn(command, args, { env, stdio: ['ignore', output, output] });
  started.push(child);
  return child;
}

/** Ends a program and waits for it. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Ends everything that was started, the last first, because it may need the others. */
export async function stopAll(): Promise<void> {
  for (const child of started.splice(0).reverse()) await stop(child);
}

/** Retries until the attempt succeeds; throws the last error when the time is over. */
export async function eventually<T>(attempt: () => T | Promise<T>, timeoutMs = 300_000): Promise<T> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Starts the demo from the bundle; resolves with its origin once every target was polled. */
export async function startDemo(args: readonly string[]): Promise<string> {
  const origin = `http://127.0.0.1:${await freePort()}`;
  const address = `--web.listen-address=${new URL(origin).host}`;
  start(process.execPath, ['dist/bunnynet-exporter.js', '--demo', address, ...args]);
  await eventually(async () => {
    const { status } = await fetch(`${origin}/-/ready`);
    if (status !== 200) throw new Error(`the demo is not ready: ${status}`);
  });
  return origin;
}
