import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { expectDeclaredRequests, mockApi, takeProblems } from './mock-api.ts';

const origin = 'https://api.test';
expectDeclaredRequests();

/** A dispatcher of this undici: the default one can be that of Node itself. */
const ask = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  request(url, { headers, dispatcher: new Agent() });

it('answers the declared request once', async () => {
  mockApi(origin, { AccessKey: 'k' }).get('/apps').reply(200, { apps: 1 });
  const { statusCode, body } = await ask(`${origin}/apps`, { AccessKey: 'k' });
  expect([statusCode, await body.json()]).toEqual([200, { apps: 1 }]);
  expect(takeProblems()).toEqual([]);
});

it('reports a declared request that was not made', () => {
  mockApi(origin).get('/apps').reply(200, {});
  expect(takeProblems()).toEqual(['not made: GET https://api.test/apps']);
  expect(takeProblems()).toEqual([]);
});

it('reports an undeclared request to a declared origin', async () => {
  mockApi(origin, { AccessKey: 'k' }).get('/apps').reply(200, {});
  await expect(ask(`${origin}/apps`, { AccessKey: 'other' })).rejects.toThrow();
  expect(takeProblems()).toEqual([
    'not made: GET https://api.test/apps',
    'not declared: GET https://api.test/apps',
  ]);
});

it('blocks requests to any other origin', async () => {
  await expect(ask('https://elsewhere.test/x')).rejects.toThrow();
  expect(takeProblems()).toEqual(['not declared: GET https://elsewhere.test/x']);
});

it('allows requests to loopback', async () => {
  const server = createServer((_, response) => response.end('here'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const { body } = await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(await body.text()).toBe('here');
});
