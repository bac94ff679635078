import { execFile } from 'node:child_process';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { issue } from '../http/certificates.ts';
import { temporary } from '../http/temporary.ts';

const named = issue({ name: 'named', ca: true });
const extra = issue({ name: 'extra', ca: true });

/** An API over TLS, with a certificate of this authority. */
async function serveApi(issuer: typeof named): Promise<string> {
  const identity = issue({ name: 'api', issuer, usage: 'server', alternativeNames: ['ip:127.0.0.1'] });
  const api = createServer({ ...identity }, (_, response) => response.end('{"monthlyCost":1}'));
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void api.close());
  return `https://127.0.0.1:${(api.address() as AddressInfo).port}`;
}

it.each([
  ['in ca_file', named],
  ['in NODE_EXTRA_CA_CERTS, even with a ca_file', extra],
])('trusts the authority %s', async (_, issuer) => {
  const url = await serveApi(issuer);
  const folder = temporary({
    'named.pem': named.cert,
    'extra.pem': extra.cert,
    'config.yml': `credentials: { account: { env: KEY } }
apis: { application: { base_url: "${url}", ca_file: named.pem } }
applications: { targets: [a] }
`,
  });
  const args = ['dist/bunnynet-exporter.js', '--once', `--config.file=${join(folder, 'config.yml')}`];
  const env = { KEY: 'a-key', NODE_EXTRA_CA_CERTS: join(folder, 'extra.pem') };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toContain('bunnynet_application_up{app_id="a",account="account"} 1');
});
