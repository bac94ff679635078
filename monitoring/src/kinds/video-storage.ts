/** Video storage: what the videos of a library store, in which parts, and how old the figures are. */
import { type Dashboard, type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, numbers } from '../panels.ts';
import { all, anywhere, entityOf, highest, seriesOf, sums, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { upText } from '../states.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';
import { library } from './video-library.ts';

const video = entityOf({
  ids: ['library_id', 'video_id'],
  info: 'bunnynet_video_info',
  selection: ['library_id=~"$library"', 'video_id=~"$video"'],
});

const videoStorageDashboard: Dashboard = {
  uid: 'bunnynet-video-storage',
  title: 'Video storage',
  description: 'What the videos of a library store, and in which parts.',
  picked: ['library_id=~"$library|"'],
  variables: () => [
    pickByName('library', 'Library', all(library), 'library_id'),
    pickByName('video', 'Video', { ...video, matchers: library.matchers }, 'video_id'),
  ],
};

const toVideos = linkTo(videoStorageDashboard.uid, 'Open the library', {
  library: '${__field.labels.library_id}',
});
const rowToVideo = linkTo(videoStorageDashboard.uid, 'Open the video', {
  library: '${__data.fields.library_id}',
  video: '${__data.fields.video_id}',
});

const family = (name: string): string => `bunnynet_video_storage_${name}`;
const bytes = sums(video, family('bytes'));
const field = (name: string): string => values(anywhere(video), family(name));

/** The rows of the table: the hundred largest videos, by their largest component. */
const rows = `topk(100, ${values(video, family('bytes'))})`;

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
        displayRecord(video),
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

const fields =
  'API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API';

function panels(): readonly Row[] {
  const storedOf = (entity: typeof library): string =>
    `sum by (library_id) (${values(entity, family('bytes'), { by: ['video_id', 'component'] })})`;
  const every = all(library);
  const parts = ['encoding', 'codec', 'resolution'];
  const encodings = highest(video, seriesOf(video, 'bunnynet_video_encoded_storage_bytes'), parts);
  const toStream = linkTo('bunnynet-stream', 'Open the libraries');
  const toExporter = linkTo('bunnynet-exporter', 'Open the exporter');
  return [
    row(overviewDashboard, 'Video storage', [
      numbers({
        title: 'Stored by videos',
        description: `Bytes of all videos that can be read, all components together (${fields}).`,
        unit: 'decbytes',
        span: 6,
        height: 8,
        queries: [
          {
            expr: `sum(${values(every, family('bytes'), { by: ['video_id', 'component'] })})`,
            legend: 'stored',
          },
        ],
        nothing: 'none',
        link: linkTo(videoStorageDashboard.uid, 'Open the videos'),
      }),
      rankedNow(10, every, storedOf(every), {
        title: 'Stored by videos: the 10 largest libraries',
        description: `Bytes of the videos of a library that can be read, all components together (${fields}).`,
        unit: 'decbytes',
        span: 18,
        link: toVideos,
        alerts: ['BunnynetVideoStorageGrowth'],
      }),
    ]),
    row(videoStorageDashboard, 'Libraries', [
      numbers({
        title: 'Stored',
        description: `Bytes of the selected videos, all components together (${fields}).`,
        unit: 'decbytes',
        span: 6,
        queries: [{ expr: `sum(${bytes})`, legend: 'stored' }],
        nothing: 'none',
        link: toStream,
        alerts: ['BunnynetVideoStorageGrowth'],
      }),
      numbers({
        title: 'Videos read',
        description: 'How many of the selected videos have a size now (the exporter’s own; no API field).',
        unit: 'short',
        span: 6,
        queries: [
          { expr: `count(${bytes})`, legend: 'read' },
          { expr: `count(${values(video, family('up'))})`, legend: 'all' },
        ],
        nothing: 'none',
        link: toExporter,
      }),
      numbers({
        title: 'Oldest calculation',
        description:
          'Time since the API calculated the sizes, for the video where it is longest ago (API field calculatedAt; the API does not recalculate at every request).',
        unit: 's',
        span: 6,
        steps: ['green', [604800, 'orange']],
        queries: [
          {
            expr: `time() - min(${values(video, family('calculated_timestamp_seconds'))})`,
            legend: 'oldest',
          },
        ],
        nothing: 'none',
        link: toExporter,
      }),
      numbers({
        title: 'Oldest reading',
        description:
          'Age of the oldest reading among the selected videos (the exporter’s own; no API field).',
        unit: 's',
        span: 6,
        steps: ['green', [10800, 'orange'], [86400, 'red']],
        queries: [
          {
            expr: `max(time() - (${values(video, family('last_success_timestamp_seconds'))} > 0))`,
            legend: 'oldest',
          },
        ],
        nothing: 'none',
        link: toExporter,
      }),
      rankedNow(10, library, storedOf(library), {
        title: 'Stored: the 10 largest libraries',
        description: `Bytes of the videos of a library, all components together (${fields}).`,
        unit: 'decbytes',
        span: 12,
        link: toVideos,
        alerts: ['BunnynetVideoStorageGrowth'],
      }),
      lines({
        title: 'Stored by component',
        description: `Bytes of the selected videos, by component (${fields}).`,
        unit: 'decbytes',
        span: 12,
        stacked: true,
        queries: [
          {
            expr: `sum by (component) (${values(video, family('bytes'), { by: ['component'] })})`,
            legend: '{{component}}',
          },
        ],
      }),
    ]),
    row(videoStorageDashboard, 'Videos', [
      grid({
        title: 'Videos',
        description:
          'The 100 largest of the selected videos (API fields originals, encoded, thumbnails, previews, mp4Fallback and miscellaneous together, and calculatedAt).',
        unit: 'decbytes',
        span: 14,
        height: 12,
        entity: video,
        rows,
        name: 'Video',
        link: rowToVideo,
        labels: [{ source: 'library', title: 'Library' }],
        joined:
          '* on (library_id) group_left (library) label_replace(bunnynet:video_library_display, "library", "$1", "display", "(.+)")',
        columns: [
          {
            title: 'Stored',
            expr: sums(anywhere(video), family('bytes')),
          },
          {
            title: 'Calculated',
            expr: `time() - ${field('calculated_timestamp_seconds')}`,
            unit: 's',
            steps: ['text', [604800, 'orange']],
          },
          { title: 'Last poll', expr: field('up'), unit: 'none', mappings: [upText] },
          { title: 'Age', expr: `time() - (${field('last_success_timestamp_seconds')} > 0)`, unit: 's' },
        ],
        sort: { title: 'Stored', descending: true },
      }),
      rankedNow(15, video, encodings, {
        title: 'Encodings: the 15 largest',
        description:
          'Bytes of single encodings among the selected videos (API field encoded: its key, codec, resolution and size, as last calculated by the API).',
        unit: 'decbytes',
        span: 10,
        height: 12,
        legend: '{{display}}: {{encoding}} {{resolution}} {{codec}}',
        nothing: 'No video has an encoding.',
      }),
    ]),
  ];
}

export const videoStorageMonitoring: KindMonitoring = { kind: 'video_storage', panels, rules };
