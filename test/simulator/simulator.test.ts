import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isGuarded } from '../../simulator/kinds/api-guardian.ts';
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
