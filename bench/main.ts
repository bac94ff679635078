/** The benchmark: measures part after part, prints the tables, and writes the documentation where asked to. */
import { measureFaults } from './faults.ts';
import { measureFootprint } from './footprint.ts';
import { log } from './log.ts';
import { parseOptions, usage } from './options.ts';
import { measurePolls } from './polls.ts';
import { aimsTable, loadAverage, machine, type Part, renderTable } from './report.ts';
import { measureScrapes } from './scrapes.ts';
import { measureWhole } from './whole.ts';

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const done: Part[] = [];
  log(`on ${machine()}; load ${loadAverage()} before the start`);
  for (const size of options.parts.includes('scrape') ? options.sizes : []) {
    done.push(await measureScrapes(size, options.quick));
  }
  if (options.parts.includes('polls')) done.push(await measurePolls(options.quick));
  if (options.parts.includes('whole')) done.push(await measureWhole(options.quick));
  if (options.parts.includes('faults')) done.push(await measureFaults(options.quick));
  if (options.parts.includes('footprint')) done.push(await measureFootprint(options.quick));
  const tables = [aimsTable(done.flatMap(({ aims }) => aims)), ...done.flatMap((part) => part.tables)];
  console.log(tables.map(renderTable).join('\n'));
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.stack : error);
  console.error(usage);
  process.exitCode = 1;
}
process.exit();
