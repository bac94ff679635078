/** Compares passwords with bcrypt hashes, one at a time, each in a thread of its own. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The code of the thread, where the bundler made a single file of all; elsewhere it is a file beside this one. */
declare const BCRYPT_WORKER: string | undefined;

export interface PasswordCheck {
  /** Rejects where the thread fails. */
  matches(password: string, hash: string): Promise<boolean>;
  stop(): void;
}

export function createPasswordCheck(): PasswordCheck {
  const stopping = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  return {
    matches(password, hash) {
      const answer = last.then(() => compareInThread(password, hash, stopping.signal));
      last = answer.catch(() => undefined);
      return answer;
    },
    stop: () => stopping.abort(),
  };
}

async function compareInThread(password: string, hash: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  const options = { execArgv: [], env: {}, workerData: { password, hash } };
  const worker =
    typeof BCRYPT_WORKER === 'string'
      ? new Worker(BCRYPT_WORKER, { ...options, eval: true })
      : new Worker(new URL('./bcrypt-worker.js', import.meta.url), options);
  worker.unref();
  try {
    const [matches] = (await once(worker, 'message', { signal })) as [boolean];
    return matches;
  } finally {
    void worker.terminate();
  }
}
