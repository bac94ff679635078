/** The key goes only to the configured origin of its API, wherever answers point. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { listen } from '../api/ask.ts';
import { fewKinds } from '../config/fixtures.ts';
import { startWhole } from '../held/whole.ts';
import { temporary } from '../http/temporary.ts';
import { found, newKey } from './canary.ts';

const key = newKey();

/** Another host that counts connections and records what they send. */
async function listenElsewhere(): Promise<{
  readonly port: number;
  readonly heard: () => readonly string[];
}> {
  const heard: string[] = [];
  const server = createTcpServer((socket) => {
    const index = heard.push('') - 1;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard[index] += chunk.toString('latin1');
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    });
  });
  return { port: await listen(server, '127.0.0.2'), heard: () => heard };
}

test('nothing in an answer makes it ask another host or send a cookie', async () => {
  const elsewhere = await listenElsewhere();
  const there = `http://127.0.0.2:${elsewhere.port}/`;
  const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const statuses: Readonly<Record<string, number>> = {
    '/apps/broken/summary': 503,
    '/apps/moved/summary': 302,
  };
  const api = createServer(({ url = '', headers }, response) => {
    asked.push({ path: url, headers });
    response.writeHead(statuses[url] ?? 200, {
      'set-cookie': [`session=1; Domain=127.0.0.2`, 'other=2; Path=/'],
      link: `<${there}>; rel=preload, <${there}>; rel=next`,
      refresh: `0; url=${there}`,
      'alt-svc': `http/1.1="127.0.0.2:${elsewhere.port}"; ma=3600`,
      'content-location': there,
      location: there,
      'strict-transport-security': 'max-age=1',
    });
    response.end(JSON.stringify({ status: 'active', instance: there, page: { nextPage: there } }));
  });
  const whole = await startWhole({
    overSockets: true,
    routes: {},
    env: { KEY: key },
    document: {
      apis: { application: { base_url: `http://127.0.0.1:${await listen(api)}`, max_retries: 2 } },
      applications: { targets: ['one', 'two', 'broken', 'moved'] },
    },
  });
  await whole.poll();
  // The broken request is retried.
  expect(asked.map(({ path }) => path).sort()).toEqual([
    ...Array.from({ length: 3 }, () => '/apps/broken/summary'),
    '/apps/moved/summary',
    '/apps/one/summary',
    '/apps/two/summary',
  ]);
  for (const { headers } of asked)
    expect(Object.keys(headers).sort()).toEqual(['accept', 'accesskey', 'connection', 'host', 'user-agent']);
  expect(elsewhere.heard()).toEqual([]);
  expect(found({ key }, JSON.stringify(whole.log) + (await whole.page()))).toEqual([]);
});

test('an id from a listing never makes a path outside the API', async () => {
  const ids = ['../../evil', 'a/b', '1?x=', '7', 8, '//127.0.0.2/'];
  const whole = await startWhole({
    overSockets: true,
    routes: {
      '/shield/shield-zones': () => ({ data: ids.map((id) => ({ shieldZoneId: id })) }),
      '/pullzone': () => [],
    },
    document: { shield_zones: { targets: 'all' }, rate_limits: { targets: 'all' } },
  });
  // A listing with unusable entries is incomplete, so nothing of it is used.
  expect(await whole.exporter.pollOnce()).toBe(false);
  expect(whole.said('without a usable')).not.toEqual([]);
  expect(new Set(whole.requests.map(({ path }) => path))).toEqual(
    new Set(['/shield/shield-zones', '/pullzone']),
  );
});

function problemsOf(url: string): Promise<string> {
  const env = { BUNNYNET_ACCESS_KEY: key, BUNNYNET_APPLICATIONS: 'one', BUNNYNET_APPLICATION_URL: url };
  return loadConfig({ env, resources: fewKinds }).then(
    () => '',
    ({ message }: Error) => message,
  );
}

describe('an address', () => {
  test.each([
    'http://127.0.0.1:1',
    'http://127.9.9.9:1',
    'http://localhost:1',
    'http://LOCALHOST:1',
    'http://[::1]:1',
    'http://127.1:1',
    'http://2130706433:1',
  ])('without TLS is accepted for this machine: %s', async (url) => {
    expect(await problemsOf(url)).toBe('');
  });

  test.each([
    'http://api.bunny.net',
    'HTTP://api.bunny.net',
    'http://localhost.example:1',
    'http://127.0.0.1.example:1',
    'http://0.0.0.0:1',
    'http://[::]:1',
    'http://10.0.0.1',
    'http://169.254.169.254',
  ])('without TLS is refused for other machines: %s', async (url) => {
    expect(await problemsOf(url)).toContain('over http the key is sent unencrypted');
  });

  test.each([
    'http://user:hidden-4f1d@127.0.0.1',
    'https://hidden-4f1d@api.bunny.net',
    'https://api.bunny.net?key=hidden-4f1d',
    'https://api.bunny.net#hidden-4f1d',
    'ftp://hidden-4f1d.example',
    'hidden-4f1d',
  ])('that is invalid is refused without being shown: %s', async (url) => {
    const problems = await problemsOf(url);
    expect(problems).toContain('BUNNYNET_APPLICATION_URL: expected an http or https address');
    expect(problems).not.toContain('hidden-4f1d');
  });

  test('without TLS is accepted for other machines if the file says so', async () => {
    const api = '{ application: { base_url: "http://10.0.0.1", allow_insecure_http: true } }';
    const directory = temporary({
      'config.yml': `credentials: { account: { env: KEY } }\napis: ${api}\napplications: { targets: [one] }\n`,
    });
    const file = `${directory}/config.yml`;
    await expect(loadConfig({ file, env: { KEY: key }, resources: fewKinds })).resolves.toMatchObject({
      warnings: [],
    });
  });
});

test('the video API gets no key of the account, whatever the listing of libraries has', async () => {
  const given = [null, '', ' ', 7, true, ['a'], { key: 'a' }, 'two words', 'a\nb', 'ü', 'x'.repeat(5000)];
  const libraries = given.flatMap((ApiKey, at) => [
    { Id: 2 * at + 1, ApiKey, ReadOnlyApiKey: null },
    { Id: 2 * at + 2, ReadOnlyApiKey: ApiKey },
  ]);
  const whole = await startWhole({
    env: { KEY: key },
    document: { discovery: { kinds: 'all' }, video_storage: { targets: 'all' } },
    routes: {
      '/videolibrary': () => ({
        Items: [...libraries, { Id: 99, ApiKey: 'opens-library-99' }],
        TotalItems: libraries.length + 1,
        HasMoreItems: false,
      }),
      ...Object.fromEntries(
        [...libraries, { Id: 99 }].map(({ Id }) => [
          `/library/${Id}/videos`,
          () => ({ items: [{ guid: 'v', title: 'film' }], totalItems: 1 }),
        ]),
      ),
    },
  });
  await whole.poll();
  const ofVideos = whole.requests.filter(({ path }) => path.startsWith('/library/'));
  expect(ofVideos.map(({ path }) => path)).toContain('/library/99/videos/v/storage');
  expect(ofVideos.filter((request) => request.key !== 'opens-library-99')).toEqual([]);
});
