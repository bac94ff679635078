import { beforeAll, describe, expect, it } from 'vitest';
import type { Config, SectionConfig } from '../../src/config/config.ts';
import { Provider } from '../../src/discovery/provider.ts';
import { loadPatternEngine } from '../../src/discovery/selector.ts';
import { Pool } from '../../src/polling/pool.ts';
import { defineResource } from '../../src/resources/define.ts';
import { object } from '../../src/resources/fields.ts';
import { resources } from '../../src/resources/index.ts';
import type { Listing, Resource } from '../../src/resources/resource.ts';
import { Turns } from '../../src/turns.ts';
import {
  configOf,
  follower,
  resourceOf,
  sectionConfig,
  targetConfig,
  zonesFound,
  zonesKey,
} from './fixtures.ts';

const zone = (id: string, more = {}) => targetConfig({ shield_zone_id: id }, more);
const application = (id: string, more = {}) => targetConfig({ app_id: id }, more);
const allZones = configOf([sectionConfig('shield_zone', 'all'), sectionConfig('rate_limit', 'all')]);
const keys = (one: ReturnType<typeof follower>) => [...one.targets.keys()];

/** The resources, one of them modified. */
const withOther = (kind: string, other: object) =>
  resources.map((one): Resource => (one.kind === kind ? ({ ...one, ...other } as Resource) : one));

async function following(config: Config, options?: Parameters<typeof follower>[0]) {
  const one = follower(options);
  await one.apply(config);
  return one;
}

beforeAll(loadPatternEngine);

it('forgets the groups of the previous configuration, and their targets, once they are released', async () => {
  const turns = new Turns();
  const pool = new Pool({ start: () => undefined, update: () => undefined, stop: () => undefined }, turns);
  for (let group = 0; group < 50; group++) {
    const ids = Array.from({ length: 10 }, (_, i) => targetConfig({ group: String(group), id: String(i) }));
    const targets = ids.map((of) => ({ ...of, kind: 'k', settings: {}, baseUrl: '', pollKey: '' }));
    await pool.sync(
      String(group),
      targets.map((target) => ({ ...target, key: Object.values(target.ids).join('/') })),
    );
  }
  expect(pool.sizes).toEqual({ groups: 50, wanted: 500 });
  pool.retire();
  await pool.release();
  expect(pool.sizes).toEqual({ groups: 0, wanted: 0 });
});

it('takes a target over from a group that a reload retired, also if that one came first', async () => {
  const polled: string[] = [];
  const note = ({ credential }: { credential: string }) => void polled.push(credential);
  const pool = new Pool({ start: note, update: note, stop: () => undefined }, new Turns());
  const targets = (credential: string) => [
    { ...application('a', { credential }), key: 'a', kind: 'k', settings: {}, baseUrl: '', pollKey: '' },
  ];
  await pool.sync('first', targets('one'));
  await pool.sync('second', targets('two'));
  pool.retire();
  await pool.sync('second', targets('three'));
  expect(polled).toEqual(['one', 'three']);
  await pool.release();
  expect(polled).toEqual(['one', 'three']);
});

it('does not count what a listing finds twice while a reload replaces a section', () => {
  const { listing } = resourceOf('shield_zone');
  if (!listing) throw new Error('Shield Zones are listed');
  const of = { listing, credential: 'account', parent: undefined, account: 'account' };
  const provider = new Provider('zones', of);
  const subscribe = (kind: string, targets: number) =>
    provider.add({
      intervalMs: 1000,
      isRead: false,
      selection: { kind, targets, excluded: [] },
      found: () => Promise.resolve(),
    });
  subscribe('shield_zone', 1);
  subscribe('rate_limit', 1);
  subscribe('shield_zone', 2);
  expect(provider.selections.map(({ kind, targets }) => [kind, targets])).toEqual([
    ['shield_zone', 2],
    ['rate_limit', 1],
  ]);
});

describe('named targets', () => {
  it('are read one by one, each with its own credential', async () => {
    const video = targetConfig({ library_id: '1', video_id: 'v' }, { credential: 'lib' });
    const one = await following(
      configOf([
        sectionConfig('application', [application('a'), application('b')]),
        sectionConfig('video_storage', [video]),
      ]),
    );
    expect(one.polls().map(({ key, credential }) => [key, credential])).toEqual([
      ['application/a', 'account'],
      ['application/b', 'account'],
      ['video_storage/1/v', 'lib'],
    ]);
  });

  it('of a listing share one poll per credential, at the shortest of their intervals', async () => {
    const one = await following(
      configOf([
        sectionConfig('shield_zone', [
          zone('1'),
          zone('2', { intervalMs: 20_000 }),
          zone('3', { credential: 'other' }),
        ]),
      ]),
    );
    expect(one.polls().map(({ key, intervalMs }) => [key, intervalMs])).toEqual([
      [zonesKey(), 20_000],
      [zonesKey('other'), 60_000],
    ]);
    expect([...one.targets.values()].map(({ pollKey }) => pollKey)).toEqual([
      zonesKey(),
      zonesKey(),
      zonesKey('other'),
    ]);
  });

  it('keep their objects while they do not change', async () => {
    const section = (name?: string) =>
      configOf([sectionConfig('application', [application('a'), application('b', { name })])]);
    const one = await following(section());
    const before = new Map(one.targets);
    one.changes();
    await one.apply(section('new'));
    expect(one.targets.get('application/a')).toBe(before.get('application/a'));
    expect(one.changes()).toEqual(['~application/b']);
  });

  it('are other targets at another address: nothing of the previous one stays', async () => {
    const config = configOf([sectionConfig('application', [application('a')])]);
    const one = await following(config);
    one.changes();
    const moved = { ...config.apis.application, baseUrl: 'http://127.0.0.1:2' };
    await one.apply({ ...config, apis: { ...config.apis, application: moved } });
    expect(one.changes()).toEqual(['-application/a', '+application/a']);
  });

  it('of other shards are not polled, and neither is their listing', async () => {
    const config = configOf([sectionConfig('shield_zone', [zone('1'), zone('2')])]);
    expect((await following(config, { owns: () => false })).polls()).toEqual([]);
    expect((await following(config, { owns: (key) => key.endsWith('2') })).polls()).toHaveLength(1);
  });
});

describe('targets: all', () => {
  it('reads a listing and follows it', async () => {
    const one = await following(allZones);
    expect(one.polls().map(({ key }) => key)).toContain(zonesKey());
    expect(keys(one)).toEqual([]);
    await one.find(zonesKey(), zonesFound('7', '8'));
    expect(one.changes()).toEqual(['+shield_zone/7', '+shield_zone/8']);
    const rules = one.listings().filter(({ kind, parent }) => kind === 'rate_limit' && parent);
    for (const { key } of rules) await one.find(key, []);
    expect(one.changes()).toEqual(['+rate_limit/7', '+rate_limit/8']);
    await one.find(zonesKey(), zonesFound('8', '9'));
    expect(one.changes()).toEqual(['+shield_zone/9', '-shield_zone/7', '-rate_limit/7']);
    await one.find(zonesKey(), zonesFound('8', '9'));
    expect(one.changes()).toEqual([]);
  });

  it('reads a listing that only finds targets at its own interval, not as a poll of its kind', async () => {
    const one = await following(configOf([sectionConfig('rate_limit', 'all')]));
    await one.find(zonesKey(), zonesFound('7'));
    for (const { key, parent } of one.listings()) if (parent) await one.find(key, []);
    expect(one.polls().map(({ queue, intervalMs }) => [queue, intervalMs])).toEqual([
      ['shield_zone listing', 600_000],
      ['pull_zone listing', 600_000],
      ['rate_limit listing', 600_000],
      ['rate_limit', 60_000],
    ]);
  });

  it('reads a listing with a parent once for each item of the parent', async () => {
    const { listing: zones } = resourceOf('shield_zone');
    const endpoints = { ...zones, kind: 'api_guardian', nouns: 'endpoints', parent: zones } as Listing;
    const one = await following(configOf([sectionConfig('api_guardian', 'all')]), {
      all: withOther('api_guardian', { listing: endpoints }),
    });
    await one.find(zonesKey(), zonesFound('7', '8'));
    const children = one.listings().filter(({ parent }) => parent);
    expect(children.map(({ parent }) => parent?.ids)).toEqual([
      { shield_zone_id: '7' },
      { shield_zone_id: '8' },
    ]);
    const ids = { shield_zone_id: '7', endpoint_id: '1' };
    await one.find(children[0]?.key ?? '', [{ ids, name: 'POST /x' }]);
    expect([...one.targets.values()].map(({ key, name }) => [key, name])).toEqual([
      ['api_guardian/7/1', 'POST /x'],
    ]);
    await one.find(zonesKey(), zonesFound('8'));
    expect(keys(one)).toEqual([]);
    expect(one.listings().filter(({ parent }) => parent)).toHaveLength(1);
  });

  it('takes only items with the feature of the kind, also when it is switched on later', async () => {
    const one = await following(configOf([sectionConfig('rate_limit', 'all')]), {
      all: withOther('rate_limit', { feature: 'limits', partNames: undefined }),
    });
    const zones = (...with7: string[]) => [
      { ids: { shield_zone_id: '7' }, features: with7 },
      { ids: { shield_zone_id: '8' }, features: ['limits'] },
      { ids: { shield_zone_id: '9' } },
    ];
    await one.find(zonesKey(), zones());
    expect(one.changes()).toEqual(['+rate_limit/8']);
    await one.find(zonesKey(), zones('limits'));
    expect(one.changes()).toEqual(['+rate_limit/7']);
  });

  it('does not mix the listings of two addresses', async () => {
    const one = await following(allZones);
    await one.find(zonesKey(), zonesFound('7'));
    const shield = { ...allZones.apis.shield, baseUrl: 'http://127.0.0.1:2' };
    await one.apply({ ...allZones, apis: { ...allZones.apis, shield } });
    expect(keys(one)).toEqual([]);
    const zones = one.listings().filter(({ kind }) => kind === 'shield_zone');
    expect(zones.map(({ key }) => key)).toEqual([zonesKey('account', 'http://127.0.0.1:2')]);
  });

  it('leaves out the targets of other shards, but reads the listing', async () => {
    const one = await following(configOf([sectionConfig('shield_zone', 'all')]), {
      owns: (key) => key.endsWith('7'),
    });
    await one.find(zonesKey(), zonesFound('7', '8'));
    expect(keys(one)).toEqual(['shield_zone/7']);
  });

  it('names a zone after its pull zone', async () => {
    const one = await following(configOf([sectionConfig('shield_zone', 'all')]));
    await one.find(zonesKey(), [{ ids: { shield_zone_id: '7' }, namedBy: '70' }]);
    expect(one.targets.get('shield_zone/7')?.name).toBeUndefined();
    one.changes();
    const names = [{ ids: { pull_zone_id: '70' }, name: 'www' }];
    await one.find(`pull_zone pull zones#account@${allZones.apis.core.baseUrl}`, names);
    expect(one.targets.get('shield_zone/7')?.name).toBe('www');
    expect(one.changes()).toEqual(['~shield_zone/7']);
  });

  const namesKey = `pull_zone pull zones#account@${allZones.apis.core.baseUrl}`;
  const named = [{ ids: { shield_zone_id: '7' }, namedBy: '70' }, ...zonesFound('8')];
  const pullZones = [{ ids: { pull_zone_id: '70' }, name: 'www' }];

  it('names a zone after its pull zone if both were listed before it was followed', async () => {
    const all = sectionConfig('pull_zone', 'all');
    const one = await following(configOf([all, sectionConfig('shield_zone', [zone('7')])]));
    await one.find(zonesKey(), named);
    await one.find(namesKey, pullZones);
    await one.apply(configOf([all, sectionConfig('shield_zone', 'all')]));
    expect(one.targets.get('shield_zone/7')?.name).toBe('www');
  });

  it('removes zones that are no longer named, while others are still named after pull zones', async () => {
    const one = await following(allZones);
    await one.find(zonesKey(), named);
    await one.find(namesKey, pullZones);
    await one.apply(
      configOf([sectionConfig('shield_zone', [zone('7')]), sectionConfig('rate_limit', 'all')]),
    );
    expect(keys(one)).toEqual(['shield_zone/7']);
  });

  it('gives a zone the names of its rate limits', async () => {
    const config = configOf([sectionConfig('rate_limit', 'all')]);
    const one = await following(config);
    await one.find(zonesKey(), zonesFound('7'));
    const rules = [{ ids: { shield_zone_id: '7', rate_limit_id: '1' }, name: 'login' }];
    await one.find(`rate_limit rate limits#account@${config.apis.shield.baseUrl}#7`, rules);
    expect(one.targets.get('rate_limit/7')?.parts).toBe(rules);
  });

  it('names a zone after its listing, also if its rate limits were listed when it was named', async () => {
    const zones = sectionConfig('shield_zone', 'all');
    const config = configOf([zones, sectionConfig('rate_limit', [zone('7', { name: 'shop' })])]);
    const one = await following(config);
    await one.find(zonesKey(), [{ ids: { shield_zone_id: '7' }, name: 'www' }]);
    const rules = [{ ids: { shield_zone_id: '7', rate_limit_id: '1' }, name: 'login' }];
    await one.find(`rate_limit rate limits#account@${config.apis.shield.baseUrl}#7`, rules);
    expect(one.targets.get('rate_limit/7')?.name).toBe('shop');
    await one.apply(configOf([zones, sectionConfig('rate_limit', 'all')]));
    expect(one.targets.get('rate_limit/7')).toMatchObject({ name: 'www', parts: rules });
    await one.apply(config);
    expect(one.targets.get('rate_limit/7')).toMatchObject({ name: 'shop', parts: rules });
  });

  it('uses the key from the listing, unless the section names a credential', async () => {
    const librariesKey = `video_library video libraries#account@${allZones.apis.core.baseUrl}`;
    const credentialsOf = async (more: Partial<SectionConfig>) => {
      const section = { listingCredential: 'account', ...more };
      const one = await following(configOf([sectionConfig('video_storage', 'all', section)]));
      await one.find(librariesKey, [{ ids: { library_id: '4711' }, name: 'films', keyName: 'library/4711' }]);
      return one.polls().map(({ queue, credential }) => [queue, credential]);
    };
    expect(await credentialsOf({})).toEqual([
      ['video_library listing', 'account'],
      ['video_storage listing', 'library/4711'],
    ]);
    expect(await credentialsOf({ credential: 'mine', isCredentialNamed: true })).toEqual([
      ['video_library listing', 'account'],
      ['video_storage listing', 'mine'],
    ]);
  });

  it('selects by name and id, and reads only the selected parents', async () => {
    const zones = [
      { ids: { shield_zone_id: '7' }, name: 'prod-www' },
      { ids: { shield_zone_id: '8' }, name: 'prod-www-preview' },
      { ids: { shield_zone_id: '9' }, name: 'staging' },
      { ids: { shield_zone_id: '10' }, name: 'my-prod-www' },
    ];
    const selection = { include: ['prod-.*', '9'], exclude: ['.*-preview'] };
    const one = await following(configOf([sectionConfig('shield_zone', 'all', { selection })]));
    await one.find(zonesKey(), zones);
    expect(keys(one)).toEqual(['shield_zone/7', 'shield_zone/9']);
    const parents = { include: ['prod-www'], exclude: [] };
    const guardian = await following(configOf([sectionConfig('api_guardian', 'all', { parents })]));
    await guardian.find(zonesKey(), zones);
    expect(guardian.listings().filter(({ kind }) => kind === 'api_guardian')).toHaveLength(1);
  });

  it('lets a section override settings of one target of a listing', async () => {
    const overrides = new Map([['7', { name: 'shop', intervalMs: 5000, staleAfterMs: 20_000 }]]);
    const one = await following(configOf([sectionConfig('shield_zone', 'all', { overrides })]));
    await one.find(zonesKey(), zonesFound('7', '8'));
    const told = [...one.targets.values()].map(({ name, intervalMs, staleAfterMs }) => [
      name,
      intervalMs,
      staleAfterMs,
    ]);
    expect(told).toEqual([
      ['shop', 5000, 20_000],
      [undefined, 60_000, 180_000],
    ]);
  });

  it('is one target per credential for a kind about the whole account', async () => {
    const account = defineResource({
      kind: 'bill',
      product: 'Account',
      api: 'core',
      reference: '-',
      noun: 'bill',
      section: 'bill',
      ids: [{ label: 'account', setting: 'account', form: 'opaque' }],
      defaultIntervalSeconds: 60,
      ofAccount: true,
      path: '/bill',
      answer: object({}),
    });
    const one = await following(configOf([sectionConfig('bill', 'all')]), { all: [account] });
    expect([...one.targets.values()].map(({ ids, credential }) => [ids, credential])).toEqual([
      [{ account: 'account' }, 'account'],
    ]);
  });
});

describe('a target in two listings', () => {
  it('exists once, and stays as long as one of them has it', async () => {
    const config = (...credentials: string[]) =>
      configOf(credentials.map((credential) => sectionConfig('shield_zone', 'all', { credential })));
    const one = await following(config('account', 'other'));
    await one.find(zonesKey(), zonesFound('7'));
    await one.find(zonesKey('other'), zonesFound('7'));
    const credentials = () => [...one.targets.values()].map(({ key, credential }) => [key, credential]);
    expect(credentials()).toEqual([['shield_zone/7', 'account']]);
    await one.find(zonesKey(), []);
    expect(credentials()).toEqual([['shield_zone/7', 'other']]);
    await one.find(zonesKey('other'), []);
    expect(credentials()).toEqual([]);
  });
});

describe('another configuration', () => {
  it('keeps a target that was named before and is now found by a listing', async () => {
    const one = await following(configOf([sectionConfig('shield_zone', [zone('7'), zone('8')])]));
    one.changes();
    await one.apply(configOf([sectionConfig('shield_zone', 'all')]));
    // The listing has not been read yet.
    expect(keys(one)).toEqual(['shield_zone/7', 'shield_zone/8']);
    await one.find(zonesKey(), zonesFound('7', '9'));
    expect(one.changes().filter((change) => !change.startsWith('~'))).toEqual([
      '+shield_zone/9',
      '-shield_zone/8',
    ]);
  });
});
