/** What is downloaded from storage zones, by protocol. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines, newestDay } from '../panels.ts';
import { perSecond, top, values } from '../promql.ts';
import { storageDnsDashboard, storageZone } from './storage-zone.ts';

const bytes = 'bunnynet_storage_zone_egress_bytes_total';

export const storageZoneEgress: KindMonitoring = {
  kind: 'storage_zone_egress',
  rows: [
    row(storageDnsDashboard, 'Egress', [
      lines('Egress by protocol', 'Bps', 12, {
        description:
          'Bytes a second that are downloaded from the selected storage zones together, averaged over half an hour (API fields HttpEgressChart, S3EgressChart, S3PresignedEgressChart, FtpEgressChart, SftpEgressChart).',
        stacked: true,
        queries: {
          '{{protocol}}': `sum by (protocol) (${perSecond(storageZone, bytes, ['protocol'])})`,
        },
      }),
      bars('HTTP egress by storage zone (top 10)', 'Bps', 12, {
        description: 'Bytes a second over HTTP, averaged over half an hour (API field HttpEgressChart).',
        queries: top(10, storageZone, perSecond(storageZone, bytes, [], ['protocol="http"'])),
        link: storageZone.link,
      }),
    ]),
    row(storageDnsDashboard, 'Readings', [
      newestDay(
        'egress',
        values(storageZone, 'bunnynet_storage_zone_egress_latest_day_timestamp_seconds'),
        'field HttpEgressChart and the other charts',
      ),
    ]),
  ],
};
