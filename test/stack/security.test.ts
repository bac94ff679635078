/** The longer searches for keys: every fault of the listing, every level of both log formats, a process that runs out of memory. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FaultType, faultTypes } from '../../simulator/faults.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { temporary } from '../http/temporary.ts';
import { filesIn, found, newKey, originOf, page, run } from '../security/canary.ts';
import { configOf, injectAll, stage } from '../security/stage.ts';

const keys = { account: newKey(), library: newKey() };
const anyPort = '--web.listen-address=127.0.0.1:0';
const credentials = '{ account: { env: ACCOUNT }, library: { env: LIBRARY } }';
const env = { ACCOUNT: keys.account, LIBRARY: keys.library };
/** The fault that repeats the key comes first, because the log is silent about polls that already fail. */
const ofListing = (Object.keys(faultTypes) as FaultType[])
  .filter((type) => faultTypes[type].appliesTo.includes('shield_zone'))
  .toSorted((a, b) => Number(b === 'secret-echo') - Number(a === 'secret-echo'));

it('no fault of the listing gets a key onto a page or into the log', async () => {
  const simulator = createSimulator({
    keys: { account: keys.account },
    accounts: 10,
    shape: { zones: 1 },
  });
  await simulator.start();
  onTestFinished(() => simulator.stop());
  // The listings of ten accounts: one of them is read every 100 ms. Each key has the one that is searched for in it.
  const accounts = simulator.accounts.map(({ keys: { account }, zones }, index) => {
    const [name, targets] = [`c${index}`, zones.map(({ id }) => `{ id: ${id}, credential: c${index} }`)];
    return { name, variable: `ACCOUNT_${index}`, key: account, targets };
  });
  const directory = temporary({
    'config.yml': `credentials: { ${accounts.map(({ name, variable }) => `${name}: { env: ${variable} }`).join(', ')} }
apis: { shield: { base_url: "${simulator.baseUrls.shield}", timeout: 1s, requests_per_second: 1000, max_concurrency: 100, max_retries: 1, max_response_bytes: 1MiB } }
shield_zones: { interval: 1s, targets: [${accounts.flatMap(({ targets }) => targets).join(', ')}] }
`,
  });
  const running = run([anyPort, `--config.file=${join(directory, 'config.yml')}`, '--log.level=trace'], {
    env: Object.fromEntries(accounts.map(({ variable, key }) => [variable, key])),
  });
  const origin = await originOf(running);
  for (const type of ofListing) {
    const before = simulator.counters.shield_zone.requests;
    const isEcho = type === 'secret-echo';
    // Three requests, so that other listings go on: a key that many answers refuse, or many 429, make the pauses long.
    const struck = isEcho ? {} : { count: 3 };
    const heal = simulator.inject({
      type,
      ...struck,
      retryAfterSeconds: 1,
      decodedBytes: 4 << 20,
      latencyMs: 50,
    });
    await expect.poll(() => simulator.counters.shield_zone.requests).toBeGreaterThan(before + 2);
    // The search only means something if a key was redacted.
    const shown = async () => (await page(`${origin}/`)).all;
    if (isEcho) await expect.poll(shown).toContain('[redacted]');
    for (const path of ['/metrics', '/api/v1/targets', '/'])
      expect(found(keys, (await page(`${origin}${path}`)).all), `${type} on ${path}`).toEqual([]);
    heal();
  }
  running.child.kill();
  const { output } = await running.ended;
  expect(output).toContain('[redacted]');
  expect(found(keys, output)).toEqual([]);
});

describe('logs', () => {
  // canary.test.ts has both formats at the level trace.
  it.each([
    ['json', 'trace'],
    ['pretty', 'debug'],
    ['json', 'info'],
    ['pretty', 'warn'],
    ['json', 'error'],
  ])('in %s show no key at the level %s, with every fault at once', async (format, level) => {
    const simulator = await stage(keys);
    injectAll(simulator);
    const directory = temporary({ 'config.yml': configOf(simulator, credentials) });
    const args = ['--once', `--config.file=${join(directory, 'config.yml')}`];
    const { code, output } = await run([...args, `--log.level=${level}`, `--log.format=${format}`], { env })
      .ended;
    expect(code).toBe(3);
    // At these levels there are so many lines that a busy reader may lose some; at the others, only some are written.
    if (['trace', 'debug'].includes(level)) expect(output).toContain('[redacted]');
    // Single polls are debug lines, causes are warnings.
    else expect(/\bcause\b/.test(output)).toBe(level !== 'error');
    expect(found(keys, output)).toEqual([]);
  });
});

it('a process that runs out of memory leaves a report without keys', async () => {
  const simulator = await stage(keys);
  const directory = temporary({
    'config.yml': configOf(simulator, credentials),
    'preload.mjs': `process.on('SIGWINCH', () => { const all = []; for (;;) all.push(new Array(100_000).fill({})); });\n`,
  });
  const reports = join(directory, 'reports');
  mkdirSync(reports);
  const running = run([anyPort, `--config.file=${join(directory, 'config.yml')}`], {
    env: { ...env, HTTPS_PROXY: `http://u:${keys.library}@127.0.0.1:1` },
    node: [
      `--import=${join(directory, 'preload.mjs')}`,
      '--max-old-space-size=96',
      '--report-on-fatalerror',
      `--report-directory=${reports}`,
    ],
  });
  const origin = await originOf(running);
  await expect.poll(async () => (await page(`${origin}/-/ready`)).status).toBe(200);
  running.child.kill('SIGWINCH');
  const { output } = await running.ended;
  const report = filesIn(reports).join('\n');
  expect(output).toContain('heap out of memory');
  expect(report).toContain('"environmentVariables"');
  expect(found(keys, report)).toEqual([]);
  expect(found(keys, output)).toEqual([]);
});

it('a key from the environment stays readable in /proc, one from a file is nowhere', async () => {
  const simulator = await stage(keys);
  const directory = temporary({
    'config.yml': configOf(simulator, '{ account: { env: ACCOUNT }, library: { file: library } }'),
    library: keys.library,
  });
  const running = run([anyPort, `--config.file=${join(directory, 'config.yml')}`], {
    env: { ACCOUNT: keys.account },
  });
  await originOf(running);
  const ofProcess = (file: string) => readFileSync(`/proc/${running.child.pid}/${file}`, 'latin1');
  // SECURITY.md gives this as the reason to prefer files.
  expect(found(keys, ofProcess('environ'))).toEqual([expect.stringMatching(/^account: /)]);
  for (const file of ['cmdline', 'comm', 'status', 'maps'])
    expect(found(keys, ofProcess(file)), file).toEqual([]);
});
