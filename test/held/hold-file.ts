/** A file whose opening takes as long as a test wants, as on a mount that hangs. */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

/** Lets every opening of this file wait until `release` is called. */
export function holdFile(path: string) {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { open } = fs;
  const spy = vi.spyOn(fs, 'open').mockImplementation(async (...asked) => {
    if (asked[0] === path) await held;
    return open(...asked);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    release();
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return { release, opened: () => spy.mock.calls.filter(([file]) => file === path).length };
}
