/** The published packages: the npm package, the single executable, and the systemd unit. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Shape } from '../../simulator/dataset.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { eventually, freePort, start, stopAll } from './processes.ts';
import { root, run, succeed, tools } from './tools.ts';

const version = (JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }).version;
const folder = mkdtempSync(join(tmpdir(), 'packages-'));
const rpm = 'rpm --dbpath /var/lib/rpm';
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(stopAll);

/** At the usual pace all of it is read within seconds. */
const fewThings: Partial<Shape> = {
  applications: 2,
  zones: 2,
  videosPerLibrary: 1,
  libraries: 1,
  endpoints: 2,
};

/** What acts on the metrics, as packages have it: rules, dashboards, the mixin, and a runbook for each alert. */
function monitoringFiles(): readonly string[] {
  const below = (from: string, to: string) => readdirSync(`${root}${from}`).map((name) => `${to}${name}`);
  return [
    ...below('monitoring/rules', 'rules/'),
    ...below('monitoring/dashboards', 'dashboards/'),
    ...below('docs/runbooks', 'runbooks/'),
    'history-rules.yml',
    'mixin.libsonnet',
    'mixin-rules.json',
  ].map((file) => `share/bunnynet-exporter/${file}`);
}

/** Tests of an installed program: its version, a configuration, the demo and passwords. */
function itWorks(program: () => string, env: Readonly<Record<string, string>>): void {
  const ask = (...args: readonly string[]) =>
    run('env', ['--ignore-environment', ...variables(), program(), ...args]);
  const variables = () => Object.entries(env).map(([name, value]) => `${name}=${value}`);

  test('prints its version and that of Node', () => {
    const { code, stdout, stderr } = ask('--version');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      new RegExp(`^bunnynet-exporter ${version} \\(revision [0-9a-f]{12}, node \\d+\\.\\d+\\.\\d+\\)\n$`),
    );
  });

  test('checks a configuration', () => {
    const file = join(folder, 'good.yml');
    writeFileSync(join(folder, 'key'), 'k', { mode: 0o400 });
    writeFileSync(
      file,
      `credentials: { account: { file: ${folder}/key } }\napplications: { targets: all }\n`,
    );
    expect(ask('--config.check', `--config.file=${file}`)).toMatchObject({ code: 0, stderr: '' });
  });

  test('polls the demo once', () => {
    const { code, stdout } = ask('--demo', '--once', '--log.level=warn');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^bunnynet_application_up\{.*\} 1$/m);
  });

  test('compares passwords in its thread', async () => {
    const web = join(folder, 'web.yml');
    writeFileSync(web, `basic_auth_users:\n  prometheus: ${hashSync('right', 4)}\n`);
    const address = `127.0.0.1:${await freePort()}`;
    start(program(), ['--demo', `--web.listen-address=${address}`, `--web.config.file=${web}`], env);
    const status = async (password: string) => {
      const authorization = `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}`;
      return (await fetch(`http://${address}/metrics`, { headers: { authorization } })).status;
    };
    expect(await eventually(() => status('wrong'))).toBe(401);
    expect(await status('right')).toBe(200);
  });
}

describe('the npm package', () => {
  const installed = join(folder, 'npm');
  const tarball = join(folder, `bunnynet-exporter-${version}.tgz`);
  let files: readonly string[] = [];
  beforeAll(() => {
    // A fresh clone, without a build.
    const clone = join(folder, 'clone');
    succeed('mkdir', [clone]);
    succeed('bash', ['-c', `git ls-files -z | tar --null -T - -c | tar -x -C ${clone}`]);
    symlinkSync(`${root}node_modules`, join(clone, 'node_modules'));
    const env = { BUILD_REVISION: '0123456789ab' };
    succeed('npm', ['pack', '--pack-destination', folder], { cwd: clone, env });
    files = succeed('tar', ['-tzf', tarball])
      .trim()
      .split('\n')
      .map((path) => path.replace('package/', ''));
    succeed('npm', ['install', '--global', '--prefix', installed, '--no-audit', tarball]);
  });

  test('is built before it is packed, and takes little more than a megabyte', () => {
    expect(succeed(join(installed, 'bin/bunnynet-exporter'), ['--version'])).toContain('0123456789ab');
    expect(statSync(tarball).size).toBeLessThan(1_100_000);
  });

  test('contains the bundle, the man page, completions and licences, and no sources', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'dist/bunnynet-exporter.js',
        'dist/main.js',
        'dist/bcrypt-worker.js',
        'dist/demo.js',
        'dist/re2js.js',
        'docs/licences.md',
        'share/bash-completion/completions/bunnynet-exporter',
        'share/man/man1/bunnynet-exporter.1',
        ...monitoringFiles(),
      ]),
    );
    expect(files.filter((file) => /^(src|test|scripts|monitoring|helm|\.)|\.tar\.gz$/.test(file))).toEqual(
      [],
    );
    expect(readFileSync(join(installed, 'share/man/man1/bunnynet-exporter.1'), 'utf8')).toContain('BUNNYNET');
  });

  itWorks(() => join(installed, 'bin/bunnynet-exporter'), { PATH: process.env['PATH'] ?? '' });

  test('has a mixin that finds its rules and dashboards', () => {
    const mixin = join(
      installed,
      'lib/node_modules/bunnynet-exporter/share/bunnynet-exporter/mixin.libsonnet',
    );
    const { grafanaDashboards } = JSON.parse(succeed('jsonnet', [mixin])) as { grafanaDashboards?: object };
    expect(grafanaDashboards).toBeUndefined();
    const names = `std.objectFieldsAll((import '${mixin}').grafanaDashboards)`;
    expect(JSON.parse(succeed('jsonnet', ['-e', names]))).toEqual(
      readdirSync(`${root}monitoring/dashboards`),
    );
  });

  test('runs with npx', () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    const args = ['--yes', `--package=${tarball}`, 'bunnynet-exporter', '--version'];
    const { code, stdout } = run('npx', args, { cwd: empty });
    expect(code).toBe(0);
    expect(stdout).toContain(`bunnynet-exporter ${version} `);
    expect(readdirSync(empty)).toEqual([]);
  });
});

describe('the executable', () => {
  const unpacked = join(folder, 'executable');
  let archive = '';
  let complaints = '';
  const written = () =>
    readdirSync(`${root}dist`)
      .filter((name) => name.endsWith('.js'))
      .map((name) => [name, statSync(`${root}dist/${name}`).mtimeMs]);
  const before = written();
  beforeAll(() => {
    const { code, stdout, stderr } = run(`${tools}/node/bin/node`, ['scripts/executable.mjs']);
    expect(code, stderr).toBe(0);
    archive = join(root, stdout.trim());
    complaints = stderr;
    succeed('mkdir', [unpacked]);
    succeed('tar', ['-xzf', archive, '-C', unpacked, '--strip-components=1']);
    succeed('npm', ['run', 'build:packages']);
    // Three archives of Node are compressed.
  });

  test('is built without a warning', () => expect(complaints).not.toMatch(/warning/i));

  test('is built without changing the bundle, which may be running', () => {
    expect(before).not.toEqual([]);
    expect(written()).toEqual(before);
  });

  test('comes with its unit, man page, completions and licences, in the layout of /usr/local', () => {
    const files = succeed('find', ['.', '-type', 'f'], { cwd: unpacked }).trim().split('\n');
    const shared = monitoringFiles().map((file) => `./${file}`);
    expect(files.filter((file) => !shared.includes(file)).sort()).toEqual([
      './bin/bunnynet-exporter',
      './lib/systemd/system/bunnynet-exporter.service',
      './lib/systemd/system/bunnynet-exporter@.service',
      './share/bash-completion/completions/bunnynet-exporter',
      './share/doc/bunnynet-exporter/LICENSE',
      './share/doc/bunnynet-exporter/LICENSE-node',
      './share/doc/bunnynet-exporter/bunnynet-exporter.example.yml',
      './share/doc/bunnynet-exporter/licences.md',
      './share/fish/vendor_completions.d/bunnynet-exporter.fish',
      './share/man/man1/bunnynet-exporter.1',
      './share/zsh/site-functions/_bunnynet-exporter',
    ]);
    expect(files).toEqual(expect.arrayContaining(shared));
    expect(succeed('tar', ['-tzf', archive])).not.toMatch(/\/$/m);
  });

  // This PATH is empty: there is no node.
  describe('without Node', () => itWorks(() => join(unpacked, 'bin/bunnynet-exporter'), { PATH: folder }));

  test("obeys Node's permission model from NODE_OPTIONS", () => {
    const file = join(folder, 'permitted.yml');
    writeFileSync(file, 'credentials: { account: { env: KEY } }\napplications: { targets: all }\n');
    const check = (options: string) =>
      run(join(unpacked, 'bin/bunnynet-exporter'), ['--config.check', `--config.file=${file}`], {
        env: { NODE_OPTIONS: options, KEY: 'k' },
      });
    expect(check(`--permission --allow-fs-read=${folder}/`)).toMatchObject({ code: 0, stderr: '' });
    const refused = check('--permission --allow-fs-read=/nowhere/');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('ERR_ACCESS_DENIED');
  });

  test.each([
    ['deb', 'dpkg-deb --show', 'dpkg-deb --fsys-tarfile', 'tar -t'],
    [
      'rpm',
      "rpm --query --queryformat '%{name} %{version}\\n' --package",
      'rpm --query --list --package',
      'cat',
    ],
  ])('is in a %s under /usr', (format, show, list, read) => {
    const file = archive.replace('tar.gz', format);
    const ask = (command: string) => succeed('bash', ['-o', 'pipefail', '-c', command]);
    expect(ask(`${show} ${file}`).trim().split(/\s+/)).toEqual(['bunnynet-exporter', version]);
    const packed = ask(`${list} ${file} | ${read}`)
      .trim()
      .split('\n')
      .map((path) => path.replace(/^\.?\//, ''));
    const files = succeed('find', ['.', '-type', 'f'], { cwd: unpacked }).trim().split('\n');
    const expected = files.map((path) => path.replace(/^\./, 'usr'));
    expect(packed).toEqual(expect.arrayContaining(expected));
  });

  describe.each([
    { format: 'tar.gz', install: undefined, remove: undefined },
    { format: 'deb', install: 'dpkg --install', remove: 'dpkg --remove bunnynet-exporter' },
    // Debian's own database of rpm does not know glibc.
    { format: 'rpm', install: `${rpm} --install --nodeps`, remove: `${rpm} --erase bunnynet-exporter` },
  ])('as a systemd service, from the $format', ({ format, install, remove }) => {
    const unit = readFileSync(`${root}deploy/systemd/bunnynet-exporter.service`, 'utf8');
    const simulator = createSimulator({ accounts: 2, shape: fewThings });
    const secondKey = () => simulator.accounts[1]?.keys.account ?? '';
    let systemd: ChildProcess;
    let pid = '';
    let origin = '';
    const inside = (command: string) =>
      run('nsenter', ['--target', pid, '--mount', '--pid', `--wd=${folder}`, 'sh', '-ec', command]);
    const property = (name: string) =>
      inside(`systemctl show --value -p ${name} bunnynet-exporter`).stdout.trim();

    beforeAll(async () => {
      await simulator.start();
      systemd = spawn(
        'unshare',
        ['--mount', '--pid', '--fork', '--kill-child', `${root}test/stack/systemd.sh`],
        {
          stdio: 'inherit',
        },
      );
      await eventually(() => {
        pid = readFileSync(`/proc/${systemd.pid}/task/${systemd.pid}/children`, 'utf8').trim();
        expect(inside('systemctl is-system-running').stdout).toBe('running\n');
        return Promise.resolve();
      });
      origin = `http://127.0.0.1:${await freePort()}`;
      writeFileSync(join(folder, 'access-key'), simulator.keys.account);
      writeFileSync(join(folder, 'second-key'), secondKey());
      const environment = {
        WEB_LISTEN_ADDRESS: new URL(origin).host,
        // Each of them: nothing here may ask the vendor.
        ...Object.fromEntries(
          Object.entries(simulator.baseUrls).map(([api, url]) => [`${api.toUpperCase()}_URL`, url]),
        ),
      };
      const lines = Object.entries(environment).map(([name, value]) => `BUNNYNET_${name}=${value}`);
      writeFileSync(join(folder, 'environment'), `${lines.join('\n')}\n`);
      copyFileSync(
        archive.replace('tar.gz', format),
        join(folder, `bunnynet-exporter-linux-amd64.${format}`),
      );
      writeFileSync(join(folder, 'log.conf'), `[Service]\nStandardError=append:${folder}/log\n`);
      const forTest = [
        'install -D -m 0644 environment /etc/bunnynet-exporter/environment',
        'install -D -m 0644 log.conf /etc/systemd/system/bunnynet-exporter.service.d/log.conf',
      ];
      const commands = [...unit.matchAll(/^# {3}((?:tar|install|mkdir|printf|systemctl) .*)$/gm)].map(
        ([, command]) => command,
      );
      expect(commands).toHaveLength(6);
      expect(readFileSync(`${root}README.md`, 'utf8')).toContain(`\n${commands.join('\n')}\n`);
      const [unpack, ...others] = commands;
      const first = install === undefined ? unpack : `${install} bunnynet-exporter-linux-amd64.${format}`;
      const { code, stderr } = inside([...forTest, first, ...others].join('\n'));
      expect(code, stderr).toBe(0);
    });
    afterAll(async () => {
      systemd.kill('SIGKILL');
      await simulator.stop();
    });

    test('is accepted by systemd', () => {
      const verify = 'env --unset=SYSTEMD_UNIT_PATH systemd-analyze verify bunnynet-exporter.service';
      expect(inside(verify)).toEqual({ code: 0, stdout: '', stderr: '' });
    });

    test('exports the account with one key, reloads, and stops', async () => {
      await eventually(async () => {
        const ready = await fetch(`${origin}/-/ready`).catch(() => undefined);
        expect(ready?.status, readFileSync(join(folder, 'log'), 'utf8')).toBe(200);
      });
      const page = async () => await (await fetch(`${origin}/metrics`)).text();
      expect(await page()).toMatch(/^bunnynet_application_up\{.*\} 1$/m);

      const reloaded = async () =>
        Number(
          /^bunnynet_exporter_config_last_reload_success_timestamp_seconds (\S+)$/m.exec(await page())?.[1],
        );
      const before = await reloaded();
      expect(inside('systemctl reload bunnynet-exporter').code).toBe(0);
      await eventually(async () => expect(await reloaded()).toBeGreaterThan(before));

      expect(inside('systemctl stop bunnynet-exporter').code).toBe(0);
      expect([property('Result'), property('ExecMainStatus')]).toEqual(['success', '0']);
    });

    const ofUnits = () => {
      test('keeps its counters where systemd lets it write', async () => {
        const state = '/var/lib/bunnynet-exporter/state.json';
        expect(inside(`head -c 13 ${state}`).stdout).toBe('{"version":1,');
        expect(inside(`stat -L --format=%a ${state}`).stdout).toBe('600\n');
        expect(inside('systemctl start bunnynet-exporter').code).toBe(0);
        await eventually(async () => expect((await fetch(`${origin}/-/ready`)).status).toBe(200));
        expect(readFileSync(join(folder, 'log'), 'utf8')).toContain('go on as of');
        expect(inside('systemctl stop bunnynet-exporter').code).toBe(0);
      });

      test('takes the key from its environment, as README.md says for a systemd without credentials', async () => {
        const readme = readFileSync(`${root}README.md`, 'utf8');
        const [commands = ''] = /^install .*\/dev\/null(?:.|\n)*?(?=^systemctl)/m.exec(readme) ?? [];
        expect(commands).toContain('BUNNYNET_ACCESS_KEY=');
        expect(unit).not.toMatch(/^LoadCredential/m);
        const { code, stderr } = inside(`
        cp /etc/bunnynet-exporter/environment before
        ${commands}
        cat before >>/etc/bunnynet-exporter/environment
        mv /etc/systemd/system/bunnynet-exporter.service.d/key.conf away
        systemctl daemon-reload
        systemctl start bunnynet-exporter`);
        expect(code, stderr).toBe(0);
        await eventually(async () => expect((await fetch(`${origin}/-/ready`)).status).toBe(200));
        const undo = `
        systemctl stop bunnynet-exporter
        mv away /etc/systemd/system/bunnynet-exporter.service.d/key.conf
        cp before /etc/bunnynet-exporter/environment
        systemctl daemon-reload`;
        expect(inside(undo).code).toBe(0);
      });

      test('runs an instance for each account, as README.md says, which its account is called after', async () => {
        const readme = readFileSync(`${root}README.md`, 'utf8');
        const [, block = ''] = /```sh\n(install .* access-key-of-acme (?:.|\n)*?)```/.exec(readme) ?? [];
        const [listen = '', ...urls] = readFileSync(join(folder, 'environment'), 'utf8').trim().split('\n');
        expect(listen).toContain('LISTEN_ADDRESS');
        writeFileSync(join(folder, 'urls'), `${urls.join('\n')}\n`);
        const balances = async (address: string) => {
          const page = await (await fetch(`http://${address}/metrics`)).text();
          return page.match(/^bunnynet_billing_up\{.*/gm);
        };
        const addresses: string[] = [];
        for (const [name, file] of [
          ['acme', 'access-key'],
          ['umbrella', 'second-key'],
        ] as const) {
          const address = `127.0.0.1:${await freePort()}`;
          addresses.push(address);
          const [start = '', ...before] = block
            .trim()
            .replaceAll('acme', name)
            .replace('127.0.0.1:10058', address)
            .split('\n')
            .reverse();
          const { code, stderr } = inside(`
          cp ${file} access-key-of-${name}
          ${before.reverse().join('\n')}
          cat urls >>/etc/bunnynet-exporter/${name}/environment
          ${start}`);
          expect(code, stderr).toBe(0);
          const up = `bunnynet_billing_up{account="${name}"} 1`;
          await eventually(async () => expect(await balances(address)).toEqual([up]));
          expect(inside(`systemctl show --value -p Description bunnynet-exporter@${name}`).stdout).toContain(
            name,
          );
        }
        // With a configuration file, that names the account, and the name of the instance is ignored without a word.
        const credentials = '{ boss: { file: /run/credentials/bunnynet-exporter@acme.service/access-key } }';
        writeFileSync(
          join(folder, 'acme.yaml'),
          `credentials: ${credentials}\napis: { core: { base_url: '${simulator.baseUrls.core}' } }\nbilling: {}\n`,
        );
        const { code, stderr } = inside(`
        cp acme.yaml /etc/bunnynet-exporter/acme/config.yaml
        echo BUNNYNET_WEB_LISTEN_ADDRESS=${addresses[0]} >/etc/bunnynet-exporter/acme/environment
        echo BUNNYNET_CONFIG_FILE=/etc/bunnynet-exporter/acme/config.yaml >>/etc/bunnynet-exporter/acme/environment
        mkdir -p /etc/systemd/system/bunnynet-exporter@acme.service.d
        printf '[Service]\\nStandardError=append:${folder}/log-of-acme\\n' >/etc/systemd/system/bunnynet-exporter@acme.service.d/log.conf
        systemctl daemon-reload
        systemctl restart bunnynet-exporter@acme`);
        expect(code, stderr).toBe(0);
        await eventually(async () =>
          expect(await balances(addresses[0] ?? '')).toEqual(['bunnynet_billing_up{account="boss"} 1']),
        );
        expect(readFileSync(join(folder, 'log-of-acme'), 'utf8')).not.toMatch(
          /BUNNYNET_ACCOUNT|"level":[45]0/,
        );
        expect(inside('systemctl disable --now bunnynet-exporter@acme bunnynet-exporter@umbrella').code).toBe(
          0,
        );
        expect(inside('ls /var/lib/bunnynet-exporter@acme').stdout).toBe('state.json\n');
      });

      test('says which line of the unit hands over the key that it lacks', async () => {
        writeFileSync(join(folder, 'log'), '');
        const { code } = inside(`
        mv /etc/systemd/system/bunnynet-exporter.service.d/key.conf away
        systemctl daemon-reload
        systemctl start bunnynet-exporter`);
        expect(code).toBe(0);
        await eventually(() =>
          Promise.resolve(
            expect(readFileSync(join(folder, 'log'), 'utf8')).toContain(
              'a drop-in of the unit hands it over, LoadCredential=access-key:/etc/bunnynet-exporter/access-key; or set',
            ),
          ),
        );
        const undo = `
        systemctl stop bunnynet-exporter
        mv away /etc/systemd/system/bunnynet-exporter.service.d/key.conf
        systemctl daemon-reload`;
        expect(inside(undo).code).toBe(0);
      });

      test('hands over a key for each account of a configuration file, a new one at a restart', async () => {
        const names = ['acme', 'umbrella'];
        const inUnit = (name: string) => `/run/credentials/bunnynet-exporter.service/${name}`;
        const credentials = names.map((name) => `  ${name}: { file: ${inUnit(name)} }\n`).join('');
        writeFileSync(
          join(folder, 'config.yaml'),
          `credentials:\n${credentials}accounts: [${names.join(', ')}]\napis: { core: { base_url: '${simulator.baseUrls.core}' } }\nbilling: { targets: all }\n`,
        );
        const lines = names.map((name) => `LoadCredential=${name}:/etc/bunnynet-exporter/keys/${name}`);
        writeFileSync(join(folder, 'keys.conf'), `[Service]\n${lines.join('\n')}\n`);
        const { code, stderr } = inside(`
        cp /etc/bunnynet-exporter/environment before
        cp config.yaml /etc/bunnynet-exporter/
        echo BUNNYNET_CONFIG_FILE=/etc/bunnynet-exporter/config.yaml >>/etc/bunnynet-exporter/environment
        install -D -m 0600 access-key /etc/bunnynet-exporter/keys/acme
        echo a-wrong-key >/etc/bunnynet-exporter/keys/umbrella
        mv /etc/systemd/system/bunnynet-exporter.service.d/key.conf away
        cp keys.conf /etc/systemd/system/bunnynet-exporter.service.d/keys.conf
        systemctl daemon-reload
        systemctl start bunnynet-exporter`);
        expect(code, stderr).toBe(0);
        const up = async (account: string) =>
          new RegExp(`^bunnynet_billing_up\\{account="${account}"\\} (.)$`, 'm').exec(
            await (await fetch(`${origin}/metrics`)).text(),
          )?.[1];
        await eventually(async () => expect([await up('acme'), await up('umbrella')]).toEqual(['1', '0']));
        expect(inside('cp second-key /etc/bunnynet-exporter/keys/umbrella').code).toBe(0);
        expect(inside(`cat ${inUnit('umbrella')}`).stdout).toBe('a-wrong-key\n');
        expect(inside('systemctl restart bunnynet-exporter').code).toBe(0);
        await eventually(async () => expect([await up('acme'), await up('umbrella')]).toEqual(['1', '1']));
        const undo = `
        systemctl stop bunnynet-exporter
        rm /etc/systemd/system/bunnynet-exporter.service.d/keys.conf
        mv away /etc/systemd/system/bunnynet-exporter.service.d/key.conf
        cp before /etc/bunnynet-exporter/environment
        systemctl daemon-reload`;
        expect(inside(undo).code).toBe(0);
      });
    };
    // The same from each package: once is enough.
    if (install === undefined) describe('with its units', ofUnits);

    test('runs as its own user, who may read the key and little else', () => {
      expect(inside('systemctl start bunnynet-exporter').code).toBe(0);
      const status = inside(`cat /proc/${property('MainPID')}/status`).stdout;
      expect(status).toMatch(/^Uid:\t([1-9]\d{4})\t\1\t\1\t\1$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
    });

    if (remove === undefined || install === undefined) return;
    const file = `bunnynet-exporter-linux-amd64.${format}`;
    const again = format === 'deb' ? `dpkg --install ${file}` : `${rpm} --upgrade --force --nodeps ${file}`;

    test('writes the drop-ins of keys that no unit hands over, and none where one does', async () => {
      const dropIns = '/etc/systemd/system';
      const own = `${dropIns}/bunnynet-exporter.service.d/key.conf`;
      const before = inside(`cat ${own}`).stdout;
      expect(inside(again)).toMatchObject({
        code: 0,
        stdout: expect.not.stringContaining('wrote') as string,
      });
      const ofInstances = `${dropIns}/bunnynet-exporter@.service.d`;
      const shared = inside(`
      rm ${own}
      install -D -m 0600 second-key /etc/bunnynet-exporter/umbrella/access-key
      mkdir -p ${ofInstances}
      echo LoadCredential=access-key:/etc/bunnynet-exporter/%i/access-key >${ofInstances}/key.conf
      ${again}
      rm -r ${ofInstances}
      ! ls ${dropIns}/bunnynet-exporter@umbrella.service.d`);
      expect(shared.code, shared.stderr).toBe(0);
      expect(shared.stdout).toContain(`wrote ${own}, which hands`);
      const { code, stdout, stderr } = inside(`
      rm ${own}
      ${again}
      cat ${own} ${dropIns}/bunnynet-exporter@umbrella.service.d/key.conf`);
      expect(code, stderr).toBe(0);
      expect(stdout).toContain(
        `${before}[Service]\nLoadCredential=access-key:/etc/bunnynet-exporter/umbrella/access-key\n`,
      );
      expect(stdout).toContain(`wrote ${own}, which hands /etc/bunnynet-exporter/access-key to the service`);
      // The service that ran before runs with it.
      await eventually(async () => expect((await fetch(`${origin}/-/ready`)).status).toBe(200));
    });

    test('stops when it is removed, and keeps its counters', () => {
      const pid = property('MainPID');
      expect(Number(pid)).toBeGreaterThan(0);
      const { code, stderr } = inside(remove);
      expect(code, stderr).toBe(0);
      expect(inside(`ls /proc/${pid}`).code).not.toBe(0);
      expect(inside('ls /usr/bin/bunnynet-exporter').code).not.toBe(0);
      expect(inside('systemctl is-enabled bunnynet-exporter').code).not.toBe(0);
      expect(inside('ls /var/lib/bunnynet-exporter/').stdout).toBe('state.json\n');
    });

    if (format === 'deb')
      test('deletes its counters when it is purged, and names the keys that it leaves', () => {
        const { code, stdout, stderr } = inside('dpkg --purge bunnynet-exporter');
        expect(code, stderr).toBe(0);
        for (const left of ['access-key', 'environment', 'umbrella/access-key'])
          expect(stdout).toContain(`\n  /etc/bunnynet-exporter/${left}\n`);
        expect(stdout).toContain('\n  /etc/systemd/system/bunnynet-exporter.service.d/key.conf\n');
        expect(stdout).not.toContain(simulator.keys.account);
        expect(inside('ls -d /var/lib/bunnynet-exporter* /var/lib/private/bunnynet-exporter*').stdout).toBe(
          '',
        );
        expect(inside('cat /etc/bunnynet-exporter/access-key').stdout).toBe(simulator.keys.account);
      });
  });

  test('has a unit with a low exposure score', () => {
    const exposure = (file: string) =>
      run('systemd-analyze', ['security', '--offline=true', '--threshold=15', file]);
    const { code, stdout } = exposure(`${root}deploy/systemd/bunnynet-exporter.service`);
    expect(code, stdout).toBe(0);
    const bare = join(folder, 'bare.service');
    writeFileSync(bare, '[Service]\nExecStart=/bin/true\n');
    expect(exposure(bare).code).not.toBe(0);
  });
});
