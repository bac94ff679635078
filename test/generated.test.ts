import { describe, expect, it } from 'vitest';
import { flagRows } from '../src/cli/flags.ts';
import { urlVariable } from '../src/config/apis.ts';
import { environmentSettings } from '../src/config/environment.ts';
import {
  isOfAccount,
  minStaleAfterIntervals,
  shortForms,
  staleAfterIntervals,
  takesAll,
} from '../src/config/schema.ts';
import { catalogue } from '../src/resources/catalogue.ts';
import { resources } from '../src/resources/index.ts';
import { apiNames, type Resource } from '../src/resources/resource.ts';
import { createTelemetry } from '../src/telemetry.ts';
import { formatDuration } from '../src/text.ts';
import { shellFiles } from './cli/shell-files.ts';
import { configJsonSchema } from './config/json-schema.ts';
import { inventory } from './inventory.ts';

/** A table row. Pipes are escaped because they would end a cell. */
const row = (...cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

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
    'Families with values from the API are gauges. Those that end in `_total` are counters, which the exporter calculates from the figures',
    'by day; only `bunnynet_application_container_restarts_total` is as the API counts it. A value that the API leaves out or sends as',
    'null has no series. A stale target keeps only `_up`, `_last_success_timestamp_seconds` and its calculated counters.',
    '[querying.md](querying.md) shows how to query the `_28d` and `_latest_day` families.',
    '',
    'The unit or window of some figures is not documented: latency, CPU, RAM and traffic of Magic Containers are read as their HELP says,',
    'and the days of Shield have an undocumented form. If one of them looks wrong, send us a [report](command.md#a-report): it shows what',
    'the API answers, without any value of your account.',
    '',
    ...sections,
    '## The exporter itself',
    '',
    row('family', 'type', 'meaning'),
    row('---', '---', '---'),
    ...own.map(({ name, type, help }) => row(`\`${name}\``, type, help)),
    '',
    "There are also prom-client's `process_*` and `nodejs_*` metrics, except those that `promtool check metrics` rejects. They are read at most once a second, so two scrapes within a second show the same values.",
    '',
  ].join('\n');
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
  return [
    '# Configuration',
    '',
    'Generated from the code by `npm run generate`; the tests fail when it is out of date.',
    '',
    '## With one key',
    '',
    'With only the key of an account, in `BUNNYNET_ACCESS_KEY` or in the file named by `BUNNYNET_ACCESS_KEY_FILE`, everything in the',
    'account is exported. Only `video_storage` stays off, because it costs a request for each video. Each kind has a variable for `all`',
    'or a list of ids: once you set one, only kinds whose variable is set are on. This file for `--config.file` does the same as the key',
    'alone:',
    '',
    '```yaml',
    'credentials:',
    '  account: { env: BUNNYNET_ACCESS_KEY }',
    'discovery:',
    '  interval: 10m            # between two polls of a listing that is not a kind of its own',
    '  kinds: all               # every kind without a section is on; default: none',
    '  except: [video_storage]',
    '```',
    '',
    '`--config.check` checks a file and the keys without calling the API, and says what is on. [An',
    'example](../config/bunnynet-exporter.example.yml) shows every kind of setting. Editors complete and check the file with [its JSON',
    'Schema](../config/bunnynet-exporter.schema.json) if it begins with',
    '`# yaml-language-server: $schema=…/bunnynet-exporter.schema.json`.',
    '',
    '## Selection',
    '',
    'Each kind has a section, whose name is often the plural of the kind: [the table](#kinds) has both. Without it the kind is off, unless',
    '`discovery` turns it on. With `targets: all`, a section selects from the found targets, and can change settings for single ones:',
    '',
    '```yaml',
    'applications:',
    '  targets: all',
    '  include: "prod-.*"         # a pattern or a list of them',
    '  exclude: [".*-preview"]    # wins over include',
    '  overrides:                 # by id: name, interval, stale_after',
    '    - { id: q7TzVb2, interval: 30s }',
    'api_guardian:',
    '  targets: all',
    '  parents: { include: "shop|www" }   # of these Shield Zones only',
    '```',
    '',
    'Patterns are in [RE2 syntax](https://github.com/google/re2/wiki/Syntax) and match the whole name or the whole id; `.` matches any',
    'character. A target with an id of two parts matches by the last part, or by both as `501/77`. Targets of one listing (`shield_zones`)',
    'are read together, so their overrides have no interval.',
    '',
    'A video library is read with the key from the listing of libraries, unless the section names the credential of a library. With several',
    'credentials, the libraries are listed with that of the first section of another API, else with the only one that no video section names.',
    '',
    '## Naming targets by hand',
    '',
    'Instead of `all`, `targets` can be a list. A target is its id, with `/` between two parts, or a mapping of its ids and `name`,',
    '`credential`, `interval`, `stale_after`. A list cannot have a selection.',
    '',
    '```yaml',
    'credentials:',
    '  account: { env: BUNNYNET_ACCESS_KEY }',
    '  library-4711: { file: /run/secrets/library-4711 }   # re-read when it changes',
    'applications:',
    '  credential: account',
    '  targets: [HbqFnk0KZjzYOcp, { id: q7TzVb2, name: storefront, interval: 30s }]',
    'api_guardian:',
    '  credential: account',
    '  targets: [501/77]',
    'video_storage:',
    '  credential: library-4711',
    '  targets: [{ library_id: 4711, video_id: 0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f, name: trailer }]',
    '```',
    '',
    '## Kinds',
    '',
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
    '',
    '## Settings',
    '',
    'Durations are written as in Prometheus (`30s`, `1h30m`). Unknown settings, duplicate targets, invalid patterns and keys that cannot be',
    'read are errors, reported with their lines: first every mistake of form, and where there is none, every mistake of meaning.',
    '',
    row('setting', 'default', ''),
    row('---', '---', '---'),
    ...rowsOf('credentials', 'discovery'),
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
    ...rowsOf('limits'),
    '',
    '## APIs',
    '',
    ...apis.table,
    '',
    '`HTTPS_PROXY` (without it `ALL_PROXY`) and `NO_PROXY` apply to requests to the APIs: the address of an HTTP proxy, and hosts or domains,',
    'with or without a port, or `*`. Plain http, which is for this machine, never goes through a proxy.',
    '',
    '## Environment, without a file',
    '',
    'The keys. What to poll is in the variables of the [kinds](#kinds), with commas between ids; addresses are in those of the [APIs](#apis).',
    '',
    row('variable', ''),
    row('---', '---'),
    ...environmentSettings(resources)
      .filter(({ variable }) => !listed.has(variable))
      .map(({ variable, help }) => row(`\`${variable}\``, help)),
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
  ].join('\n');
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
});
