/** Video libraries: what they hold and deliver, and how their videos are protected. */
import { type Dashboard, type Row, row, urlTo } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, grid } from '../panels.ts';
import { all, entityOf, named, values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { upText, yesNo } from '../states.ts';
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
  variables: () => [pickByName('library', 'Library', every, 'library_id')],
};

export const toLibrary = {
  title: 'Open the library',
  url: urlTo(streamDashboard, { library: '${__field.labels.library_id}' }),
};

const field = (name: string): string => values(library, `bunnynet_video_library_${name}`);
const bySystem = (name: string): string =>
  values(library, `bunnynet_video_library_drm_${name}`, { by: ['system'] });

/** The rows of the table: the hundred with the most traffic, and those that cannot be read while there is room. */
const rows = `topk(100, ${field('monthly_traffic_bytes')} or on (library_id) ${field('up')} * 0)`;

function inRows(name: string): string {
  return `${field(name)} and on (library_id) ${rows}`;
}

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
  return [
    row(overviewDashboard, 'Stream', [
      ranked(10, every, values(every, 'bunnynet_video_library_monthly_traffic_bytes'), {
        title: 'Traffic of the month: the 10 busiest libraries',
        description: 'This calendar month so far; begins anew with each month (API field TrafficUsage).',
        unit: 'decbytes',
        span: 12,
        link: toLibrary,
      }),
    ]),
    row(streamDashboard, 'Libraries', [
      grid({
        title: 'Libraries',
        description:
          'At most 100 of the selected libraries, those with the most traffic first (API fields TrafficUsage, VideoCount, StorageUsage, ReplicationRegions, EnableTranscribing, MonthlyChargesTranscribing, EnableDRM; traffic and charges of this calendar month, the rest as it is now).',
        unit: 'short',
        span: 24,
        key: { label: 'library_id', title: 'Id' },
        labels: [{ label: 'display', title: 'Library' }],
        columns: [
          { title: 'Traffic of the month', expr: named(library, rows), unit: 'decbytes' },
          { title: 'Videos', expr: inRows('videos') },
          { title: 'Stored', expr: inRows('storage_bytes'), unit: 'decbytes' },
          { title: 'Replicas', expr: inRows('replication_regions') },
          { title: 'Transcribes', expr: inRows('transcribing_enabled'), unit: 'none', mappings: [yesNo] },
          {
            title: 'Transcribing charges',
            expr: inRows('monthly_transcribing_charges_dollars'),
            unit: 'currencyUSD',
          },
          { title: 'DRM', expr: inRows('drm_enabled'), unit: 'none', mappings: [yesNo] },
          { title: 'Last poll', expr: inRows('up'), unit: 'none', mappings: [upText] },
        ],
        sort: { title: 'Traffic of the month', descending: true },
      }),
      ranked(15, library, field('storage_bytes'), {
        title: 'Stored: the 15 largest libraries',
        description: 'Bytes that a library stores (API field StorageUsage, as it is at each poll).',
        unit: 'decbytes',
        span: 8,
      }),
      ranked(15, library, field('videos'), {
        title: 'Videos: the 15 largest libraries',
        description: 'Number of videos (API field VideoCount, as it is at each poll).',
        unit: 'short',
        span: 8,
      }),
      bars({
        title: 'DRM certificates expire in: the 15 next',
        description:
          'Time until the certificate of an enabled DRM system expires (API fields AppleFairPlayDrm and GoogleWidevineDrm: CertificateExpirationDate, Enabled). An alert fires two weeks before.',
        unit: 's',
        span: 8,
        steps: ['red', [1_209_600, 'green']],
        queries: [
          {
            expr: named(
              library,
              `bottomk(15, clamp_min(${bySystem('certificate_expiration_timestamp_seconds')} - time(), 0) and ${bySystem('system_enabled')} == 1)`,
            ),
            legend: '{{display}}: {{system}}',
          },
        ],
      }),
    ]),
  ];
}

export const videoLibraryMonitoring: KindMonitoring = { kind: 'video_library', panels, rules };
