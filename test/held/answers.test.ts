import { expect, it, vi } from 'vitest';
import { reply, startWhole } from './whole.ts';

/** A record of a DNS zone with the fields that the API sends. */
const record = (Id: number, more: object = {}) => ({
  Id,
  Type: 0,
  Ttl: 300,
  Value: '192.0.2.1',
  Name: `host-${Id}`,
  Weight: 100,
  Priority: 0,
  Port: 0,
  Flags: 0,
  Tag: '',
  Accelerated: false,
  AcceleratedPullZoneId: 0,
  LinkName: '',
  IPGeoLocationInfo: null,
  GeolocationInfo: null,
  MonitorStatus: 0,
  MonitorType: 0,
  GeolocationLatitude: 0,
  GeolocationLongitude: 0,
  EnviromentalVariables: [],
  LatencyZone: null,
  SmartRoutingType: 0,
  Disabled: false,
  Comment: null,
  ...more,
});

const count = (length: number) => Array.from({ length }, (_, at) => at + 1);

/** One page of a core listing, cut as the API does. */
function pageOf(all: readonly unknown[], query: URLSearchParams) {
  const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
  const Items = all.slice((page - 1) * perPage, page * perPage);
  return { Items, TotalItems: all.length, HasMoreItems: page * perPage < all.length };
}

it('a DNS zone of 17,000 records, nearly 8 MiB, is read with the default limits', async () => {
  const more = { AccelerationStatus: 0, AutoSslIssuance: true };
  const Records = Array(17_000)
    .fill(JSON.stringify(record(12_345, more)))
    .join();
  const Items = `[{"Id":7,"Domain":"a.example","Records":[${Records}]}]`;
  const whole = await startWhole({
    routes: { '/dnszone': () => reply(200, `{"Items":${Items},"TotalItems":1,"HasMoreItems":false}`) },
    document: { dns_records: { targets: 'all' } },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_dns_zone_records')).toBe(17_000);
});

it('max_response_bytes bounds the number of values in an answer, too', async () => {
  const routes = { '/billing': () => ({ Balance: 5, BillingRecords: Array(70_000).fill(0) }) };
  const whole = await startWhole({
    routes,
    api: { max_response_bytes: '1MiB' },
    document: { billing: { targets: 'all' } },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_billing_up')).toBe(0);
  expect(whole.said('more values than max_response_bytes (1048576) allows: 61680')).not.toEqual([]);
  Object.assign(whole.api, { max_response_bytes: '8MiB' });
  await whole.reload();
  await whole.poll();
  expect(await whole.value('bunnynet_billing_up')).toBe(1);
});

it.each([
  ['bytes', { Notes: 'x'.repeat(20_000) }],
  ['values', { Numbers: Array(1200).fill(0) }],
])('a page with too many %s is asked for in smaller ones', async (_, large) => {
  const zones = count(60).map((Id) => ({ Id, Name: `zone ${Id}`, ...large }));
  const whole = await startWhole({
    // undici counts the bytes.
    overSockets: true,
    routes: { '/pullzone': ({ query }) => pageOf(zones, query) },
    api: { max_response_bytes: '600KiB' },
    document: { pull_zones: { targets: 'all' } },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_exporter_targets', { kind: 'pull_zone' })).toBe(60);
  expect(Object.keys(await whole.series('bunnynet_pull_zone_info'))).toHaveLength(60);
  const pages = whole.requests.map(({ query }) => `${query.get('page')} of ${query.get('perPage')}`);
  expect(pages).toEqual(['1 of 100', '1 of 50', '1 of 25', '2 of 25', '3 of 25']);
});

it('a page that is too large even with five elements fails the listing, and says which setting it is', async () => {
  const zones = count(5).map((Id) => ({ Id, Name: 'x'.repeat(20_000) }));
  const whole = await startWhole({
    overSockets: true,
    routes: { '/pullzone': ({ query }) => pageOf(zones, query) },
    api: { max_response_bytes: '50KiB' },
    document: { pull_zones: { targets: 'all' } },
  });
  await whole.poll();
  expect(whole.said('the body is longer than max_response_bytes (51200)')).not.toEqual([]);
  expect(whole.requests.map(({ query }) => query.get('perPage'))).toEqual(['100', '50', '25', '5']);
});

it('many digits in texts and fractions do not send an answer through the slow parser, and an id keeps its digits', async () => {
  const parsed = vi.spyOn(JSON, 'parse');
  try {
    const Records = count(10).map((Id) =>
      record(Id, { Value: '1234567890123456789', GeolocationLatitude: 48.12345678901234 }),
    );
    let Id = '9007199254740991';
    const whole = await startWhole({
      routes: {
        '/dnszone': () =>
          reply(200, JSON.stringify([{ Id: 0, Domain: 'a "1234567890123456" b', Records }]).replace('0', Id)),
      },
      document: { dns_records: { targets: 'all' } },
    });
    const wasParsed = () => parsed.mock.calls.some(([text]) => text.includes(Id));
    await whole.poll();
    expect(await whole.value('bunnynet_dns_zone_records', { dns_zone_id: Id })).toBe(10);
    expect(wasParsed()).toBe(true);
    Id = '9007199254740993';
    await whole.poll();
    expect(await whole.value('bunnynet_dns_zone_records', { dns_zone_id: Id })).toBe(10);
    expect(wasParsed()).toBe(false);
  } finally {
    parsed.mockRestore();
  }
});

it('the reason of an error is told, in whatever form it comes', async () => {
  const told: readonly (readonly [body: string, reason: string])[] = [
    ['[{"message":"No such application."}]', 'HTTP 400: No such application.'],
    ['"No such application."', 'HTTP 400: No such application.'],
    ['{"error":"No such application."}', 'HTTP 400: No such application.'],
    ['{"error":"not found","details":"no such id"}', 'HTTP 400: not found: no such id'],
    ['{"error":{"code":"unknown_app","message":"No such app."}}', 'HTTP 400: unknown_app: No such app.'],
    [
      '{"errorResponse":{"errorKey":"unknown","message":"No such app.","success":false}}',
      'HTTP 400: unknown: No such app.',
    ],
    [
      '{"title":"Bad Request","errors":[{"field":"limit","message":"must be positive"}]}',
      'HTTP 400: Bad Request: limit: must be positive',
    ],
    ['{"errors":{"fromDate":["is not a date"]}}', 'HTTP 400: fromDate: is not a date'],
    [
      '{"ErrorKey":"app.unknown","Field":"Id","Message":"No such app."}',
      'HTTP 400: app.unknown: No such app.',
    ],
    ['No such application.', 'HTTP 400: No such application.'],
  ];
  const whole = await startWhole({
    routes: Object.fromEntries(
      told.map(([body], at) => [`/mc/apps/app${at}/summary`, () => reply(400, body)]),
    ),
    document: { applications: { targets: told.map((_, at) => `app${at}`) } },
  });
  await whole.poll();
  const messages = whole.exporter.targets().map(({ lastFailure }) => lastFailure?.message);
  expect(told.map(([body], at) => [body, messages[at]])).toEqual(told);
});

it('an HTML page is no answer of the API, whatever its status, and no key is refused by it', async () => {
  const html = '<html><head><title>Web Page Blocked</title></head></html>';
  const pages: readonly (readonly [
    id: string,
    status: number,
    body: string,
    headers?: Record<string, string>,
  ])[] = [
    ['a', 401, html],
    ['b', 403, html],
    ['c', 403, 'Web Page Blocked', { 'content-type': 'text/html' }],
    ['d', 404, html],
    ['e', 200, html],
  ];
  const whole = await startWhole({
    routes: Object.fromEntries(
      pages.map(([id, ...page]) => [`/mc/apps/${id}/summary`, () => reply(...page)]),
    ),
    document: { applications: { targets: pages.map(([id]) => id) } },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_exporter_refused_keys')).toBe(0);
  expect(await whole.value('bunnynet_exporter_polls_total', { kind: 'application', result: 'schema' })).toBe(
    pages.length,
  );
  expect(whole.exporter.targets().map(({ lastFailure }) => lastFailure?.message)).toEqual(
    pages.map(
      ([, status]) => `HTTP ${status}: what answered is no API, but an HTML page, "Web Page Blocked"`,
    ),
  );
  expect(whole.said('what answered is no API, but an HTML page, "Web Page Blocked"')).not.toEqual([]);
  expect(whole.log.filter(({ msg }) => /refused|not allowed/.test(msg))).toEqual([]);
});

it.each(['', 'Unauthorized'])('a 401 with the body %j is the answer of the API', async (body) => {
  const whole = await startWhole({
    routes: { '*': () => reply(401, body) },
    document: { applications: { targets: ['a'] } },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_exporter_refused_keys')).toBe(1);
});
