/** Rules for every family. docs/metrics.md, which the tests compare, keeps their names and labels stable. */
import { describe, expect, it } from 'vitest';
import { catalogue, firstFamilyOf } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type { Resource } from '../../src/resources/resource.ts';

/** API fields that are ids, keys or paging, and have no series. */
const fieldsWithoutSeries = [
  // A Shield Zone with it is left out.
  'deletedDateTime',
  'shieldZoneId',
  'ratelimitId',
  'LoadBalancerId',
  'totalCount',
  'totalPages',
  'currentPage',
  'nextPage',
  'pageSize',
  'name',
  'items',
  'totalItems',
  'itemsPerPage',
  'guid',
  'meta',
  'cursor',
  'HasMoreData',
  'ContinuationToken',
  'Id',
  'id',
  'ApiKey',
  'ReadOnlyApiKey',
  'Name',
  'Items',
  'CurrentPage',
  'TotalItems',
  'HasMoreItems',
];

/** The metric prefix with and without its last word: a kind may add to what another kind shows. */
const prefixesOf = ({ metricPrefix }: Resource) => [metricPrefix, metricPrefix.replace(/_[a-z]+$/, '')];
const isState = (name: string) => /_(up|last_success_timestamp_seconds)$/.test(name);

describe.each(resources)('$kind', (resource) => {
  const { kind } = resource;
  const own = catalogue.filter((family) => family.kind === kind);
  /** The names after «API field» in a HELP. */
  const fieldsIn = (help: string) =>
    [...help.matchAll(/API fields? ([\w, ]+)/g)].flatMap(([, names]) => names?.split(', ') ?? []);

  it('begins with _up and _last_success_timestamp_seconds', () => {
    expect(catalogue[firstFamilyOf(kind)]?.name).toBe(`${resource.metricPrefix}_up`);
    expect(catalogue[firstFamilyOf(kind) + 1]?.name).toBe(
      `${resource.metricPrefix}_last_success_timestamp_seconds`,
    );
  });

  it('names its families with its prefix, the unit last, and _total for counters', () => {
    for (const { name, unit, type } of own) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*[a-z0-9]$/);
      expect(prefixesOf(resource).some((prefix) => name.startsWith(`${prefix}_`))).toBe(true);
      expect(name).not.toMatch(/_(count|sum|bucket|created)$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(/_(seconds|bytes)(_total)?$/.exec(name)?.[1]).toBe(unit);
      expect(name.endsWith('_info')).toBe(type === 'info');
    }
  });

  it('names the API field in each HELP', () => {
    const notOfTheApi = own.filter(({ help }) => fieldsIn(help).length === 0).map(({ name }) => name);
    // Except states of the exporter, and names.
    expect(notOfTheApi.filter((name) => !isState(name) && !name.endsWith('_info'))).toEqual([]);
  });

  it('shows every field that it reads', () => {
    const named = new Set(own.flatMap(({ help }) => fieldsIn(help)));
    const hidden = resource.fields.filter((field) => !named.has(field));
    // What only says of which days the others are, and whether charts are empty.
    const isBeside = (field: string) => /^Total|Total$|^Average\w+Chart$/.test(field);
    expect(hidden.filter((field) => !fieldsWithoutSeries.includes(field) && !isBeside(field))).toEqual([]);
  });

  it('says of each counter of days what an answer means that has none of it', () => {
    const counters = own.filter((family) => 'days' in family);
    for (const { withoutDays } of counters) expect(withoutDays).not.toHaveLength(0);
    const told = counters.flatMap(({ withoutDays = [] }) =>
      withoutDays.filter((one) => typeof one === 'object'),
    );
    for (const field of told.flatMap(Object.values)) expect(resource.fields).toContain(field);
  });

  it('has one line in each HELP, which ends in a full stop', () => {
    for (const { help } of own) expect(help).toMatch(/^[^\n"\\]+\.$/);
  });
});

it('no label is one that Prometheus or its operator attaches to a target', () => {
  // With `honorLabels: false`, the default of a monitor, ours would become `exported_…`.
  const attached =
    'pod container service endpoint namespace node job instance cluster prometheus prometheus_replica';
  const labels = new Set(catalogue.flatMap(({ labels }) => labels));
  expect([...labels].filter((name) => attached.split(' ').includes(name))).toEqual([]);
});

it('a state is always in the label `status`', () => {
  expect(catalogue.filter(({ labels }) => labels.includes('state'))).toEqual([]);
});

it('every amount of money says in its name and its HELP that it is dollars', () => {
  const isMoney = ({ name }: { readonly name: string }) =>
    /(charges|cost|balance|amount|fee|commit|threshold)(_|$)/.test(name);
  const money = catalogue.filter(isMoney);
  expect(money.filter(({ name }) => !name.endsWith('_dollars')).map(({ name }) => name)).toEqual([]);
  expect(money.filter(({ help }) => !help.includes('in US dollars')).map(({ name }) => name)).toEqual([]);
  expect(catalogue.filter(({ name }) => name.endsWith('_dollars'))).toEqual(money);
});

it('no family name is used twice', () => {
  const names = catalogue.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

it('the HELP of a windowed figure names its window, and does not suggest increase() on a gauge', () => {
  const endingIn = (ending: string) => catalogue.filter(({ name }) => name.endsWith(ending));
  const rolling = endingIn('_28d');
  const daily = endingIn('_latest_day');
  const names = catalogue.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(rolling.map(({ name }) => name.replace('_28d', '_latest_day'))),
  );
  expect(names).toEqual(expect.arrayContaining(rolling.map(({ name }) => name.replace('_28d', '_total'))));
  expect(rolling).not.toEqual([]);
  for (const { help } of rolling)
    expect(help).toContain('in the past 28 days, a rolling window that can fall');
  for (const { help } of daily) expect(help).toContain('so far in the newest UTC day; resets at midnight');
  for (const { help } of [...rolling, ...daily]) expect(help).not.toMatch(/increase\(\) works/);
  for (const { help } of endingIn('_latest_day_timestamp_seconds')) expect(help).toContain('newest UTC day');
});
