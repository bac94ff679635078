/** The secrets and the personal data that the answers of the API carry never leave the parser. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary } from '../http/temporary.ts';
import { originOf, page, run } from '../security/canary.ts';
import { configOf } from '../security/stage.ts';
import { startSimulator } from '../simulator/start.ts';
import { kindNames } from '../simulator/targets.ts';

/** What the simulated answers have that nobody may see, as `secret` names it. */
const carried = [
  // Magic Containers: the customer's own texts.
  'pod-message',
  'container-reason',
  'container-message',
  'image',
  // Pull zones.
  'zone-security',
  'aws-signing',
  'aws-signing-secret',
  'log-forwarding',
  'certificate',
  'edge-rule',
  'edge-trigger',
  // DNS, scripts, storage, libraries.
  'dns-value',
  'dns-variable',
  'deployment',
  'script-variable',
  'storage',
  'storage-read-only',
  'access',
  // Billing.
  'payment-token',
  'last-four',
  // Audit log, origin errors and triggered rules: changes, and what visitors asked for.
  'diff',
  'visitor',
];
const secrets = /sim-[\w-]*?-key-|jane[-\w]*@example|203\.0\.113|libsql:|bunnydb\.net/i;

test('no page, log, report or snapshot has a secret or a person that came in an answer', async () => {
  const simulator = await startSimulator({
    keys: { account: 'a-key-of-the-account' },
    logRequests: true,
    // Late in the day: just after midnight there is little in the logs of a day.
    now: () => Date.parse(`${new Date().toISOString().slice(0, 10)}T23:59:00Z`),
  });
  const [library = ''] = Object.values(simulator.keys.libraries);
  const config = configOf(
    simulator,
    '{ account: { file: account }, library: { file: library } }',
    kindNames,
    '60s',
  );
  const file = temporary({ 'config.yml': config, account: simulator.keys.account, library });
  chmodSync(join(file, 'account'), 0o644);
  const running = run([
    '--web.listen-address=127.0.0.1:0',
    `--config.file=${join(file, 'config.yml')}`,
    '--log.level=trace',
  ]);
  const origin = await originOf(running);
  await expect.poll(async () => (await page(`${origin}/-/ready`)).status).toBe(200);
  const seen: Record<string, string> = {};
  for (const path of ['/', '/metrics', '/api/v1/targets', '/config', '/sd/hostnames'])
    seen[path] = (await page(`${origin}${path}`)).all;
  running.child.kill();
  seen['log'] = (await running.ended).output;
  seen['report'] = (await run(['--report', `--config.file=${join(file, 'config.yml')}`]).ended).output;

  // A report reads the configuration, and warns of it, once.
  const warned = seen['report'].match(/every user of this machine can read the key file \S+\/account:/g);
  expect(warned).toHaveLength(1);

  // The search only means something if the answers had it all, and the exporter read them.
  const asked = [...new Set(simulator.requests.map(({ path }) => path))];
  const answers = await Promise.all(
    asked.map(async (path) => {
      const answer = await fetch(`${simulator.origin}${path}`, {
        headers: { AccessKey: simulator.keys.account },
      });
      return answer.text();
    }),
  );
  const all = answers.join('\n');
  const inAnswers = new Set([...all.matchAll(/sim-([a-z-]+?)-(?:\d+-)?key-/g)].map(([, name]) => name));
  expect(carried.filter((name) => !inAnswers.has(name))).toEqual([]);
  for (const part of ['jane@example', 'jane-0@example', '203.0.113', 'libsql:']) expect(all).toContain(part);
  expect(seen['/metrics']).toContain('bunnynet_application_pod_memory_bytes{');
  expect(seen['/metrics']).toContain('bunnynet_pull_zone_hostname_info{');
  for (const kind of ['audit_log', 'pull_zone_origin_errors', 'shield_triggered_rules', 'database'])
    expect(seen['/metrics']).toMatch(new RegExp(`^bunnynet_${kind}_up\\{.*\\} 1$`, 'm'));
  expect(seen['/metrics']).toContain('bunnynet_billing_payment_method_expiration_timestamp_seconds{');
  for (const [place, text] of Object.entries(seen)) expect(secrets.exec(text)?.[0], place).toBeUndefined();
});
