import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { expectDeclaredRequests, mockApi, takeProblems } from './mock-api.ts';

const origin = 'https://api.test';
expectDeclaredRequests();

it('answers the declared request once', async () => {
  mockApi(origin, { AccessKey: 'k' }).get('/apps').reply(200, { apps: 1 });
  const { statusCode, body } = await request(`${origin}/apps`, { headers: { AccessKey: 'k' } });
  expect([statusCode, await body.json()]).toEqual([200, { apps: 1 }]);
  expect(takeProblems()).toEqual([]);
});

it('reports a declared request that was not made', () => {
  mockApi(origin).get('/apps').reply(200, {});
  expect(takeProblems()).toEqual([expect.stringMatching(/^not made: GET https:\/\/api\.test.*\/apps$/)]);
  expect(takeProblems()).toEqual([]);
});

it('reports an undeclared request to a declared origin', async () => {
  mockApi(origin, { AccessKey: 'k' }).get('/apps').reply(200, {});
  const { statusCode, body } = await request(`${origin}/apps`, { headers: { AccessKey: 'other' } });
  await body.dump();
  expect(statusCode).toBe(501);
  expect(takeProblems()).toEqual([
    expect.stringContaining('not made: GET'),
    'not declared: GET https://api.test/apps',
  ]);
});

it('blocks requests to any other origin', async () => {
  await expect(request('https://elsewhere.test/x')).rejects.toThrow();
  expect(takeProblems()).toEqual(['not declared: GET https://elsewhere.test/x']);
});

it('allows requests to loopback', async () => {
  const server = createServer((_, response) => response.end('here'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const { body } = await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(await body.text()).toBe('here');
});
