import { describe, expect, it } from 'vitest';
import { operations } from '../../src/report/operations.ts';
import { type Exchange, Report } from '../../src/report/report.ts';
import { formOf } from '../../src/report/shape.ts';
import type { Documented } from '../../src/resources/documented.ts';
import { reply, startWhole } from '../held/whole.ts';

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
    const figure = () => 7_300_001 + turn++ * 1.37;
    /** A value in the documented form with canaries as texts, figures, and keys that are data. */
    const hostile = ({ fields, values, elements }: Documented): unknown => {
      if (elements) return [hostile(elements), hostile(elements), canary(), { [canary()]: figure() }];
      if (values)
        return Object.fromEntries(canaries.map((name) => [name, turn % 2 ? hostile(values) : figure()]));
      if (!fields || fields.size === 0) return turn % 2 ? canary() : figure();
      const named = [...fields].map(([name, field]) => [name, hostile(field)]);
      return Object.fromEntries([...named, ...canaries.map((name) => [name, { [canary()]: canary() }])]);
    };
    const note = (exchange: Omit<Exchange, 'durationMs' | 'answer'>, body: unknown) => {
      const headers = { 'x-ratelimit-limit': canary(), [`retry-${canary()}`]: 'a', server: canary() };
      report.note({ ...exchange, durationMs: 12, answer: { headers, text: () => JSON.stringify(body) } });
    };
    for (const { api, path, documented } of operations) {
      const asked = `${path.replaceAll('{}', () => encodeURIComponent(canary()))}?cursor=${canary()}`;
      note({ api, path: asked, code: '200' }, hostile(documented));
      note({ api, path: asked, code: '500' }, { ErrorKey: canary(), errorKey: canary(), title: canary() });
      note({ api, path: asked, code: '403' }, canary());
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
        '    documented, but not there: NormalQueriesServedChart, SmartQueriesServedChart',
        '  retry-after: 99',
      ].join('\n'),
    );
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
    expect(text).toMatch(/GET \/dnszone of the core API\n {2}403 × 1;[\s\S]*error keys: user\.not_allowed\n/);
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
