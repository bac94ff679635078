/** The API as a test declares it, request by request. */
import nock from 'nock';
import { afterAll, afterEach, beforeAll } from 'vitest';

const loopback = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

const undeclared: string[] = [];

function noteUndeclared({ method, url }: Request): void {
  if (!loopback.test(new URL(url).host)) undeclared.push(`${method} ${url}`);
}

/**
 * For the tests of the file that calls it: they can only reach loopback, and a test fails if a declared request was not
 * made or an undeclared one was.
 */
export function expectDeclaredRequests(): void {
  beforeAll(() => {
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
    nock.enableNetConnect(loopback);
    nock.emitter.on('no match', noteUndeclared);
  });

  afterEach(() => {
    const problems = takeProblems();
    if (problems.length > 0)
      throw new Error(`the API saw other requests than declared:\n${problems.join('\n')}`);
  });

  afterAll(() => {
    nock.emitter.off('no match', noteUndeclared);
    nock.enableNetConnect();
    nock.restore();
  });
}

/**
 * Declares requests to an origin. Each answers one request:
 * `mockApi('https://api.example').get('/apps/a/summary').reply(200, { status: 'active' })`.
 *
 * @param headers what the request has to carry besides
 */
export function mockApi(origin: string, headers: Readonly<Record<string, string>> = {}): nock.Scope {
  return nock(origin, { reqheaders: { ...headers } });
}

/** Declared requests that were not made, and undeclared ones that were, since the last call. */
export function takeProblems(): readonly string[] {
  const problems = [
    ...nock.pendingMocks().map((mock) => `not made: ${mock}`),
    ...undeclared.map((request) => `not declared: ${request}`),
  ];
  undeclared.length = 0;
  nock.abortPendingRequests();
  nock.cleanAll();
  return problems;
}
