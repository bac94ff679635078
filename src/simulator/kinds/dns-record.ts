/** The records of DNS zones, some of them with a monitor (`/dnszone`, in full). */
import { count } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind } from '../kind.ts';
import { coreObjectPaging, listing } from '../paging.ts';
import { hash } from '../random.ts';
import { type DnsZone, liteZone } from './dns-zone.ts';

interface DnsZones {
  readonly dnsZones: readonly DnsZone[];
}

export const dnsRecord = {
  kind: 'dns_record',
  ...coreApi,
  path: '/dnszone',
  traits: { isStill: true, field: 'Items', list: true, ids: ['Id'], names: ['Domain'] },
  pages: ({ dnsZones }) =>
    listing(
      coreObjectPaging,
      dnsZones,
      ({ dnsZoneId }) => dnsZoneId,
      (zone, request) => ({ ...liteZone(zone, request), Records: records(zone) }),
    ),
  section: 'dns_records',
  targets: ({ dnsZones }) => dnsZones.map(({ dnsZoneId: id, domain: name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, DnsZones>;

const kindsOfRecords = [
  { Type: 0, Name: '', Value: '192.0.2.10', MonitorType: 1 },
  { Type: 0, Name: 'api', Value: '192.0.2.11', MonitorType: 2 },
  { Type: 1, Name: '', Value: '2001:db8::10', MonitorType: 0 },
  { Type: 2, Name: 'www', Value: 'shop.b-cdn.net', MonitorType: 0 },
  { Type: 4, Name: '', Value: 'mail.example', MonitorType: 0 },
  { Type: 3, Name: '_verify', Value: 'sim-dns-value', MonitorType: 0 },
] as const;

/** Of one zone in twenty those with a monitor are offline. */
function records({ seed, index: place, dnsZoneId }: DnsZone) {
  return count(2 + (hash(seed, 0x94) % 5), (index) => {
    const { MonitorType, ...kind } = kindsOfRecords[
      index % kindsOfRecords.length
    ] as (typeof kindsOfRecords)[number];
    const isOffline = place % 20 === 19;
    return {
      Id: jsonInteger(`${dnsZoneId}0${index}`),
      ...kind,
      Ttl: 300,
      Disabled: false,
      Accelerated: false,
      MonitorType,
      MonitorStatus: MonitorType === 0 ? 0 : isOffline ? 2 : 1,
    };
  });
}
