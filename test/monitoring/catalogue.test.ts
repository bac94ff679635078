import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const script = 'scripts/catalogue.mjs';
const source = 'monitoring/dashboards';
const files = readdirSync(source);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  execFileSync(process.execPath, [script, join(folder, 'made')]);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Exported {
  readonly __inputs: readonly { readonly name: string; readonly type: string; readonly pluginId: string }[];
  readonly __requires: readonly { readonly type: string; readonly id: string; readonly name: string }[];
  readonly id: null;
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly current: unknown }[] };
}

describe("the dashboards for Grafana's catalogue", () => {
  it('include every dashboard', () => {
    expect(readdirSync(join(folder, 'made'))).toEqual(files);
  });

  it('need a folder as argument', () => {
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, `usage: node ${script} FOLDER\n`]);
  });

  it.each(files)('%s asks for a data source and lists its requirements', (file) => {
    const text = readFileSync(join(folder, 'made', file), 'utf8');
    const exported = JSON.parse(text) as Exported;
    const original = JSON.parse(readFileSync(join(source, file), 'utf8')) as Exported;
    expect(exported.id).toBeNull();
    expect(exported.uid).toBe(original.uid);
    // Grafana replaces the inputs that are declared; others would stay.
    expect(exported.__inputs).toMatchObject([{ type: 'datasource', pluginId: 'prometheus' }]);
    const used = new Set([...text.matchAll(/\$\{(DS_\w+)\}/g)].map(([, name]) => name));
    expect([...used]).toEqual(exported.__inputs.map(({ name }) => name));
    expect(exported.templating.list[0]).toMatchObject({
      name: 'datasource',
      current: { text: '${DS_PROMETHEUS}', value: '${DS_PROMETHEUS}' },
    });
    const types = new Set(
      [...text.matchAll(/"type": "(stat|bargauge|timeseries|table|state-timeline)"/g)].map(
        ([, type]) => type,
      ),
    );
    const panels = exported.__requires.filter(({ type }) => type === 'panel');
    expect(new Set(panels.map(({ id }) => id))).toEqual(types);
    expect(exported.__requires).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'grafana' }),
        expect.objectContaining({ type: 'datasource', id: 'prometheus' }),
      ]),
    );
    // Nothing else changes.
    const { __inputs, __requires, ...rest } = exported;
    expect({ ...rest, templating: undefined }).toEqual({
      ...original,
      __elements: {},
      id: null,
      templating: undefined,
    });
  });
});
