/** Compares passwords with bcrypt hashes in a worker thread, because a comparison takes tens of milliseconds or more. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The code of the thread, in the single executable. Elsewhere it is undefined, and the code is a file beside this one. */
declare const BCRYPT_WORKER: string | undefined;

let last: Promise<unknown> = Promise.resolve();

/** Only one comparison runs at a time in the whole process. Rejects if the thread fails. */
export function matchesHash(password: string, hash: string, signal: AbortSignal): Promise<boolean> {
  const answer = last.then(() => compareInThread(password, hash, signal));
  last = answer.catch(() => undefined);
  return answer;
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
