/** The rules, evaluated by promtool as often as their groups say. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { toolPath } from '../processes.ts';
import type { Labels, Samples } from './samples.ts';

/** An alert, and in which minutes it fired. */
export interface Firing {
  readonly labels: Labels;
  /** In order. */
  readonly minutes: readonly number[];
}

/** The texts of rule files, by their names. */
export type RuleFiles = ReadonlyMap<string, string>;

interface Rule {
  readonly record?: string;
  readonly expr: string;
}
interface RuleFile {
  readonly groups: readonly { readonly interval?: string; readonly rules: readonly Rule[] }[];
}

/** The rules that matter to alerts: records that only dashboards and texts read take a third of the time. */
export function withoutUnread(files: RuleFiles): RuleFiles {
  const parsed = [...files].map(([name, text]) => [name, parse(text) as RuleFile] as const);
  const all = parsed.flatMap(([, { groups }]) => groups.flatMap(({ rules }) => rules));
  const isRead = ({ record }: Rule) =>
    record === undefined ||
    all.some((other) => other.record !== record && new RegExp(`${record}(?![\\w:])`).test(other.expr));
  return new Map(
    parsed.map(([name, { groups }]) => [
      name,
      stringify({ groups: groups.map((group) => ({ ...group, rules: group.rules.filter(isRead) })) }),
    ]),
  );
}

/** Has the rules say nothing in some minutes, as if nobody evaluated them. */
function silentIn(text: string, minutes: readonly number[]): string {
  const [first, last] = [minutes[0] ?? 0, minutes.at(-1) ?? 0];
  const { groups } = parse(text) as RuleFile;
  const isSilent = `(vector(time()) >= ${60 * first} <= ${60 * last})`;
  const silent = (rule: Rule) => ({ ...rule, expr: `(${rule.expr}) unless on () ${isSilent}` });
  return stringify({ groups: groups.map((group) => ({ ...group, rules: group.rules.map(silent) })) });
}

/** What a Prometheus has of a day. */
export interface Scraped {
  readonly samples: Samples;
  /** The minute of promtool's time in which the day begins. */
  readonly offset: number;
  /** In which Prometheus did not run. */
  readonly missed: readonly number[];
  readonly evaluatedEach: '1m' | '2m';
}

/** Whether there are samples that rules read. All read those of the exporter itself; most read others, too. */
function areRead(text: string, names: ReadonlySet<string>): boolean {
  const own = [...new Set(text.match(/\bbunnynet_(?!exporter_)\w+/g))];
  return own.length === 0 || own.some((name) => names.has(name));
}

/** How often a file is evaluated: as its groups say, or less often where the day says so. */
function intervalOf(text: string, evaluatedEach: Scraped['evaluatedEach']): Scraped['evaluatedEach'] {
  const { groups } = parse(text) as RuleFile;
  return groups.some(({ interval }) => interval === '1m') ? evaluatedEach : '2m';
}

/** All alerts that fire. */
export async function evaluate(
  folder: string,
  rules: RuleFiles,
  { samples, offset, missed, evaluatedEach }: Scraped,
): Promise<readonly Firing[]> {
  const input = samples.written();
  const names = new Set(input.map(({ series }) => series.slice(0, series.indexOf('{'))));
  const read = [...rules].filter(([, text]) => areRead(text, names));
  for (const [name, text] of read)
    writeFileSync(join(folder, name), missed.length > 0 ? silentIn(text, missed) : text);
  const minutes = Array.from({ length: samples.minutes - offset }, (_, at) => offset + at);
  const found: (readonly Firing[])[] = [];
  for (const interval of ['1m', '2m'] as const) {
    const files = read.filter(([, text]) => intervalOf(text, evaluatedEach) === interval);
    if (files.length === 0) continue;
    found.push(await firingOf(folder, interval, { files: files.map(([name]) => name), input, minutes }));
  }
  return found.flat();
}

interface Evaluated {
  readonly files: readonly string[];
  readonly input: ReturnType<Samples['written']>;
  readonly minutes: readonly number[];
}

async function firingOf(
  folder: string,
  interval: string,
  { files, input, minutes }: Evaluated,
): Promise<readonly Firing[]> {
  const file = join(folder, `month-${interval}.test.yml`);
  const firing = { expr: 'ALERTS{alertstate="firing"}', exp_samples: [] };
  // promtool says what it finds only where nothing was expected.
  const tests = [
    {
      interval: '1m',
      input_series: input,
      promql_expr_test: minutes.map((minute) => ({ ...firing, eval_time: `${minute}m` })),
    },
  ];
  // JSON is YAML, and is written sooner.
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: files.map((name) => join(folder, name)),
      evaluation_interval: interval,
      tests,
    }),
  );
  const output = await promisify(execFile)(toolPath('promtool'), ['test', 'rules', file], {
    maxBuffer: 2 ** 30,
  }).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout = '', stderr = '' }: { readonly stdout?: string; readonly stderr?: string }) => stdout + stderr,
  );
  return firingIn(output);
}

const unitMinutes = { d: 1440, h: 60, m: 1, s: 0 } as const;

function firingIn(output: string): readonly Firing[] {
  const found = new Map<string, { labels: Labels; minutes: number[] }>();
  let minute: number | undefined;
  for (const line of output.split('\n')) {
    const [, time] = /expr: "ALERTS.*, time: (\w+),/.exec(line) ?? [];
    if (time !== undefined)
      minute = [...time.matchAll(/(\d+)([dhms])/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * unitMinutes[unit as 'd'],
        0,
      );
    else if (/^\s+got:/.test(line)) {
      for (const [, text = ''] of line.matchAll(/\{((?:[^{}"]|"(?:[^"\\]|\\.)*")*)\} 1E\+00/g)) {
        const {
          __name__: _,
          alertstate: __,
          ...labels
        } = Object.fromEntries(
          [...text.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)].map(([, name, value = '']) => [
            name,
            JSON.parse(value) as string,
          ]),
        ) as Record<string, string>;
        const one = found.get(text) ?? { labels, minutes: [] };
        found.set(text, one);
        one.minutes.push(minute ?? Number.NaN);
      }
    } else if (!/^\s*(exp:.*|FAILED:|SUCCESS|Unit Testing:.*)?$/.test(line))
      throw new Error(`promtool: ${line}`);
  }
  return [...found.values()];
}
