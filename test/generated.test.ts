import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { demoSeries, flagRows } from '../src/cli/flags.ts';
import { environmentSettings, urlVariable } from '../src/config/environment.ts';
import {
  isOfAccount,
  minStaleAfterIntervals,
  shortForms,
  staleAfterIntervals,
  takesAll,
  thingLabelOf,
  thingLabels,
} from '../src/config/schema.ts';
import { allLabelsOf, catalogue } from '../src/resources/catalogue.ts';
import { resources } from '../src/resources/kinds/index.ts';
import { apiNames, type Resource, type WithoutDays } from '../src/resources/resource.ts';
import { createTelemetry } from '../src/telemetry.ts';
import { count, formatDuration } from '../src/text.ts';
import { shellFiles } from './cli/shell-files.ts';
import { configJsonSchema } from './config/json-schema.ts';
import { inventory } from './inventory.ts';

/** A table row. Pipes are escaped because they would end a cell. */
const row = (...cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** A page with new rows in the first table below each of these headings. */
function withTables(page: string, tables: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(tables).reduce((text, [heading, rows]) => {
    const [before, after] = text.split(`\n## ${heading}\n`);
    if (after === undefined) throw new Error(`the page has no heading ${heading}`);
    return `${before}\n## ${heading}\n${after.replace(/^(\|.*\n)+/m, () => `${rows.join('\n')}\n`)}`;
  }, page);
}

/** The exporter's own families as it renders them, without those of the process and of Node. */
async function ownFamilies() {
  const telemetry = createTelemetry([], inventory);
  telemetry.requested('application', '200', 0.1);
  const text = Buffer.concat(await telemetry.render('text')).toString();
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
      ...families.map((family) => {
        const labels = allLabelsOf(family).map((label) => `\`${label}\``);
        return row(`\`${family.name}\``, labels.join(', '), family.help);
      }),
      '',
    ].join('\n');
  });
  const page = readFileSync('docs/metrics.md', 'utf8').replace(
    /^## `[\s\S]*(?=^## The exporter itself)/m,
    () => `${sections.join('\n')}\n`,
  );
  const own = await ownFamilies();
  return withTables(page, {
    'Where a counter begins': [
      row('kind', 'counters of', 'an answer without any day'),
      row('---', '---', '---'),
      ...resources.flatMap((resource) => beginningRows(resource)),
    ],
    'The exporter itself': [
      row('family', 'type', 'meaning'),
      row('---', '---', '---'),
      ...own.map(({ name, type, help }) => row(`\`${name}\``, type, help)),
    ],
  });
}

/** What an answer without any day means: a row for each meaning that a kind has. */
function beginningRows({ kind, families }: Resource): readonly string[] {
  const byMeaning = new Map<string, string[]>();
  for (const { name, withoutDays, fields } of families) {
    if (!withoutDays) continue;
    const meaning = meaningOf(withoutDays, fields);
    const counter = `\`${name.replace('bunnynet_', '')}\``;
    byMeaning.set(meaning, [...(byMeaning.get(meaning) ?? []), counter]);
  }
  return [...byMeaning].map(([meaning, counters]) => row(`\`${kind}\``, counters.join(', '), meaning));
}

function meaningOf(withoutDays: readonly WithoutDays[], fields: readonly string[]): string {
  const [first] = withoutDays;
  if (first === 'none') return 'nothing was counted';
  if (first === 'unknown' || first === undefined) return 'says nothing';
  const named = (names: readonly (string | undefined)[]) =>
    [...new Set(names.flatMap((name) => (name === undefined ? [] : [`\`${name}\``])))].join(', ');
  const told = withoutDays.filter((one) => typeof one === 'object');
  const [sums, wholes] = [named(told.map(({ sum }) => sum)), named(told.map(({ whole }) => whole))];
  const ofOwn = fields.length > 1 && sums.includes(',') ? 'its own sum' : sums;
  return [
    `nothing was counted where ${ofOwn} is 0`,
    ...(wholes === '' ? [] : [`the other charts add up to ${wholes}`]),
  ].join(', or ');
}

interface SchemaNode {
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

/** A row for each setting that has a description, by its path. */
function settingRows(node: SchemaNode, path: string): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, setting]) => {
    const name = path === '' ? key : `${path}.${key}`;
    const own = setting.description ? [row(`\`${name}\``, presetOf(setting), setting.description)] : [];
    return [...own, ...settingRows(setting, name)];
  });
}

/** The default, and what else it can be: `latest` (or `points`, `off`). */
function presetOf({ default: preset, enum: values = [] }: SchemaNode): string {
  const others = values.filter((value) => value !== preset).map((value) => `\`${value}\``);
  const rest = others.length > 0 ? ` (or ${others.join(', ')})` : '';
  return preset === undefined ? '' : `\`${String(preset)}\`${rest}`;
}

/** Every API has the same settings: a row for each, and a table of the defaults that differ. */
function apiReference({ properties = {} }: SchemaNode) {
  const apis = apiNames.map((api) => ({ api, settings: properties[api]?.properties ?? {} }));
  const shared = Object.entries(apis[0]?.settings ?? {});
  const presets = (key: string) => apis.map(({ settings }) => presetOf(settings[key] ?? {}));
  const differing = shared.map(([key]) => key).filter((key) => new Set(presets(key)).size > 1);
  return {
    rows: shared.map(([key, setting]) => {
      const preset = differing.includes(key) ? '[by API](#apis)' : presetOf(setting);
      return row(`\`apis.<api>.${key}\``, preset, setting.description ?? '');
    }),
    table: [
      row('api', ...differing.map((key) => `\`${key}\``), 'variable of the address'),
      row('---', ...differing.map(() => '---'), '---'),
      ...apis.map(({ api, settings }) =>
        row(
          `\`${api}\``,
          ...differing.map((key) => presetOf(settings[key] ?? {})),
          `\`${urlVariable(api)}\``,
        ),
      ),
    ],
  };
}

/** Settings of every section, explained once instead of for each kind. */
const commonSettings: readonly string[] = [
  'credential',
  'interval',
  'stale_after',
  'targets',
  'include',
  'exclude',
  'parents',
  'overrides',
];

function kindsText(kinds: readonly Resource[]): string {
  return kinds.map(({ kind }) => `\`${kind}\``).join(', ');
}

function configurationReference(): string {
  const schema = configJsonSchema(resources) as SchemaNode;
  const rowsOf = (...keys: readonly string[]) =>
    settingRows(
      { properties: Object.fromEntries(keys.map((key) => [key, schema.properties?.[key] ?? {}])) },
      '',
    );
  const apis = apiReference(schema.properties?.['apis'] ?? {});
  const listed = new Set([...resources.map(({ environment }) => environment), ...apiNames.map(urlVariable)]);
  const own = resources.flatMap(({ section }) => {
    const settings = Object.entries(schema.properties?.[section]?.properties ?? {});
    const properties = Object.fromEntries(settings.filter(([key]) => !commonSettings.includes(key)));
    return settingRows({ properties }, section);
  });
  return withTables(readFileSync('docs/configuration.md', 'utf8'), {
    Kinds: [
      row('section', 'kind', 'variable', 'targets', 'interval'),
      row('---', '---', '---', '---', '---'),
      ...resources.map((resource) =>
        row(
          `\`${resource.section}\``,
          `\`${resource.kind}\``,
          `\`${resource.environment}\``,
          targetsText(resource),
          formatDuration(resource.defaultIntervalSeconds * 1000),
        ),
      ),
    ],
    'Leaving a thing out everywhere': [
      row('id', 'left out of'),
      row('---', '---'),
      ...thingLabels(resources).map((label) =>
        row(`\`${label}\``, kindsText(resources.filter((resource) => thingLabelOf(resource) === label))),
      ),
      row('', `never: ${kindsText(resources.filter(isOfAccount))}`),
    ],
    Settings: [
      row('setting', 'default', ''),
      row('---', '---', '---'),
      ...rowsOf('credentials', 'accounts', 'interval_factor', 'discovery'),
      row('`<section>.credential`', '', 'The credential; optional if only one is defined'),
      row('`<section>.interval`', '', 'Time between two polls of a target; the defaults are above'),
      row(
        '`<section>.stale_after`',
        '',
        `Age after which a target's values are no longer exported, at least ${minStaleAfterIntervals} times the interval; default: ${staleAfterIntervals} times`,
      ),
      row('`<section>.targets`', '', 'What to poll: all, or a list'),
      row('`<section>.include`, `.exclude`', '', 'With all: patterns of targets to select and to leave out'),
      row(
        '`<section>.parents`',
        '',
        'With all: `{ include, exclude }` for the zones or libraries of the targets',
      ),
      row('`<section>.overrides`', '', 'With all: a list of ids with `name`, `interval`, `stale_after`'),
      ...own,
      ...apis.rows,
    ],
    APIs: apis.table,
    'Environment, without a file': [
      row('variable', ''),
      row('---', '---'),
      ...environmentSettings(resources)
        .filter(({ variable }) => !listed.has(variable))
        .map(({ variable, help }) => row(`\`${variable}\``, help)),
    ],
    Flags: [
      row('flag', 'variable', 'default', ''),
      row('---', '---', '---', '---'),
      ...flagRows.map(({ usage, variable, default: preset, help }) =>
        row(`\`${usage}\``, `\`${variable}\``, preset === undefined ? '' : `\`${preset}\``, help),
      ),
    ],
  });
}

/** `all, or a list of ids` */
function targetsText(resource: Resource): string {
  if (isOfAccount(resource)) return "all: the credential's account";
  return `${takesAll(resource) ? 'all, or ' : ''}a list of ${shortForms(resource)}`;
}

describe('generated documentation', () => {
  it('docs/configuration.md lists every flag, variable and setting as the code declares it', async () => {
    await expect(configurationReference()).toMatchFileSnapshot('../docs/configuration.md');
  });

  it.each(shellFiles)('share/%s has every flag as the code declares it', async (path, text) => {
    await expect(text()).toMatchFileSnapshot(`../share/${path}`);
  });

  it('docs/metrics.md lists every family as the code declares it', async () => {
    await expect(await metricReference()).toMatchFileSnapshot('../docs/metrics.md');
  });

  it('README.md has the numbers of series of the larger demos', () => {
    const { medium, full } = demoSeries;
    expect(readFileSync('README.md', 'utf8').replaceAll('\n', ' ')).toContain(
      `\`--demo.scale=medium\` and \`full\` serve ${count(medium)} and ${count(full)} series`,
    );
  });
});

it('docs/configuration.md says of each kind which key suffices, once', () => {
  const [, table = ''] =
    /## A key with fewer rights\n[\s\S]*?\n(\| kinds [\s\S]*?)\n\n/.exec(
      readFileSync('docs/configuration.md', 'utf8'),
    ) ?? [];
  const named = table
    .split('\n')
    .slice(2)
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, kind = '']) => kind));
  expect(named.toSorted()).toEqual(resources.map(({ kind }) => kind).toSorted());
});
