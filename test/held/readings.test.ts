/** Answers that the vendor's documents allow, of which nothing may be lost, tested with the whole exporter. */
import { expect, it } from 'vitest';
import { runs } from '../runs.ts';
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

it.each<object>([{ meta: { totalItems: 3 } }, { cursor: null }, ...runs<object[]>([], [{ meta: {} }])])(
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
    '{app_id="4711",account="account"}': 1,
    '{app_id="q7TzVb2",account="account"}': 1,
  });
});

it.each(runs(['..', '', -0.5], ['..', '.', '', -0.5, true]))('%j is no id of an application', async (id) => {
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
  expect(await there()).toEqual(['{script_id="1",account="account"}', '{script_id="2",account="account"}']);
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
      credentials: { account: { env: 'KEY' }, library: { env: 'LIBRARY' } },
      video_library_statistics: { targets: [7], credential: 'library' },
      application_volumes: { targets: ['shop'] },
      shield_zones: { targets: 'all' },
      storage_zones: { targets: 'all' },
    },
    env: { KEY: 'the-key-of-the-account', LIBRARY: 'the-key-of-the-library' },
    routes: {
      '/library/7/statistics': ({ query }) => ({
        ViewsChart: { [query.get('dateFrom')?.slice(0, 10) ?? '']: 3 },
        CountryViewCounts: { DE: 2 },
      }),
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
  expect(await whole.value('bunnynet_application_volume_instances', { status: 'attached' })).toBe(1);
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

it('codes are read as numbers, as digits in quotes and as names, and one without a meaning is unknown', async () => {
  const records = [
    { Id: 11, Type: 'CNAME', MonitorType: 'Ping', MonitorStatus: 'Offline' },
    { Id: 12, Type: '1', MonitorType: '1', MonitorStatus: '2' },
    { Id: 13, Type: 0, MonitorType: 1, MonitorStatus: 2 },
    { Id: 14, Type: 'TLSB', MonitorType: 'Ping', MonitorStatus: 'Wobbling' },
    { Id: 15, Type: 'A', MonitorType: 'None', MonitorStatus: 'Unknown' },
  ];
  const hostname = { Value: 'www.example', HasCertificate: true, CertificateProvisionType: 'HttpZeroOne' };
  const whole = await startWhole({
    document: {
      dns_records: { targets: 'all' },
      pull_zones: { targets: 'all' },
      storage_zones: { targets: 'all' },
      shield_zones: { targets: 'all' },
    },
    routes: {
      '/dnszone': () => ({
        Items: [{ Id: 1, Domain: 'a.example', Records: records }],
        TotalItems: 1,
        HasMoreItems: false,
      }),
      '/pullzone': () => ({
        Items: [{ Id: 7, Name: 'site', OriginType: 'StorageZone', Type: 'Volume', Hostnames: [hostname] }],
        TotalItems: 1,
        HasMoreItems: false,
      }),
      '/storagezone': () => ({ Items: [{ Id: 5, Name: 'files', ZoneTier: 'Edge' }], HasMoreItems: false }),
      '/shield/shield-zones': () => ({
        data: [{ shieldZoneId: 3, planType: 'Business', wafExecutionMode: 'Guess' }],
        page: { totalPages: 1 },
      }),
    },
  });
  await whole.poll();
  const status = 'bunnynet_dns_record_monitor_status';
  for (const record_id of ['11', '12', '13'])
    expect(await whole.value(status, { record_id, status: 'offline' }), record_id).toBe(1);
  expect(await whole.value(status, { record_id: '14', status: 'unknown' })).toBe(1);
  expect(await whole.value(status, { record_id: '15', status: 'unknown' })).toBeUndefined();
  const types = Object.keys(await whole.series('bunnynet_dns_record_info'));
  expect(types.map((labels) => /type="(\w+)"/.exec(labels)?.[1])).toEqual(['CNAME', 'AAAA', 'A', 'unknown']);
  const [info] = Object.keys(await whole.series('bunnynet_pull_zone_info'));
  expect(info).toContain('origin_type="storage_zone"');
  expect(await whole.value('bunnynet_pull_zone_type')).toBe(1);
  expect(await whole.value('bunnynet_pull_zone_hostname_info', { certificate: 'http01' })).toBe(1);
  expect(Object.keys(await whole.series('bunnynet_storage_zone_info'))[0]).toContain('tier="edge"');
  expect(await whole.value('bunnynet_shield_zone_plan_type')).toBe(2);
  expect(await whole.value('bunnynet_shield_zone_waf_execution_mode')).toBeUndefined();
  expect(await whole.series('bunnynet_exporter_unrecognized_values_total')).toEqual({
    '{kind="dns_record",field="Records"}': 2,
    '{kind="shield_zone",field="wafExecutionMode"}': 1,
  });
  expect(await whole.series(mismatches)).toEqual({});
});

it('the states of pods and of volume instances add up, and are written in one way', async () => {
  const whole = await startWhole({
    document: {
      application_overviews: { targets: ['shop'] },
      application_volumes: { targets: ['shop'] },
    },
    routes: {
      '/mc/apps/shop/overview': () => ({
        regions: [
          { region: 'DE', pods: [{ status: 'NotScheduled' }, { status: null }, { status: 'lost' }, null] },
        ],
      }),
      '/mc/apps/shop/volumes': () => ({
        items: [{ name: 'data', volumeInstances: [{ status: 'notScheduled' }, {}, { status: 'lost' }] }],
      }),
    },
  });
  await whole.poll();
  const statesOf = async (family: string) => {
    const series = Object.entries(await whole.series(family));
    return Object.fromEntries(
      series.flatMap(([labels, value]) =>
        value > 0 ? [[/status="([^"]*)"/.exec(labels)?.[1] ?? labels, value]] : [],
      ),
    );
  };
  expect(await statesOf('bunnynet_application_overview_region_pods')).toEqual({
    not_scheduled: 1,
    unknown: 3,
  });
  expect(await statesOf('bunnynet_application_volume_instances')).toEqual({ not_scheduled: 1, unknown: 2 });
});
