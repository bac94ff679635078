import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { directory } from '../config/fixtures.ts';
import { runs } from '../runs.ts';
import { holdFile } from './hold-file.ts';
import { eventually, type Request, type Route, reply, startWhole, type Whole } from './whole.ts';

const day = '2026-08-15T00:00:00Z';
const requests = 'bunnynet_pull_zone_requests_total';

const pullZones = (...ids: readonly number[]) => ({
  Items: ids.map((Id) => ({ Id, Name: `zone ${Id}` })),
  TotalItems: ids.length,
  HasMoreItems: false,
});

const dozen = Array.from({ length: 12 }, (_, at) => `app${at}`);

/** A gate: answers wait until it is opened. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** The counted requests of each pull zone, by its id. */
async function counted(whole: Whole) {
  const rows = Object.entries(await whole.series(requests));
  return Object.fromEntries(
    rows.map(([labels, value]) => [/pull_zone_id="(\d+)"/.exec(labels)?.[1] ?? labels, value]),
  );
}

/** The pull zones whose statistics of today were requested, from this request on. */
function readSince(whole: Whole, from: number): readonly string[] {
  const isToday = ({ query }: Request) => query.get('dateFrom')?.startsWith('2026-08-15');
  const reads = whole.requests.slice(from).filter((one) => one.path === '/statistics' && isToday(one));
  return reads.map(({ query }) => query.get('pullZone') ?? '').toSorted();
}

/** Two pull zones that have counted 5 requests each. */
async function startCounting(document: Whole['document'], env?: Record<string, string>) {
  const state = { served: 10, ids: [1, 2] };
  const whole = await startWhole({
    document,
    ...(env && { env }),
    routes: {
      '/pullzone': () => pullZones(...state.ids),
      '/statistics': () => ({ RequestsServedChart: { [day]: state.served } }),
    },
  });
  await whole.poll();
  state.served = 15;
  await whole.poll();
  expect(await counted(whole)).toEqual({ 1: 5, 2: 5 });
  return { whole, state };
}

const hourly = { interval: '1h' };
const named = { pull_zone_statistics: { ...hourly, targets: [1, 2] } };
const all = { pull_zone_statistics: { ...hourly, targets: 'all' as const } };

it('a reload from named targets to all keeps their values and counters while the listing is read', async () => {
  const { whole, state } = await startCounting(named);
  const { open, opened } = gate();
  whole.routes['/pullzone'] = async () => {
    await opened;
    return pullZones(1, 3);
  };
  whole.document = all;
  const before = whole.requests.length;
  await whole.reload();
  expect(await counted(whole)).toEqual({ 1: 5, 2: 5 });
  open();
  // First come the targets of the listing, then those that are not in it leave.
  await eventually(async () => expect(await whole.value(requests, { pull_zone_id: '3' })).toBe(0));
  await eventually(async () => expect(await counted(whole)).toEqual({ 1: 5, 3: 0 }));
  // What is fresh is not read again.
  expect(readSince(whole, before)).toEqual(['3']);
  state.served = 18;
  await whole.poll();
  expect(await counted(whole)).toEqual({ 1: 8, 3: 3 });
});

it('a reload from all to named targets keeps the values and counters of the named ones', async () => {
  const { whole, state } = await startCounting(all);
  whole.document = { pull_zone_statistics: { ...hourly, targets: [2] } };
  await whole.reload();
  expect(await counted(whole)).toEqual({ 2: 5 });
  state.served = 18;
  await whole.poll();
  expect(await counted(whole)).toEqual({ 2: 8 });
});

it('a credential of named targets that changes only its name changes nothing else', async () => {
  const { whole, state } = await startCounting(named);
  whole.document = { ...named, credentials: { main: { env: 'KEY' } } };
  const before = whole.requests.length;
  await whole.reload();
  expect(await counted(whole)).toEqual({ 1: 5, 2: 5 });
  await eventually(() => expect(whole.exporter.listings().every(({ state }) => state === 'ok')).toBe(true));
  await whole.pass(50);
  expect(await counted(whole)).toEqual({ 1: 5, 2: 5 });
  expect(readSince(whole, before)).toEqual([]);
  state.served = 18;
  await whole.poll();
  expect(await counted(whole)).toEqual({ 1: 8, 2: 8 });
});

it('a credential that gets another name while a poll with it is between two requests fails nothing', async () => {
  const { whole, state } = await startCounting(named);
  whole.api['max_retries'] = 3;
  await whole.reload();
  const answer = whole.routes['/statistics'] ?? (() => {});
  let refused = 0;
  whole.routes['/statistics'] = (asked) =>
    refused++ < 2 ? reply(503, '', { 'retry-after': '3' }) : answer(asked);
  state.served = 18;
  const polled = whole.exporter.pollOnce();
  await eventually(() => expect(refused).toBe(2));
  whole.document = { ...named, credentials: { main: { env: 'KEY' } } };
  await whole.reload();
  await whole.pass(10_000);
  await polled;
  expect(whole.exporter.targets().map(({ state: of }) => of)).toEqual(['ok', 'ok']);
  expect(await counted(whole)).toEqual({ 1: 8, 2: 8 });
});

it('a listing that fails after a reload to all takes nothing away', async () => {
  const { whole } = await startCounting(named);
  whole.routes['/pullzone'] = () => () => {
    throw new Error('the connection breaks');
  };
  whole.document = all;
  await whole.reload();
  await eventually(() => expect(whole.exporter.listings().map(({ state }) => state)).toEqual(['failing']));
  expect(await counted(whole)).toEqual({ 1: 5, 2: 5 });
});

it.each<[string, object, Route]>([
  [
    'key is paused for ten minutes',
    {},
    ({ key }) => (key === 'key-of-a' ? reply(429, '', { 'retry-after': '600' }) : { monthlyCost: 1 }),
  ],
  [
    'account has a long queue',
    Object.fromEntries(
      [
        'application_statistics',
        'application_overviews',
        'application_autoscaling',
        'application_volumes',
      ].map((section) => [section, { ...hourly, targets: dozen, credential: 'account' }]),
    ),
    () => ({ monthlyCost: 1 }),
  ],
])(
  'a section that is pointed to another credential while its %s is read at once with the other',
  async (_, others, route) => {
    const documentOf = (credential: string) => ({
      credentials: { account: { env: 'KA' }, other: { env: 'KB' } },
      applications: { ...hourly, targets: dozen, credential },
      // It has something to read with both.
      billing: { ...hourly, credential: ['account', 'other'] },
      ...others,
    });
    const whole = await startWhole({
      document: documentOf('account'),
      env: { KA: 'key-of-a', KB: 'key-of-b' },
      routes: { '*': route },
      api: { requests_per_second: 2 },
    });
    await whole.exporter.start();
    await whole.pass(1000);
    whole.document = documentOf('other');
    await whole.reload();
    await whole.pass(15_000);
    expect(Object.values(await whole.series('bunnynet_application_up'))).toEqual(dozen.map(() => 1));
  },
);

it('a reload to another key under the same name polls the targets of that key at once', async () => {
  const zonesOf: Readonly<Record<string, readonly number[]>> = { 'key-of-a': [1, 2], 'key-of-b': [2, 3] };
  const byKey = ({ key = '' }: Request) => pullZones(...(zonesOf[key] ?? []));
  const document = (variable: string) => ({
    credentials: { account: { env: variable } },
    pull_zone_statistics: { ...hourly, targets: 'all' as const },
  });
  const whole = await startWhole({
    document: document('KA'),
    env: { KA: 'key-of-a', KB: 'key-of-b' },
    routes: { '/pullzone': byKey, '/statistics': () => ({ RequestsServedChart: { [day]: 10 } }) },
  });
  await whole.poll();
  whole.document = document('KB');
  const before = whole.requests.length;
  await whole.reload();
  await eventually(async () => expect(await counted(whole)).toEqual({ 2: 0, 3: 0 }));
  const asked = whole.requests.slice(before);
  expect(asked.filter(({ key }) => key !== 'key-of-b')).toEqual([]);
  // A zone in both accounts is polled again, with the other key.
  await eventually(() => expect(readSince(whole, before)).toEqual(['2', '3']));
});

it('a listing that is under way when the key changes is dropped, so that pages of two accounts never mix', async () => {
  const { open, opened } = gate();
  const page = (ids: readonly number[], HasMoreItems: boolean) => ({
    ...pullZones(...ids),
    HasMoreItems,
    TotalItems: 2,
  });
  const whole = await startWhole({
    document: { credentials: { account: { env: 'KA' } }, pull_zones: { targets: 'all' } },
    env: { KA: 'key-of-a', KB: 'key-of-b' },
    routes: {
      '/pullzone': async ({ key, query }) => {
        const isFirst = query.get('page') === '1';
        if (key === 'key-of-b') return page(isFirst ? [21] : [22], isFirst);
        if (isFirst) await opened;
        return page(isFirst ? [11] : [12], isFirst);
      },
    },
  });
  void whole.exporter.pollOnce();
  await eventually(() => expect(whole.requests).toHaveLength(1));
  whole.document = { ...whole.document, credentials: { account: { env: 'KB' } } };
  await whole.reload();
  open();
  const found = new Set<string>();
  const ids = () => whole.exporter.targets().flatMap(({ target }) => Object.values(target.ids));
  await eventually(() => {
    for (const id of ids()) found.add(id);
    expect(ids().toSorted()).toEqual(['21', '22']);
  });
  await whole.pass(50);
  for (const id of ids()) found.add(id);
  expect([...found].toSorted()).toEqual(['21', '22']);
  expect(whole.requests.filter(({ key }) => key === 'key-of-a')).toHaveLength(1);
  // A request is counted even if its answer is no longer wanted.
  const requests = await whole.series('bunnynet_exporter_api_requests_total');
  expect(requests['{api="core",code="aborted"}']).toBe(1);
  expect(requests['{api="core",code="200"}']).toBe(2);
});

it('a library that two accounts list with different keys keeps one key', async () => {
  const library = (ApiKey: string) => ({
    Items: [{ Id: 7, Name: 'films', ApiKey }],
    TotalItems: 1,
    HasMoreItems: false,
  });
  const whole = await startWhole({
    document: {
      credentials: { one: { env: 'KA' }, two: { env: 'KB' } },
      // The first section decides which account's videos are meant.
      pull_zones: { targets: 'all', credential: 'two' },
      video_libraries: { targets: 'all', credential: 'one' },
      video_storage: { targets: 'all' },
    },
    env: { KA: 'key-of-a', KB: 'key-of-b' },
    routes: {
      '/pullzone': () => pullZones(),
      '/videolibrary': ({ key }) => library(key === 'key-of-a' ? 'library-key-a' : 'library-key-b'),
      '/library/7/videos': () => ({ items: [{ guid: 'v', title: 'film' }], totalItems: 1 }),
      '/library/7/videos/v/storage': () => ({ success: true, data: { originals: 1 } }),
    },
  });
  for (let round = 0; round < 4; round++) await whole.poll();
  const keys = new Set(
    whole.requests.filter(({ path }) => path.startsWith('/library/')).map(({ key }) => key),
  );
  expect(whole.requests.filter(({ path }) => path === '/videolibrary').length).toBeGreaterThanOrEqual(6);
  expect(keys.size).toBe(1);
  expect(whole.said('the key of library/7 changed')).toEqual([]);
});

const film = { guid: 'v', title: 'film' };
const originals = 'bunnynet_video_storage_bytes';

it('a rotated key takes nothing off the page that the account has all the time', async () => {
  const state = { libraryKey: 'key-of-the-library' };
  const shown: boolean[] = [];
  let watch = async () => {};
  const watched =
    <Answer>(answer: () => Answer) =>
    async () => {
      await watch();
      return answer();
    };
  const whole = await startWhole({
    document: { credentials: { account: { env: 'KA' } }, video_storage: { ...hourly, targets: 'all' } },
    env: { KA: 'key-of-may', KB: 'key-of-june' },
    routes: {
      '/videolibrary': watched(() => ({
        Items: [{ Id: 7, Name: 'films', ApiKey: state.libraryKey }],
        TotalItems: 1,
        HasMoreItems: false,
      })),
      '/library/7/videos': watched(() => ({ items: [film], totalItems: 1 })),
      '/library/7/videos/v/storage': watched(() => ({ success: true, data: { originals: 5 } })),
    },
  });
  const isShown = async () =>
    (await whole.value('bunnynet_video_storage_up')) === 1 &&
    Object.values(await whole.series(originals)).includes(5);
  await whole.poll();
  expect(await isShown()).toBe(true);
  // At each request: while the libraries are listed, and while their videos are.
  watch = async () => void shown.push(await isShown());
  const keysOf = (path: string) => whole.requests.filter((one) => one.path === path).map(({ key }) => key);

  whole.document = { ...whole.document, credentials: { account: { env: 'KB' } } };
  await whole.reload();
  await watch();
  await eventually(() => expect(keysOf('/videolibrary')).toEqual(['key-of-may', 'key-of-june']));
  await eventually(() => expect(whole.exporter.listings().every(({ state: of }) => of === 'ok')).toBe(true));
  // The key of the library is the same, so the video is fresh.
  expect(keysOf('/library/7/videos/v/storage')).toEqual(['key-of-the-library']);

  state.libraryKey = 'new-key-of-the-library';
  await whole.poll();
  await eventually(() => expect(keysOf('/library/7/videos/v/storage').at(-1)).toBe(state.libraryKey));
  await whole.poll();
  await watch();
  expect(shown.length).toBeGreaterThanOrEqual(6);
  expect(shown.filter((is) => !is)).toEqual([]);
});

it('a parent that is renamed has its new name in the rows of its listings', async () => {
  let name = 'before';
  const whole = await startWhole({
    document: { rate_limits: { targets: 'all' } },
    routes: {
      '/shield/shield-zones': () => ({ data: [{ shieldZoneId: 7, pullZoneId: 70 }] }),
      '/pullzone': () => ({ Items: [{ Id: 70, Name: name }], TotalItems: 1, HasMoreItems: false }),
      '/shield/rate-limits/7': () => ({ data: [] }),
      '/shield/metrics/rate-limits/7': () => ({ data: [] }),
    },
  });
  const parents = () => whole.exporter.listings().flatMap(({ poll }) => poll.parent?.name ?? []);
  await whole.poll();
  expect(parents()).toEqual(['before']);
  name = 'after';
  await whole.poll();
  expect(parents()).toEqual(['after']);
});

it('a reload while the exporter starts is not undone by the start, which takes longer', async () => {
  const file = join(await directory(), 'key');
  await writeFile(file, 'key-of-the-start', { mode: 0o600 });
  const whole = await startWhole({
    // A file is read in real time.
    overSockets: true,
    document: { credentials: { account: { file } }, applications: { targets: ['before'] } },
    routes: {
      '/mc/apps/before/summary': () => ({ monthlyCost: 1 }),
      '/mc/apps/after/summary': () => ({ monthlyCost: 1 }),
    },
  });
  const { opened, release } = holdFile(file);
  const started = whole.exporter.start();
  await eventually(() => expect(opened()).toBeGreaterThan(0));
  whole.document = { applications: { targets: ['after'] } };
  const reloaded = whole.reload();
  // If the reload does not wait for the start, it has ended by now.
  await Promise.race([reloaded, sleep(200)]);
  release();
  await Promise.all([started, reloaded]);
  const targets = () => whole.exporter.targets().map(({ target }) => target.ids['app_id']);
  expect(targets()).toEqual(['after']);
  await whole.poll();
  expect(targets()).toEqual(['after']);
  expect(whole.exporter.config()).toMatchObject({ applications: { targets: [{ id: 'after' }] } });
  expect(whole.requests.at(-1)).toMatchObject({ path: '/mc/apps/after/summary', key: whole.env['KEY'] });
});

/** polls: how often it is asked for until the last of these changes has an answer. */
type Change = [what: string, polls: number, changed: (applications: object) => Whole['document']];

it.each<Change>([
  [
    'another key',
    3,
    (applications) => ({ credentials: { account: { env: 'KB' } }, applications: { ...applications } }),
  ],
  ['a shorter interval', 2, (applications) => ({ applications: { ...applications, interval: '30m' } })],
  ...runs<Change[]>(
    [],
    [
      [
        'other settings',
        3,
        (applications) => ({ applications: { ...applications, latency_unit: 'seconds' } }),
      ],
    ],
  ),
])(
  'a target that leaves, comes back and gets %s while its poll hangs is polled anew at once, and nothing of the old polls counts',
  async (_, polls, changed) => {
    const { open, opened } = gate();
    const summary = '/mc/apps/a/summary';
    let isOpen = false;
    const whole = await startWhole({
      document: { applications: { ...hourly, targets: ['a', 'b'] } },
      env: { KEY: 'key-of-a', KB: 'key-of-b' },
      routes: {
        [summary]: async () => {
          const monthlyCost = isOpen ? 2 : 1;
          if (!isOpen) await opened;
          return { monthlyCost };
        },
        '/mc/apps/b/summary': () => ({ monthlyCost: 2 }),
      },
      api: { timeout: '60s' },
    });
    await whole.exporter.start();
    await whole.pass(1000);
    const reload = async (document: Whole['document']) => {
      whole.document = document;
      await whole.reload();
      await whole.pass(1000);
    };
    const both = { ...hourly, targets: ['a', 'b'] };
    await reload({ applications: { ...hourly, targets: ['b'] } });
    await reload({ applications: both });
    isOpen = true;
    await reload(changed(both));
    const asked = () => whole.requests.filter(({ path }) => path === summary);
    const cost = () => whole.value('bunnynet_application_monthly_cost_dollars', { app_id: 'a' });
    // Another interval alone begins nothing anew.
    const shown = polls === 3 ? 2 : undefined;
    expect([asked().length, await cost()]).toEqual([polls, shown]);
    open();
    await whole.pass(1000);
    expect([asked().length, await cost()]).toEqual([polls, shown ?? 1]);
  },
);

it('the first poll of a new target has the retries of the client once the targets that failed are gone', async () => {
  const summary = '/mc/apps/new/summary';
  const applications = (...targets: readonly string[]) => ({ applications: { ...hourly, targets } });
  let asked = 0;
  const whole = await startWhole({
    document: applications('a', 'b', 'c', 'd', 'e', 'f'),
    api: { max_retries: 2 },
    routes: {
      [summary]: () => (asked++ === 0 ? reply(503) : { monthlyCost: 1 }),
      '*': () => reply(503),
    },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  expect(await whole.value('bunnynet_exporter_api_unreadable', { api: 'application' })).toBe(1);
  whole.document = applications('new');
  await whole.reload();
  // A poll that failed would be repeated after eight seconds at the earliest.
  await whole.pass(5000);
  expect(asked).toBe(2);
  expect(await whole.value('bunnynet_application_up', { app_id: 'new' })).toBe(1);
});

it('a target that the configuration called otherwise stays until its listing was read', async () => {
  let served = 10;
  const whole = await startWhole({
    document: { pull_zone_statistics: { interval: '1h', targets: [{ id: 1, name: 'My shop' }, 2] } },
    routes: {
      '/pullzone': () => reply(503),
      '/dnszone': () => ({ Items: [], TotalItems: 0, HasMoreItems: false }),
      '/statistics': () => ({ RequestsServedChart: { [day]: served } }),
    },
  });
  await whole.exporter.start();
  await whole.pass(1000);
  served = 15;
  await whole.poll();
  const counted = async () => Object.values(await whole.series('bunnynet_pull_zone_requests_total'));
  expect(await counted()).toEqual([5, 5]);
  // Another list ends before that of the pull zones, which has both.
  whole.document = {
    pull_zone_statistics: { interval: '1h', targets: 'all', include: ['prod-.*'] },
    dns_zones: { targets: 'all' },
  };
  await whole.reload();
  expect(await counted()).toEqual([5, 5]);
  await whole.pass(5000);
  expect(await counted()).toEqual([5, 5]);
  whole.routes['/pullzone'] = () => ({
    Items: [
      { Id: 1, Name: 'prod-shop' },
      { Id: 2, Name: 'prod-blog' },
    ],
    TotalItems: 2,
    HasMoreItems: false,
  });
  await whole.pass(60_000);
  expect(await counted()).toEqual([5, 5]);
});

it('what other settings took off the page is not said to be shown', async () => {
  const section = (latency_unit: string) => ({
    applications: { interval: '1m', stale_after: '1h', targets: ['one'], latency_unit },
  });
  let isUp = true;
  const whole = await startWhole({
    document: section('milliseconds'),
    routes: { '/mc/apps/one/summary': () => (isUp ? { monthlyCost: 1, averageLatency: 5 } : reply(503)) },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  isUp = false;
  await whole.pass(120_000);
  expect(await whole.value('bunnynet_application_monthly_cost_dollars')).toBe(1);
  whole.document = section('seconds');
  await whole.reload();
  await whole.pass(20_000);
  await whole.sweep();
  expect(await whole.value('bunnynet_application_monthly_cost_dollars')).toBe(undefined);
  const [cause] = whole.exporter.causes();
  expect(cause?.meaning).not.toContain('still shows old values');
});
