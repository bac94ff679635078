/** What is polled: a configuration and what the listings had go in, targets and listings come out. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { SectionConfig } from '../../src/config/config.ts';
import { loadPatternEngine } from '../../src/config/selector.ts';
import type { SnapshotEntry } from '../../src/polling/listed-things.ts';
import { type Plan, planning, wantedBy } from '../../src/polling/plan.ts';
import { queueOf } from '../../src/polling/spec.ts';
import { defineListedResource, defineListing, defineResource } from '../../src/resources/define.ts';
import { id, object } from '../../src/resources/fields.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { configOf, planOf, polledIn, sectionConfig, targetConfig, zonesFound, zonesKey } from './fixtures.ts';

beforeAll(loadPatternEngine);

const host = 'http://127.0.0.1:1';
const pullZonesKey = `pull_zone pull zones#account@${host}`;
const librariesKey = `video_library video libraries#account@${host}`;
const limitsKey = (zone: string, credential = 'account') =>
  `rate_limit_zone rate limits#${credential}@${host}#${zone}`;
const endpointsKey = (zone: string) => `api_guardian_zone API Guardian endpoints#account@${host}#${zone}`;
const videosKey = (library: string, credential = `library/${library}`) =>
  `video_storage videos#${credential}@${host}#${library}`;

const zone = (id: string, more = {}) => targetConfig({ shield_zone_id: id }, more);
const application = (id: string, more = {}) => targetConfig({ app_id: id }, more);
const all = (kind: string, more: Partial<SectionConfig> = {}) => sectionConfig(kind, 'all', more);
const pullZone = (id: string, name: string): SnapshotEntry => ({ ids: { pull_zone_id: id }, name });
const endpoint = (zoneId: string, id: string): SnapshotEntry => ({
  ids: { shield_zone_id: zoneId, endpoint_id: id },
});
const video = (library: string, id: string): SnapshotEntry => ({
  ids: { library_id: library, video_id: id },
});
const library = (id: string, more: Partial<SnapshotEntry> = {}): SnapshotEntry => ({
  ids: { library_id: id },
  ...more,
});

const keysOf = ({ targets }: Plan) => [...targets.keys()];
const listingsOf = ({ listings }: Plan) => [...listings.keys()];
const namesOf = ({ targets }: Plan) => Array.from(targets.values(), ({ key, name }) => [key, name]);
const credentialsOf = ({ targets }: Plan) =>
  Array.from(targets.values(), ({ key, credential }) => [key, credential]);

describe('targets that are named', () => {
  it('are polled one by one, each with its own credential', () => {
    const plan = planOf(
      configOf([
        sectionConfig('application', [application('a'), application('b')]),
        sectionConfig('video_storage', [
          targetConfig({ library_id: '1', video_id: 'v' }, { credential: 'lib' }),
        ]),
      ]),
    );
    expect(polledIn(plan).map(({ key, credential }) => [key, credential])).toEqual([
      ['application/a', 'account'],
      ['application/b', 'account'],
      ['video_storage/1/v', 'lib'],
    ]);
  });

  it('whose values come with a listing share one poll for each credential, at the shortest of their intervals', () => {
    const zones = [zone('1'), zone('2', { intervalMs: 20_000 }), zone('3', { credential: 'other' })];
    const plan = planOf(configOf([sectionConfig('shield_zone', zones)]));
    expect(
      Array.from(plan.listings.values(), ({ key, intervalMs, isRead }) => [key, intervalMs, isRead]),
    ).toEqual([
      [zonesKey(), 20_000, true],
      [zonesKey('other'), 60_000, true],
    ]);
    expect(Array.from(plan.targets.values(), ({ fedBy }) => fedBy)).toEqual([
      zonesKey(),
      zonesKey(),
      zonesKey('other'),
    ]);
  });

  it('take no names from another listing, so that one is read only if a section of all targets needs it', () => {
    const named = sectionConfig('shield_zone', [zone('1')]);
    expect(listingsOf(planOf(configOf([named])))).toEqual([zonesKey()]);
    for (const sections of [
      [named, all('shield_zone')],
      [all('rate_limit'), named],
    ])
      expect(listingsOf(planOf(configOf(sections)))).toEqual([zonesKey(), pullZonesKey]);
  });

  it('are read by a listing below the parent that their ids name, where their listing has one', () => {
    const zones = defineListing({
      kind: 'zone',
      product: 'Account',
      path: '/zone',
      nouns: 'zones',
      ids: [{ label: 'zone_id', setting: 'zone_id', form: 'integer' }],
      element: object({ Id: id }),
    });
    const rules = defineListing({
      kind: 'rule',
      product: 'Account',
      path: '/zone/{id}/rules',
      nouns: 'rules',
      parent: zones,
      ids: [...zones.ids, { label: 'rule_id', setting: 'rule_id', form: 'integer' }],
      element: object({ Id: id }),
    });
    const rule = defineListedResource({ listing: rules, noun: 'rule' });
    const targets = [
      targetConfig({ zone_id: '7', rule_id: '1' }),
      targetConfig({ zone_id: '8', rule_id: '2' }),
    ];
    const { listings } = planOf(configOf([sectionConfig('rule', targets)]), { all: [rule] });
    expect(Array.from(listings.values(), ({ parent }) => parent?.ids)).toEqual([
      { zone_id: '7' },
      { zone_id: '8' },
    ]);
  });

  it('stay, whatever a complete listing has', () => {
    const config = configOf([sectionConfig('shield_zone', [zone('1')])]);
    expect(keysOf(planOf(config, { had: { [zonesKey()]: zonesFound('2') } }))).toEqual(['shield_zone/1']);
  });

  it('are one for each credential where a kind is about the whole account', () => {
    const bill = defineResource({
      kind: 'bill',
      product: 'Account',
      api: 'core',
      noun: 'bill',
      section: 'bill',
      ids: [{ label: 'account', setting: 'account', form: 'opaque' }],
      defaultIntervalSeconds: 60,
      ofAccount: true,
      path: '/bill',
      answer: object({}),
    });
    const config = configOf([all('bill', { accounts: ['account', 'other'] })]);
    expect(credentialsOf(planOf(config, { all: [bill] }))).toEqual([
      ['bill/account', 'account'],
      ['bill/other', 'other'],
    ]);
  });
});

describe('all targets', () => {
  it('are those that the last complete run of their listing had; several kinds share it', () => {
    const config = configOf([all('shield_zone'), all('rate_limit')]);
    expect(keysOf(planOf(config))).toEqual([]);
    const had = { [zonesKey()]: zonesFound('7', '8') };
    expect(keysOf(planOf(config, { had }))).toEqual([
      'shield_zone/7',
      'shield_zone/8',
      'rate_limit/7',
      'rate_limit/8',
    ]);
  });

  it('leave when a complete listing lacks them', () => {
    const config = configOf([all('shield_zone')]);
    const previous = planOf(config, { had: { [zonesKey()]: zonesFound('7', '8') } });
    const after = planOf(config, { had: { [zonesKey()]: zonesFound('8', '9') }, previous });
    expect(keysOf(after)).toEqual(['shield_zone/8', 'shield_zone/9']);
    expect(keysOf(planOf(config, { had: { [zonesKey()]: [] }, previous: after }))).toEqual([]);
  });

  it('are read by their listing if it has their values, at their interval, as polls of their kind', () => {
    const plan = planOf(configOf([all('shield_zone')]), { had: { [zonesKey()]: zonesFound('7') } });
    expect(plan.targets.get('shield_zone/7')?.fedBy).toBe(zonesKey());
    expect(plan.listings.get(zonesKey())).toMatchObject({
      intervalMs: 60_000,
      isRead: true,
    });
  });

  it('are otherwise only found by it, at the interval of discovery', () => {
    const plan = planOf(configOf([all('rate_limit')]), { had: { [zonesKey()]: zonesFound('7') } });
    expect(polledIn(plan).map((spec) => [queueOf(spec), spec.intervalMs])).toEqual([
      ['shield_zone listing', 600_000],
      ['pull_zone listing', 600_000],
      ['rate_limit_zone listing', 600_000],
      ['rate_limit', 60_000],
    ]);
  });

  it('below a parent are listed for each thing that the listing of the parent has', () => {
    const config = configOf([all('api_guardian')]);
    expect(listingsOf(planOf(config))).toEqual([zonesKey(), pullZonesKey]);
    const had = {
      [zonesKey()]: zonesFound('7', '8'),
      [endpointsKey('7')]: [endpoint('7', '1'), endpoint('7', '2')],
      [endpointsKey('8')]: [endpoint('8', '3')],
    };
    const plan = planOf(config, { had });
    expect(listingsOf(plan)).toEqual([zonesKey(), pullZonesKey, endpointsKey('7'), endpointsKey('8')]);
    expect(plan.listings.get(endpointsKey('8'))?.parent?.ids).toEqual({ shield_zone_id: '8' });
    expect(keysOf(plan)).toEqual(['api_guardian/7/1', 'api_guardian/7/2', 'api_guardian/8/3']);
    // They leave with their parent, and so does its listing.
    const after = planOf(config, { had: { ...had, [zonesKey()]: zonesFound('8') }, previous: plan });
    expect([listingsOf(after), keysOf(after)]).toEqual([
      [zonesKey(), pullZonesKey, endpointsKey('8')],
      ['api_guardian/8/3'],
    ]);
  });

  it('have the feature of their kind, and come when it is switched on later', () => {
    const config = configOf([all('pull_zone_optimizer')]);
    const listed = (...features: readonly string[]) => ({
      [pullZonesKey]: [{ ...pullZone('7', 'a'), features }, pullZone('8', 'b')],
    });
    expect(keysOf(planOf(config, { had: listed('EnableSafeHop') }))).toEqual([]);
    expect(keysOf(planOf(config, { had: listed('OptimizerEnabled') }))).toEqual(['pull_zone_optimizer/7']);
  });

  it('are counted, with what is excluded', () => {
    const selection = { include: [], exclude: ['9'] };
    const plan = planOf(configOf([all('shield_zone', { selection })]), {
      had: { [zonesKey()]: zonesFound('7', '9', '19') },
    });
    expect(keysOf(plan)).toEqual(['shield_zone/7', 'shield_zone/19']);
    expect(plan.selections.get(zonesKey())).toEqual([
      { kind: 'shield_zone', targets: 2, excluded: zonesFound('9') },
    ]);
  });

  it('are selected by name or id, and their listings by those of the parent', () => {
    const named = (id: string, name: string): SnapshotEntry => ({ ids: { shield_zone_id: id }, name });
    const had = {
      [zonesKey()]: [
        named('7', 'prod-www'),
        named('8', 'prod-www-preview'),
        named('9', 'staging'),
        named('10', 'my-prod-www'),
      ],
    };
    const selection = { include: ['prod-.*', '9'], exclude: ['.*-preview'] };
    expect(keysOf(planOf(configOf([all('shield_zone', { selection })]), { had }))).toEqual([
      'shield_zone/7',
      'shield_zone/9',
    ]);
    const parents = { include: ['prod-www'], exclude: [] };
    expect(listingsOf(planOf(configOf([all('api_guardian', { parents })]), { had })).slice(2)).toEqual([
      endpointsKey('7'),
    ]);
  });

  it('have what the section says, unless it says otherwise for one of them', () => {
    const overrides = new Map([['7', { name: 'shop', intervalMs: 5000, staleAfterMs: 20_000 }]]);
    const { targets } = planOf(configOf([all('shield_zone', { overrides })]), {
      had: { [zonesKey()]: [{ ids: { shield_zone_id: '7' }, name: 'www' }, ...zonesFound('8')] },
    });
    expect(targets.get('shield_zone/7')).toMatchObject({
      name: 'shop',
      listedName: 'www',
      intervalMs: 5000,
      staleAfterMs: 20_000,
    });
    expect(targets.get('shield_zone/8')).toMatchObject({ intervalMs: 60_000, staleAfterMs: 180_000 });
  });
});

describe('a target that two accounts have', () => {
  const config = configOf([all('shield_zone', { accounts: ['account', 'other'] })]);
  const onceEach = { [zonesKey()]: zonesFound('7'), [zonesKey('other')]: zonesFound('7', '8') };

  it('exists once, as that of the first of them, while one of them has it', () => {
    const plan = planOf(config, { had: onceEach });
    expect(credentialsOf(plan)).toEqual([
      ['shield_zone/7', 'account'],
      ['shield_zone/8', 'other'],
    ]);
    expect(plan.shared).toEqual([{ account: 'account', other: 'other', keys: ['shield_zone/7'] }]);
    const turned = configOf([all('shield_zone', { accounts: ['other', 'account'] })]);
    expect(credentialsOf(planOf(turned, { had: onceEach }))).toEqual([
      ['shield_zone/7', 'other'],
      ['shield_zone/8', 'other'],
    ]);
    const second = { ...onceEach, [zonesKey()]: [] };
    expect(planOf(config, { had: second }).shared).toEqual([]);
    expect(keysOf(planOf(config, { had: second }))).toEqual(['shield_zone/7', 'shield_zone/8']);
    expect(keysOf(planOf(config, { had: { ...second, [zonesKey('other')]: [] } }))).toEqual([]);
  });

  it('stays where it is until the complete listing of that account lacks it', () => {
    const previous = planOf(config, { had: { [zonesKey()]: [], [zonesKey('other')]: zonesFound('7', '8') } });
    const both = planOf(config, { had: onceEach, previous });
    expect(credentialsOf(both)).toEqual([
      ['shield_zone/7', 'other'],
      ['shield_zone/8', 'other'],
    ]);
    expect(both.shared).toEqual([{ account: 'other', other: 'account', keys: ['shield_zone/7'] }]);
    const left = { ...onceEach, [zonesKey('other')]: zonesFound('8') };
    expect(credentialsOf(planOf(config, { had: left, previous: both }))).toEqual([
      ['shield_zone/7', 'account'],
      ['shield_zone/8', 'other'],
    ]);
  });

  it('is listed for the first account first', () => {
    const { listings } = planOf(config);
    expect(listings.get(zonesKey('other'))?.afterKey).toBe(zonesKey());
    expect(listings.get(zonesKey())?.afterKey).toBeUndefined();
  });
});

describe('names', () => {
  const config = configOf([all('shield_zone')]);
  const zones = [{ ids: { shield_zone_id: '7' }, namedBy: '70' }, ...zonesFound('8')];

  it('of another listing are looked up in what that one had', () => {
    const had = { [zonesKey()]: zones, [pullZonesKey]: [pullZone('70', 'www'), pullZone('80', 'other')] };
    expect(namesOf(planOf(config, { had }))).toEqual([
      ['shield_zone/7', 'www'],
      ['shield_zone/8', undefined],
    ]);
    const renamed = { ...had, [pullZonesKey]: [pullZone('70', 'shop')] };
    expect(namesOf(planOf(config, { had: renamed }))[0]).toEqual(['shield_zone/7', 'shop']);
  });

  it('of another listing are what a section selects by, also for parents', () => {
    const had = { [zonesKey()]: zones, [pullZonesKey]: [pullZone('70', 'www')] };
    const only = { include: ['www'], exclude: [] };
    expect(keysOf(planOf(configOf([all('shield_zone', { selection: only })]), { had }))).toEqual([
      'shield_zone/7',
    ]);
    const guardian = planOf(configOf([all('api_guardian', { parents: only })]), { had });
    expect(listingsOf(guardian)).toContain(endpointsKey('7'));
    expect(listingsOf(guardian)).not.toContain(endpointsKey('8'));
    expect(guardian.listings.get(endpointsKey('7'))?.parent?.name).toBe('www');
  });

  it('of parts are those that the listing of the parts has, also for targets that are named', () => {
    const rules = [{ ids: { shield_zone_id: '7', rate_limit_id: '1' }, name: 'login' }];
    for (const section of [all('rate_limit'), sectionConfig('rate_limit', [zone('7')])]) {
      const had = { [zonesKey()]: zonesFound('7'), [limitsKey('7')]: rules };
      expect(planOf(configOf([section]), { had }).targets.get('rate_limit/7')?.parts).toBe(rules);
    }
  });

  it('that the configuration gives come before those of the listing, and leave with it', () => {
    const rules = [{ ids: { shield_zone_id: '7', rate_limit_id: '1' }, name: 'login' }];
    const had = {
      [zonesKey()]: [{ ids: { shield_zone_id: '7' }, name: 'www' }],
      [limitsKey('7')]: rules,
    };
    const named = configOf([all('shield_zone'), sectionConfig('rate_limit', [zone('7', { name: 'shop' })])]);
    const previous = planOf(named, { had });
    expect(previous.targets.get('rate_limit/7')).toMatchObject({ name: 'shop', parts: rules });
    const found = planOf(configOf([all('shield_zone'), all('rate_limit')]), { had, previous });
    expect(found.targets.get('rate_limit/7')).toMatchObject({ name: 'www', parts: rules });
  });
});

describe('a key that comes with a listing', () => {
  const had = {
    [librariesKey]: [library('4711', { name: 'films' })],
    [videosKey('4711')]: [video('4711', 'v')],
    [videosKey('4711', 'mine')]: [video('4711', 'v')],
    [videosKey('4711', 'account')]: [video('4711', 'v')],
  };

  it('opens what is below, unless the section names a credential', () => {
    expect(credentialsOf(planOf(configOf([all('video_storage')]), { had }))).toEqual([
      ['video_storage/4711/v', 'library/4711'],
    ]);
    const more = { libraryCredential: 'mine' };
    const own = planOf(configOf([all('video_storage', more)]), { had });
    expect(credentialsOf(own)).toEqual([['video_storage/4711/v', 'mine']]);
    expect(Array.from(own.listings.values(), ({ credential, account }) => [credential, account])).toEqual([
      ['account', 'account'],
      ['mine', 'account'],
    ]);
  });

  it('is another one for what a read-only key does not open, which nobody has', () => {
    const readOnly = { ...had, [librariesKey]: [library('4711', { hasReadOnlyKey: true })] };
    const plan = planOf(configOf([all('video_storage'), all('video_encoding')]), { had: readOnly });
    expect(credentialsOf(plan)).toEqual([
      ['video_storage/4711/v', 'library/4711#full'],
      ['video_encoding/4711', 'library/4711'],
    ]);
  });

  it('is not used where the API is that of the listing', () => {
    const plan = planOf(configOf([all('video_library')]), { had });
    expect(credentialsOf(plan)).toEqual([['video_library/4711', 'account']]);
  });
});

describe('what is not known yet', () => {
  const named = configOf([sectionConfig('shield_zone', [zone('7'), zone('8', { name: 'shop' })])]);

  it('changes nothing: targets stay until their listing was complete once, then what it lacks leaves', () => {
    const previous = planOf(named);
    const config = configOf([all('shield_zone')]);
    const before = planOf(config, { previous });
    expect(keysOf(before)).toEqual(['shield_zone/7', 'shield_zone/8']);
    const after = planOf(config, { had: { [zonesKey()]: zonesFound('7', '9') }, previous: before });
    expect(keysOf(after)).toEqual(['shield_zone/7', 'shield_zone/9']);
  });

  it('has what the new section says: interval, settings, names and selection', () => {
    const first = configOf([all('rate_limit')]);
    const named = (id: string, name: string): SnapshotEntry => ({ ids: { shield_zone_id: id }, name });
    const previous = planOf(first, {
      had: { [zonesKey()]: [named('7', 'www'), named('8', 'blog'), named('9', 'test')] },
    });
    const changed = all('rate_limit', {
      intervalMs: 5000,
      staleAfterMs: 20_000,
      settings: { some: 'setting' },
      overrides: new Map([['7', { name: 'shop' }]]),
      selection: { include: [], exclude: ['test'] },
    });
    const { targets } = planOf(configOf([changed]), { previous });
    const what = {
      intervalMs: 5000,
      staleAfterMs: 20_000,
      settings: { some: 'setting' },
    };
    expect([...targets.values()]).toMatchObject([
      { key: 'rate_limit/7', name: 'shop', ...what },
      { key: 'rate_limit/8', name: 'blog', ...what },
    ]);
  });

  it('keeps nothing of an account that left', () => {
    const previous = planOf(configOf([all('shield_zone')]), { had: { [zonesKey()]: zonesFound('7') } });
    const other = configOf([all('shield_zone', { accounts: ['other'] })]);
    expect(keysOf(planOf(other, { previous }))).toEqual([]);
  });

  it('keeps a target whose name is not known, whatever the section selects by', () => {
    const selection = { include: ['www'], exclude: [] };
    const plan = planOf(configOf([all('shield_zone', { selection })]), { previous: planOf(named) });
    expect(namesOf(plan)).toEqual([
      ['shield_zone/7', undefined],
      ['shield_zone/8', 'shop'],
    ]);
  });

  it('of one child listing keeps its own targets alone', () => {
    const config = configOf([all('api_guardian')]);
    const had = {
      [zonesKey()]: zonesFound('7', '8'),
      [endpointsKey('7')]: [endpoint('7', '1')],
      [endpointsKey('8')]: [endpoint('8', '2')],
    };
    const previous = planOf(config, { had });
    const one = { [zonesKey()]: zonesFound('7', '8'), [endpointsKey('8')]: [endpoint('8', '3')] };
    expect(keysOf(planOf(config, { had: one, previous }))).toEqual(['api_guardian/7/1', 'api_guardian/8/3']);
  });

  it('keeps nothing of another address', () => {
    const config = configOf([all('shield_zone'), sectionConfig('rate_limit', [zone('7')])]);
    const had = { [zonesKey()]: zonesFound('7') };
    const previous = planOf(config, { had });
    const shield = { ...config.apis.shield, baseUrl: 'http://127.0.0.1:2' };
    const moved = planOf({ ...config, apis: { ...config.apis, shield } }, { had, previous });
    expect([keysOf(moved), listingsOf(moved)[0]]).toEqual([
      ['rate_limit/7'],
      zonesKey('account', 'http://127.0.0.1:2'),
    ]);
    expect(moved.targets.get('rate_limit/7')?.baseUrl).toBe('http://127.0.0.1:2');
  });

  it('keeps nothing of a kind that is off', () => {
    expect(keysOf(planOf(configOf([all('rate_limit')]), { previous: planOf(named) }))).toEqual([]);
  });
});

describe('a key that changes', () => {
  const config = configOf([all('shield_zone'), sectionConfig('application', [application('a')])]);
  const snapshots = { [zonesKey()]: { entries: zonesFound('7'), keyId: 'k' } };
  const idsOf = ({ targets }: Plan) => Array.from(targets.values(), ({ key, keyId }) => [key, keyId]);

  it('keeps what its listings had, with the key that they were read with, until they are read again', () => {
    const keyIdOf = () => 'new';
    const plan = planOf(config, { snapshots, keyIdOf });
    // What is named is read with the new key at once.
    expect(idsOf(plan)).toEqual([
      ['shield_zone/7', 'k'],
      ['application/a', 'new'],
    ]);
    // The listing itself is read again.
    expect(plan.listings.get(zonesKey())?.keyId).toBe('new');
    const reread = { [zonesKey()]: { entries: zonesFound('7', '8'), keyId: 'new' } };
    expect(idsOf(planOf(config, { snapshots: reread, keyIdOf })).slice(0, 2)).toEqual([
      ['shield_zone/7', 'new'],
      ['shield_zone/8', 'new'],
    ]);
  });

  it('of a target whose listing was never complete stays that of before', () => {
    const previous = planOf(configOf([sectionConfig('shield_zone', [zone('7')])]));
    const plan = planOf(configOf([all('shield_zone')]), { previous, keyIdOf: () => 'new' });
    expect(idsOf(plan)).toEqual([['shield_zone/7', 'k']]);
  });

  it('that was found is that of each library', () => {
    const had = {
      [librariesKey]: [library('1')],
      [videosKey('1')]: [video('1', 'a')],
    };
    const plan = planOf(configOf([all('video_storage')]), {
      had,
      snapshots: { [videosKey('1')]: { entries: [video('1', 'a')], keyId: 'old of library/1' } },
      keyIdOf: (credential) => `of ${credential}`,
    });
    expect(Array.from(plan.listings.values(), ({ keyId }) => keyId)).toEqual(['of account', 'of library/1']);
    expect(idsOf(plan)).toEqual([['video_storage/1/a', 'old of library/1']]);
  });
});

it('keeps the order of the configuration, and lists a parent before what is below it', () => {
  const config = configOf([
    all('api_guardian'),
    sectionConfig('application', [application('b'), application('a')]),
    all('shield_zone'),
  ]);
  const had = { [zonesKey()]: zonesFound('9', '7'), [endpointsKey('7')]: [endpoint('7', '1')] };
  const plan = planOf(config, { had });
  expect(keysOf(plan)).toEqual([
    'api_guardian/7/1',
    'application/b',
    'application/a',
    'shield_zone/9',
    'shield_zone/7',
  ]);
  const at = listingsOf(plan).indexOf(zonesKey());
  expect(at).toBeLessThan(listingsOf(plan).indexOf(endpointsKey('7')));
  // Wanted for its readings by one section, and to find parents by another: one poll, at the shorter interval.
  expect(plan.listings.get(zonesKey())).toMatchObject({ isRead: true, intervalMs: 60_000 });
});

it('a plan keeps what is below a thing that was not listed yet, also where its listing becomes complete meanwhile', () => {
  const config = configOf([sectionConfig('api_guardian', 'all')]);
  const first = planOf(config, { had: { [zonesKey()]: zonesFound('7', '8') } });
  const below = [...first.listings.keys()].filter((key) => key !== zonesKey());
  const endpoints = (key: string) => {
    const zone = key.at(-1) ?? '';
    return [{ ids: { shield_zone_id: zone, endpoint_id: `1${zone}` } }];
  };
  const had = Object.fromEntries(below.map((key) => [key, endpoints(key)]));
  const previous = planOf(config, { had: { [zonesKey()]: zonesFound('7', '8'), ...had } });
  expect(previous.targets.size).toBe(2);
  // The list changed while it was read: 8 may be missing from it.
  let zones = zonesFound('7');
  let isWhole = false;
  const steps = planning({
    ...wantedBy(config, resources),
    keyIdOf: () => 'k',
    isComplete: (key) => key !== zonesKey() || isWhole,
    snapshotOf: (key) => {
      const entries = key === zonesKey() ? zones : had[key];
      return entries && { entries, keyId: 'k' };
    },
    before: previous.targets,
  });
  let step = steps.next();
  // Its next run has both.
  zones = zonesFound('7', '8');
  isWhole = true;
  while (!step.done) step = steps.next();
  expect([...step.value.targets.keys()]).toEqual([...previous.targets.keys()]);
});
