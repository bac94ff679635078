/** The benchmark: measures the parts one after the other, prints the tables, and writes them to files on request. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { alike, type Build, buildIn, present } from './builds.ts';
import { renderForUsers, renderResults } from './document.ts';
import { measureFootprint } from './footprint.ts';
import { measureOutages } from './outages.ts';
import { measurePolls } from './polls.ts';
import { aimsTable, loadAverage, log, machine, type Part, renderTable } from './report.ts';
import { measureScrapes } from './scrapes.ts';
import { measureSmallAccount } from './small-account.ts';
import { measureStalls } from './stalls.ts';
import { measureState } from './state.ts';

const usage = `npm run bench -- [--against=REV] [--only=PART,PART] [--node=PATH] [--quick] [--write]
  --against  also measure the exporter of this revision, in turns; it is built once, in .cache/bench
  --only     sidecar, small-account, scrapes, polls, stalls, state; default: all
  --node     another program of Node to measure the sidecar with; may be given several times. That of the image is measured if
             test/stack/tools.sh has fetched it
  --quick    fewer and shorter rounds, for a look and not for published figures
  --write    write docs/performance.md and bench/results.md; needs a whole run`;

function parseOptions() {
  const { values } = parseArgs({
    options: {
      against: { type: 'string' },
      // Where scripts/bench.mjs has built it.
      other: { type: 'string' },
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

/** Where test/stack/tools.sh puts it. */
const imageNode = '.cache/tools/node/bin/node';

/** By name, such as `Node 20.20.2`. */
function namesOf(nodes: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    [process.execPath, imageNode, ...nodes].filter(existsSync).map((node) => {
      const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
      return [`Node ${version.slice(1)}`, node];
    }),
  );
}

function partsOf(
  builds: readonly Build[],
  { only, quick, node }: Options,
): readonly (readonly [string, () => Promise<Part>])[] {
  const all = [
    ['small-account', () => measureSmallAccount(builds, quick)],
    ['scrapes', () => measureScrapes(builds, quick)],
    ['polls', () => measurePolls(builds, quick)],
    ['sidecar', () => measureFootprint(quick, namesOf(node))],
    ['stalls', async () => joined(await measureStalls(builds), await measureOutages(builds))],
    ['state', () => measureState()],
  ] as const;
  const unknown = only?.filter((name) => !all.some(([known]) => known === name)) ?? [];
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}`);
  return all.filter(([name]) => only?.includes(name) ?? true);
}

function joined(...parts: readonly Part[]): Part {
  return { aims: parts.flatMap(({ aims }) => aims), tables: parts.flatMap(({ tables }) => tables) };
}

async function run(options: Options): Promise<void> {
  const startedMs = performance.now();
  const { against, other } = options;
  const otherName = against && `build of ${against}`;
  const builds = alike([present, ...(otherName && other ? [buildIn(other, otherName)] : [])]);
  const parts: Part[] = [];
  const loads: string[] = [];
  for (const [name, measure] of partsOf(builds, options)) {
    log(`measuring: ${name}`);
    loads.push(`${name} ${loadAverage()}`);
    const part = await measure();
    // At once: what comes later may fail.
    console.log(part.tables.map(renderTable).join('\n'));
    parts.push(part);
  }
  const aims = aimsTable(
    parts.flatMap((part) => part.aims),
    otherName,
  );
  console.log(`${machine()}\nLoad average before each part: ${loads.join(', ')}\n\n${renderTable(aims)}`);
  if (!options.write) return;
  const revision = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim();
  const minutes = (performance.now() - startedMs) / 60_000;
  const whole = { parts, loads, minutes, revision, otherName };
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
