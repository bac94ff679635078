import { beforeAll, describe, expect, it } from 'vitest';
import type { Config, SectionConfig } from '../../src/config/config.ts';
import { loadPatternEngine } from '../../src/discovery/selector.ts';
import type { Poll } from '../../src/polling/plan.ts';
import { resources } from '../../src/resources/index.ts';
import { defineResource, type Listed, type Listing, type Resource } from '../../src/resources/resource.ts';
import {
  configOf,
  planner,
  resourceOf,
  sectionConfig,
  targetConfig,
  zonesFound,
  zonesKey,
} from './fixtures.ts';

const zone = (id: string, more = {}) => targetConfig({ shield_zone_id: id }, more);
const application = (id: string, more = {}) => targetConfig({ app_id: id }, more);
const discovered = (...ids: readonly string[]) => new Map([[zonesKey(), zonesFound(...ids)]]);
/** The polls of these kinds: those that only bring names are left out. */
const keysOf = (polls: readonly Poll[], ...kinds: readonly string[]) =>
  polls.filter(({ queue }) => kinds.includes(queue)).map(({ key }) => key);
const allZones = configOf([sectionConfig('shield_zone', 'all'), sectionConfig('rate_limit', 'all')]);

beforeAll(loadPatternEngine);

describe('the plan of what to poll', () => {
  it('has one poll for each target that is read alone', () => {
    const video = targetConfig({ library_id: '1', video_id: 'v' }, { credential: 'lib' });
    const { targets, polls } = planner().plan(
      configOf([
        sectionConfig('application', [application('a'), application('b')]),
        sectionConfig('video_storage', [video]),
      ]),
    );
    expect([...targets.keys()]).toEqual(['application/a', 'application/b', 'video_storage/1/v']);
    expect(polls.map(({ key, credential }) => [key, credential])).toEqual([
      ['application/a', 'account'],
      ['application/b', 'account'],
      ['video_storage/1/v', 'lib'],
    ]);
  });

  it('has one listing poll a credential for all the zones, at the shortest of their intervals', () => {
    const { polls, targets } = planner().plan(
      configOf([
        sectionConfig('shield_zone', [
          zone('1'),
          zone('2', { intervalMs: 20_000 }),
          zone('3', { credential: 'other' }),
        ]),
      ]),
    );
    expect(polls.map(({ key, intervalMs }) => [key, intervalMs])).toEqual([
      [zonesKey(), 20_000],
      [zonesKey('other'), 60_000],
    ]);
    expect([...targets.values()].map(({ pollKey }) => pollKey)).toEqual([
      zonesKey(),
      zonesKey(),
      zonesKey('other'),
    ]);
  });

  it('polls a listing for `all` before anything of it is known', () => {
    const one = planner();
    expect(keysOf(one.plan(allZones).polls, 'shield_zone', 'rate_limit')).toEqual([zonesKey()]);
    const { targets, polls } = one.plan(allZones, discovered('7', '8'));
    expect([...targets.keys()]).toEqual(['shield_zone/7', 'shield_zone/8', 'rate_limit/7', 'rate_limit/8']);
    expect(keysOf(polls, 'shield_zone', 'rate_limit')).toEqual([zonesKey(), 'rate_limit/7', 'rate_limit/8']);
  });

  it('polls a listing of which only the targets are wanted at its own interval, as no poll of its kind', () => {
    const { targets, polls } = planner().plan(
      configOf([sectionConfig('rate_limit', 'all')]),
      discovered('7'),
    );
    expect([...targets.keys()]).toEqual(['rate_limit/7']);
    expect(polls.map(({ queue, intervalMs }) => [queue, intervalMs])).toEqual([
      ['shield_zone listing', 600_000],
      ['pull_zone listing', 600_000],
      ['rate_limit listing', 600_000],
      ['rate_limit', 60_000],
    ]);
  });

  it('polls two listings of one credential each as itself', () => {
    const applications: Listing = {
      kind: 'application',
      api: 'application',
      nouns: 'applications',
      parent: undefined,
      fields: [],
      discover: () => Promise.resolve([]),
    };
    const all = resources.map(
      (one): Resource => (one.kind === 'application' ? ({ ...one, listing: applications } as Resource) : one),
    );
    const config = configOf([sectionConfig('application', 'all'), sectionConfig('shield_zone', 'all')]);
    const { polls } = planner({ all }).plan(config);
    expect(polls.map((poll) => (poll.type === 'listing' ? poll.listing.nouns : ''))).toEqual([
      'applications',
      'Shield Zones',
      'pull zones',
    ]);
  });

  it('polls a listing with a parent once for each thing that the parent has found', () => {
    const { listing: zones } = resourceOf('shield_zone');
    const endpoints: Listing = {
      kind: 'api_guardian',
      api: 'shield',
      nouns: 'endpoints',
      parent: zones,
      fields: [],
      discover: () => Promise.resolve([]),
    };
    const all = resources.map(
      (one): Resource => (one.kind === 'api_guardian' ? ({ ...one, listing: endpoints } as Resource) : one),
    );
    const config = configOf([sectionConfig('api_guardian', 'all')]);
    const one = planner({ all });
    expect(keysOf(one.plan(config).polls, 'shield_zone listing', 'api_guardian listing')).toEqual([
      zonesKey(),
    ]);
    const { polls } = one.plan(config, discovered('7', '8'));
    const children = polls.filter(({ kind }) => kind === 'api_guardian');
    expect(children.map((poll) => poll.type === 'listing' && poll.parent?.ids)).toEqual([
      { shield_zone_id: '7' },
      { shield_zone_id: '8' },
    ]);
    const of7 = new Map<string, readonly Listed[]>(discovered('7', '8'));
    of7.set(children[0]?.key ?? '', [{ ids: { shield_zone_id: '7', endpoint_id: '1' }, name: 'POST /x' }]);
    expect([...one.plan(config, of7).targets.values()].map(({ key, name }) => [key, name])).toEqual([
      ['api_guardian/7/1', 'POST /x'],
    ]);
    expect([...one.plan(config, discovered('8')).targets.keys()]).toEqual([]);
  });

  it('has of a listing what has the feature that a kind is about, and keeps up when it is switched on', () => {
    const all = resources.map(
      (one): Resource => (one.kind === 'rate_limit' ? ({ ...one, feature: 'limits' } as Resource) : one),
    );
    const config = configOf([sectionConfig('shield_zone', 'all'), sectionConfig('rate_limit', 'all')]);
    const zones = (...with7: string[]) => [
      { ids: { shield_zone_id: '7' }, features: with7 },
      { ids: { shield_zone_id: '8' }, features: ['limits'] },
      { ids: { shield_zone_id: '9' } },
    ];
    const one = planner({ all });
    const first = new Map([[zonesKey(), zones()]]);
    const ofRateLimits = ({ targets }: { targets: ReadonlyMap<string, unknown> }) =>
      [...targets.keys()].filter((key) => key.startsWith('rate_limit'));
    expect(ofRateLimits(one.plan(config, first))).toEqual(['rate_limit/8']);
    one.plan(config, first);
    expect(one.changed).toEqual([]);
    expect(ofRateLimits(one.plan(config, new Map([[zonesKey(), zones('limits')]])))).toEqual([
      'rate_limit/8',
      'rate_limit/7',
    ]);
    expect(one.changed).toContain('rate_limit/7');
    expect(one.changed).not.toContain('rate_limit/8');
  });

  it('does not take what one address has listed for what another has', () => {
    const elsewhere: Config = {
      ...allZones,
      apis: { ...allZones.apis, shield: { ...allZones.apis.shield, baseUrl: 'http://127.0.0.1:2' } },
    };
    const { targets, polls } = planner().plan(elsewhere, discovered('7'));
    expect([...targets.keys()]).toEqual([]);
    expect(keysOf(polls, 'shield_zone', 'rate_limit')).toEqual([zonesKey('account', 'http://127.0.0.1:2')]);
  });

  it('changes nothing where nothing has changed, and only what a listing has changed', () => {
    const one = planner();
    const [seven, eight] = zonesFound('7', '8');
    const found = [seven, eight].flatMap((each) => each ?? []);
    one.plan(allZones, new Map([[zonesKey(), found]]));
    expect(one.changed).toHaveLength(4);
    one.plan(allZones, new Map([[zonesKey(), found]]));
    expect(one.changed).toEqual([]);
    one.plan(allZones, new Map([[zonesKey(), [...found, ...zonesFound('9')]]]));
    expect(one.changed).toEqual(['shield_zone/9', 'rate_limit/9']);
    one.plan(allZones, new Map([[zonesKey(), found.slice(1)]]));
    expect(one.changed).toEqual(['shield_zone/7', 'shield_zone/9', 'rate_limit/7', 'rate_limit/9']);
  });

  it('keeps the objects of unchanged targets, and makes new ones of what changed', () => {
    const one = planner();
    const before = one.plan(configOf([sectionConfig('application', [application('a'), application('b')])]));
    const after = one.plan(
      configOf([sectionConfig('application', [application('a'), application('b', { name: 'new' })])]),
    );
    expect(after.targets.get('application/a')).toBe(before.targets.get('application/a'));
    expect(after.targets.get('application/b')).not.toBe(before.targets.get('application/b'));
    expect(one.changed).toEqual(['application/b']);
  });

  it('has a target that two listings find once, and keeps it as long as one of them has it', () => {
    const other = { credential: 'other' };
    const config = (credentials: readonly string[]) =>
      configOf(credentials.map((credential) => sectionConfig('rate_limit', 'all', { credential })));
    const both = new Map([
      [zonesKey('account'), zonesFound('7')],
      [zonesKey('other'), zonesFound('7')],
    ]);
    const one = planner();
    const first = one.plan(config(['account', 'other']), both);
    expect([...first.targets.values()].map(({ key, credential }) => [key, credential])).toEqual([
      ['rate_limit/7', 'account'],
    ]);
    const second = one.plan(config(['other']), both);
    expect([...second.targets.values()].map(({ key, credential }) => [key, credential])).toEqual([
      ['rate_limit/7', other.credential],
    ]);
  });

  it('leaves out the targets of other shards, and polls the listing all the same', () => {
    const { targets, polls } = planner({ owns: (key) => key.endsWith('7') }).plan(
      allZones,
      discovered('7', '8'),
    );
    expect([...targets.keys()]).toEqual(['shield_zone/7', 'rate_limit/7']);
    expect(keysOf(polls, 'shield_zone', 'rate_limit')).toEqual([zonesKey(), 'rate_limit/7']);
  });

  it('does not poll a listing for named zones that all belong to other shards', () => {
    const config = configOf([sectionConfig('shield_zone', [zone('1'), zone('2')])]);
    expect(planner({ owns: () => false }).plan(config).polls).toEqual([]);
    expect(planner({ owns: (key) => key.endsWith('2') }).plan(config).polls).toHaveLength(1);
  });

  it('calls a zone after its pull zone, and waits with it for as long as the names are asked for', () => {
    const namesKey = `pull_zone pull zones#account@${allZones.apis.core.baseUrl}`;
    const zones = [{ ids: { shield_zone_id: '7' }, namedBy: '70' }];
    const names = [{ ids: { pull_zone_id: '70' }, name: 'www' }];
    const one = planner({ awaited: (key) => key === namesKey });
    expect([...one.plan(allZones, new Map([[zonesKey(), zones]])).targets.keys()]).toEqual([]);
    const two = planner();
    const found = new Map<string, readonly Listed[]>([[zonesKey(), zones]]);
    expect(two.plan(allZones, found).targets.get('shield_zone/7')?.name).toBeUndefined();
    found.set(namesKey, names);
    const { targets } = two.plan(allZones, found);
    expect([...targets.values()].map(({ key, name }) => [key, name])).toEqual([
      ['shield_zone/7', 'www'],
      ['rate_limit/7', 'www'],
    ]);
    expect(two.changed).toEqual(['shield_zone/7', 'rate_limit/7']);
    two.plan(allZones, found);
    expect(two.changed).toEqual([]);
  });

  it('gives a zone the names of its rate limits', () => {
    const config = configOf([sectionConfig('rate_limit', 'all')]);
    const rules = [{ ids: { shield_zone_id: '7', rate_limit_id: '1' }, name: 'login' }];
    const rulesKey = `rate_limit rate limits#account@${config.apis.shield.baseUrl}#7`;
    const { targets } = planner().plan(config, new Map([...discovered('7'), [rulesKey, rules]]));
    expect(targets.get('rate_limit/7')?.parts).toBe(rules);
  });

  it('reads what a listing gives a key for with that key, unless the section names a credential', () => {
    const config = (more: Partial<SectionConfig>) =>
      configOf([sectionConfig('video_storage', 'all', { listingCredential: 'account', ...more })]);
    const librariesKey = `video_library video libraries#account@${allZones.apis.core.baseUrl}`;
    const libraries = [{ ids: { library_id: '4711' }, name: 'films', keyName: 'library/4711' }];
    const credentialsOf = (more: Partial<SectionConfig>) =>
      planner()
        .plan(config(more), new Map([[librariesKey, libraries]]))
        .polls.map(({ queue, credential }) => [queue, credential]);
    expect(credentialsOf({})).toEqual([
      ['video_library listing', 'account'],
      ['video_storage listing', 'library/4711'],
    ]);
    expect(credentialsOf({ credential: 'mine', isCredentialNamed: true })).toEqual([
      ['video_library listing', 'account'],
      ['video_storage listing', 'mine'],
    ]);
  });

  it('selects by name and id, and asks only the parents that are selected', () => {
    const selection = { include: ['prod-.*', '9'], exclude: ['.*-preview'] };
    const config = configOf([sectionConfig('rate_limit', 'all', { selection })]);
    const zones = [
      { ids: { shield_zone_id: '7' }, name: 'prod-www' },
      { ids: { shield_zone_id: '8' }, name: 'prod-www-preview' },
      { ids: { shield_zone_id: '9' }, name: 'staging' },
      { ids: { shield_zone_id: '10' }, name: 'my-prod-www' },
    ];
    const { targets } = planner().plan(config, new Map([[zonesKey(), zones]]));
    expect([...targets.keys()]).toEqual(['rate_limit/7', 'rate_limit/9']);
    const guardian = configOf([
      sectionConfig('api_guardian', 'all', { parents: { include: ['prod-www'], exclude: [] } }),
    ]);
    const { polls } = planner().plan(guardian, new Map([[zonesKey(), zones]]));
    expect(polls.filter(({ kind }) => kind === 'api_guardian')).toHaveLength(1);
  });

  it('lets a section say otherwise of one target of a listing', () => {
    const overrides = new Map([['7', { name: 'shop', intervalMs: 5000, staleAfterMs: 20_000 }]]);
    const config = configOf([sectionConfig('rate_limit', 'all', { overrides })]);
    const { targets } = planner().plan(config, discovered('7', '8'));
    expect(
      [...targets.values()].map(({ name, intervalMs, staleAfterMs }) => [name, intervalMs, staleAfterMs]),
    ).toEqual([
      ['shop', 5000, 20_000],
      [undefined, 60_000, 180_000],
    ]);
  });

  it('has one target a credential for a kind of the account as a whole', () => {
    const account = defineResource({
      kind: 'bill',
      api: 'core',
      reference: '-',
      noun: 'bill',
      section: 'bill',
      ids: [{ label: 'account', setting: 'account', form: 'opaque' }],
      defaultIntervalSeconds: 60,
      fields: [],
      ofAccount: true,
      read: () => Promise.resolve({}),
      families: [],
    });
    const { targets, polls } = planner({ all: [account] }).plan(configOf([sectionConfig('bill', 'all')]));
    expect([...targets.values()].map(({ ids, credential }) => [ids, credential])).toEqual([
      [{ account: 'account' }, 'account'],
    ]);
    expect(polls.map(({ key }) => key)).toEqual(['bill/account']);
  });
});
