/** What is downloaded from storage zones, by protocol and day. */
import { ofEach } from '../answers.ts';
import { chartOf, daily, queryDays, totalOf } from '../days.ts';
import { storageApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { StorageZone } from './storage-zone.ts';

export const storageZoneEgress = {
  kind: 'storage_zone_egress',
  section: 'storage_zone_egress',
  ...storageApi,
  path: '/storagezone/{storageZone}/statistics/egress',
  traits: { integer: 'TotalEgress', charts: true },
  ...ofEach('storageZones', statistics),
} as const satisfies Kind;

/** The share of each protocol in the downloads. */
const protocols = { Http: 0.8, S3: 0.12, S3Presigned: 0.05, Ftp: 0.02, Sftp: 0.01 };

function statistics(zone: StorageZone, request: Request) {
  const days = queryDays(request);
  const bytes = (share: number) => daily(zone, 0x95, zone.files * 4e5 * share, request.nowMs, 0.5, 1);
  const byProtocol = Object.entries(protocols).map(([name, share]) => ({
    [`${name}EgressChart`]: chartOf(days, bytes(share)),
    [`${name}EgressTotal`]: totalOf(days, bytes(share)),
  }));
  return ok(
    Object.assign(
      { TotalEgressChart: chartOf(days, bytes(1)), TotalEgress: totalOf(days, bytes(1)) },
      ...byProtocol,
    ),
  );
}
