/**
 * The same web configuration files for Debian's node_exporter and for this server: both accept and refuse the same
 * requests and files. Debian's Prometheus also scrapes this server with everything turned on.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { hashSync } from 'bcryptjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Identity, issue, issueFamily } from '../http/certificates.ts';
import { rawClient, serve } from '../http/serve.ts';
import { temporary } from '../http/temporary.ts';
import { eventually, stop, stopAll } from './processes.ts';
import { ask as askPrometheus, numberOf, startPrometheus } from './prometheus.ts';

const { ca, server, client, expired, stranger } = issueFamily();
const wrongPurpose = issue({ name: 'server too', issuer: ca, usage: 'server' });
const future = issue({ name: 'future', issuer: ca, usage: 'client', from: new Date(Date.now() + 3_600_000) });
const selfSigned = issue({ name: 'client', usage: 'client' });
const other = issue({ name: 'other' });
const alice = hashSync('correct horse', 10);

const tls = 'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n';
const verified = `${tls}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n`;
const users = `basic_auth_users:\n  alice: ${alice}\n`;

function directoryWith(yaml: string): { directory: string; file: string } {
  const directory = temporary({
    'web.yml': yaml,
    'server.pem': server.cert,
    'server.key': server.key,
    'other.key': other.key,
    'ca.pem': ca.cert,
    'empty.pem': '',
  });
  return { directory, file: join(directory, 'web.yml') };
}

function runNodeExporter(file: string): { readonly child: ChildProcess; readonly said: () => string } {
  const child = spawn(
    'prometheus-node-exporter',
    ['--web.listen-address=127.0.0.1:0', '--collector.disable-defaults', `--web.config.file=${file}`],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  onTestFinished(() => stop(child));
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { child, said: () => text };
}

/** Resolves with its port. */
function startNodeExporter(file: string): Promise<number> {
  const { child, said } = runNodeExporter(file);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`node_exporter does not start: ${said()}`)));
    child.stderr?.on('data', () => {
      // The address is logged before the TLS checks, this line after them.
      const port = /TLS is (?:en|dis)abled.* address=127\.0\.0\.1:(\d+)/.exec(said())?.[1];
      if (port) resolve(Number(port));
    });
  });
}

/** Resolves with its message when it refuses to start. */
async function refusalOfNodeExporter(file: string): Promise<string> {
  const { child, said } = runNodeExporter(file);
  await once(child, 'close');
  return said();
}

async function both(yaml: string): Promise<{ directory: string; ports: Readonly<Record<string, number>> }> {
  const { directory, file } = directoryWith(yaml);
  const nodeExporter = await startNodeExporter(file);
  const { port } = await serve({ webConfigFile: file });
  return { directory, ports: { node_exporter: nodeExporter, 'this server': port } };
}

interface Asking {
  readonly tls?: ConnectionOptions;
  /** A raw request. Default: a scrape. */
  readonly request?: string;
  readonly headers?: readonly string[];
  /** Sent without TLS, even to a port that requires it. */
  readonly plain?: boolean;
}

const get = (path: string, headers: readonly string[] = []) =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n');
const basic = (user: string, password: string) =>
  `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** The status that a client sees, or `cut` if there is none. */
async function ask(port: number, asking: Asking): Promise<string> {
  const request = asking.request ?? get('/metrics', asking.headers);
  if (asking.plain) return statusOf(await rawClient(port, request).closed);
  const socket = connectTls({ host: '127.0.0.1', port, servername: 'localhost', ca: ca.cert, ...asking.tls });
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.once('secureConnect', () => socket.write(request));
  await new Promise((resolve) => socket.once('close', resolve));
  return statusOf(text);
}

function statusOf(text: string): string {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 'cut';
  // Go's answer to plain HTTP on a TLS port, which is a refusal too.
  return text.includes('HTTP request to an HTTPS server') ? 'cut' : status;
}

const shown = ({ cert, key }: Identity): ConnectionOptions => ({ cert, key });
const only = (version: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): ConnectionOptions => ({
  minVersion: version,
  maxVersion: version,
  ...(version < 'TLSv1.2' ? { ciphers: 'DEFAULT:@SECLEVEL=0' } : {}),
});
const cipher = (name: string): ConnectionOptions => ({ ciphers: name, maxVersion: 'TLSv1.2' });

type Row = readonly [name: string, asking: Asking, expected: string];

const tables: Readonly<Record<string, { readonly yaml: string; readonly rows: readonly Row[] }>> = {
  'users without TLS': {
    yaml: users,
    rows: [
      ['the right password', { plain: true, headers: [basic('alice', 'correct horse')] }, '200'],
      ['a bad password', { plain: true, headers: [basic('alice', 'wrong')] }, '401'],
      ['an empty password', { plain: true, headers: [basic('alice', '')] }, '401'],
      ['an unknown user', { plain: true, headers: [basic('bob', 'correct horse')] }, '401'],
      [
        "an unknown user with the toolkit's own dummy",
        { plain: true, headers: [basic('bob', 'fakepassword')] },
        '401',
      ],
      ['the hash as password', { plain: true, headers: [basic('alice', alice)] }, '401'],
      ['no credentials', { plain: true }, '401'],
      ['no credentials, another page', { plain: true, request: get('/') }, '401'],
      ['no credentials, a missing page', { plain: true, request: get('/-/healthy') }, '401'],
      ['another scheme', { plain: true, headers: ['Authorization: Bearer x'] }, '401'],
      [
        'the scheme in lower case',
        { plain: true, headers: [basic('alice', 'correct horse').replace('Basic', 'basic')] },
        '200',
      ],
      ['credentials that are no base64', { plain: true, headers: ['Authorization: Basic ~~~'] }, '401'],
      ['credentials without a colon', { plain: true, headers: ['Authorization: Basic YWxpY2U='] }, '401'],
      [
        'base64 without its padding',
        { plain: true, headers: [basic('alice', 'correct horse').replace(/=+$/, '')] },
        '401',
      ],
      ['TLS', {}, 'cut'],
    ],
  },
  'TLS by default': {
    yaml: tls,
    rows: [
      ['a client that knows the authority', {}, '200'],
      ['a client that knows another authority', { tls: { ca: stranger.cert } }, 'cut'],
      ['a client that wants another name', { tls: { servername: 'other.example' } }, 'cut'],
      ['plain HTTP', { plain: true }, 'cut'],
      ['TLS 1.0', { tls: only('TLSv1') }, 'cut'],
      ['TLS 1.1', { tls: only('TLSv1.1') }, 'cut'],
      ['TLS 1.2', { tls: only('TLSv1.2') }, '200'],
      ['TLS 1.3', { tls: only('TLSv1.3') }, '200'],
      ['a client certificate that nobody asked for', { tls: shown(expired) }, '200'],
      ['a forward-secret cipher', { tls: cipher('ECDHE-ECDSA-CHACHA20-POLY1305') }, '200'],
      ['an old cipher that Go still accepts', { tls: cipher('ECDHE-ECDSA-AES256-SHA') }, '200'],
      ['a cipher that Go does not accept', { tls: cipher('ECDHE-ECDSA-AES256-SHA384') }, 'cut'],
      ['a cipher with CBC and SHA-256', { tls: cipher('ECDHE-ECDSA-AES128-SHA256') }, 'cut'],
      ['P-521', { tls: { ecdhCurve: 'P-521' } }, '200'],
      ['HTTP/1.1 by ALPN', { tls: { ALPNProtocols: ['http/1.1'] } }, '200'],
      ['an unknown protocol by ALPN', { tls: { ALPNProtocols: ['spdy/3'] } }, 'cut'],
    ],
  },
  'verified client certificates': {
    yaml: verified,
    rows: [
      ['none', {}, 'cut'],
      ['a good one', { tls: shown(client) }, '200'],
      ['a good one over TLS 1.2', { tls: { ...shown(client), ...only('TLSv1.2') } }, '200'],
      ['an expired one', { tls: shown(expired) }, 'cut'],
      ['an expired one over TLS 1.2', { tls: { ...shown(expired), ...only('TLSv1.2') } }, 'cut'],
      ['one that is not valid yet', { tls: shown(future) }, 'cut'],
      ['one of another authority', { tls: shown(stranger) }, 'cut'],
      ['one for servers', { tls: shown(wrongPurpose) }, 'cut'],
      ['a self-signed one', { tls: shown(selfSigned) }, 'cut'],
    ],
  },
  'any client certificate': {
    yaml: `${tls}  client_auth_type: RequireAnyClientCert\n`,
    rows: [
      ['none', {}, 'cut'],
      ['an expired one', { tls: shown(expired) }, '200'],
      ['a self-signed one', { tls: shown(selfSigned) }, '200'],
    ],
  },
  'a client certificate by its old name': {
    yaml: `${tls}  client_auth_type: RequireClientCert\n`,
    rows: [
      ['none', {}, 'cut'],
      ['one of another authority', { tls: shown(stranger) }, '200'],
    ],
  },
  'a client certificate if it is given': {
    yaml: `${tls}  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: ca.pem\n`,
    rows: [
      ['none', {}, '200'],
      ['a good one', { tls: shown(client) }, '200'],
      ['an expired one', { tls: shown(expired) }, 'cut'],
      ['one of another authority', { tls: shown(stranger) }, 'cut'],
    ],
  },
  'client certificate and user': {
    yaml: verified + users,
    rows: [
      ['both', { tls: shown(client), headers: [basic('alice', 'correct horse')] }, '200'],
      ['only the certificate', { tls: shown(client) }, '401'],
      ['the certificate and a bad password', { tls: shown(client), headers: [basic('alice', 'no')] }, '401'],
      ['only the password', { headers: [basic('alice', 'correct horse')] }, 'cut'],
      [
        'an expired certificate and the password',
        { tls: shown(expired), headers: [basic('alice', 'correct horse')] },
        'cut',
      ],
    ],
  },
  'old versions allowed': {
    yaml: `${tls}  min_version: TLS10\n  max_version: TLS12\n`,
    rows: [
      ['TLS 1.0', { tls: only('TLSv1') }, '200'],
      ['TLS 1.1', { tls: only('TLSv1.1') }, '200'],
      ['TLS 1.2', { tls: only('TLSv1.2') }, '200'],
      ['TLS 1.3', { tls: only('TLSv1.3') }, 'cut'],
    ],
  },
  'only TLS 1.3': {
    yaml: `${tls}  min_version: TLS13\n`,
    rows: [
      ['TLS 1.2', { tls: only('TLSv1.2') }, 'cut'],
      ['TLS 1.3', { tls: only('TLSv1.3') }, '200'],
    ],
  },
  'chosen ciphers and curves': {
    yaml: `${tls}  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]\n  curve_preferences: [CurveP384]\n`,
    rows: [
      [
        'the cipher',
        { tls: { ...cipher('ECDHE-ECDSA-AES128-GCM-SHA256'), ecdhCurve: 'P-384:P-256' } },
        '200',
      ],
      [
        'another cipher',
        { tls: { ...cipher('ECDHE-ECDSA-AES256-GCM-SHA384'), ecdhCurve: 'P-384:P-256' } },
        'cut',
      ],
      ['TLS 1.3, which has its own', { tls: { ...only('TLSv1.3'), ecdhCurve: 'P-384:P-256' } }, '200'],
      ['another curve', { tls: { ecdhCurve: 'P-256' } }, 'cut'],
    ],
  },
  'HTTP/2 turned off': {
    yaml: `${tls}http_server_config:\n  http2: false\n`,
    rows: [['HTTP/1.1', { tls: { ALPNProtocols: ['h2', 'http/1.1'] } }, '200']],
  },
};

describe('node_exporter and this server answer alike', () => {
  test.each(Object.entries(tables))('%s', async (_name, { yaml, rows }) => {
    const { ports } = await both(yaml);
    const expected = rows.map(([name, , status]) => `${name}: ${status}`);
    for (const [who, port] of Object.entries(ports)) {
      const seen: string[] = [];
      for (const [name, asking] of rows) seen.push(`${name}: ${await ask(port, asking)}`);
      expect(seen, who).toEqual(expected);
    }
  });

  test('a client that also offers HTTP/2 is answered over HTTP/2 by node_exporter and over HTTP/1.1 by this server', async () => {
    const { ports } = await both(tls);
    for (const [who, port] of Object.entries(ports)) {
      const ALPNProtocols = ['h2', 'http/1.1'];
      const socket = connectTls({
        host: '127.0.0.1',
        port,
        servername: 'localhost',
        ca: ca.cert,
        ALPNProtocols,
      });
      onTestFinished(() => void socket.destroy());
      await once(socket, 'secureConnect');
      expect(socket.alpnProtocol, who).toBe(who === 'node_exporter' ? 'h2' : 'http/1.1');
    }
    expect(await ask(ports['this server'] ?? 0, { tls: { ALPNProtocols: ['h2', 'http/1.1'] } })).toBe('200');
  });

  test('a rotated certificate, changed users and changed rules for clients apply at once', async () => {
    const { directory, ports } = await both(tls);
    const next = issue({ name: 'server', issuer: ca, usage: 'server', alternativeNames: ['dns:localhost'] });
    /** The certificate in the handshake. */
    async function served(port: number): Promise<string> {
      const socket = connectTls({ host: '127.0.0.1', port, servername: 'localhost', ca: ca.cert });
      onTestFinished(() => void socket.destroy());
      await once(socket, 'secureConnect');
      return socket.getPeerX509Certificate()?.toString().trim() ?? '';
    }
    for (const [who, port] of Object.entries(ports)) expect(await served(port), who).toBe(server.cert.trim());
    writeFileSync(join(directory, 'server.key'), next.key);
    writeFileSync(join(directory, 'server.pem'), next.cert);
    for (const [who, port] of Object.entries(ports)) expect(await served(port), who).toBe(next.cert.trim());

    writeFileSync(join(directory, 'web.yml'), tls + users);
    for (const [who, port] of Object.entries(ports)) {
      expect(await ask(port, {}), who).toBe('401');
      expect(await ask(port, { headers: [basic('alice', 'correct horse')] }), who).toBe('200');
    }
    writeFileSync(join(directory, 'web.yml'), `${verified}basic_auth_users: {}\n`);
    for (const [who, port] of Object.entries(ports)) {
      expect(await ask(port, {}), who).toBe('cut');
      expect(await ask(port, { tls: shown(client) }), who).toBe('200');
    }
  });

  test('the headers of the file are on every answer', async () => {
    const { ports } = await both(
      `http_server_config:\n  headers:\n    X-Frame-Options: deny\n    Strict-Transport-Security: max-age=60\n${users}`,
    );
    for (const [who, port] of Object.entries(ports)) {
      const { status, headers } = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect(
        [
          status,
          headers.get('x-frame-options'),
          headers.get('strict-transport-security'),
          headers.get('www-authenticate'),
        ],
        who,
      ).toEqual([401, 'deny', 'max-age=60', 'Basic']);
    }
  });
});

describe('node_exporter and this server accept the same files', () => {
  test.each([
    ['sections without settings', 'tls_server_config:\nhttp_server_config: {}\nbasic_auth_users: {}\n'],
    ['booleans of YAML 1.1', `${tls}  prefer_server_cipher_suites: no\nhttp_server_config: { http2: off }\n`],
    ['user names that look like booleans', `basic_auth_users: { on: ${alice}, 1: ${alice} }\n`],
    ['blank settings', `${tls}  client_auth_type: ''\n  client_ca_file:\n`],
    [
      'ciphers without those of HTTP/2, and no HTTP/2',
      `${tls}  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA]\nhttp_server_config: { http2: false }\n`,
    ],
  ])('both start with %s', async (_name, yaml) => {
    await both(yaml);
  });

  test.each([
    ['an unknown section', 'tls: {}\n'],
    ['excluded paths', "auth_excluded_paths: ['/']\n"],
    ['a user given twice', `${users}  alice: ${alice}\n`],
    ['no key', 'tls_server_config:\n  cert_file: server.pem\n'],
    ["another certificate's key", 'tls_server_config:\n  cert_file: server.pem\n  key_file: other.key\n'],
    ['an authority that is not used', `${tls}  client_ca_file: ca.pem\n`],
    ['an unknown client_auth_type', `${tls}  client_auth_type: Maybe\n`],
    ['an unknown version', `${tls}  min_version: SSL30\n`],
    ['an invented cipher', `${tls}  cipher_suites: [TLS_MAGIC]\n`],
    ['a header that cannot be set', 'http_server_config:\n  headers:\n    Server: x\n'],
    ['an unknown header value', 'http_server_config:\n  headers:\n    X-Frame-Options: SAMEORIGIN\n'],
    ['no boolean', 'http_server_config: { http2: 2 }\n'],
    ['a plain-text password', 'basic_auth_users: { alice: secret }\n'],
  ])('both refuse %s', async (_name, yaml) => {
    const { file } = directoryWith(yaml);
    expect(await refusalOfNodeExporter(file)).toContain('level=error');
    await expect(serve({ webConfigFile: file })).rejects.toThrow(file);
  });
});

test('this server accepts ciphers without those of HTTP/2, which node_exporter refuses', async () => {
  const { file } = directoryWith(`${tls}  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA]\n`);
  expect(await refusalOfNodeExporter(file)).toContain('level=error');
  await serve({ webConfigFile: file });
});

test('Prometheus scrapes with TLS, client certificate and password, and not without', async () => {
  const { directory, file } = directoryWith(verified + users);
  const { port } = await serve({ webConfigFile: file });
  writeFileSync(join(directory, 'client.pem'), client.cert);
  writeFileSync(join(directory, 'client.key'), client.key);
  const certificate = 'cert_file: client.pem, key_file: client.key, ';
  const job = (name: string, password: string, own: string) => `
  - job_name: ${name}
    scheme: https
    basic_auth: { username: alice, password: ${password} }
    tls_config: { ca_file: ca.pem, ${own}server_name: localhost }
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]`;
  const prometheus = await startPrometheus(
    directory,
    `global: { scrape_interval: 1s }\nscrape_configs:${job('good', 'correct horse', certificate)}${job('bad_password', 'wrong', certificate)}${job('no_certificate', 'correct horse', '')}\n`,
  );
  onTestFinished(stopAll);
  await eventually(async () => {
    const up = await askPrometheus(prometheus, 'query', { query: 'up' });
    expect(Object.fromEntries(up.map((one) => [one.metric['job'], numberOf([one])]))).toEqual({
      good: 1,
      bad_password: 0,
      no_certificate: 0,
    });
  });
});
