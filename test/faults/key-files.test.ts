import { renameSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, reply, startWhole } from '../held/whole.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** One application whose key is in a file. The configuration is loaded only once. */
async function startWith(file: string) {
  const accepted = { key: 'key-of-may' };
  const whole = await startWhole({
    // A file is read in real time.
    overSockets: true,
    document: {
      credentials: { account: { file } },
      applications: { interval: '1h', targets: ['a'] },
    },
    routes: { '*': ({ key }) => (key === accepted.key ? { monthlyCost: 1 } : reply(401)) },
  });
  const up = () => whole.value('bunnynet_application_up');
  return { whole, accepted, up };
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
  it('is used once the API refuses the one before, without a reload', async () => {
    const place = places[name]?.();
    if (!place) throw new Error(`no place ${name}`);
    await place.put('key-of-may');
    const { whole, accepted, up } = await startWith(place.file());
    await whole.poll();
    expect(await up()).toBe(1);
    for (const key of ['key-of-june', 'key-of-july']) {
      accepted.key = key;
      whole.advance(1000);
      await whole.poll();
      expect(await up()).toBe(0);
      await place.put(key);
      await whole.poll();
      await eventually(async () => expect(await up()).toBe(1));
      await whole.sweep();
    }
    // Each 401 has the listing requested, too.
    const ofTarget = whole.requests.filter(({ path }) => path === '/mc/apps/a/summary');
    const sent = ofTarget.map(({ key }) => key?.replace('key-of-', ''));
    expect(sent).toEqual(['may', 'may', 'may', 'june', 'june', 'june', 'july']);
    const said = whole.log.map(({ msg }) => msg).filter((msg) => /changed|refuses/.test(msg));
    expect(said).toEqual([
      expect.stringMatching(/^The application API refuses the key of account/),
      'the key of account changed',
      expect.stringMatching(/^this is over after .* The application API refuses the key of account/),
      expect.stringMatching(/^The application API refuses the key of account/),
      'the key of account changed',
      expect.stringMatching(/^this is over after .* The application API refuses the key of account/),
    ]);
  });

  it('is used within ten seconds though nobody refuses the one before, and the log says so before it says more', async () => {
    const place = places[name]?.();
    if (!place) throw new Error(`no place ${name}`);
    await place.put('key-of-may');
    const { whole, up } = await startWith(place.file());
    await whole.poll();
    await place.put('key-of-june');
    whole.advance(1000);
    await whole.sweep();
    await eventually(() => expect(whole.said('changed')).toHaveLength(1));
    await whole.poll();
    await whole.sweep();
    expect(await up()).toBe(0);
    expect(whole.requests.at(-1)?.key).toBe('key-of-june');
    expect(whole.log.map(({ msg }) => msg).filter((msg) => /changed|refuses/.test(msg))).toEqual([
      'the key of account changed',
      expect.stringMatching(/^The application API refuses the key of account/),
    ]);
  });
});

describe('a refused key', () => {
  it('that changes in its file gets its targets polled at once, long before their interval', async () => {
    const file = join(folder, 'key');
    await writeFile(file, 'key-of-april');
    const { whole, up } = await startWith(file);
    await whole.poll();
    expect(await up()).toBe(0);
    await writeFile(file, 'key-of-may');
    await whole.sweep();
    await eventually(async () => expect(await up()).toBe(1));
  });

  it('whose file is there only later gets its targets polled once it is', async () => {
    const file = join(folder, 'key');
    await writeFile(file, 'key-of-may');
    const { whole, up } = await startWith(file);
    await rm(file);
    await whole.poll();
    expect([whole.requests, await up()]).toEqual([[], 0]);
    await writeFile(file, 'key-of-may');
    await whole.sweep();
    await eventually(async () => expect(await up()).toBe(1));
  });
});

it('an account is left out while its file has the key of another one; keys that are exchanged at once are both read', async () => {
  const files = { acme: join(folder, 'acme'), umbrella: join(folder, 'umbrella') };
  /** In one check the exporter reads both. */
  const write = async (keys: Partial<Record<keyof typeof files, string>>) => {
    for (const [name, key] of Object.entries(keys)) await writeFile(join(folder, `${name}.new`), key);
    for (const name of Object.keys(keys)) renameSync(join(folder, `${name}.new`), join(folder, name));
  };
  await write({ acme: 'key-of-acme', umbrella: 'key-of-umbrella' });
  const zones: Record<string, number> = { 'key-of-acme': 1, 'key-of-umbrella': 2 };
  const whole = await startWhole({
    overSockets: true,
    document: {
      credentials: { acme: { file: files.acme }, umbrella: { file: files.umbrella } },
      accounts: ['acme', 'umbrella'],
      pull_zones: { targets: 'all' },
    },
    routes: {
      '/pullzone': ({ key = '' }) => ({ Items: [{ Id: zones[key], Name: 'zone' }], HasMoreItems: false }),
    },
  });
  await whole.exporter.start();
  const shows = async (...wanted: readonly string[]) => {
    const look = async () => {
      await whole.sweep();
      const up = await whole.series('bunnynet_pull_zone_up');
      const shared = await whole.series('bunnynet_exporter_account_key_shared');
      return [...Object.keys(up).toSorted(), ...Object.keys(shared).filter((labels) => shared[labels] === 1)];
    };
    await expect.poll(look).toEqual(wanted);
  };
  const ofAcme = '{pull_zone_id="1",account="acme"}';
  const ofUmbrella = '{pull_zone_id="2",account="umbrella"}';
  await shows(ofAcme, ofUmbrella);
  await write({ umbrella: 'key-of-acme' });
  await shows(ofAcme, '{account="umbrella"}');
  const { length } = whole.requests;
  await write({ umbrella: 'key-of-umbrella' });
  await shows(ofAcme, ofUmbrella);
  expect(whole.requests.slice(length).some(({ key }) => key === 'key-of-umbrella')).toBe(true);
  expect(whole.exporter.causes()).toEqual([]);
  await write({ acme: 'key-of-umbrella', umbrella: 'key-of-acme' });
  await shows('{pull_zone_id="1",account="umbrella"}', '{pull_zone_id="2",account="acme"}');
});
