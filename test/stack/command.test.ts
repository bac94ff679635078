/** The built command where it is started by others than the image, the unit and `npm start`. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually, freePort, start, stopAll, toolPath } from './processes.ts';

afterAll(stopAll);

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

test("gives node_exporter's textfile collector what the documented lines ask for, without a clash", async () => {
  const page = readFileSync('docs/command.md', 'utf8').split('\n## Beside node_exporter\n')[1] ?? '';
  const [, lines = ''] = /```sh\n(.+?)```/s.exec(page) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'textfile-'));
  try {
    const files = join(folder, 'files');
    mkdirSync(files);
    const program = `exec '${process.execPath}' '${process.cwd()}/dist/bunnynet-exporter.js' --demo "$@"\n`;
    writeFileSync(join(folder, 'bunnynet-exporter'), `#!/bin/sh\n${program}`, { mode: 0o755 });
    expect(lines).toContain('cd /var/lib/prometheus/node-exporter ');
    execFileSync('sh', ['-c', lines.replace('/var/lib/prometheus/node-exporter', files)], {
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
      stdio: 'ignore',
    });
    const address = `127.0.0.1:${await freePort()}`;
    const log = join(folder, 'log');
    start(
      toolPath('prometheus-node-exporter'),
      [
        '--collector.disable-defaults',
        '--collector.textfile',
        `--collector.textfile.directory=${files}`,
        `--web.listen-address=${address}`,
      ],
      process.env,
      openSync(log, 'w'),
    );
    const scraped = await eventually(async () => (await fetch(`http://${address}/metrics`)).text());
    expect(scraped).toMatch(/^bunnynet_billing_balance_dollars\{account="account"\} \d/m);
    expect(scraped).toMatch(/^bunnynet_storage_zone_up\{.*storage_zone_id="\d+".*\} 1$/m);
    expect(scraped).toContain('node_textfile_scrape_error 0\n');
    expect(scraped).toContain('\nprocess_cpu_seconds_total ');
    expect(readFileSync(log, 'utf8')).not.toMatch(/collected before|level=error/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
