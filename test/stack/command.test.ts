/** The built command where it is started by others than the image, the unit and `npm start`. */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolPath } from './processes.ts';

test('starts with BusyBox as env, as on Alpine', () => {
  const busybox = toolPath('busybox');
  const folder = mkdtempSync(join(tmpdir(), 'command-'));
  try {
    const command = join(folder, 'bunnynet-exporter.js');
    copyFileSync('dist/bunnynet-exporter.js', command);
    copyFileSync('dist/package.json', join(folder, 'package.json'));
    chmodSync(command, 0o755);
    const inNamespace = (script: string) =>
      spawnSync(
        'unshare',
        ['--mount', 'sh', '-ec', `mount --bind ${busybox} /usr/bin/env; ${script}`, command],
        { encoding: 'utf8' },
      );
    expect(inNamespace('! env -S true').status, 'env is not that of BusyBox').toBe(0);
    const { status, stdout, stderr } = inNamespace('exec "$0" --version');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^bunnynet-exporter \d/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
