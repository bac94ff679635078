/** docs/performance.md: the tables of a whole run, and how to read them. */
import { type Aim, aimsTable, machine, type Part, renderTable } from './report.ts';

const title = `# Performance

A scrape sends bytes that are there already. This page says how far that goes: it was written by
\`npm run bench -- --write\`, and every figure on it comes from the one run that is named below.
Run \`npm run bench\` for figures of your machine; it takes about twenty minutes, less with \`--quick\` or \`--only\`.
`;

const reading = `## How to read it

Milliseconds and megabytes say something about one machine on one day. So the tables give the exporter's own figure
and, for everything else, a **multiple** of it: \`90 ×\` under prom-client means that prom-client took ninety times what the
exporter took, \`0.8 ×\` that it took less. All contenders run at the same time on the same machine and take turns within
each round; medians are medians of rounds. The load generator is a process of its own, on a kept connection.

The contenders hold the same families with the same values, which is checked before they are measured:

- **exporter**: the exporter's store, handler and web server, fed with readings of the simulated API. The figure in the
  table covers its own metrics on the page too.
- **static Buffer**: a \`node:http\` server that sends the exporter's page as bytes that never change, compressed
  beforehand for gzip. Nothing in Node can be cheaper; it is the floor.
- **prom-client**: the usual way. A gauge a family; the page is rendered, and compressed with zlib's default level, at
  every scrape.
- **pushgateway**: Debian's \`prometheus-pushgateway\`, which stands for Go's client library. It adds two labels to each
  series, and renders everything at every scrape too.

What changes between two scrapes: *nothing*; *a fifth* of the applications, consecutive ones, as the scheduler polls
them in turn; or *any fifth*, picked without order, which no schedule does and which touches most blocks of the page.
CPU is the time of all threads of the serving process, so it includes compression off the event loop.
`;

export interface Run {
  readonly parts: readonly Part[];
  /** What was measured when, with the load of the machine before it. */
  readonly loads: readonly string[];
  readonly minutes: number;
  readonly revision: string;
}

export function renderDocument({ parts, loads, minutes, revision }: Run): string {
  const aims = parts.flatMap((part) => part.aims);
  return [
    title,
    '## What to expect',
    '',
    ...parts.flatMap(({ words = [] }) => words.map((sentence) => `- ${sentence}`)),
    '',
    reading,
    '## The run',
    '',
    `Revision ${revision}, ${machine()}, ${new Date().toISOString().slice(0, 10)}, ${Math.round(minutes)} minutes.`,
    `Load average of the machine before each part: ${loads.join(', ')}.`,
    '',
    missed(aims),
    '',
    [aimsTable(aims), ...parts.flatMap((part) => part.tables)].map(renderTable).join('\n').trimEnd(),
    '',
  ].join('\n');
}

/** What falls short, in words. */
function missed(aims: readonly Aim[]): string {
  const short = aims.filter(({ met }) => !met);
  if (short.length === 0) return 'Every aim was met in this run.';
  const lines = short.map(
    ({ what, wanted, measured, why }) =>
      `- ${what}: ${measured}, where ${wanted} was wanted.${why === undefined ? '' : ` ${why}`}`,
  );
  return [`${short.length} of ${aims.length} aims were missed in this run:`, '', ...lines].join('\n');
}
