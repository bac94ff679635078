import { Agent, request } from 'undici';
import { expect, it } from 'vitest';
import { expectDeclaredRequests, mockApi, takeProblems } from './mock-api.ts';

const origin = 'https://api.test';
expectDeclaredRequests();

/** A dispatcher of this undici: the default one can be that of Node itself. */
const ask = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  request(url, { headers, dispatcher: new Agent() });

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
