import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createExporter } from '../../src/exporter.ts';
import { resources } from '../../src/resources/index.ts';
import { Credentials } from '../../src/secrets/credentials.ts';
import { reply, startWhole } from './whole.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

type Target = { readonly id: string; readonly interval?: string };

/** The whole exporter and an API of applications that answers with the status from `statusOf`. */
async function start(
  targets: readonly Target[],
  statusOf: (application: string, requests: number) => number,
) {
  const requests = new Map<string, number>();
  const api = createServer((request, response) => {
    const application = request.url?.split('/')[2] ?? '';
    requests.set(application, (requests.get(application) ?? 0) + 1);
    response.writeHead(statusOf(application, requests.get(application) ?? 0)).end('{"monthlyCost":1}');
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => api.close(resolve)));
  const env = { KEY: 'the-key-of-the-account' };
  const document = {
    credentials: { account: { env: 'KEY' } },
    apis: {
      application: {
        base_url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
        requests_per_second: 100,
        max_concurrency: 1,
      },
    },
    applications: { interval: '1h', targets },
  };
  const { config } = await loadConfig({ document, env, resources });
  const lines: Record<string, unknown>[] = [];
  const exporter = await createExporter({
    load: () => Promise.resolve({ config, credentials: new Credentials(config.credentials, env) }),
    addresses: [{ host: '127.0.0.1', port: 0 }],
    telemetryPath: '/metrics',
    enableLifecycle: true,
    log: pino(
      { level: 'info' },
      { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    ),
  });
  const [url] = await exporter.start();
  stops.push(() => exporter.stop());
  const get = async (path: string) => await (await fetch(`${url}${path}`)).text();
  return {
    get,
    requests,
    said: (words: string) => lines.filter(({ msg }) => String(msg).includes(words)),
    isReady: async () => (await fetch(`${url}/-/ready`)).status === 200,
    refusedKeys: async () => /refused_keys\{api="application"\} (\d+)/.exec(await get('/metrics'))?.[1],
  };
}

describe.each(['a', 'b', 'c'])('an API that refuses the key for %s of three applications', (one) => {
  it('is reported only for this application', async () => {
    const { get, said, isReady, refusedKeys, requests } = await start(
      ['a', 'b', 'c'].map((id) => ({ id })),
      (application) => (application === one ? 403 : 200),
    );
    await expect.poll(isReady).toBe(true);
    await expect.poll(() => said('not allowed to read this: HTTP 403')).toHaveLength(1);
    expect(said('poll failed')).toEqual([
      expect.objectContaining({ target: { app_id: one }, result: 'auth' }),
    ]);
    expect(said('refused')).toEqual([]);
    const page = await get('/metrics');
    expect(page).toContain('polls_total{kind="application",result="auth"} 1');
    expect(page).toContain('polls_total{kind="application",result="success"} 2');
    expect(page).toContain(`bunnynet_application_up{app_id="${one}"} 0`);
    expect(await refusedKeys()).toBe('0');
    expect(await get('/')).not.toContain('is refused');
    expect(await get('/api/v1/targets?state=failing')).toContain(
      '"reason":"not allowed to read this: HTTP 403',
    );
    expect([...requests.values()]).toEqual([1, 1, 1]);
  });
});

it('a key with which nothing can be read counts as refused: one log line, one notice, one count', async () => {
  const { get, said, isReady, refusedKeys } = await start(
    ['a', 'b', 'c'].map((id) => ({ id })),
    () => 401,
  );
  await expect.poll(isReady).toBe(true);
  await expect.poll(refusedKeys).toBe('1');
  expect(said('poll failed')).toHaveLength(1);
  expect(said('the key of account (from $KEY) was refused: HTTP 401')).toHaveLength(1);
  expect(said('not allowed')).toEqual([]);
  expect(await get('/')).toContain('The key of account is refused</bdi></strong>: 3 targets');
});

it('a key that is revoked is soon reported as refused, even if other polls are an hour away', async () => {
  let isRevoked = false;
  const { said, isReady, refusedKeys, requests } = await start(
    [{ id: 'a' }, { id: 'b' }, { id: 'c', interval: '1s' }],
    () => (isRevoked ? 401 : 200),
  );
  await expect.poll(isReady).toBe(true);
  expect(await refusedKeys()).toBe('0');
  isRevoked = true;
  await expect.poll(refusedKeys, { timeout: 15_000 }).toBe('1');
  expect(said('the key of account (from $KEY) was refused')).toHaveLength(1);
  expect(requests.get('a')).toBe(2);

  isRevoked = false;
  await expect.poll(refusedKeys, { timeout: 15_000 }).toBe('0');
  // The targets that the key was refused for are polled at once.
  await expect.poll(() => requests.get('b')).toBe(3);
}, 30_000);

it('one thing that a key may not read is explained when everything has been polled once, however long that took', async () => {
  let answered: () => void = () => undefined;
  const other = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const whole = await startWhole({
    document: { applications: { targets: ['a', 'b'] } },
    routes: {
      '/mc/apps/a/summary': () => (response: ServerResponse) => {
        response.end('{"monthlyCost":1}');
        setTimeout(answered, 100);
      },
      '/mc/apps/b/summary': async () => {
        await other;
        whole.advance(10_000);
        return reply(403);
      },
    },
  });
  await whole.exporter.pollOnce();
  const [failing] = whole.exporter.targets().filter(({ state }) => state === 'failing');
  expect(failing?.lastFailure?.message).toMatch(/^not allowed to read this: HTTP 403/);
  expect(whole.said('not allowed to read this')).toHaveLength(1);
});
