import { describe, expect, it } from 'vitest';
import { catalogue } from '../src/resources/catalogue.ts';
import { resources } from '../src/resources/index.ts';
import { createTelemetry } from '../src/telemetry.ts';

/** Cells of a table: pipes would end them. */
const row = (...cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** The exporter's own families, less those of the process and of Node, from what it renders. */
async function ownFamilies() {
  const telemetry = createTelemetry([], {
    targets: () => 0,
    staleTargets: () => 0,
    series: () => 0,
    droppedSeries: () => 0,
  });
  telemetry.requested('application', '200', 0.1);
  const text = await telemetry.render('text');
  return [...text.matchAll(/^# HELP (bunnynet_\w+) (.*)\n# TYPE \w+ (\w+)$/gm)].map(
    ([, name, help, type]) => ({
      name: name ?? '',
      help: help ?? '',
      type: type ?? '',
    }),
  );
}

async function metricReference(): Promise<string> {
  const sections = resources.map((resource) => {
    const families = catalogue.filter(({ kind }) => kind === resource.kind);
    return [
      `## \`${resource.kind}\` (section \`${resource.section}\` of the configuration)`,
      '',
      row('family', 'labels', 'meaning'),
      row('---', '---', '---'),
      ...families.map(({ name, allLabels, help }) =>
        row(`\`${name}\``, allLabels.map((label) => `\`${label}\``).join(', '), help),
      ),
      '',
    ].join('\n');
  });
  const own = await ownFamilies();
  return [
    '# Metrics',
    '',
    'Generated from the code by `npm run generate`; the tests fail when it is out of date.',
    '',
    'All families of the API are gauges. A value that the API leaves out or sends as null has no series, and once a target',
    'is stale only `_up` and `_last_success_timestamp_seconds` are left of it. How to query the figures of 28 days and of the',
    'latest day: [querying.md](querying.md).',
    '',
    ...sections,
    '## The exporter itself',
    '',
    row('family', 'type', 'meaning'),
    row('---', '---', '---'),
    ...own.map(({ name, type, help }) => row(`\`${name}\``, type, help)),
    '',
    'With `process_*` and `nodejs_*` of prom-client, less those that `promtool check metrics` rejects.',
    '',
  ].join('\n');
}

describe('generated documentation', () => {
  it('docs/metrics.md lists every family as the code declares it', async () => {
    await expect(await metricReference()).toMatchFileSnapshot('../docs/metrics.md');
  });
});
