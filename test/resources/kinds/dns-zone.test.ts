import { expect, it } from 'vitest';
import { dnsZone, dnsZones } from '../../../src/resources/kinds/dns-zone.ts';
import { type Body, expose, unnoted } from '../expose.ts';

const nowMs = Date.UTC(2026, 7, 20, 12);
const read = (answer: Body) =>
  expose(dnsZone, answer, { ids: { dns_zone_id: '58113' }, name: 'shop.example', context: { nowMs } });

it('shows the queries of the day so far, and starts counting', async () => {
  const { rows, asked } = await read(`{
    "TotalQueriesServed": 100,
    "QueriesServedChart": { "2026-08-20T00:00:00Z": 100.0 },
    "NormalQueriesServedChart": { "2026-08-20T00:00:00Z": 90 },
    "SmartQueriesServedChart": { "2026-08-20T00:00:00Z": 10 },
    "QueriesByTypeChart": { "1": 60, "28": 30, "15": 10 }
  }`);
  expect(asked).toEqual(['/dnszone/58113/statistics?dateFrom=2026-08-20&dateTo=2026-08-20']);
  expect(rows).toBe(`\
bunnynet_dns_zone_info{dns_zone_id="58113",account="account",name="shop.example"} 1
bunnynet_dns_zone_queries_latest_day{dns_zone_id="58113"} 100
bunnynet_dns_zone_queries_total{dns_zone_id="58113"} 0
bunnynet_dns_zone_normal_queries_latest_day{dns_zone_id="58113"} 90
bunnynet_dns_zone_normal_queries_total{dns_zone_id="58113"} 0
bunnynet_dns_zone_smart_queries_latest_day{dns_zone_id="58113"} 10
bunnynet_dns_zone_smart_queries_total{dns_zone_id="58113"} 0
bunnynet_dns_zone_queries_by_type_latest_day{dns_zone_id="58113",type="A"} 60
bunnynet_dns_zone_queries_by_type_latest_day{dns_zone_id="58113",type="AAAA"} 30
bunnynet_dns_zone_queries_by_type_latest_day{dns_zone_id="58113",type="MX"} 10
bunnynet_dns_zone_queries_by_type_total{dns_zone_id="58113",type="A"} 0
bunnynet_dns_zone_queries_by_type_total{dns_zone_id="58113",type="AAAA"} 0
bunnynet_dns_zone_queries_by_type_total{dns_zone_id="58113",type="MX"} 0
bunnynet_dns_zone_queries_by_type_total{dns_zone_id="58113",type="other"} 0
bunnynet_dns_zone_latest_day_timestamp_seconds{dns_zone_id="58113"} 1787184000
`);
});

it('translates IANA numbers to type names, unknown ones as in RFC 3597, and adds up the same type', async () => {
  const { rows } = await read(
    '{ "QueriesByTypeChart": { "5": 1, "16": 2, "33": 3, "65": 4, "257": 5, "4711": 6, "A": 7, "1": 8, "other": 9 } }',
  );
  const types = [...rows.matchAll(/_latest_day\{dns_zone_id="58113",type="(\w+)"\} (\d+)/g)];
  expect(Object.fromEntries(types.map(([, type, value]) => [type, Number(value)]))).toEqual({
    CNAME: 1,
    TXT: 2,
    SRV: 3,
    HTTPS: 4,
    CAA: 5,
    TYPE4711: 6,
    A: 15,
    other: 9,
  });
});

it('does not treat empty charts next to queries as a day without queries', async () => {
  const { rows, mismatched } = await read(`{
    "QueriesServedChart": { "2026-08-20T00:00:00Z": 100 },
    "NormalQueriesServedChart": {}, "SmartQueriesServedChart": {}, "QueriesByTypeChart": {}
  }`);
  expect(figures(rows)).toBe(`\
bunnynet_dns_zone_queries_latest_day{dns_zone_id="58113"} 100
bunnynet_dns_zone_queries_total{dns_zone_id="58113"} 0
bunnynet_dns_zone_latest_day_timestamp_seconds{dns_zone_id="58113"} 1787184000
`);
  expect(mismatched).toEqual([]);
});

const figures = (rows: string) => rows.replace(/^.*_info.*\n/m, '');

it('finds every DNS zone by its domain, without the records', async () => {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    return Promise.resolve({
      Items: [{ Id: 1, Domain: 'shop.example' }],
      CurrentPage: 1,
      TotalItems: 1,
      HasMoreItems: false,
    });
  };
  expect([...(await dnsZones.discover(get, undefined, unnoted, 0)).found]).toEqual([
    { ids: { dns_zone_id: '1' }, name: 'shop.example', reading: { Id: '1', Domain: 'shop.example' } },
  ]);
  expect(asked).toEqual(['/dnszone?view=1&page=1&perPage=100']);
});
