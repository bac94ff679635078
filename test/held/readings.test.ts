/** Answers that the vendor's documents allow, of which nothing may be lost, tested with the whole exporter. */
import { expect, it } from 'vitest';
import { startWhole } from './whole.ts';

const mismatches = 'bunnynet_exporter_schema_mismatches_total';

it('a payment request without an id counts', async () => {
  const whole = await startWhole({
    document: { payment_requests: { targets: 'all' } },
    routes: {
      '/billing/payment-requests': () => [
        { Amount: 10, TaxedAmount: 12, Paid: false, DateDue: '2026-08-20T00:00:00' },
        { Id: null, Amount: 5, Paid: false, DateDue: '2026-08-18T00:00:00' },
        { Id: 7, Amount: 3, Paid: true },
      ],
    },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_payment_requests_up')).toBe(1);
  expect(await whole.value('bunnynet_payment_requests_unpaid')).toBe(2);
});

it('a volume has its name or its id', async () => {
  const whole = await startWhole({
    document: { application_volumes: { targets: ['shop'] } },
    routes: {
      '/mc/apps/shop/volumes': () => ({
        items: [
          { id: 'v1', size: 1 },
          { name: 'data', id: null, size: 2 },
          { name: 'logs', id: 4711, size: 3 },
        ],
      }),
    },
  });
  await whole.poll();
  expect(await whole.series('bunnynet_application_volume_capacity_bytes')).toEqual({
    '{app_id="shop",volume="",volume_id="v1"}': 1e9,
    '{app_id="shop",volume="data",volume_id=""}': 2e9,
    '{app_id="shop",volume="logs",volume_id="4711"}': 3e9,
  });
});

it.each([{ meta: { totalItems: 0 } }, { items: null, meta: { totalItems: 0 }, cursor: null }])(
  'an application without volumes has none: %j',
  async (answer) => {
    const whole = await startWhole({
      document: { application_volumes: { targets: ['shop'] } },
      routes: { '/mc/apps/shop/volumes': () => answer },
    });
    await whole.poll();
    expect(await whole.value('bunnynet_application_volume_up')).toBe(1);
  },
);

it.each([{ meta: { totalItems: 3 } }, { meta: {} }, { cursor: null }])(
  'volumes that are missing are a failure: %j',
  async (answer) => {
    const whole = await startWhole({
      document: { application_volumes: { targets: ['shop'] } },
      routes: { '/mc/apps/shop/volumes': () => answer },
    });
    await whole.poll();
    expect(await whole.value('bunnynet_application_volume_up')).toBe(0);
  },
);

it('an application may have a number as its id', async () => {
  const whole = await startWhole({
    document: { applications: { targets: 'all' } },
    routes: {
      '/mc/apps': () => ({ items: [{ id: 4711, name: 'one' }, { id: 'q7TzVb2' }], meta: { totalItems: 2 } }),
      '/mc/apps/4711/summary': () => ({ status: 'active' }),
      '/mc/apps/q7TzVb2/summary': () => ({ status: 'active' }),
    },
  });
  await whole.poll();
  expect(await whole.series('bunnynet_application_up')).toEqual({
    '{app_id="4711"}': 1,
    '{app_id="q7TzVb2"}': 1,
  });
});

it.each(['..', '.', '', -0.5, true])('%j is no id of an application', async (id) => {
  const whole = await startWhole({
    document: { applications: { targets: 'all' } },
    routes: { '/mc/apps': () => ({ items: [{ id, name: 'one' }], meta: { totalItems: 1 } }) },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_exporter_discovery_up', { kind: 'application' })).toBe(0);
  expect(whole.requests.map(({ path }) => path)).toEqual(['/mc/apps']);
});

it('what a listing calls deleted is not there', async () => {
  const script = (Id: number, Deleted?: boolean) => ({ Id, Name: `script ${Id}`, Deleted });
  let scripts = [script(1), script(2, false), script(3, true)];
  const whole = await startWhole({
    document: { edge_script_usage: { targets: 'all' } },
    routes: {
      '/compute/script': () => ({ Items: scripts, TotalItems: scripts.length, HasMoreItems: false }),
    },
  });
  const there = async () => Object.keys(await whole.series('bunnynet_edge_script_usage_up')).sort();
  await whole.poll();
  expect(await there()).toEqual(['{script_id="1"}', '{script_id="2"}']);
  scripts = [script(1, true), script(2, true)];
  await whole.poll();
  expect(await there()).toEqual([]);
  expect(await whole.value('bunnynet_exporter_discovery_up', { kind: 'edge_script_usage' })).toBe(1);
});

it('a page of which everything is deleted is not the end of a listing', async () => {
  const zone = (Id: number, Deleted = false) => ({ Id, Name: `zone ${Id}`, Deleted });
  const pages = [[zone(1)], [zone(2, true)], [zone(3)]];
  const whole = await startWhole({
    document: { storage_zones: { targets: 'all' } },
    routes: {
      '/storagezone': ({ query }) => {
        const page = Number(query.get('page'));
        return { Items: pages[page - 1] ?? [], TotalItems: 3, HasMoreItems: page < pages.length };
      },
    },
  });
  await whole.poll();
  expect(Object.keys(await whole.series('bunnynet_storage_zone_up'))).toHaveLength(2);
});

it('a field with its first letter in the other case is the field, at any depth', async () => {
  const whole = await startWhole({
    document: {
      video_library_statistics: { targets: [7] },
      application_volumes: { targets: ['shop'] },
      shield_zones: { targets: 'all' },
      storage_zones: { targets: 'all' },
    },
    routes: {
      '/library/7/statistics': () => ({ ViewsChart: { '2026-08-15': 3 }, CountryViewCounts: { DE: 2 } }),
      '/mc/apps/shop/volumes': () => ({
        Items: [{ Name: 'data', Size: 2, VolumeInstances: [{ Status: 'attached' }] }],
      }),
      '/shield/shield-zones': () => ({
        Data: [{ ShieldZoneId: 7, WafEnabled: true }],
        Page: { TotalPages: 1 },
      }),
      '/storagezone': () => ({
        items: [{ id: 5, name: 'files', filesStored: 9 }],
        totalItems: 1,
        hasMoreItems: false,
      }),
    },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_video_library_views_latest_day')).toBe(3);
  expect(await whole.value('bunnynet_application_volume_capacity_bytes')).toBe(2e9);
  expect(await whole.value('bunnynet_application_volume_instances', { state: 'attached' })).toBe(1);
  expect(await whole.value('bunnynet_shield_zone_waf_enabled')).toBe(1);
  expect(await whole.value('bunnynet_storage_zone_files')).toBe(9);
  expect(await whole.series(mismatches)).toEqual({});
});

it('a field that has its own name counts, not its double', async () => {
  const whole = await startWhole({
    document: { applications: { targets: ['shop'] } },
    routes: {
      '/mc/apps/shop/summary': () => ({ MonthlyCost: 9, monthlyCost: 2, status: null, Status: 'active' }),
    },
  });
  await whole.poll();
  expect(await whole.page()).toMatch(/^bunnynet_application_monthly_cost\S* 2$/m);
  // A null is there: it says that there is nothing.
  expect(await whole.series('bunnynet_application_status')).toEqual({});
});

it('the reason of a failure that came with a good status is told, also where it is a text', async () => {
  const whole = await startWhole({
    document: { shield_statistics: { targets: [7] } },
    routes: { '/shield/metrics/overview/7/detailed': () => ({ data: null, error: 'over the quota' }) },
  });
  await whole.poll();
  expect(whole.said('over the quota')).toHaveLength(1);
});
