// The thread of password-check.ts, in plain JavaScript: Node 20 runs no TypeScript in a worker.
import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

const { password, hash } = /** @type {{ password: string, hash: string }} */ (workerData);
parentPort?.postMessage(compareSync(password, hash));
