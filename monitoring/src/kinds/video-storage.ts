/** Video storage: what the videos of a library store, in which parts, and how old the figures are. */
import { type Dashboard, type Row, row, urlTo } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, grid, lines, numbers } from '../panels.ts';
import { all, entityOf, named, namedWorst, selector, sums, values, worst } from '../promql.ts';
import { presence, type Rules } from '../rules.ts';
import { upText } from '../states.ts';
import { pick, pickByName } from '../variables.ts';

const video = entityOf({
  ids: ['library_id', 'video_id'],
  info: 'bunnynet_video_info',
  selection: ['library_id=~"$library"', 'video_id=~"$video"'],
});

/** A library is shown by its id: its name is only there where the kind video_library is read. */
const library = entityOf({ ids: ['library_id'], info: undefined, selection: ['library_id=~"$library"'] });

const videoStorageDashboard: Dashboard = {
  uid: 'bunnynet-video-storage',
  title: 'Video storage',
  description: 'What the videos of a library store, and in which parts.',
  variables: () => [
    pick('library', 'Library', 'bunnynet_video_storage_up', 'library_id'),
    pickByName('video', 'Video', { ...video, selection: ['library_id=~"$library"'] }, 'video_id'),
  ],
};

const toLibrary = {
  title: 'Open the library',
  url: urlTo(videoStorageDashboard, { library: '${__field.labels.library_id}' }),
};

const byComponent = values(video, 'bunnynet_video_storage_bytes', { by: ['component'] });
const bytes = sums(video, 'bunnynet_video_storage_bytes');
const calculated = values(video, 'bunnynet_video_storage_calculated_timestamp_seconds');
const up = values(video, 'bunnynet_video_storage_up');
const lastSuccess = values(video, 'bunnynet_video_storage_last_success_timestamp_seconds');
const encodings = `max by (library_id, video_id, encoding, codec, resolution) (${selector('bunnynet_video_encoded_storage_bytes', video.selection)})`;

const libraryBytes = `sum by (library_id) (${sums(all(video), 'bunnynet_video_storage_bytes')})`;

/** The rows of the table: the hundred largest videos, and those that cannot be read while there is room. */
const rows = `topk(100, ${bytes} or on (library_id, video_id) ${up} * 0)`;
const key = '"key", "/", "library_id", "video_id"';

function inRows(expr: string): string {
  return `max by (key) (label_join(${expr} and on (library_id, video_id) ${rows}, ${key}))`;
}

const readable = presence(
  'video_storage',
  ['library_id'],
  'bunnynet_video_storage_up',
  'bunnynet_video_storage_bytes',
);

const rules: Rules = {
  about: 'Video storage.',
  groups: [
    {
      name: 'bunnynet-video-storage',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          alert: 'BunnynetVideoStorageGrowth',
          comment:
            'Compared part by part: a video that comes, goes or could not be read in between does not count.',
          expr: `
          sum by (library_id) (
            max by (library_id, video_id, component) (last_over_time(bunnynet_video_storage_bytes[3m]))
            - max by (library_id, video_id, component) (last_over_time(bunnynet_video_storage_bytes[15m] offset 1d))
          )
          > clamp_min([[share]] * sum by (library_id) (max by (library_id, video_id, component) (last_over_time(bunnynet_video_storage_bytes[15m] offset 1d))), [[gigabytes]] * 1e9)`,
          thresholds: { share: 0.2, gigabytes: 10 },
          for: '30m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          summary: 'Videos of library {{ $labels.library_id }} are growing fast',
          description:
            'The videos of library {{ $labels.library_id }} that were there a day ago have grown by {{ $value | humanize1024 }}B since: by more than {{ humanizePercentage "[[share]]" }} and by more than [[gigabytes]] GB.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  return [
    row(overviewDashboard, 'Video storage', [
      numbers({
        title: 'Stored',
        description:
          'Bytes of all videos that can be read, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 6,
        height: 8,
        spark: true,
        queries: [{ expr: `sum(${libraryBytes})`, legend: 'stored' }],
        nothing: 'none',
      }),
      lines({
        title: 'Stored: the 10 largest libraries',
        description:
          'Bytes of the videos of a library that can be read, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 18,
        queries: [{ expr: worst(10, all(library), libraryBytes), legend: 'library {{library_id}}' }],
        link: toLibrary,
      }),
    ]),
    row(videoStorageDashboard, 'Libraries', [
      numbers({
        title: 'Stored',
        description:
          'Bytes of the selected videos, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 6,
        spark: true,
        queries: [{ expr: `sum(${bytes})`, legend: 'stored' }],
        nothing: 'none',
      }),
      numbers({
        title: 'Videos read',
        description: 'How many of the selected videos have a size now (the exporter’s own; no API field).',
        unit: 'short',
        span: 6,
        queries: [
          { expr: `count(${bytes})`, legend: 'read' },
          { expr: `count(${up})`, legend: 'of' },
        ],
        nothing: 'none',
      }),
      numbers({
        title: 'Oldest calculation',
        description:
          'Time since the API calculated the sizes, for the video where it is longest ago (API field calculatedAt; the API does not recalculate at every request).',
        unit: 's',
        span: 6,
        steps: ['green', [604800, 'orange']],
        queries: [{ expr: `time() - min(${calculated})`, legend: 'oldest' }],
        nothing: 'none',
      }),
      numbers({
        title: 'Oldest reading',
        description:
          'Age of the oldest reading among the selected videos (the exporter’s own; no API field).',
        unit: 's',
        span: 6,
        steps: ['green', [10800, 'orange'], [86400, 'red']],
        queries: [{ expr: `max(time() - (${lastSuccess} > 0))`, legend: 'oldest' }],
        nothing: 'none',
      }),
      lines({
        title: 'Stored: the 20 largest libraries',
        description:
          'Bytes of the videos of a library, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        queries: [
          {
            expr: worst(20, library, `sum by (library_id) (${bytes})`),
            legend: 'library {{library_id}}',
          },
        ],
      }),
      lines({
        title: 'Stored by component',
        description:
          'Bytes of the selected videos, by component (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        stacked: true,
        queries: [{ expr: `sum by (component) (${byComponent})`, legend: '{{component}}' }],
      }),
    ]),
    row(videoStorageDashboard, 'Videos', [
      grid({
        title: 'Videos',
        description:
          'The 100 largest of the selected videos (API fields originals, encoded, thumbnails, previews, mp4Fallback and miscellaneous together, and calculatedAt).',
        unit: 'bytes',
        span: 24,
        height: 10,
        key: { label: 'key', title: 'Library / video' },
        labels: [{ label: 'display', title: 'Video' }],
        columns: [
          { title: 'Stored', expr: `label_join(${named(video, rows)}, ${key})` },
          {
            title: 'Calculated ago',
            expr: inRows(`time() - ${calculated}`),
            unit: 's',
            steps: ['text', [604800, 'orange']],
          },
          { title: 'Last poll', expr: inRows(up), unit: 'none', mappings: [upText] },
          { title: 'Age', expr: inRows(`time() - (${lastSuccess} > 0)`), unit: 's' },
        ],
        sort: { title: 'Stored', descending: true },
      }),
      lines({
        title: 'Stored: the 15 largest videos',
        description:
          'Bytes of a video, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        queries: [{ expr: namedWorst(15, video, bytes), legend: '{{display}}' }],
      }),
      bars({
        title: 'Encodings: the 20 largest',
        description:
          'Bytes of single encodings among the selected videos (API field encoded: its key, codec, resolution and size, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        queries: [
          {
            expr: named(video, `topk(20, ${encodings})`),
            legend: '{{display}}: {{encoding}} {{resolution}} {{codec}}',
          },
        ],
      }),
    ]),
  ];
}

export const videoStorageMonitoring: KindMonitoring = { kind: 'video_storage', panels, rules };
