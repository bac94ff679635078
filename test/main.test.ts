/** The program as it is built, where only the program shows it: exit codes, streams, signals, and what the bundle leaves for later. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { allKinds } from '../simulator/dataset.ts';
import type { Simulator } from '../simulator/simulator.ts';
import { resources } from '../src/resources/kinds/index.ts';
import { apiNames } from '../src/resources/resource.ts';
import { temporary } from './http/temporary.ts';
import { logged, run } from './security/canary.ts';
import { startSimulator } from './simulator/start.ts';

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

const anyPort = '--web.listen-address=127.0.0.1:0';

/** In the place of the state file: a folder, so that what would read the state fails. */
const noState = () => temporary({});

describe('the command', () => {
  // Others are not known to every env: BusyBox has no -S.
  it('needs no option of env', async () => {
    const [line] = (await readFile('dist/bunnynet-exporter.js', 'utf8')).split('\n', 1);
    expect(line).toBe('#!/usr/bin/env node');
  });

  // Of a text with a character beyond Latin-1, V8 keeps two bytes for each: two megabytes more.
  it('is a bundle in Latin-1', async () => {
    for (const name of ['main', 'demo', 're2js']) {
      const bundle = await readFile(`dist/${name}.js`, 'utf8');
      expect(bundle.match(/.{0,40}[^\0-\xff].{0,40}/)?.[0], name).toBeUndefined();
    }
  });

  // A sidecar would feel the megabyte and a half that they take.
  it('has the simulator and the engine of patterns in files of their own', async () => {
    const marks = { demo: 'the-key-of-the-demo', re2js: 'RE2JSSyntaxException=' };
    const main = await readFile('dist/main.js', 'utf8');
    for (const [name, mark] of Object.entries(marks)) {
      expect(await readFile(`dist/${name}.js`, 'utf8')).toContain(mark);
      expect(main.includes(mark), name).toBe(false);
    }
  });

  it('says what is wrong with a flag, and ends with 2', async () => {
    const { code, stderr } = await run(['--config.fiel=x']).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('--config.file');
  });

  it('leaves the state alone in a report, and ends with 1 in a check and at a start that cannot read it', async () => {
    const env = firstTry({ BUNNYNET_STATE_FILE: noState() });
    expect((await run(['--report'], { env }).ended).code).toBe(0);
    expect((await run(['--config.check'], { env }).ended).code).toBe(1);
    const { code, stderr } = await run([anyPort], { env }).ended;
    expect(stderr).toMatch(/the state file \S+ cannot be read: it is a directory/);
    expect(code).toBe(1);
  });

  it('writes a history on stdout and what comes on stderr, and ends with 0', async () => {
    const flags = ['--backfill=2d', '--backfill.step=1h', '--once.kind=dns_zone,exporter'];
    const label = '--backfill.label=job=bunny';
    const { code, stdout, stderr } = await run(['--demo', '--demo.accounts=2', ...flags, label]).ended;
    expect(stdout).toMatch(/^# TYPE bunnynet_exporter_build info\n/);
    expect(stdout).toMatch(/^bunnynet_dns_zone_queries_total\{dns_zone_id="\d+",job="bunny"\} \d+ \d+$/m);
    for (const account of ['acme', 'umbrella'])
      expect(stdout).toMatch(
        new RegExp(`^bunnynet_dns_zone_up\\{.*account="${account}",job="bunny"\\} 1 \\d+$`, 'm'),
      );
    expect(stdout).toMatch(/\n# EOF\n$/);
    expect(stderr).toMatch(/requests come.* about .* series, .* samples and .* [kM]B/);
    expect(code).toBe(0);
  });

  it('polls once without the state, waits for no long pause, prints the page and ends with 3 because a poll failed', async () => {
    simulator.inject({ type: 'status-429-retry-seconds', api: 'core', retryAfterSeconds: 600 });
    const ids = `${simulator.applications[0]?.id},nowhere`;
    const env = firstTry({
      BUNNYNET_APPLICATIONS: ids,
      // The answer to one of them pauses the other.
      BUNNYNET_BILLING: 'all',
      BUNNYNET_PAYMENT_REQUESTS: 'all',
      BUNNYNET_CORE_URL: simulator.baseUrls.core,
      BUNNYNET_STATE_FILE: noState(),
    });
    const { code, stdout } = await run(['--once'], { env }).ended;
    expect(stdout).toMatch(/^bunnynet_application_up\{app_id="\w+",account="account"\} 1$/m);
    expect(stdout).toContain('bunnynet_application_up{app_id="nowhere",account="account"} 0');
    const paused = stdout.matchAll(
      /^bunnynet_exporter_failing_targets\{.*kind="(\w+)".*result="rate_limited"\} 1$/gm,
    );
    const kinds = Array.from(paused, ([, kind = '']) => kind);
    expect(kinds.toSorted()).toEqual(['billing', 'payment_requests']);
    expect(code).toBe(3);
  });

  it('polls only the wanted kinds once, with the listings that they need, and prints only these', async () => {
    const env = {
      BUNNYNET_ACCESS_KEY: simulator.keys.account,
      ...Object.fromEntries(
        apiNames.map((api) => [`BUNNYNET_${api.toUpperCase()}_URL`, simulator.baseUrls[api]]),
      ),
    };
    const { code, stdout } = await run(['--once', '--once.kind=billing,video_library_drm'], { env }).ended;
    expect(code).toBe(0);
    const kinds = [...stdout.matchAll(/^bunnynet_(\w+)_up(?=[ {])/gm)].map(([, kind]) => kind);
    expect(new Set(kinds)).toEqual(new Set(['billing', 'video_library_drm']));
    expect(stdout).not.toMatch(/^(bunnynet_exporter|process|nodejs)_/m);
    const asked = Object.entries(simulator.counters).flatMap(([operation, { requests }]) =>
      requests > 0 ? [operation] : [],
    );
    expect(asked.toSorted()).toEqual(['billing', 'video_library', 'video_library_drm']);

    const own = await run(['--demo', '--once', '--once.kind=exporter'], {
      env: { BUNNYNET_STATE_FILE: noState() },
    }).ended;
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

  it('runs the demo with every kind and without the state', async () => {
    // A kind that the simulator lacks would never come.
    const kindsOf = (all: readonly { readonly kind: string }[]) => all.map(({ kind }) => kind).toSorted();
    expect(kindsOf(allKinds)).toEqual(kindsOf(resources));
    const running = run(['--demo', anyPort], { env: { BUNNYNET_STATE_FILE: noState() } });
    const { url } = await logged(running, 'serving');
    const page = async (path: string) => await (await fetch(new URL(path, String(url)))).text();
    // Once each: on a busy machine what was read first may be stale before the last is.
    const lacking = new Set(resources.map(({ metricPrefix }) => metricPrefix));
    const look = async () => {
      for (const [, prefix = ''] of (await page('/metrics')).matchAll(/^(\w+)_up\{.*\} 1$/gm))
        lacking.delete(prefix);
      return [...lacking];
    };
    // Each look costs a page of all that the demo has.
    await expect.poll(look, { interval: 2000 }).toEqual([]);
    // Characters beyond ASCII stay what they are in the source.
    expect(await page('/')).toContain('reason &hellip;');
    running.child.kill();
    expect((await running.ended).code).toBe(0);
  });

  it('ends with 1 for a wrong configuration, for which it loads the package for patterns, and knows the letter µ', async () => {
    const targets = '{ targets: all, include: "sh(op.*" }';
    const folder = temporary({
      'config.yml': `credentials: { account: { env: KEY } }\napplications: ${targets}\n`,
      'web.yml': 'rate_limit: { interval: 100µs, burst: 1 }\n',
    });
    const file = join(folder, 'config.yml');
    const args = ['--config.check', `--config.file=${file}`, `--web.config.file=${join(folder, 'web.yml')}`];
    const { code, stderr } = await run(args, { env: { KEY: simulator.keys.account } }).ended;
    expect(stderr).toBe(
      `${file}:2: applications.include: expected a pattern in RE2 syntax; missing closing )\n`,
    );
    expect(code).toBe(1);
  });

  it('ends a check with 1 for the key of another account and a state file without a folder', async () => {
    const folder = temporary({
      'config.yml': `credentials: { acme: { env: ACME }, umbrella: { env: UMBRELLA } }
accounts: [acme, umbrella]
billing: {}
`,
    });
    const file = join(folder, 'config.yml');
    const key = simulator.keys.account;
    const env = { ACME: key, UMBRELLA: key, BUNNYNET_STATE_FILE: join(folder, 'none/state') };
    const { code, stderr } = await run(['--config.check', `--config.file=${file}`], { env }).ended;
    expect(stderr.split('\n')).toEqual([
      `--state.file: expected a file that can be written; its folder ${folder}/none is not there: make it`,
      `${file}:1: credentials.umbrella: expected another key than that of acme (from $ACME); it is the same, and a key is of one account`,
      '',
    ]);
    expect(code).toBe(1);
  });

  it('reloads on SIGHUP, keeps the previous configuration if the file is bad, and ends in order on SIGTERM with 0, even while polls hang', async () => {
    const [one, two, three] = simulator.applications;
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

    simulator.inject({ type: 'hang' });
    const asked = simulator.counters.application.requests;
    await writeFile(file, config(`[${three?.id}]`));
    running.child.kill('SIGHUP');
    await expect.poll(page).toContain('bunnynet_exporter_config_last_reload_successful 1');
    await expect.poll(() => simulator.counters.application.requests).toBeGreaterThan(asked);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });

  it('ends on SIGTERM while the disk of its state hangs', async () => {
    const state = join(temporary({}), 'state.json');
    const running = run([anyPort, `--state.file=${state}`], { env: firstTry() });
    await expect.poll(() => existsSync(state)).toBe(true);
    // A pipe that nobody writes is a disk that does not answer.
    rmSync(state);
    spawnSync('mkfifo', [state]);
    running.child.kill('SIGTERM');
    await running.ended;
    expect(running.child.signalCode).toBe('SIGTERM');
  });
});
