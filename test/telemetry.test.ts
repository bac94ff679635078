import { expect, it } from 'vitest';
import { summarizeListings } from '../src/polling/listing-summary.ts';
import { resources } from '../src/resources/index.ts';
import { createTelemetry, type Inventory } from '../src/telemetry.ts';
import { listing, nowMs, refusedListing } from './status/fixtures.ts';

const inventory: Inventory = {
  targets: () => 1,
  staleTargets: () => 0,
  series: () => 2,
  droppedSeries: () => 0,
  listings: () => [],
};

it.each(['text', 'openmetrics'] as const)('renders the format %s without an empty line', async (format) => {
  const text = await createTelemetry(resources, inventory).render(format);
  expect(text).not.toMatch(/^$\n/m);
  expect(text.endsWith('\n')).toBe(true);
});

it('renders OpenMetrics with info types, units, counters less their _total, and an end', async () => {
  const text = await createTelemetry(resources, inventory).render('openmetrics');
  expect(text).toMatch(/^# TYPE bunnynet_exporter_build info\nbunnynet_exporter_build_info\{/m);
  expect(text).toMatch(/^# TYPE bunnynet_exporter_polls counter\nbunnynet_exporter_polls_total\{/m);
  expect(text).toMatch(/^# UNIT bunnynet_exporter_poll_duration_seconds seconds$/m);
  expect(text.endsWith('\n# EOF\n')).toBe(true);
  for (const [, name = '', unit = ''] of text.matchAll(/^# UNIT (\w+) (\w+)$/gm)) {
    expect(name.endsWith(`_${unit}`)).toBe(true);
  }
});

it('renders the text format as ever after OpenMetrics was asked for', async () => {
  const telemetry = createTelemetry(resources, inventory);
  const headers = async () =>
    (await telemetry.render('text')).split('\n').filter((line) => line.startsWith('#'));
  const before = await headers();
  await telemetry.render('openmetrics');
  expect(await headers()).toEqual(before);
  expect(before).toContain('# TYPE bunnynet_exporter_polls_total counter');
});

it('has the counters of every kind, result and field from the start, at 0', async () => {
  const text = await createTelemetry(resources, inventory).render('text');
  expect(text).toContain('bunnynet_exporter_polls_total{kind="video_storage",result="schema"} 0');
  expect(text).toContain(
    'bunnynet_exporter_schema_mismatches_total{kind="application",field="monthlyCost"} 0',
  );
  expect(text).toContain('bunnynet_exporter_unrecognized_values_total{kind="application",field="status"} 0');
});

it('counts fields of the wrong type of listings, too: those of targets, of their parents and of their parts', async () => {
  const text = await createTelemetry(resources, inventory).render('text');
  for (const labels of [
    'kind="application",field="id"',
    'kind="pull_zone",field="Name"',
    'kind="rate_limit",field="ruleName"',
    'kind="video_library",field="Id"',
  ]) {
    expect(text).toContain(`bunnynet_exporter_schema_mismatches_total{${labels}} 0`);
  }
});

it('tells what the plan needs of each API, and 0 of an API that is asked nothing any more', async () => {
  const telemetry = createTelemetry(resources, inventory);
  const capacity = { polls: 3, neededPerSecond: 0.3, allowedPerSecond: 10, shortfall: undefined };
  telemetry.planned([{ api: 'application', ...capacity }]);
  const planned = async (api: string) =>
    new RegExp(`^bunnynet_exporter_planned_requests_per_second\\{api="${api}"\\} (.*)$`, 'm').exec(
      await telemetry.render('text'),
    )?.[1];
  expect([await planned('application'), await planned('shield')]).toEqual(['0.3', '0']);
  telemetry.planned([{ api: 'shield', ...capacity }]);
  expect([await planned('application'), await planned('shield')]).toEqual(['0', '0.3']);
});

it('tells by kind and credential how listings stand, and nothing of those that are gone', async () => {
  const zone = (id: string) => ({ ids: { shield_zone_id: id } });
  const selection = (kind: string, targets: number, left: readonly string[] = []) => ({
    kind,
    listingKey: '',
    targets,
    excluded: left.map(zone),
  });
  let listings = [
    listing('Shield Zones', {
      kind: 'shield_zone',
      found: 5,
      lastSuccessMs: nowMs - 1000,
      selections: [selection('rate_limit', 3, ['1', '2'])],
    }),
    listing('endpoints', {
      kind: 'api_guardian',
      parent: zone('1'),
      found: 7,
      selections: [selection('api_guardian', 7)],
    }),
    listing('endpoints', { ...refusedListing, kind: 'api_guardian', parent: zone('2') }),
    listing('names', { kind: 'rate_limit', parent: zone('1'), found: 40, lastSuccessMs: nowMs - 9000 }),
    listing('applications', { state: 'pending', lastSuccessMs: undefined, credential: 'other' }),
  ];
  const telemetry = createTelemetry(resources, { ...inventory, listings: () => summarizeListings(listings) });
  const discovery = async () =>
    (await telemetry.render('text'))
      .split('\n')
      .filter((line) => line.startsWith('bunnynet_exporter_discovery_'))
      .map((line) => line.replace('bunnynet_exporter_discovery_', ''));
  const seconds = (ms: number) => ms / 1000;
  expect(await discovery()).toEqual([
    'up{kind="shield_zone",credential="account"} 1',
    'up{kind="rate_limit",credential="account"} 1',
    'up{kind="api_guardian",credential="account"} 0',
    `last_success_timestamp_seconds{kind="shield_zone",credential="account"} ${seconds(nowMs - 1000)}`,
    `last_success_timestamp_seconds{kind="rate_limit",credential="account"} ${seconds(nowMs - 9000)}`,
    `last_success_timestamp_seconds{kind="api_guardian",credential="account"} ${seconds(nowMs - 30_000)}`,
    'found_targets{kind="shield_zone",credential="account"} 5',
    'found_targets{kind="rate_limit",credential="account"} 5',
    'found_targets{kind="api_guardian",credential="account"} 7',
    'excluded_targets{kind="shield_zone",credential="account"} 0',
    'excluded_targets{kind="rate_limit",credential="account"} 2',
    'excluded_targets{kind="api_guardian",credential="account"} 0',
    'failing_listings{kind="shield_zone",credential="account"} 0',
    'failing_listings{kind="rate_limit",credential="account"} 0',
    'failing_listings{kind="api_guardian",credential="account"} 1',
  ]);
  listings = [];
  expect(await discovery()).toEqual([]);
});
