import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { describe, expect, test } from 'vitest';
import { createBasicAuth, type Verdict } from '../../src/http/basic-auth.ts';
import type { Route } from '../../src/http/route.ts';
import { runs } from '../runs.ts';
import { metrics, serve } from './serve.ts';
import { temporary } from './temporary.ts';

const hashes = { alice: hashSync('correct horse', 5), zoé: hashSync('pa:ss wörd', 4) };
const users = new Map(Object.entries(hashes));
const header = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('over HTTP', () => {
  const yaml = (of: Readonly<Record<string, string>>) =>
    `basic_auth_users:\n${Object.entries(of)
      .map(([user, hash]) => `  ${user}: ${hash}\n`)
      .join('')}`;

  async function serveUsers(of: Readonly<Record<string, string>> = hashes) {
    const directory = temporary({ 'web.yml': yaml(of) });
    const healthy: Route = {
      path: '/-/healthy',
      methods: ['GET'],
      handle: (_request, response) => void response.end('healthy\n'),
    };
    return {
      directory,
      ...(await serve({ webConfigFile: join(directory, 'web.yml'), routes: [metrics, healthy] })),
    };
  }

  const status = async (url: string, authorization?: string) => {
    const response = await fetch(`${url}/metrics`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    await response.arrayBuffer();
    return response.status;
  };

  test('lets in known users with their passwords, and nobody else', async () => {
    const { url } = await serveUsers();
    const asked: readonly (readonly [user: string, password: string, status: number])[] = [
      ['zoé', 'pa:ss wörd', 200],
      // A property of every object.
      ['constructor', 'x', 401],
    ];
    const more: typeof asked = [
      ['alice', 'correct horse', 200],
      ['alice', 'wrong horse', 401],
      ['bob', 'correct horse', 401],
    ];
    // Each is compared in a thread of its own.
    for (const [user, password, expected] of [...asked, ...runs([], more)])
      expect(await status(url, header(user, password)), user).toBe(expected);
    expect(await status(url)).toBe(401);
  });

  test('a refusal asks for a password, on every page: also the health check and missing pages', async () => {
    const { url } = await serveUsers();
    for (const path of ['/metrics', '/-/healthy', '/nothing']) {
      const response = await fetch(url + path);
      expect([response.status, await response.text()]).toEqual([401, 'Unauthorized\n']);
      expect(response.headers.get('www-authenticate')).toBe('Basic');
    }
  });

  test('changed users apply from the next request on', async () => {
    const { url, directory } = await serveUsers();
    const alice = header('alice', 'correct horse');
    expect(await status(url, alice)).toBe(200);
    writeFileSync(join(directory, 'web.yml'), yaml({ bob: hashes.zoé }));
    expect(await status(url, alice)).toBe(401);
    expect(await status(url, header('bob', 'pa:ss wörd'))).toBe(200);
  });

  test('a flood of wrong passwords is limited, and keeps out nobody who was let in before', async () => {
    const { url, log } = await serveUsers({ alice: hashSync('correct horse', 4) });
    const alice = header('alice', 'correct horse');
    expect(await status(url, alice)).toBe(200);
    const guesses = Array.from({ length: 30 }, (_, index) => header('alice', `guess ${index}`));
    const seen = new Set<number>();
    // Those that still wait are not answered: the server stops with the test.
    for (const guess of guesses)
      status(url, guess).then(
        (one) => seen.add(one),
        () => undefined,
      );
    expect(await status(url, alice)).toBe(200);
    await expect.poll(() => seen).toEqual(new Set([401, 503]));
    expect(new Set(log.lines.map(({ level, message }) => [level, message].join(': ')))).toEqual(
      new Set(['debug: wrong user or password']),
    );
  });

  test('the headers of the file are on every answer, and win over those of the server and the pages', async () => {
    const own: Route = {
      path: '/own',
      methods: ['GET'],
      headers: { 'Content-Security-Policy': 'of the page', 'Referrer-Policy': 'origin' },
      handle: (_request, response) => void response.end(),
    };
    const directory = temporary({
      'web.yml':
        'http_server_config:\n  headers:\n    Content-Security-Policy: of the file\n    X-Frame-Options: deny\n',
    });
    const { url } = await serve({ webConfigFile: join(directory, 'web.yml'), routes: [metrics, own] });
    for (const path of ['/metrics', '/own', '/missing']) {
      const { headers } = await fetch(url + path);
      expect([headers.get('content-security-policy'), headers.get('x-frame-options')]).toEqual([
        'of the file',
        'deny',
      ]);
    }
    expect((await fetch(`${url}/own`)).headers.get('referrer-policy')).toBe('origin');
  });
});

describe('comparisons', () => {
  /** Answers when the test says so. */
  function slowCheck() {
    const asked: { password: string; hash: string; answer(matches: boolean): void }[] = [];
    const check = (password: string, hash: string) =>
      new Promise<boolean>((answer) => asked.push({ password, hash, answer }));
    return { asked, check };
  }

  test('an unknown user costs as much as the most expensive known one, and is never let in', async () => {
    const { asked, check } = slowCheck();
    const verdict = createBasicAuth(check)(users, header('bob', 'x'), 'a');
    expect(asked[0]?.hash).toMatch(/^\$2b\$05\$.{53}$/);
    asked[0]?.answer(true);
    expect(await verdict).toBe('denied');
  });

  test('the same password at the same time is compared once, and a right one is remembered', async () => {
    const { asked, check } = slowCheck();
    const auth = createBasicAuth(check);
    const ask = () => auth(users, header('alice', 'correct horse'), 'a');
    const verdicts = Promise.all(Array.from({ length: 10 }, ask));
    expect(asked).toHaveLength(1);
    asked[0]?.answer(true);
    expect(new Set(await verdicts)).toEqual(new Set(['allowed']));
    expect(await ask()).toBe('allowed');
    expect(asked).toHaveLength(1);
  });

  test('a remembered password is wrong once the user has another one, or has gone', async () => {
    const { asked, check } = slowCheck();
    const auth = createBasicAuth(check);
    const judge = async (of: ReadonlyMap<string, string>) => {
      const verdict = auth(of, header('alice', 'correct horse'), 'a');
      asked.at(-1)?.answer(asked.at(-1)?.hash === hashes.alice);
      return verdict;
    };
    expect(await judge(users)).toBe('allowed');
    expect(await judge(new Map([['alice', hashes.zoé]]))).toBe('denied');
    expect(await judge(new Map([['zoé', hashes.zoé]]))).toBe('denied');
  });

  test('wrong passwords are not remembered, so strangers cannot displace users', async () => {
    const { asked, check } = slowCheck();
    const auth = createBasicAuth(check, { maxWaiting: 8, maxWaitingPerAddress: 8, maxRemembered: 1 });
    const judge = async (password: string, matches: boolean) => {
      const verdict = auth(users, header('alice', password), 'a');
      asked.at(-1)?.answer(matches);
      return verdict;
    };
    expect(await judge('right', true)).toBe('allowed');
    expect(await judge('wrong', false)).toBe('denied');
    expect(await judge('right', false)).toBe('allowed');
    expect(await judge('also right', true)).toBe('allowed');
    expect(await judge('right', false)).toBe('denied');
  });

  test('only a limited number wait, per address and in total', async () => {
    const { asked, check } = slowCheck();
    const auth = createBasicAuth(check, { maxWaiting: 3, maxWaitingPerAddress: 2, maxRemembered: 8 });
    const verdicts: Promise<Verdict>[] = [];
    const ask = (password: string, address: string) => {
      const verdict = auth(users, header('alice', password), address);
      verdicts.push(verdict);
      return verdict;
    };
    void ask('1', 'a');
    void ask('2', 'a');
    expect(await ask('3', 'a')).toBe('busy');
    void ask('4', 'b');
    expect(await ask('5', 'b')).toBe('busy');
    for (const question of asked) question.answer(false);
    expect(await Promise.all(verdicts)).toEqual(['denied', 'denied', 'busy', 'denied', 'busy']);
    const again = ask('6', 'a');
    asked.at(-1)?.answer(true);
    expect(await again).toBe('allowed');
  });

  test('a thread that fails is an error, not a verdict', async () => {
    const auth = createBasicAuth(() => Promise.reject(new Error('out of memory')));
    await expect(auth(users, header('alice', 'x'), 'a')).rejects.toThrow('out of memory');
  });
});
