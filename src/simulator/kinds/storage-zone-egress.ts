/** What is downloaded from storage zones, by protocol and day. */
import { chartOf, daysAsked, doneOf, totalOf, weekdayShare } from '../days.ts';
import { coreApi, ofEach } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { unit } from '../random.ts';
import type { StorageZone, StorageZones } from './storage-zone.ts';

/** The share of the whole. */
const protocols = { Http: 0.8, S3: 0.12, S3Presigned: 0.05, Ftp: 0.02, Sftp: 0.01 };

export const storageZoneEgress = {
  kind: 'storage_zone_egress',
  ...coreApi,
  path: '/storagezone/{storageZone}/statistics/egress',
  traits: {
    charts: [...Object.keys(protocols), 'Total'].map((name) => `${name}EgressChart`),
    number: 'TotalEgress',
    wholeNumbers: true,
  },
  answers: ({ storageZones }) =>
    ofEach(
      storageZones,
      ({ storageZoneId }) => storageZoneId,
      (zone, request) => ok(statistics(zone, request)),
    ),
  section: 'storage_zone_egress',
  targets: ({ storageZones }) => storageZones.map(({ storageZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, StorageZones>;

function statistics({ seed, files }: StorageZone, request: Request): object {
  const days = daysAsked(request);
  const bytes = (share: number) => (day: number) =>
    Math.floor(
      files * 4e5 * share * weekdayShare(day) * (0.5 + unit(seed, day, 0x95)) * doneOf(day, request.nowMs),
    );
  const byProtocol = Object.entries(protocols).flatMap(([name, share]): [string, unknown][] => [
    [`${name}EgressChart`, chartOf(days, bytes(share))],
    [`${name}EgressTotal`, totalOf(days, bytes(share))],
  ]);
  return {
    ...Object.fromEntries(byProtocol),
    TotalEgressChart: chartOf(days, bytes(1)),
    TotalEgress: totalOf(days, bytes(1)),
  };
}
