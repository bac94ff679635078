/**
 * A day of the demo as blocks of a Prometheus: exporter and simulator run with a fast clock, and what the rules would have recorded
 * and alerted is added.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pino from 'pino';
import { parse } from 'yaml';
import { everything } from '../../simulator/everything.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { load } from '../../src/demo.ts';
import { createExporter } from '../../src/exporter.ts';
import { expandLabels, type Labels } from '../monitoring/alert-labels.ts';
import { eventually, freePort, start, stop, toolPath } from '../stack/processes.ts';
import { ask } from '../stack/prometheus.ts';

const hourMs = 3_600_000;
/** Time between two polls, shorter than the three minutes that the rules look back. */
const pollMs = 150_000;
/** The length of a Prometheus block. */
const blockMs = 2 * hourMs;

export const scraped = { job: 'bunnynet', instance: 'demo:10057' };

function seriesText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');
}

/** An exporter that runs writes its state each five minutes; one that polls when it is told to has none. */
const stateMs = 300_000;

/** The samples of a page, as from a scrape at that time. */
function samplesAt(page: string, atMs: number): string {
  const written = `bunnynet_exporter_state_last_write_timestamp_seconds ${(atMs - (atMs % stateMs)) / 1000}`;
  const samples = `up 1\nscrape_duration_seconds 0.01\n${written}\n${page}`.matchAll(
    /^([a-z][\w:]*)(?:\{(.*)\})? (\S+)$/gm,
  );
  return [...samples]
    .map(
      ([, name, own, value]) =>
        `${name}{${seriesText(scraped)}${own ? `,${own}` : ''}} ${value} ${atMs / 1000}\n`,
    )
    .join('');
}

/** The exporter's pages from one time to the other, block by block, in OpenMetrics without the `# EOF`. */
async function* pollHistory(fromMs: number, toMs: number): AsyncGenerator<string> {
  let clockMs = fromMs;
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
  while (clockMs <= toMs) {
    const blockEndsMs = clockMs - (clockMs % blockMs) + blockMs;
    let samples = '';
    for (; clockMs < blockEndsMs && clockMs <= toMs; clockMs += pollMs) {
      await exporter.pollOnce();
      samples += samplesAt(await exporter.page(), clockMs);
    }
    yield samples;
  }
  await exporter.stop();
  await simulator.stop();
}

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Labels;
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

const secondsOf = (duration = '0m') =>
  Number.parseInt(duration, 10) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[duration.at(-1) ?? ''] ?? Number.NaN);

/** Rules in rounds: each reads only what earlier ones have written. What an alert reads of alerts is about outages. */
function roundsOf(rules: readonly Rule[]): readonly (readonly Rule[])[] {
  if (rules.length === 0) return [];
  const reads = ({ expr, labels = {}, ...reader }: Rule, { record, alert }: Rule) =>
    record === undefined
      ? reader.record !== undefined && alert !== undefined && expr.includes('ALERTS')
      : new RegExp(`${record}(?![\\w:])`).test([expr, ...Object.values(labels)].join('\n'));
  const isReady = (rule: Rule) => !rules.some((other) => other !== rule && reads(rule, other));
  const ready = rules.filter(isReady);
  if (ready.length === 0)
    throw new Error(`these rules read each other: ${rules.map(({ expr }) => expr).join('\n')}`);
  return [ready, ...roundsOf(rules.filter((rule) => !ready.includes(rule)))];
}

/** Samples by the block that they belong to, as promtool reads the whole file for each block. */
class Samples {
  readonly blocks = new Map<number, string>();

  add(name: string, labels: Labels, atSeconds: number, value: string | number) {
    const block = Math.floor((atSeconds * 1000) / blockMs);
    const line = `${name}{${seriesText(labels)}} ${value} ${atSeconds}\n`;
    this.blocks.set(block, (this.blocks.get(block) ?? '') + line);
  }
}

/** Adds what Prometheus writes of an alert whose expression has a value at some of the times, with these labels. */
function addAlert(
  samples: Samples,
  { alert = '', ...rule }: Rule,
  labels: Labels,
  times: readonly number[],
  isTrue: ReadonlySet<number>,
) {
  const own = { ...labels, alertname: alert };
  let since: number | undefined;
  let lastTrue = 0;
  let isFiring = false;
  for (const at of times) {
    if (isTrue.has(at)) {
      since ??= at;
      lastTrue = at;
      isFiring ||= at - since >= secondsOf(rule.for);
    } else if (!isFiring || at - lastTrue > secondsOf(rule.keep_firing_for)) {
      since = undefined;
      isFiring = false;
    }
    if (since === undefined) continue;
    samples.add('ALERTS', { ...own, alertstate: isFiring ? 'firing' : 'pending' }, at, 1);
    samples.add('ALERTS_FOR_STATE', own, at, since);
  }
}

/** Adds what a rule would have written from one time to the other. */
async function addRule(samples: Samples, rule: Rule, prometheus: string, fromMs: number, toMs: number) {
  const [start, end, step] = [fromMs / 1000, toMs / 1000, pollMs / 1000];
  const askFor = (query: string) =>
    ask(prometheus, 'query_range', { query, start: `${start}`, end: `${end}`, step: `${step}` });
  const { record, labels: ofRule = {} } = rule;
  /** What the templates of the labels have asked. */
  const asked = new Map<string, ReturnType<typeof askFor>>();
  const queryAt = (at: number) => async (query: string) => {
    const answer = asked.get(query) ?? askFor(query);
    asked.set(query, answer);
    return (await answer)
      .filter(({ values }) => values.some(([time]) => time === at))
      .map(({ metric }) => metric);
  };
  /** By its labels, each alert and the times at which the expression is true. */
  const alerts = new Map<string, { readonly labels: Labels; readonly isTrue: Set<number> }>();
  for (const { metric, values } of await askFor(rule.expr)) {
    const { __name__: _, ...labels } = metric;
    if (record !== undefined) {
      for (const [at, value] of values) samples.add(record, { ...labels, ...ofRule }, at, value);
      continue;
    }
    for (const [at] of values) {
      const expanded = await expandLabels(ofRule, labels, queryAt(at));
      const key = Object.entries(expanded)
        .map((label) => JSON.stringify(label))
        .toSorted()
        .join();
      const alert = alerts.get(key) ?? { labels: expanded, isTrue: new Set() };
      alerts.set(key, alert);
      alert.isTrue.add(at);
    }
  }
  const times = Array.from({ length: (end - start) / step + 1 }, (_, at) => start + at * step);
  for (const { labels, isTrue } of alerts.values()) addAlert(samples, rule, labels, times, isTrue);
}

/** Starts a Prometheus that scrapes nothing and leaves its blocks as they are; resolves with its address when it answers. */
export async function startPrometheus(folder: string, data: string) {
  const file = join(folder, 'prometheus.yaml');
  await writeFile(file, '{}');
  const address = `127.0.0.1:${await freePort()}`;
  const server = start(toolPath('prometheus'), [
    `--config.file=${file}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${data}`,
    '--storage.tsdb.min-block-duration=2h',
    '--storage.tsdb.max-block-duration=2h',
    // A series that left has no mark of its end.
    `--query.lookback-delta=${pollMs / 1000 - 1}s`,
    '--log.level=warn',
  ]);
  await eventually(async () => {
    if (!(await fetch(`http://${address}/-/ready`)).ok) throw new Error('Prometheus is not ready');
  });
  return { address, server };
}

/** Writes the data folder of a Prometheus that has watched the demo from one time to the other; resolves with its path. */
export async function writeHistory(
  folder: string,
  ruleFiles: Iterable<string>,
  fromMs: number,
  toMs: number,
): Promise<string> {
  const file = join(folder, 'samples');
  const data = join(folder, 'data');
  const writeBlocks = async (samples: string) => {
    await writeFile(file, `${samples}# EOF\n`);
    await promisify(execFile)(toolPath('promtool'), [
      'tsdb',
      'create-blocks-from',
      'openmetrics',
      file,
      data,
    ]);
  };
  for await (const samples of pollHistory(fromMs, toMs)) await writeBlocks(samples);
  const rules = [...ruleFiles].flatMap((text) =>
    (parse(text) as RuleFile).groups.flatMap((group) => group.rules),
  );
  for (const round of roundsOf(rules)) {
    const { address, server } = await startPrometheus(folder, data);
    const samples = new Samples();
    await Promise.all(round.map((rule) => addRule(samples, rule, address, fromMs, toMs)));
    await stop(server);
    for (const block of samples.blocks.values()) await writeBlocks(block);
  }
  return data;
}
