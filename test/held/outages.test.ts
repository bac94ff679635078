/** What an operator reads of what cannot be reached: what failed, since when, and what to do, each of it once. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PollTask } from '../../src/polling/task.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { runs } from '../runs.ts';
import { single } from '../simulator/start.ts';
import { simulateAccount } from './account.ts';
import { currentRun } from './scenario.ts';
import { type Request, reply, startWhole, type Whole, type WholeOptions } from './whole.ts';

const cost = { monthlyCost: 1 };
type Answer = (response: ServerResponse) => void;

const cutOff: Answer = (response) => void response.destroy();

/** Two applications, and what they answer. */
async function startApplications() {
  const given = { answer: cost as unknown };
  const whole = await startWhole({
    document: { applications: { interval: '1h', targets: ['a', 'b'] } },
    routes: {
      '/mc/apps/a/summary': () => given.answer,
      '/mc/apps/b/summary': () => given.answer,
      // Requested to know what a 401 is about.
      '/mc/apps': () => given.answer,
    },
  });
  return { whole, given };
}

it('an outage of all APIs is known of each within minutes, however seldom something of it is due', async () => {
  let isOut = false;
  const read = (answer: unknown) => () => (isOut ? cutOff : answer);
  const whole = await startWhole({
    document: {
      applications: { interval: '1m', targets: ['a', 'b'] },
      pull_zones: { interval: '4h', targets: 'all' },
      shield_zones: { interval: '4h', targets: 'all' },
      discovery: { interval: '4h' },
    } as never,
    routes: {
      '/mc/apps/a/summary': read(cost),
      '/mc/apps/b/summary': read(cost),
      '/mc/apps': read({ items: [], meta: { totalItems: 0 } }),
      '/pullzone': read({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
      '/shield/shield-zones': read({
        data: [{ shieldZoneId: 3, pullZoneId: 7, planType: 1 }],
        page: { totalCount: 1, totalPages: 1, currentPage: 1, nextPage: null },
      }),
    },
  });
  await whole.exporter.start();
  await whole.pass(10 * 60_000);
  isOut = true;
  await whole.pass(5 * 60_000);
  const down = ['application', 'core', 'shield'].map((api) => `{api="${api}"}`);
  expect((await unreadable(whole)).toSorted()).toEqual(down);
});

it('a refusal after an outage begins with the refusal; that nothing can be read began before it', async () => {
  const { whole, given } = await startApplications();
  const headline = async () => /<h1[^>]*>([^<]*)/.exec((await whole.get('/')).body)?.[1];
  const goOn = async (answer: unknown, afterMs: number) => {
    whole.advance(afterMs);
    given.answer = answer;
    await whole.poll();
    await whole.sweep();
  };
  await goOn(cost, 0);
  await goOn(cutOff, 10_000);
  const [outage] = whole.exporter.causes();
  await goOn(reply(401), 40_000);
  const [refusal] = whole.exporter.causes();
  expect([outage?.reason, refusal?.reason]).toEqual(['network', 'refused']);
  expect(Number(refusal?.sinceMs) - Number(outage?.sinceMs)).toBe(40_000);
  expect(await headline()).toBe('Nothing can be read since 12:00:10 UTC');
  await goOn(cost, 25_000);
  expect(whole.said('over after').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(/^this is over after 25 s: The application API refuses the key/),
  ]);
});

it('an outage in which one failure follows another began with the first of them', async () => {
  const { whole, given } = await startApplications();
  await whole.poll();
  for (const answer of [cutOff, reply(503), reply(200, '<h1>Blocked</h1>'), cutOff]) {
    whole.advance(10_000);
    given.answer = answer;
    await whole.poll();
    await whole.sweep();
  }
  whole.advance(10_000);
  given.answer = cost;
  await whole.poll();
  await whole.sweep();
  expect(whole.said('over after').map(({ msg }) => msg)).toEqual([
    // Ten seconds between two rounds, and for a round while the API is down: it gets one request in ten seconds.
    expect.stringMatching(/^this is over after 1 m 10 s: Nothing can be read from/),
  ]);
});

const html = reply(200, '<title>Web Page Blocked</title>');

it.each<[string, (api: string) => string, string, (Answer | undefined)?, WholeOptions['proxy']?]>([
  [
    'refuses connections',
    () => 'http://127.0.0.1:1',
    'Nothing can be read from 127.0.0.1:1: connection refused (ECONNREFUSED): AFFECTED Check apis.application.base_url and the firewalls in between.',
  ],
  [
    'cuts off its answers',
    (api) => api,
    'Nothing can be read from HOST: connection closed before the answer was complete (UND_ERR_SOCKET): AFFECTED Check the connection of this machine: its DNS, its firewall, its proxy.',
  ],
  [
    'does not answer in time',
    (api) => api,
    'Nothing can be read from HOST: no whole answer within 1s: AFFECTED Look at https://status.bunny.net. The exporter retries. If only large answers are late, raise the timeout of this API.',
    () => undefined,
  ],
  [
    'speaks no TLS',
    (api) => api.replace('http', 'https'),
    'Nothing can be read from HOST: no TLS, though the address begins with https (ERR_SSL_WRONG_VERSION_NUMBER): AFFECTED Check apis.application.base_url.',
  ],
  [
    'sends a page for people',
    (api) => api,
    'Nothing can be read from HOST: HTTP 200: what answered is no API, but an HTML page, "Web Page Blocked": AFFECTED Check apis.application.base_url, the firewalls and the proxies in between.',
    html,
  ],
  [
    'redirects',
    (api) => api,
    'The application API: HTTP 302: a redirect, which is not followed: AFFECTED Check apis.application.base_url.',
    reply(302, '', { location: 'https://example.com/' }),
  ],
  [
    'is behind a proxy that refuses connections',
    () => 'https://api.example',
    'Nothing can be read from api.example: the proxy 127.0.0.1:1: connection refused (ECONNREFUSED): AFFECTED Check HTTPS_PROXY and the firewalls in between.',
    undefined,
    { url: 'http://user:password@127.0.0.1:1', variable: 'HTTPS_PROXY', except: '' },
  ],
])(
  'an API that %s is one line: host, reason and advice, each once',
  async (_, addressOf, line, answer, proxy) => {
    const routes = { '/apps/a/summary': () => answer ?? cutOff };
    const applications = { interval: '1h', targets: ['a'] };
    const whole = await startWhole({ overSockets: true, document: { applications }, routes, proxy });
    const base_url = addressOf(whole.apiUrl);
    whole.document = {
      apis: { application: { base_url, max_retries: 0, timeout: '1s' } },
      applications,
    };
    await whole.reload();
    // Not another poll: if the API is down by then, that one waits for ten seconds.
    const states = () => whole.exporter.targets().map(({ state }) => state);
    await expect.poll(states).toEqual(['failing']);
    await whole.sweep();
    const expected = line
      .replace('HOST', new URL(whole.apiUrl).host)
      .replace('AFFECTED', '1 target (application). 1 target has no values yet.');
    expect(whole.log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg)).toEqual([expected]);
  },
);

it('two APIs at one dead address are one line, which names the settings of both', async () => {
  const dead = { base_url: 'http://127.0.0.1:1', max_retries: 0 };
  const whole = await startWhole({
    document: {
      apis: { application: dead, core: dead, video: dead },
      applications: { targets: ['a'] },
      billing: { targets: 'all' },
    },
    routes: {},
  });
  await whole.poll();
  await whole.sweep();
  expect(whole.said('Nothing can be read').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(
      / Check apis\.application\.base_url, apis\.core\.base_url and the firewalls in between\.$/,
    ),
  ]);
});

it('a host whose name is not found is one line, too', async () => {
  const whole = await startWhole({
    overSockets: true,
    document: {
      apis: { application: { base_url: 'https://api.invalid', max_retries: 0 } },
      applications: { interval: '1h', targets: ['a'] },
    },
    routes: {},
  });
  await whole.poll();
  await whole.sweep();
  expect(whole.said('Nothing can be read').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(
      /^Nothing can be read from api\.invalid: host not found \(\w+\): .* Check apis\.application\.base_url and the DNS of this machine\.$/,
    ),
  ]);
});

/** The defaults of the exporter, in place of those of the tests. */
const defaults = { max_concurrency: undefined, requests_per_second: undefined, max_retries: undefined };
const broken = reply(500, '{"Message":"oops"}');
const minuteMs = 60_000;

/** Pull zones with their statistics, and the balance; all of it is read. */
const coreRoutes = (zones: number): WholeOptions['routes'] => ({
  '/pullzone': () => ({
    Items: Array.from({ length: zones }, (_, n) => ({ Id: n + 1, Name: `zone ${n + 1}` })),
    TotalItems: zones,
    HasMoreItems: false,
  }),
  '/statistics': () => ({ RequestsServedChart: {} }),
  '/billing': () => ({ Balance: 5 }),
});

const unreadable = async (whole: Whole) =>
  Object.entries(await whole.series('bunnynet_exporter_api_unreadable')).flatMap(([labels, value]) =>
    value === 0 ? [] : labels,
  );

describe('operations that answer 500 while the others are read', () => {
  const kinds = resources.filter(({ api }) => api === 'core').map(({ kind }) => kind);
  const { answer, ...account } = simulateAccount({ kinds, shape: runs(single, undefined) });
  const small = { ...account, routes: { '*': answer }, api: defaults };
  const statistics = { pull_zone_statistics: { interval: '5m', targets: 'all' as const } };
  const core = { api: defaults, document: { ...statistics, billing: { targets: 'all' as const } } };

  const two: [string, WholeOptions, readonly RegExp[]] = [
    'two of those of a small account',
    small,
    [/^\/statistics$/, /^\/dnszone\/\d+\/statistics$/],
  ];

  it.each<typeof two>([
    ['the statistics of many zones', { ...core, routes: coreRoutes(runs(6, 20)) }, [/^\/statistics$/]],
    ['the statistics of one zone beside the balance', { ...core, routes: coreRoutes(1) }, [/^\/statistics$/]],
    ...runs<(typeof two)[]>([], [two]),
    [
      'five of those of a small account',
      small,
      [
        /^\/statistics$/,
        /^\/dnszone\/\d+\/statistics$/,
        /^\/storagezone$/,
        /^\/pullzone\/\d+\/safehop\/statistics$/,
        /^\/pullzone\/\d+\/optimizer\/statistics$/,
      ],
    ],
  ])('are no outage, for hours: %s', async (_, options, paths) => {
    const whole = await startWhole(options);
    await whole.exporter.start();
    await whole.pass(runs(6, 15) * minuteMs);
    expect(whole.exporter.causes()).toEqual([]);
    const lines = whole.log.length;
    const good = { ...whole.routes };
    const route = (request: Request) => (good[request.path] ?? good['*'])?.(request);
    for (const path of Object.keys(good)) delete whole.routes[path];
    whole.routes['*'] = (request) =>
      paths.some((path) => path.test(request.path)) ? broken : route(request);
    const wrong: string[] = [];
    for (let minute = 0; minute < runs(6, 90); minute++) {
      await whole.pass(minuteMs);
      wrong.push(...(await unreadable(whole)).map((labels) => `${labels} in minute ${minute}`));
    }
    expect(wrong).toEqual([]);
    // The page says the same as the log, which is written every ten seconds.
    expect((await whole.get('/')).body).not.toContain('Nothing can be read');
    const told = () => whole.log.slice(lines).filter(({ cause }) => cause !== undefined);
    // One reason at one API is one cause, whatever it affects.
    const title = 'HTTP 500: oops from the core API';
    expect(whole.exporter.causes().map((cause) => cause.title)).toEqual([title]);
    const kinds = new Set(whole.exporter.causes().flatMap(({ filter }) => filter.kinds));
    const { affected } = whole.exporter.causes()[0] ?? {};
    for (const kind of kinds) expect(affected).toContain(resources.find((one) => one.kind === kind)?.noun);
    expect(told().map(({ level, msg }) => [level, msg])).toEqual([
      [40, expect.stringMatching(new RegExp(`^${title}: `))],
    ]);
    whole.routes['*'] = route;
    // What fails is tried again after at most as long as it has failed.
    await whole.pass(runs(8, 70) * minuteMs);
    expect(whole.exporter.causes()).toEqual([]);
    expect(
      told()
        .slice(1)
        .map(({ level, msg }) => [level, msg]),
    ).toEqual([[30, expect.stringMatching(new RegExp(`^this is over after .*: ${title}; `))]]);
  });
});

describe('an API that answers nothing', () => {
  const hangs: Answer = () => undefined;

  it.each<[string, number, Answer]>([
    ...runs<[string, number, Answer][]>([], [['20 zones, and answers 503', 20, reply(503)]]),
    [`${runs(12, 20)} zones, and hangs`, runs(12, 20), hangs],
    ['many zones', runs(24, 5000), reply(503)],
  ])(
    'is down within a minute and a half with %s, until the first answer of anything',
    async (_, zones, answer) => {
      const whole = await startWhole({
        api: defaults,
        document: {
          pull_zone_statistics: { interval: zones > 20 ? '15m' : '5m', targets: 'all' },
          billing: { targets: 'all' },
        },
        routes: coreRoutes(zones),
      });
      await whole.exporter.start();
      await whole.pass((zones / 10) * 1000 + 15 * minuteMs);
      expect(await unreadable(whole)).toEqual([]);
      const good = { ...whole.routes };
      for (const path of Object.keys(good)) whole.routes[path] = () => answer;
      await whole.pass(90_000);
      expect(await unreadable(whole)).toEqual([expect.stringContaining('api="core"')]);
      const before = whole.requests.length;
      const seconds = runs(300, 600);
      await whole.pass(1000 * seconds);
      expect(await unreadable(whole)).toHaveLength(1);
      const asked = whole.requests.length - before;
      // What had not failed yet is asked once at its time; of the rest, one a second at most.
      expect(asked).toBeLessThanOrEqual(zones + 2 + seconds);
      whole.routes['/billing'] = () => ({ Balance: 4 });
      Object.assign(whole.routes, good);
      const { length } = whole.requests;
      while (whole.requests.length === length) await whole.pass(1000);
      await whole.pass(100);
      expect(await unreadable(whole)).toEqual([]);
      // Until all is read again: in between, which of them come first is chance.
      await whole.pass((zones / 10) * 1000 + minuteMs);
    },
  );
});

it.each<[string, readonly string[], number, number]>([
  ['one operation, for many targets', ['/statistics'], runs(30, 200), 60],
  // No more zones by night: once the API is known to be down, time passes while they are polled, and there are other reasons to look.
  ['everything', ['/statistics', '/pullzone', '/billing'], 30, 20],
])('a failure of %s is known from a few passes over what is polled', async (_, paths, zones, most) => {
  const whole = await startWhole({
    document: {
      pull_zone_statistics: { interval: '5m', targets: 'all' },
      billing: { targets: 'all' },
    },
    routes: coreRoutes(zones),
  });
  await whole.poll();
  for (const path of paths) whole.routes[path] = () => broken;
  const looked = vi.spyOn(PollTask.prototype, 'operation', 'get');
  onTestFinished(() => looked.mockRestore());
  const { length } = whole.requests;
  for (let round = 0; round < 3; round++) await whole.poll();
  expect(whole.requests.length - length).toBeGreaterThan(3 * zones);
  // Once each failure took a pass over all zones: three times as many as there are zones. Reading a page takes one as well, so a run with
  // reads is not counted.
  const passes = looked.mock.calls.length / zones;
  expect(passes).toBeGreaterThan(0);
  if (!currentRun().isRead) expect(passes).toBeLessThan(most);
});

it.each<[string, (whole: Whole, targets: (from: string) => string[]) => void]>([
  [
    'another address',
    (whole) => {
      const apis = { application: { base_url: `${whole.apiUrl}/other` } };
      whole.document = { ...whole.document, apis } as never;
    },
  ],
  [
    'other targets',
    (whole, targets) => {
      whole.document = { applications: { interval: '5m', targets: targets('other') } };
    },
  ],
])('after a reload to %s during an outage it is asked as often as before', async (_, change) => {
  const targets = (from: string) => Array.from({ length: runs(100, 300) }, (_, at) => `${from}${at}`);
  let isDown = false;
  const whole = await startWhole({
    document: { applications: { interval: '5m', targets: targets('app') } },
    routes: { '*': () => (isDown ? reply(503) : { monthlyCost: 1 }) },
  });
  await whole.exporter.start();
  await whole.pass(6 * minuteMs);
  isDown = true;
  await whole.pass(10 * minuteMs);
  expect(await unreadable(whole)).toEqual([expect.stringContaining('application')]);
  change(whole, targets);
  await whole.reload();
  await whole.pass(20_000);
  for (let at = 0; at < runs(6, 60); at++) {
    const { length } = whole.requests;
    await whole.pass(10_000);
    expect(whole.requests.length).toBeGreaterThan(length);
  }
  isDown = false;
  await whole.pass(11_000);
  expect(await unreadable(whole)).toEqual([]);
});

it.each<[string, (whole: Whole) => void, number]>([
  [
    'other settings of an API that answers nothing tries it again',
    (whole) => Object.assign(whole.api, { timeout: '20s' }),
    1,
  ],
  ['what is the same leaves it until its time', () => undefined, 0],
])('a reload with %s', async (_, change, read) => {
  let isDown = true;
  const whole = await startWhole({
    document: { applications: { interval: '1h', targets: ['a'] } },
    routes: { '*': () => (isDown ? reply(503) : cost) },
  });
  await whole.exporter.start();
  await whole.pass(40 * minuteMs);
  isDown = false;
  change(whole);
  const { length } = whole.requests;
  await whole.reload();
  await whole.pass(20_000);
  expect(whole.requests.slice(length)).toHaveLength(read);
});

it.each([
  ['what polls once fails at the usual pace', true, 20_000],
  ['what serves asks less', false, Number.POSITIVE_INFINITY],
])('where nothing answers from the start, %s', async (_, pollsOnce, mostMs) => {
  const targets = Array.from({ length: 120 }, (_, at) => `app${at}`);
  const whole = await startWhole({
    pollsOnce,
    api: { requests_per_second: 10 },
    document: { applications: { interval: '5m', targets } },
    routes: { '*': () => reply(503) },
  });
  expect(await whole.poll()).toBe(false);
  expect(whole.passedMs).toBeLessThan(mostMs);
  if (!pollsOnce) expect(whole.passedMs).toBeGreaterThan(120_000);
});

it('what waits for an API that is down is not late, nor once that answers again', async () => {
  let isDown = false;
  const targets = Array.from({ length: 120 }, (_, at) => `app${at}`);
  const whole = await startWhole({
    api: { requests_per_second: 10 },
    document: { applications: { interval: '1m', targets } },
    routes: { '*': () => (isDown ? reply(503) : { monthlyCost: 1 }) },
  });
  const late = async () =>
    (await whole.value('bunnynet_exporter_schedule_lag_seconds', { kind: 'application' })) ?? Number.NaN;
  await whole.exporter.start();
  await whole.pass(3 * minuteMs);
  isDown = true;
  const seen: number[] = [];
  for (let at = 0; at < 30; at++) {
    await whole.pass(10_000);
    seen.push(await late());
  }
  isDown = false;
  // Half of them wait in line by now, and are read within six seconds.
  for (let at = 0; at < 10; at++) {
    await whole.pass(1000);
    seen.push(await late());
  }
  expect(Math.max(...seen)).toBeLessThan(20);
});

it('what failed just before the last success before an outage is read at once when it ends, too', async () => {
  let isArmed = false;
  let downFromMs = Number.POSITIVE_INFINITY;
  const good = coreRoutes(1);
  const whole = await startWhole({
    document: {
      pull_zones: { interval: '5s', targets: 'all' },
      billing: { interval: '5m', targets: 'all' },
    },
    routes: {
      '*': (request) => {
        if (isArmed && request.path === '/billing') {
          // The zones are read once more.
          downFromMs = Math.min(downFromMs, request.atMs + 6000);
          return reply(503);
        }
        return request.atMs >= downFromMs ? reply(503) : good[request.path]?.(request);
      },
    },
  });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  isArmed = true;
  while (downFromMs === Number.POSITIVE_INFINITY) await whole.pass(1000);
  await whole.pass(8 * minuteMs);
  expect(await unreadable(whole)).toHaveLength(1);
  isArmed = false;
  downFromMs = Number.POSITIVE_INFINITY;
  const { length } = whole.requests;
  while (whole.requests.length === length) await whole.pass(100);
  await whole.pass(1000);
  expect(await unreadable(whole)).toEqual([]);
  expect(whole.exporter.targets().map(({ state }) => state)).toEqual(['ok', 'ok']);
});

it('a listing of many pages is read at its pace from the first page that is answered after an outage', async () => {
  // How much a page holds does not matter: each page is one request.
  const perPage = runs(10, 100);
  const ids = Array.from({ length: 21 * perPage }, (_, at) => at + 1);
  const api = { isDown: false };
  const whole = await startWhole({
    document: { pull_zones: { interval: '20m', targets: 'all' } },
    routes: {
      '/pullzone': ({ query }) => {
        if (api.isDown) return reply(503);
        const page = Number(query.get('page'));
        const some = ids.slice((page - 1) * perPage, page * perPage);
        return {
          Items: some.map((Id) => ({ Id, Name: `zone ${Id}` })),
          TotalItems: ids.length,
          HasMoreItems: page * perPage < ids.length,
        };
      },
    },
  });
  await whole.poll();
  const pages = whole.requests.length;
  expect(pages).toBeGreaterThan(20);
  api.isDown = true;
  await whole.pass(45 * 60_000);
  const from = whole.requests.length;
  api.isDown = false;
  await whole.pass(20 * 60_000);
  const [first, ...others] = whole.requests.slice(from, from + pages);
  expect(Number(others.at(-1)?.atMs) - Number(first?.atMs)).toBeLessThan(1000);
  expect(whole.exporter.listings().map(({ state }) => state)).toEqual(['ok']);
});

it('an API that answers one page in an outage and then nothing is slow again after the next failure', async () => {
  const ids = Array.from({ length: 200 }, (_, at) => at + 1);
  const chart = { TotalEgressChart: {} };
  const api = { isDown: false, pages: 0 };
  const whole = await startWhole({
    document: {
      pull_zones: { interval: '5m', targets: 'all' },
      storage_zone_egress: { interval: '10m', targets: ids },
    },
    routes: {
      '/pullzone': () => {
        if (api.isDown && api.pages-- <= 0) return reply(503);
        return { Items: [{ Id: 1, Name: 'zone' }], TotalItems: 2, HasMoreItems: true };
      },
      '*': () => (api.isDown ? reply(503) : chart),
    },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  api.isDown = true;
  await whole.pass(15 * 60_000);
  api.pages = 1;
  while (api.pages > 0) await whole.pass(1000);
  const from = whole.requests.length;
  await whole.pass(20_000);
  expect(whole.requests.length - from).toBeLessThan(50);
});

it('an address that is wrong for one API is to be corrected for that alone, although others have the same host', async () => {
  const pullZones = { Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false };
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' }, applications: { targets: ['a'] } },
    routes: { '/pullzone': () => pullZones, '*': () => reply(404) },
  });
  // Without the /mc of the API.
  const ofApi = (base_url: string) => ({ ...whole.api, base_url });
  whole.document = {
    ...whole.document,
    apis: { core: ofApi(whole.apiUrl), application: ofApi(whole.apiUrl) },
  };
  await whole.reload();
  await whole.exporter.start();
  await whole.pass(60_000);
  expect(whole.exporter.causes().map(({ title, advice }) => [title, advice])).toEqual([
    [
      `The application API at ${whole.apiUrl} answers HTTP 404 to every request`,
      'Correct apis.application.base_url.',
    ],
  ]);
});
