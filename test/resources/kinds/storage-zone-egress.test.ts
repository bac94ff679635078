import { expect, it } from 'vitest';
import { storageZoneEgress } from '../../../src/resources/kinds/storage-zone-egress.ts';
import { type Body, expose } from '../expose.ts';

const noon = Date.parse('2026-08-20T12:00:00Z');
const read = (answer: Body) =>
  expose(storageZoneEgress, answer, { ids: { storage_zone_id: '211307' }, context: { nowMs: noon } });

it('shows the downloads of each protocol so far today, and starts counting', async () => {
  const { rows, asked } = await read({
    HttpEgressChart: { '2026-08-20T00:00:00Z': 5000 },
    S3EgressChart: { '2026-08-20T00:00:00Z': 70 },
    S3PresignedEgressChart: { '2026-08-20T00:00:00Z': 0 },
    FtpEgressChart: {},
    SftpEgressChart: null,
    TotalEgressChart: { '2026-08-20T00:00:00Z': 5070 },
    TotalEgress: 5070,
  });
  expect(asked).toEqual(['/storagezone/211307/statistics/egress?dateFrom=2026-08-19&dateTo=2026-08-20']);
  expect(
    rows.replaceAll('bunnynet_storage_zone_egress_', '').replaceAll('storage_zone_id="211307"', 'zone'),
  ).toBe(`\
bytes_latest_day{zone,protocol="http"} 5000
bytes_latest_day{zone,protocol="s3"} 70
bytes_latest_day{zone,protocol="s3_presigned"} 0
bytes_total{zone,protocol="http"} 0
bytes_total{zone,protocol="s3"} 0
bytes_total{zone,protocol="s3_presigned"} 0
bytes_total{zone,protocol="ftp"} 0
bytes_total{zone,protocol="sftp"} 0
latest_day_timestamp_seconds{zone} 1787184000
`);
});
