import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { helms, parse as parseManifests, render } from './chart.ts';
import { eventually, freePort, start, stopAll, toolPath } from './processes.ts';
import { root, run, succeed } from './tools.ts';

const compose = `${root}deploy/compose`;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'examples-'));
});
afterEach(stopAll);
afterAll(() => rmSync(folder, { recursive: true }));

interface Service {
  readonly healthcheck?: { readonly test: readonly string[]; readonly interval: string };
  readonly image: string;
  readonly command?: readonly string[];
  readonly ports?: readonly { readonly target: number }[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly volumes?: readonly {
    readonly type: string;
    readonly source: string;
    readonly target: string;
    readonly read_only?: boolean;
  }[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly { readonly source: string; readonly target: string }[];
}
interface Project {
  readonly services: Readonly<Record<string, Service>>;
}

function project(...files: readonly string[]): Project {
  const json = succeed('compose', ['-format', 'json', '-no-path-resolution', ...files], { cwd: compose });
  return JSON.parse(json) as Project;
}

/** The program's configuration with only the key file in the environment. */
function checkKeyFile(): { readonly code: number; readonly said: string } {
  const env = { BUNNYNET_ACCESS_KEY_FILE: join(folder, 'access-key') };
  writeFileSync(env.BUNNYNET_ACCESS_KEY_FILE, 'the-key-of-the-account', { mode: 0o400 });
  const program = `${root}dist/bunnynet-exporter.js`;
  const { code, stdout, stderr } = run(process.execPath, [program, '--config.check'], { env });
  rmSync(env.BUNNYNET_ACCESS_KEY_FILE);
  return { code, said: `${stdout}${stderr}` };
}

describe('the Quadlet', () => {
  const generated = () => {
    const env = { QUADLET_UNIT_DIRS: `${root}deploy/quadlet` };
    const { code, stdout, stderr } = run('quadlet', ['-dryrun', '-no-kmsg-log'], { env });
    expect(code, stderr).toBe(0);
    return stdout.replace(/^---.*---$/m, '');
  };

  test('runs the image read-only and without privileges, with the key as a file', () => {
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(generated()) ?? [];
    for (const part of ['--read-only', '--cap-drop all', '--security-opt=no-new-privileges'])
      expect(command).toContain(` ${part} `);
    const [, variable = '', path = ''] = /--env (\w+)=(\S+)/.exec(command) ?? [];
    expect(variable).toBe('BUNNYNET_ACCESS_KEY_FILE');
    expect(command).toContain(' -v bunnynet-exporter:/var/lib/bunnynet-exporter ');
    expect(command).toContain(' --env BUNNYNET_STATE_FILE=/var/lib/bunnynet-exporter/state.json ');
    expect(command).toMatch(new RegExp(`--secret [\\w-]+,type=mount,target=${path},uid=65532,`));
    expect(checkKeyFile()).toEqual({ code: 0, said: expect.any(String) as string });
  });

  test('becomes a unit that systemd accepts', () => {
    const file = join(folder, 'bunnynet-exporter.service');
    writeFileSync(file, generated().replaceAll('/usr/bin/podman', '/bin/true'));
    expect(run('systemd-analyze', ['verify', file])).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

describe('the docker-compose example', () => {
  test('mounts only existing files, and this repository only for reading', () => {
    const binds = Object.values(project('compose.yaml').services)
      .flatMap(({ volumes }) => volumes ?? [])
      .filter(({ type }) => type === 'bind');
    expect(binds.length).toBeGreaterThan(3);
    for (const { source, read_only } of binds) {
      expect(existsSync(join(compose, source)), source).toBe(true);
      expect(read_only, source).toBe(true);
    }
  });

  test('runs the demo without privileges', () => {
    const { exporter, ...others } = project('compose.yaml').services;
    expect(exporter).toMatchObject({
      command: ['--demo'],
      read_only: true,
      cap_drop: ['ALL'],
    });
    for (const { image } of Object.values(others)) expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
  });

  test('looks at the health of the exporter at its own address', async () => {
    const { healthcheck, ports } = project('compose.yaml').services['exporter'] as Service;
    const [command, node, ...args] = healthcheck?.test ?? [];
    expect([command, node, healthcheck?.interval]).toEqual(['CMD', 'node', '60s']);
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(args.join(' ')) ?? [];
    expect(ports?.map(({ target }) => String(target))).toEqual([port]);
    const own = await freePort();
    const atOwn = args.map((arg) => arg.replace(port, String(own)));
    const check = () => run(process.execPath, atOwn).code;
    expect(check()).toBe(1);
    start(process.execPath, ['dist/bunnynet-exporter.js', '--demo', `--web.listen-address=127.0.0.1:${own}`]);
    await eventually(() => Promise.resolve(expect(check()).toBe(0)));
  });

  test('exports an account with one key', () => {
    const exporter = project('compose.yaml', 'account.yaml').services['exporter'];
    expect(exporter?.command).toEqual([]);
    const [secret] = exporter?.secrets ?? [];
    const [volume] = exporter?.volumes ?? [];
    expect(volume).toMatchObject({ type: 'volume', source: 'state', target: '/var/lib/bunnynet-exporter' });
    expect(exporter?.environment).toEqual({
      BUNNYNET_ACCESS_KEY_FILE: secret?.target,
      BUNNYNET_STATE_FILE: `${volume?.target}/state.json`,
    });
    expect(checkKeyFile()).toEqual({ code: 0, said: expect.any(String) as string });
  });

  test('scrapes the exporter, and alerts when it is gone', async () => {
    const { services } = project('compose.yaml');
    const origins = new Map<string, string>();
    for (const name of Object.keys(services)) origins.set(name, `127.0.0.1:${await freePort()}`);
    const originOf = (name: string) => origins.get(name) ?? '';

    /** The files of the containers in a folder of this machine, with its addresses and short durations. */
    const place = join(folder, 'containers');
    const adapted = (text: string) =>
      Object.entries(services)
        .flatMap(([name, { ports = [] }]) =>
          ports.map(({ target }) => [`${name}:${target}`, originOf(name)] as const),
        )
        .reduce((changed, [address, origin]) => changed.replaceAll(address, origin), text)
        .replaceAll('localhost:9090', originOf('prometheus'))
        .replaceAll('/etc/', `${place}/etc/`)
        .replaceAll(/(?<=interval: )\d+[sm]$/gm, '1s')
        .replaceAll(/(?<=for: )\d+[hms]$/gm, '0s');
    for (const { type, source, target } of Object.values(services).flatMap(({ volumes }) => volumes ?? [])) {
      const copy = join(place, target);
      if (type === 'bind') cpSync(join(compose, source), copy, { recursive: true });
      else mkdirSync(copy, { recursive: true });
    }
    for (const path of readdirSync(join(place, 'etc'), { recursive: true, encoding: 'utf8' })) {
      const file = join(place, 'etc', path);
      if (file.endsWith('.yml')) writeFileSync(file, adapted(readFileSync(file, 'utf8')));
    }
    /** Starts a program like the container of this name. */
    const startAs = (name: string, program: readonly string[], ...more: readonly string[]) => {
      const command = (services[name]?.command ?? []).map((word) => word.replace('=/', `=${place}/`));
      const [path = '', ...first] = program;
      return start(path, [...first, ...command, `--web.listen-address=${originOf(name)}`, ...more]);
    };
    const exporter = startAs('exporter', [process.execPath, 'dist/bunnynet-exporter.js']);
    startAs(
      'alertmanager',
      [toolPath('prometheus-alertmanager')],
      '--cluster.listen-address=',
      '--log.level=warn',
    );
    startAs('prometheus', [toolPath('prometheus')], '--log.level=warn');

    const ask = async <T>(name: string, path: string) =>
      (await (await fetch(`http://${originOf(name)}${path}`)).json()) as T;
    const query = async (expression: string) => {
      const path = `/api/v1/query?query=${encodeURIComponent(expression)}`;
      return (
        await ask<{ data: { result: readonly { metric: Record<string, string> }[] } }>('prometheus', path)
      ).data.result;
    };
    const alerts = async () =>
      (await ask<readonly { labels: Record<string, string> }[]>('alertmanager', '/api/v2/alerts')).map(
        ({ labels }) => labels,
      );

    await eventually(async () => {
      const up = new Set((await query('up == 1')).map(({ metric }) => metric['job']));
      expect(up).toEqual(new Set(['alertmanager', 'bunnynet-exporter', 'prometheus']));
      expect(await query('bunnynet_application_up == 1')).not.toHaveLength(0);
    });
    await eventually(async () => {
      const { data } = await ask<{
        data: { groups: readonly { rules: readonly { name: string; health: string }[] }[] };
      }>('prometheus', '/api/v1/rules');
      const rules = data.groups.flatMap((group) => group.rules);
      expect(rules.length).toBeGreaterThan(20);
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    });
    const down = expect.objectContaining({
      alertname: 'BunnynetExporterDown',
      job: 'bunnynet-exporter',
      severity: 'critical',
    }) as unknown;
    // A busy machine may have lost a scrape.
    await eventually(async () => expect(await alerts()).not.toContainEqual(down));

    exporter.kill('SIGTERM');
    await eventually(async () => expect(await alerts()).toContainEqual(down));
  });

  test('mounts the dashboards where Grafana looks for them', () => {
    const mounts = project('compose.yaml').services['grafana']?.volumes ?? [];
    const provider = parse(readFileSync(join(compose, 'grafana/dashboards/bunnynet.yaml'), 'utf8')) as {
      providers: readonly { options: { path: string } }[];
    };
    const dashboards = mounts.find(({ target }) => target === provider.providers[0]?.options.path);
    expect(dashboards?.source).toBe('../../monitoring/dashboards');
    const source = parse(readFileSync(join(compose, 'grafana/datasources/prometheus.yaml'), 'utf8')) as {
      datasources: readonly { type: string; url: string }[];
    };
    expect(source.datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }]);
    const home =
      /HOME_DASHBOARD_PATH: (\S+)/.exec(readFileSync(join(compose, 'compose.yaml'), 'utf8'))?.[1] ?? '';
    expect(existsSync(home.replace('/var/lib/grafana/dashboards', `${root}monitoring/dashboards`))).toBe(
      true,
    );
  });
});

describe('the documentation of Kubernetes', () => {
  const text = readFileSync(`${root}docs/kubernetes.md`, 'utf8');
  const blocks = [...text.matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)].map(
    ([, name = '', content = '']) => ({ name, content }),
  );

  test('quotes its example files exactly', () => {
    const quoted = blocks.filter(({ name }) => name.startsWith('deploy/'));
    expect(quoted.map(({ name }) => name)).toContain('deploy/kustomize/example/kustomization.yaml');
    for (const { name, content } of quoted)
      expect(content, name).toBe(readFileSync(`${root}${name}`, 'utf8'));
  });

  test.each(blocks.filter(({ name }) => name === 'values.yaml').map(({ content }) => [content]))(
    'shows values that the chart accepts (example %#)',
    (content) => {
      for (const helm of helms) {
        const kinds = parseManifests(render(helm, parse(content))).map(({ kind }) => kind);
        expect(kinds).toContain('ConfigMap');
      }
    },
  );

  test('has no other untested example', () => {
    const fences = [...text.matchAll(/^```(\w+)$/gm)].map(([, language]) => language);
    expect(fences.filter((language) => language !== 'sh')).toHaveLength(blocks.length);
  });
});

/** The anchor of a heading on GitHub. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

describe('the documentation', () => {
  const pages = ['', 'docs/', 'docs/runbooks/', 'helm/bunnynet-exporter/'].flatMap((place) =>
    readdirSync(`${root}${place}`)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${place}${name}`),
  );

  test.each(pages)('%s links only to existing files and headings', (page) => {
    const text = readFileSync(`${root}${page}`, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
    const links = text.matchAll(/(?:\]\(|src(?:set)?=")(?!https?:)([^)"\s]+)/g);
    for (const [, link = ''] of links) {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? `${root}${page}` : join(root, page, '..', path);
      expect(existsSync(file), link).toBe(true);
      if (anchor === undefined) continue;
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(
        ([, heading = '']) => heading,
      );
      expect(headings.map(anchorOf), link).toContain(anchor);
    }
  });
});
