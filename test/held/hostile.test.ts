/** Keys, ids and names that no sane API sends: they cost themselves, and nothing else. */
import { describe, expect, it } from 'vitest';
import { eventually, startWhole } from './whole.ts';

const goodKey = '9d1c2e7a-good-key0-of00-library00002';

/** What comes as the key of a library, and what is wrong with it. */
const keys: readonly (readonly [what: string, key: unknown, reason: string])[] = [
  [
    'half a surrogate pair',
    'abcd\ud800efghijklmnop',
    'it holds control characters or characters beyond ASCII',
  ],
  ['300,000 characters', 'k'.repeat(300_000), 'it is larger than 4096 bytes'],
  ['one character too many', 'k'.repeat(4097), 'it is larger than 4096 bytes'],
  ['a line break, as for another header', 'a-key\r\nX-Admin: 1', 'it has several lines'],
  ['a null character', 'a-key\u0000', 'it holds control characters'],
  ['letters beyond ASCII', 'schlüssel', 'it holds control characters or characters beyond ASCII'],
  ['a space', 'a key', 'it holds a space'],
  ['a byte order mark', '\ufeffa-key', 'it begins with a byte order mark'],
  ['a line break alone', '\n', 'it is empty'],
];

describe('a key that came with a listing', () => {
  it('and cannot be one leaves its library without a key', async () => {
    const bad = keys.map(([what, ApiKey], at) => ({ Id: at + 1, Name: what, ApiKey }));
    const good = { Id: 100, Name: 'good', ApiKey: goodKey };
    const whole = await startWhole({
      document: { video_libraries: { targets: 'all' }, video_encoding: { targets: 'all' } },
      routes: {
        '/videolibrary': () => ({
          Items: [...bad, good],
          TotalItems: bad.length + 1,
          HasMoreItems: false,
        }),
        '*': () => ({ items: [], totalItems: 0 }),
      },
    });
    await whole.poll();
    const upOf = ({ Id }: { readonly Id: number }, value: number) => [
      `{library_id="${Id}",account="account"}`,
      value,
    ];
    expect(await whole.series('bunnynet_video_library_up')).toEqual(
      Object.fromEntries([...bad, good].map((library) => upOf(library, 1))),
    );
    expect(await whole.series('bunnynet_video_encoding_up')).toEqual(
      Object.fromEntries([...bad.map((library) => upOf(library, 0)), upOf(good, 1)]),
    );
    const failures = whole.exporter.targets().flatMap(({ target, lastFailure }) => {
      const what = bad.find(({ Id }) => `${Id}` === target.ids['library_id'])?.Name;
      return lastFailure ? [[what, lastFailure.result, lastFailure.message]] : [];
    });
    expect(failures).toEqual(
      keys.map(([what, , reason]) => [
        what,
        'auth',
        expect.stringMatching(`the key cannot be read: expected a key in the listing; .*${reason}`) as string,
      ]),
    );
    const ofVideos = whole.requests.filter(({ path }) => path.startsWith('/library/'));
    expect(ofVideos.map((request) => [request.path, request.key])).toEqual([
      ['/library/100/videos', goodKey],
    ]);
    expect(JSON.stringify(whole.log)).not.toContain(goodKey);
  });

  it('is used as soon as the listing has a good one', async () => {
    let key = 'a bad one';
    const whole = await startWhole({
      document: { video_encoding: { targets: 'all' } },
      routes: {
        '/videolibrary': () => ({ Items: [{ Id: 1, ApiKey: key }], TotalItems: 1, HasMoreItems: false }),
        '/library/1/videos': () => ({ items: [], totalItems: 0 }),
      },
    });
    await whole.poll();
    expect(await whole.value('bunnynet_video_encoding_up')).toBe(0);
    key = goodKey;
    await whole.poll();
    await eventually(async () => expect(await whole.value('bunnynet_video_encoding_up')).toBe(1));
  });
});

/** Text that something may choke on: URLs, HTML, JSON, terminals, the text format, objects. */
const texts: readonly string[] = [
  'a\ud800b',
  '\udc00',
  'x'.repeat(300_000),
  `${'x'.repeat(4999)}\u{1f407}`,
  '__proto__',
  '../../billing?x=1#y',
  '<script>alert(1)</script>"\'',
  'a"} 1\nbunnynet_application_up{app_id="forged',
  '\u0000\u001b]0;title\u0007\u202e\r',
  '\u{1f407}'.repeat(5),
  ' ',
];

async function start(element: (text: string, at: number) => object) {
  const whole = await startWhole({
    document: { applications: { targets: 'all', exclude: '(a|b|c)*d' } },
    routes: {
      '/mc/apps': () => ({ items: texts.map(element), meta: { totalItems: texts.length }, cursor: null }),
    },
  });
  await whole.poll();
  return whole;
}

/** What a scrape must be made of: comments, and rows with a name, labels in quotes and a number. */
const row = /^(#.*|[a-z_:][a-z0-9_:]*(\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)*\})? \S+)$/i;

describe('any text of an application', () => {
  it.each([
    ['id', (text: string) => ({ id: text, name: 'shop' })],
    ['name', (text: string, at: number) => ({ id: `app${at}`, name: text })],
  ] as const)('as its %s: pages, log and other targets go on', async (_, element) => {
    const whole = await start(element);
    expect(whole.exporter.listings().map(({ state, found }) => [state, found])).toEqual([
      ['ok', texts.length],
    ]);
    const { body: page } = await whole.get('/metrics');
    expect(page.split('\n').filter((line) => line !== '' && !row.test(line))).toEqual([]);
    expect(page.match(/^bunnynet_application_up\{/gm)).toHaveLength(texts.length);

    const { status, body: html } = await whole.get('/');
    expect(status).toBe(200);
    expect(html.match(/<tr role="row">/g)?.length).toBeGreaterThanOrEqual(texts.length);
    expect(html).not.toContain('<script>alert');
    expect(html.length).toBeLessThan(300_000);

    const { body: json } = await whole.get('/api/v1/targets');
    const { targets } = JSON.parse(json) as { targets: readonly { ids: object; name: string }[] };
    expect(targets).toHaveLength(texts.length);
    expect(json).not.toMatch(/\\ud[89a-f]/i);
    for (const { ids, name } of targets)
      expect(Math.max(name.length, ...Object.values(ids).map((id) => String(id).length))).toBeLessThan(5001);
    expect((await whole.get('/api/v1/targets?q=script')).status).toBe(200);
    for (const line of whole.log) expect(JSON.stringify(line).length).toBeLessThan(40_000);
  });
});

it('whatever throws while a listing is taken over is one failed poll with a reason', async () => {
  let isBroken = true;
  const whole = await startWhole({
    document: { applications: { targets: 'all' } },
    routes: {
      '/mc/apps': () => ({ items: [{ id: 'a', name: 'shop' }], meta: { totalItems: 1 }, cursor: null }),
      '/mc/apps/a/summary': () => ({ monthlyCost: 1 }),
    },
    onLine(line) {
      if (isBroken && line.includes('+1 application')) throw new Error('no space left on device');
    },
  });
  await whole.poll();
  const [listing] = whole.exporter.listings();
  expect(listing?.state).toBe('failing');
  expect(listing?.lastFailure?.message).toContain('no space left on device');
  isBroken = false;
  await whole.poll();
  expect(whole.exporter.listings().map(({ state }) => state)).toEqual(['ok']);
  expect(await whole.value('bunnynet_application_up')).toBe(1);
});
