/** Several accounts in one exporter: each is read with its own key, and what becomes of one leaves the others as they are. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { resources } from '../../src/resources/kinds/index.ts';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';
import { few, single } from '../simulator/start.ts';
import { simulateAccount } from './account.ts';
import { type Request, type Route, reply, startWhole, type Whole } from './whole.ts';

const keys = { ACME: 'the-key-of-acme', UMBRELLA: 'the-key-of-umbrella' };
type Zones = Record<string, readonly number[]>;

const credentials = { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } };
const both = { credentials, accounts: ['acme', 'umbrella'] };

function listed(ids: readonly number[]) {
  return {
    Items: ids.map((Id) => ({ Id, Name: `zone ${Id}`, MonthlyBandwidthUsed: 10 * Id })),
    TotalItems: ids.length,
    HasMoreItems: false,
  };
}

/** For `discovery.except`: by day all kinds but these, at night none. */
const but = (...kinds: readonly string[]) =>
  runs(
    resources.filter(({ kind, isCostly }) => !isCostly && !kinds.includes(kind)).map(({ kind }) => kind),
    [],
  );

/** Two accounts with pull zones; `zones` and `answers` are what the API says to each key. */
async function start(document: object = { pull_zones: { targets: 'all' } }) {
  const zones: Zones = { [keys.ACME]: [1, 2], [keys.UMBRELLA]: [3] };
  const answers: Record<string, Route | undefined> = {};
  const answer: Route = (request: Request) =>
    answers[request.key ?? '']?.(request) ?? listed(zones[request.key ?? ''] ?? []);
  const whole = await startWhole({
    document: { ...both, ...document } as never,
    env: keys,
    routes: {
      '/pullzone': answer,
      '/billing': ({ key }: Request) => ({ Balance: key === keys.ACME ? 3 : 5000 }),
    },
  });
  await whole.exporter.start();
  await whole.pass(3000);
  const up = async () => Object.keys(await whole.series('bunnynet_pull_zone_up')).toSorted();
  const keysOf = (path: string) =>
    new Set(whole.requests.filter((request) => request.path === path).map(({ key }) => key));
  return { whole, zones, answers, up, keysOf };
}

const labels = (id: number, account: string) => `{pull_zone_id="${id}",account="${account}"}`;

describe('two accounts', () => {
  it('are each read with their own key, and every target says whose it is', async () => {
    const { whole, up, keysOf } = await start({
      discovery: { kinds: 'all', except: but('pull_zone', 'billing', 'dns_zone', 'application') },
    });
    expect(await up()).toEqual([labels(1, 'acme'), labels(2, 'acme'), labels(3, 'umbrella')]);
    expect(await whole.series('bunnynet_billing_balance_dollars')).toEqual({
      '{account="acme"}': 3,
      '{account="umbrella"}': 5000,
    });
    for (const path of ['/pullzone', '/billing', '/dnszone', '/mc/apps'])
      expect(keysOf(path), path).toEqual(new Set(Object.values(keys)));
  });

  it('are read as far as a section names them', async () => {
    const { up, keysOf } = await start({
      pull_zones: { targets: 'all', credential: 'umbrella' },
      billing: { targets: 'all', credential: ['acme', 'umbrella'] },
    });
    expect(await up()).toEqual([labels(3, 'umbrella')]);
    expect(keysOf('/pullzone')).toEqual(new Set([keys.UMBRELLA]));
    expect(keysOf('/billing')).toEqual(new Set(Object.values(keys)));
  });

  it('are read as far as discovery.accounts names them, where a section does not say whose it is', async () => {
    const { up, keysOf } = await start({
      discovery: {
        kinds: 'all',
        except: ['edge_script_usage', ...but('edge_script_usage', 'pull_zone', 'application')],
        accounts: ['umbrella'],
      },
      dns_zones: { targets: 'all' },
      edge_scripts: { targets: 'all', credential: 'acme' },
      billing: { interval: '2h', credential: ['umbrella', 'acme'] },
    });
    expect(await up()).toEqual([labels(3, 'umbrella')]);
    for (const path of ['/pullzone', '/dnszone', '/mc/apps'])
      expect(keysOf(path), path).toEqual(new Set([keys.UMBRELLA]));
    expect(keysOf('/compute/script')).toEqual(new Set([keys.ACME]));
    expect(keysOf('/billing')).toEqual(new Set(Object.values(keys)));
  });

  it('come and go with a reload, and what stays keeps its values and times', async () => {
    const { whole, up } = await start();
    const successOf = () =>
      whole.value('bunnynet_pull_zone_last_success_timestamp_seconds', { pull_zone_id: '1' });
    const before = await successOf();
    whole.document = { credentials: { acme: credentials.acme }, pull_zones: { targets: 'all' } } as never;
    await whole.reload();
    await whole.pass(1000);
    expect(await up()).toEqual([labels(1, 'acme'), labels(2, 'acme')]);
    expect(await successOf()).toBe(before);
    whole.document = { ...both, pull_zones: { targets: 'all' } } as never;
    await whole.reload();
    await whole.pass(1000);
    expect(await up()).toEqual([labels(1, 'acme'), labels(2, 'acme'), labels(3, 'umbrella')]);
    expect(await successOf()).toBe(before);
  });
});

describe('an account that is replaced in a reload', () => {
  /** By day one in each way in which a kind finds its targets and their keys. */
  const kinds = resources
    .map(({ kind }) => kind)
    .filter((kind) =>
      runs(
        /^(application_overview|billing|pull_zone|pull_zone_statistics|rate_limit|video_(library_statistics|storage))$/,
        /./,
      ).test(kind),
    );

  /** The page without the exporter's own metrics and the kinds of an account, which are other targets under another name. */
  const rowsOf = async (whole: Whole) => {
    const ofAccounts = /^bunnynet_(exporter|application_limits|billing|payment_requests|audit_log)_/;
    const rows = (await whole.exporter.page({ withOwn: false })).split('\n');
    return rows.filter((row) => !row.startsWith('#') && !ofAccounts.test(row)).toSorted();
  };
  /** The configuration with another name for its account. */
  const renamed = (document: object): object =>
    JSON.parse(JSON.stringify(document).replaceAll('"account"', '"initech"')) as object;

  const seriesOf = (row: string) => row.slice(0, row.lastIndexOf(' '));
  const numberOf = (row: string) => Number(row.slice(row.lastIndexOf(' ')));

  async function begin(ms: number, settings: object = {}) {
    const { document, ...account } = simulateAccount({ shape: runs(single, few), kinds });
    const whole = await startWhole({
      ...account,
      document: { ...document, ...settings, accounts: ['account'] },
    });
    await whole.exporter.start();
    await whole.pass(ms);
    expect(whole.exporter.targets().some(({ target }) => target.credential.startsWith('library/'))).toBe(
      true,
    );
    return whole;
  }

  it('is a new one where only its name is another: its lists are read anew, and counters go on where a state is kept', async () => {
    const whole = await begin(600_000, { state: { file: join(temporary({}), 'state.json') } });
    const before = await rowsOf(whole);
    const found = await whole.series('bunnynet_exporter_discovery_found_targets');
    whole.document = renamed(whole.document) as never;
    await whole.reload();
    expect(await rowsOf(whole)).toEqual(['']);
    await whole.pass(20_000);
    const after = await rowsOf(whole);
    expect(after.map(seriesOf)).toEqual(
      before.map((row) => seriesOf(row.replace('account="account"', 'account="initech"'))).toSorted(),
    );
    const totals = before.filter((row) => /_total[ {]/.test(row) && numberOf(row) > 0);
    expect(totals.length).toBeGreaterThan(0);
    const values = new Map(after.map((row) => [seriesOf(row), numberOf(row)]));
    for (const row of totals) expect(values.get(seriesOf(row))).toBeGreaterThanOrEqual(numberOf(row));
    expect(await whole.series('bunnynet_exporter_discovery_found_targets')).toEqual(
      Object.fromEntries(
        Object.entries(found).map(([labels, count]) => [labels.replace('"account"', '"initech"'), count]),
      ),
    );
    expect(whole.exporter.causes()).toEqual([]);
  });

  it('leaves with all that it had, and the keys of its libraries, where the key is another one', async () => {
    const whole = await begin(10_000);
    Object.assign(whole.env, { THREE: 'a-key-that-is-refused' });
    const document = renamed(whole.document) as { credentials: Record<string, object> };
    document.credentials['initech'] = { env: 'THREE' };
    whole.document = document as never;
    const before = whole.exporter.targets().length;
    await whole.reload();
    const { length } = whole.requests;
    expect(await rowsOf(whole)).toEqual(['']);
    expect(String(whole.said('the configuration was reloaded').at(-1)?.msg)).toContain(`−${before}`);
    await whole.pass(runs(60_000, 600_000));
    expect(await rowsOf(whole)).toEqual(['']);
    expect(new Set(whole.requests.slice(length).map(({ key }) => key))).toEqual(
      new Set(['a-key-that-is-refused']),
    );
  });
});

describe('a key that is refused', () => {
  it('leaves the other account as it is, and only what was read with it is due once it works again', async () => {
    const { whole, answers } = await start();
    answers[keys.UMBRELLA] = () => reply(401);
    await whole.pass(700_000);
    expect(await whole.series('bunnynet_exporter_refused_keys')).toEqual({
      '{api="core",credential="acme",account="acme"}': 0,
      '{api="core",credential="umbrella",account="umbrella"}': 1,
    });
    expect(await whole.series('bunnynet_pull_zone_up')).toEqual({
      [labels(1, 'acme')]: 1,
      [labels(2, 'acme')]: 1,
      [labels(3, 'umbrella')]: 0,
    });
    expect(await whole.series('bunnynet_exporter_discovery_up')).toEqual({
      '{kind="pull_zone",account="acme"}': 1,
      '{kind="pull_zone",account="umbrella"}': 0,
    });
    const [cause, ...others] = whole.exporter.causes();
    expect(others).toEqual([]);
    expect(cause?.title).toMatch(/refuses the key of umbrella \(from \$UMBRELLA\)/);
    expect(cause?.targets.map(({ target }) => target.account)).toEqual(['umbrella']);
  });

  it('is asked again at its own time, not when the key of another account works again', async () => {
    const { whole, answers } = await start();
    for (const key of Object.values(keys)) answers[key] = () => reply(401);
    await whole.pass(700_000);
    answers[keys.UMBRELLA] = undefined;
    const { length } = whole.requests;
    const asked = () => whole.requests.slice(length).map(({ key }) => key);
    while (!asked().includes(keys.UMBRELLA)) await whole.pass(1000);
    await whole.pass(1000);
    expect(await whole.value('bunnynet_pull_zone_up', { account: 'umbrella' })).toBe(1);
    expect(asked().slice(asked().indexOf(keys.UMBRELLA))).toEqual([keys.UMBRELLA]);
  });
});

describe('an account of which nothing is read', () => {
  const hour = 3_600_000;
  const pauseMs = runs(hour / 2, 2 * hour);
  type Trouble = [how: string, trouble: ReturnType<typeof reply> | (() => undefined), reason: string];

  /** The reason why each account fails. */
  async function failing(whole: Whole) {
    const rows = Object.entries(await whole.series('bunnynet_exporter_account_failing'));
    const read = rows.map(
      ([labels, value]) => [/account="(.*)",reason="(.*)"/.exec(labels) ?? [], value] as const,
    );
    const wrong = read.flatMap(([[, account, reason], value]) =>
      value === 1 ? [`${account} ${reason}`] : [],
    );
    return wrong.toSorted();
  }

  it('has a row for each reason, and the time of its last success, from the start', async () => {
    const whole = await startWhole({
      document: { ...both, pull_zones: { targets: 'all' } } as never,
      env: keys,
      routes: { '/pullzone': () => reply(500) },
    });
    const reasons = ['auth', 'rate_limited', 'server_error', 'timeout', 'network', 'schema', 'api_down'];
    const rows = ['acme', 'umbrella'].flatMap((account) =>
      reasons.map((reason) => [`{account="${account}",reason="${reason}"}`, 0] as const),
    );
    expect(await whole.series('bunnynet_exporter_account_failing')).toEqual(Object.fromEntries(rows));
    const times = () => whole.series('bunnynet_exporter_account_last_success_timestamp_seconds');
    const never = { '{account="acme"}': 0, '{account="umbrella"}': 0 };
    expect(await times()).toEqual(never);
    await whole.poll();
    expect(await times()).toEqual(never);
    whole.routes['/pullzone'] = ({ key }) => (key === keys.ACME ? listed([1]) : reply(500));
    await whole.poll();
    expect(await times()).toEqual({ ...never, '{account="acme"}': Date.now() / 1000 });
  });

  it.each<Trouble>([
    ['every answer is 500', reply(500), 'server_error'],
    ['its key is refused', reply(401), 'auth'],
    [
      'the API asks it to wait for long',
      reply(429, '', { 'retry-after': `${pauseMs / 1000}` }),
      'rate_limited',
    ],
    ...runs<Trouble[]>([], [['nothing answers', () => undefined, 'timeout']]),
  ])('is said beside a healthy one, with the reason: %s', async (_, trouble, reason) => {
    const { whole, answers } = await start({
      pull_zones: { targets: 'all' },
      // The key is paused once two kinds of it have got 429.
      billing: { targets: 'all', interval: '5m' },
    });
    const { '/billing': billing } = whole.routes;
    whole.routes['/billing'] = (request) => answers[request.key ?? '']?.(request) ?? billing?.(request);
    expect(await failing(whole)).toEqual([]);
    await whole.pass(hour / 10);
    expect(await failing(whole)).toEqual([]);
    answers[keys.UMBRELLA] = () => trouble;
    await whole.pass(hour / 3);
    expect(await failing(whole)).toContain(`umbrella ${reason}`);
    // Another account's pause is of the API as a whole.
    if (reason !== 'rate_limited') expect(await failing(whole)).toHaveLength(1);
    answers[keys.UMBRELLA] = undefined;
    // A pause ends only when it was to.
    await whole.pass(hour / 2 + (reason === 'rate_limited' ? pauseMs : 0));
    expect(await failing(whole)).toEqual([]);
  });

  it.each([
    ['is read each six hours', { billing: { targets: 'all', interval: '6h' } }, 7],
    ['is read ten times as seldom', { interval_factor: 10, billing: { targets: 'all' } }, 13],
  ])('is never said to be so while every poll succeeds, also where it %s', async (_, document, byDay) => {
    const { whole } = await start(document);
    for (let hours = 0; hours < runs(byDay, 25); hours += 0.2) {
      await whole.pass(hour / 5);
      expect(await failing(whole), `after ${hours} h`).toEqual([]);
    }
    expect(whole.requests.filter(({ path }) => path === '/billing').length).toBeGreaterThan(3);
  });

  it('is not said while its readings only come late: each takes nine seconds', async () => {
    const { whole, answers } = await start({ pull_zones: { targets: 'all', interval: '1m' } });
    answers[keys.UMBRELLA] = async () => {
      await sleep(9000);
      return listed([3]);
    };
    for (let second = 0; second < 150; second += runs(6, 3)) {
      await whole.pass(runs(6000, 3000));
      expect(await failing(whole), `second ${second}`).toEqual([]);
    }
    expect(whole.requests.filter(({ key }) => key === keys.UMBRELLA).length).toBeGreaterThan(2);
  });

  describe('is not said where one operation fails and nothing else is due for hours: after the second failure', () => {
    const document = {
      pull_zones: { targets: 'all', interval: '1m' },
      billing: { targets: 'all', interval: '6h' },
    };
    const asked = ({ requests }: Whole) =>
      requests.filter(({ path, key }) => path === '/billing' && key === keys.UMBRELLA).length;

    it('another is asked at once, and again after five minutes at most', async () => {
      const { whole, answers } = await start(document);
      answers[keys.UMBRELLA] = () => reply(500);
      const before = asked(whole);
      for (let minute = 0; minute < 20; minute++) {
        await whole.pass(60_000);
        expect(await failing(whole)).toEqual([]);
      }
      expect(asked(whole) - before).toBeGreaterThan(0);
      expect(asked(whole) - before).toBeLessThanOrEqual(4);
    });

    it('and if that fails, too, it is said', async () => {
      const { whole, answers } = await start(document);
      answers[keys.UMBRELLA] = () => reply(401);
      whole.routes['/billing'] = ({ key }) => (key === keys.UMBRELLA ? reply(401) : { Balance: 1 });
      await whole.pass(90_000);
      expect(await failing(whole)).toEqual([]);
      await whole.pass(60_000);
      expect(await failing(whole)).toEqual(['umbrella auth']);
    });
  });

  it('is said of an API that is down with that reason, but not of an account that another API answers', async () => {
    const { whole } = await start({
      pull_zones: { targets: 'all', interval: '1m' },
      applications: { targets: 'all', credential: 'acme', interval: '1m' },
    });
    whole.routes['/mc/apps'] = () => ({ items: [], meta: { totalItems: 0 } });
    await whole.pass(120_000);
    whole.routes['/pullzone'] = () => reply(503);
    await whole.pass(600_000);
    expect(await failing(whole)).toEqual(['umbrella api_down']);
  });

  it('counts its targets by themselves, and by why they fail', async () => {
    const { whole, answers } = await start();
    answers[keys.UMBRELLA] = () => reply(500);
    await whole.pass(runs(hour / 2, hour));
    expect(await whole.series('bunnynet_exporter_targets')).toEqual({
      '{kind="pull_zone",account="acme"}': 2,
      '{kind="pull_zone",account="umbrella"}': 1,
    });
    expect(await whole.series('bunnynet_exporter_stale_targets')).toEqual({
      '{kind="pull_zone",account="acme"}': 0,
      '{kind="pull_zone",account="umbrella"}': 1,
    });
    expect(await whole.series('bunnynet_exporter_failing_targets')).toEqual({
      '{kind="pull_zone",account="umbrella",result="server_error"}': 1,
    });
  });

  it('is not said of what does not exist, is rejected or is not in the plan: these are answers to the key', async () => {
    const { whole } = await start({
      pull_zones: { targets: 'all', credential: 'acme' },
      applications: { targets: ['gone'], credential: 'umbrella', interval: '30s' },
      billing: { targets: 'all', credential: 'acme' },
    });
    await whole.pass(120_000);
    expect(await failing(whole)).toEqual([]);
    whole.routes['/mc/apps/gone/summary'] = () => reply(500);
    await whole.pass(600_000);
    expect(await failing(whole)).toEqual(['umbrella api_down']);
    whole.routes['/mc/apps'] = () => reply(500);
    whole.document = { ...both, pull_zones: { targets: 'all' }, applications: { targets: 'all' } } as never;
    await whole.reload();
    await whole.pass(runs(700_000, 1_200_000));
    expect(await failing(whole)).toEqual([]);
  });
});

describe('what both accounts list', () => {
  it('is that of the first, also if that one answers later, and one cause says so', async () => {
    const { whole, zones, up } = await start();
    zones[keys.UMBRELLA] = [2, 3];
    await whole.pass(700_000);
    expect(await up()).toEqual([labels(1, 'acme'), labels(2, 'acme'), labels(3, 'umbrella')]);
    expect(whole.exporter.causes().map(({ title }) => title)).toEqual([
      'The accounts acme and umbrella both list 1 target',
    ]);
  });

  it('stays where it is until the complete listing of that account lacks it', async () => {
    const { whole, zones, answers, up } = await start();
    // It moves into the first account's listing, too.
    zones[keys.ACME] = [1, 2, 3];
    await whole.pass(700_000);
    expect(await up()).toContain(labels(3, 'umbrella'));
    answers[keys.UMBRELLA] = () => reply(500);
    await whole.pass(700_000);
    expect(await up()).toContain(labels(3, 'umbrella'));
    answers[keys.UMBRELLA] = undefined;
    zones[keys.UMBRELLA] = [];
    await whole.pass(700_000);
    expect(await up()).toContain(labels(3, 'acme'));
    expect(whole.exporter.causes()).toEqual([]);
  });

  it.each([
    [{ pull_zones: { targets: 'all', credential: ['umbrella', 'acme'] } }],
    // The listing of the second account is first wanted for it alone.
    [
      {
        pull_zone_optimizer: { targets: 'all', credential: 'umbrella' },
        pull_zones: { targets: 'all' },
        pull_zone_safehop: { targets: 'all', credential: ['umbrella', 'acme'] },
      },
    ],
  ])('is that of the first of accounts, whatever order a section has: %j', async (document) => {
    const whole = await startWhole({
      document: { ...both, ...document } as never,
      env: keys,
      routes: {
        '/pullzone': async ({ key }: Request) => {
          if (key === keys.ACME) await sleep(1000);
          return listed(key === keys.ACME ? [1, 2] : [2, 3]);
        },
      },
    });
    await whole.exporter.start();
    await whole.pass(3000);
    expect(Object.keys(await whole.series('bunnynet_pull_zone_up')).toSorted()).toEqual([
      labels(1, 'acme'),
      labels(2, 'acme'),
      labels(3, 'umbrella'),
    ]);
    // The first one waits for nobody.
    expect(whole.requests.find(({ key }) => key === keys.ACME)?.atMs).toBeLessThan(500);
  });

  it('waits for the first listing of the first account, five seconds at most', async () => {
    const whole = await startWhole({
      document: { ...both, pull_zones: { targets: 'all' } } as never,
      env: keys,
      api: { timeout: '20s' },
      routes: {
        '/pullzone': ({ key }: Request) => (key === keys.ACME ? () => undefined : listed([2, 3])),
      },
    });
    await whole.exporter.start();
    await whole.pass(4500);
    expect(whole.exporter.targets()).toEqual([]);
    await whole.pass(1500);
    expect(whole.exporter.targets().map(({ target }) => target.account)).toEqual(['umbrella', 'umbrella']);
  });
});

describe('an account with the key of another one', () => {
  const three = { ...credentials, initech: { env: 'INITECH' } };
  const shared = 'bunnynet_exporter_account_key_shared';
  const document = {
    credentials: three,
    accounts: ['acme', 'umbrella', 'initech'],
    pull_zones: { targets: 'all' },
    billing: { targets: 'all' },
  } as never;

  async function startThree(env: Record<string, string>) {
    const zones: Zones = { [keys.ACME]: [1, 2], [keys.UMBRELLA]: [3], 'the-key-of-initech': [4] };
    const whole = await startWhole({
      document,
      env: { ...keys, INITECH: 'the-key-of-initech', ...env },
      routes: {
        '/pullzone': ({ key }: Request) => listed(zones[key ?? ''] ?? []),
        '/billing': ({ key }: Request) => ({ Balance: key === keys.ACME ? 3 : 5000 }),
      },
    });
    await whole.exporter.start();
    await whole.pass(3000);
    const up = async () => Object.keys(await whole.series('bunnynet_pull_zone_up')).toSorted();
    return { whole, up };
  }

  const all = [labels(1, 'acme'), labels(2, 'acme'), labels(3, 'umbrella'), labels(4, 'initech')];
  const withoutUmbrella = all.filter((text) => !text.includes('umbrella'));

  it('is not read, while the others are: a cause, a line and a series say so, until a reload has its own key', async () => {
    const { whole, up } = await startThree({ UMBRELLA: keys.ACME });
    await whole.sweep();
    expect(await up()).toEqual(withoutUmbrella);
    expect(await whole.series('bunnynet_billing_balance_dollars')).toEqual({
      '{account="acme"}': 3,
      '{account="initech"}': 5000,
    });
    expect(await whole.series(shared)).toEqual({
      '{account="acme"}': 0,
      '{account="umbrella"}': 1,
      '{account="initech"}': 0,
    });
    const title = 'he account umbrella is not read: its key (from $UMBRELLA) is that of acme (from $ACME)';
    expect(whole.exporter.causes().map((cause) => cause.title)).toEqual([`T${title}`]);
    expect(whole.said(title)).toHaveLength(1);
    // Each list is asked for once with a key.
    expect(whole.requests.filter(({ path, key }) => path === '/billing' && key === keys.ACME)).toHaveLength(
      1,
    );
    Object.assign(whole.env, keys);
    await whole.reload();
    await whole.pass(3000);
    await whole.sweep();
    expect(await up()).toEqual(all.toSorted());
    expect(await whole.value(shared, { account: 'umbrella' })).toBe(0);
    expect(whole.exporter.causes()).toEqual([]);
    expect(whole.said('this is over')).toHaveLength(1);
    // And a reload that brings it about.
    Object.assign(whole.env, { UMBRELLA: 'the-key-of-initech' });
    await whole.reload();
    expect(await whole.series(shared)).toMatchObject({ '{account="initech"}': 1, '{account="umbrella"}': 0 });
    expect(await up()).not.toContain(labels(4, 'initech'));
  });

  it('is not polled once either, which then is no success', async () => {
    const { whole } = await startThree({});
    expect(await whole.poll()).toBe(true);
    Object.assign(whole.env, { UMBRELLA: keys.ACME });
    await whole.reload();
    expect(await whole.poll()).toBe(false);
  });
});

it('a target that is named by hand is read with the key that it names', async () => {
  const whole = await startWhole({
    document: {
      ...both,
      billing: { targets: 'all' },
      applications: { targets: [{ id: 'a', credential: 'umbrella' }] },
    } as never,
    env: keys,
    routes: { '/mc/apps/a/summary': () => ({ monthlyCost: 1 }), '/billing': () => ({ Balance: 1 }) },
  });
  await whole.poll();
  expect(await whole.series('bunnynet_application_up')).toEqual({ '{app_id="a",account="umbrella"}': 1 });
  expect(whole.requests.find(({ path }) => path.startsWith('/mc'))?.key).toBe(keys.UMBRELLA);
});

it('the status page and its JSON count by account, and show the targets of those that are asked for', async () => {
  const { whole, answers } = await start();
  answers[keys.UMBRELLA] = () => reply(500);
  await whole.pass(700_000);
  const none = { targets: 0, ok: 0, lacking: 0, failing: 0, absent: 0, pending: 0, stale: 0 };
  const read = async (query: string) =>
    JSON.parse((await whole.get(`/api/v1/targets?${query}`)).body) as {
      counts: { by_account: unknown };
      targets: unknown;
      matching: number;
    };
  const ofUmbrella = await read('account=umbrella');
  expect(ofUmbrella.counts.by_account).toEqual({
    acme: { ...none, targets: 2, ok: 2 },
    umbrella: { ...none, targets: 1, failing: 1 },
  });
  expect(ofUmbrella.targets).toMatchObject([{ account: 'umbrella', ids: { pull_zone_id: '3' } }]);
  expect((await read('account=acme,umbrella')).matching).toBe(3);
  expect((await read('account=acme&state=failing')).matching).toBe(0);
  expect(await whole.get('/?account=initech')).toMatchObject({
    status: 400,
    body: 'account: expected acme or umbrella; got "initech"\n',
  });
  const { body } = await whole.get('/?account=umbrella');
  expect(body).toContain('href="./?account=umbrella&amp;state=failing#targets"');
  expect(body).toContain('href="./?account=acme#targets"');
  expect(body).toContain('<option value="umbrella" selected>');
  expect(body).not.toContain('zone 1<');
});

it('the status page says whose the key of a library is', async () => {
  const libraries = ({ key }: Request) => ({
    Items: key === keys.UMBRELLA ? [{ Id: 4, Name: 'films', ApiKey: 'opens-the-library' }] : [],
    HasMoreItems: false,
  });
  const whole = await startWhole({
    document: { ...both, video_library_statistics: { targets: 'all' } } as never,
    env: keys,
    routes: {
      '/videolibrary': libraries,
      '/library/4/statistics': () => ({ viewsChart: { '2026-08-15': 3 } }),
    },
  });
  await whole.exporter.start();
  await whole.pass(3000);
  const { body } = await whole.get('/?q=umbrella');
  expect(body.toString().replaceAll(/<[^>]*>/g, '')).toContain('library/4 of umbrella');
});
