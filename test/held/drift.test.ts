/** What counts as drift of the API, and what users are told of it, tested with the whole exporter. */
import { expect, it } from 'vitest';
import { startWhole } from './whole.ts';

const family = 'bunnynet_exporter_unrecognized_values_total';

/** One DNS zone with these records. */
async function startZone(records: readonly object[]) {
  const whole = await startWhole({
    document: { dns_records: { targets: 'all' } },
    routes: {
      '/dnszone': () => ({
        Items: [{ Id: 7, Domain: 'shop.example', Records: records }],
        TotalItems: 1,
        HasMoreItems: false,
      }),
    },
  });
  return {
    whole,
    drift: () => whole.value(family, { kind: 'dns_record', field: 'Records' }),
    statusPage: async () => (await whole.get('/')).body,
  };
}

it('a code of something that no series shows is no drift', async () => {
  const { whole, drift } = await startZone([
    { Id: 1, Type: 15, Name: '_443._tcp', MonitorType: 0, MonitorStatus: 0 },
    { Id: 2, Type: 99, Name: 'later', MonitorType: 0, MonitorStatus: 9 },
    { Id: 3, Type: 98, Name: 'unmonitored' },
  ]);
  await whole.poll();
  await whole.poll();
  expect(await whole.value('bunnynet_dns_zone_records', { dns_zone_id: '7' })).toBe(3);
  expect((await drift()) ?? 0).toBe(0);
});

it('knows every type of record that the vendor has', async () => {
  const { whole, drift } = await startZone([
    { Id: 1, Type: 15, Name: '_443._tcp', MonitorType: 1, MonitorStatus: 1 },
  ]);
  await whole.poll();
  expect(Object.keys(await whole.series('bunnynet_dns_record_info'))).toEqual([
    '{dns_zone_id="7",account="account",record_id="1",name="_443._tcp.shop.example",type="TLSA"}',
  ]);
  expect((await drift()) ?? 0).toBe(0);
});

it('a value that is drift is named once in the log, and on the status page', async () => {
  const { whole, drift, statusPage } = await startZone([
    { Id: 1, Type: 16, Name: 'www', MonitorType: 1, MonitorStatus: 1 },
    { Id: 2, Type: 16, Name: 'api', MonitorType: 1, MonitorStatus: 1 },
  ]);
  await whole.poll();
  await whole.poll();
  expect(await drift()).toBe(4);
  expect(whole.said('Records: Type 16')).toHaveLength(1);
  expect(await statusPage()).toContain('Records: Type 16');
});

it('began when it was first seen, however often it comes', async () => {
  const whole = await startWhole({
    document: { applications: { interval: '1h', targets: ['a'] } },
    routes: { '/mc/apps/a/summary': () => ({ monthlyCost: 'three', status: 'asleep' }) },
    nowMs: Date.parse('2026-08-15T12:00:00Z'),
  });
  for (let hour = 0; hour < 3; hour++) {
    await whole.poll();
    whole.advance(3_600_000);
  }
  const drift = whole.exporter.causes().filter(({ reason }) => reason === 'drift');
  expect(drift.map(({ sinceMs }) => new Date(sinceMs ?? 0).toISOString())).toEqual([
    '2026-08-15T12:00:00.000Z',
    '2026-08-15T12:00:00.000Z',
  ]);
  expect(drift.map(({ meaning }) => meaning)).toEqual([
    expect.stringContaining('monthlyCost (3 times)'),
    expect.stringContaining('asleep (3 times)'),
  ]);
});

it('names a value in one short line without keys, however hostile, and not more than 200', async () => {
  const key = 'the-key-of-the-account';
  const states = [`a ${key} <b>\n\u202e${'x'.repeat(5000)}`];
  for (let n = 0; n < 204; n++) states.push(`state ${n}`);
  const volumeInstances = states.map((status) => ({ status }));
  const whole = await startWhole({
    document: { application_volumes: { targets: ['a'] } },
    routes: { '/mc/apps/a/volumes': () => ({ items: [{ name: 'data', volumeInstances }] }) },
  });
  await whole.poll();
  expect(await whole.value(family, { kind: 'application_volume' })).toBe(states.length);
  const named = whole.said('does not list this value');
  expect(named).toHaveLength(200);
  for (const { msg } of named) {
    expect(msg.length).toBeLessThan(500);
    expect(msg).not.toMatch(/\p{C}/u);
    expect(msg).not.toContain(key);
  }
  const { body: page } = await whole.get('/');
  expect(page).not.toContain(key);
  expect(page).not.toContain('<b>');
});

it('drift is forgotten after a day also where the clock was ahead', async () => {
  let balance: unknown = 'much';
  const whole = await startWhole({
    nowMs: Date.parse('2027-08-15T12:00:00Z'),
    document: { billing: { interval: '1h' } },
    routes: { '/billing': () => ({ Balance: balance }) },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  expect(whole.exporter.causes().map(({ id }) => id)).toEqual(['drift fields']);
  whole.setClock(-365 * 86_400_000);
  balance = 1;
  // The machine sleeps meanwhile.
  whole.advance(2 * 86_400_000);
  await whole.pass(70 * 60_000);
  expect(whole.exporter.causes().map(({ id }) => id)).toEqual([]);
});

it('the drift of a kind that a reload turns off is no cause any more', async () => {
  const whole = await startWhole({
    document: { billing: {}, payment_requests: {} },
    routes: { '/billing': () => ({ Balance: 'much' }), '/billing/payment-requests': () => [] },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  expect(whole.exporter.causes().map(({ id }) => id)).toEqual(['drift fields']);
  whole.document = { payment_requests: {} };
  await whole.reload();
  await whole.pass(60_000);
  expect(whole.exporter.causes().map(({ id }) => id)).toEqual([]);
});
