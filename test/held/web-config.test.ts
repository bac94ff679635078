import { writeFileSync } from 'node:fs';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createExporter } from '../../src/exporter.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { Credentials } from '../../src/secrets/credentials.ts';
import { issueFamily } from '../http/certificates.ts';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';

const { ca, server, client } = issueFamily();
const users = `basic_auth_users:\n  alice: ${hashSync('right', 4)}`;
const alice = { authorization: `Basic ${Buffer.from('alice:right').toString('base64')}` };
const tls = 'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n';
const verified = `${tls}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n`;

/** The whole exporter with a web configuration, which the test rewrites. */
async function start(yaml: string) {
  const directory = temporary({
    'web.yml': yaml,
    'server.pem': server.cert,
    'server.key': server.key,
    'ca.pem': ca.cert,
  });
  const env = { KEY: 'a-key' };
  const document = { credentials: { account: { env: 'KEY' } }, applications: { targets: [] } };
  const { config } = await loadConfig({ document, env, resources });
  const lines: string[] = [];
  const exporter = await createExporter({
    load: () => Promise.resolve({ config, credentials: new Credentials(config.credentials, env) }),
    addresses: [{ host: '127.0.0.1', port: 0 }],
    telemetryPath: '/metrics',
    webConfigFile: join(directory, 'web.yml'),
    enableLifecycle: true,
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
  });
  const [url = ''] = await exporter.start();
  onTestFinished(() => exporter.stop());
  return {
    write: (text: string) => writeFileSync(join(directory, 'web.yml'), text),
    reload: () => exporter.reload(),
    said: (words: string) => lines.filter((line) => line.includes(words)).length,
    status: async (headers: Record<string, string> = {}) =>
      (await fetch(`${url}/metrics`, { headers })).status,
    /** The status over TLS, or 0 if the connection is refused. */
    secureStatus: (options: RequestOptions) =>
      new Promise<number>((resolve) => {
        const asked = httpsRequest(
          `${url}/metrics`,
          { ca: ca.cert, agent: false, ...options },
          (response) => {
            response.on('error', () => undefined).resume();
            resolve(response.statusCode ?? 0);
          },
        );
        asked.on('error', () => resolve(0)).end();
      }),
  };
}

/** The file while it is being written: at night all its beginnings, by day those where something begins, the empty one first. */
const beginningsOf = (text: string) =>
  Array.from(text, (_, length) => text.slice(0, length)).filter((beginning) =>
    runs(/(?:^|[\n:{[])$/, /$/).test(beginning),
  );

describe('a web configuration with users', () => {
  it('lets nobody in without a password while it is being rewritten', async () => {
    const { write, status, said } = await start(users);
    for (const beginning of beginningsOf(users)) {
      write(beginning);
      expect(await status(), beginning).toBe(401);
    }
    expect(await status(alice)).toBe(200);
    expect(said('basic_auth_users: expected users')).toBeGreaterThan(0);
    expect(said('keeping the previous web configuration')).toBeGreaterThan(0);
    write(users);
    expect(await status(alice)).toBe(200);
    expect(said('the web configuration was reloaded')).toBe(1);
  });

  it('lets everybody in once the file says so', async () => {
    const { write, status, reload } = await start(users);
    write('# all users gone\n');
    await expect(reload()).rejects.toThrow(
      'web.yml:1: basic_auth_users: expected users; `basic_auth_users: {}` lets everybody in',
    );
    expect(await status()).toBe(401);
    write('basic_auth_users: {}\n');
    expect(await status()).toBe(200);
  });
});

describe('a web configuration with client certificates', () => {
  it('lets nobody in without one while it is being rewritten', async () => {
    const { write, secureStatus } = await start(verified);
    for (const beginning of beginningsOf(verified)) {
      write(beginning);
      expect(await secureStatus({}), beginning).toBe(0);
    }
    expect(await secureStatus({ cert: client.cert, key: client.key })).toBe(200);
  });

  it('keeps the required authorities and names, unless it sets others', async () => {
    const { write, reload, secureStatus } = await start(`${verified}  client_allowed_sans: [scraper]\n`);
    write(verified);
    await expect(reload()).rejects.toThrow('client_allowed_sans: expected names as before');
    write(`${tls}  client_auth_type: RequireAndVerifyClientCert\n`);
    await expect(reload()).rejects.toThrow('client_ca_file: expected authorities as before');
    write(tls);
    await expect(reload()).rejects.toThrow(
      /^\S+: tls_server_config.client_auth_type: expected a type as before; NoClientCert asks for no certificate$/,
    );
    expect(await secureStatus({})).toBe(0);
    write(`${tls}  client_auth_type: NoClientCert\n`);
    await reload();
    expect(await secureStatus({})).toBe(200);
  });
});

it('a web configuration without users keeps its rate limit while its file is empty', async () => {
  const { write, status, said } = await start('rate_limit: { interval: 1h, burst: 1 }\n');
  expect(await status()).toBe(200);
  write('');
  expect(await status()).toBe(429);
  expect(said('the file is empty')).toBe(1);
});
