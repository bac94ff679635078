/** What was downloaded from a storage zone, by protocol and day (`/storagezone/{id}/statistics/egress`). */
import { daily, newestDay } from '../charts.ts';
import { defineResource } from '../define.ts';
import { object } from '../fields.ts';
import { openDays } from '../queries.ts';
import { storageZones } from './storage-zone.ts';

function downloaded(protocol: string) {
  return daily('bytes', 'Bytes downloaded from the storage zone by protocol', { of: { protocol } });
}

const egress = object({
  HttpEgressChart: downloaded('http'),
  S3EgressChart: downloaded('s3'),
  S3PresignedEgressChart: downloaded('s3_presigned'),
  FtpEgressChart: downloaded('ftp'),
  SftpEgressChart: downloaded('sftp'),
}).ignoring(`TotalEgressChart{*} HttpEgressTotal S3EgressTotal S3PresignedEgressTotal FtpEgressTotal SftpEgressTotal
  TotalEgress`);

export const storageZoneEgress = defineResource({
  kind: 'storage_zone_egress',
  noun: 'storage zone egress',
  listing: storageZones,
  path: '/storagezone/{id}/statistics/egress',
  query: openDays,
  answer: egress,
  families: (own) => [...own, newestDay(egress)],
});
