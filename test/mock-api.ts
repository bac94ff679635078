/** The API as a test declares it, request by request, with nock. Loopback stays real, and nothing else is reached. */
import nock from 'nock';
import { afterAll, afterEach, beforeAll } from 'vitest';

const loopback = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

// It is active once it is imported, in all test files of the process.
nock.restore();

const undeclared: string[] = [];

function note({ method, url }: Request): void {
  if (!loopback.test(new URL(url).host)) undeclared.push(`${method} ${url}`);
}

/**
 * For the tests of the file that calls it: they can only reach loopback, and a test fails if a declared request was not
 * made or an undeclared one was.
 */
export function expectDeclaredRequests(): void {
  beforeAll(() => {
    nock.activate();
    nock.disableNetConnect();
    nock.enableNetConnect(loopback);
    nock.emitter.on('no match', note);
  });

  afterEach(() => {
    const problems = takeProblems();
    if (problems.length > 0)
      throw new Error(`the API saw other requests than declared:\n${problems.join('\n')}`);
  });

  afterAll(() => {
    nock.emitter.off('no match', note);
    nock.enableNetConnect();
    nock.restore();
  });
}

/**
 * Declares requests to an origin. Each answers one request, or as many as `times` says:
 * `mockApi('https://api.example').get('/apps/a/summary').reply(200, { status: 'active' })`.
 *
 * @param headers what the request has to carry besides
 */
export function mockApi(origin: string, headers: Readonly<Record<string, string>> = {}) {
  return {
    get(path: string, times = 1) {
      const request = nock(origin, { reqheaders: { ...headers } })
        .get(path)
        .times(times);
      return {
        reply(
          status: number,
          body: string | object = '',
          answerHeaders: Readonly<Record<string, string>> = {},
        ) {
          request.reply(status, body, { ...answerHeaders });
        },
        /** The connection fails with this message. */
        replyWithError(message: string) {
          request.replyWithError(message);
        },
      };
    },
  };
}

/** Declared requests that were not made, and undeclared ones that were, since the last call. */
function takeProblems(): readonly string[] {
  const problems = [
    ...nock.pendingMocks().map((request) => `not made: ${request}`),
    ...undeclared.splice(0).map((request) => `not declared: ${request}`),
  ];
  nock.cleanAll();
  return problems;
}
