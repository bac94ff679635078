/** What an operator sees of a key that is refused: by everything, by one API, for one thing, for a while. */
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { directory } from '../config/fixtures.ts';
import { type Request, reply, startWhole, type Whole } from './whole.ts';

const refusedKeys = 'bunnynet_exporter_refused_keys';
const pullZones = { Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false };
const applications = { items: [{ id: 'z', name: 'shop' }], meta: { totalItems: 1 } };
const warnings = ({ log }: Whole) => log.filter(({ level }) => Number(level) >= 40);

/** By API, how many keys it refuses. */
async function refusing(whole: Whole) {
  const rows = Object.entries(await whole.series(refusedKeys));
  return Object.fromEntries(
    rows.map(([labels, n]) => [/api="(\w+)"/.exec(labels)?.[1] ?? labels, n] as const),
  );
}

it('a key counts as refused from the poll that failed until what was refused is no longer polled', async () => {
  const named = (...targets: readonly string[]) => ({ applications: { interval: '1h', targets } });
  let isRefused = false;
  const whole = await startWhole({
    document: named('a', 'b'),
    routes: {
      '/mc/apps/a/summary': () => reply(isRefused ? 401 : 404),
      '/mc/apps/b/summary': () => reply(404),
      '/mc/apps': () => reply(401),
    },
  });
  await whole.poll();
  expect(await refusing(whole)).toEqual({ application: 0 });
  isRefused = true;
  await whole.poll();
  expect(await refusing(whole)).toEqual({ application: 1 });
  whole.document = named('b');
  await whole.reload();
  expect(await refusing(whole)).toEqual({ application: 0 });
});

const document = {
  applications: { interval: '1h', targets: ['a', 'b'] },
  pull_zones: { interval: '1h', targets: 'all' as const },
};

it('a wrong key is one warning, which names the APIs, where the key came from, and where the right one is', async () => {
  let isRight = false;
  const read = (answer: unknown) => () => (isRight ? answer : reply(401));
  const whole = await startWhole({
    document,
    routes: {
      '/mc/apps/a/summary': read({ monthlyCost: 1 }),
      '/mc/apps/b/summary': read({ monthlyCost: 1 }),
      '/mc/apps': read(applications),
      '/pullzone': read(pullZones),
    },
  });
  await whole.poll();
  await whole.poll();
  await whole.sweep();
  const [warning, ...more] = warnings(whole);
  expect(more).toEqual([]);
  expect(warning).toMatchObject({ cause: 'refused', result: 'auth', status: 401 });
  expect(warning?.msg).toMatch(
    /^The application and core APIs refuse the key of account \(from \$KEY\): HTTP 401: 2 targets \(application\), 1 listing\. 2 targets have no values yet\. Nothing was found yet\. Copy the account's API key from the account settings/,
  );
  expect(await refusing(whole)).toEqual({ application: 1, core: 1 });
  expect(whole.exporter.causes()).toHaveLength(1);
  expect(whole.exporter.causes()[0]).toMatchObject({ reason: 'refused', tone: 'bad' });

  isRight = true;
  whole.advance(60_000);
  await whole.poll();
  expect(whole.exporter.causes()).toEqual([]);
  expect(await refusing(whole)).toEqual({ application: 0, core: 0 });
  const told = whole.log.filter(({ cause }) => cause === 'refused');
  expect(told).toHaveLength(2);
  expect(told[1]).toMatchObject({
    level: 30,
    msg: 'this is over after 1 m: The application and core APIs refuse the key of account (from $KEY): HTTP 401; it affected 2 targets (application), 1 listing',
  });
});

it("a member's key, to which one API answers 403, is told once, with what leaves that API out", async () => {
  const whole = await startWhole({
    document: { ...document, applications: { interval: '1h', targets: 'all' } },
    routes: { '/mc/apps': () => reply(403), '/pullzone': () => pullZones },
  });
  await whole.poll();
  await whole.sweep();
  expect(await whole.value('bunnynet_pull_zone_up')).toBe(1);
  whole.advance(60_000);
  await whole.poll();
  await whole.sweep();
  expect(warnings(whole)).toEqual([]);
  expect(whole.said('the key of account may not read it').map(({ msg }) => msg)).toEqual([
    'no applications: the account lacks the product, or the key of account may not read it. `discovery: { except: [application, application_overview, application_autoscaling, application_statistics, application_volume, application_limits] }` leaves them out',
  ]);
  expect(whole.exporter.causes()).toEqual([]);
  expect(await refusing(whole)).toEqual({ application: 0, core: 0 });
});

it("a member's key that may not read a list is a warning that says how to leave it out", async () => {
  const whole = await startWhole({
    document: { dns_zones: { targets: 'all' }, pull_zones: { targets: 'all' } },
    routes: { '/dnszone': () => reply(403), '/pullzone': () => pullZones },
  });
  await whole.poll();
  await whole.sweep();
  expect(whole.exporter.causes().map(({ title, tone, advice }) => [tone, title, advice])).toEqual([
    [
      'warn',
      'The key of account (from $KEY) may not read DNS zones: HTTP 403',
      expect.stringMatching(/leave these kinds out: `discovery: \{ except: \[dns_zone\] \}`\.$/),
    ],
  ]);
  expect(warnings(whole)).toHaveLength(1);
});

it('one thing that a key may not read (403) is said of this thing alone', async () => {
  const whole = await startWhole({
    document: { applications: { interval: '1h', targets: ['a', 'b', 'c'] } },
    routes: {
      '/mc/apps/a/summary': () => ({ monthlyCost: 1 }),
      '/mc/apps/b/summary': () => reply(403),
      '/mc/apps/c/summary': () => ({ monthlyCost: 1 }),
    },
  });
  await whole.poll();
  await whole.sweep();
  const up = (id: string) => whole.value('bunnynet_application_up', { app_id: id });
  expect([await up('a'), await up('b'), await up('c')]).toEqual([1, 0, 1]);
  expect(whole.exporter.causes().map(({ title, affected, tone }) => [title, affected, tone])).toEqual([
    ['The key of account (from $KEY) may not read application: HTTP 403', '1 target (application)', 'warn'],
  ]);
  expect(await refusing(whole)).toEqual({ application: 0 });
  expect(warnings(whole).filter(({ msg }) => msg.includes('may not read'))).toHaveLength(1);
  expect(whole.exporter.targets().find(({ state }) => state === 'failing')?.lastFailure).toMatchObject({
    result: 'auth',
    message: 'HTTP 403',
  });
});

it('a key that is revoked and accepted again: everything of it that backs off is polled at once', async () => {
  let isRevoked = false;
  const read = () => (isRevoked ? reply(401) : { monthlyCost: 1 });
  const whole = await startWhole({
    // Only the last is polled again by itself.
    document: { applications: { interval: '1h', targets: ['a', 'b', { id: 'c', interval: '1s' }] } },
    routes: {
      ...Object.fromEntries(['a', 'b', 'c'].map((id) => [`/mc/apps/${id}/summary`, read])),
      '/mc/apps': () => (isRevoked ? reply(401) : applications),
    },
  });
  const requestsOf = (id: string) => whole.requests.filter(({ path }) => path.includes(`/${id}/`)).length;
  await whole.poll();
  whole.advance(1000);
  isRevoked = true;
  await whole.poll();
  expect(await refusing(whole)).toEqual({ application: 1 });
  expect(whole.said('The application API refuses the key of account (from $KEY): HTTP 401')).toHaveLength(1);
  const before = [requestsOf('a'), requestsOf('b')];
  isRevoked = false;
  await whole.pass(1200);
  expect(whole.exporter.targets().every(({ state }) => state === 'ok')).toBe(true);
  expect([requestsOf('a'), requestsOf('b')]).toEqual(before.map((n) => n + 1));
  expect(await refusing(whole)).toEqual({ application: 0 });
  await whole.sweep();
  expect(whole.said('over after 1 s: The application API refuses the key')).toHaveLength(1);
});

describe('what was refused for long backs off from its first failure anew', () => {
  const asked = (whole: Whole) => whole.requests.length;
  const start = async () => {
    const whole = await startWhole({
      document: { applications: { interval: '1m', targets: ['a'] } },
      env: { KEY: 'first' },
      routes: { '*': () => reply(403) },
    });
    await whole.exporter.start();
    await whole.pass(3_600_000);
    const { length } = whole.requests;
    await whole.pass(540_000);
    expect(asked(whole) - length).toBeLessThan(2);
    return whole;
  };
  const askedSoon = async (whole: Whole) => {
    const before = asked(whole);
    await whole.reload();
    await whole.pass(240_000);
    return asked(whole) - before;
  };

  it('with another key', async () => {
    const whole = await start();
    whole.env['KEY'] = 'second';
    expect(await askedSoon(whole)).toBeGreaterThan(2);
  });

  it('with other settings', async () => {
    const whole = await start();
    whole.document = { applications: { interval: '1m', targets: ['a'], latency_chart: 'points' } };
    expect(await askedSoon(whole)).toBeGreaterThan(2);
  });

  it('and what a 401 was about with the former key is not held against the new one', async () => {
    const refused: unknown[] = [];
    const whole = await startWhole({
      document: { applications: { interval: '1m', targets: ['a'] } },
      env: { KEY: 'first' },
      routes: {
        '/mc/apps': async ({ key }) => {
          if (key === 'first') return reply(401);
          refused.push(await refusing(whole));
          return applications;
        },
        '*': () => reply(401),
      },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    expect(await refusing(whole)).toEqual({ application: 1 });
    whole.env['KEY'] = 'second';
    await whole.reload();
    await whole.pass(10_000);
    expect(refused[0]).toEqual({ application: 0 });
    expect(whole.exporter.targets().map(({ lastFailure }) => lastFailure?.result)).toEqual(['not_found']);
  });

  it('and a refused key stays refused until it was asked with the other settings, or the other key', async () => {
    const whole = await startWhole({
      document: { applications: { interval: '1m', targets: ['a'] } },
      env: { KEY: 'first' },
      routes: { '*': () => reply(401) },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    const told = () => whole.exporter.causes().map(({ title }) => title);
    const before = told();
    expect(before).toHaveLength(1);
    whole.document = { applications: { interval: '1m', targets: ['a'], latency_chart: 'points' } };
    await whole.reload();
    expect([await refusing(whole), told()]).toEqual([{ application: 1 }, before]);
    whole.env['KEY'] = 'second';
    await whole.reload();
    expect([await refusing(whole), told()]).toEqual([{ application: 1 }, before]);
  });

  it('and what another API read with the former key is not said of the new one', async () => {
    const held: (() => void)[] = [];
    const whole = await startWhole({
      document: {
        applications: { interval: '1m', targets: ['a'] },
        pull_zones: { interval: '1m', targets: 'all' },
      },
      env: { KEY: 'first' },
      routes: {
        '/pullzone': async ({ key }) => {
          if (key === 'first') return pullZones;
          await new Promise<void>((resolve) => held.push(resolve));
          return reply(401);
        },
        '*': () => reply(401),
      },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    const told = () => JSON.stringify(whole.exporter.causes());
    expect(told()).toContain('accepts it');
    whole.env['KEY'] = 'second';
    await whole.reload();
    await whole.pass(5000);
    expect(held).toHaveLength(1);
    expect(whole.requests.filter(({ key, path }) => key === 'second' && path !== '/pullzone')).not.toEqual(
      [],
    );
    expect(told()).not.toContain('accepts it');
    for (const answer of held) answer();
  });

  it('but not with the same', async () => {
    const whole = await start();
    expect(await askedSoon(whole)).toBe(1);
  });
});

it('a 401 that is about what was requested is told with its reason, and says nothing of the key', async () => {
  const answer = reply(
    401,
    '{"errorResponse":{"errorKey":"invalid_datetime_window.too_old","message":"the window is too old"}}',
  );
  const whole = await startWhole({
    document: { applications: { targets: ['a'] } },
    routes: { '/mc/apps/a/summary': () => answer },
  });
  await whole.poll();
  await whole.sweep();
  expect(whole.exporter.targets().map(({ lastFailure }) => lastFailure?.result)).toEqual(['rejected']);
  expect(whole.exporter.causes().map(({ title }) => title)).toEqual([
    expect.stringContaining('invalid_datetime_window.too_old: the window is too old'),
  ]);
  expect(await refusing(whole)).toEqual({ application: 0 });
});

/** Something at each of three APIs, each at its own interval. */
async function startEverywhere(intervals: Readonly<Record<'app' | 'zone' | 'shield', string>>) {
  const state: { isRevoked: boolean; status?: number | undefined } = { isRevoked: false };
  const read = (answer: unknown) => () => {
    const status = state.isRevoked ? 401 : state.status;
    return status === undefined ? answer : reply(status);
  };
  const whole = await startWhole({
    document: {
      applications: { interval: intervals.app, targets: ['a', 'b'], stale_after: '3h' },
      pull_zones: { interval: intervals.zone, targets: 'all', stale_after: '3h' },
      shield_zones: { interval: intervals.shield, targets: 'all', stale_after: '3h' },
    },
    routes: {
      '/mc/apps/a/summary': read({ monthlyCost: 1 }),
      '/mc/apps/b/summary': read({ monthlyCost: 1 }),
      '/mc/apps': read(applications),
      '/pullzone': read(pullZones),
      '/shield/shield-zones': read({
        data: [{ shieldZoneId: 3, pullZoneId: 7, planType: 1 }],
        page: { totalCount: 1, totalPages: 1, currentPage: 1, nextPage: null },
      }),
    },
  });
  await whole.exporter.start();
  return { whole, state };
}

describe('a key that worked and is revoked', () => {
  it('is accepted nowhere until something was read after that, and the log never says so', async () => {
    const { whole, state } = await startEverywhere({ app: '1m', zone: '10m', shield: '10m' });
    await whole.pass(30 * 60_000);
    state.isRevoked = true;
    for (let n = 0; n < 90; n++) {
      await whole.pass(10_000);
      await whole.sweep();
      for (const { title, advice } of whole.exporter.causes()) {
        expect(title).not.toContain('accept');
        expect(advice).not.toContain('leave these kinds out');
      }
    }
    expect(await refusing(whole)).toEqual({ application: 1, core: 1, shield: 1 });
    expect(warnings(whole).map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^The application API refuses the key .* Copy the account's API key/),
    ]);
  });

  it('at one API alone is said to be accepted by the others once they were read again, and the log corrects itself', async () => {
    const { whole } = await startEverywhere({ app: '1m', zone: '10m', shield: '10m' });
    await whole.pass(30 * 60_000);
    for (const path of ['/mc/apps', '/mc/apps/a/summary', '/mc/apps/b/summary'])
      whole.routes[path] = () => reply(401);
    for (let n = 0; n < 120; n++) {
      await whole.pass(10_000);
      await whole.sweep();
    }
    const [first, second, ...more] = warnings(whole).map(({ msg }) => msg);
    expect(first).toMatch(
      /^The application API refuses the key .*\(from \$KEY\): HTTP 401.* Copy the account's/,
    );
    expect(second).toMatch(
      /^The application API refuses the key .*, and the (core|shield|shield and core) APIs? accepts? it: HTTP 401.*leave these kinds out/,
    );
    expect(more).toEqual([]);
    expect(whole.exporter.causes().map(({ title }) => title)).toEqual([
      'The application API refuses the key of account (from $KEY), and the shield and core APIs accept it: HTTP 401',
    ]);
  });
});

it.each([401, 403])(
  'a key to which everything is answered %i, and that works again: what backs off at other APIs is read at once, too',
  async (status) => {
    const { whole, state } = await startEverywhere({ app: '1m', zone: '10m', shield: '10m' });
    await whole.pass(30 * 60_000);
    state.status = status;
    await whole.pass(3 * 3_600_000);
    state.status = undefined;
    const since = whole.requests.length;
    const read = async () => {
      const names = ['bunnynet_application', 'bunnynet_pull_zone', 'bunnynet_shield_zone'];
      const ups = names.map((name) => whole.series(`${name}_up`));
      return (await Promise.all(ups)).every((rows) => Object.values(rows).every((up) => up === 1));
    };
    // It is what is read each minute that is asked first, after ten minutes at the latest.
    while (whole.requests.length === since) await whole.pass(1000);
    await whole.pass(2000);
    expect(await read()).toBe(true);
    expect(await refusing(whole)).toEqual({ application: 0, core: 0, shield: 0 });
    // Once each, and the list of applications.
    const paths = whole.requests.slice(since).map(({ path }) => path);
    expect(paths).toHaveLength(new Set(paths).size);
  },
);

it('a key that works again: all that the API refused is read at once, also after a poll that had not failed', async () => {
  const { whole, state } = await startEverywhere({ app: '30s', zone: '1h', shield: '1h' });
  const seldom = { id: 'c', interval: '10m', stale_after: '3h' };
  // Another API is asked whether the account can be read.
  whole.routes['/pullzone'] = () => pullZones;
  whole.document = {
    applications: { interval: '30s', targets: ['a', 'b', seldom], stale_after: '3h' },
    pull_zones: { targets: 'all', interval: '1h' },
  } as never;
  whole.routes['/mc/apps/c/summary'] = () => (state.isRevoked ? reply(401) : { monthlyCost: 1 });
  const requestsOf = (id: string) =>
    whole.requests.filter(({ path }) => path === `/mc/apps/${id}/summary`).length;
  const untilRead = async (id: string) => {
    const before = requestsOf(id);
    while (requestsOf(id) === before) await whole.pass(1000);
  };
  const ups = async () => Object.values(await whole.series('bunnynet_application_up'));
  await whole.reload();
  await whole.pass(60_000);
  await untilRead('c');
  state.isRevoked = true;
  await whole.pass(9 * 60_000);
  expect([await refusing(whole), await ups()]).toEqual([{ application: 1, core: 0 }, [0, 0, 1]]);
  state.isRevoked = false;
  const before = [requestsOf('a'), requestsOf('b')];
  await untilRead('c');
  // They back off, up to ten intervals.
  await whole.pass(2000);
  expect([await refusing(whole), await ups()]).toEqual([{ application: 0, core: 0 }, [1, 1, 1]]);
  expect([requestsOf('a'), requestsOf('b')]).toEqual(before.map((n) => n + 1));
});

describe('what was logged', () => {
  const hourMs = 3_600_000;
  const told = (whole: Whole) => whole.exporter.causes().map(({ title }) => title);

  /** Sweeps until something is so: a key file is read in real time. */
  const until = async (whole: Whole, file: string, is: () => boolean) => {
    while (!is()) {
      await stat(file).catch(() => undefined);
      await whole.pass(1000);
      await whole.sweep();
    }
  };

  async function startWithFile(route: () => unknown) {
    const file = join(await directory(), 'key');
    await writeFile(file, 'the-first-key', { mode: 0o600 });
    const whole = await startWhole({
      document: { credentials: { account: { file } }, billing: { targets: 'all', interval: '1h' } } as never,
      routes: { '/billing': route },
      // The clock of the test goes on while the disk takes its time.
      maxKeyReadMs: 1e9,
    });
    await whole.exporter.start();
    return { whole, file };
  }

  // How much time passes until a file is read again depends on the machine.
  it('says again that a key is refused where that is another one, and since when', {
    repeats: 0,
  }, async () => {
    const { whole, file } = await startWithFile(() => reply(401));
    await until(whole, file, () => whole.said('refuses the key').length === 1);
    await whole.pass(5 * hourMs);
    await whole.sweep();
    expect(whole.said('refuses the key')).toHaveLength(1);
    const changedMs = Date.now();
    await writeFile(file, 'the-second-key', { mode: 0o600 });
    await until(whole, file, () => whole.said('the key of account changed').length === 1);
    await until(whole, file, () => whole.said('refuses the key').length === 2);
    expect(whole.requests.at(-1)?.key).toBe('the-second-key');
    expect(whole.exporter.causes()[0]?.sinceMs).toBeGreaterThanOrEqual(changedMs);
  });

  it('of a key file that is gone is a cause, too, until it is there again', async () => {
    const { whole, file } = await startWithFile(() => ({ Balance: 5 }));
    expect(whole.exporter.causes()).toEqual([]);
    await rm(file);
    await until(whole, file, () => whole.said('the last readable key stays in use').length === 1);
    expect(whole.exporter.causes().map(({ title }) => title)).toEqual([
      expect.stringMatching(
        /^The key of account can no longer be read: expected the key file .*; there is none$/,
      ),
    ]);
    expect((await whole.get('/')).body).toContain('can no longer be read');
    await writeFile(file, 'the-first-key', { mode: 0o600 });
    await until(whole, file, () => whole.exporter.causes().length === 0);
    // The log has lines of its own.
    expect(whole.said('no longer')).toEqual([]);
  });

  it('names the address that a reload has, where that is wrong, too', async () => {
    const whole = await startWhole({
      document: {
        billing: { targets: 'all', interval: '1m' },
        pull_zones: { targets: 'all', interval: '1m' },
      },
      routes: { '*': () => reply(404) },
    });
    const moveTo = async (path: string) => {
      const core = { ...whole.api, base_url: `${whole.apiUrl}/${path}` };
      whole.document = { ...whole.document, apis: { core } } as never;
      await whole.reload();
    };
    await moveTo('one');
    await whole.exporter.start();
    await whole.pass(300_000);
    await whole.sweep();
    await whole.pass(hourMs);
    await moveTo('two');
    await whole.pass(300_000);
    await whole.sweep();
    expect(told(whole)).toEqual([expect.stringContaining('/two answers HTTP 404')]);
    expect(whole.said('/one answers HTTP 404')).toHaveLength(1);
    expect(whole.said('/two answers HTTP 404')).toHaveLength(1);
  });
});

describe('after a key was replaced by one that is refused', () => {
  const minuteMs = 60_000;
  const hourMs = 60 * minuteMs;

  it('when the account was read last does not go back', async () => {
    const good = (answer: unknown) => (request: Request) => (request.key === 'first' ? answer : reply(401));
    const whole = await startWhole({
      document: {
        pull_zones: { targets: 'all', interval: '1m' },
        billing: { targets: 'all', interval: '1d' },
      },
      env: { KEY: 'first' },
      routes: { '/billing': good({ Balance: 5 }), '/pullzone': good(pullZones) },
    });
    await whole.exporter.start();
    await whole.pass(hourMs);
    const lastSuccess = async () =>
      await whole.value('bunnynet_exporter_account_last_success_timestamp_seconds', { account: 'account' });
    const before = await lastSuccess();
    whole.env['KEY'] = 'wrong';
    await whole.reload();
    await whole.pass(2 * minuteMs);
    expect(await lastSuccess()).toBeGreaterThanOrEqual(before ?? Number.NaN);
  });

  it('nothing can be read since then, and not since something else failed first', async () => {
    let isThere = true;
    const whole = await startWhole({
      document: {
        billing: { targets: 'all', interval: '30m' },
        dns_zones: { targets: [7], interval: '30m' },
      },
      env: { KEY: 'first' },
      routes: {
        '/billing': ({ key }) => (key === 'first' ? { Balance: 5 } : reply(401)),
        '/dnszone/7/statistics': ({ key }) => {
          if (key !== 'first') return reply(401);
          return isThere ? { QueriesServedChart: {} } : reply(404, '{"ErrorKey":"not_found","Message":"no"}');
        },
      },
    });
    await whole.exporter.start();
    await whole.pass(hourMs);
    // Somebody deletes a zone that the configuration names.
    isThere = false;
    await whole.pass(30 * hourMs);
    expect((await whole.get('/')).body).not.toContain('Nothing can be read');
    whole.env['KEY'] = 'wrong';
    await whole.reload();
    await whole.pass(5 * minuteMs);
    const [, since = ''] = /Nothing can be read since ([^<]*)/.exec((await whole.get('/')).body) ?? [];
    // Of today: without a date.
    expect(since).toMatch(/^\d\d:/);
  });
});

it('a named target that another key lacks, too, is said again, and since when', async () => {
  const whole = await startWhole({
    document: { credentials: { account: { env: 'KA' } }, pull_zones: { interval: '5m', targets: [5] } },
    env: { KA: 'key-of-a', KB: 'key-of-b' },
    routes: { '/pullzone': () => pullZones },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  expect(whole.said('is not in the listing')).toHaveLength(1);
  await whole.pass(60 * 60_000);
  whole.document = { ...whole.document, credentials: { account: { env: 'KB' } } };
  await whole.reload();
  const changedMs = Date.now();
  await whole.pass(60_000);
  const [cause] = whole.exporter.causes();
  expect.soft(cause?.sinceMs).toBeGreaterThanOrEqual(changedMs);
  expect(whole.said('is not in the listing')).toHaveLength(2);
});

it('another key that is refused, too, is said to be, although its targets are asked one after the other', async () => {
  const whole = await startWhole({
    document: {
      applications: { interval: '5m', targets: Array.from({ length: 60 }, (_, at) => `app${at}`) },
    },
    api: { requests_per_second: 2 },
    env: { KEY: 'first' },
    routes: { '*': () => reply(401) },
  });
  await whole.exporter.start();
  const said = () => whole.said('refuses the key of account').filter(({ level }) => level === 40).length;
  await whole.pass(600_000);
  expect(said()).toBe(1);
  whole.env['KEY'] = 'second';
  await whole.reload();
  await whole.pass(600_000);
  expect(said()).toBe(2);
});

it('a key that was replaced is not refused before anything was asked with it', async () => {
  let isSlow = false;
  const slow = async (answer: unknown) => {
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 25_000));
    return answer;
  };
  const whole = await startWhole({
    document: {
      pull_zones: { targets: 'all', interval: '5m' },
      databases: { targets: 'all', interval: '5m' },
    },
    env: { KEY: 'first' },
    api: { timeout: '30s' },
    routes: {
      '/pullzone': () => slow({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
      '/database/v2/databases': () => slow(reply(401)),
    },
  });
  await whole.exporter.start();
  await whole.pass(600_000);
  expect(whole.exporter.causes()).toEqual([]);
  isSlow = true;
  whole.env['KEY'] = 'second';
  await whole.reload();
  await whole.pass(12_000);
  await whole.sweep();
  expect.soft(whole.exporter.causes().map(({ title }) => title)).toEqual([]);
  await whole.pass(120_000);
  expect.soft(whole.log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg)).toEqual([]);
});

it('a cause is not said again because a part of it is over', async () => {
  const lacking = new Set(['a']);
  const answer = ({ path }: Request) => {
    const id = /apps\/(\w+)\//.exec(path)?.[1] ?? '';
    return lacking.has(id)
      ? reply(404, '{"ErrorKey":"not_found","Message":"no such app"}')
      : { monthlyCost: 1 };
  };
  const whole = await startWhole({
    document: { applications: { interval: '1m', targets: ['a', 'b'] } },
    routes: { '*': answer },
  });
  await whole.exporter.start();
  const warned = () => whole.log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg);
  await whole.pass(1_800_000);
  expect(warned()).toHaveLength(1);
  lacking.add('b');
  await whole.pass(1_800_000);
  expect(warned()).toHaveLength(1);
  lacking.delete('a');
  await whole.pass(1_800_000);
  expect(warned()).toHaveLength(1);
});

describe('a key that was replaced a moment ago', () => {
  const later = async (ms: number, answer: unknown) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return answer;
  };
  const warned = (whole: Whole) => whole.log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg);

  it('what the former key read is no proof that this one is accepted', async () => {
    const of =
      (answer: unknown) =>
      ({ key }: Request) =>
        key === 'right' ? answer : reply(403);
    const whole = await startWhole({
      document: {
        billing: { targets: 'all' },
        applications: { targets: 'all' },
        application_limits: { targets: 'all', interval: '1m' },
      },
      env: { KEY: 'right' },
      api: { timeout: '30s' },
      routes: {
        '/billing': ({ key }) => (key === 'right' ? { Balance: 5 } : later(25_000, reply(401))),
        '/mc/apps': of({ items: [{ id: 'a', name: 'shop' }], meta: { totalItems: 1 }, cursor: null }),
        '/mc/apps/a/summary': of({ monthlyCost: 1 }),
        '/mc/limits': of({ maxNumberOfApplications: 5 }),
      },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    whole.env['KEY'] = 'wrong';
    await whole.reload();
    await whole.pass(24_000);
    await whole.sweep();
    expect.soft(whole.states()).toContain('application_limits failing');
    await whole.pass(600_000);
    expect.soft(whole.said('lacks the product').map(({ msg }) => msg)).toEqual([]);
    expect.soft(whole.said('does not include').map(({ msg }) => msg)).toEqual([]);
  });

  it('nor does it show that the key is of an account that has the product', async () => {
    const ofFirst =
      (answer: unknown) =>
      ({ key }: Request) =>
        key === 'first' ? answer : later(1000, reply(403));
    const whole = await startWhole({
      document: { billing: { targets: 'all' }, application_limits: { targets: 'all' } },
      env: { KEY: 'first' },
      routes: { '/billing': () => ({ Balance: 5 }), '/mc/limits': ofFirst({ maxNumberOfApplications: 5 }) },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    whole.env['KEY'] = 'second';
    await whole.reload();
    await whole.pass(5000);
    expect.soft(whole.states()).toEqual(['application_limits lacking', 'billing ok']);
    await whole.sweep();
    await whole.pass(600_000);
    expect.soft(whole.said('may not read').map(({ msg }) => msg)).toEqual([]);
  });

  it('a key that was replaced is not refused before anything was read or refused with it', async () => {
    let isSlow = false;
    const slow = (answer: unknown) => (isSlow ? later(25_000, answer) : answer);
    const whole = await startWhole({
      document: {
        pull_zones: { targets: 'all', interval: '5m' },
        databases: { targets: 'all', interval: '5m' },
        billing: { targets: 'all', interval: '5m' },
      },
      env: { KEY: 'first' },
      api: { timeout: '30s', max_retries: 0 },
      routes: {
        '/pullzone': () => slow({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
        '/database/v2/databases': () => slow(reply(401)),
        '/billing': () => (isSlow ? reply(503) : { Balance: 5 }),
      },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    expect(warned(whole)).toEqual([]);
    isSlow = true;
    whole.env['KEY'] = 'second';
    await whole.reload();
    await whole.pass(12_000);
    await whole.sweep();
    const titles = whole.exporter.causes().map(({ title }) => title);
    expect.soft(titles.filter((title) => title.includes('refuses'))).toEqual([]);
    await whole.pass(120_000);
    expect.soft(warned(whole).filter((msg) => msg.includes('refuses'))).toEqual([]);
  });

  it('another wrong address is said, too', async () => {
    const whole = await startWhole({
      document: { billing: { targets: 'all' } },
      routes: {
        '/billing': () => ({ Balance: 5 }),
        '/pullzone': () => ({ Items: [], TotalItems: 0, HasMoreItems: false }),
        '*': () => reply(404),
      },
    });
    await whole.exporter.start();
    await whole.pass(60_000);
    const at = async (path: string) => {
      whole.document = {
        billing: { targets: 'all' },
        shield_zones: { targets: 'all' },
        apis: { core: { base_url: whole.apiUrl }, shield: { base_url: `${whole.apiUrl}${path}` } },
      };
      await whole.reload();
      await whole.pass(5000);
      await whole.pass(600_000);
    };
    await at('/one');
    expect(whole.said('/one').filter(({ level }) => level === 40)).toHaveLength(1);
    await at('/two');
    expect(whole.said('/two').filter(({ level }) => level === 40)).toHaveLength(1);
  });
});
