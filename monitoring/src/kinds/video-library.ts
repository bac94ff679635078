/** Video libraries: what they hold and deliver, and how their videos are protected. */
import { type Dashboard, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, upText, yesNo } from '../panels.ts';
import { all, anywhere, entityOf, highest, hundred, named, peaks, seriesOf, values } from '../promql.ts';
import { upToThree } from '../rules.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

export const library = entityOf({
  ids: ['library_id'],
  noun: 'library',
  picks: { library: 'library_id' },
  info: 'bunnynet_video_library_info',
  dashboard: 'bunnynet-stream',
});

/** Shared by all kinds about libraries. */
export const streamDashboard: Dashboard = {
  uid: 'bunnynet-stream',
  title: 'Stream',
  description: 'Video libraries: views, traffic, storage, transcribing and DRM.',
  picked: ['library_id=~"$library|"'],
  details: ['Transcribing and DRM', 'Readings'],
  variables: [pickByName(library, 'Library')],
};

const family = (name: string): string => `bunnynet_video_library_${name}`;
const field = (name: string): string => values(anywhere(library), family(name));

const expires = `clamp_min(${seriesOf(library, family('drm_certificate_expiration_timestamp_seconds'))} - time(), 0)`;
const expiry = highest(library, `${expires} and ${family('drm_system_enabled')} == 1`, ['system']);

const expiring = upToThree(
  'system',
  'max by (system) (last_over_time(bunnynet_video_library_drm_certificate_expiration_timestamp_seconds{%s}[3m:1m]) - time() < [[days]] * 86400)',
  ['library_id'],
  'not read now',
);

export const videoLibrary: KindMonitoring = {
  kind: 'video_library',
  rules: {
    about: 'Video libraries: DRM certificates.',
    reading: family('drm_enabled'),
    names: library,
    alerts: {
      BunnynetVideoLibraryCertificateExpiring: {
        comment: 'The first certificate to expire of the DRM systems that are enabled.',
        expr: `
          min by (library_id) (
            max by (library_id, system) (last_over_time(bunnynet_video_library_drm_certificate_expiration_timestamp_seconds[3m:1m]))
            and max by (library_id, system) (last_over_time(bunnynet_video_library_drm_system_enabled[3m:1m])) == 1
          ) - time() < [[days]] * 86400`,
        thresholds: { days: 14 },
        for: '10m',
        summary: 'A DRM certificate of library {{ or $name $labels.library_id }} is about to expire',
        description: `A certificate of an enabled DRM system of library {{ $labels.library_id }} expires within [[days]]d, or has expired: ${expiring}.`,
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Stream', [
      lines('Traffic this month by library (top 10)', 'decbytes', 12, {
        description: 'This calendar month so far; starts again each month (API field TrafficUsage).',
        queries: peaks(10, all(library), family('monthly_traffic_bytes')),
        link: library.link,
      }),
    ]),
    row(streamDashboard, 'Libraries', [
      grid('Libraries', 'short', 24, {
        description:
          'At most 100 of the selected libraries, those with the most traffic first (API fields TrafficUsage, VideoCount, StorageUsage, ReplicationRegions, EnableTranscribing, MonthlyChargesTranscribing, MonthlyChargesPremiumEncoding, MonthlyChargesEnterpriseDrm, EnableDRM; traffic and charges of this calendar month, the rest as it is now).',
        entity: library,
        rows: hundred(library, family('(up|monthly_traffic_bytes)')),
        columns: [
          { title: 'Traffic', expr: field('monthly_traffic_bytes'), unit: 'decbytes' },
          { title: 'Videos', expr: field('videos') },
          { title: 'Stored', expr: field('storage_bytes'), unit: 'decbytes' },
          { title: 'Replicas', expr: field('replication_regions') },
          { title: 'Transcribes', expr: field('transcribing_enabled'), text: yesNo },
          {
            title: 'Transcribing',
            expr: field('monthly_transcribing_charges_dollars'),
            unit: 'currencyUSD',
          },
          {
            title: 'Encoding',
            expr: field('monthly_premium_encoding_charges_dollars'),
            unit: 'currencyUSD',
          },
          {
            title: 'DRM cost',
            expr: field('monthly_enterprise_drm_charges_dollars'),
            unit: 'currencyUSD',
          },
          { title: 'DRM', expr: field('drm_enabled'), text: yesNo },
          { title: 'Last poll', expr: field('up'), text: upText },
        ],
      }),
      lines('Stored by library (top 15)', 'decbytes', 8, {
        description: 'Bytes that a library stores (API field StorageUsage, as it is at each poll).',
        queries: peaks(15, library, family('storage_bytes')),
      }),
      lines('Videos by library (top 15)', 'short', 8, {
        description: 'Number of videos (API field VideoCount, as it is at each poll).',
        queries: peaks(15, library, family('videos')),
      }),
      bars('DRM certificates expire in', 's', 8, {
        description:
          'Time until the certificate of an enabled DRM system expires, of the 10 next (API fields AppleFairPlayDrm and GoogleWidevineDrm: CertificateExpirationDate, Enabled). An alert fires two weeks before.',
        steps: ['red', [1_209_600, 'green']],
        queries: { '{{display}}: {{system}}': named(library, `bottomk(10, ${expiry})`) },
        link: library.link,
        nothing: 'No library has DRM with a certificate.',
        alerts: ['BunnynetVideoLibraryCertificateExpiring'],
      }),
    ]),
  ],
};
