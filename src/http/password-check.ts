/** Compares passwords with bcrypt hashes, one at a time, in a thread that runs only while comparisons wait. */
import type { Worker } from 'node:worker_threads';
import { compile } from '../v8.ts';

/** The code of the thread, where the bundler made a single file of all; elsewhere it is a file beside this one. */
declare const BCRYPT_WORKER: string | undefined;

export interface PasswordCheck {
  /** Rejects where the thread fails. */
  matches(password: string, hash: string): Promise<boolean>;
  stop(): void;
}

interface Waiting {
  readonly password: string;
  readonly hash: string;
  resolve(matches: boolean): void;
  reject(error: Error): void;
}

export function createPasswordCheck(): PasswordCheck {
  const waiting: Waiting[] = [];
  let worker: Worker | undefined;
  let stopCompiling: (() => void) | undefined;

  function end(): void {
    void worker?.terminate();
    worker = undefined;
    stopCompiling?.();
    stopCompiling = undefined;
  }

  function next(): void {
    const [first] = waiting;
    if (!first) {
      end();
      return;
    }
    try {
      worker ??= start();
      worker.postMessage({ password: first.password, hash: first.hash });
    } catch (error) {
      // The system, or Node's permission model, allows no thread. Those that wait must not wait for ever.
      waiting.shift();
      first.reject(error instanceof Error ? error : new Error(String(error)));
      next();
    }
  }

  function start(): Worker {
    // Uncompiled, one comparison takes seconds.
    stopCompiling ??= compile();
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
    const options = { execArgv: [], env: {} };
    const started =
      typeof BCRYPT_WORKER === 'string'
        ? new Thread(BCRYPT_WORKER, { ...options, eval: true })
        : new Thread(new URL('./bcrypt-worker.js', import.meta.url), options);
    started.unref();
    started.on('message', (matches: boolean) => {
      waiting.shift()?.resolve(matches);
      next();
    });
    started.on('error', (error) => {
      worker = undefined;
      waiting.shift()?.reject(error);
      next();
    });
    return started;
  }

  return {
    matches: (password, hash) =>
      new Promise((resolve, reject) => {
        waiting.push({ password, hash, resolve, reject });
        if (waiting.length === 1) next();
      }),

    stop() {
      for (const check of waiting.splice(0)) check.reject(new Error('the server stops'));
      end();
    },
  };
}
