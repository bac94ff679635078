import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { runs } from '../runs.ts';
import { account, env, fewKinds, problemsOf } from './fixtures.ts';
import { configJsonSchema, withDefinitions, withoutDefinitions } from './json-schema.ts';

const folder = fileURLToPath(new URL('../../config/', import.meta.url));
const schema = withDefinitions(configJsonSchema(resources));
/** By day those that the documents name: to compile the schema of all kinds takes half a second. */
const kinds = runs([...fewKinds, ...resources.filter(({ kind }) => kind === 'pull_zone')], resources);
const validate = new Ajv({ allErrors: true, allowUnionTypes: true, code: { optimize: false } }).compile(
  withDefinitions(configJsonSchema(kinds)),
);

/** The file as an editor reads it: with the types that YAML gives to unquoted values. */
function accepts(yaml: string): boolean {
  return validate(parse(yaml));
}

test('the shipped schema is the generated one', async () => {
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    `${folder}bunnynet-exporter.schema.json`,
  );
});

test('says the same as without its definitions, in less than two fifths of its length', () => {
  expect(withoutDefinitions(schema)).toEqual(configJsonSchema(resources));
  const lengthOf = (one: object) => JSON.stringify(one).length;
  expect(lengthOf(schema)).toBeLessThan(lengthOf(configJsonSchema(resources)) / 2.5);
});

test('has only patterns for editors and tools in any language: those of RE2, which Go and Rust have', () => {
  const patterns = [...JSON.stringify(schema).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)];
  const texts = new Set(patterns.map(([, text = '']) => JSON.parse(text) as string));
  expect(texts.size).toBeGreaterThan(5);
  for (const text of texts) expect(() => RE2JS.compile(text), text).not.toThrow();
});

describe('the example', () => {
  const file = `${folder}bunnynet-exporter.example.yml`;

  test('loads without problems or warnings, and turns on everything but videos', async () => {
    const { BUNNYNET_ACCESS_KEY } = env;
    const { config, warnings } = await loadConfig({ file, env: { BUNNYNET_ACCESS_KEY }, resources });
    expect(warnings).toEqual([]);
    expect(config.sections.map(({ kind }) => kind)).toEqual(
      resources.filter(({ isCostly }) => !isCostly).map(({ kind }) => kind),
    );
  });

  test('is valid in editors, and names the schema for them', async () => {
    const text = await readFile(file, 'utf8');
    expect(accepts(text), JSON.stringify(validate.errors)).toBe(true);
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./bunnynet-exporter.schema.json');
  });
});

test('every file in the documentation is valid in editors', async () => {
  const text = await readFile(`${folder}../docs/configuration.md`, 'utf8');
  const files = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const whole = file.startsWith('credentials:') ? file : `${account}${file}`;
    expect(accepts(whole), JSON.stringify(validate.errors)).toBe(true);
  }
});

const applications = 'applications: { targets: [a] }\n';

describe('loader and schema accept', () => {
  test.each([
    'applications: { targets: [a, 0123, 1e5, 1.5, true, { id: 5, name: 5, interval: 1h30m, stale_after: 1d }] }',
    'shield_zones: { targets: [501, "502", 1e+06, { id: 503 }, { id: "504", credential: account }] }',
    'api_guardian: { targets: [501/77, { shield_zone_id: 501, endpoint_id: 78, name: POST /checkout }] }',
    'video_storage: { targets: [{ library_id: 4711, video_id: 0F8C3F9E-1b2a-4c3d-8e4f-5a6b7c8d9e0f }] }',
    `${applications}apis: { shield: { timeout: 3s, max_concurrency: 4, requests_per_second: 0.5, max_retries: 0 } }`,
    `${applications}apis: { shield: { max_response_bytes: 1048576, allow_insecure_http: true } }`,
    `${applications}apis: { video: { max_response_bytes: 1 MiB, base_url: "http://[::1]:80/x" } }`,
    'applications: { targets: [a], latency_unit: seconds, latency_chart: "off" }',
    'applications: { targets: all, include: "prod-.*", exclude: [5, true, ".*-preview"] }',
    'applications: { targets: all, overrides: [{ id: 5, name: x, interval: 30s, stale_after: 1m }] }',
    'video_storage: { targets: all, overrides: [{ library_id: 1, video_id: 0F8C3F9E-1b2a-4c3d-8e4f-5a6b7c8d9e0f, name: x }] }',
  ])('%s', async (text) => {
    expect(await problemsOf(`${account}${text}`)).toEqual([]);
    expect(accepts(`${account}${text}`), JSON.stringify(validate.errors)).toBe(true);
  });
});

describe('loader and schema refuse', () => {
  test.each([
    `credentials: { a: { env: a-b } }\n${applications}`,
    `credentials: { a: { env: A, file: b } }\n${applications}`,
    `credentials: { "a b": { env: BUNNYNET_ACCESS_KEY } }\n${applications}`,
    `${account}applications: {}`,
    `${account}discovery: { kinds: some }`,
    `${account}discovery: { kinds: all, except: [videos] }`,
    `${account}applications: { targets: all, include: "" }`,
    `${account}applications: { targets: all, overrides: [a] }`,
    `${account}shield_zones: { targets: all, overrides: [{ id: 1, interval: 1m }] }`,
    `${account}applications: { targets: [a b] }`,
    `${account}applications: { targets: [a], interval: 1 minute }`,
    `${account}applications: { targets: [a], interval: 5x }`,
    `${account}applications: { targets: [a], interval: "" }`,
    `${account}applications: { targets: [a], latency_unit: minutes }`,
    `${account}shield_zones: { targets: [1.5] }`,
    `${account}api_guardian: { targets: [501] }`,
    `${account}video_storage: { targets: [{ library_id: 4711, video_id: abc }] }`,
    `${account}${applications}apis: { other: {} }`,
    `${account}${applications}apis: { video: { max_retries: 99 } }`,
    `${account}${applications}apis: { video: { base_url: video.bunnycdn.com } }`,
    `${account}${applications}apis: { video: { base_url: "https://user:pw@host" } }`,
    `${account}${applications}apis: { video: { max_response_bytes: 8 megabytes } }`,
  ])('%s', async (text) => {
    expect(await problemsOf(text)).not.toEqual([]);
    expect(accepts(text)).toBe(false);
  });
});
