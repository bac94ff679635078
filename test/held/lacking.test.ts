import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { mayLack } from '../../src/polling/listing-status.ts';
import { type Request, reply, startWhole, type Whole } from './whole.ts';

const databases = '/database/v2/databases';

async function start(status: number) {
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' }, databases: { targets: 'all' } },
    routes: {
      '/pullzone': () => ({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
      [databases]: () => reply(status),
    },
  });
  const isHealthy = await whole.poll();
  return { whole, isHealthy };
}

it.each([401, 403, 404])('a product that the account lacks is no failure: HTTP %s', async (status) => {
  const { whole, isHealthy } = await start(status);
  const of = { kind: 'database' };
  expect(isHealthy).toBe(true);
  expect(await whole.value('bunnynet_exporter_discovery_up', of)).toBe(1);
  expect(await whole.value('bunnynet_exporter_discovery_found_targets', of)).toBe(0);
  expect(await whole.value('bunnynet_exporter_refused_keys', { api: 'core' })).toBe(0);
  expect(whole.exporter.causes()).toEqual([]);
  await whole.poll();
  expect(whole.said('no databases: the account lacks the product').map(({ level }) => level)).toEqual([30]);
});

it('after a success it is a failure like any other, which changes nothing', async () => {
  const { whole } = await start(404);
  whole.routes[databases] = () => ({
    databases: [{ id: 'db_1', name: 'shop' }],
    page_info: { current_page: 1, total_items: 1, has_more_items: false },
  });
  await whole.poll();
  const found = () => whole.value('bunnynet_exporter_discovery_found_targets', { kind: 'database' });
  expect(await found()).toBe(1);
  whole.routes[databases] = () => reply(403);
  expect(await whole.poll()).toBe(false);
  expect([await found(), whole.exporter.targets().map(({ target }) => target.kind)]).toEqual([
    1,
    ['pull_zone', 'database'],
  ]);
  expect(whole.exporter.causes().map(({ reason }) => reason)).toEqual(['denied']);
});

it('what an account has after all is not forgotten by a sweep that comes while it is planned', async () => {
  const { whole } = await start(404);
  await whole.poll();
  await whole.pass(10_000 - (whole.passedMs % 10_000) - 50);
  whole.routes[databases] = () => ({
    databases: [{ id: 'db_1', name: 'shop' }],
    page_info: { current_page: 1, total_items: 1, has_more_items: false },
  });
  // The reload plans, so the next plan waits a tenth of a second.
  await whole.reload();
  await whole.pass(1000);
  expect(whole.exporter.targets().map(({ target }) => target.kind)).toEqual(['pull_zone', 'database']);
});

it('what leaves the configuration and comes back is said again', async () => {
  const { whole } = await start(404);
  const { document } = whole;
  whole.document = { pull_zones: { targets: 'all' } };
  await whole.reload();
  await whole.poll();
  whole.document = document;
  await whole.reload();
  await whole.poll();
  await whole.poll();
  expect(whole.said('no databases: the account lacks the product')).toHaveLength(2);
});

it('a 404 says that the product is lacking only at the default address', () => {
  const isAt = (baseUrl: string) => mayLack('api', { api: 'application', baseUrl }, 404);
  expect(isAt('https://api.bunny.net/mc')).toBe(true);
  expect(isAt('https://api.bunny.net/mcc')).toBe(false);
});

describe('an account without Magic Containers', () => {
  const apps = '/mc/apps';
  async function start(status: number, billing: () => unknown = () => ({ Balance: 5 })) {
    const whole = await startWhole({
      document: { billing: { targets: 'all' }, applications: { targets: 'all' } },
      routes: { '/billing': billing, [apps]: () => reply(status) },
    });
    return { whole, isHealthy: await whole.poll() };
  }
  const up = (whole: Whole) => whole.value('bunnynet_exporter_discovery_up', { kind: 'application' });

  it('is one without applications where the key is accepted by another API, and a line says so', async () => {
    const { whole, isHealthy } = await start(403);
    expect(isHealthy).toBe(true);
    expect(await up(whole)).toBe(1);
    expect(await whole.value('bunnynet_exporter_discovery_found_targets', { kind: 'application' })).toBe(0);
    expect(whole.exporter.causes()).toEqual([]);
    await whole.poll();
    expect(whole.said('no applications: the account lacks the product')).toHaveLength(1);
    whole.routes[apps] = () => ({
      items: [{ id: 'a', name: 'shop' }],
      meta: { totalItems: 1 },
      cursor: null,
    });
    whole.routes['/mc/apps/a/summary'] = () => ({ monthlyCost: 1 });
    await whole.poll();
    whole.routes[apps] = () => reply(403);
    expect(await whole.poll()).toBe(false);
  });

  it('has no limits of applications either, whichever of its APIs is read first', async () => {
    for (const isLate of [false, true]) {
      const whole = await startWhole({
        document: { application_limits: { targets: 'all' }, billing: { targets: 'all' } },
        routes: {
          '/billing': async () => {
            if (isLate) await sleep(5000);
            return { Balance: 5 };
          },
          '/mc/limits': () => reply(403),
        },
      });
      expect(await whole.poll()).toBe(true);
      const states = () => whole.exporter.targets().map(({ target, state }) => [target.kind, state]);
      const lacking = [
        ['billing', 'ok'],
        ['application_limits', 'lacking'],
      ];
      expect(states()).toEqual(expect.arrayContaining(lacking));
      expect(await whole.value('bunnynet_application_limits_up')).toBe(1);
      expect(whole.exporter.causes()).toEqual([]);
      await whole.poll();
      expect(states()).toEqual(expect.arrayContaining(lacking));
      // Once they were read, it is a failure like any other.
      whole.routes['/mc/limits'] = () => ({ maxNumberOfApplications: 5 });
      expect(await whole.poll()).toBe(true);
      whole.routes['/mc/limits'] = () => reply(403);
      expect(await whole.poll()).toBe(false);
      expect(whole.exporter.causes().map(({ reason }) => reason)).toEqual(['denied']);
      await whole.stop();
    }
  });

  it('is not one that has applications: a key that may not read the limits lacks a right', async () => {
    const whole = await startWhole({
      document: { application_limits: { targets: 'all', interval: '1m' }, applications: { targets: 'all' } },
      routes: {
        [apps]: () => ({ items: [{ id: 'a', name: 'shop' }], meta: { totalItems: 1 }, cursor: null }),
        '/mc/apps/a/summary': () => ({ monthlyCost: 1 }),
        '/mc/limits': () => reply(403),
      },
    });
    await whole.exporter.start();
    await whole.pass(180_000);
    expect(await whole.value('bunnynet_application_limits_up')).toBe(0);
    expect(whole.exporter.causes().map(({ reason }) => reason)).toEqual(['denied']);
  });

  it('says nothing good of its key: what is refused elsewhere later is not said to be accepted there', async () => {
    const whole = await startWhole({
      document: {
        application_limits: { targets: 'all', interval: '1m' },
        billing: { targets: 'all', interval: '5m' },
      },
      routes: { '/billing': () => ({ Balance: 5 }), '/mc/limits': () => reply(403) },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    whole.routes['/billing'] = () => reply(403);
    await whole.pass(1_200_000);
    const [cause] = whole.exporter.causes();
    expect(cause?.reason).toBe('denied');
    expect(`${cause?.title} ${cause?.meaning} ${cause?.advice}`).not.toContain('accepts');
  });

  it('has its limits fail while no API accepts the key', async () => {
    const whole = await startWhole({
      document: { application_limits: { targets: 'all' }, billing: { targets: 'all', interval: '1m' } },
      routes: { '*': () => reply(403) },
    });
    expect(await whole.poll()).toBe(false);
    expect(await whole.value('bunnynet_application_limits_up')).toBe(0);
    whole.routes['/billing'] = () => ({ Balance: 5 });
    // Far before the limits are due again.
    await whole.pass(180_000);
    expect(await whole.value('bunnynet_application_limits_up')).toBe(1);
  });

  it.each([
    ['no API accepts the key', 403, () => reply(403)],
    ['the key is refused there', 401, undefined],
    ['an address that was set by hand may be the wrong one', 404, undefined],
  ])('is no such account where %s', async (_, status, billing) => {
    const { whole, isHealthy } = await start(status, billing);
    expect(isHealthy).toBe(false);
    expect(await up(whole)).toBe(0);
    expect(whole.exporter.causes()).not.toEqual([]);
  });
});

it('where nothing else of the API can be read, it is a failure', async () => {
  const whole = await startWhole({
    document: { databases: { targets: 'all' } },
    routes: { [databases]: () => reply(401) },
  });
  expect(await whole.poll()).toBe(false);
  expect(whole.exporter.causes().map(({ reason }) => reason)).toEqual(['refused']);
});

it.each([true, false])(
  'is told from a refusal by what else of the API can be read, scraped meanwhile: %s',
  async (isScraped) => {
    const whole = await startWhole({
      document: { billing: { targets: 'all' }, databases: { targets: 'all' } },
      routes: {
        '/billing': async () => {
          await sleep(800);
          return { Balance: 5 };
        },
        [databases]: () => reply(403),
      },
    });
    await whole.exporter.start();
    await whole.pass(400);
    if (isScraped) await whole.get('/metrics');
    await whole.pass(5000);
    const of = { kind: 'database' };
    expect(await whole.value('bunnynet_exporter_discovery_up', of)).toBe(1);
    expect(await whole.value('bunnynet_exporter_discovery_found_targets', of)).toBe(0);
    expect(whole.exporter.causes()).toEqual([]);
  },
);

describe('another key under the same name, of an account that lacks a product that the former one had', () => {
  const minuteMs = 60_000;
  const hourMs = 60 * minuteMs;
  const pullZones = { Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false };
  const applications = { items: [{ id: 'a', name: 'shop' }], meta: { totalItems: 1 }, cursor: null };
  const told = (one: Whole) => one.exporter.causes().map(({ title }) => title);

  it('Magic Containers', async () => {
    const ofFirst =
      (answer: unknown) =>
      ({ key }: Request) =>
        key === 'first' ? answer : reply(403);
    const options = {
      document: {
        billing: { targets: 'all' as const },
        applications: { targets: 'all' as const },
        application_limits: { targets: 'all' as const },
      },
      routes: {
        '/billing': () => ({ Balance: 5 }),
        '/mc/apps': ofFirst(applications),
        '/mc/apps/a/summary': ofFirst({ monthlyCost: 1 }),
        '/mc/limits': ofFirst({ maxNumberOfApplications: 5 }),
      },
    };
    const whole = await startWhole({ ...options, env: { KEY: 'first' } });
    await whole.exporter.start();
    await whole.pass(10 * minuteMs);
    whole.env['KEY'] = 'second';
    await whole.reload();
    await whole.pass(2 * hourMs);
    const anew = await startWhole({ ...options, env: { KEY: 'second' } });
    await anew.exporter.start();
    await anew.pass(hourMs);
    expect([anew.states(), told(anew)]).toEqual([['application_limits lacking', 'billing ok'], []]);
    expect([whole.states(), told(whole)]).toEqual([anew.states(), told(anew)]);
  });

  it('databases', async () => {
    const whole = await startWhole({
      document: { pull_zones: { targets: 'all' }, databases: { targets: 'all' } },
      env: { KEY: 'first' },
      routes: {
        '/pullzone': () => pullZones,
        '/database/v2/databases': ({ key }) =>
          key === 'first'
            ? {
                databases: [{ id: 'db_1', name: 'shop' }],
                page_info: { current_page: 1, total_items: 1, has_more_items: false },
              }
            : reply(404),
      },
    });
    await whole.exporter.start();
    await whole.pass(10 * minuteMs);
    whole.env['KEY'] = 'second';
    await whole.reload();
    await whole.pass(2 * hourMs);
    expect([whole.states(), told(whole)]).toEqual([['pull_zone ok'], []]);
  });
});

describe('an account that lacks a product since it has another key', () => {
  const minuteMs = 60_000;
  const hourMs = 60 * minuteMs;
  const told = (one: Whole) => one.exporter.causes().map(({ title }) => title);
  const applications = { items: [{ id: 'a', name: 'shop' }], meta: { totalItems: 1 }, cursor: null };
  const start = async (has: string, isDown: () => boolean, env: Record<string, string>) => {
    const of =
      (answer: unknown) =>
      ({ key }: Request) =>
        isDown() ? reply(503) : key === has ? answer : reply(403);
    const whole = await startWhole({
      document: { billing: { targets: 'all' }, applications: { targets: 'all' } },
      env,
      routes: {
        '/billing': () => ({ Balance: 5 }),
        '/mc/apps': of(applications),
        '/mc/apps/a/summary': of({ monthlyCost: 1 }),
      },
    });
    await whole.exporter.start();
    await whole.pass(10 * minuteMs);
    await whole.sweep();
    return whole;
  };
  const swap = async (whole: Whole, key: string) => {
    whole.env['KEY'] = key;
    await whole.reload();
    await whole.pass(2 * hourMs);
    await whole.sweep();
  };

  it('lacks it also after the API did not answer once', async () => {
    let isDown = false;
    const whole = await start('first', () => isDown, { KEY: 'first' });
    await swap(whole, 'second');
    expect(told(whole)).toEqual([]);
    const { length } = whole.said('may not read');
    isDown = true;
    while (whole.exporter.listings().every(({ state }) => state !== 'failing')) await whole.pass(10_000);
    isDown = false;
    await whole.pass(minuteMs);
    await whole.sweep();
    expect.soft(told(whole)).toEqual([]);
    expect.soft(whole.said('may not read')).toHaveLength(length);
  });

  it('and is said to lack it, also where it did before it had it', async () => {
    const whole = await start('has-it', () => false, { KEY: 'lacks-it' });
    expect(whole.said('lacks the product')).toHaveLength(1);
    await swap(whole, 'has-it');
    expect(whole.exporter.targets()).toHaveLength(2);
    await swap(whole, 'lacks-it-too');
    expect(whole.exporter.targets()).toHaveLength(1);
    // The last line about it is `this is over …: The key of account may not read …`, as if it could be read.
    expect(whole.said('lacks the product')).toHaveLength(2);
  });
});

describe('a wrong key', () => {
  const of =
    (right: string, answer: unknown) =>
    ({ key }: Request) =>
      key === right ? answer : reply(401);
  const database = {
    databases: [{ id: 'db_1', name: 'shop' }],
    page_info: { current_page: 1, total_items: 1, has_more_items: false },
  };

  it('does not show that the account lacks a product: what another key read is no proof that this one is accepted', async () => {
    const whole = await startWhole({
      document: {
        databases: { targets: 'all', interval: '5m' },
        pull_zones: { targets: 'all', interval: '5m' },
        pull_zone_optimizer: { targets: 'all', interval: '2h' },
      },
      env: { KEY: 'right' },
      routes: {
        '/pullzone': of('right', {
          Items: [7, 8, 9].map((Id) => ({ Id, Name: `zone ${Id}`, OptimizerEnabled: true })),
          TotalItems: 3,
          HasMoreItems: false,
        }),
        '*': of('right', { TotalRequestsOptimized: 5 }),
        [databases]: of('right', database),
      },
    });
    await whole.exporter.start();
    await whole.pass(600_000);
    whole.env['KEY'] = 'wrong';
    await whole.reload();
    await whole.pass(900_000);
    await whole.sweep();
    expect(whole.said('no databases')).toEqual([]);
    expect(whole.states()).toContain('database failing');
  });
});
