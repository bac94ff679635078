/** What a start does with a state: it reads the file, and goes on from it. */
import { CounterBook } from '../../src/counting/counter-book.ts';
import { readState } from '../../src/counting/state-file.ts';
import { serveCommands } from '../processes.ts';

const book = new CounterBook({
  onBegun: () => undefined,
  unlistedKinds: () => new Set(),
  now: Date.now,
  uptimeMs: () => performance.now(),
});

const commands = {
  ready: () => undefined,
  /** Resolves with how long it took. */
  async restore(path: string): Promise<number> {
    const beganMs = performance.now();
    const { state } = await readState(path, Date.now());
    if (!state) throw new Error('there is no state');
    book.restore(state);
    return performance.now() - beganMs;
  },
};
export type RestoreCommands = typeof commands;

serveCommands(commands);
