/** The two pages that a whole run writes: one for users, and one with all figures and the project's aims. */
import { aimsTable, machine, type Part, renderTable } from './report.ts';

export interface Run {
  readonly parts: readonly Part[];
  /** The load of the machine before each part. */
  readonly loads: readonly string[];
  readonly minutes: number;
  readonly revision: string;
}

const introduction = `# Performance

What an installation takes, compared with two other ways to export the same metrics: your own program with **prom-client**,
the usual library for Node, or a script that pushes to Prometheus' **pushgateway**, which uses Go's library. All three have the
same series with the same values and are scraped with gzip, in turns, on the same machine.

The exporter keeps the page and only renders and compresses what polls have changed. The others render every series at every
scrape, so the gap grows with the number of series.
`;

const advice = `## Sizing

- **Memory**: take the figure for your number of series above, and set the limit to twice as much. \`sum(bunnynet_exporter_series)\`
  is the number of series, \`process_resident_memory_bytes\` the memory.
- **Options of Node**: the image, the executable and \`npm start\` start Node with options that keep a small installation small. The
  npm package's command starts without them and takes about 45 MB more; the [unit](../deploy/systemd/bunnynet-exporter.service) shows
  how to give them to it.
- **CPU**: a poll takes about 0.1 ms, so 1,000 targets polled every minute take 0.17 % of one core.
- **Slow or failing API**: scrapes never wait for a poll, so they take no longer than usual.
- **Number of targets**: the API's request rate is the limit, not the exporter. At 5 requests a second, an API answers 300 polls a
  minute. The status page says when the rate is too low for your targets; [configuration.md](configuration.md) has the rates and
  intervals, and [shards](kubernetes.md#shards) split a large account.
`;

/** docs/performance.md */
export function renderForUsers(run: Run): string {
  return [
    introduction,
    ...tables(run.parts.flatMap(({ forUsers = [] }) => forUsers)),
    advice,
    '## About the figures',
    '',
    `Measured with ${ofRun(run)} On another machine the times differ, but the ratios are about the same; \`npm run bench\` measures yours.`,
    '',
  ].join('\n');
}

/** bench/results.md */
export function renderResults(run: Run): string {
  return [
    '# Results of the benchmark',
    '',
    `Written by \`npm run bench -- --write\`: ${ofRun(run)}`,
    `Load average of the machine before each part: ${run.loads.join(', ')}.`,
    '',
    "The exporter's own figure comes first. Those of the others are multiples of it: `90 ×` under prom-client means that prom-client",
    'took ninety times as long, `0.8 ×` that it took less. The static Buffer is a `node:http` server that sends the page from memory,',
    'compressed beforehand, which is the minimum for Node. A fifth changed means that a fifth of the applications was polled',
    'between two scrapes, one after the other, as by the scheduler. CPU is the time of all threads of the process.',
    '',
    ...tables([
      aimsTable(run.parts.flatMap(({ aims }) => aims)),
      ...run.parts.flatMap((part) => part.tables),
    ]),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function tables(all: Parameters<typeof renderTable>[0][]): readonly string[] {
  return all.map(renderTable);
}

function ofRun({ revision, minutes }: Run): string {
  const day = new Date().toISOString().slice(0, 10);
  return `revision ${revision}, ${machine()}, ${day}, a run of ${Math.round(minutes)} minutes.`;
}
