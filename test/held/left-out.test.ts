/** What `discovery.exclude` leaves out is left out of every kind, and what was not meant is said. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resources } from '../../src/resources/kinds/index.ts';
import { runs } from '../runs.ts';
import { few, single } from '../simulator/start.ts';
import { simulateAccount } from './account.ts';
import { type Request, type Route, reply, startWhole, type Whole } from './whole.ts';

const keys = { ACME: 'the-key-of-acme', UMBRELLA: 'the-key-of-umbrella' };
const both = {
  credentials: { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } },
  accounts: ['acme', 'umbrella'],
};

const listed = (items: readonly object[]) => ({
  Items: items,
  TotalItems: items.length,
  HasMoreItems: false,
});

type Zone = readonly [id: number, name: string];
const pullZones = (...zones: readonly Zone[]) =>
  listed(
    zones.map(([Id, Name]) => ({
      Id,
      Name,
      Hostnames: [{ Id: Id * 10, Value: `www.${Name}.example`, HasCertificate: true }],
    })),
  );
/** Shield Zones, each of the pull zone with a hundredth of its id. */
const shieldZones = (...ids: readonly number[]) => ({
  data: ids.map((shieldZoneId) => ({ shieldZoneId, pullZoneId: shieldZoneId / 100 })),
  page: { totalPages: 1, currentPage: 1, pageSize: 100, totalCount: ids.length },
});

/** The kinds of which something is polled, with the ids of their targets. */
function polled({ exporter }: Whole): Readonly<Record<string, readonly string[]>> {
  const ids: Record<string, string[]> = {};
  for (const { target } of exporter.targets()) {
    const ofKind = ids[target.kind] ?? [];
    ids[target.kind] = ofKind;
    ofKind.push(Object.values(target.ids).join('/'));
  }
  return ids;
}

const discovery = (exclude: string | readonly string[]) => ({
  kinds: 'all' as const,
  except: resources
    .filter(
      ({ kind, isCostly }) =>
        !isCostly &&
        !['pull_zone', 'pull_zone_statistics', 'shield_zone', 'shield_access_lists'].includes(kind),
    )
    .map(({ kind }) => kind),
  exclude,
});

/** The account of these zones, with a Shield Zone for each. */
async function start(exclude: string | readonly string[], routes: Record<string, Route> = {}) {
  const zones: { now: readonly Zone[] } = {
    now: [
      [1, 'shop'],
      [2, 'staging'],
    ],
  };
  const whole = await startWhole({
    document: { discovery: discovery(exclude) },
    routes: {
      '/pullzone': () => pullZones(...zones.now),
      '/shield/shield-zones': () => shieldZones(100, 200),
      ...routes,
    },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  return { whole, zones };
}

describe('discovery.exclude', () => {
  it('leaves out of each kind what the table in the documentation says, and nothing else', async () => {
    const { document, ...account } = simulateAccount({ shape: runs(single, few) });
    const whole = await startWhole({ ...account, document });
    await whole.exporter.start();
    await whole.pass(10_000);
    const all = polled(whole);
    expect(Object.keys(all).toSorted()).toEqual(resources.map(({ kind }) => kind).toSorted());
    const rows = readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `(\w+_id)` \| (.*) \|$/gm);
    const table = Array.from(
      rows,
      ([, label = '', kinds = '']) => [label, (kinds.match(/\w+/g) ?? []) as readonly string[]] as const,
    );
    expect(table.map(([label]) => label)).toHaveLength(8);
    // By day one label of things that name others, one of things with keys of their own and one of neither; the rest at once.
    const isAlone = runs(/^(pull_zone|library|app)_id$/, /./);
    const alone = table.filter(([label]) => isAlone.test(label)).map((row) => [row]);
    const atOnce = table.filter(([label]) => !isAlone.test(label));
    for (const left of [...alone, atOnce].filter(({ length }) => length > 0)) {
      const labels = left.map(([label]) => label);
      const kinds = left.flatMap(([, ofLabel]) => ofLabel);
      whole.document = { ...document, discovery: { exclude: labels.map((label) => `${label}=.*`) } };
      await whole.reload();
      await whole.pass(1000);
      const stays = Object.fromEntries(Object.entries(all).filter(([kind]) => !kinds.includes(kind)));
      expect(polled(whole), labels.join()).toEqual(stays);
      if (labels.includes('pull_zone_id'))
        expect(JSON.parse((await whole.get('/sd/hostnames')).body)).toEqual([]);
    }
  });

  it('takes a name of a thing: what is about it follows, and is not matched itself', async () => {
    const { whole } = await start(['stag.*', 'www.shop.example', '100']);
    expect(polled(whole)).toEqual({
      pull_zone: ['1'],
      pull_zone_statistics: ['1'],
      shield_zone: ['100'],
      shield_access_lists: ['100'],
    });
    expect(whole.requests.map(({ path }) => path)).not.toContain('/shield/shield-zone/200/access-lists');
    expect(whole.requests.filter(({ query }) => query.get('pullZone') === '2')).toEqual([]);
    const { body } = await whole.get('/sd/hostnames');
    expect(body).toContain('www.shop.example');
    expect(body).not.toContain('staging');
  });

  it('polls nothing about a thing as long as the listing that names it was never read', async () => {
    const { whole } = await start('staging', { '/pullzone': () => reply(500) });
    await whole.pass(300_000);
    expect(polled(whole)).toEqual({});
    expect(whole.requests.map(({ path }) => path)).toContain('/shield/shield-zones');
    whole.routes['/pullzone'] = () => pullZones([1, 'shop'], [2, 'staging']);
    await whole.pass(700_000);
    expect(polled(whole)).toMatchObject({ pull_zone: ['1'], shield_access_lists: ['100'] });
    // What is known of it stays known.
    whole.routes['/pullzone'] = () => reply(500);
    await whole.pass(700_000);
    expect(polled(whole)).toMatchObject({ pull_zone: ['1'], shield_access_lists: ['100'] });
  });

  it('follows a thing that is renamed', async () => {
    const { whole, zones } = await start('staging');
    zones.now = [
      [1, 'staging'],
      [2, 'www'],
    ];
    await whole.pass(700_000);
    expect(polled(whole)).toEqual({
      pull_zone: ['2'],
      pull_zone_statistics: ['2'],
      shield_zone: ['200'],
      shield_access_lists: ['200'],
    });
  });

  it('leaves out what two accounts list, of both', async () => {
    const whole = await startWhole({
      document: { ...both, pull_zones: { targets: 'all' }, discovery: { exclude: 'shared' } } as never,
      env: keys,
      routes: {
        '/pullzone': ({ key }: Request) => pullZones([2, 'shared'], key === keys.ACME ? [1, 'a'] : [3, 'b']),
      },
    });
    await whole.exporter.start();
    await whole.pass(3000);
    expect(polled(whole)).toEqual({ pull_zone: ['1', '3'] });
    expect(whole.exporter.causes()).toEqual([]);
  });

  it('does not keep from being read what the configuration names', async () => {
    const whole = await startWhole({
      document: {
        pull_zones: { targets: [2] },
        pull_zone_statistics: { targets: 'all' },
        discovery: { exclude: 'staging' },
      },
      routes: { '/pullzone': () => pullZones([1, 'shop'], [2, 'staging']) },
    });
    await whole.exporter.start();
    await whole.pass(60_000);
    expect(polled(whole)).toEqual({ pull_zone: ['2'], pull_zone_statistics: ['1'] });
  });
});

describe('a pattern is said to be wrong once, when everything that it selects from was listed', () => {
  it.each([
    [
      { discovery: { exclude: ['shop', 'no-such', 'pull_zone_id=7'] } },
      [
        'discovery.exclude: the pattern "no-such" matches nothing that was found (2 things)',
        'discovery.exclude: the pattern "pull_zone_id=7" matches nothing that was found (2 things)',
      ],
    ],
    [
      { pull_zones: { targets: 'all', include: ['s.*', 'no-such'] } },
      ['pull_zones.include: the pattern "no-such" matches nothing that was found (2 pull zones)'],
    ],
    [
      { pull_zones: { targets: 'all', exclude: ['test-.*'] } },
      ['pull_zones.exclude: the pattern "test-.*" matches nothing that was found (2 pull zones)'],
    ],
    [
      { pull_zones: { targets: 'all', exclude: '.*' } },
      ['nothing of kind pull_zone is polled: include and exclude leave out all that was found (2)'],
    ],
  ])('%j', async (document, warnings) => {
    const whole = await startWhole({
      document: { pull_zones: { targets: 'all' }, ...document } as never,
      routes: { '/pullzone': () => reply(500) },
    });
    await whole.exporter.start();
    await whole.pass(20_000);
    const said = () => whole.log.filter(({ level }) => level === 40).map(({ msg }) => msg);
    const isAbout = (msg: string) => warnings.includes(msg);
    expect(said().filter(isAbout)).toEqual([]);
    whole.routes['/pullzone'] = () => pullZones([1, 'shop'], [2, 'staging']);
    await whole.pass(1_300_000);
    expect(said().filter((msg) => msg.includes('that was found') || msg.includes('all that was'))).toEqual(
      warnings,
    );
  });
});

/** Videos with these titles. */
const videos = (...titles: readonly string[]) => ({
  items: titles.map((title) => ({ guid: title, title })),
  totalItems: titles.length,
});

it('a pattern for an account that a reload adds is not said to match nothing before that was listed', async () => {
  const { umbrella, ...acme } = both.credentials;
  const documentOf = (accounts: readonly string[], include: readonly string[]) => ({
    credentials: accounts.length > 1 ? { ...acme, umbrella } : acme,
    accounts,
    video_storage: { targets: 'all', include },
  });
  const whole = await startWhole({
    document: documentOf(['acme'], ['cats']),
    env: keys,
    routes: {
      '/videolibrary': ({ key }) =>
        key === keys.ACME
          ? listed([{ Id: 4, Name: 'films', ApiKey: 'opens-4' }])
          : listed([{ Id: 5, Name: 'clips', ApiKey: 'opens-5' }]),
      '/library/4/videos': () => videos('cats'),
      '/library/5/videos': () => videos('dogs'),
    },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  whole.document = documentOf(['acme', 'umbrella'], ['cats', 'dogs']);
  await whole.reload();
  await whole.pass(20_000);
  await whole.sweep();
  expect(whole.exporter.targets().map(({ target }) => target.ids['video_id'])).toEqual(['cats', 'dogs']);
  expect(whole.said('matches nothing')).toEqual([]);
});

it.each<[string, object]>([
  ['a section', { pull_zones: { targets: 'all', include: ['shop', 'umbrella-.*'] } }],
  ['discovery.exclude', { discovery: { exclude: ['umbrella-.*'] }, pull_zones: { targets: 'all' } }],
])(
  'a pattern of %s for an account that is not read, because it has the key of another one, is not said to match nothing',
  async (_, sections) => {
    const whole = await startWhole({
      document: { ...both, ...sections },
      env: { ACME: keys.ACME, UMBRELLA: keys.ACME },
      routes: { '/pullzone': () => pullZones([1, 'shop']) },
    });
    await whole.exporter.start();
    await whole.pass(20_000);
    await whole.sweep();
    expect(whole.said('matches nothing').map(({ msg }) => msg)).toEqual([]);
  },
);

it('a pattern for what another key lists is not judged by what the key before listed', async () => {
  const whole = await startWhole({
    document: { credentials: { account: { env: 'ACME' } }, pull_zones: { interval: '1h', targets: 'all' } },
    env: keys,
    routes: {
      '/pullzone': ({ key }) => (key === keys.ACME ? pullZones([1, 'old-one']) : pullZones([2, 'new-one'])),
    },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  whole.document = {
    credentials: { account: { env: 'UMBRELLA' } },
    pull_zones: { interval: '1h', targets: 'all', include: ['new-.*'] },
  };
  await whole.reload();
  await whole.pass(60_000);
  expect(whole.exporter.targets().map(({ target }) => target.name)).toEqual(['new-one']);
  expect(whole.log.filter(({ level }) => level === 40).map(({ msg }) => msg)).toEqual([]);
});

it('two accounts with one key do not keep the typo of a third one from being told', async () => {
  const whole = await startWhole({
    document: {
      credentials: { a: { env: 'A' }, b: { env: 'B' }, c: { env: 'C' } },
      accounts: ['a', 'b', 'c'],
      pull_zones: { targets: 'all', credential: 'c', exclude: ['typo-.*'] },
      dns_zones: { targets: 'all', credential: ['a', 'b'] },
    },
    env: { A: 'same', B: 'same', C: 'other' },
    routes: {
      '/pullzone': () => pullZones([7, 'site']),
      '/dnszone': () => listed([{ Id: 7, Domain: 'site' }]),
    },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  await whole.sweep();
  expect(whole.said('matches nothing')).toHaveLength(1);
});
