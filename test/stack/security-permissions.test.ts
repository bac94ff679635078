/** What SECURITY.md says about Node's permission model, on each Node version that has it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { hashSync } from 'bcryptjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSimulator } from '../../simulator/simulator.ts';
import { issueFamily } from '../http/certificates.ts';
import { temporary } from '../http/temporary.ts';
import { originOf, run } from '../security/canary.ts';

const { ca, server } = issueFamily();

/** A Node binary of this major version. */
function nodeOf(major: string): string {
  const args = ['-y', '-p', `node@${major}`, 'node', '-p', 'process.execPath'];
  return execFileSync('npx', args, {
    encoding: 'utf8',
    env: { ...process.env, npm_config_ignore_scripts: 'false' },
  }).trim();
}

function scrape(
  origin: string,
  path: string,
  password: string,
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((done, reject) => {
    const asked = request(
      `${origin}${path}`,
      { ca: ca.cert, auth: `a:${password}`, agent: false },
      (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.on('end', () => done({ status: response.statusCode, body }));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

describe.each(['22', '24', '26'])('on Node %s', (major) => {
  const execPath = nodeOf(major);
  const net = Number(major) >= 26 ? ['--allow-net'] : [];
  const allowing = (directory: string, ...more: readonly string[]) => [
    '--permission',
    `--allow-fs-read=${resolve('dist')}/`,
    `--allow-fs-read=${directory}/`,
    ...net,
    ...more,
  ];

  async function prepare() {
    const simulator = createSimulator({ keys: { account: 'k-old-4f1d9e27' } });
    await simulator.start();
    onTestFinished(() => simulator.stop());
    const [one, two] = simulator.applications;
    const config = (id = '') =>
      `credentials: { account: { file: key } }\napis: { application: { base_url: "${simulator.baseUrls.application}", max_retries: 0 } }\napplications: { interval: 1s, targets: [${id}] }\n`;
    const directory = temporary({
      key: 'k-old-4f1d9e27',
      'config.yml': config(one?.id),
      'server.pem': server.cert,
      'server.key': server.key,
      'web.yml': `tls_server_config: { cert_file: server.pem, key_file: server.key }\nbasic_auth_users: { a: ${hashSync('right', 4)} }\n`,
    });
    const args = [
      '--web.listen-address=127.0.0.1:0',
      `--config.file=${join(directory, 'config.yml')}`,
      `--web.config.file=${join(directory, 'web.yml')}`,
    ];
    return { simulator, directory, args, one, two, config };
  }

  it('serves with TLS and users, uses a rotated key, reloads, and starts no debugger', async () => {
    const { simulator, directory, args, one, two, config } = await prepare();
    const running = run(args, { execPath, node: allowing(directory, '--allow-worker') });
    const origin = await originOf(running);
    const page = async () => (await scrape(origin, '/metrics', 'right')).body;
    await expect.poll(page).toContain(`application_up{app_id="${one?.id}",account="account"} 1`);
    expect((await scrape(origin, '/metrics', 'wrong')).status).toBe(401);
    expect(await page()).not.toMatch(/^process_(open|max)_fds /m);

    simulator.replaceKey('account', 'k-new-4f1d9e27');
    await expect.poll(page).toContain(`application_up{app_id="${one?.id}",account="account"} 0`);
    writeFileSync(join(directory, 'new'), 'k-new-4f1d9e27', { mode: 0o600 });
    renameSync(join(directory, 'new'), join(directory, 'key'));
    await expect.poll(page).toContain(`application_up{app_id="${one?.id}",account="account"} 1`);

    writeFileSync(join(directory, 'config.yml'), config(two?.id));
    running.child.kill('SIGHUP');
    await expect.poll(page).toContain(`application_up{app_id="${two?.id}",account="account"} 1`);

    running.child.kill('SIGUSR1');
    expect((await scrape(origin, '/-/healthy', 'right')).status).toBe(200);
    running.child.kill();
    const { code, output } = await running.ended;
    expect(code).toBe(0);
    expect(output).not.toContain('Debugger listening');
  });

  it('counts open files if it may see them', async () => {
    const { directory, args } = await prepare();
    const files = ['--allow-fs-read=/proc/self/fd', '--allow-fs-read=/proc/self/limits'];
    const running = run(args, { execPath, node: allowing(directory, '--allow-worker', ...files) });
    const { body } = await scrape(await originOf(running), '/metrics', 'right');
    expect(body).toMatch(/^process_open_fds [1-9]/m);
    expect(body).toMatch(/^process_max_fds [1-9]/m);
  });

  it('keeps counters if it may write their folder, and says what is missing else', async () => {
    const { directory, args } = await prepare();
    const states = temporary({});
    const state = `--state.file=${states}/state.json`;
    const read = `--allow-fs-read=${states}/`;
    const denied = run([...args, state], { execPath, node: allowing(directory, '--allow-worker', read) });
    await originOf(denied);
    await expect.poll(() => denied.output()).toContain(`start Node with --allow-fs-write=${states}`);
    denied.child.kill();
    expect((await denied.ended).code).toBe(0);
    const write = `--allow-fs-write=${states}/`;
    const node = allowing(directory, '--allow-worker', read, write);
    const running = run([...args, state], { execPath, node });
    await originOf(running);
    running.child.kill();
    const { code, output } = await running.ended;
    expect(code).toBe(0);
    expect(output).not.toContain('cannot be written');
    expect(readdirSync(states)).toEqual(['state.json']);
  });

  it('names the file that it may not read', async () => {
    const { directory, args } = await prepare();
    const elsewhere = temporary({ key: 'k-4f1d9e27' });
    writeFileSync(
      join(directory, 'config.yml'),
      `credentials: { account: { file: ${elsewhere}/key } }\napplications: { targets: [one] }\n`,
    );
    const { code, output } = await run([...args, '--config.check'], { execPath, node: allowing(directory) })
      .ended;
    expect(output).toContain(`expected the key file ${elsewhere}/key; it cannot be read (ERR_ACCESS_DENIED)`);
    expect(code).toBe(1);
  });

  it('lets nobody in by password if threads are not allowed', async () => {
    const { directory, args } = await prepare();
    const running = run(args, { execPath, node: allowing(directory) });
    const origin = await originOf(running);
    for (let time = 0; time < 2; time++) await expect(scrape(origin, '/metrics', 'right')).rejects.toThrow();
    running.child.kill();
    expect((await running.ended).output).toContain('--allow-worker');
  });
});
