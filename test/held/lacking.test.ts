import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { reply, startWhole } from './whole.ts';

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
