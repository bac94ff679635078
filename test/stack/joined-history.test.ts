/** A history and the live samples after it in a real Prometheus: exact over the seam, and without a reset. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { endsOf, startExporter, writeHistory } from '../held/history-before.ts';
import { dayMs, everIn, hourMs, kinds, minuteMs } from '../held/steady.ts';
import type { Whole } from '../held/whole.ts';
import { freePort, start, stopAll, toolPath } from './processes.ts';
import { ask, numberOf } from './prometheus.ts';
import { promtool } from './promtool.ts';

const sleep = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'joined-'));
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

const labels = { job: 'bunnynet', instance: 'localhost:10057' };
const labelText = Object.entries(labels)
  .map(([name, value]) => `${name}="${value}"`)
  .join(',');

/** Scrapes an exporter each five minutes, as Prometheus does; returns the samples of the counters as OpenMetrics. */
async function scrapes(whole: Whole, forMs: number): Promise<string> {
  const rows = new Map<string, string[]>();
  for (let passedMs = 0; passedMs <= forMs; passedMs += 5 * minuteMs) {
    if (passedMs > 0) await whole.pass(5 * minuteMs);
    const page = await whole.page();
    for (const { counter } of kinds)
      for (const [, own = '', value = ''] of page.matchAll(new RegExp(`^${counter}\\{(.*)\\} (.*)$`, 'gm'))) {
        const series = `${counter}{${own},${labelText}}`;
        rows.set(series, [...(rows.get(series) ?? []), `${series} ${value} ${Date.now() / 1000}`]);
      }
  }
  const text = kinds.flatMap(({ counter }) => [
    `# TYPE ${counter.replace(/_total$/, '')} counter`,
    ...[...rows].filter(([series]) => series.startsWith(`${counter}{`)).flatMap(([, samples]) => samples),
  ]);
  return `${text.join('\n')}\n# EOF\n`;
}

it.each([
  ['14:20', 14 * hourMs + 20 * minuteMs],
  ['00:05', 5 * minuteMs],
])('a history and an exporter that is started after it at %s', async (name, ofDayMs) => {
  const own = join(folder, name);
  mkdirSync(own);
  const dayStartMs = Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs;
  const run = { folder: own, nowMs: dayStartMs + ofDayMs };
  const history = await writeHistory(run, { labels });
  const whole = await startExporter(run);
  const live = await scrapes(whole, 13 * hourMs);
  const endMs = Date.now();
  const polledAt = (path: string) =>
    run.nowMs + (whole.requests.findLast((one) => one.path === path)?.atMs ?? Number.NaN);

  const data = join(own, 'data');
  for (const [file, text] of [
    ['history.om', history.text],
    ['live.om', live],
  ] as const) {
    writeFileSync(join(own, file), text);
    await promtool(
      'tsdb',
      'create-blocks-from',
      'openmetrics',
      '--max-block-duration=768h',
      join(own, file),
      data,
    );
  }
  const address = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(own, 'prometheus.yml'), '{}');
  start(toolPath('prometheus'), [
    `--config.file=${join(own, 'prometheus.yml')}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${data}`,
    '--storage.tsdb.retention.time=90d',
    '--log.level=error',
  ]);
  // The clock of the test stands still.
  for (let tries = 0; tries < 600; tries++) {
    const isReady = await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    await sleep('sleep', ['0.5']);
  }
  const time = String(endMs / 1000);
  const of = async (query: string) => numberOf(await ask(address, 'query', { query, time }));
  for (const { section, beganMs } of endsOf(history)) {
    const { counter = '', path = '' } = kinds.find((one) => one.section === section) ?? {};
    expect(await of(`sum(resets(${counter}[7d]))`), section).toBe(0);
    expect(await of(`sum(max_over_time(${counter}[7d]) - min_over_time(${counter}[7d]))`), section).toBe(
      everIn(beganMs, polledAt(path), 0),
    );
    // Both are there, as one series.
    expect(await of(`count(count_over_time(${counter}[7d]) > 13 * 12 + 50)`), section).toBeGreaterThan(0);
  }
});
