/** The key goes only to the configured origin of its API, wherever answers point. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { resources } from '../../src/resources/index.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { temporary } from '../http/temporary.ts';
import { found, newKey, run } from './canary.ts';

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, heard: () => heard };
}

const environment = (url: string, ids: readonly string[]) => ({
  BUNNYNET_ACCESS_KEY: key,
  BUNNYNET_APPLICATIONS: ids.join(','),
  BUNNYNET_APPLICATION_URL: url,
});

test('a redirect to another host is not followed', async () => {
  const elsewhere = await listenElsewhere();
  const simulator = createSimulator({ keys: { account: key } });
  await simulator.start();
  onTestFinished(() => simulator.stop());
  const location = `http://127.0.0.2:${elsewhere.port}/`;
  simulator.inject({ type: 'redirect', location });
  const env = environment(simulator.baseUrls.application, [simulator.applications[0]?.id ?? '']);
  const { code, output } = await run(['--once'], { env }).ended;
  expect(code).toBe(3);
  expect(output).toContain('HTTP 302: a redirect, which is not followed');
  expect(elsewhere.heard()).toEqual([]);
});

test('nothing else in an answer makes it ask another host or send a cookie', async () => {
  const elsewhere = await listenElsewhere();
  const there = `http://127.0.0.2:${elsewhere.port}/`;
  const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const api = createServer(({ url = '', headers }, response) => {
    asked.push({ path: url, headers });
    response.writeHead(url.includes('broken') ? 503 : 200, {
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
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    api.close();
    api.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const { output } = await run(['--once'], { env: environment(url, ['one', 'two', 'broken']) }).ended;
  // The broken request is retried.
  expect(asked.map(({ path }) => path).sort()).toEqual([
    ...Array.from({ length: 3 }, () => '/apps/broken/summary'),
    '/apps/one/summary',
    '/apps/two/summary',
  ]);
  for (const { headers } of asked)
    expect(Object.keys(headers).sort()).toEqual(['accept', 'accesskey', 'connection', 'host', 'user-agent']);
  expect(elsewhere.heard()).toEqual([]);
  expect(found({ key }, output)).toEqual([]);
});

test('an id from a listing never makes a path outside the API', async () => {
  const asked: string[] = [];
  const api = createServer(({ url = '' }, response) => {
    asked.push(url);
    const ids = ['../../evil', 'a/b', '1?x=', '7', 8, '//127.0.0.2/'];
    response.end(
      url.startsWith('/shield/shield-zones')
        ? JSON.stringify({ data: ids.map((id) => ({ shieldZoneId: id })) })
        : '{"data": []}',
    );
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    api.close();
    api.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const env = {
    BUNNYNET_ACCESS_KEY: key,
    BUNNYNET_SHIELD_ZONES: 'all',
    BUNNYNET_RATE_LIMITS: 'all',
    BUNNYNET_SHIELD_URL: url,
    BUNNYNET_CORE_URL: url,
  };
  const { code, output } = await run(['--once'], { env }).ended;
  // A listing with unusable entries is incomplete, so nothing of it is used.
  expect(code).toBe(3);
  expect(output).toContain('without a usable');
  expect(asked.filter((path) => !/^\/(shield\/shield-zones|pullzone)\?/.test(path))).toEqual([]);
});

const problemsOf = (url: string) =>
  loadConfig({ env: environment(url, ['one']), resources }).then(
    () => '',
    ({ message }: Error) => message,
  );

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
    await expect(loadConfig({ file, env: { KEY: key }, resources })).resolves.toMatchObject({ warnings: [] });
  });
});
