/**
 * The measured processes: starts them, talks to them over IPC, reads their figures from /proc, and always ends them.
 * It knows nothing about what they serve.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { present } from './builds.ts';

/** Commands of a child: a name, one JSON argument, one JSON answer. */
export type Commands = Readonly<Record<string, (argument: never) => unknown>>;
type Argument<C extends Commands, Name extends keyof C> = Parameters<C[Name]>[0];
type Result<C extends Commands, Name extends keyof C> = Awaited<ReturnType<C[Name]>>;

interface Ask {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Told {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

export class Measured {
  readonly name: string;
  readonly process: ChildProcess;

  constructor(name: string, process: ChildProcess) {
    this.name = name;
    this.process = process;
    running.add(this);
    process.once('exit', () => running.delete(this));
  }

  get pid(): number {
    if (this.process.pid === undefined) throw new Error(`${this.name} did not start`);
    return this.process.pid;
  }

  /** CPU time of all threads so far, in milliseconds. */
  cpuMs(): number {
    let nanoseconds = 0;
    for (const task of readdirSync(`/proc/${this.pid}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${this.pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
    }
    return nanoseconds / 1e6;
  }

  /** Resident memory in bytes. */
  rssBytes(): number {
    return this.#status('VmRSS');
  }

  /** Peak resident memory in bytes. */
  peakBytes(): number {
    return this.#status('VmHWM');
  }

  #status(name: string): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]) * 1024;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }
}

/** A child of this benchmark that serves `Commands`. It starts as the exporter that it is held against. */
export class Child<C extends Commands> extends Measured {
  readonly #waiting = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  #asked = 0;

  /** entry: a file in `children`, without its extension. */
  constructor(name: string, entry: string, arguments_: readonly string[] = []) {
    super(
      name,
      fork(new URL(`./${entry}.mjs`, import.meta.url), arguments_, {
        serialization: 'json',
        execArgv: [...present.options],
        env: { ...process.env, ...present.environment },
      }),
    );
    this.process.on('message', (message: Told) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new Error(`${name}: ${message.error}`));
    });
    this.process.once('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${name} ended: ${signal ?? code}`));
    });
  }

  ask<Name extends keyof C & string>(name: Name, argument: Argument<C, Name>): Promise<Result<C, Name>> {
    return new Promise((resolve, reject) => {
      const id = ++this.#asked;
      this.#waiting.set(id, { resolve: (result) => resolve(result as Result<C, Name>), reject });
      this.process.send({ id, name, argument } satisfies Ask);
    });
  }
}

/** In a child: answers the parent's commands one after the other. */
export function serveCommands(commands: Readonly<Record<string, (argument: never) => unknown>>): void {
  let queue: Promise<unknown> = Promise.resolve();
  process.on('message', ({ id, name, argument }: Ask) => {
    queue = queue.then(async () => {
      let told: Told;
      try {
        const command = commands[name];
        if (!command) throw new Error(`there is no command ${name}`);
        told = { id, result: await command(argument as never) };
      } catch (error) {
        told = { id, error: (error as Error).stack ?? String(error) };
      }
      process.send?.(told);
    });
  });
  // The parent is gone.
  process.once('disconnect', () => process.exit(0));
}

/** Other variables could change the result: with NODE_EXTRA_CA_CERTS, Node 20 takes twice as long to start. */
export const bareEnvironment = { PATH: process.env['PATH'] };

/** Starts any other program with only PATH and these variables; of its output only errors are shown. `ipc`: it gets messages. */
export function startProgram(
  name: string,
  file: string,
  arguments_: readonly string[],
  env: Readonly<Record<string, string>> = {},
  ...more: readonly 'ipc'[]
): Measured {
  return new Measured(
    name,
    spawn(file, arguments_, {
      stdio: ['ignore', 'ignore', 'inherit', ...more],
      env: { ...bareEnvironment, ...env },
    }),
  );
}

const running = new Set<Measured>();
process.once('exit', () => {
  for (const { process } of running) process.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
