import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { OperationName } from '../simulator/dataset.ts';
import { createSimulator, type Simulator } from '../simulator/simulator.ts';
import { resources } from '../src/resources/kinds/index.ts';
import { apiNames } from '../src/resources/resource.ts';
import { temporary } from './http/temporary.ts';
import { type Running, run } from './security/canary.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = createSimulator();
  await simulator.start();
});
afterAll(async () => await simulator.stop());

/** Waits until a log line has the message; resolves with the line. */
async function logged(running: Running, message: string): Promise<Record<string, unknown>> {
  const find = () =>
    running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find(({ msg }) => String(msg).includes(message));
  await expect.poll(find).toBeDefined();
  return find() ?? {};
}

/** The environment of a first try against the simulator. */
function firstTry(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    BUNNYNET_ACCESS_KEY: simulator.keys.account,
    BUNNYNET_APPLICATIONS: simulator.applications[0]?.id ?? '',
    BUNNYNET_APPLICATION_URL: simulator.baseUrls.application,
    ...more,
  };
}

const anyPort = '--web.listen-address=127.0.0.1:0';

describe('the command', () => {
  it('prints its version and its flags', async () => {
    const version = await run(['--version']).ended;
    expect(version.stdout).toMatch(
      /^bunnynet-exporter \d+\.\d+\.\d+ \(revision \w+, node \d+\.\d+\.\d+\)\n$/,
    );
    const help = await run(['--help']).ended;
    expect(help.stdout).toContain('--config.file');
    expect([version.code, help.code]).toEqual([0, 0]);
  });

  it.each([
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

  it('starts Node with the same options wherever it is started', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
      scripts: Record<'start' | 'demo', string>;
    };
    const [how = '', variable = '', options = ''] = /(\S+) exec node (.+) dist\//.exec(scripts.start) ?? [];
    expect(scripts.demo).toContain(how);
    const sorted = (words: string) => words.split(' ').sort();
    const image = await readFile('Dockerfile', 'utf8');
    const [, inEntry = ''] = /^ENTRYPOINT \["node", (.+), "--max-old/m.exec(image) ?? [];
    const [, inImage = ''] = /NODE_OPTIONS=(.+) \\$/m.exec(image) ?? [];
    expect(sorted(`${inEntry.replaceAll(/[",]/g, '')} ${inImage}`)).toEqual(sorted(options));
    expect(image).toContain(` ${variable} `);
    const unit = await readFile('deploy/systemd/bunnynet-exporter.service', 'utf8');
    expect(unit).toContain(`\nEnvironment=${variable}\n`);
    // Node takes only some of its options from a variable. The executable holds all of them.
    const [, inVariable = ''] = /\nEnvironment="NODE_OPTIONS=(.+)"\n/.exec(unit) ?? [];
    const [, inCommand = ''] = /ExecStart=\/usr\/bin\/env node (.+) \//.exec(unit) ?? [];
    expect(sorted(`${inVariable} ${inCommand}`)).toEqual(sorted(options));
  });

  // Others are not known to every env: BusyBox has no -S.
  it('needs no option of env', async () => {
    const [line] = (await readFile('dist/bunnynet-exporter.js', 'utf8')).split('\n', 1);
    expect(line).toBe('#!/usr/bin/env node');
  });

  // Of a text with a character beyond Latin-1, V8 keeps two bytes for each: two megabytes more.
  it('is a bundle in Latin-1', async () => {
    const bundle = await readFile('dist/bunnynet-exporter.js', 'utf8');
    expect(bundle.match(/.{0,40}[^\0-\xff].{0,40}/)?.[0]).toBeUndefined();
  });

  it('says what is wrong with a flag, and ends with 2', async () => {
    const { code, stderr } = await run(['--config.fiel=x']).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('--config.file');
  });

  it('says what to set when nothing is configured, and ends with 1', async () => {
    const { code, stderr } = await run([]).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('BUNNYNET_ACCESS_KEY');
    expect(stderr).toContain('--demo');
  });

  it('writes a history on stdout and what comes on stderr, and ends with 0', async () => {
    const flags = ['--demo', '--backfill=2d', '--backfill.step=1h', '--once.kind=dns_zone,exporter'];
    const { code, stdout, stderr } = await run([...flags, '--backfill.label=job=bunny']).ended;
    expect(stdout).toMatch(/^# TYPE bunnynet_exporter_build info\n/);
    expect(stdout).toMatch(/^bunnynet_dns_zone_queries_total\{dns_zone_id="\d+",job="bunny"\} \d+ \d+$/m);
    expect(stdout).toMatch(/\n# EOF\n$/);
    expect(stderr).toMatch(/requests come.* about .* series, .* samples and .* [kM]B/);
    expect(code).toBe(0);
  });

  it('refuses to write a history of what has none, and ends with 2', async () => {
    const flags = ['--demo', '--backfill=2d', '--once.kind=billing,pull_zone'];
    const { code, stdout, stderr } = await run(flags).ended;
    expect(stdout).toBe('');
    expect(stderr).toMatch(/of billing, pull_zone the API has no past. It has that of .*dns_zone/);
    expect(code).toBe(2);
  });

  it('refuses a label that a metric has, or that is given twice, and ends with 2', async () => {
    const flags = ['--demo', '--backfill=2d', '--backfill.label=pop=a', '--backfill.label=job=b,job=c'];
    const { code, stdout, stderr } = await run(flags).ended;
    expect(stdout).toBe('');
    expect(stderr).toContain('the metrics have a label pop of their own');
    expect(stderr).toContain('job is given several times');
    expect(code).toBe(2);
  });

  it('says that it cannot read answers without WebAssembly, and ends with 1', async () => {
    const { code, stderr } = await run(['--once'], { node: ['--jitless'], env: firstTry() }).ended;
    expect(stderr).toMatch(
      /^(Warning: disabling flag .*\n)?This process cannot use WebAssembly.*--jitless.*\n$/,
    );
    expect(code).toBe(1);
  });

  it('checks the configuration of a shard without calling anything, and ends with 0', async () => {
    const asked = simulator.counters.application.requests;
    const ids = Array.from({ length: 700 }, (_, i) => `app${i}`).join(',');
    const env = firstTry({ BUNNYNET_APPLICATIONS: ids });
    const { code, stdout } = await run(['--config.check', '--shard=0/2'], { env }).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^shard 0\/2\n.*✓ the configuration is valid\n$/s);
    // All of them would need 12 requests a second.
    expect(stdout).toMatch(/^application +6 +10 /m);
    expect(simulator.counters.application.requests).toBe(asked);
  });

  it('polls once, prints the page and ends with 3 because a poll failed', async () => {
    const ids = `${simulator.applications[0]?.id},nowhere`;
    const { code, stdout, stderr } = await run(['--once'], { env: firstTry({ BUNNYNET_APPLICATIONS: ids }) })
      .ended;
    expect(stdout).toMatch(/^bunnynet_application_up\{app_id="\w+",account="account"\} 1$/m);
    expect(stdout).toContain('bunnynet_application_up{app_id="nowhere",account="account"} 0');
    expect(code).toBe(3);
    expect(stderr).not.toContain('asking again');
  });

  it('names the variable of an address that cannot be reached', async () => {
    const env = firstTry({ BUNNYNET_APPLICATION_URL: 'http://127.0.0.1:1' });
    const { stderr } = await run(['--once'], { env }).ended;
    expect(stderr).toContain('Check BUNNYNET_APPLICATION_URL and the firewalls in between.');
  });

  it('polls only the wanted kinds once, with the listings that they need, and prints only these', async () => {
    const env = {
      BUNNYNET_ACCESS_KEY: simulator.keys.account,
      ...Object.fromEntries(
        apiNames.map((api) => [`BUNNYNET_${api.toUpperCase()}_URL`, simulator.baseUrls[api]]),
      ),
    };
    const before = structuredClone(simulator.counters);
    const { code, stdout } = await run(['--once', '--once.kind=billing,video_library_drm'], { env }).ended;
    expect(code).toBe(0);
    const kinds = [...stdout.matchAll(/^bunnynet_(\w+)_up(?=[ {])/gm)].map(([, kind]) => kind);
    expect(new Set(kinds)).toEqual(new Set(['billing', 'video_library_drm']));
    expect(stdout).not.toMatch(/^(bunnynet_exporter|process|nodejs)_/m);
    const asked = Object.entries(simulator.counters).flatMap(([operation, { requests }]) =>
      requests > before[operation as OperationName].requests ? [operation] : [],
    );
    expect(asked.toSorted()).toEqual(['billing', 'video_library', 'video_library_drm']);

    const own = await run(['--once', '--once.kind=exporter'], { env }).ended;
    expect(own.code).toBe(0);
    expect(new Set(own.stdout.match(/^[a-z]+_(exporter|)(?=_|\w)/gm))).toEqual(
      new Set(['bunnynet_exporter', 'process_', 'nodejs_']),
    );
    const off = await run(['--once', '--once.kind=billing'], { env: firstTry() }).ended;
    expect(off).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'the kind "billing" is off: add the section billing to the configuration\n',
    });
  });

  it('runs the demo with every kind, and answers those who try a configuration of their own there', async () => {
    const { url } = await logged(run(['--demo', anyPort]), 'serving');
    const page = async (path: string) => await (await fetch(new URL(path, String(url)))).text();
    const key = /^BUNNYNET_ACCESS_KEY=(\S+) npm start/m.exec(await readFile('README.md', 'utf8'))?.[1];
    const { apis } = parse(await page('/config')) as { apis: Record<string, unknown> };
    const section = 'pull_zones: { targets: all, include: "w.*" }';
    const config = `credentials: { account: { env: BUNNYNET_ACCESS_KEY } }\napis: ${JSON.stringify(apis)}\n${section}\n`;
    const file = join(temporary({ 'own.yml': config }), 'own.yml');
    const { code, stdout } = await run(['--once', `--config.file=${file}`], {
      env: { BUNNYNET_ACCESS_KEY: key ?? '' },
    }).ended;
    expect(stdout).toContain('name="www"');
    expect(code).toBe(0);
    const lacking = async () => {
      const metrics = await page('/metrics');
      return resources.filter(
        ({ metricPrefix }) => !new RegExp(`^${metricPrefix}_up\\{.*\\} 1$`, 'm').test(metrics),
      );
    };
    await expect.poll(lacking, { interval: 500 }).toEqual([]);
    // Characters beyond ASCII stay what they are in the source.
    expect(await page('/')).toContain('reason &hellip;');
  });

  it('reports what the API answered to documented operations', async () => {
    const { code, stdout } = await run(['--demo', '--report']).ended;
    expect(code).toBe(0);
    expect(stdout).toContain('GET /apps/{}/summary of the application API\n  200 × ');
    expect(stdout).toContain('GET /library/{}/videos/{}/storage of the video API\n  200 × ');
    expect(stdout).toMatch(/\nThe past\n(?: {2}\w+, a day 40 days ago: points\n)+\n/);
    expect(stdout).not.toContain('an operation that is not documented');
  });

  it('loads the package for patterns when it is needed, and knows the letter µ', async () => {
    const targets = '{ targets: all, include: "sh(op.*" }';
    const folder = temporary({
      'config.yml': `credentials: { account: { env: KEY } }\napplications: ${targets}\n`,
      'web.yml': 'rate_limit: { interval: 100µs }\n',
    });
    const file = join(folder, 'config.yml');
    const args = ['--config.check', `--config.file=${file}`, `--web.config.file=${join(folder, 'web.yml')}`];
    const { stderr } = await run(args, { env: { KEY: simulator.keys.account } }).ended;
    expect(stderr).toBe(
      `${file}:2: applications.include: expected a pattern in RE2 syntax; missing closing )\n`,
    );
  });

  it('sleeps while nothing is due', async () => {
    const running = run([anyPort], { env: firstTry() });
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

  it('ends in order on SIGTERM with 0, even while polls hang', async () => {
    const heal = simulator.inject({ type: 'hang' });
    const running = run([anyPort], { env: firstTry() });
    await logged(running, 'serving');
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
    heal();
  });

  it('ends in order when the signal comes twice, as from npm after Ctrl-C', async () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => `"${i}"`).join();
    const api = `application: { base_url: "${simulator.baseUrls.application}" }`;
    const config = `credentials: { account: { env: KEY } }\napis: { ${api} }\napplications: { targets: [${ids}] }\n`;
    const file = join(temporary({ 'config.yml': config }), 'config.yml');
    const running = run([anyPort, `--config.file=${file}`], { env: { KEY: simulator.keys.account } });
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

  it('reloads on SIGHUP, and keeps the previous configuration if the file is bad', async () => {
    const [one, two] = simulator.applications;
    const config = (targets: string) =>
      `credentials: { account: { env: KEY } }\napis: { application: { base_url: "${simulator.baseUrls.application}" } }\napplications: { targets: ${targets} }\n`;
    const file = join(temporary({ 'config.yml': config(`[${one?.id}]`) }), 'config.yml');
    const running = run([anyPort, `--config.file=${file}`], { env: { KEY: simulator.keys.account } });
    const { url } = await logged(running, 'serving');
    const page = async () => await (await fetch(String(url))).text();
    await expect.poll(page).toContain(`up{app_id="${one?.id}",account="account"} 1`);

    await writeFile(file, config(`[${one?.id}, ${two?.id}]`));
    running.child.kill('SIGHUP');
    await logged(running, 'was reloaded: targets +1');
    await expect.poll(page).toContain(`up{app_id="${two?.id}",account="account"} 1`);

    await writeFile(file, config('[]]'));
    running.child.kill('SIGHUP');
    const { msg } = await logged(running, 'keeping the previous configuration');
    expect(msg).toContain(`${file}:3`);
    const after = await page();
    expect(after).toContain(`up{app_id="${two?.id}",account="account"} 1`);
    expect(after).toContain('bunnynet_exporter_config_last_reload_successful 0');

    await writeFile(file, config(`[${two?.id}]`));
    running.child.kill('SIGHUP');
    await expect.poll(page).toContain('bunnynet_exporter_config_last_reload_successful 1');
  });

  it('logs what is polled, how the first round went, and at the level debug each request without its key', async () => {
    const running = run([anyPort, '--log.level=debug'], {
      env: firstTry({
        BUNNYNET_APPLICATIONS: `${simulator.applications[0]?.id},nowhere`,
        BUNNYNET_SHIELD_ZONES: 'all',
        BUNNYNET_SHIELD_URL: simulator.baseUrls.shield,
        BUNNYNET_CORE_URL: simulator.baseUrls.core,
      }),
    });
    expect(await logged(running, 'looking for')).toMatchObject({
      msg: 'polling 2 targets of the configuration, and looking for targets in Shield',
    });
    const { msg } = await logged(running, 'first round');
    expect(msg).toMatch(/^first round: \d+ ok, 1 failing, \d+ s; found \d+ Shield Zones, /);
    expect(await logged(running, 'asked the API')).toMatchObject({ level: 'debug' });
    expect(running.output()).not.toContain(simulator.keys.account);
  });

  it('says which port is in use, and ends with 1', async () => {
    const port = new URL(simulator.origin).port;
    const { code, stderr } = await run([`--web.listen-address=127.0.0.1:${port}`], { env: firstTry() }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('in use');
  });
});
