import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Every supported line of Node but the one that runs the README's test command. */
const others = ['20', '22', '24', '26'].filter((major) => major !== process.versions.node.split('.')[0]);

describe.each(others)('on Node %s', (major) => {
  it('passes all tests', { timeout: 600_000 }, () => {
    const { status, stdout, stderr } = spawnSync(
      'npx',
      ['-y', '-p', `node@${major}`, 'node', 'node_modules/vitest/vitest.mjs', 'run'],
      // The package `node` links its binary in an install script, which this project's packages do without.
      { encoding: 'utf8', env: { ...process.env, npm_config_ignore_scripts: 'false' } },
    );
    expect(`${stdout}${stderr}`).toMatch(/Tests .*\d+ passed/);
    expect(status, stdout.slice(-5000)).toBe(0);
  });
});
