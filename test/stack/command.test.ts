/** The built command where it is started by others than the image, the unit and `npm start`, and what it refuses or has to wait for. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Simulator } from '../../simulator/simulator.ts';
import { temporary } from '../http/temporary.ts';
import { logged, run } from '../security/canary.ts';
import { startSimulator } from '../simulator/start.ts';
import { eventually, freePort, start, stopAll, toolPath } from './processes.ts';

afterAll(stopAll);

test('starts with BusyBox as env, as on Alpine', () => {
  const busybox = toolPath('busybox');
  const folder = mkdtempSync(join(tmpdir(), 'command-'));
  try {
    const command = join(folder, 'bunnynet-exporter.js');
    copyFileSync('dist/bunnynet-exporter.js', command);
    for (const file of ['main.js', 'package.json']) copyFileSync(`dist/${file}`, join(folder, file));
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

/** Of the test under way. */
let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ now: Date.now });
});

/** The environment of a first try against the simulator. */
function firstTry(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    BUNNYNET_ACCESS_KEY: simulator.keys.account,
    BUNNYNET_APPLICATIONS: simulator.applications[0]?.id ?? '',
    BUNNYNET_APPLICATION_URL: simulator.baseUrls.application,
    ...more,
  };
}

test.each([
  ['a page', ['--demo', '--once', '--once.kind=billing'], 'stdout cannot be written: ENOSPC'],
  [
    'a history',
    ['--demo', '--backfill=2d', '--once.kind=dns_zone'],
    'the output cannot be written: ENOSPC; the history is not',
  ],
])('says that %s cannot be written, and ends with 1', (_, flags, message) => {
  const full = openSync('/dev/full', 'w');
  const words = ['dist/bunnynet-exporter.js', ...flags];
  const { status, stderr } = spawnSync(process.execPath, words, {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('    at ');
  expect(status).toBe(1);
});

test('refuses to write a history of what has none, and ends with 2', async () => {
  const flags = ['--demo', '--backfill=2d', '--once.kind=billing,pull_zone'];
  const { code, stdout, stderr } = await run(flags).ended;
  expect(stdout).toBe('');
  expect(stderr).toMatch(/of billing, pull_zone the API has no past. It has that of .*dns_zone/);
  expect(code).toBe(2);
});

test('refuses a label that a metric has, or that is given twice, and ends with 2', async () => {
  const flags = [
    '--demo',
    '--backfill=2d',
    '--backfill.label=pop=a',
    '--backfill.label=job=b',
    '--backfill.label=job=c',
  ];
  const { code, stdout, stderr } = await run(flags).ended;
  expect(stdout).toBe('');
  expect(stderr).toContain('the metrics have a label pop of their own');
  expect(stderr).toContain('job is given several times');
  expect(code).toBe(2);
});

test('writes the state with a history, as its user alone can read it, and none with one of the demo', async () => {
  const file = join(temporary({}), 'state.json');
  const flags = ['--backfill=2d', '--backfill.step=1h', '--once.kind=dns_zone', `--state.file=${file}`];
  const ofDemo = await run(['--demo', ...flags]).ended;
  expect(ofDemo.code).toBe(0);
  expect(existsSync(file)).toBe(false);
  const env = firstTry({ BUNNYNET_DNS_ZONES: 'all', BUNNYNET_CORE_URL: simulator.baseUrls.core });
  const { code, stdout, stderr } = await run(flags, { env }).ended;
  expect({ code, stderr: stderr.includes('the history lacks') }).toEqual({ code: 0, stderr: false });
  expect(stdout).toMatch(/\n# EOF\n$/);
  const text = readFileSync(file, 'utf8');
  expect(JSON.parse(text)).toMatchObject({ written_by: 'backfill' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, text.replace('"written_by":"backfill"', '"written_by":"exporter"'));
  const refused = await run(flags, { env }).ended;
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('has what an exporter has counted');
});

test('says that it cannot read answers without WebAssembly, and ends with 1', async () => {
  const { code, stderr } = await run(['--once'], { node: ['--jitless'], env: firstTry() }).ended;
  expect(stderr).toMatch(
    /^(Warning: disabling flag .*\n)?This process cannot use WebAssembly.*--jitless.*\n$/,
  );
  expect(code).toBe(1);
});

test('names the variable of an address that cannot be reached', async () => {
  const env = firstTry({ BUNNYNET_APPLICATION_URL: 'http://127.0.0.1:1' });
  const { stderr } = await run(['--once'], { env }).ended;
  expect(stderr).toContain('Check BUNNYNET_APPLICATION_URL and the firewalls in between.');
});

test('says which port is in use, and ends with 1', async () => {
  const port = new URL(simulator.origin).port;
  const { code, stderr } = await run([`--web.listen-address=127.0.0.1:${port}`], { env: firstTry() }).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('in use');
});

test('reports what the API answered to documented operations', async () => {
  const { code, stdout } = await run(['--demo', '--report']).ended;
  expect(code).toBe(0);
  expect(stdout).toContain('GET /apps/{}/summary of the application API\n  200 × ');
  expect(stdout).toContain('GET /library/{}/videos/{}/storage of the video API\n  200 × ');
  expect(stdout).toMatch(/\nThe past\n(?: {2}\w+, a day 40 days ago: points\n)+\n/);
  expect(stdout).not.toContain('an operation that is not documented');
});

test('sleeps while nothing is due', async () => {
  const running = run(['--web.listen-address=127.0.0.1:0'], { env: firstTry() });
  await logged(running, 'first round');
  const wakes = async () => {
    const status = await readFile(`/proc/${running.child.pid}/status`, 'utf8');
    return Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1]);
  };
  const before = await wakes();
  await sleep(6000);
  // Something that looks once a second would wake it six times.
  expect((await wakes()) - before).toBeLessThan(6);
});

test('ends in order when the signal comes twice, as from npm after Ctrl-C', async () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => `"${i}"`).join();
  const api = `application: { base_url: "${simulator.baseUrls.application}" }`;
  const config = `credentials: { account: { env: KEY } }\napis: { ${api} }\napplications: { targets: [${ids}] }\n`;
  const file = join(temporary({ 'config.yml': config }), 'config.yml');
  const running = run(['--web.listen-address=127.0.0.1:0', `--config.file=${file}`], {
    env: { KEY: simulator.keys.account },
  });
  const { url } = await logged(running, 'serving');
  // The program waits for the reader of an answer that is too large for the system's buffers.
  const reader = connect(Number(new URL(String(url)).port), '127.0.0.1').pause();
  reader.write('GET /api/v1/targets HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(reader, 'readable');
  running.child.kill('SIGTERM');
  await logged(running, 'stopping');
  running.child.kill('SIGTERM');
  reader.destroy();
  expect((await running.ended).code).toBe(0);
  expect(running.output()).toContain('"msg":"stopped"');
});
