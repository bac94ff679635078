import { describe, expect, it } from 'vitest';
import { flagRows } from '../src/cli/flags.ts';
import { environmentSettings } from '../src/config/environment.ts';
import { configJsonSchema } from '../src/config/json-schema.ts';
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
    listings: () => [],
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
    'All families with values from the API are gauges. A value that the API leaves out or sends as null has no series. A stale',
    'target keeps only `_up` and `_last_success_timestamp_seconds`. [querying.md](querying.md) shows how to query the `_28d` and',
    '`_latest_day` families.',
    '',
    ...sections,
    '## The exporter itself',
    '',
    row('family', 'type', 'meaning'),
    row('---', '---', '---'),
    ...own.map(({ name, type, help }) => row(`\`${name}\``, type, help)),
    '',
    'There are also the `process_*` and `nodejs_*` metrics of prom-client, except those that `promtool check metrics` rejects.',
    '',
  ].join('\n');
}

interface SchemaNode {
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

/** A row for each setting with a description, by its path. */
function settingRows(node: SchemaNode, path: string): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, setting]) => {
    const name = path === '' ? key : `${path}.${key}`;
    const preset = setting.default === undefined ? '' : `\`${String(setting.default)}\``;
    const own = setting.description ? [row(`\`${name}\``, preset, setting.description)] : [];
    return [...own, ...settingRows(setting, name)];
  });
}

function configurationReference(): string {
  return [
    '# Configuration',
    '',
    'Generated from the code by `npm run generate`; the tests fail when it is out of date.',
    '',
    '[An example](../config/bunnynet-exporter.example.yml) with every section, and',
    '[the JSON Schema](../config/bunnynet-exporter.schema.json) by which editors complete and check it: begin the file with',
    '`# yaml-language-server: $schema=…/bunnynet-exporter.schema.json`.',
    '',
    '## Flags',
    '',
    'A flag wins over its variable. `BUNNYNET_WEB_LISTEN_ADDRESS` takes several addresses, separated by commas.',
    '',
    row('flag', 'variable', 'default', ''),
    row('---', '---', '---', '---'),
    ...flagRows.map(({ usage, variable, default: preset, help }) =>
      row(`\`${usage}\``, `\`${variable}\``, preset === undefined ? '' : `\`${preset}\``, help),
    ),
    '',
    '## Environment, without a file',
    '',
    row('variable', ''),
    row('---', '---'),
    ...environmentSettings(resources).map(({ variable, help }) => row(`\`${variable}\``, help)),
    '',
    '`HTTPS_PROXY` and `NO_PROXY` apply to requests to the APIs; plain http, meant for this machine, never goes through a proxy.',
    '',
    '## The file',
    '',
    'A section that is absent is off. Durations are written as in Prometheus (`30s`, `1h30m`). A target is its id, or',
    '`{ <its ids>, name, credential, interval, stale_after }`. An unknown key, a duplicate target and a key that cannot',
    'be read are errors, reported with their line.',
    '',
    row('setting', 'default', ''),
    row('---', '---', '---'),
    ...settingRows(configJsonSchema(resources) as SchemaNode, ''),
    '',
  ].join('\n');
}

describe('generated documentation', () => {
  it('docs/configuration.md lists every flag, variable and setting as the code declares it', async () => {
    await expect(configurationReference()).toMatchFileSnapshot('../docs/configuration.md');
  });

  it('docs/metrics.md lists every family as the code declares it', async () => {
    await expect(await metricReference()).toMatchFileSnapshot('../docs/metrics.md');
  });
});
