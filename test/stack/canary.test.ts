/** Nothing that the exporter shows, writes or leaves behind contains a key or a password, however the API fails. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { hashSync } from 'bcryptjs';
import { describe, expect, test } from 'vitest';
import { issueFamily } from '../http/certificates.ts';
import { temporary } from '../http/temporary.ts';
import {
  type Canaries,
  filesIn,
  found,
  newKey,
  originOf,
  page,
  privatePartOf,
  run,
} from '../security/canary.ts';
import { applicationEchoes, guardianTargets, repeating, serveEchoes } from '../security/echo-api.ts';
import { configOf, faults, injectAll, stage } from '../security/stage.ts';
import { kindNames, kindOfEachForm } from '../simulator/targets.ts';

const keys = { account: newKey(), library: newKey() };
const { ca, server } = issueFamily();
// bcrypt reads 72 bytes.
const password = `pw-${newKey().slice(0, 60)}`;
const hash = hashSync(password, 4);
const proxyPassword = `proxy-${newKey()}`;
const canaries: Canaries = {
  ...keys,
  'web password': password,
  'web password hash': hash.slice(7),
  'proxy password': proxyPassword,
  'TLS key': privatePartOf(server.key),
};
const proxyUrl = `http://scraper:${proxyPassword}@127.0.0.1:1`;
const anyPort = '--web.listen-address=127.0.0.1:0';
/** Between them they have every form of answer and of error. */
const someKinds: readonly string[] = [...kindOfEachForm, 'pull_zone_statistics', 'video_library_statistics'];
const kindsOf: Readonly<Record<string, readonly string[]>> = { json: kindNames, pretty: someKinds };

describe('the search', () => {
  const hidden = '4f1d9e27-77aa-00c3-5e1f-0d2c3b4a5968';
  test.each([
    hidden,
    hidden.toUpperCase(),
    hidden.slice(3, 13),
    Buffer.from(hidden).toString('hex'),
    Buffer.from(hidden).toString('base64'),
    Buffer.from(hidden).toString('base64url'),
    Array.from(hidden)
      .map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
      .join(''),
  ])('finds %s', (form) => {
    expect(found({ hidden }, `before ${form} after`)).toHaveLength(1);
  });

  test('finds the secret part of a private key in its file', () => {
    expect(found({ 'TLS key': canaries['TLS key'] ?? '' }, server.key.replaceAll('\n', ''))).toHaveLength(1);
  });

  test('finds nothing in other keys', () => {
    expect(found({ hidden }, `${newKey()} ${Buffer.from(newKey()).toString('base64')}`)).toEqual([]);
  });
});

/** A page over TLS, as the user with the password or as a stranger. */
function securePage(
  origin: string,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = httpsRequest(
      `${origin}${path}`,
      { ca: ca.cert, method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const body = response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
          resolve(`${response.statusCode} ${response.rawHeaders.join('\n')}\n\n${body.toString()}`);
        });
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

const paths = [
  '/',
  '/metrics',
  '/metrics?kind=application',
  '/api/v1/targets',
  '/config',
  '/sd/hostnames',
  '/-/healthy',
  '/-/ready',
  '/nowhere',
  '/?state=failing&q=name',
  '/?page=2',
  '/?state=nonsense',
  '/api/v1/targets?state=failing',
];

describe.each([
  ['json', 'file'],
  ['pretty', 'env'],
])('with every fault at once, logs in %s at their most, keys from the %s', (format, source) => {
  test('no page, log, diagnostic report or process list gives a secret away', async () => {
    const simulator = await stage(keys);
    injectAll(simulator);
    const directory = temporary({
      account: keys.account,
      library: `${keys.library}\n`,
      'server.pem': server.cert,
      'server.key': server.key,
      'web.yml': `tls_server_config: { cert_file: server.pem, key_file: server.key }\nbasic_auth_users: { alice: ${hash} }\n`,
      'preload.mjs': `process.on('SIGWINCH', () => { throw new Error('a fault'); });\n`,
    });
    const reports = join(directory, 'reports');
    mkdirSync(reports);
    const credentials =
      source === 'file'
        ? '{ account: { file: account }, library: { file: library } }'
        : '{ account: { env: ACCOUNT }, library: { env: LIBRARY } }';
    const config = join(directory, 'config.yml');
    writeFileSync(config, configOf(simulator, credentials, kindsOf[format]));
    const running = run(
      [
        anyPort,
        `--config.file=${config}`,
        `--web.config.file=${join(directory, 'web.yml')}`,
        '--web.enable-lifecycle',
        '--log.level=trace',
        `--log.format=${format}`,
      ],
      {
        env: {
          HTTPS_PROXY: proxyUrl,
          https_proxy: proxyUrl,
          BUNNYNET_ACCESS_KEY: keys.account,
          BUNNYNET_VIDEO_ACCESS_KEY: keys.library,
          ...(source === 'env' ? { ACCOUNT: keys.account, LIBRARY: keys.library } : {}),
        },
        node: [
          `--import=${join(directory, 'preload.mjs')}`,
          '--report-on-signal',
          '--report-uncaught-exception',
          '--report-on-fatalerror',
          `--report-directory=${reports}`,
        ],
      },
    );
    const origin = await originOf(running);
    const user = { authorization: `Basic ${Buffer.from(`alice:${password}`).toString('base64')}` };
    const ask = (path: string, more: Record<string, string> = {}, method = 'GET') =>
      securePage(origin, path, { ...user, ...more }, method);
    await expect.poll(() => ask('/-/ready')).toMatch(/^200/);
    const echoed = async () => (await ask('/api/v1/targets')).includes('[redacted]');
    await expect.poll(echoed).toBe(true);

    const seen: Record<string, string> = {};
    for (const path of paths) seen[path] = await ask(path);
    seen['OpenMetrics'] = await ask('/metrics', { accept: 'application/openmetrics-text; version=1.0.0' });
    seen['gzip'] = await ask('/metrics', { 'accept-encoding': 'gzip' });
    seen['a wrong password'] = await securePage(origin, '/config', {
      authorization: `Basic ${Buffer.from(`alice:${password}x`).toString('base64')}`,
    });
    // Each instead of something else.
    writeFileSync(
      config,
      `credentials: { a: { env: ${keys.account} }, b: { file: ${keys.library} }, c: ${keys.account}, d: { key: ${keys.library} } }\napplications: { credential: ${keys.account}, targets: [] }\n`,
    );
    seen['a bad reload'] = await ask('/-/reload', {}, 'POST');
    writeFileSync(
      config,
      `credentials: { a: { file: ${keys.account} }, b: { file: ${keys.library} } }\napplications: { credential: a, targets: [x] }\n`,
    );
    seen['a reload without keys'] = await ask('/-/reload', {}, 'POST');
    writeFileSync(config, configOf(simulator, credentials, kindsOf[format]));
    seen['a good reload'] = await ask('/-/reload', {}, 'POST');
    seen['cmdline'] = readFileSync(`/proc/${running.child.pid}/cmdline`, 'latin1');
    seen['ps'] = execFileSync('ps', ['-ww', '-o', 'args,comm', '-p', String(running.child.pid)], {
      encoding: 'latin1',
    });
    running.child.kill('SIGUSR2');
    await expect.poll(() => filesIn(reports).length).toBe(1);
    running.child.kill('SIGWINCH');
    const { code, output } = await running.ended;
    seen['log'] = output;
    seen['reports'] = filesIn(reports).join('\n');

    // The search only means something if the faults struck and the pages were there.
    expect(code).toBe(1);
    const held: readonly [string, RegExp][] = [
      ['reports', /"environmentVariables"/],
      ['log', /unexpected error in the exporter/],
      ['/api/v1/targets', /\[redacted\]/],
      ['a bad reload', /^400[\s\S]*expected/],
      ['a reload without keys', /^400[\s\S]*there is none/],
      ['a good reload', /^200/],
      ['a wrong password', /^401/],
      ['OpenMetrics', /# EOF/],
      ['gzip', /_up\{/],
    ];
    for (const [place, words] of held) expect(words.test(seen[place] ?? ''), `${place}: ${words}`).toBe(true);
    expect(simulator.requests.some(({ key }) => key === 'account')).toBe(true);
    expect(simulator.requests.some(({ key }) => key === 'library')).toBe(true);
    for (const [place, text] of Object.entries(seen)) expect(found(canaries, text), place).toEqual([]);
  });
});

test('an API that returns the key in any form and place does not get it onto a page or into a log', async () => {
  const api = await serveEchoes(keys.library);
  const directory = temporary({
    'config.yml': `credentials: { account: { env: ACCOUNT }, library: { env: LIBRARY } }
apis:
  application: { base_url: "${api.origin}", requests_per_second: 1000, max_concurrency: 100, max_retries: 1 }
  shield: { base_url: "${api.origin}", requests_per_second: 1000, max_concurrency: 100, max_retries: 0 }
  video: { base_url: "${api.origin}", requests_per_second: 1000 }
applications: { credential: account, latency_chart: points, targets: ${JSON.stringify([...Object.keys(applicationEchoes), repeating])} }
api_guardian: { credential: account, targets: ${JSON.stringify(guardianTargets)} }
video_storage: { credential: library, targets: [4711/0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f] }
`,
  });
  const running = run([anyPort, `--config.file=${join(directory, 'config.yml')}`, '--log.level=trace'], {
    env: {
      ACCOUNT: keys.account,
      LIBRARY: keys.library,
      NODE_DEBUG: 'undici,fetch,websocket,net,tls,http,https',
    },
  });
  const origin = await originOf(running);
  await expect.poll(async () => (await page(`${origin}/-/ready`)).status).toBe(200);
  const pages = await Promise.all(paths.map((path) => page(`${origin}${path}`)));
  running.child.kill();
  const { output } = await running.ended;
  expect(api.asked()).toBeGreaterThan(Object.keys(applicationEchoes).length);
  const targets = pages[paths.indexOf('/api/v1/targets')]?.body ?? '';
  for (const echo of ['plain', 'escaped', 'upper-case', 'base64', 'coding', repeating])
    expect(targets).toMatch(new RegExp(`"app_id": ?"${echo}"[^}]*\\}[^{]*\\{[^}]*\\[redacted\\]`));
  expect(output).toMatch(/"request_id":"(id-)?\[redacted\]"/);
  for (const { all } of pages) expect(found(canaries, all)).toEqual([]);
  expect(found(canaries, output)).toEqual([]);
});

test('--once shows no key, with every fault at once', async () => {
  const simulator = await stage(keys);
  injectAll(simulator);
  const directory = temporary({
    'config.yml': configOf(simulator, '{ account: { env: ACCOUNT }, library: { env: LIBRARY } }', someKinds),
  });
  const { code, output } = await run(['--once', `--config.file=${join(directory, 'config.yml')}`], {
    env: { ACCOUNT: keys.account, LIBRARY: keys.library },
  }).ended;
  expect(code).toBe(3);
  expect(output.match(/_up\{.*\} 0$/gm)?.length).toBeGreaterThan(2 * faults.length);
  expect(found(canaries, output)).toEqual([]);
});

test('--backfill shows no key, with every fault at once', async () => {
  const simulator = await stage(keys);
  injectAll(simulator);
  const directory = temporary({
    'config.yml': configOf(simulator, '{ account: { env: ACCOUNT }, library: { env: LIBRARY } }', someKinds),
  });
  const config = `--config.file=${join(directory, 'config.yml')}`;
  const { code, output, stdout } = await run(
    ['--backfill=4d', '--backfill.step=1h', '--log.level=trace', config],
    {
      env: { ACCOUNT: keys.account, LIBRARY: keys.library },
    },
  ).ended;
  expect(code).toBe(3);
  expect(output).toContain('the history lacks ');
  expect(stdout).toMatch(/# EOF\n$/);
  expect(found(canaries, output)).toEqual([]);
});

test('a proxy that repeats its password does not get it into a log', async () => {
  const passwords: string[] = [];
  const proxy = createServer();
  proxy.on('connect', ({ headers }: IncomingMessage, socket) => {
    const sent = String(headers['proxy-authorization']);
    const said = Buffer.from(sent.slice(6), 'base64').toString();
    passwords.push(said);
    const words = `${sent} ${said}`;
    socket.end(
      `HTTP/1.1 407 ${words}\r\nProxy-Authenticate: ${words}\r\nContent-Length: ${words.length}\r\n\r\n${words}`,
    );
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const env = {
    BUNNYNET_ACCESS_KEY: keys.account,
    BUNNYNET_APPLICATIONS: 'one',
    BUNNYNET_APPLICATION_URL: 'https://localhost:1',
    HTTPS_PROXY: `http://scraper:${proxyPassword}@127.0.0.1:${port}`,
  };
  const { code, output } = await run(['--once', '--log.level=trace'], { env }).ended;
  proxy.close();
  expect(code).toBe(3);
  expect(output).toContain('refused the tunnel: HTTP 407');
  expect(passwords).toContain(`scraper:${proxyPassword}`);
  expect(found(canaries, output)).toEqual([]);
  const bad = await run(['--config.check'], {
    env: { ...env, HTTPS_PROXY: env.HTTPS_PROXY.replace('http', 'socks') },
  }).ended;
  expect(bad.output).toContain('HTTPS_PROXY: expected http://HOST:PORT');
  expect(bad.code).toBe(1);
  expect(found(canaries, bad.output)).toEqual([]);
});
