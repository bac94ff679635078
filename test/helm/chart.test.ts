import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { buildChartRules } from '../../monitoring/src/rule-files.ts';
import { settingsJsonSchema } from '../../monitoring/src/rule-settings.ts';
import { flagVariables } from '../../src/cli/flags.ts';
import { environmentSettings } from '../../src/config/environment.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { configJsonSchema, withDefinitions, withoutDefinitions } from '../config/json-schema.ts';
import { defaultsFile, valuesTable } from './values-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const chart = `${root}helm/bunnynet-exporter`;

/**
 * The program's schema as Helm can use it: with credentials optional, because the chart adds them, and with integers limited
 * to those that Helm, which only has doubles, does not change.
 */
function forHelm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forHelm);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, forHelm(value)]));
  delete copy['$schema'];
  const { type, maximum, required } = copy;
  const numeric = [type].flat().some((name) => name === 'integer' || name === 'number');
  if (numeric && maximum === undefined) copy['maximum'] = Number.MAX_SAFE_INTEGER;
  if (Array.isArray(required) && required.includes('credentials')) delete copy['required'];
  return copy;
}

/** Helm shows the pattern that a text does not match. For a duration the schema is written so that it shows what is expected. */
function sayingDuration(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(sayingDuration);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { pattern, minLength, ...rest } = schema as {
    readonly pattern?: unknown;
    readonly minLength?: unknown;
  };
  if (typeof pattern === 'string' && /\(ms\b|ms\)/.test(pattern)) {
    const matched = { ...(minLength === undefined ? {} : { minLength }), pattern };
    return { ...rest, if: matched, else: { const: 'a duration, such as 30s' } };
  }
  // The pattern of what is written so already stays.
  if ('if' in schema) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, sayingDuration(value)]));
}

describe('the chart', () => {
  test('checks the configuration with the schema of the program', async () => {
    const path = `${chart}/values.schema.json`;
    const schema = JSON.parse(readFileSync(path, 'utf8')) as {
      definitions: Record<string, unknown>;
      properties: { prometheusRule: { properties: object } };
    };
    const program = sayingDuration(forHelm(configJsonSchema(resources))) as Record<string, unknown>;
    const at = '#/definitions/exporter';
    const exporter = withDefinitions(program, at);
    expect(withoutDefinitions(exporter, at)).toEqual(program);
    schema.definitions['exporter'] = exporter;
    const rules = settingsJsonSchema();
    Object.assign(schema.properties.prometheusRule.properties, rules.properties);
    Object.assign(schema.definitions, rules.definitions);
    await expect(`${JSON.stringify(sayingDuration(schema), null, 2)}\n`).toMatchFileSnapshot(path);
  });

  test('knows the sections whose keys are those of video libraries', () => {
    const shared = readFileSync(`${chart}/templates/_shared.tpl`, 'utf8');
    const [, left = ''] = /withoutVideos" -}}\n{{- omit \. (.+) \| toJson/.exec(shared) ?? [];
    const ofVideos = resources.filter(({ api }) => api === 'video').map(({ section }) => `"${section}"`);
    expect(left.split(' ').sort()).toEqual(ofVideos.sort());
  });

  test('knows the variables that do not say what a sidecar polls', () => {
    const sidecar = readFileSync(`${chart}/templates/_sidecar.tpl`, 'utf8');
    const [, pattern = ''] = /regexMatch "(.+?)"/.exec(sidecar) ?? [];
    const ofKinds = new Set(resources.map(({ environment }) => environment));
    const keysAndAddresses = environmentSettings(resources).map(({ variable }) => variable);
    const all = [
      ...keysAndAddresses,
      ...flagVariables.filter((each) => /_(LOG|WEB|STATE)_/.test(each)),
    ].filter((each) => !ofKinds.has(each));
    expect(all.length).toBeGreaterThan(15);
    expect(all.filter((variable) => !new RegExp(pattern).test(variable))).toEqual([]);
    expect([...ofKinds].filter((variable) => new RegExp(pattern).test(variable))).toEqual([]);
  });

  test('documents every value', async () => {
    const [prose] = readFileSync(`${chart}/README.md`, 'utf8').split(/(?<=^## Values\n)/m);
    const table = valuesTable(readFileSync(`${chart}/values.yaml`, 'utf8'));
    await expect(`${prose}\n${table}\n`).toMatchFileSnapshot(`${chart}/README.md`);
  });

  test('knows its defaults, for values that are set to nothing', async () => {
    const text = defaultsFile(readFileSync(`${chart}/values.yaml`, 'utf8'));
    await expect(text).toMatchFileSnapshot(`${chart}/files/defaults.yaml`);
  });

  test('ships the dashboards of the project', async () => {
    const dashboards = buildDashboards();
    for (const [name, dashboard] of dashboards) {
      await expect(`${JSON.stringify(dashboard, null, 2)}\n`).toMatchFileSnapshot(
        `${chart}/dashboards/${name}`,
      );
    }
    expect([...dashboards.keys()]).toEqual(expect.arrayContaining(readdirSync(`${chart}/dashboards`)));
  });

  test('ships the rules of the project as templates for its values', async () => {
    const rules = buildChartRules();
    for (const [name, text] of rules) await expect(text).toMatchFileSnapshot(`${chart}/rules/${name}`);
    expect([...rules.keys()]).toEqual(expect.arrayContaining(readdirSync(`${chart}/rules`)));
  });

  test('has the version of the program', () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
    expect(parseYaml(readFileSync(`${chart}/Chart.yaml`, 'utf8'))).toMatchObject({
      version,
      appVersion: version,
    });
  });

  test('says where it comes from and who maintains it, for Artifact Hub', () => {
    const metadata = parseYaml(readFileSync(`${chart}/Chart.yaml`, 'utf8')) as {
      home: string;
      sources: readonly string[];
      maintainers: readonly { name: string; url: string }[];
      annotations: Record<string, string>;
    };
    const repository = 'https://github.com/bunnynet-exporter/bunnynet-exporter';
    expect(metadata).toMatchObject({ home: repository, sources: [repository] });
    expect(metadata.maintainers).toEqual([
      { name: expect.any(String) as string, url: expect.stringContaining('https://') as string },
    ]);
    const lists = ['artifacthub.io/images', 'artifacthub.io/links'].map((name): unknown =>
      parseYaml(metadata.annotations[name] ?? ''),
    ) as { name: string }[][];
    for (const list of lists) for (const { name } of list) expect(name).toBeTruthy();
    const changes = parseYaml(metadata.annotations['artifacthub.io/changes'] ?? '') as unknown;
    const kind = expect.stringMatching(/^(added|changed|deprecated|removed|fixed|security)$/) as string;
    const description = expect.stringMatching(/\w/) as string;
    expect(changes).toEqual(expect.arrayContaining([{ kind, description }]));
    for (const change of changes as unknown[]) expect(change).toEqual({ kind, description });
    for (const url of JSON.stringify(lists).matchAll(/blob\/main\/([^"]+)/g)) {
      expect(existsSync(`${root}${url[1]}`), url[1]).toBe(true);
    }
  });

  test('has its icon in this repository', () => {
    const { icon } = parseYaml(readFileSync(`${chart}/Chart.yaml`, 'utf8')) as { icon: string };
    const [, path = ''] =
      /^https:\/\/raw\.githubusercontent\.com\/[^/]+\/[^/]+\/main\/(.+)$/.exec(icon) ?? [];
    expect(readFileSync(`${root}${path}`, 'utf8')).toContain('<svg');
  });

  test.each([
    ['deploy/kustomize/sidecar/sidecar.yaml', /image: \S+\/bunnynet-exporter:(\S+)/],
    ['deploy/compose/compose.yaml', /image: \S+\/bunnynet-exporter:(\S+)/],
    ['deploy/quadlet/bunnynet-exporter.container', /Image=\S+\/bunnynet-exporter:(\S+)/],
    ['helm/bunnynet-exporter/Chart.yaml', /image: \S+\/bunnynet-exporter:(\S+)/],
    ['deploy/helm-sidecar/Chart.yaml', /- name: bunnynet-exporter\n {4}version: (\S+)/],
  ])('has its version repeated by %s', (file, expression) => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
    expect(expression.exec(readFileSync(`${root}${file}`, 'utf8'))?.[1]).toBe(version);
  });
});
