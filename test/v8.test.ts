import { spawnSync } from 'node:child_process';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** Says of one function after the other whether V8 has compiled it, after 200 ms of calls. */
const program = `
  import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
  import { compile, letGrowIfBusy, startSmall } from './src/v8.ts';
  startSmall();
  const isOptimized = new Function('f', 'return %ActiveTierIsTurbofan(f)');
  const call = (f) => { const end = performance.now() + 200; while (performance.now() < end) for (let i = 0; i < 1e4; i++) f(i); };
  let told = 0;
  const tell = (when) => {
    // A text of its own: V8 would give equal ones the same code.
    const f = new Function('a', 'let sum = ' + told++ + ' + a; for (let i = 0; i < 10; i++) sum = (sum * 31 + i) | 0; return sum;');
    call(f);
    // It is compiled in a thread, which may have to wait on a busy machine.
    for (let again = 0; when.endsWith('compiled') && !isOptimized(f) && again < 50; again++) call(f);
    console.log(when, isOptimized(f));
  };
  const rest = () => new Promise((resolve) => setTimeout(resolve, 1500));
  await rest();
  tell('at first');
  const stop = compile();
  tell('meanwhile compiled');
  stop();
  tell('afterwards');
  letGrowIfBusy();
  await rest();
  letGrowIfBusy();
  tell('after a rest');
  // As busy as can be, for longer than the time between two looks.
  for (let times = 0; times < 5; times++) tell('busy');
  letGrowIfBusy();
  tell('once busy compiled');
  const sizeOf = (name) => getHeapSpaceStatistics().find((space) => space.space_name === name).space_size / 2 ** 20;
  const young = () => sizeOf('new_space');
  // Objects that live for a while let that space grow.
  const before = young();
  let kept = [];
  const renew = async () => {
    for (let times = 0; times < 300; times++) {
      kept = [kept[1], Array.from({ length: 1e4 }, (_, at) => ({ at, times }))];
      letGrowIfBusy();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  await renew();
  console.log('new objects have more space', young() > before);
  // After some seconds of rest, collections give the space back.
  for (let times = 0; times < 10 && young() > 2; times++) {
    await rest();
    gc();
  }
  console.log('little at rest', young() <= 2);
  for (let times = 0; times < 10 && young() < 4; times++) await renew();
  console.log('and more again', young() >= 4);
  await renew();
  console.log('though not too much', young() <= 9);
  // Objects that live for long, until others take their place.
  const part = () => Array.from({ length: 5e4 }, (_, at) => ({ at, more: [] }));
  const parts = Array.from({ length: 40 }, part);
  // One collection sees that there is much, the next one decides how much garbage there may be.
  for (let times = 0; times < 2; times++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const live = getHeapStatistics().used_heap_size / 2 ** 20;
  let most = 0;
  for (let times = 0; times < 120; times++) {
    parts[times % parts.length] = part();
    await new Promise((resolve) => setTimeout(resolve));
    most = Math.max(most, sizeOf('old_space'));
  }
  console.log('old ones leave little garbage', most < live * 2);
`;

describe('V8', () => {
  it('compiles while it is told to, and for good once there is much to do, but not before; then it holds back memory', {
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
      [
        '--allow-natives-syntax',
        '--expose-gc',
        '--max-old-space-size=4096',
        '--input-type=module',
        '-e',
        outputFiles[0]?.text ?? '',
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual([
      'at first false',
      'meanwhile compiled true',
      'afterwards false',
      'after a rest false',
      ...Array<string>(5).fill('busy false'),
      'once busy compiled true',
      'new objects have more space true',
      'little at rest true',
      'and more again true',
      'though not too much true',
      'old ones leave little garbage true',
    ]);
  });
});
