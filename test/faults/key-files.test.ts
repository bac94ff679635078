import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { load } from '../../src/demo.ts';
import { createExporter } from '../../src/exporter.ts';
import { Credentials } from '../../src/secrets/credentials.ts';
import { everything } from '../../src/simulator/everything.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';

let folder: string;
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
  await rm(folder, { recursive: true });
});

/** The exporter with one application whose key is in a file; it loads its configuration only once. */
async function startWith(file: string) {
  const simulator = createSimulator({ logRequests: true, shape: { applications: 1 } });
  await simulator.start();
  running.push(simulator);
  const { document, env } = everything(simulator, {
    kinds: ['application'],
    isNamed: true,
    interval: '1h',
    api: () => ({ timeout: '20s', max_concurrency: 8, requests_per_second: 500, max_retries: 0 }),
  });
  const loaded = await load({ document, env });
  const config = { ...loaded.config, credentials: { account: { file } } };
  let loads = 0;
  const exporter = await createExporter({
    load: () => {
      loads++;
      return Promise.resolve({ config, credentials: new Credentials(config.credentials, {}) });
    },
    addresses: [],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    log: pino({ level: 'silent' }),
  });
  running.push(exporter);
  const isUp = async () =>
    (await exporter.page()).includes(`bunnynet_application_up{app_id="${simulator.applications[0]?.id}"} 1`);
  return { simulator, exporter, isUp, loads: () => loads };
}

interface Place {
  readonly file: () => string;
  readonly put: (key: string) => Promise<void>;
}

/** How the key is written to its file, and how it is replaced. */
const places: Readonly<Record<string, () => Place>> = {
  'written anew': () => {
    const file = join(folder, 'key');
    return { file: () => file, put: (key) => writeFile(file, key) };
  },
  'replaced by another file': () => {
    const file = join(folder, 'key');
    return {
      file: () => file,
      put: async (key) => {
        await writeFile(`${file}.new`, `${key}\n`);
        await rename(`${file}.new`, file);
      },
    };
  },
  // key → ..data/key, ..data → ..<time>: the kubelet swaps only ..data.
  'swapped by Kubernetes': () => {
    let version = 0;
    return {
      file: () => join(folder, 'key'),
      put: async (key) => {
        const name = `..2026_08_15_12_00_0${version++}`;
        await mkdir(join(folder, name));
        await writeFile(join(folder, name, 'key'), key);
        await symlink(name, join(folder, '..data_tmp'));
        await rename(join(folder, '..data_tmp'), join(folder, '..data'));
        if (version === 1) await symlink(join('..data', 'key'), join(folder, 'key'));
        else await rm(join(folder, `..2026_08_15_12_00_0${version - 2}`), { recursive: true });
      },
    };
  },
};

describe.each(Object.keys(places))('a key file that is %s', (name) => {
  it('is used from the next request on, without a reload', async () => {
    const place = places[name]?.();
    if (!place) throw new Error(`no place ${name}`);
    await place.put('key-of-may');
    const { simulator, exporter, isUp, loads } = await startWith(place.file());
    simulator.replaceKey('account', 'key-of-may');
    expect(await exporter.pollOnce()).toBe(true);

    for (const key of ['key-of-june', 'key-of-july']) {
      simulator.replaceKey('account', key);
      expect(await exporter.pollOnce()).toBe(false);
      expect(await isUp()).toBe(false);
      await place.put(key);
      expect(await exporter.pollOnce()).toBe(true);
      expect(await isUp()).toBe(true);
    }
    expect(simulator.requests.map(({ key }) => key)).toEqual([
      'account',
      'unknown',
      'account',
      'unknown',
      'account',
    ]);
    expect(loads()).toBe(1);
  });
});

describe('a refused key', () => {
  // Key files are looked at every ten seconds.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it('that changes in its file gets its targets polled at once, long before their interval', async () => {
    const file = join(folder, 'key');
    await writeFile(file, 'key-of-may');
    const { simulator, exporter, isUp, loads } = await startWith(file);
    expect(await exporter.pollOnce()).toBe(false);
    simulator.replaceKey('account', 'key-of-june');
    await writeFile(file, 'key-of-june');
    vi.advanceTimersByTime(10_000);
    await expect.poll(isUp).toBe(true);
    expect(loads()).toBe(1);
  });

  it('whose file appears later gets its targets polled once it is there', async () => {
    const file = join(folder, 'key');
    const { simulator, exporter, isUp } = await startWith(file);
    simulator.replaceKey('account', 'key-of-may');
    expect(await exporter.pollOnce()).toBe(false);
    expect(simulator.requests).toEqual([]);
    await writeFile(file, 'key-of-may');
    vi.advanceTimersByTime(10_000);
    await expect.poll(isUp).toBe(true);
  });
});
