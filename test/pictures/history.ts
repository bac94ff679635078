/** A day of the demo as blocks of a Prometheus: exporter and simulator run with a fast clock, and the rules' records are added. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pino from 'pino';
import { parse } from 'yaml';
import { load } from '../../src/demo.ts';
import { createExporter } from '../../src/exporter.ts';
import { everything } from '../../src/simulator/everything.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { eventually, freePort, start, stop, toolPath } from '../stack/processes.ts';

const hourMs = 3_600_000;
/** Time between two polls, shorter than the three minutes that the rules look back. */
const pollMs = 150_000;
/** The length of a Prometheus block. */
const blockMs = 2 * hourMs;

export const scraped = { job: 'bunnynet', instance: 'demo:10057' };

/** The part of the history in one block. */
interface Part {
  readonly fromMs: number;
  readonly toMs: number;
  /** In OpenMetrics, without the `# EOF`. */
  readonly samples: string;
}

function seriesText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');
}

/** The samples of a page, as from a scrape at that time. */
function samplesAt(page: string, atMs: number): string {
  const samples = `up 1\nscrape_duration_seconds 0.01\n${page}`.matchAll(
    /^([a-z][\w:]*)(?:\{(.*)\})? (\S+)$/gm,
  );
  return [...samples]
    .map(
      ([, name, own, value]) =>
        `${name}{${seriesText(scraped)}${own ? `,${own}` : ''}} ${value} ${atMs / 1000}\n`,
    )
    .join('');
}

/** The exporter's pages over these hours. */
async function* pollHistory(endMs: number, hours: number): AsyncGenerator<Part> {
  let clockMs = endMs - hours * hourMs;
  const simulator = createSimulator({ scale: 'small', now: () => clockMs });
  await simulator.start();
  const api = () => ({ timeout: '5s', max_concurrency: 32, requests_per_second: 2000 });
  const loaded = await load(everything(simulator, { interval: '1h', staleAfter: '2h', api }));
  const exporter = await createExporter({
    load: () => Promise.resolve(loaded),
    addresses: [],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    log: pino({ level: 'silent' }),
    now: () => clockMs,
  });
  while (clockMs < endMs) {
    const fromMs = clockMs;
    const toMs = Math.min(endMs, fromMs - (fromMs % blockMs) + blockMs);
    let samples = '';
    for (; clockMs < toMs; clockMs += pollMs) {
      await exporter.pollOnce();
      samples += samplesAt(await exporter.page(), clockMs);
    }
    yield { fromMs, toMs, samples };
  }
  await exporter.stop();
  await simulator.stop();
}

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly { readonly record?: string; readonly expr: string }[];
  }[];
}

/** What the recording rules would have recorded, except for those that read other records. */
async function recordsOf(
  origin: string,
  ruleFiles: Iterable<string>,
  { fromMs, toMs }: Part,
): Promise<string> {
  const range = {
    start: String(fromMs / 1000),
    end: String((toMs - pollMs) / 1000),
    step: String(pollMs / 1000),
  };
  let records = '';
  for (const text of ruleFiles)
    for (const { rules } of (parse(text) as RuleFile).groups)
      for (const { record, expr } of rules) {
        if (record === undefined) continue;
        const body = new URLSearchParams({ query: expr, ...range });
        const response = await fetch(`${origin}/api/v1/query_range`, { method: 'POST', body });
        const { data, error } = (await response.json()) as {
          error?: string;
          data?: {
            result: readonly { metric: Record<string, string>; values: readonly [number, string][] }[];
          };
        };
        if (!data) throw new Error(`${record}: ${error}`);
        for (const {
          metric: { __name__: _, ...labels },
          values,
        } of data.result)
          for (const [at, value] of values) records += `${record}{${seriesText(labels)}} ${value} ${at}\n`;
      }
  return records;
}

/** Starts a Prometheus that leaves its blocks as they are; resolves with its origin when it answers. */
export async function startPrometheus(folder: string, data: string, config: string) {
  const file = join(folder, 'prometheus.yaml');
  await writeFile(file, config);
  const address = `127.0.0.1:${await freePort()}`;
  const server = start(toolPath('prometheus'), [
    `--config.file=${file}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${data}`,
    '--storage.tsdb.min-block-duration=2h',
    '--storage.tsdb.max-block-duration=2h',
    '--log.level=warn',
  ]);
  const origin = `http://${address}`;
  await eventually(async () => {
    if (!(await fetch(`${origin}/-/ready`)).ok) throw new Error('Prometheus is not ready');
  });
  return { origin, server };
}

/** Writes the hours before `endMs` (Unix time) as the data folder of a Prometheus; resolves with its path. */
export async function writeHistory(
  folder: string,
  ruleFiles: readonly string[],
  endMs: number,
  hours: number,
): Promise<string> {
  const file = join(folder, 'samples');
  const writeBlock = async (samples: string, data: string) => {
    await writeFile(file, `${samples}# EOF\n`);
    await promisify(execFile)(toolPath('promtool'), [
      'tsdb',
      'create-blocks-from',
      'openmetrics',
      file,
      data,
    ]);
  };
  const [polled, whole] = [join(folder, 'polled'), join(folder, 'data')];
  const parts: Part[] = [];
  for await (const part of pollHistory(endMs - (endMs % pollMs), hours)) {
    await writeBlock(part.samples, polled);
    parts.push(part);
  }
  const { origin, server } = await startPrometheus(folder, polled, '{}');
  for (const part of parts)
    await writeBlock(part.samples + (await recordsOf(origin, ruleFiles, part)), whole);
  await stop(server);
  return whole;
}
