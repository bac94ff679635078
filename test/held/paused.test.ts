/** An API that answers 429 with a long Retry-After, and nothing more until then. */
import { describe, expect, it } from 'vitest';
import { eventually, type Route, reply, startWhole, type Whole } from './whole.ts';

const ids = Array.from({ length: 12 }, (_, at) => `app${at}`);

interface Json {
  readonly counts: Readonly<Record<string, number>>;
  readonly targets: readonly { readonly state: string; readonly stale: boolean }[];
}

it('gets no requests; once targets are stale they are down on the page, in the JSON and for people', async () => {
  const whole = await startWhole({
    document: { applications: { interval: '1h', stale_after: '2h', targets: ids } },
    routes: Object.fromEntries(ids.map((id) => [`/mc/apps/${id}/summary`, () => ({ monthlyCost: 1 })])),
  });
  await whole.exporter.start();
  await whole.poll();
  const ups = async () => Object.values(await whole.series('bunnynet_application_up'));
  const json = async () => JSON.parse((await whole.get('/api/v1/targets')).body) as Json;
  expect(await ups()).toEqual(ids.map(() => 1));

  for (const id of ids)
    whole.routes[`/mc/apps/${id}/summary`] = () => reply(429, '', { 'retry-after': '36000' });
  const before = whole.requests.length;
  void whole.exporter.pollOnce();
  // What was under way at the same time is refused, too; the others wait.
  const failing = () => whole.exporter.targets().filter(({ state }) => state === 'failing').length;
  await eventually(() => expect(failing()).toBeGreaterThan(0));
  await eventually(() => expect(failing()).toBe(whole.requests.length - before));
  const asked = whole.requests.length;
  expect(asked - before).toBeLessThanOrEqual(8);
  await whole.sweep();
  expect(
    whole.said(
      'The application API answered 429 to requests for the kind application with the key of account; it gets none for this kind for',
    ),
  ).toHaveLength(1);
  // Values that are not old yet are shown.
  expect(Object.keys(await whole.series('bunnynet_application_monthly_cost_dollars'))).toHaveLength(
    ids.length,
  );

  whole.advance(2 * 3_600_000 + 1);
  await whole.sweep();
  expect(await ups()).toEqual(ids.map(() => 0));
  expect(await whole.series('bunnynet_application_monthly_cost_dollars')).toEqual({});
  expect(await whole.value('bunnynet_exporter_stale_targets')).toBe(ids.length);
  const { counts, targets } = await json();
  expect(counts).toMatchObject({ targets: ids.length, ok: 0, failing: failing(), stale: ids.length });
  expect(targets.filter(({ state }) => state === 'stale')).toHaveLength(ids.length - failing());
  expect(targets.every(({ stale }) => stale)).toBe(true);
  expect((await whole.get('/')).body).not.toContain('are being read</h1>');
  // One cause for all of them, said once.
  expect(whole.exporter.causes()).toEqual([
    expect.objectContaining({ reason: 'rate_limited', affected: '12 targets (application)' }),
  ]);
  expect(whole.said('The application API answered 429')).toHaveLength(1);
  expect(whole.requests).toHaveLength(asked);
});

describe('what is polled once', () => {
  /** Two accounts, one of which gets this answer to everything. */
  const start = (answer: () => unknown, pollsOnce = true) =>
    startWhole({
      pollsOnce,
      api: { timeout: '30s', max_retries: 2 },
      document: {
        credentials: { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } },
        accounts: ['acme', 'umbrella'],
        applications: { targets: 'all', interval: '1h' },
        pull_zones: { targets: 'all', interval: '1h' },
        billing: { targets: 'all', interval: '1h' },
      } as never,
      env: { ACME: 'key-of-acme', UMBRELLA: 'key-of-umbrella' },
      routes: {
        '*': ({ key, path }) => {
          if (key === 'key-of-acme') return answer();
          if (path === '/billing') return { Balance: 3 };
          if (path === '/mc/apps/a/summary') return { monthlyCost: 1 };
          return path === '/pullzone'
            ? { Items: [{ Id: 1 }], TotalItems: 1, HasMoreItems: false }
            : { items: [{ id: 'a', monthlyCost: 1 }], totalItems: 1 };
        },
      },
    });
  const stateOf = (whole: Whole, kind: string, account: string) =>
    whole.exporter
      .targets()
      .filter(({ target }) => target.kind === kind && target.account === account)
      .map(({ state, lastFailure }) => lastFailure?.result ?? state);

  it('fails as rate_limited where it is paused for longer than its timeout, and the rest is read', async () => {
    const whole = await start(() => reply(429, '', { 'retry-after': '600' }));
    const succeeded = await whole.poll();
    expect(succeeded).toBe(false);
    expect(whole.passedMs).toBeLessThan(30_000);
    expect(stateOf(whole, 'billing', 'acme')).toEqual(['rate_limited']);
    expect(stateOf(whole, 'billing', 'umbrella')).toEqual(['ok']);
    expect(stateOf(whole, 'pull_zone', 'umbrella')).toEqual(['ok']);
    expect(
      whole.exporter.listings().flatMap(({ poll, lastFailure }) => (lastFailure ? poll.account : [])),
    ).toEqual(['acme', 'acme']);
    // One request at each of the two APIs, and what was in flight with the first.
    expect(whole.requests.filter(({ key }) => key === 'key-of-acme').length).toBeLessThanOrEqual(4);
  });

  it('waits for short pauses, as long as they take no longer than the timeout together', async () => {
    const whole = await start(() => reply(429, '', { 'retry-after': '20' }));
    expect(await whole.poll()).toBe(false);
    expect(whole.passedMs).toBeGreaterThan(19_000);
    expect(whole.passedMs).toBeLessThan(60_000);
    expect(stateOf(whole, 'billing', 'acme')).toEqual(['rate_limited']);
  });

  it('succeeds once the pause is over, if that is short', async () => {
    let answers = 0;
    const whole = await start(() =>
      answers++ < 3 ? reply(429, '', { 'retry-after': '10' }) : { Balance: 3, Items: [], items: [] },
    );
    expect(await whole.poll()).toBe(true);
    expect(stateOf(whole, 'billing', 'acme')).toEqual(['ok']);
  });

  it('does not wait for a longer Retry-After of a 503 either', async () => {
    const whole = await start(() => reply(503, '', { 'retry-after': '600' }));
    expect(await whole.poll()).toBe(false);
    expect(whole.passedMs).toBeLessThan(30_000);
    expect(stateOf(whole, 'billing', 'acme')).toEqual(['server_error']);
  });
});

it.each([503, 429])(
  'a target is down as soon as %d came, while the wait for another try goes on',
  async (status) => {
    let isRefused = false;
    const whole = await startWhole({
      api: { max_retries: 2 },
      document: { applications: { interval: '20m', targets: ['a'] } },
      routes: {
        '/mc/apps/a/summary': () =>
          isRefused ? reply(status, '', { 'retry-after': '600' }) : { monthlyCost: 1 },
      },
    });
    await whole.exporter.start();
    await whole.pass(5000);
    expect(await whole.value('bunnynet_application_up')).toBe(1);
    isRefused = true;
    const before = whole.requests.length;
    // The next poll begins within 1.1 intervals.
    while (whole.requests.length === before) await whole.pass(10_000);
    await whole.pass(1000);
    expect(await whole.value('bunnynet_application_up')).toBe(0);
    expect(whole.requests).toHaveLength(before + 1);
    isRefused = false;
    await whole.pass(560_000);
    expect(whole.requests).toHaveLength(before + 1);
    expect(await whole.value('bunnynet_application_up')).toBe(0);
    await whole.pass(60_000);
    expect(whole.requests).toHaveLength(before + 2);
    expect(await whole.value('bunnynet_application_up')).toBe(1);
  },
);

describe('the pauses on the page', () => {
  const family = 'bunnynet_exporter_api_paused_until_timestamp_seconds';
  const ofKinds = 'bunnynet_exporter_kind_paused_until_timestamp_seconds';
  const until = (inMs: number) => Math.round((Date.now() + inMs) / 1000);

  it('are those of each key of the configuration, of the API as a whole, and of the kinds that are paused', async () => {
    const answers: Record<string, Route> = {};
    const whole = await startWhole({
      document: {
        credentials: { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } },
        accounts: ['acme', 'umbrella'],
        billing: { targets: 'all', interval: '10m' },
        dns_zones: { targets: 'all', interval: '10m' },
      } as never,
      env: { ACME: 'key-of-acme', UMBRELLA: 'key-of-umbrella' },
      routes: {
        '/billing': (request) => answers[request.key ?? '']?.(request) ?? { Balance: 3 },
        '/dnszone': (request) =>
          answers[`${request.key ?? ''} dns`]?.(request) ?? { Items: [], TotalItems: 0, HasMoreItems: false },
      },
    });
    const nobody = {
      '{api="core",credential="",account=""}': 0,
      '{api="core",credential="acme",account="acme"}': 0,
      '{api="core",credential="umbrella",account="umbrella"}': 0,
    };
    await whole.poll();
    expect(await whole.series(family)).toEqual(nobody);
    expect(await whole.series(ofKinds)).toEqual({});
    answers['key-of-acme'] = () => reply(429, '', { 'retry-after': '600' });
    await whole.poll();
    // One kind says nothing of its key.
    expect(await whole.series(family)).toEqual(nobody);
    expect(await whole.series(ofKinds)).toEqual({
      '{api="core",kind="billing",credential="acme",account="acme"}': until(600_000),
    });
    const refuse = answers['key-of-acme'];
    delete answers['key-of-acme'];
    await whole.pass(600_000);
    expect(await whole.series(ofKinds)).toEqual({});
    answers['key-of-acme'] = refuse;
    answers['key-of-acme dns'] = refuse;
    await whole.poll();
    expect(await whole.series(family)).toEqual({
      ...nobody,
      '{api="core",credential="acme",account="acme"}': until(600_000),
    });
    // Nothing was read since then: this is the second key.
    answers['key-of-umbrella'] = () => reply(429, '', { 'retry-after': '120' });
    answers['key-of-umbrella dns'] = answers['key-of-umbrella'];
    const all = whole.exporter.pollOnce();
    await eventually(async () =>
      expect(await whole.value(family, { credential: 'umbrella' })).toBeGreaterThan(0),
    );
    expect(await whole.series(family)).toEqual({
      '{api="core",credential="",account=""}': expect.closeTo(until(60_000), -1) as unknown,
      '{api="core",credential="acme",account="acme"}': expect.closeTo(until(600_000), -1) as unknown,
      '{api="core",credential="umbrella",account="umbrella"}': expect.closeTo(until(120_000), -1) as unknown,
    });
    for (const name of Object.keys(answers)) delete answers[name];
    await whole.pass(700_000);
    await all;
  });
});

it('says of the paused key of a library whose it is, on the page and in the log', async () => {
  const listed = (Id: number, ApiKey: string) => ({
    Items: [{ Id, Name: 'films', ApiKey }],
    TotalItems: 1,
    HasMoreItems: false,
  });
  const whole = await startWhole({
    document: {
      credentials: { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } },
      accounts: ['acme', 'umbrella'],
      video_encoding: { targets: 'all' },
    } as never,
    env: { ACME: 'key-of-acme', UMBRELLA: 'key-of-umbrella' },
    routes: {
      '/videolibrary': ({ key }) => (key === 'key-of-acme' ? listed(4, 'opens-4') : listed(5, 'opens-5')),
      '/library/4/videos': () => ({ items: [], totalItems: 0 }),
      '/library/5/videos': () => reply(429, '', { 'retry-after': '600' }),
    },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  const pauses = await whole.series('bunnynet_exporter_kind_paused_until_timestamp_seconds');
  expect(Object.keys(pauses)).toEqual([
    '{api="video",kind="video_encoding",credential="library/5",account="umbrella"}',
  ]);
  expect(whole.said('answered 429').map(({ msg }) => msg)).toEqual([
    expect.stringContaining('the key of library/5 of the account umbrella'),
  ]);
});

it('another key under the same name starts at once, also what waits in line', async () => {
  const whole = await startWhole({
    document: {
      applications: { interval: '1m', targets: ids },
      shield_zones: { interval: '1m', targets: ['7'] },
    },
    env: { KEY: 'old' },
    routes: {
      '*': ({ key }) => (key === 'old' ? reply(429, '', { 'retry-after': '600' }) : { monthlyCost: 1 }),
    },
  });
  await whole.exporter.start();
  await whole.pass(120_000);
  expect(await whole.series('bunnynet_application_monthly_cost_dollars')).toEqual({});
  const before = whole.requests.length;
  whole.env = { KEY: 'new' };
  await whole.reload();
  await whole.pass(2000);
  expect(whole.requests.slice(before).map(({ key }) => key)).not.toContain('old');
  expect(Object.keys(await whole.series('bunnynet_application_monthly_cost_dollars'))).toHaveLength(
    ids.length,
  );
  expect(await whole.series('bunnynet_exporter_kind_paused_until_timestamp_seconds')).toEqual({});
  expect(whole.exporter.causes().filter(({ reason }) => reason === 'rate_limited')).toEqual([]);
});

it('what is read at another address starts at once, also what waits in line', async () => {
  const applications = { interval: '1m', targets: ids };
  const other = await startWhole({ document: { applications }, routes: { '*': () => ({ monthlyCost: 1 }) } });
  const whole = await startWhole({
    document: { applications },
    routes: { '*': () => reply(429, '', { 'retry-after': '600' }) },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  const before = whole.requests.length;
  await whole.reload();
  await whole.pass(2000);
  expect(whole.requests).toHaveLength(before);
  whole.document = { applications, apis: { application: { base_url: `${other.apiUrl}/mc` } } };
  await whole.reload();
  await whole.pass(2000);
  expect(Object.keys(await whole.series('bunnynet_application_monthly_cost_dollars'))).toHaveLength(
    ids.length,
  );
});

it('what is read at another address starts at once, also where the former one had paused all of the API', async () => {
  const document = {
    credentials: { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } },
    accounts: ['acme', 'umbrella'],
    billing: { targets: 'all', interval: '1h' },
    dns_zones: { targets: 'all', interval: '1h' },
  } as never;
  const env = { ACME: 'key-of-acme', UMBRELLA: 'key-of-umbrella' };
  const other = await startWhole({
    document,
    env,
    routes: {
      '/billing': () => ({ Balance: 3 }),
      '/dnszone': () => ({ Items: [], TotalItems: 0, HasMoreItems: false }),
    },
  });
  const whole = await startWhole({
    document,
    env,
    routes: { '*': () => reply(429, '', { 'retry-after': '600' }) },
  });
  await whole.exporter.start();
  await whole.pass(100);
  const family = 'bunnynet_exporter_api_paused_until_timestamp_seconds';
  expect(await whole.value(family, { api: 'core', credential: '' })).toBeGreaterThan(0);
  Object.assign(whole.document, { apis: { core: { base_url: other.apiUrl } } });
  await whole.reload();
  expect(await whole.value(family, { api: 'core', credential: '' })).toBe(0);
  await whole.pass(1000);
  expect(other.requests).toHaveLength(4);
  expect(whole.exporter.targets().map(({ state }) => state)).toEqual(['ok', 'ok']);
});

describe('/-/ready at the start', () => {
  const start = async (answer: Route) => {
    const whole = await startWhole({
      document: { applications: { interval: '1h', targets: ids } },
      routes: { '*': answer },
    });
    await whole.exporter.start();
    return { whole, status: async (query = '') => (await whole.get(`/-/ready${query}`)).status };
  };

  it('is 200 after two minutes, though a pause holds back what was not read yet', async () => {
    const { whole, status } = await start(() => reply(429, '', { 'retry-after': '600' }));
    await whole.pass(118_000);
    expect(await status()).toBe(503);
    await whole.pass(4000);
    expect(await status()).toBe(200);
    expect(await status('?strict')).toBe(503);
    whole.routes['*'] = () => ({ monthlyCost: 1 });
    await whole.pass(600_000);
    expect(await status('?strict')).toBe(200);
  });

  it('is 200 with ?strict once something was read, whatever is polled since', async () => {
    const { whole, status } = await start(() => ({ monthlyCost: 1 }));
    await whole.pass(1000);
    whole.document = { applications: { targets: ['other'] } };
    whole.routes['*'] = () => reply(404);
    await whole.reload();
    await whole.pass(5000);
    expect(await status('?strict')).toBe(200);
  });

  it.each([
    ['503 while its only listing is refused', reply(401), 503],
    ['200 if a listing says that there is nothing to read', { items: [] }, 200],
  ])('is with ?strict %s', async (_, answer, expected) => {
    const whole = await startWhole({
      document: { applications: { targets: 'all' } },
      routes: { '/mc/apps': () => answer },
    });
    await whole.exporter.start();
    await whole.pass(1000);
    expect((await whole.get('/-/ready?strict')).status).toBe(expected);
  });

  it('is 200 as soon as everything ended once, whatever the outcome', async () => {
    const { whole, status } = await start(() => reply(404));
    expect(await status()).toBe(503);
    await whole.pass(1000);
    expect(await status()).toBe(200);
    expect(await status('?strict')).toBe(503);
  });
});

describe('a paused key', () => {
  const minuteMs = 60_000;
  const pullZones = { Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false };
  const told = (whole: Whole) => whole.exporter.causes().map(({ title }) => title);
  const asked = (is429: () => boolean, answer: unknown) => () =>
    is429() ? reply(429, '', { 'retry-after': '600' }) : answer;

  it('whose account gets another name is told of as long as it is paused', async () => {
    const document = {
      credentials: { account: { env: 'KEY' } },
      accounts: ['account'],
      billing: { targets: 'all', interval: '1m' },
      pull_zones: { targets: 'all', interval: '1m' },
    };
    let is429 = false;
    const whole = await startWhole({
      document: document as never,
      routes: {
        '/billing': asked(() => is429, { Balance: 5 }),
        '/pullzone': asked(() => is429, pullZones),
      },
    });
    await whole.exporter.start();
    await whole.pass(5 * minuteMs);
    is429 = true;
    await whole.pass(2 * minuteMs);
    await whole.sweep();
    expect(told(whole)).toEqual([expect.stringContaining('it gets no requests with it for 8 m')]);
    const { length } = whole.requests;
    whole.document = JSON.parse(JSON.stringify(document).replaceAll('"account"', '"acme"')) as never;
    await whole.reload();
    await whole.pass(2 * minuteMs);
    await whole.sweep();
    // Nothing is asked.
    expect(whole.requests.length).toBe(length);
    expect(told(whole)).toEqual([expect.stringContaining('it gets no requests with it for 6 m')]);
    expect(
      await whole.value('bunnynet_exporter_api_paused_until_timestamp_seconds', { credential: 'acme' }),
    ).toBeGreaterThan(0);
  });

  it('that has two names is paused under both, and nobody is advised to poll less', async () => {
    let is429 = false;
    const whole = await startWhole({
      document: {
        credentials: { account: { env: 'KEY' }, spare: { env: 'KEY' } },
        accounts: ['account'],
        billing: { targets: 'all', interval: '1m' },
        pull_zones: { targets: 'all', interval: '1m' },
        dns_zones: { targets: [7], credential: 'spare', interval: '1m' },
      } as never,
      routes: {
        '/billing': asked(() => is429, { Balance: 5 }),
        '/pullzone': asked(() => is429, pullZones),
        '/dnszone/7/statistics': asked(() => is429, { QueriesServedChart: {} }),
      },
    });
    await whole.exporter.start();
    await whole.pass(5 * minuteMs);
    is429 = true;
    await whole.pass(5 * minuteMs);
    await whole.sweep();
    expect(told(whole)).not.toContain('Values of the core API were not read again in time');
    for (const credential of ['account', 'spare'])
      expect(
        await whole.value('bunnynet_exporter_api_paused_until_timestamp_seconds', { credential }),
      ).toBeGreaterThan(0);
  });
});

it('a kind that a reload turns off is not said to be paused', async () => {
  const section = { interval: '1m', targets: ['one'] };
  const whole = await startWhole({
    document: { applications: section, application_overviews: section },
    routes: {
      '/mc/apps/one/overview': () => reply(429, '', { 'retry-after': '3000' }),
      '/mc/apps/one/summary': () => ({ monthlyCost: 1 }),
    },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  expect(whole.exporter.causes()).toHaveLength(1);
  whole.document = { applications: section };
  await whole.reload();
  await whole.pass(20_000);
  expect.soft(await whole.series('bunnynet_exporter_kind_paused_until_timestamp_seconds')).toEqual({});
  expect(whole.exporter.causes().map(({ title }) => title)).toEqual([]);
});
