import { describe, expect, it } from 'vitest';
import { operations } from '../../src/report/operations.ts';
import { type Exchange, Report } from '../../src/report/report.ts';
import { formOf } from '../../src/report/shape.ts';
import type { Documented } from '../../src/resources/documented.ts';
import { reply, startWhole } from '../held/whole.ts';
import { runs } from '../runs.ts';

const key = 'k-5f0e9c1d-the-key-of-the-account';

/** Data that identifies an account: names, hosts, ids, keys, people, money, words in any script. */
const canaries = [
  'AcmeCorp',
  'acme-shop',
  'cdn.acme-shop.example',
  'jane.doe@acme.example',
  '0f8c3f9e-1234-4cde-9abc-def012345678',
  '203.0.113.77',
  'Ünïcode Händler',
  '東京商店',
  'q7TzVb2',
  '/var/lib/acme',
  '__proto__x',
  key,
];

describe('a report', () => {
  it('contains no data of the account, wherever it is in the answers', () => {
    const report = new Report();
    let turn = 0;
    const canary = () => canaries[turn++ % canaries.length] ?? '';
    const some = () => runs([canary(), canary(), canary()], canaries);
    const figure = () => 7_300_001 + turn++ * 1.37;
    /** A value in the documented form with canaries as texts, figures, and keys that are data. */
    const hostile = ({ fields, values, elements }: Documented): unknown => {
      if (elements) return [hostile(elements), hostile(elements), canary(), { [canary()]: figure() }];
      if (values)
        return Object.fromEntries(some().map((name) => [name, turn % 2 ? hostile(values) : figure()]));
      if (!fields || fields.size === 0) return turn % 2 ? canary() : figure();
      const named = [...fields].map(([name, field]) => [name, hostile(field)]);
      const unnamed = some().flatMap((name) => [name, `${name}Health`]);
      return Object.fromEntries([...named, ...unnamed.map((name) => [name, { [canary()]: canary() }])]);
    };
    const note = (exchange: Omit<Exchange, 'durationMs' | 'answer'>, body: unknown) => {
      const headers = { 'x-ratelimit-limit': canary(), [`retry-${canary()}`]: canary(), server: canary() };
      report.note({ ...exchange, durationMs: 12, answer: { headers, text: () => JSON.stringify(body) } });
    };
    for (const { api, path, documented } of operations) {
      const asked = `${path.replaceAll('{}', () => encodeURIComponent(canary()))}?cursor=${canary()}`;
      note({ api, path: asked, code: '200' }, hostile(documented));
      note({ api, path: asked, code: '500' }, { ErrorKey: canary(), errorKey: canary(), title: canary() });
      note({ api, path: asked, code: '403' }, canary());
      note({ api, path: asked, code: '429' }, canary());
    }
    note({ api: 'core', path: `/${canary()}`, code: '200' }, { [canary()]: canary() });

    const credentials = Object.fromEntries(canaries.map((name) => [name, { env: name }]));
    const section = { credential: canary(), interval: '1m', targets: canaries, include: canaries };
    const text = report.text('1.2.3', {
      credentials,
      apis: { core: { base_url: canary() } },
      pull_zones: section,
    });
    for (const name of canaries) expect(text.toLowerCase(), name).not.toContain(name.toLowerCase());
    expect(text).not.toMatch(/7[ ,.]?300/);
    // Digits occur in our own text: counts, times, versions, and 9 for any digit.
    expect(text).toContain('GET /pullzone of the core API');
    expect(text).toContain('pull_zones: interval 1m, targets 12 listed, include 12 listed');
  });

  it('says what the key may not read, in which words, and which kinds need it', () => {
    const report = new Report();
    const note = (path: string, code: string, body: string) =>
      report.note({ api: 'core', path, code, durationMs: 5, answer: { headers: {}, text: () => body } });
    note('/billing', '401', '{"ErrorKey":"authentication.failed","Message":"x"}');
    note('/user/audit/2026-11-28?limit=1', '403', '');
    // An id alone is no right.
    note('/dnszone/77/statistics', '401', '');
    note('/dnszone/78/statistics', '200', '{}');
    expect(report.text('1.2.3', {})).toContain(`
What the key may not read
  GET /billing of the core API: 401, authentication.failed (billing)
  GET /user/audit/{} of the core API: 403 (audit_log)

`);
    expect(new Report().text('1.2.3', {})).not.toContain('may not read');
  });

  it('takes the keys of an object with one documented name for data', () => {
    const report = new Report();
    const body = { TotalQueriesServed: 1, acme: 2, shop: 3 };
    const answer = { headers: {}, text: () => JSON.stringify(body) };
    report.note({ api: 'core', path: '/dnszone/77/statistics', code: '200', durationMs: 5, answer });
    const text = report.text('1.2.3', {});
    expect(text).toContain('{xxxx} × 2: integer');
    expect(text).not.toMatch(/acme|shop/);
  });

  it('shows types, lengths, forms, and missing and undocumented fields', () => {
    const report = new Report();
    const day = (n: number) => `2026-08-0${n}T00:00:00Z`;
    const bodies = [
      {
        TotalQueriesServed: 3,
        QueriesServedChart: { [day(1)]: 1, [day(2)]: 2.5 },
        QueriesByTypeChart: { '28': 1 },
      },
      { TotalQueriesServed: null, QueriesServedChart: {}, QueriesByTypeChart: { '257': 1 }, NewChart: [] },
    ];
    for (const [i, body] of bodies.entries()) {
      const answer = { headers: { 'retry-after': '30' }, text: () => JSON.stringify(body) };
      report.note({
        api: 'core',
        path: '/dnszone/77/statistics?dateFrom=x',
        code: '200',
        durationMs: 5 + i,
        answer,
      });
    }
    report.note({
      api: 'core',
      path: '/dnszone/78/statistics',
      code: 'timeout',
      durationMs: 5000,
      answer: undefined,
    });
    expect(report.text('1.2.3', {})).toContain(
      [
        'GET /dnszone/{}/statistics of the core API',
        '  200 × 2, timeout × 1; 5 to 5000 ms',
        '  answer: object',
        '    TotalQueriesServed: integer | null',
        '    QueriesServedChart: object',
        '      {9999-99-99x99:99:99x} × 2: integer | number with a fraction',
        '    QueriesByTypeChart: object',
        '      {99} × 1: integer',
        '      {999} × 1: integer',
        '    NewChart (not documented) (in 1 of 2): list of 0',
        '    documented, but missing: NormalQueriesServedChart, SmartQueriesServedChart',
        '  retry-after: 99',
      ].join('\n'),
    );
  });

  it('says what is documented nowhere, in words of its own', () => {
    const report = new Report(() => Date.parse('2026-08-15T12:20:00Z'));
    const note = (api: Exchange['api'], path: string, body: unknown, code = '200') => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      report.note({ api, path, code, durationMs: 5, answer: { headers: {}, text: () => text } });
    };
    const day = '2026-08-15T00:00:00Z';
    note('shield', '/shield/metrics/overview/501/detailed?Resolution=4', {
      data: {
        waf: { metrics: { blocked: { [day]: 3 }, LoggedRequests: { [day]: 1 }, AcmeCorp: { [day]: 1 } } },
        ddos: { metrics: { [day]: { challengedRequests: 4 } } },
        rateLimit: { metrics: { AcmeCorp: { blocked: 4 } } },
        botDetection: { metrics: {} },
      },
    });
    const pod = (cores: number, bytes: number) => ({
      cpuUsageCores: cores,
      cpuUsage: cores * 51,
      ramUsageBytes: bytes,
      ramUsage: bytes / 2 ** 20,
    });
    note('application', '/apps/q7TzVb2/overview', {
      limits: { cpuCores: 2, ramBytes: 2 ** 31 },
      regions: [{ pods: [pod(0.5, 2e8), pod(0, 0)] }, { pods: [pod(1.5, 1e9), {}] }],
    });
    note('core', '/billing', {
      SavedPaymentMethods: [{ ExpirationDate: '12/2031' }, { ExpirationDate: 'Dez 2031' }, {}, null],
    });
    const hours = (zone: number, chart: object, from: string) =>
      note('core', `/statistics?pullZone=${zone}&dateFrom=${from}`, { RequestsServedChart: chart });
    hours(1, { '2026-08-14T23:00:00Z': 9 }, '14');
    hours(1, { '2026-08-15T10:00:00Z': 7, '2026-08-15T11:00:00Z': 0, '2026-08-15T13:00:00Z': 5 }, '15');
    hours(2, { '2026-08-15T12:00:00Z': 7 }, '15');
    hours(3, { '2026-08-15T11:00:00Z': 7 }, '15');
    hours(4, { '2026-08-15T00:00:00Z': 7 }, '15');
    note('core', '/database/v2/databases/db_1/statistics?from=1', {
      latency: { unit: 'milliseconds', data: { p95: {}, Average: {}, 'AcmeCorp db': {}, DE: {} } },
    });
    note('application', '/apps/q7TzVb2/overview', '', '401');
    note('application', '/apps/q7TzVb2/overview', '<html>AcmeCorp</html>', '502');
    note('application', '/apps/q7TzVb2/overview', 'AcmeCorp', '500');
    note('application', '/apps/q7TzVb2/overview', '"AcmeCorp"', '500');
    note('application', '/apps/q7TzVb2/overview', [{ message: 'AcmeCorp', acmecorp: 1 }], '404');
    note('application', '/apps/q7TzVb2/overview', { error: { code: 'AcmeCorp', details: null } }, '403');
    const text = report.text('1.2.3', {});
    for (const line of [
      'nesting of the metrics of a protection: action outside, instant inside × 1, instant outside, action inside × 1, neither level has only instants × 1, empty × 1',
      'their actions: blocked × 1, LoggedRequests × 1, {xxxxxxxx} × 2, challengedRequests × 1',
      'cpuUsage of a pod, by its cpuUsageCores and limits.cpuCores: per cent of the limit',
      'ramUsage of a pod, by its ramUsageBytes and limits.ramBytes: mebibytes',
      'form of ExpirationDate: 99/9999 × 1, xxx 9999 × 1, no text × 2',
      'newest hour with requests of a pull zone: under way × 1, ended 0 to 1 hours ago × 1, ended 1 to 2 hours ago × 1, ended more than 3 hours ago × 1',
      'keys of latency: p95 × 1, Average × 1, {xxxxxxxx xx} × 1, {xx} × 1',
      'error 401: no body',
      'error 502: HTML or XML',
      'error 500: text that is no JSON | text',
      'error 404: list of 1\n    []: object\n      message: text\n      xxxxxxxx (not documented): integer',
      'error 403: object\n    error: object\n      code: text\n      details: null\n',
    ])
      expect(text).toContain(`\n  ${line}`);
    for (const secret of ['acme', 'q7tz', '2031', '501', 'db_1', 'dez'])
      expect(text.toLowerCase(), secret).not.toContain(secret);
  });

  it('says what a 429 tells about rates, or that it tells nothing', () => {
    const report = new Report();
    const note = (path: string, code: string, headers: Record<string, string>) =>
      report.note({ api: 'core', path, code, durationMs: 5, answer: { headers, text: () => '' } });
    note('/billing', '429', { 'retry-after': '17', 'x-ratelimit-reset': 'at: 12:30', server: 'BunnyCDN' });
    note('/billing', '429', { 'retry-after': 'Sat, 15 Aug 2026 12:20:00 GMT', date: 'Sat' });
    note('/billing', '429', { 'retry-after': '30' });
    note('/billing', '200', { 'ratelimit-remaining': '4', 'accept-ranges': 'bytes' });
    note('/dnszone', '429', { server: 'BunnyCDN' });
    note('/pullzone', '200', { server: 'BunnyCDN' });
    const text = report.text('1.2.3', {});
    expect(text).toContain(
      [
        '  ratelimit-remaining: 9',
        '  header of a 429: retry-after: 99',
        '  header of a 429: x-ratelimit-reset: xx: 99:99',
        '  header of a 429: retry-after: xxx, 99 xxx 9999 99:99:99 xxx',
        '',
        'GET /dnszone of the core API',
      ].join('\n'),
    );
    expect(text.match(/a 429 without .*/g)).toEqual(['a 429 without a header about rates']);
    expect(text).toContain('  a 429 without a header about rates\n\nGET /pullzone of the core API');
  });

  it('says what tells of the health of the origins of a load balancer, in any list', () => {
    const report = new Report();
    const note = (path: string, body: unknown) =>
      report.note({
        api: 'core',
        path,
        code: '200',
        durationMs: 5,
        answer: { headers: {}, text: () => JSON.stringify(body) },
      });
    note('/loadbalancer/77/statistics?from=x', {
      OriginFailures: [{ OriginId: 'o1', StatusCode: '502' }, { StatusCode: '504' }],
      Origins: [{ IsHealthy: true, AcmeHealth: { lastCheckStatus: 1, acme_status: 'Up: 203.0.113.77' } }],
    });
    note('/loadbalancer?page=1', [
      { LoadBalancerId: 77, OriginGroups: [{ HealthCheckSettings: { Enabled: true, Path: '/up' } }] },
    ]);
    const text = report.text('1.2.3', {});
    const about = 'fields of load balancers about health or status';
    expect(text).toContain(
      `  ${about}: StatusCode: 999 × 2, IsHealthy: boolean × 1, {xxxxxxxxxx}: object × 1, lastCheckStatus: integer × 1, {xxxx_xxxxxx}: xx: 999.9.999.99 × 1\n`,
    );
    expect(text).toContain(`  ${about}: none\n`);
    expect(text).not.toMatch(/acmehealth|acme_status|203\.0|502/i);
  });

  it.each([
    ['per cent of the limit', 25, 0.5, 2],
    ['ratio to the limit', 0.25, 0.5, 2],
    ['cores', 0.5, 0.5, 2],
    ['millicores', 500, 0.5, 2],
    ['cores', 0.53, 0.5, 2],
    ['ratio to the limit or cores', 0.5, 0.5, 1],
    ['none of per cent of the limit, ratio to the limit, cores, millicores', 7, 0.5, 2],
    ['nothing to compare', 0, 0, 2],
    ['nothing to compare', 25, null, 2],
    ['nothing to compare', 'AcmeCorp', { AcmeCorp: 1 }, ['AcmeCorp']],
  ])('says of the usage of CPU that it is %s', (unit, cpuUsage, cpuUsageCores, cpuCores) => {
    const report = new Report();
    const body = { limits: { cpuCores }, regions: [{ pods: [{ cpuUsage, cpuUsageCores }] }] };
    const answer = { headers: {}, text: () => JSON.stringify(body) };
    report.note({ api: 'application', path: '/apps/a/overview', code: '200', durationMs: 5, answer });
    expect(report.text('1.2.3', {})).toContain(`limits.cpuCores: ${unit}\n`);
  });

  it('contains all answers to the exporter', async () => {
    const report = new Report();
    const whole = await startWhole({
      env: { KEY: key },
      onExchange: (exchange) => report.note(exchange),
      document: { pull_zones: { targets: 'all' }, dns_zones: { targets: 'all' } },
      routes: {
        '/pullzone': () => ({
          Items: [{ Id: 987_654, Name: 'AcmeCorp', OriginUrl: key, AcmeCorp: 1 }],
          HasMoreItems: false,
        }),
        '/dnszone': () => reply(403, '{"ErrorKey":"user.not_allowed","Message":"AcmeCorp may not"}'),
      },
    });
    await whole.poll();
    const text = report.text('1.2.3', whole.exporter.config());
    expect(text).toMatch(/GET \/pullzone of the core API\n {2}200 × 1;[\s\S]*Name: text\n/);
    expect(text).toMatch(
      /GET \/dnszone of the core API\n {2}403 × \d;[\s\S]*error keys: user\.not_allowed\n/,
    );
    expect(text).toContain('pull_zones: interval ');
    for (const secret of [key, 'AcmeCorp', '987654', '987_654', '127.0.0.1', 'KEY'])
      expect(text, secret).not.toContain(secret);
  });
});

it.each([
  ['2026-08-01T00:00:00Z', '9999-99-99x99:99:99x'],
  ['EU: Frankfurt, DE', 'xx: xxxxxxxxx, xx'],
  ['Straße ٣٤ 東 ☃', 'xxxxxx 99 x ?'],
  ['x'.repeat(50), `${'x'.repeat(40)}…`],
])('shows the form of %s as %s', (text, form) => {
  expect(formOf(text)).toBe(form);
});
