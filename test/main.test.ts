/** The program as it is built, where only the program shows it: exit codes, streams, signals, and what the bundle leaves for later. */
import { mkdirSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
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

describe('the command', () => {
  // Others are not known to every env: BusyBox has no -S.
  it('needs no option of env', async () => {
    const [line] = (await readFile('dist/bunnynet-exporter.js', 'utf8')).split('\n', 1);
    expect(line).toBe('#!/usr/bin/env node');
  });

  // Of a text with a character beyond Latin-1, V8 keeps two bytes for each: two megabytes more.
  it('is a bundle in Latin-1', async () => {
    const bundle = await readFile('dist/main.js', 'utf8');
    expect(bundle.match(/.{0,40}[^\0-\xff].{0,40}/)?.[0]).toBeUndefined();
  });

  it('says what is wrong, and ends with 2 for a wrong flag and with 1 for a wrong configuration', async () => {
    const usage = await run(['--config.fiel=x']).ended;
    expect(usage.code).toBe(2);
    expect(usage.stderr).toContain('--config.file');
    const nothing = await run([]).ended;
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain('BUNNYNET_ACCESS_KEY');
    expect(nothing.stderr).toContain('--demo');
  });

  it('leaves the state alone in what runs once, checks or is invented, and ends with 1 where it cannot read it', async () => {
    const folder = temporary({});
    const state = join(folder, 'state.json');
    const env = firstTry({ BUNNYNET_STATE_FILE: state });
    const demo = run(['--demo', anyPort], { env });
    const once = [['--once'], ['--report'], ['--config.check'], ['--demo', '--once']].map(
      async (flags) => [flags.join(' '), (await run(flags, { env }).ended).code] as const,
    );
    for (const [flags, code] of await Promise.all(once)) expect(code, flags).toBe(0);
    await logged(demo, 'serving metrics');
    demo.child.kill();
    expect((await demo.ended).code).toBe(0);
    expect(readdirSync(folder)).toEqual([]);

    mkdirSync(state);
    const { code, stderr } = await run([anyPort], { env }).ended;
    expect(stderr).toMatch(/the state file \S+ cannot be read: .* belongs to user \d+ and group \d+/);
    expect(code).toBe(1);
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

  it('polls once, prints the page and ends with 3 because a poll failed', async () => {
    const ids = `${simulator.applications[0]?.id},nowhere`;
    const { code, stdout, stderr } = await run(['--once'], { env: firstTry({ BUNNYNET_APPLICATIONS: ids }) })
      .ended;
    expect(stdout).toMatch(/^bunnynet_application_up\{app_id="\w+",account="account"\} 1$/m);
    expect(stdout).toContain('bunnynet_application_up{app_id="nowhere",account="account"} 0');
    expect(code).toBe(3);
    expect(stderr).not.toContain('asking again');
  });

  it('waits for no pause that is longer than its timeout with --once, and ends with 3', async () => {
    simulator.inject({ type: 'status-429-retry-seconds', api: 'application', retryAfterSeconds: 600 });
    const { code, stdout } = await run(['--once'], { env: firstTry() }).ended;
    expect(stdout).toMatch(/^bunnynet_exporter_failing_targets\{.*result="rate_limited"\} 1$/m);
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
    const { apis } = parse(await page('/config')) as { apis: Record<string, { timeout: string }> };
    // That of the demo is short, and a busy machine takes its time.
    for (const api of Object.values(apis)) api.timeout = '60s';
    const section = 'pull_zones: { targets: all, include: "w.*" }';
    const config = `credentials: { account: { env: BUNNYNET_ACCESS_KEY } }\napis: ${JSON.stringify(apis)}\n${section}\n`;
    const file = join(temporary({ 'own.yml': config }), 'own.yml');
    const { code, stdout } = await run(['--once', `--config.file=${file}`], {
      env: { BUNNYNET_ACCESS_KEY: key ?? '' },
    }).ended;
    expect(stdout).toContain('name="www"');
    expect(code).toBe(0);
    // Once each: on a busy machine what was read first may be stale before the last is.
    const lacking = new Set(resources);
    const look = async () => {
      const metrics = await page('/metrics');
      for (const resource of lacking)
        if (new RegExp(`^${resource.metricPrefix}_up\\{.*\\} 1$`, 'm').test(metrics))
          lacking.delete(resource);
      return Array.from(lacking, ({ kind }) => kind);
    };
    await expect.poll(look, { interval: 500 }).toEqual([]);
    // Characters beyond ASCII stay what they are in the source.
    expect(await page('/')).toContain('reason &hellip;');
  });

  it('runs the demo with two accounts, for those who try a configuration of several', async () => {
    const running = run(['--demo', '--demo.accounts=2', anyPort]);
    const page = async (path: string) =>
      await (await fetch(new URL(path, String((await logged(running, 'serving'))['url'])))).text();
    const readme = await readFile('README.md', 'utf8');
    const [, file = ''] = /A file for a first try:\n\n```yaml\n(.*?)```/s.exec(readme) ?? [];
    const keys = {
      acme: /=(the-key\S+) npm/.exec(readme)?.[1],
      umbrella: /`(the-key\S+-2)`/.exec(readme)?.[1],
    };
    const { apis } = parse(await page('/config')) as { apis: Record<string, { timeout: string }> };
    for (const api of Object.values(apis)) api.timeout = '60s';
    const config = join(temporary({ 'own.yml': `${file}\napis: ${JSON.stringify(apis)}\n` }), 'own.yml');
    const own = await run(['--once', `--config.file=${config}`], {
      env: { BUNNYNET_ACCESS_KEY: keys.acme ?? '', UMBRELLA_KEY: keys.umbrella ?? '' },
    }).ended;
    expect(own.code).toBe(0);
    expect(own.stdout).toMatch(/^bunnynet_pull_zone_info\{.*account="acme".*name="www".*\} 1$/m);
    expect(own.stdout).toMatch(/^bunnynet_pull_zone_info\{.*account="umbrella".*name="north-www".*\} 1$/m);
    expect(own.stdout).not.toMatch(/name="[^"]*staging"/);
    const ofAccounts = async () => {
      const metrics = await page('/metrics');
      return ['acme', 'umbrella'].map((account) =>
        metrics.includes(`bunnynet_billing_up{account="${account}"} 1`),
      );
    };
    await expect.poll(ofAccounts, { interval: 500 }).toEqual([true, true]);
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

  it('ends in order on SIGTERM with 0, even while polls hang', async () => {
    simulator.inject({ type: 'hang' });
    const running = run([anyPort], { env: firstTry() });
    await logged(running, 'serving');
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
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
});
