// Compares passwords with bcrypt hashes in a thread of its own, for each takes tens of milliseconds and more. Plain
// JavaScript: Node 20 runs no TypeScript in a worker.
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

parentPort?.on('message', (/** @type {{ password: string, hash: string }} */ { password, hash }) => {
  parentPort?.postMessage(compareSync(password, hash));
});
