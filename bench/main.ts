/** The benchmark: measures the parts one after the other, prints the tables, and writes them to files on request. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Scale, scaleNames } from '../src/simulator/kind.ts';
import { renderForUsers, renderResults } from './document.ts';
import { measureFootprint } from './footprint.ts';
import { measurePolls } from './polls.ts';
import { aimsTable, loadAverage, log, machine, type Part, renderTable } from './report.ts';
import { measureScrapes } from './scrapes.ts';
import { measureStalls } from './stalls.ts';

const usage = `npm run bench -- [--only PART,PART] [--node PATH] [--quick] [--write]
  --only    footprint, small (600 series), medium (60,000), full (600,000), polls, stalls; default: all
  --node    another program of Node to measure the sidecar with; may be given several times
  --quick   fewer and shorter rounds, for a look and not for published figures
  --write   write docs/performance.md and bench/results.md; needs a whole run`;

function parseOptions() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      node: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const { only, quick, write } = values;
  if (write && (only !== undefined || quick)) throw new Error('--write goes without --only and --quick');
  return { ...values, only: only?.split(',') };
}

type Options = ReturnType<typeof parseOptions>;

/** By name, such as `Node 20.20.2`. */
function namesOf(nodes: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    [process.execPath, ...nodes].map((node) => {
      const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
      return [`Node ${version.slice(1)}`, node];
    }),
  );
}

function partsOf({ only, quick, node }: Options): readonly (readonly [string, () => Promise<Part>])[] {
  const scrapes = scaleNames.map((scale: Scale) => [scale, () => measureScrapes(scale, quick)] as const);
  const all = [
    ['footprint', () => measureFootprint(quick, namesOf(node))] as const,
    ...scrapes,
    ['polls', () => measurePolls(quick)] as const,
    ['stalls', () => measureStalls(quick)] as const,
  ];
  const unknown = only?.filter((name) => !all.some(([known]) => known === name)) ?? [];
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}`);
  return all.filter(([name]) => only?.includes(name) ?? true);
}

async function run(options: Options): Promise<void> {
  const startedMs = performance.now();
  const parts: Part[] = [];
  const loads: string[] = [];
  for (const [name, measure] of partsOf(options)) {
    log(`measuring: ${name}`);
    loads.push(`${name} ${loadAverage()}`);
    parts.push(await measure());
  }
  const tables = [aimsTable(parts.flatMap(({ aims }) => aims)), ...parts.flatMap((part) => part.tables)];
  console.log(`${machine()}\nLoad average before each part: ${loads.join(', ')}\n`);
  console.log(tables.map(renderTable).join('\n'));
  if (!options.write) return;
  const revision = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim();
  const minutes = (performance.now() - startedMs) / 60_000;
  const whole = { parts, loads, minutes, revision };
  writeFileSync('docs/performance.md', renderForUsers(whole));
  writeFileSync('bench/results.md', renderResults(whole));
  log('wrote docs/performance.md and bench/results.md');
}

try {
  await run(parseOptions());
} catch (error) {
  console.error(`${(error as Error).stack}\n\n${usage}`);
  process.exitCode = 1;
}
process.exit();
