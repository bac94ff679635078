import { once } from 'node:events';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WebServerOptions } from '../../src/http/server.ts';
import { alternativeNames } from '../../src/http/tls.ts';
import { runs } from '../runs.ts';
import { type Identity, issue, issueFamily } from './certificates.ts';
import { rawClient, serve } from './serve.ts';
import { temporary } from './temporary.ts';

const family = issueFamily();
const { ca, server, client, expired, stranger } = family;
const noPurpose = issue({ name: 'server too', issuer: ca, usage: 'server' });

const tls = 'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n';

async function serveTls(yaml: string, options: Partial<WebServerOptions> = {}) {
  const directory = temporary({
    'web.yml': yaml,
    'server.pem': server.cert,
    'server.key': server.key,
    'ca.pem': ca.cert,
  });
  return { directory, ...(await serve({ webConfigFile: join(directory, 'web.yml'), ...options })) };
}

/** The status and body of a scrape on its own connection; rejects if the connection is refused. */
function scrape(
  port: number,
  options: RequestOptions = {},
): Promise<{ status: number | undefined; body: string; serial: string }> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port, path: '/metrics', ca: ca.cert, agent: false, ...options },
      (response) => {
        const serial =
          response.socket instanceof TLSSocket ? response.socket.getPeerCertificate().serialNumber : '';
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode, body, serial }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end();
  });
}

const shown = (identity: Identity | undefined) =>
  identity ? { cert: identity.cert, key: identity.key } : {};

test('speaks HTTPS, and nothing without TLS', async () => {
  const { url, port } = await serveTls(tls);
  expect(url).toMatch(/^https:/);
  expect(await scrape(port)).toMatchObject({ status: 200, body: 'up 1\n' });
  const plain = rawClient(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await plain.closed).not.toContain('up 1');
});

test('a client that does not shake hands is cut, while others are served', async () => {
  const { port } = await serveTls(tls, { limits: { handshakeTimeout: 400 } });
  const silent = connectTcp({ host: '127.0.0.1', port });
  onTestFinished(() => void silent.destroy());
  const closed = once(silent, 'close');
  expect((await scrape(port)).status).toBe(200);
  await closed;
  expect((await scrape(port)).status).toBe(200);
});

test('a handshake under way is cut when the grace period of the stop is over', async () => {
  const { server: running, port } = await serveTls(tls, { limits: { handshakeTimeout: 600_000 } });
  const silent = connectTcp({ host: '127.0.0.1', port });
  silent.on('error', () => undefined);
  onTestFinished(() => void silent.destroy());
  await once(silent, 'connect');
  // By then the first connection was accepted, too.
  expect((await scrape(port)).status).toBe(200);
  const closed = new Promise((resolve) => silent.once('close', resolve));
  await running.stop(20);
  await closed;
});

describe('client certificates', () => {
  const certificates = { none: undefined, good: client, expired, stranger, 'for servers': noPurpose };
  const versions: readonly ('TLSv1.2' | 'TLSv1.3')[] = ['TLSv1.2', 'TLSv1.3'];
  const table: readonly [type: string, admitted: readonly (keyof typeof certificates)[]][] = [
    ['NoClientCert', ['none', 'good', 'expired', 'stranger', 'for servers']],
    ['RequestClientCert', ['none', 'good', 'expired', 'stranger', 'for servers']],
    ['RequireAnyClientCert', ['good', 'expired', 'stranger', 'for servers']],
    ['RequireClientCert', ['good', 'expired', 'stranger', 'for servers']],
    ['VerifyClientCertIfGiven', ['none', 'good']],
    ['RequireAndVerifyClientCert', ['good']],
  ];

  test.each(table)('%s admits: %s', async (type, admitted) => {
    const isVerified = /Verify/.test(type);
    const authority = isVerified ? '  client_ca_file: ca.pem\n' : '';
    // Where nothing is verified, all certificates are the same.
    const few = runs(['none', 'stranger'], Object.keys(certificates));
    const asked = Object.entries(certificates).filter(([name]) => isVerified || few.includes(name));
    const { port } = await serveTls(`${tls}  client_auth_type: ${type}\n${authority}`);
    for (const maxVersion of isVerified ? versions : runs(versions.slice(1), versions)) {
      const seen: string[] = [];
      for (const [name, identity] of asked) {
        await scrape(port, { ...shown(identity), maxVersion }).then(
          ({ status }) => seen.push(status === 200 ? name : `${name}: ${status}`),
          () => undefined,
        );
      }
      expect(seen).toEqual(admitted.filter((one) => asked.some(([name]) => name === one)));
    }
  });

  test('a certificate needs an allowed name if names are given', async () => {
    const { port, log } = await serveTls(
      `${tls}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n  client_allowed_sans: [scraper.example]\n`,
    );
    expect((await scrape(port, shown(client))).status).toBe(200);
    const another = issue({
      name: 'client',
      issuer: ca,
      usage: 'client',
      alternativeNames: ['dns:x.example'],
    });
    await expect(scrape(port, shown(another))).rejects.toThrow();
    expect(log.lines).toEqual([
      {
        level: 'debug',
        message: 'the certificate of the client was refused',
        object: { client: '127.0.0.1', reason: 'none, or not an allowed name' },
      },
    ]);
  });

  test('names are written as in Go', () => {
    const line =
      'DNS:a.example, IP Address:127.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, email:a@b.c, URI:"spiffe://a, b", DirName:CN=x, othername:<unsupported>';
    expect(alternativeNames(line)).toEqual([
      'a.example',
      '127.0.0.1',
      '2001:db8::1',
      'a@b.c',
      'spiffe://a, b',
    ]);
    expect(alternativeNames(undefined)).toEqual([]);
  });

  test('neither a name of another kind nor a part of a name counts as an allowed name', () => {
    expect(alternativeNames('DNS:"x, DNS:scraper.example"')).toEqual(['x, DNS:scraper.example']);
    expect(alternativeNames('other#name:"x, DNS:a", DNS:b')).toEqual([]);
    expect(alternativeNames('Registered ID:1.2.3, DNS:b')).toEqual(['b']);
  });
});

describe('changes while running', () => {
  test('the next handshake uses a rotated certificate; an invalid one leaves the previous one in use', async () => {
    const { port, directory, log } = await serveTls(tls);
    const before = await scrape(port);
    const next = issue({ name: 'server', issuer: ca, usage: 'server', alternativeNames: ['ip:127.0.0.1'] });

    writeFileSync(join(directory, 'server.pem'), next.cert);
    // The key does not match yet.
    expect((await scrape(port)).serial).toBe(before.serial);
    writeFileSync(join(directory, 'server.key'), next.key);
    const after = await scrape(port);
    expect(after.serial).not.toBe(before.serial);

    rmSync(join(directory, 'server.key'));
    expect((await scrape(port)).serial).toBe(after.serial);
    expect((await scrape(port)).serial).toBe(after.serial);
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info', 'error']);
    expect(JSON.stringify(log.lines)).not.toContain('PRIVATE');
  });

  test('a swapped symbolic link, as with secrets in Kubernetes, is noticed', async () => {
    const next = issue({ name: 'server', issuer: ca, usage: 'server', alternativeNames: ['ip:127.0.0.1'] });
    const files = ({ cert, key }: Identity) => ({ 'server.pem': cert, 'server.key': key });
    const [first, second] = [temporary(files(server)), temporary(files(next))];
    const directory = temporary({
      'web.yml': 'tls_server_config:\n  cert_file: data/server.pem\n  key_file: data/server.key\n',
    });
    symlinkSync(first, join(directory, 'data'));
    const { port } = await serve({ webConfigFile: join(directory, 'web.yml') });
    const before = await scrape(port);
    symlinkSync(second, join(directory, 'data.next'));
    renameSync(join(directory, 'data.next'), join(directory, 'data'));
    expect((await scrape(port)).serial).not.toBe(before.serial);
  });

  test('the next handshake requires the certificates of the changed file', async () => {
    const { port, directory } = await serveTls(tls);
    expect((await scrape(port)).status).toBe(200);
    writeFileSync(
      join(directory, 'web.yml'),
      `${tls}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n`,
    );
    await expect(scrape(port)).rejects.toThrow();
    expect((await scrape(port, shown(client))).status).toBe(200);
    writeFileSync(join(directory, 'ca.pem'), issue({ name: 'authority', ca: true }).cert);
    await expect(scrape(port, shown(client))).rejects.toThrow();
  });

  test('TLS is turned neither on nor off without a restart', async () => {
    const { server: running, port, directory } = await serveTls(tls);
    writeFileSync(join(directory, 'web.yml'), '');
    expect(() => running.reload()).toThrow('TLS cannot be turned off while running; restart');
    expect((await scrape(port)).status).toBe(200);
    const plain = await serveTls('');
    writeFileSync(join(plain.directory, 'web.yml'), tls);
    expect(() => plain.server.reload()).toThrow('TLS cannot be turned on while running; restart');
    expect((await fetch(`${plain.url}/metrics`)).status).toBe(200);
  });
});
