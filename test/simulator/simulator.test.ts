import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isGuarded } from '../../simulator/kinds/api-guardian.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { noon, startSimulator } from './start.ts';

it('draws each sort of entity from its own stream of random numbers', () => {
  const folder = 'simulator/kinds';
  const code = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  const calls = code.flatMap((text) => text.match(/\bentities\([^)]*/g) ?? []);
  const streams = calls.map((call) => Number(/^entities\(\s*\w+,\s*(\d+),/.exec(call)?.[1]));
  expect(streams.length).toBeGreaterThan(10);
  expect(streams, 'a stream is a number').not.toContain(Number.NaN);
  const taken = streams.filter((stream, at) => streams.indexOf(stream) < at);
  expect(taken, `use ${Math.max(...streams) + 1} instead, which is free`).toEqual([]);
});

it.each([
  [
    'of hours older than 30 days',
    31,
    31,
    '&hourly=true',
    400,
    'Cannot request hourly statistics older than 30 days',
  ],
  ['of hours of the last 30 days', 29, 29, '&hourly=true', 200, undefined],
  ['of a day older than 30 days', 31, 31, '', 200, undefined],
  ['of a day older than a year', 367, 367, '', 400, 'Cannot request statistics older than 365 days'],
  ['of more than 40 days at once', 50, 5, '', 400, 'Cannot request statistics of more than 40 days'],
])('answers a request %s', async (_which, first, last, more, status, message) => {
  const simulator = await startSimulator();
  const date = (daysAgo: number) => new Date(noon - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const range = `dateFrom=${date(first)}T00:00:00Z&dateTo=${date(last)}T23:59:59Z`;
  const url = `${simulator.baseUrls.core}/statistics?pullZone=${simulator.pullZones[0]?.id}&${range}${more}`;
  const response = await fetch(url, { headers: { AccessKey: simulator.keys.account } });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject(message === undefined ? {} : { Message: message });
});

it('answers what is not there as the API was seen to', async () => {
  const simulator = await startSimulator({ shape: { endpoints: 1 } });
  const [configured, unconfigured] = simulator.zones.filter(isGuarded).map(({ id }) => id);
  const answerTo = async (api: 'core' | 'shield', path: string) => {
    const headers = { AccessKey: simulator.keys.account };
    const response = await fetch(`${simulator.baseUrls[api]}${path}`, { headers });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  const endpointsOf = (zone = '') => answerTo('shield', `/shield/shield-zone/${zone}/api-guardian`);
  const body = (errorKey: unknown) => ({ error: { success: false, errorKey }, data: null });

  expect(await endpointsOf(unconfigured)).toMatchObject({
    status: 404,
    body: body(expect.stringMatching(/no_configuration$/)),
  });
  const [endpoint] = simulator.endpoints;
  simulator.remove(endpoint?.id ?? '');
  expect(await endpointsOf(configured)).toMatchObject({ status: 200, body: { data: { endpoints: [] } } });
  const metrics = `/shield/metrics/shield-zone/${configured}/api-guardian/endpoint/${endpoint?.id}`;
  expect(await answerTo('shield', metrics)).toMatchObject({ status: 404, body: body(null) });

  const egress = (zone = '') => answerTo('core', `/storagezone/${zone}/statistics/egress`);
  expect(await egress(simulator.storageZones[0]?.id)).toMatchObject({ status: 200 });
  expect(await egress('1')).toEqual({ status: 401, body: undefined });
  expect(await answerTo('core', '/statistics?pullZone=1')).toMatchObject({ status: 404 });
});

it('keeps the Shield Zone of a pull zone that was removed', async () => {
  const simulator = await startSimulator();
  const [zone] = simulator.zones;
  const path = { pullZones: '/pullzone', shieldZones: '/shield/shield-zones' };
  const list = async (which: keyof typeof path) => {
    const headers = { AccessKey: simulator.keys.account };
    return await (await fetch(`${simulator.baseUrls.core}${path[which]}`, { headers })).text();
  };
  expect(await list('pullZones')).toContain(`"Id":${zone?.pullZoneId},`);
  simulator.remove(zone?.pullZoneId ?? '');
  expect(await list('pullZones')).not.toContain(`"Id":${zone?.pullZoneId},`);
  expect(await list('shieldZones')).toContain(`"pullZoneId":${zone?.pullZoneId},`);
});

describe('two accounts', () => {
  it('have no id and no name in common', () => {
    const [one, two] = createSimulator({ accounts: 2, scale: 'medium' }).accounts.map((account) => {
      const listed = [account.pullZones, account.zones, account.storageZones, account.dnsZones].flat();
      const further = [account.applications, account.edgeScripts, account.databases, account.videoLibraries];
      const named = [...listed, ...further.flat()];
      const nameless = [account.loadBalancers, account.videos, account.endpoints].flat();
      const rules = account.rateLimitZones.flatMap((zone) => zone.rules);
      const ids = [...named, ...nameless, ...rules].map(({ id }) => id);
      return new Set([...ids, ...named.map(({ name }) => name)]);
    });
    expect(one?.size).toBeGreaterThan(2000);
    expect(two?.size).toBe(one?.size);
    expect([...(one ?? [])].filter((text) => two?.has(text))).toEqual([]);
  });

  it('are each opened by their own keys alone', async () => {
    const simulator = await startSimulator({ accounts: 2, keys: { account: 'first' } });
    const [one, two] = simulator.accounts;
    const ask = async (api: 'core' | 'video', path: string, key = '') =>
      await fetch(`${simulator.baseUrls[api]}${path}`, { headers: { AccessKey: key } });
    const pullZones = async (key?: string) => {
      const list = (await (await ask('core', '/pullzone', key)).json()) as { Items: { Id: number }[] };
      return list.Items.map(({ Id }) => String(Id)).toSorted();
    };
    const idsOf = (account = one) => account?.pullZones.map(({ id }) => id).toSorted();
    expect(await pullZones('first')).toEqual(idsOf(one));
    expect(await pullZones('first-2')).toEqual(idsOf(two));
    const [library = ''] = two?.libraryIds ?? [];
    const videos = async (key?: string) =>
      (await ask('video', `/library/${library}/videos?orderBy=date`, key)).status;
    expect(await videos(two?.keys.libraries[library])).toBe(200);
    expect(await videos(Object.values(one?.keys.libraries ?? {})[0])).toBe(401);
    expect((await ask('core', `/pullzone`, 'nobody')).status).toBe(401);
  });
});
