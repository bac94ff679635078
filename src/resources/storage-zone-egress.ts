/** What was downloaded from a storage zone, by protocol and day (`/storagezone/{id}/statistics/egress`). */
import { daily, newestDay } from './daily.ts';
import { dayQuery } from './days.ts';
import { object } from './fields.ts';
import { defineResource } from './resource.ts';
import { storageZones } from './storage-zone.ts';

function downloaded(protocol: string) {
  return daily('bytes', 'Bytes downloaded from the storage zone by protocol', { of: { protocol } });
}

const egress = object(
  {
    HttpEgressChart: downloaded('http'),
    S3EgressChart: downloaded('s3'),
    S3PresignedEgressChart: downloaded('s3_presigned'),
    FtpEgressChart: downloaded('ftp'),
    SftpEgressChart: downloaded('sftp'),
  },
  'TotalEgressChart',
  'HttpEgressTotal',
  'S3EgressTotal',
  'S3PresignedEgressTotal',
  'FtpEgressTotal',
  'SftpEgressTotal',
  'TotalEgress',
);

export const storageZoneEgress = defineResource({
  kind: 'storage_zone_egress',
  product: 'Storage',
  reference: 'GET /storagezone/{id}/statistics/egress',
  noun: 'egress of the storage zone',
  defaultIntervalSeconds: 600,
  listing: storageZones,
  answer: egress,
  families: [newestDay(egress.names, 'API field HttpEgressChart and the other charts')],
  path: ({ storage_zone_id }, context) =>
    `/storagezone/${storage_zone_id}/statistics/egress?${dayQuery(context)}`,
});
