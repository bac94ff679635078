import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hashSync } from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from './processes.ts';
import { root, succeed, tools } from './tools.ts';

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd?: readonly string[] | null;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Healthcheck?: unknown;
}

mkdirSync(`${root}.cache`, { recursive: true });
const work = mkdtempSync(`${root}.cache/image-`);
const containers: ChildProcess[] = [];

function buildah(...args: readonly string[]): string {
  const store = ['--root', join(work, 'store'), '--runroot', join(work, 'run'), '--storage-driver', 'vfs'];
  return succeed('buildah', [...store, ...args]).trim();
}

function build(context: string, tag: string, ...args: readonly string[]): void {
  buildah('build', '--isolation', 'chroot', '--format', 'docker', '--tag', tag, ...args, context);
}

/** The folder of the image's files. */
let imageRoot = '';
let baseRoot = '';
let config: ImageConfig;

beforeAll(() => {
  const bases = join(work, 'bases');
  succeed('test/stack/base-images.sh', [`${tools}/node/bin/node`, bases]);
  const path = 'PATH=/nodejs/bin:/usr/local/bin:/usr/bin:/bin';
  const trust = 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt';
  writeFileSync(join(work, 'Dockerfile.base'), `FROM scratch\nCOPY . /\nENV ${path} ${trust}\n`);
  for (const name of ['run', 'build']) {
    build(join(bases, name), `localhost/base-${name}`, '--file', join(work, 'Dockerfile.base'));
  }
  const npmrc = join(homedir(), '.npmrc');
  build(
    root,
    'localhost/bunnynet-exporter',
    ...(existsSync(npmrc) ? ['--secret', `id=npmrc,src=${npmrc}`] : []),
    '--build-arg=BUILD_IMAGE=localhost/base-build',
    '--build-arg=BASE_IMAGE=localhost/base-run',
    '--build-arg=BUILD_REVISION=0123456789ab',
    '--build-arg=VERSION=1.2.3',
  );
  const mount = (image: string) => buildah('mount', buildah('from', image));
  imageRoot = mount('localhost/bunnynet-exporter');
  baseRoot = mount('localhost/base-run');
  const inspected = JSON.parse(
    buildah('inspect', '--type', 'image', 'localhost/bunnynet-exporter'),
  ) as unknown as {
    Docker: { config: ImageConfig };
  };
  config = inspected.Docker.config;
}, 600_000);

afterAll(() => {
  for (const container of containers) container.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true });
});

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Runs a command of the image like a container. */
function inContainer(command: readonly string[]): readonly [string, readonly string[]] {
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--'];
  return ['unshare', [...namespaces, `${root}test/stack/container.sh`, imageRoot, ...command]];
}

function environment(added: Readonly<Record<string, string>>): Record<string, string> {
  const own = config.Env.map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=')];
  });
  return { ...Object.fromEntries(own), ...added };
}

function runToEnd(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [program, args] = inContainer(command);
  return spawnSync(program, args, { encoding: 'utf8', env: environment(env), timeout: 300_000 });
}

/** What `helm test` runs. */
function lookAt(env: Readonly<Record<string, string>>) {
  const script = readFileSync(`${root}helm/bunnynet-exporter/files/look-at-page.js`, 'utf8');
  return runToEnd(['node', '-e', script], env);
}

/** Starts the image's entry point, and waits until it is ready or asks for a password. */
async function serve(port: number, args: readonly string[]) {
  const [program, words] = inContainer([...config.Entrypoint, ...args]);
  const container = spawn(program, words, {
    env: environment({ BUNNYNET_WEB_LISTEN_ADDRESS: `127.0.0.1:${port}` }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  containers.push(container);
  let log = '';
  container.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => container.once('exit', resolve));
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined);
    if (response?.ok || response?.status === 401) break;
    if (container.exitCode !== null) throw new Error(`the container ends with ${container.exitCode}\n${log}`);
    await delay(100);
  }
  return { pid: processOf(container), ended, log: () => log };
}

/** Process 1 of the container, as this machine numbers it. */
function processOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

describe('the image', () => {
  test('adds only the bundle to its base', () => {
    const base = new Set(files(baseRoot));
    const added = files(imageRoot).filter((file) => !base.has(file));
    const built = readdirSync(`${root}dist`).filter((file) => file.endsWith('.js'));
    expect(added.sort()).toEqual(
      [...built, 'package.json', 'LICENSE', 'licences.md'].map((file) => `app/${file}`).sort(),
    );
    const manifest = JSON.parse(readFileSync(join(imageRoot, 'app/package.json'), 'utf8')) as unknown;
    expect(manifest).toEqual({ type: 'commonjs' });
  });

  test('declares its user, port and source', () => {
    expect(config.User).toBe('65532:65532');
    expect(Object.keys(config.ExposedPorts)).toEqual(['10057/tcp']);
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'bunnynet-exporter',
      'org.opencontainers.image.source': 'https://github.com/bunnynet-exporter/bunnynet-exporter',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': '1.2.3',
      'org.opencontainers.image.revision': '0123456789ab',
    });
    expect(config.Entrypoint[0]).toBe('node');
    // Each check would start a Node, and only the operator knows the address.
    expect(config.Healthcheck).toBeUndefined();
  });
});

describe('the container', () => {
  test('prints the version that was built', () => {
    const { status, stdout } = runToEnd([...config.Entrypoint, '--version']);
    expect(status).toBe(0);
    expect(stdout).toContain('0123456789ab');
  });

  test('cannot write anywhere', () => {
    for (const folder of ['/app', '/tmp', '/home']) {
      const { status, stderr } = runToEnd(['node', '-e', `fs.writeFileSync('${folder}/file', '')`]);
      expect(status).not.toBe(0);
      expect(stderr).toContain('EROFS');
    }
  });

  test('may write its state and no other files, and start no processes', () => {
    const flags = config.Entrypoint.slice(0, -1);
    // Here there is no volume.
    const own = runToEnd([...flags, '-e', "fs.writeFileSync('/var/lib/bunnynet-exporter/state.json', '')"]);
    expect(own.stderr).toContain('EROFS');
    for (const act of [
      "fs.writeFileSync('/app/file', '')",
      "fs.writeFileSync('/var/lib/bunnynet-exporter-other', '')",
      "child_process.execFileSync('node', ['--version'])",
    ]) {
      const { status, stderr } = runToEnd([...flags, '-e', act]);
      expect(status).not.toBe(0);
      expect(stderr).toContain('ERR_ACCESS_DENIED');
    }
  });

  test('serves its page as an unprivileged user, passes `helm test`, and ends on SIGTERM with 0', async () => {
    const port = await freePort();
    const { pid, ended, log } = await serve(port, ['--demo']);
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(page).toContain('bunnynet_exporter_build_info{');
    expect(page).toMatch(/^bunnynet_application_up\{.*\} 1$/m);
    expect(page).toMatch(/^process_resident_memory_bytes [1-9]/m);

    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NSpid:\t\d+\t1$/m);

    const look = (path: string) => lookAt({ PAGE: `http://127.0.0.1:${port}${path}` });
    const seen = look('/metrics');
    expect(seen.status, seen.stderr).toBe(0);
    expect(seen.stdout).toContain('bunnynet_application_up{');
    expect(look('/config')).toMatchObject({ status: 1 });
    expect(look('/nowhere')).toMatchObject({ status: 1 });

    process.kill(pid, 'SIGTERM');
    expect(await ended, log()).toBe(0);
    expect(look('/metrics')).toMatchObject({ status: 1 });
  });

  test('runs as a user that it does not know, as OpenShift chooses one', () => {
    const command = [...config.Entrypoint, '--demo', '--once', '--log.level=warn'];
    const { status, stdout, stderr } = runToEnd(command, { CONTAINER_USER: '1000680000:0' });
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^bunnynet_application_up\{.*\} 1$/m);
  });

  test('ends on SIGTERM as process 1 also with --once, where no signal has a default effect', async () => {
    // An API that never answers.
    const api = createServer();
    onTestFinished(() => api.close().closeAllConnections());
    const asked = once(api, 'request');
    api.listen(0, '127.0.0.1');
    await once(api, 'listening');
    const { port } = api.address() as AddressInfo;
    const [program, words] = inContainer([...config.Entrypoint, '--once', '--once.kind=billing']);
    const url = `http://127.0.0.1:${port}`;
    const container = spawn(program, words, {
      env: environment({ BUNNYNET_ACCESS_KEY: 'key-of-the-account', BUNNYNET_CORE_URL: url }),
      stdio: 'ignore',
    });
    containers.push(container);
    const ended = once(container, 'exit');
    await Promise.race([asked, ended]);
    process.kill(processOf(container), 'SIGTERM');
    expect(await ended).toEqual([143, null]);
  });

  test('compares passwords although it may not start processes or write files', async () => {
    const port = await freePort();
    // The container sees this machine's /dev, including shared memory.
    const mounted = mkdtempSync('/dev/shm/web-');
    chmodSync(mounted, 0o755);
    writeFileSync(join(mounted, 'web.yaml'), `basic_auth_users:\n  prometheus: ${hashSync('right', 4)}\n`);
    const { pid, ended, log } = await serve(port, ['--demo', `--web.config.file=${mounted}/web.yaml`]);
    const ask = async (password: string) => {
      const authorization = `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}`;
      return (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization } })).status;
    };
    expect(await ask('wrong')).toBe(401);
    expect(await ask('right')).toBe(200);
    const page = { PAGE: `http://127.0.0.1:${port}/metrics` };
    expect(lookAt(page)).toMatchObject({ status: 1 });
    expect(lookAt({ ...page, REQUIRES_AUTH: 'yes' })).toMatchObject({ status: 0 });
    process.kill(pid, 'SIGTERM');
    expect(await ended, log()).toBe(0);
    expect(log()).not.toContain('Warning');
    rmSync(mounted, { recursive: true });
  });
});
