/** Video libraries: what they hold and deliver, and how their videos are protected. */
import { type Dashboard, type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars } from '../panels.ts';
import { all, anywhere, entityOf, highest, named, selector, seriesOf, values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { upText, yesNo } from '../states.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

export const library = entityOf({
  ids: ['library_id'],
  info: 'bunnynet_video_library_info',
  selection: ['library_id=~"$library"'],
});
const every = all(library);

/** For every kind that is read for a library. */
export const streamDashboard: Dashboard = {
  uid: 'bunnynet-stream',
  title: 'Stream',
  description: 'Video libraries: views, traffic, storage, transcribing and DRM.',
  picked: ['library_id=~"$library|"'],
  details: ['Transcribing and DRM', 'Readings'],
  variables: () => [pickByName('library', 'Library', every, 'library_id')],
};

const open = 'Open the library';
export const toLibrary = linkTo(streamDashboard.uid, open, { library: '${__field.labels.library_id}' });
const rowToLibrary = linkTo(streamDashboard.uid, open, { library: '${__data.fields.library_id}' });

const family = (name: string): string => `bunnynet_video_library_${name}`;
const field = (name: string): string => values(anywhere(library), family(name));

/** The rows of the table: the hundred with the most traffic, and those that cannot be read while there is room. */
const rows = `topk(100, ${highest(library, selector('', ['__name__=~"bunnynet_video_library_(up|monthly_traffic_bytes)"', ...library.matchers]))})`;

const readable = presence(
  'video_library',
  ['library_id'],
  'bunnynet_video_library_up',
  'bunnynet_video_library_drm_enabled',
);

const rules: Rules = {
  about: 'Video libraries: DRM certificates.',
  groups: [
    {
      name: 'bunnynet-video-library',
      interval: '2m',
      rules: [
        ...readable.records,
        displayRecord(library),
        {
          alert: 'BunnynetVideoLibraryCertificateExpiring',
          comment: 'The first certificate to expire of the DRM systems that are enabled.',
          expr: `
          min by (library_id) (
            max by (library_id, system) (last_over_time(bunnynet_video_library_drm_certificate_expiration_timestamp_seconds[3m]))
            and max by (library_id, system) (last_over_time(bunnynet_video_library_drm_system_enabled[3m])) == 1
          ) - time() < [[days]] * 86400`,
          thresholds: { days: 14 },
          for: '10m',
          severity: 'warning',
          held: readable,
          named: library,
          summary: 'A DRM certificate of library {{ or $name $labels.library_id }} is about to expire',
          description:
            'A certificate of an enabled DRM system of library {{ $labels.library_id }} expires within [[days]] days, or has expired.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  const expires = `clamp_min(${seriesOf(library, family('drm_certificate_expiration_timestamp_seconds'))} - time(), 0)`;
  const expiry = highest(library, `${expires} and ${family('drm_system_enabled')} == 1`, ['system']);
  return [
    row(overviewDashboard, 'Stream', [
      ranked(
        10,
        every,
        { metric: family('monthly_traffic_bytes') },
        {
          title: 'Traffic of the month: the 10 busiest libraries',
          description: 'This calendar month so far; begins anew with each month (API field TrafficUsage).',
          unit: 'decbytes',
          span: 12,
          link: toLibrary,
        },
      ),
    ]),
    row(streamDashboard, 'Libraries', [
      grid({
        title: 'Libraries',
        description:
          'At most 100 of the selected libraries, those with the most traffic first (API fields TrafficUsage, VideoCount, StorageUsage, ReplicationRegions, EnableTranscribing, MonthlyChargesTranscribing, MonthlyChargesPremiumEncoding, MonthlyChargesEnterpriseDrm, EnableDRM; traffic and charges of this calendar month, the rest as it is now).',
        unit: 'short',
        span: 24,
        entity: library,
        rows,
        name: 'Library',
        link: rowToLibrary,
        columns: [
          { title: 'Traffic', expr: field('monthly_traffic_bytes'), unit: 'decbytes' },
          { title: 'Videos', expr: field('videos') },
          { title: 'Stored', expr: field('storage_bytes'), unit: 'decbytes' },
          { title: 'Replicas', expr: field('replication_regions') },
          { title: 'Transcribes', expr: field('transcribing_enabled'), unit: 'none', mappings: [yesNo] },
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
          { title: 'DRM', expr: field('drm_enabled'), unit: 'none', mappings: [yesNo] },
          { title: 'Last poll', expr: field('up'), unit: 'none', mappings: [upText] },
        ],
        sort: { title: 'Traffic', descending: true },
      }),
      ranked(
        15,
        library,
        { metric: family('storage_bytes') },
        {
          title: 'Stored: the 15 largest libraries',
          description: 'Bytes that a library stores (API field StorageUsage, as it is at each poll).',
          unit: 'decbytes',
          span: 8,
        },
      ),
      ranked(
        15,
        library,
        { metric: family('videos') },
        {
          title: 'Videos: the 15 largest libraries',
          description: 'Number of videos (API field VideoCount, as it is at each poll).',
          unit: 'short',
          span: 8,
        },
      ),
      bars({
        title: 'DRM certificates: time left',
        description:
          'Time until the certificate of an enabled DRM system expires, of the 10 next (API fields AppleFairPlayDrm and GoogleWidevineDrm: CertificateExpirationDate, Enabled). An alert fires two weeks before.',
        unit: 's',
        span: 8,
        steps: ['red', [1_209_600, 'green']],
        queries: [{ expr: named(library, `bottomk(10, ${expiry})`), legend: '{{display}}: {{system}}' }],
        link: toLibrary,
        nothing: 'No library has DRM with a certificate.',
        alerts: ['BunnynetVideoLibraryCertificateExpiring'],
      }),
    ]),
  ];
}

export const videoLibraryMonitoring: KindMonitoring = { kind: 'video_library', panels, rules };
