/** What other tests rely on: the quirks of the API that the simulator has, its keys, and what it says of requests. How bodies look is on the golden page. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { libraryKey, oneOfEach, operationOf, urls } from './addresses.ts';
import { ask, at, jsonOf, listOf, objectOf } from './ask.ts';
import { noon, startSimulator } from './start.ts';

describe('the listing of Shield Zones (reference 2.6, 2.7)', () => {
  it('has ten zones a page by default, in a stable order without gaps, and always a next page', async () => {
    const simulator = await startSimulator({ shape: { zones: 23 } });
    const ids: string[] = [];
    for (const page of [1, 2, 3, 4]) {
      const body = jsonOf(await ask(urls(simulator).zones(`?page=${page}`), simulator.keys.account));
      expect(body['page']).toEqual({
        totalCount: 23,
        totalPages: 3,
        currentPage: page,
        nextPage: page + 1,
        pageSize: 10,
      });
      ids.push(...listOf(body['data']).map((zone) => String(objectOf(zone)['shieldZoneId'])));
    }
    expect(ids).toEqual(simulator.zones.map((zone) => zone.id));
  });

  it.each([
    [undefined, 5_000, { totalCount: 1_200, totalPages: 2, pageSize: 1_000 }],
    [2, 1_000, { totalCount: 1_200, totalPages: 600, pageSize: 2 }],
  ])('has at most so many zones a page as its limit says: %s', async (maxPageSize, perPage, page) => {
    const simulator = await startSimulator({ scale: 'full', ...(maxPageSize && { maxPageSize }) });
    const body = jsonOf(await ask(urls(simulator).zones(`?perPage=${perPage}`), simulator.keys.account));
    expect(body['page']).toMatchObject(page);
    expect(listOf(body['data'])).toHaveLength(page.pageSize);
  });

  it('has no page object if the account has no zones', async () => {
    const simulator = await startSimulator({ shape: { zones: 0, endpoints: 0, rateLimitZones: 0 } });
    const heard = await ask(urls(simulator).zones(), simulator.keys.account);
    expect(heard.text).toBe('{"data":[]}');
  });

  it('writes ids of more than 53 bits exactly', async () => {
    const simulator = await startSimulator({ shape: { zones: 60 } });
    const wide = simulator.zones.map((zone) => zone.id).filter((id) => id.length > 15);
    expect(wide).toHaveLength(1);
    const { text } = await ask(urls(simulator).zones('?perPage=100'), simulator.keys.account);
    expect(text).toContain(`{"shieldZoneId":${wide[0]},`);
  });
});

it('draws each sort of entity from its own stream of random numbers', () => {
  const folder = 'src/simulator/kinds';
  const code = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  const calls = code.flatMap((text) => text.match(/\bentities\([^)]*/g) ?? []);
  const streams = calls.map((call) => Number(/^entities\(\s*\w+,\s*(\d+),/.exec(call)?.[1]));
  expect(streams.length).toBeGreaterThan(10);
  expect(streams, 'a stream is a number').not.toContain(Number.NaN);
  const taken = streams.filter((stream, at) => streams.indexOf(stream) < at);
  expect(taken, `use ${Math.max(...streams) + 1} instead, which is free`).toEqual([]);
});

it('changes values over time if they depend on time', async () => {
  let nowMs = noon;
  const simulator = await startSimulator({ now: () => nowMs });
  const answers = () =>
    Promise.all(oneOfEach(simulator).map(async ({ url, key }) => (await ask(url, key)).text));
  const before = await answers();
  nowMs += 3 * 86_400_000;
  const after = await answers();
  for (const [index, { operation }] of oneOfEach(simulator).entries()) {
    const { isStill = false } = operationOf(operation).traits;
    expect(after[index] === before[index], operation).toBe(isStill);
  }
});

describe('keys', () => {
  it('refuses every operation without a key, and marks the answer with a request id', async () => {
    const simulator = await startSimulator();
    for (const { url, operation } of oneOfEach(simulator)) {
      const heard = await ask(url);
      expect(heard.status).toBe(401);
      expect(heard.headers['cdn-requestid']).toMatch(/^[\da-f]{32}$/);
      // Only the Shield API has a message.
      const { api } = operationOf(operation);
      expect(heard.text).toBe(api === 'shield' ? '{"title":"Unauthorized","status":401}' : '');
    }
  });

  it("accepts only a library's own key for its videos", async () => {
    const simulator = await startSimulator();
    const [own = '', other = ''] = simulator.libraryIds;
    const { id } = at(simulator.videos, 0);
    const url = urls(simulator).video(own, id);
    expect((await ask(url, libraryKey(simulator, own))).status).toBe(200);
    expect((await ask(url, libraryKey(simulator, other))).status).toBe(401);
    expect((await ask(url, simulator.keys.account)).status).toBe(401);
    expect((await ask(url, simulator.keys.readOnlyLibraries[own])).status).toBe(403);
  });

  it('accepts the given keys, and a replaced key at once', async () => {
    const simulator = await startSimulator({ keys: { account: 'mine' } });
    expect((await ask(urls(simulator).zones(), 'mine')).status).toBe(200);
    simulator.replaceKey('account', 'next');
    expect((await ask(urls(simulator).zones(), 'mine')).status).toBe(401);
    expect((await ask(urls(simulator).zones(), 'next')).status).toBe(200);
  });
});

describe('a missing item', () => {
  it.each([
    ['48999998', 202],
    ['48999999', 200],
  ])('is an error with a good status for the unknown zone %s', async (zone, status) => {
    const simulator = await startSimulator();
    for (const url of [urls(simulator).rateLimits(zone), urls(simulator).guardian(zone, '1')]) {
      const heard = await ask(url, simulator.keys.account);
      expect(heard.status).toBe(status);
      expect(jsonOf(heard)).toMatchObject({
        data: null,
        error: { success: false, errorKey: 'not_found_or_unauthorised_access.shieldzone' },
      });
    }
  });

  it('is a 404 elsewhere, also once it was removed, until it is brought back', async () => {
    const simulator = await startSimulator();
    const { id } = at(simulator.applications, 0);
    const statusOf = async (app: string) =>
      (await ask(urls(simulator).application(app), simulator.keys.account)).status;
    expect(await statusOf('nobody')).toBe(404);
    const bringBack = simulator.remove(id);
    expect(await statusOf(id)).toBe(404);
    bringBack();
    expect(await statusOf(id)).toBe(200);
  });
});

it.each([
  ['pull_zone_statistics', 'dateFrom', 'dateTo'],
  ['application_statistics', 'fromDate', 'toDate'],
  ['shield_statistics', 'StartDate', 'EndDate'],
])('takes two date-times as the days of %s, and refuses a date', async (kind, from, to) => {
  const simulator = await startSimulator();
  const today = new Date(noon).toISOString().slice(0, 10);
  const address = oneOfEach(simulator).find(({ operation }) => operation === kind);
  const statusOf = async (first: string, last: string) => {
    const { url = '', key = '' } = address ?? {};
    return (await ask(`${url}${url.includes('?') ? '&' : '?'}${from}=${first}&${to}=${last}`, key)).status;
  };
  expect(await statusOf(`${today}T00:00:00Z`, `${today}T23:59:59Z`)).toBe(200);
  expect(await statusOf(today, today)).toBe(400);
  expect(await statusOf(`${today}T00:00:00Z`, '2026-02-31T00:00:00')).toBe(400);
});

it('counts requests and answers by operation, and records them on request', async () => {
  const simulator = await startSimulator({ logRequests: true });
  await ask(urls(simulator).zones(), simulator.keys.account);
  await ask(urls(simulator).zones('?page=2'), 'wrong');
  await ask(`${simulator.origin}/elsewhere`);
  expect(simulator.counters.shield_zone).toEqual({ requests: 2, statuses: { 200: 1, 401: 1 } });
  expect(simulator.counters.other).toEqual({ requests: 1, statuses: { 404: 1 } });
  expect(simulator.requests.map(({ path, key, status }) => `${path} ${key} ${status}`)).toEqual([
    '/shield/shield-zones account 200',
    '/shield/shield-zones?page=2 unknown 401',
    '/elsewhere none 404',
  ]);
});
