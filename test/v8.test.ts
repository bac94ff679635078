import { spawnSync } from 'node:child_process';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** Says whether V8 has compiled a function: after 200 ms of calls, after a rest and as many, and after it was seen to be busy. */
const program = `
  import { letGrowIfBusy, startSmall } from './src/v8.ts';
  startSmall();
  const isOptimized = new Function('f', 'return (%GetOptimizationStatus(f) & 16) !== 0');
  const add = (a, b) => a + b;
  const untilMs = (ms) => { let sum = 0; while (performance.now() < ms) for (let i = 0; i < 1e4; i++) sum = add(sum, i) | 0; };
  untilMs(performance.now() + 200);
  console.log(isOptimized(add));
  letGrowIfBusy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  letGrowIfBusy();
  untilMs(performance.now() + 200);
  console.log(isOptimized(add));
  letGrowIfBusy();
  untilMs(performance.now() + 200);
  console.log(isOptimized(add));
`;

describe('the command', () => {
  it('compiles nothing while there is little to do, and compiles once there is much', {
    timeout: 60_000,
  }, () => {
    const { outputFiles } = buildSync({
      stdin: { contents: program, resolveDir: '.' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
    });
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--allow-natives-syntax', '--input-type=module', '-e', outputFiles[0]?.text ?? ''],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual(['false', 'false', 'true', '']);
  });
});
