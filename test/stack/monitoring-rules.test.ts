import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { casesFolder } from '../monitoring/rule-cases.ts';
import { toolPath } from './processes.ts';

const run = promisify(execFile);

/** Resolves with what promtool says; rejects, with what it found, where it is not satisfied. */
async function promtool(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(toolPath('promtool'), args).catch(
    (error: { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`);
    },
  );
  return stdout;
}

describe('promtool', () => {
  it.each(readdirSync(rulesFolder))('finds nothing wrong with %s', async (file) => {
    expect(await promtool('check', 'rules', `${rulesFolder}/${file}`)).toContain('SUCCESS');
  });

  // Together they keep both cores busy.
  it.concurrent.each(readdirSync(casesFolder))(
    'sees the rules fire and stay silent as %s says',
    async (file) => {
      expect(await promtool('test', 'rules', `${casesFolder}/${file}`)).toContain('SUCCESS');
    },
  );
});
