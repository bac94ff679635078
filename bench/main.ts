/** The benchmark: measures the parts one after the other, prints the tables, and writes them to files on request. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { measureDiscovery } from './discovery.ts';
import { renderForUsers, renderResults } from './document.ts';
import { measureFootprint } from './footprint.ts';
import { log } from './log.ts';
import { type Options, type PartName, parseOptions, usage } from './options.ts';
import { measurePolls } from './polls.ts';
import { aimsTable, loadAverage, machine, type Part, renderTable } from './report.ts';
import { measureScrapes } from './scrapes.ts';

interface Step {
  readonly name: string;
  readonly part: PartName;
  readonly measure: () => Promise<Part>;
}

/** By name, such as `Node 20.20.2`. */
function namesOf(nodes: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    [process.execPath, ...nodes].map((node) => {
      const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
      return [`Node ${version.slice(1)}`, node];
    }),
  );
}

function stepsOf({ parts, sizes, quick, nodes }: Options): readonly Step[] {
  const scrapes = sizes.map(
    (size): Step => ({ name: `scrape ${size}`, part: 'scrape', measure: () => measureScrapes(size, quick) }),
  );
  const steps: readonly Step[] = [
    { name: 'footprint', part: 'footprint', measure: () => measureFootprint(quick, namesOf(nodes)) },
    ...scrapes,
    { name: 'polls', part: 'polls', measure: () => measurePolls(quick) },
    { name: 'discovery', part: 'discovery', measure: () => measureDiscovery(quick) },
  ];
  return steps.filter(({ part }) => parts.includes(part));
}

async function run(options: Options): Promise<void> {
  const startedMs = performance.now();
  log(machine());
  const parts: Part[] = [];
  const loads: string[] = [];
  for (const { name, measure } of stepsOf(options)) {
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
  const run = { parts, loads, minutes, revision };
  writeFileSync('docs/performance.md', renderForUsers(run));
  writeFileSync('bench/results.md', renderResults(run));
  log('wrote docs/performance.md and bench/results.md');
}

let options: Options | undefined;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`);
  process.exit(2);
}
await run(options);
process.exit();
