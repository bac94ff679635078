import dns from 'node:dns';
import fs from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createExporter } from '../../src/exporter.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { Credentials } from '../../src/secrets/credentials.ts';
import { listen } from '../api/ask.ts';
import { directory } from '../config/fixtures.ts';
import { startDistantHost } from '../distant-host.ts';
import { issue } from '../http/certificates.ts';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';
import { answerInProcess, createSender } from './api-in-process.ts';
import { holdFile } from './hold-file.ts';
import { eventually, reply, startWhole } from './whole.ts';

const application = { '/mc/apps/a/summary': () => ({ monthlyCost: 1 }) };

it('a key that is read again during a reload is sent neither to the new address nor to the old one', async () => {
  const file = join(await directory(), 'key');
  await fs.writeFile(file, 'key-of-before', { mode: 0o600 });
  const document = { applications: { targets: ['a'] } };
  const whole = await startWhole({
    overSockets: true,
    routes: { '/mc/apps/a/summary': () => ({ monthlyCost: 1 }) },
    document: { ...document, credentials: { account: { file } } },
  });
  const other = await startWhole({ overSockets: true, routes: { ...application }, document });
  await whole.poll();
  expect(whole.requests).toHaveLength(1);
  const { release, opened } = holdFile(file);
  await whole.sweep();
  await expect.poll(opened).toBeGreaterThan(0);
  await fs.writeFile(file, 'key-of-the-reload');
  whole.env['KEY'] = 'key-of-after';
  whole.document = { ...document, apis: { application: { base_url: `${other.apiUrl}/mc` } } };
  await whole.reload();
  release();
  await whole.poll();
  expect(new Set(other.requests.map(({ key }) => key))).toEqual(new Set(['key-of-after']));
  expect(whole.requests).toHaveLength(1);
});

it('a host is reached at an address that answers late, though another one is dead', async () => {
  const port = await startDistantHost('api.two-addresses.test');
  const base_url = `http://api.two-addresses.test:${port}`;
  const whole = await startWhole({
    overSockets: true,
    routes: {},
    document: {
      apis: { application: { base_url, allow_insecure_http: true, max_retries: 0, timeout: '60s' } },
      applications: { targets: ['a'] },
    },
  });
  await whole.poll();
  expect(whole.said('poll failed')).toEqual([]);
  expect(await whole.value('bunnynet_application_up')).toBe(1);
});

/** An API at moving.test, which moves from 127.0.0.1 to 127.0.0.2, directly and through a proxy. Both addresses answer. */
async function serveMoving() {
  const identity = issue({
    name: 'moving',
    ca: true,
    usage: 'server',
    alternativeNames: ['dns:moving.test'],
  });
  const moving = { address: '127.0.0.1', isOldDown: false, requests: [] as string[] };
  const serve = (host: string, port = 0) =>
    listen(
      createServer({ ...identity }, (_, response) => {
        moving.requests.push(host);
        const isDown = moving.isOldDown && host === '127.0.0.1';
        response.writeHead(isDown ? 503 : 200).end('{"monthlyCost":1}');
      }),
      host,
      port,
    );
  const port = await serve('127.0.0.1');
  await serve('127.0.0.2', port);
  const { lookup } = dns;
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(((...asked: Parameters<typeof lookup>) => {
    const [host, , found] = asked as unknown as [string, unknown, (error: null, list: unknown) => void];
    if (host === 'moving.test') found(null, [{ address: moving.address, family: 4 }]);
    else lookup(...asked);
  }) as unknown as typeof lookup);
  onTestFinished(() => {
    spy.mockRestore();
  });
  const proxy = createHttpServer().on('connect', (_, socket) => {
    const target = connect(port, moving.address, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    for (const end of [socket, target])
      end.on('error', () => socket.destroy()).on('close', () => target.end());
  });
  return {
    moving,
    proxyUrl: `http://127.0.0.1:${await listen(proxy)}`,
    application: {
      base_url: `https://moving.test:${port}`,
      ca_file: join(temporary({ 'moving.pem': identity.cert }), 'moving.pem'),
      max_retries: 0,
    },
  };
}

describe('a host that moves', () => {
  const ways = ['directly', 'through a proxy'];

  async function startMoving(way: string) {
    const { moving, proxyUrl, application } = await serveMoving();
    const isDirect = way === 'directly';
    const whole = await startWhole({
      overSockets: true,
      routes: {},
      proxy: isDirect ? undefined : { url: proxyUrl, variable: 'HTTPS_PROXY', except: '' },
      document: { apis: { application }, applications: { targets: ['a'] } },
    });
    const askOnce = async () => {
      await whole.poll();
      return moving.requests.splice(0);
    };
    expect(await askOnce()).toEqual(['127.0.0.1']);
    moving.address = '127.0.0.2';
    return { moving, whole, askOnce };
  }

  it.each(ways)(
    'reached %s, is found again after three failures in a row, though the old address still answers',
    async (way) => {
      const { moving, whole, askOnce } = await startMoving(way);
      moving.isOldDown = true;
      for (const _ of [1, 2, 3]) expect(await askOnce()).toEqual(['127.0.0.1']);
      expect(await whole.value('bunnynet_application_up')).toBe(0);
      expect(await askOnce()).toEqual(['127.0.0.2']);
      expect(await whole.value('bunnynet_application_up')).toBe(1);
    },
  );

  it.each(ways.slice(0, runs(1, 2)))(
    'reached %s, is found again within some minutes, though all goes well at the old address',
    async (way) => {
      const { whole, askOnce } = await startMoving(way);
      whole.advance(4 * 60_000);
      expect(await askOnce()).toEqual(['127.0.0.1']);
      whole.advance(2 * 60_000);
      expect(await askOnce()).toEqual(['127.0.0.2']);
    },
  );
});

it.each([
  [
    '',
    /^Nothing can be read from localhost:2: the proxy 127\.0\.0\.1:1: connection refused \(ECONNREFUSED\): .* Check HTTPS_PROXY/,
  ],
  [
    'localhost',
    /^Nothing can be read from localhost:2: connection refused \(ECONNREFUSED\): .* Check apis\.application\.base_url/,
  ],
])(
  'a connection that fails names the proxy only if it goes through it: NO_PROXY=%j',
  async (except, message) => {
    const whole = await startWhole({
      overSockets: true,
      routes: {},
      proxy: { url: 'http://user:password@127.0.0.1:1', variable: 'HTTPS_PROXY', except },
      document: {
        apis: { application: { base_url: 'https://localhost:2', max_retries: 0 } },
        applications: { targets: ['a'] },
      },
    });
    await whole.poll();
    expect(whole.said('ECONNREFUSED').map(({ msg }) => msg)).toEqual([expect.stringMatching(message)]);
    expect(JSON.stringify(whole.log)).not.toContain('password');
  },
);

it('a page waits for its turn no longer than the interval of its poll', async () => {
  let isListed = () => {};
  const listed = new Promise<void>((resolve) => {
    isListed = resolve;
  });
  const whole = await startWhole({
    // The next page may be asked for a second later. Until then two kinds have got 429.
    api: { requests_per_second: 1 },
    document: {
      pull_zones: { interval: '10s', targets: 'all' },
      billing: { targets: 'all' },
      dns_zones: { targets: 'all' },
    },
    routes: {
      '/pullzone': () => {
        setTimeout(isListed, 100);
        return { Items: [{ Id: 1 }], TotalItems: 2, HasMoreItems: true };
      },
      '*': async () => {
        await listed;
        return reply(429, '', { 'retry-after': '600' });
      },
    },
  });
  await whole.poll();
  const reasons = whole.exporter
    .listings()
    .flatMap(({ poll, lastFailure }) => (poll.kind === 'pull_zone' ? lastFailure?.message : []));
  expect(reasons).toEqual([
    expect.stringContaining('the key is paused after an earlier 429, and it was not'),
  ]);
  expect(whole.requests.filter(({ path }) => path === '/pullzone')).toHaveLength(1);
});

it('a page that waits for its turn is not asked for after its listing was stopped', async () => {
  const whole = await startWhole({
    // The next request may start a second later.
    api: { requests_per_second: 1 },
    document: { pull_zones: { targets: 'all' } },
    routes: {
      ...application,
      '/pullzone': () => ({ Items: [{ Id: 1 }], TotalItems: 2, HasMoreItems: true }),
    },
  });
  void whole.exporter.pollOnce();
  await eventually(() => expect(whole.requests).toHaveLength(1));
  whole.document = { applications: { targets: ['a'] } };
  await whole.reload();
  await whole.pass(1300);
  expect(whole.requests.map(({ path }) => path)).toEqual(['/pullzone', '/mc/apps/a/summary']);
});

it('a key file on a mount that hangs keeps nobody else from polling', async () => {
  const file = join(await directory(), 'key');
  await fs.writeFile(file, 'key-of-a-mount', { mode: 0o600 });
  const whole = await startWhole({
    overSockets: true,
    maxKeyReadMs: 100,
    api: { max_concurrency: 1 },
    document: {
      credentials: { account: { env: 'KEY' }, mounted: { file } },
      applications: {
        credential: 'account',
        targets: ['a', ...['b', 'c', 'd', 'e'].map((id) => ({ id, credential: 'mounted' }))],
      },
    },
    routes: application,
  });
  const { opened } = holdFile(file);
  await whole.poll();
  expect(await whole.value('bunnynet_application_up', { app_id: 'a' })).toBe(1);
  expect(await whole.value('bunnynet_application_up', { app_id: 'b' })).toBe(0);
  expect(whole.said(`expected the key file ${file}; reading it takes longer than 100 ms`)).not.toEqual([]);
  // Each would take one of the four threads that Node has for files and names of hosts.
  expect(opened()).toBe(1);
});

/** With the clock that the program has, which goes on while the machine sleeps. */
it('connections from before the machine slept are begun anew', async () => {
  const base_url = 'https://slept.test';
  onTestFinished(answerInProcess(base_url, (_, response) => response.writeHead(200).end('{"Balance":5}')));
  let sleptMs = 0;
  const { uptime } = os;
  vi.spyOn(os, 'uptime').mockImplementation(() => uptime() + sleptMs / 1000);
  syncBuiltinESMExports();
  // The machine is asked once a second.
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + (sleptMs > 0 ? 1001 : 0));
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const env = { KEY: 'the-key-of-the-account' };
  const credentials = { account: { env: 'KEY' } };
  const document = { credentials, apis: { core: { base_url } }, billing: { targets: 'all' } };
  const { config } = await loadConfig({ document, env, resources });
  let begun = 0;
  const exporter = await createExporter({
    load: () => Promise.resolve({ config, credentials: new Credentials(credentials, env) }),
    addresses: [{ host: '127.0.0.1', port: 0 }],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    log: pino({ level: 'silent' }),
    createSender(api, proxy) {
      if (api.baseUrl.startsWith(base_url)) begun++;
      return createSender(api, proxy);
    },
  });
  onTestFinished(() => exporter.stop());
  expect(await exporter.pollOnce()).toBe(true);
  expect(begun).toBe(1);
  sleptMs = 3_600_000;
  expect(await exporter.pollOnce()).toBe(true);
  expect(begun).toBe(2);
});
