/** The two pages that a whole run writes: one for users, and one with the project's aims. */
import { aimsTable, machine, type Part, renderTable, type Table } from './report.ts';

export interface Run {
  readonly parts: readonly Part[];
  /** The load of the machine before each part. */
  readonly loads: readonly string[];
  readonly minutes: number;
  readonly revision: string;
  /** The build that was measured beside this one. */
  readonly otherName: string | undefined;
}

const introduction = `# Performance

What an installation takes. The scrapes are compared with a program of your own with **prom-client**, the usual library for Node, that
exports the same series. They are scraped in turns on the same machine.

The exporter renders a target when it is polled, and compresses only what has changed since the last scrape. prom-client renders
every series at every scrape, so the gap grows with the number of series. With _polls of all kinds spread as in the demo_, a tenth of
the targets of all kinds was polled between two scrapes. The hour of _a small account_ is the second one of a process: its
polls and scrapes in five minutes, with intervals of a twelfth, and 55 idle minutes. [The other exporters](compared-with.md) ran on
the same account.
`;

/** sizing: the lines with measured figures. */
const advice = (sizing: readonly string[]) => `## Sizing

- **Memory**: take the figure for your number of series above, and set the limit to twice as much. \`sum(bunnynet_exporter_series)\`
  is the number of series, \`process_resident_memory_bytes\` the memory.
- **Node's own program** is part of that: some 35 MB in each process, 60 MB where the file of \`node\` was read or written as a whole before,
  as by a copy (Node 24.21, Linux 6.18). The kernel takes these pages back when memory is short.
- **Options of Node**: the image, the executable and \`npm start\` start Node with options that keep a small installation small. The
  npm package's command starts without them and takes about 45 MB more; the [unit](../deploy/systemd/bunnynet-exporter.service) shows
  how to give them to it.
${sizing.join('\n')}
- **Slow or failing API**: scrapes never wait for a poll, so they take no longer than usual.
- **Number of targets**: the API's request rate is the limit, not the exporter. At 5 requests a second, an API answers 300 polls a
  minute. The status page says when the rate is too low for your targets; [configuration.md](configuration.md) has the rates and
  intervals.

## A history

\`--backfill=30d\` of 100 pull zones with their statistics, at 200 requests a second of the API (100 of the command): 3,101 requests and
15.6 million samples in 38 s, 1,636 MB without labels and 2,430 MB with those of [backfill.md](backfill.md#load-it). With the options of
Node above it takes 134 MB of memory with Node 20 and 161 MB with Node 24, without them 167 and 289. \`NODE_OPTIONS=--max-semi-space-size=1\`
alone makes that 135 and 164.
`;

/** docs/performance.md */
export function renderForUsers(run: Run): string {
  return [
    introduction,
    ...tablesOf(run)
      .filter(({ isForUsers }) => isForUsers)
      .map((table) => renderTable(without(run.otherName, table))),
    advice(run.parts.flatMap(({ sizing }) => sizing ?? [])),
    '## About the figures',
    '',
    `Measured with ${ofRun(run)} On another machine the times differ, but the ratios are about the same; \`npm run bench\` measures yours.`,
    '',
  ].join('\n');
}

/** The table without the row or column of this name. */
function without(name: string | undefined, table: Table): Table {
  const isKept = (_: string, at: number) => at === 0 || table.columns[at] !== name;
  return {
    ...table,
    columns: table.columns.filter(isKept),
    rows: table.rows.filter(([first]) => first !== name).map((row) => row.filter(isKept)),
  };
}

/** bench/results.md */
export function renderResults(run: Run): string {
  const tables = [
    aimsTable(
      run.parts.flatMap(({ aims }) => aims),
      run.otherName,
    ),
    ...tablesOf(run),
  ];
  return `${[
    '# Results of the benchmark',
    '',
    `Written by \`npm run bench -- --write\`: ${ofRun(run)}`,
    `Load average of the machine before each part: ${run.loads.join(', ')}.`,
    '',
    ...tables.map(renderTable),
  ]
    .join('\n')
    .trimEnd()}\n`;
}

function tablesOf({ parts }: Run): readonly Table[] {
  return parts.flatMap(({ tables }) => tables);
}

function ofRun({ revision, minutes }: Run): string {
  const day = new Date().toISOString().slice(0, 10);
  return `revision ${revision}, ${machine()}, ${day}, a run of ${Math.round(minutes)} minutes.`;
}
