import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { issue } from '../http/certificates.ts';
import { temporary } from '../http/temporary.ts';
import { run } from '../security/canary.ts';

/** An API over TLS, with a certificate of this authority. */
async function serveApi(issuer: ReturnType<typeof issue>): Promise<string> {
  const identity = issue({ name: 'api', issuer, usage: 'server', alternativeNames: ['ip:127.0.0.1'] });
  const api = createServer({ ...identity }, (_, response) => response.end('{"monthlyCost":1,"Balance":1}'));
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void api.close());
  return `https://127.0.0.1:${(api.address() as AddressInfo).port}`;
}

it('trusts the authority in ca_file, and that in NODE_EXTRA_CA_CERTS, even with a ca_file', async () => {
  const named = issue({ name: 'named', ca: true });
  const extra = issue({ name: 'extra', ca: true });
  const folder = temporary({
    'named.pem': named.cert,
    'extra.pem': extra.cert,
    'config.yml': `credentials: { account: { env: KEY } }
apis:
  application: { base_url: "${await serveApi(named)}", ca_file: named.pem }
  core: { base_url: "${await serveApi(extra)}", ca_file: named.pem }
applications: { targets: [a] }
billing: { targets: all }
`,
  });
  const env = { KEY: 'a-key', NODE_EXTRA_CA_CERTS: join(folder, 'extra.pem') };
  const { stdout } = await run(['--once', `--config.file=${join(folder, 'config.yml')}`], { env }).ended;
  expect(stdout).toContain('bunnynet_application_up{app_id="a",account="account"} 1');
  expect(stdout).toContain('bunnynet_billing_up{account="account"} 1');
});
