import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from './processes.ts';

const children: ChildProcess[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exporter-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rm(folder, { recursive: true }));

/** A named pipe, and a file descriptor that keeps it open. */
function namedPipe(name: string): { readonly path: string; readonly fd: number } {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  return { path, fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK) };
}

/** The bundle, with the given stderr. */
async function start(args: readonly string[], stderr: number | 'pipe') {
  const port = await freePort();
  const flags = [`--web.listen-address=127.0.0.1:${port}`, ...args];
  const child = spawn(process.execPath, ['dist/bunnynet-exporter.js', ...flags], {
    env: { PATH: process.env['PATH'] ?? '', KEY: 'a-key-of-tests' },
    stdio: ['ignore', 'ignore', stderr],
  });
  children.push(child);
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = new Promise<number | string | null>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  const page = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics?kind=exporter`).catch(() => undefined);
    return (await response?.text()) ?? '';
  };
  return { child, ended, page, log: () => log };
}

async function droppedOn(page: () => Promise<string>): Promise<number> {
  return Number(/^bunnynet_exporter_log_lines_dropped_total (\d+)$/m.exec(await page())?.[1] ?? 0);
}

describe('a log that cannot be written', () => {
  // Every request is logged.
  const flags = ['--demo', '--demo.scale=medium', '--log.level=debug'];

  it('loses lines on a full disk, but starts and ends normally', async () => {
    const full = openSync('/dev/full', 'w');
    const { child, ended, page } = await start(flags, full);
    closeSync(full);
    await expect.poll(() => droppedOn(page)).toBeGreaterThan(1);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('loses lines if the reader of the pipe has gone, but serves and ends normally', async () => {
    const { child, ended, page } = await start(flags, 'pipe');
    child.stderr?.destroy();
    await expect.poll(() => droppedOn(page)).toBeGreaterThan(1);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('loses lines if nobody reads the pipe, and says how many once somebody does', async () => {
    const { path, fd } = namedPipe('unread');
    const { child, ended, page } = await start(flags, fd);
    await expect.poll(() => droppedOn(page)).toBeGreaterThan(1);

    const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(256 * 1024);
    let log = '';
    const read = async () => {
      const { bytesRead } = await reader.read(bytes).catch(() => ({ bytesRead: 0 }));
      log += bytes.toString('utf8', 0, bytesRead);
      return log;
    };
    await expect
      .poll(read, { interval: 5 })
      .toMatch(/"level":"warn".*"dropped":\d+,"msg":"log writable again: [\d,]+ lines? dropped"/);

    // Nobody reads again.
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    await reader.close();
    closeSync(fd);
  });
});

describe('signals', () => {
  const config = (targets: string) =>
    `credentials: { account: { env: KEY } }\napis: { application: { base_url: "http://127.0.0.1:9" } }\napplications: { targets: ${targets} }\n`;

  /** Starts with a configuration file that is a pipe, and waits until it is opened. */
  async function startUnconfigured(name: string) {
    const path = join(folder, name);
    execFileSync('mkfifo', [path]);
    const running = await start([`--config.file=${path}`], 'pipe');
    // Opens once somebody reads.
    const configure = async (text: string) => {
      const file = await open(path, 'w');
      return async () => {
        await file.writeFile(text);
        await file.close();
      };
    };
    return { ...running, configure, path };
  }

  it('to reload during the start reload after it', async () => {
    const { child, ended, log, configure, path } = await startUnconfigured('hang-up.yml');
    const write = await configure(config('[one]'));
    child.kill('SIGHUP');
    await sleep(100);
    await writeFile(`${path}.new`, config('[one, two]'));
    await rename(`${path}.new`, path);
    await write();
    await expect.poll(log).toContain('the configuration was reloaded: targets +1');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'to stop during the start (%s) end the program in order with 0',
    async (signal) => {
      const { child, ended, log, configure } = await startUnconfigured(`${signal}.yml`);
      const write = await configure(config('[one]'));
      child.kill(signal);
      await sleep(100);
      await write();
      expect(await ended).toBe(0);
      expect(log()).toContain('"msg":"stopped"');
    },
  );

  it('of users start no debugger and end nothing', async () => {
    const { child, ended, page, log } = await start(['--demo'], 'pipe');
    await expect.poll(page).toContain('bunnynet_exporter_build_info');
    for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGUSR1', 'SIGUSR2'] as const) {
      child.kill(signal);
      // Node opens its debugger a moment after the signal, and says so.
      await sleep(100);
      expect(await page()).toContain('bunnynet_exporter_build_info');
    }
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(log()).not.toMatch(/debugger/i);
  });

  it('are handled as soon as the program runs', async () => {
    const { child, ended } = await start(['--demo'], 'pipe');
    const takesHangUps = () => {
      const [, mask = '0'] =
        /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      return (BigInt(`0x${mask}`) & 1n) === 1n;
    };
    while (!takesHangUps()) await sleep(1);
    child.kill('SIGHUP');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
