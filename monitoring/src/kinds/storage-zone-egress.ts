/** What is downloaded from storage zones, by protocol. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines, newestDay } from '../panels.ts';
import { perSecond, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { storageDnsDashboard, storageZone, toStorageZone } from './storage-zone.ts';

const bytes = 'bunnynet_storage_zone_egress_bytes_total';

function panels(): readonly Row[] {
  return [
    row(storageDnsDashboard, 'Egress', [
      lines({
        title: 'Egress by protocol',
        description:
          'Bytes a second that are downloaded from the selected storage zones together, averaged over half an hour (API fields HttpEgressChart, S3EgressChart, S3PresignedEgressChart, FtpEgressChart, SftpEgressChart).',
        unit: 'Bps',
        span: 12,
        stacked: true,
        queries: [
          {
            expr: `sum by (protocol) (${perSecond(storageZone, bytes, { by: ['protocol'] })})`,
            legend: '{{protocol}}',
          },
        ],
      }),
      rankedNow(10, storageZone, perSecond(storageZone, bytes, { where: ['protocol="http"'] }), {
        title: 'HTTP egress: the 10 busiest storage zones',
        description: 'Bytes a second over HTTP, averaged over half an hour (API field HttpEgressChart).',
        unit: 'Bps',
        span: 12,
        link: toStorageZone('__field.labels.storage_zone_id'),
      }),
    ]),
    row(storageDnsDashboard, 'Readings', [
      newestDay(
        'egress',
        values(storageZone, 'bunnynet_storage_zone_egress_latest_day_timestamp_seconds'),
        'field HttpEgressChart and the other charts',
      ),
    ]),
  ];
}

export const storageZoneEgressMonitoring: KindMonitoring = { kind: 'storage_zone_egress', panels };
