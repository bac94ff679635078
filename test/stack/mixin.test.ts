import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root, succeed } from './tools.ts';

interface Group {
  readonly name: string;
  readonly rules: readonly { readonly alert?: string }[];
}

/** The newest, and Debian's, which is from 2022. */
const interpreters = ['jsonnet', '/usr/bin/jsonnet'];

function evaluate<T>(jsonnet: string, expression: string): T {
  const mixin = `(import 'mixin.libsonnet').${expression}`;
  return JSON.parse(succeed(jsonnet, ['--jpath', `${root}monitoring`, '--exec', mixin])) as T;
}

test.each(interpreters)('the mixin has the dashboards as they are, for %s', (jsonnet) => {
  const dashboards = evaluate<Record<string, unknown>>(jsonnet, 'grafanaDashboards');
  const files = readdirSync(`${root}monitoring/dashboards`);
  expect(Object.keys(dashboards).toSorted()).toEqual(files.toSorted());
  for (const file of files)
    expect(dashboards[file]).toEqual(
      JSON.parse(readFileSync(`${root}monitoring/dashboards/${file}`, 'utf8')),
    );
});

test.each(interpreters)(
  'the mixin has each group of rules once, those with alerts as alerts, for %s',
  (jsonnet) => {
    const [alerts, rules] = ['prometheusAlerts', 'prometheusRules'].map(
      (name) => evaluate<{ groups: readonly Group[] }>(jsonnet, name).groups,
    ) as [readonly Group[], readonly Group[]];
    const groups = readdirSync(`${root}monitoring/rules`).flatMap(
      (file) =>
        (parse(readFileSync(`${root}monitoring/rules/${file}`, 'utf8')) as { groups: Group[] }).groups,
    );
    const byName = (a: Group, b: Group) => a.name.localeCompare(b.name);
    expect([...alerts, ...rules].toSorted(byName)).toEqual(groups.toSorted(byName));
    const hasAlert = ({ rules: all }: Group) => all.some(({ alert }) => alert !== undefined);
    expect(alerts.every(hasAlert)).toBe(true);
    expect(rules.some(hasAlert)).toBe(false);
    expect(alerts.length).toBeGreaterThan(5);
  },
);
