import { expect, it } from 'vitest';
import { dnsRecord } from '../../../src/resources/kinds/dns-record.ts';
import { exposeListing } from '../expose.ts';

const read = (...zones: readonly object[]) =>
  exposeListing(dnsRecord, () => ({
    Items: zones,
    CurrentPage: 1,
    TotalItems: zones.length,
    HasMoreItems: false,
  }));

const monitor = { MonitorType: 1, Ttl: 300, Disabled: false };

it('shows the results of the monitors, and the number of records of each zone', async () => {
  const { rows, asked } = await read(
    {
      Id: 58113,
      Domain: 'shop.example',
      NameserversDetected: true,
      DnsSecEnabled: false,
      Records: [
        { Id: 11, Type: 0, Name: 'www', Value: '192.0.2.10', ...monitor, MonitorStatus: 2 },
        { Id: 12, Type: 1, Name: '', Value: '2001:db8::10', ...monitor, MonitorStatus: 1, Disabled: true },
        { Id: 13, Type: 3, Name: '_key', Value: 'a-secret', MonitorType: 0, MonitorStatus: 0 },
      ],
    },
    { Id: 58122, Domain: 'example.org', NameserversDetected: false, DnsSecEnabled: true, Records: [] },
  );
  expect(asked).toEqual(['/dnszone?page=1&perPage=100']);
  expect(rows.replaceAll('bunnynet_dns_', '').replaceAll('dns_zone_id="58113"', 'shop')).toBe(`\
zone_nameservers_detected{shop} 1
zone_nameservers_detected{dns_zone_id="58122"} 0
zone_dnssec_enabled{shop} 0
zone_dnssec_enabled{dns_zone_id="58122"} 1
zone_records{shop} 3
zone_records{dns_zone_id="58122"} 0
record_monitor_status{shop,record_id="11",status="unknown"} 0
record_monitor_status{shop,record_id="11",status="online"} 0
record_monitor_status{shop,record_id="11",status="offline"} 1
record_monitor_status{shop,record_id="12",status="unknown"} 0
record_monitor_status{shop,record_id="12",status="online"} 1
record_monitor_status{shop,record_id="12",status="offline"} 0
record_enabled{shop,record_id="11"} 1
record_enabled{shop,record_id="12"} 0
record_info{shop,account="account",record_id="11",name="www.shop.example",type="A"} 1
record_info{shop,account="account",record_id="12",name="shop.example",type="AAAA"} 1
`);
});

it('shows how far the acceleration of a record is, and nothing of records that are not accelerated', async () => {
  const { rows, page, unrecognized } = await read({
    Id: 1,
    Domain: 'shop.example',
    Records: [
      { Id: 11, Type: 0, Name: 'www', Value: 'very-secret', Accelerated: true, AccelerationStatus: 4 },
      {
        Id: 12,
        Type: 3,
        Name: '',
        Accelerated: false,
        AccelerationStatus: 0,
        EnviromentalVariables: ['very-secret'],
      },
      { Id: 13, Type: 0, Name: 'api', Accelerated: true, AccelerationStatus: 9 },
      { Id: 14, Type: 0, Name: 'old', Accelerated: null, AccelerationStatus: null },
    ],
  });
  expect(rows.replaceAll('bunnynet_dns_record_', '').replaceAll('dns_zone_id="1",record_id=', '')).toBe(`\
bunnynet_dns_zone_records{dns_zone_id="1"} 4
acceleration_status{"11",status="none"} 0
acceleration_status{"11",status="pending"} 0
acceleration_status{"11",status="processing"} 0
acceleration_status{"11",status="completed"} 0
acceleration_status{"11",status="failed"} 1
acceleration_status{"11",status="unknown"} 0
acceleration_status{"13",status="none"} 0
acceleration_status{"13",status="pending"} 0
acceleration_status{"13",status="processing"} 0
acceleration_status{"13",status="completed"} 0
acceleration_status{"13",status="failed"} 0
acceleration_status{"13",status="unknown"} 1
info{dns_zone_id="1",account="account",record_id="11",name="www.shop.example",type="A"} 1
info{dns_zone_id="1",account="account",record_id="13",name="api.shop.example",type="A"} 1
`);
  expect(unrecognized).toEqual(['Records: AccelerationStatus 9']);
  expect(page).not.toContain('secret');
});

it('counts an unlisted state as unknown, and notes it', async () => {
  const { rows, unrecognized } = await read({
    Id: 1,
    Records: [{ Id: 11, Type: 99, Name: 'www', ...monitor, MonitorStatus: 7 }],
  });
  expect(rows).toContain('monitor_status{dns_zone_id="1",record_id="11",status="unknown"} 1\n');
  expect(rows).toContain('info{dns_zone_id="1",account="account",record_id="11",name="www",type="99"} 1\n');
  expect(unrecognized).toEqual(['Records: Type 99', 'Records: MonitorStatus 7']);
});

it('leaves out fields that are null, missing or of the wrong type', async () => {
  const { rows, mismatched } = await read(
    { Id: 1, Domain: null, NameserversDetected: 'yes', Records: null },
    { Id: 2, Records: [{ Id: 21, ...monitor, MonitorStatus: null }, null, { ...monitor, MonitorStatus: 2 }] },
  );
  expect(rows).toBe(`\
bunnynet_dns_zone_records{dns_zone_id="2"} 3
bunnynet_dns_record_enabled{dns_zone_id="2",record_id="21"} 1
bunnynet_dns_record_info{dns_zone_id="2",account="account",record_id="21",name="",type=""} 1
`);
  expect(mismatched).toEqual(['NameserversDetected']);
});
