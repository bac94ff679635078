/** Runs Debian's promtool. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { toolPath } from './processes.ts';

const run = promisify(execFile);

/** Resolves with the output of promtool; rejects with its findings. */
export async function promtool(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(toolPath('promtool'), args).catch(
    (error: { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`);
    },
  );
  return stdout;
}
