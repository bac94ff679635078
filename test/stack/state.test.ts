/** Counters over restarts of the built program: killed at many moments, and as a real Prometheus sees them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { stringify } from 'yaml';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';
import { eventually, stopAll } from './processes.ts';
import { ask, numberOf, startPrometheus } from './prometheus.ts';

const dayMs = 86_400_000;

/** Figures that grow by 1 each 10 ms since 1970, until they are frozen; with what was first and last answered of the newest day. */
async function startApi() {
  let frozenMs: number | undefined;
  const answered: number[] = [];
  const figure = (dayStartMs: number, nowMs: number) =>
    Math.floor(Math.max(0, Math.min(nowMs, dayStartMs + dayMs) - dayStartMs) / 10);
  const server = createServer(({ url = '' }, response) => {
    const nowMs = frozenMs ?? Date.now();
    const { searchParams } = new URL(url, 'http://api');
    const date = searchParams.get('dateFrom') ?? '';
    const startMs = Date.parse(date);
    if (nowMs >= startMs && nowMs < startMs + dayMs) answered.push(Math.floor(nowMs / 10));
    response.end(JSON.stringify({ QueriesServedChart: { [date]: figure(startMs, nowMs) } }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      frozenMs = Date.now();
    },
    /** What was answered to the first poll, and to the last. */
    gained: () => (answered.at(-1) ?? 0) - (answered[0] ?? 0),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An exporter of one DNS zone that is polled each second, with a state file of its own. */
function prepare(apiUrl: string, { onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const config = {
    credentials: { account: { env: 'KEY' } },
    apis: { core: { base_url: apiUrl } },
    state: { file: 'state.json' },
    dns_zones: { targets: [7], interval: '1s', stale_after: '1m' },
  };
  const folder = temporary({ 'config.yml': stringify(config) });
  const args = [`--config.file=${join(folder, 'config.yml')}`, '--web.listen-address=127.0.0.1:0'];
  const targets = join(folder, 'targets.json');
  let child: ChildProcess | undefined;
  let origin = '';
  onTestFinished(() => void child?.kill('SIGKILL'));
  const count = async () => {
    const page = await (await fetch(`${origin}/metrics?kind=dns_zone`)).text();
    const [, value] = /^bunnynet_dns_zone_queries_total\{.*\} (.*)$/m.exec(page) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  return {
    /** A file that says where it is, for Prometheus. */
    targets,
    state: join(folder, 'state.json'),
    /** Resolves once it listens, each time at another port: the former one may be taken meanwhile. */
    start: async () => {
      child = spawn(process.execPath, ['dist/bunnynet-exporter.js', ...args], {
        env: { ...process.env, KEY: 'a-key-of-the-account' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const lines: string[] = [];
      origin = await new Promise((resolve, reject) => {
        const log = createInterface({ input: child?.stderr as NodeJS.ReadableStream });
        log.on('line', (line) => {
          lines.push(line);
          const [, found] = /"url":"(http:\/\/.*?)\/metrics"/.exec(line) ?? [];
          if (found) resolve(found);
        });
        log.on('close', () => reject(new Error(`it ended:\n${lines.join('\n')}`)));
      });
      writeFileSync(`${targets}.new`, JSON.stringify([{ targets: [new URL(origin).host] }]));
      renameSync(`${targets}.new`, targets);
    },
    end: async (signal: NodeJS.Signals) => {
      child?.kill(signal);
      if (child) await once(child, 'exit');
    },
    /** What is counted now; undefined where it is not on the page. */
    count: () => count().catch(() => undefined),
  };
}

type Api = Awaited<ReturnType<typeof startApi>>;

async function seen(count: () => Promise<number | undefined>, isSeen = (_value: number) => true) {
  return await eventually(async () => {
    const value = await count();
    if (value === undefined || !isSeen(value)) throw new Error(`it counts ${value}`);
    return value;
  });
}

/** Of each of four exporters: a hundred at night. */
const kills = runs(6, 25);

async function killOften(context: TestContext): Promise<void> {
  const api = await startApi();
  context.onTestFinished(api.stop);
  const exporter = prepare(api.url, context);
  await exporter.start();
  // Before the first write there is nothing to go on from.
  await eventually(() => expect(readFileSync(exporter.state, 'utf8')).toContain('queries_total'));
  let last = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const killAt = Date.now() + Math.random() * 2500;
    while (Date.now() < killAt) {
      const value = await exporter.count();
      if (value !== undefined) {
        expect(value).toBeGreaterThanOrEqual(last);
        last = value;
      }
      await delay(20);
    }
    await exporter.end('SIGKILL');
    await exporter.start();
    const value = await seen(exporter.count);
    expect(value, `after kill ${kill}`).toBeGreaterThanOrEqual(last);
    last = value;
  }
  api.freeze();
  await eventually(async () => expect(await exporter.count()).toBe(api.gained()));
}

test(`SIGKILL at ${4 * kills} moments never lowers a counter, and nothing is counted twice`, {
  timeout: 1_800_000,
}, async (context) => {
  await Promise.all([1, 2, 3, 4].map(() => killOften(context)));
});

describe('a real Prometheus over three restarts', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(async () => {
    api.stop();
    await stopAll();
  });

  test('has a counter that is exact and never reset', async (context) => {
    const exporter = prepare(api.url, context);
    await exporter.start();
    const first = await seen(exporter.count);
    const prometheus = await startPrometheus(temporary({}), {
      global: { scrape_interval: '1s' },
      scrape_configs: [
        {
          job_name: 'bunnynet',
          file_sd_configs: [{ files: [exporter.targets], refresh_interval: '1s' }],
          relabel_configs: [{ target_label: 'instance', replacement: 'exporter' }],
        },
      ],
    });
    const query = async (text: string) => numberOf(await ask(prometheus, 'query', { query: text }));
    const counter = 'bunnynet_dns_zone_queries_total{dns_zone_id="7"}';
    await eventually(async () => expect(await query(`count_over_time(${counter}[10m])`)).toBeGreaterThan(2));
    const begins = await query(`min_over_time(${counter}[10m])`);
    expect(begins).toBeGreaterThanOrEqual(first);
    for (const [signal, awayMs] of [
      ['SIGTERM', 0],
      ['SIGKILL', 5000],
      ['SIGTERM', 15_000],
    ] as const) {
      await exporter.end(signal);
      await delay(awayMs);
      await exporter.start();
      await seen(exporter.count);
      await delay(3000);
    }
    api.freeze();
    await eventually(async () => expect(await query(`last_over_time(${counter}[10m])`)).toBe(api.gained()));
    expect(await query(`resets(${counter}[10m])`)).toBe(0);
    expect(await query(`min_over_time(${counter}[10m])`)).toBe(begins);
    // It is what a person can look at.
    const [head = '', zone = ''] = readFileSync(exporter.state, 'utf8').split('\n');
    expect(head).toContain('"version":1,');
    expect(zone).toContain('"ids":{"dns_zone_id":"7"}');
  });
});
