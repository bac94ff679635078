/** What was downloaded from a storage zone, by protocol and day (`/storagezone/{id}/statistics/egress`). */

import { sum } from '../answer-of-range.ts';
import { counts, daily, newestDay } from '../charts.ts';
import { defineResource } from '../define.ts';
import { object } from '../fields.ts';
import { daysInOne } from '../queries.ts';
import { storageZones } from './storage-zone.ts';

function downloaded(protocol: string, sum: string) {
  return daily('bytes', 'Bytes downloaded from the storage zone by protocol', {
    fixed: { protocol },
    sum,
    whole: 'TotalEgressChart',
  });
}

const egress = object({
  HttpEgressChart: downloaded('http', 'HttpEgressTotal'),
  S3EgressChart: downloaded('s3', 'S3EgressTotal'),
  S3PresignedEgressChart: downloaded('s3_presigned', 'S3PresignedEgressTotal'),
  FtpEgressChart: downloaded('ftp', 'FtpEgressTotal'),
  SftpEgressChart: downloaded('sftp', 'SftpEgressTotal'),
  TotalEgressChart: counts,
  HttpEgressTotal: sum,
  S3EgressTotal: sum,
  S3PresignedEgressTotal: sum,
  FtpEgressTotal: sum,
  SftpEgressTotal: sum,
}).ignoring('TotalEgress');

export const storageZoneEgress = defineResource({
  kind: 'storage_zone_egress',
  noun: 'storage zone egress',
  listing: storageZones,
  path: '/storagezone/{id}/statistics/egress',
  query: daysInOne,
  answer: egress,
  families: (own) => [...own, newestDay(egress)],
});
