import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runs } from '../runs.ts';

/** By night each supported one other than the one that runs this. By day the workflow checks.yml runs all tests on each. */
const others = runs(
  [],
  ['20', '22', '24', '26'].filter((major) => major !== process.versions.node.split('.')[0]),
);

/** Tests of what depends on Node. */
const sensitive = [
  // The command: start-up, flags, signals, SIGHUP, exit codes
  'test/main.test.ts',
  // Requests: undici, TLS, proxies
  'test/api/client.test.ts',
  'test/api/pool.test.ts',
  // The server: sockets and their limits, TLS, threads for passwords
  'test/http/limits.test.ts',
  'test/http/tls.test.ts',
  'test/http/basic-auth.test.ts',
  // Compression, and the exporter as a whole
  'test/exposition/gzip.test.ts',
  'test/exporter.test.ts',
];

describe.each(['16', '18'])('Node %s', (major) => {
  it('is told which Node the command needs', { timeout: 600_000 }, () => {
    const { status, stdout, stderr } = spawnSync(
      'npx',
      ['-y', '-p', `node@${major}`, 'node', 'dist/bunnynet-exporter.js', '--demo'],
      { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1', npm_config_ignore_scripts: 'false' } },
    );
    expect(stdout).toBe('');
    const lines = stderr.split('\n').filter((line) => line.includes('bunnynet-exporter'));
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^bunnynet-exporter needs Node 20 \\(20.18.1 or newer\\), .*; this is Node ${major}\\.`),
      ),
    ]);
    expect(status).toBe(1);
  });
});

describe.each(others)('Node %s', (major) => {
  it('passes the tests that depend on Node', { timeout: 600_000 }, () => {
    const { status, stdout, stderr } = spawnSync(
      'npx',
      ['-y', '-p', `node@${major}`, 'node', 'node_modules/vitest/vitest.mjs', 'run', ...sensitive],
      // The package `node` links its binary in an install script, and this project runs no install scripts.
      {
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1', npm_config_ignore_scripts: 'false', BUNDLE_IS_BUILT: '1' },
      },
    );
    expect(`${stdout}${stderr}`).toContain(`Test Files  ${sensitive.length} passed`);
    expect(status, stdout.slice(-5000)).toBe(0);
  });
});
