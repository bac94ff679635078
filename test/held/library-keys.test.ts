/** A video library is read with a key of its own or not at all, whatever the listing of libraries says. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PollTask } from '../../src/polling/task.ts';
import { count } from '../../src/text.ts';
import { runs } from '../runs.ts';
import { type Request, reply, startWhole, type Whole } from './whole.ts';

const account = 'the-key-of-the-account';
const minuteMs = 60_000;
const full = 'opens-the-library';
const readOnly = 'reads-the-library';

const listed = (...items: readonly object[]) => ({
  Items: items,
  TotalItems: items.length,
  HasMoreItems: false,
});
const videos = { items: [{ guid: 'v1', title: 'film', status: 4 }], totalItems: 1 };

const ofLibraries = {
  video_library_statistics: { targets: 'all' },
  video_encoding: { targets: 'all' },
  video_storage: { targets: 'all' },
};

async function startLibrary(keys: object, more: object = {}, env: Record<string, string> = {}) {
  const whole = await startWhole({
    document: { ...ofLibraries, ...more },
    env: { KEY: account, ...env },
    routes: {
      '/videolibrary': () => listed({ Id: 4, Name: 'films', ...keys }),
      '/library/4/statistics': () => ({ viewsChart: { '2026-08-15': 3 } }),
      '/library/4/videos': () => videos,
      '/library/4/videos/v1/storage': () => ({ success: true, data: { originals: 5 } }),
    },
  });
  await whole.poll();
  return {
    whole,
    /** The keys that the video API was sent. */
    sent: () => [
      ...new Set(whole.requests.filter(({ path }) => path.startsWith('/library/')).map(({ key }) => key)),
    ],
    titles: () => whole.exporter.causes().map(({ title }) => title),
  };
}

const views = 'bunnynet_video_library_views_latest_day';
const stored = 'bunnynet_video_storage_bytes';

it('asks for the keys of libraries, which an older API leaves out otherwise', async () => {
  const { whole, sent } = await startLibrary({ ApiKey: full, ReadOnlyApiKey: readOnly });
  const asked = whole.requests.filter(({ path }) => path === '/videolibrary');
  expect(asked.map(({ query }) => query.get('includeAccessKey'))).toContain('true');
  expect(sent()).toEqual([full]);
  expect([await whole.value(views), await whole.value(stored, { component: 'originals' })]).toEqual([3, 5]);
});

describe.each([
  ['null', { ApiKey: null, ReadOnlyApiKey: null }],
  ['empty', { ApiKey: '', ReadOnlyApiKey: '' }],
  ['missing', {}],
])('a library whose keys are %s', (_, keys) => {
  it('is not asked for, which one cause says', async () => {
    const { whole, sent, titles } = await startLibrary(keys);
    expect(sent()).toEqual([]);
    expect(titles()).toEqual(['Library 4 was listed without a key']);
    expect(whole.exporter.causes()[0]?.advice).toContain('Name a credential');
    expect(await whole.value('bunnynet_video_library_statistics_up')).toBe(0);
    expect(whole.said('Library 4 was listed without a key')).toHaveLength(1);
  });

  it('is read with a credential that a section names', async () => {
    const credentials = { account: { env: 'KEY' }, films: { env: 'FILMS' } };
    const { whole, sent, titles } = await startLibrary(
      keys,
      {
        credentials,
        video_libraries: { targets: 'all', credential: 'account' },
        ...Object.fromEntries(
          Object.entries(ofLibraries).map(([section, settings]) => [
            section,
            { ...settings, credential: 'films' },
          ]),
        ),
      },
      { FILMS: full },
    );
    expect(sent()).toEqual([full]);
    expect(titles()).toEqual([]);
    expect(await whole.value(stored, { component: 'originals' })).toBe(5);
  });
});

it('libraries without a key are one cause, however many there are', async () => {
  const { whole, titles } = await startLibrary({});
  whole.routes['/videolibrary'] = () => listed(...[4, 5, 6, 7].map((Id) => ({ Id })));
  await whole.poll();
  expect(titles()).toEqual(['Library 4, library 5 and 2 others were listed without a key']);
});

it('a library with a read-only key alone is read with it, but for what that key does not open', async () => {
  const { whole, sent, titles } = await startLibrary({ ApiKey: '', ReadOnlyApiKey: readOnly });
  expect(sent()).toEqual([readOnly]);
  expect(await whole.value(views)).toBe(3);
  expect(await whole.value('bunnynet_video_encoding_videos', { status: 'finished' })).toBe(1);
  expect(whole.requests.filter(({ path }) => path.endsWith('/storage'))).toEqual([]);
  expect(titles()).toEqual([
    'Library 4 was listed with a read-only key alone, which is not enough to read each video',
  ]);
});

it('a library that loses and gets back its key is read again at once, and never with another one', async () => {
  const { whole, sent, titles } = await startLibrary({ ApiKey: full });
  for (const keys of [{ ApiKey: null }, { ReadOnlyApiKey: readOnly }, { ApiKey: full }]) {
    whole.routes['/videolibrary'] = () => listed({ Id: 4, Name: 'films', ...keys });
    await whole.poll();
    await whole.poll();
  }
  expect(titles()).toEqual([]);
  expect(new Set(sent())).toEqual(new Set([full, readOnly]));
  expect(await whole.value(stored, { component: 'originals' })).toBe(5);
});

it('what was named by hand is not read with the key of the account once it is to be listed', async () => {
  const credentials = { account: { env: 'KEY' }, films: { env: 'FILMS' } };
  const libraries = { targets: 'all', credential: 'account' };
  const whole = await startWhole({
    document: {
      credentials,
      video_libraries: libraries,
      video_library_statistics: { targets: [4], credential: 'films' },
    },
    env: { KEY: account, FILMS: full },
    routes: {
      '/videolibrary': () => reply(503),
      '/library/4/statistics': () => ({ viewsChart: { '2026-08-15': 3 } }),
    },
  });
  await whole.poll();
  whole.document = {
    credentials: { account: credentials.account },
    video_libraries: libraries,
    video_library_statistics: { targets: 'all' },
  };
  await whole.reload();
  await whole.poll();
  expect(
    whole.requests.filter(({ path }) => path.startsWith('/library/')).map(({ key }) => key),
  ).not.toContain(account);
});

it('a library that has another key where the core API is after a reload is read with that from its first listing there', async () => {
  const other = 'opens-the-library-there';
  let valid = full;
  const opens =
    (answer: unknown) =>
    ({ key }: { key: string | undefined }) =>
      key === valid ? answer : reply(401);
  const whole = await startWhole({
    document: ofLibraries,
    routes: {
      '/videolibrary': () => listed({ Id: 4, Name: 'films', ApiKey: full }),
      '/there/videolibrary': () => listed({ Id: 4, Name: 'films', ApiKey: other }),
      '/library/4/statistics': opens({ viewsChart: { '2026-08-15': 3 } }),
      '/library/4/videos': opens(videos),
      '/library/4/videos/v1/storage': opens({ success: true, data: { originals: 5 } }),
    },
  });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  valid = other;
  const at = (base_url: string) => ({ ...whole.api, base_url });
  const apis = { core: at(`${whole.apiUrl}/there`), video: at(whole.apiUrl) };
  whole.document = { ...ofLibraries, apis } as never;
  await whole.reload();
  await whole.pass(minuteMs);
  expect(whole.exporter.targets().map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
  expect(whole.exporter.listings().map(({ state }) => state)).toEqual(['ok', 'ok']);
  expect(whole.said('changed').map(({ msg }) => msg)).toEqual(['the key of library/4 changed']);
});

it('a library that a second account cannot list where the core API is now has the key of the first one', async () => {
  const other = 'opens-the-library-there';
  let valid = full;
  const document = {
    credentials: { account: { env: 'KEY' }, second: { env: 'SECOND' } },
    accounts: ['account', 'second'],
    video_library_statistics: { targets: 'all', interval: '10m' },
  };
  const whole = await startWhole({
    document,
    env: { KEY: account, SECOND: 'the-key-of-the-second' },
    routes: {
      '/videolibrary': () => listed({ Id: 4, Name: 'films', ApiKey: full }),
      '/there/videolibrary': ({ key }) =>
        key === account ? listed({ Id: 4, Name: 'films', ApiKey: valid }) : reply(403),
      '/library/4/statistics': ({ key }) =>
        key === valid ? { viewsChart: { '2026-08-15': 3 } } : reply(401),
    },
  });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  const at = (base_url: string) => ({ ...whole.api, base_url });
  const apis = { core: at(`${whole.apiUrl}/there`), video: at(whole.apiUrl) };
  whole.document = { ...document, apis } as never;
  await whole.reload();
  await whole.pass(minuteMs);
  valid = other;
  await whole.pass(40 * minuteMs);
  expect(whole.said('changed').map(({ msg }) => msg)).toEqual(['the key of library/4 changed']);
  expect(whole.exporter.targets().map(({ state }) => state)).toEqual(['ok']);
});

describe('the key of a new library', () => {
  const document = { video_library_statistics: { targets: 'all' }, video_encoding: { targets: 'all' } };
  const startNew = async (opensAtMs: number) => {
    const opens = (answer: unknown) => () => (whole.passedMs >= opensAtMs ? answer : reply(401));
    const whole = await startWhole({
      document,
      routes: { '/videolibrary': () => listed({ Id: 4, Name: 'films', ApiKey: full }) },
    });
    whole.routes['/library/4/statistics'] = opens({ viewsChart: { '2026-08-15': 3 } });
    whole.routes['/library/4/videos'] = opens(videos);
    await whole.exporter.start();
    return whole;
  };
  const refused = async (whole: Awaited<ReturnType<typeof startNew>>) =>
    (await whole.value('bunnynet_exporter_refused_keys', { api: 'video' })) ?? 0;
  const toldOf = (whole: Awaited<ReturnType<typeof startNew>>) => [
    ...whole.exporter.causes().map(({ title }) => title),
    ...whole.log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg),
  ];

  it.each([2000, 6000])('that is refused for %i ms is read soon, and nobody is told', async (opensAtMs) => {
    const whole = await startNew(opensAtMs);
    for (let second = 0; second < 15; second++) {
      await whole.pass(1000);
      await whole.sweep();
      expect(await refused(whole)).toBe(0);
    }
    expect(await whole.value(views)).toBe(3);
    expect(await whole.value('bunnynet_video_encoding_videos', { status: 'finished' })).toBe(1);
    expect(toldOf(whole)).toEqual([]);
  });

  it('that stays refused counts as refused after two minutes, and is asked for ever more rarely', async () => {
    const whole = await startNew(Number.POSITIVE_INFINITY);
    await whole.pass(118_000);
    await whole.sweep();
    expect([await refused(whole), toldOf(whole)]).toEqual([0, []]);
    await whole.pass(5000);
    await whole.sweep();
    expect(await refused(whole)).toBe(1);
    expect(whole.exporter.causes().map(({ reason }) => reason)).toEqual(['library_key']);
    const asked = whole.requests.filter(({ path }) => path === '/library/4/statistics');
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  it('that stays refused has no further two minutes where other failures come in between', async () => {
    let asked = 0;
    const whole = await startWhole({
      document: { video_library_statistics: { targets: 'all', interval: '1m' } },
      routes: {
        '/videolibrary': () => listed({ Id: 4, Name: 'films', ApiKey: full }),
        '*': () => reply(asked++ % 3 === 2 ? 403 : 401),
      },
    });
    await whole.exporter.start();
    let told = 0;
    for (let passedMs = 0; passedMs < 600_000; passedMs += 10_000) {
      await whole.pass(10_000);
      await whole.sweep();
      told += await refused(whole);
    }
    expect(told).toBeGreaterThan(0);
  });

  it('that replaces one which was refused has two minutes of its own', async () => {
    const whole = await startWhole({
      document: { ...document, discovery: { interval: '1m' } } as never,
      routes: {
        '/videolibrary': () =>
          listed({ Id: 4, Name: 'films', ApiKey: whole.passedMs < 50_000 ? full : 'another-that-opens-it' }),
        '*': () => reply(401),
      },
    });
    await whole.exporter.start();
    // The first key is refused for longer than two minutes by now, had it stayed; the second for less.
    await whole.pass(150_000);
    await whole.sweep();
    expect(new Set(whole.requests.slice(-3).map(({ key }) => key))).toContain('another-that-opens-it');
    expect(await refused(whole)).toBe(0);
    await whole.pass(60_000);
    await whole.sweep();
    expect(await refused(whole)).toBe(1);
  });

  it('that replaces one has its two minutes also in a video that is due before the listing of its library was read with it', async () => {
    const other = 'another-that-opens-it';
    let firstMs: number;
    const whole = await startWhole({
      document: {
        video_storage: { targets: 'all', interval: '10s', stale_after: '1h' },
        discovery: { interval: '1m' },
      } as never,
      routes: {
        '/videolibrary': () =>
          listed({ Id: 4, Name: 'films', ApiKey: whole.passedMs < 50_000 ? full : other }),
        '*': ({ key, path }) => {
          if (key === other) firstMs ??= whole.passedMs;
          if (key === other && whole.passedMs < firstMs + 60_000) return reply(401);
          return path.endsWith('/videos') ? videos : { success: true, data: { originals: 5 } };
        },
      },
    });
    await whole.exporter.start();
    for (let passedMs = 0; passedMs < 250_000; passedMs += 5000) {
      await whole.pass(5000);
      await whole.sweep();
      expect(await refused(whole)).toBe(0);
    }
    const sent = whole.requests.filter(({ key }) => key === other).map(({ path }) => path);
    expect(sent).toContain('/library/4/videos/v1/storage');
    expect(toldOf(whole)).toEqual([]);
  });

  it('that opens late is read at once in all that uses it', async () => {
    const whole = await startNew(60_000);
    await whole.pass(122_000);
    expect(await whole.value(views)).toBe(3);
    expect(await whole.value('bunnynet_video_encoding_videos', { status: 'finished' })).toBe(1);
    expect(await refused(whole)).toBe(0);
  });
});

it('keys that all change in one listing are one plan and one line, and everything is read with the new ones at once', async () => {
  const libraries = Array.from({ length: runs(40, 1000) }, (_, at) => at + 1);
  let key = 'before';
  const whole = await startWhole({
    document: { video_encoding: { targets: 'all', interval: '1h' } },
    routes: {
      '/videolibrary': () =>
        listed(...libraries.map((Id) => ({ Id, Name: `films ${Id}`, ApiKey: `key-${key}-${Id}` }))),
      '*': ({ key: sent }) => (sent?.startsWith(`key-${key}`) ? videos : reply(401)),
    },
  });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  key = 'after';
  const looked = vi.spyOn(PollTask.prototype, 'operation', 'get');
  onTestFinished(() => looked.mockRestore());
  for (let at = 0; at < 120 && whole.said('changed').length === 0; at++) await whole.pass(5000);
  // The health is looked at with each plan, and after the first failures.
  expect(looked.mock.calls.length / whole.exporter.targets().length).toBeLessThan(10);
  expect(whole.said('changed').map(({ msg }) => msg)).toEqual([
    `the keys of library/1, library/2, library/3 and ${count(libraries.length - 3)} others changed`,
  ]);
  await whole.pass(10_000);
  expect(whole.exporter.targets().every(({ state }) => state === 'ok')).toBe(true);
  const sent = whole.requests.filter(({ key: used }) => used?.startsWith('key-after'));
  expect(sent).toHaveLength(libraries.length);
});

describe('a library that two accounts list', () => {
  const hourMs = 60 * minuteMs;
  const first = 'the-key-of-the-first';
  const states = (whole: Whole) => whole.exporter.targets().map(({ state }) => state);
  const start = async (list: (isFirst: boolean) => unknown, opens: () => string) => {
    const whole = await startWhole({
      document: {
        credentials: { account: { env: 'KEY' }, second: { env: 'SECOND' } },
        accounts: ['account', 'second'],
        video_library_statistics: { targets: 'all', interval: '5m' },
      } as never,
      env: { KEY: first, SECOND: 'the-key-of-the-second' },
      routes: {
        '/videolibrary': ({ key }: Request) => list(key === first),
        '/library/4/statistics': ({ key }: Request) =>
          key === opens() ? { viewsChart: { '2026-08-15': 3 } } : reply(401),
      },
    });
    await whole.exporter.start();
    await whole.pass(20 * minuteMs);
    return whole;
  };

  it('is read with its new key, which the second one lists, where the first may list no more', async () => {
    let isLost = false;
    let key = 'opens-the-library';
    const whole = await start(
      (isFirst) => (isFirst && isLost ? reply(403) : listed({ Id: 4, Name: 'films', ApiKey: key })),
      () => key,
    );
    isLost = true;
    await whole.pass(hourMs);
    expect(states(whole)).toEqual(['ok']);
    key = 'opens-it-from-now-on';
    await whole.pass(hourMs);
    expect(states(whole)).toEqual(['ok']);
  });

  it('is read with the key that the second one lists, where the first sees none any more', async () => {
    let isHidden = false;
    const whole = await start(
      (isFirst) => listed({ Id: 4, Name: 'films', ApiKey: isFirst && isHidden ? null : 'opens-the-library' }),
      () => 'opens-the-library',
    );
    isHidden = true;
    await whole.pass(hourMs);
    expect(states(whole)).toEqual(['ok']);
  });

  it('is read with the key of the account that a reload adds, where the first may list no more', async () => {
    let key = 'opens-the-library';
    let isLost = false;
    const documentOf = (...accounts: readonly string[]) =>
      ({
        credentials: Object.fromEntries(accounts.map((name) => [name, { env: name.toUpperCase() }])),
        accounts,
        video_library_statistics: { targets: 'all', interval: '5m' },
      }) as never;
    const whole = await startWhole({
      document: documentOf('account'),
      env: { ACCOUNT: first, SECOND: 'the-key-of-the-second' },
      routes: {
        '/videolibrary': (request: Request) =>
          isLost && request.key === first
            ? reply(403)
            : { Items: [{ Id: 4, Name: 'films', ApiKey: key }], TotalItems: 1, HasMoreItems: false },
        '/library/4/statistics': (request: Request) =>
          request.key === key ? { viewsChart: { '2026-08-15': 3 } } : reply(401),
      },
    });
    await whole.exporter.start();
    await whole.pass(20 * minuteMs);
    isLost = true;
    key = 'opens-it-from-now-on';
    await whole.pass(hourMs);
    expect(whole.exporter.targets().map(({ state }) => state)).toEqual(['failing']);
    // The operator adds an account that may list it.
    whole.document = documentOf('account', 'second');
    await whole.reload();
    await whole.pass(hourMs);
    expect(whole.exporter.targets().map(({ state }) => state)).toEqual(['ok']);
  });
});
