/** Video storage: what the videos of a library store, in which parts, and how old the figures are. */
import { type Dashboard, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo, toExporter } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, numbers, upText } from '../panels.ts';
import { all, anywhere, type Entity, entityOf, highest, seriesOf, sums, top, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';
import { library } from './video-library.ts';

const video = entityOf({
  ids: ['library_id', 'video_id'],
  noun: 'video',
  picks: { library: 'library_id', video: 'video_id' },
  info: 'bunnynet_video_info',
  dashboard: 'bunnynet-video-storage',
});

const videoStorageDashboard: Dashboard = {
  uid: 'bunnynet-video-storage',
  title: 'Video storage',
  description: 'What the videos of a library store, and in which parts.',
  picked: ['library_id=~"$library|"'],
  variables: [pickByName(library, 'Library'), pickByName(video, 'Video')],
};

const toVideos = linkTo(videoStorageDashboard.uid, 'Open the library', {
  library: '${__field.labels.library_id}',
});

const family = (name: string): string => `bunnynet_video_storage_${name}`;
const field = (name: string): string => values(video, family(name));
const inRow = (name: string): string => values(anywhere(video), family(name));
const every = all(library);
const stored = sums(video, family('bytes'));
const storedIn = (libraries: Entity): string => values(libraries, family('bytes'), ['video_id', 'component']);

const encodings = highest(video, seriesOf(video, 'bunnynet_video_encoded_storage_bytes'), [
  'encoding',
  'codec',
  'resolution',
]);

const fields =
  'API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API';

export const videoStorage: KindMonitoring = {
  kind: 'video_storage',
  rules: {
    about: 'Video storage.',
    reading: family('bytes'),
    ids: ['library_id'],
    names: video,
    subject: library,
    alerts: {
      BunnynetVideoStorageGrowth: {
        comment:
          'Compared part by part: a video that comes, goes or could not be read in between does not count.',
        expr: `
          sum by (library_id) (
            max by (library_id, video_id, component) (last_over_time(bunnynet_video_storage_bytes[3m:1m]))
            - max by (library_id, video_id, component) (last_over_time(bunnynet_video_storage_bytes[15m] offset 1d))
          )
          > clamp_min([[share]] * sum by (library_id) (max by (library_id, video_id, component) (last_over_time(bunnynet_video_storage_bytes[15m] offset 1d))), [[gigabytes]] * 1e9)`,
        thresholds: { share: 0.2, gigabytes: 10 },
        for: '30m',
        keepFiringFor: '30m',
        summary: 'Videos of library {{ or $name $labels.library_id }} are growing fast',
        description:
          'The videos of library {{ $labels.library_id }} that were there a day ago have grown by {{ $value | humanize1024 }}B since: by more than {{ humanizePercentage "[[share]]" }} and by more than [[gigabytes]] GB.',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Video storage', [
      numbers('Video storage', 'decbytes', 6, {
        description: `Bytes of all videos that can be read, all components together (${fields}).`,
        height: 8,
        queries: { stored: `sum(${storedIn(every)})` },
        link: linkTo(videoStorageDashboard.uid, 'Open the videos'),
      }),
      bars('Video storage by library (top 10)', 'decbytes', 18, {
        description: `Bytes of the videos of a library that can be read, all components together (${fields}).`,
        queries: top(10, every, `sum by (library_id) (${storedIn(every)})`),
        link: toVideos,
        alerts: ['BunnynetVideoStorageGrowth'],
      }),
    ]),
    row(videoStorageDashboard, 'Libraries', [
      numbers('Stored', 'decbytes', 6, {
        description: `Bytes of the selected videos, all components together (${fields}).`,
        queries: { stored: `sum(${stored})` },
        link: linkTo('bunnynet-stream', 'Open the libraries'),
        alerts: ['BunnynetVideoStorageGrowth'],
      }),
      numbers('Videos read', 'short', 6, {
        description: "How many of the selected videos have a size now (the exporter's own; no API field).",
        queries: { read: `count(${stored})`, all: `count(${field('up')})` },
        link: toExporter,
      }),
      numbers('Oldest calculation', 's', 6, {
        description:
          'Time since the API calculated the sizes, for the video with the oldest calculation (API field calculatedAt; the API does not recalculate at every request).',
        steps: ['green', [604800, 'orange']],
        queries: { oldest: `time() - min(${field('calculated_timestamp_seconds')})` },
        link: toExporter,
      }),
      numbers('Oldest reading', 's', 6, {
        description:
          "Age of the oldest reading among the selected videos (the exporter's own; no API field).",
        steps: ['green', [10800, 'orange'], [86400, 'red']],
        queries: { oldest: `max(time() - (${field('last_success_timestamp_seconds')} > 0))` },
        link: toExporter,
      }),
      bars('Stored by library (top 10)', 'decbytes', 12, {
        description: `Bytes of the videos of a library, all components together (${fields}).`,
        queries: top(10, library, `sum by (library_id) (${storedIn(library)})`),
        link: toVideos,
        alerts: ['BunnynetVideoStorageGrowth'],
      }),
      lines('Stored by component', 'decbytes', 12, {
        description: `Bytes of the selected videos, by component (${fields}).`,
        stacked: true,
        queries: {
          '{{component}}': `sum by (component) (${values(video, family('bytes'), ['component'])})`,
        },
      }),
    ]),
    row(videoStorageDashboard, 'Videos', [
      grid('Videos', 'decbytes', 13, {
        description:
          'The 100 largest of the selected videos (API fields originals, encoded, thumbnails, previews, mp4Fallback and miscellaneous together, and calculatedAt).',
        height: 12,
        entity: video,
        // By their largest component.
        rows: `topk(100, ${field('bytes')})`,
        labels: { library: 'Library' },
        joined:
          '* on (library_id) group_left (library) label_replace(bunnynet:video_library_display, "library", "$1", "display", "(.+)")',
        columns: [
          { title: 'Stored', expr: sums(anywhere(video), family('bytes')) },
          {
            title: 'Calculated',
            expr: `time() - ${inRow('calculated_timestamp_seconds')}`,
            unit: 's',
            steps: ['text', [604800, 'orange']],
          },
          { title: 'Last poll', expr: inRow('up'), text: upText },
          { title: 'Age', expr: `time() - (${inRow('last_success_timestamp_seconds')} > 0)`, unit: 's' },
        ],
      }),
      bars('Largest encodings (top 15)', 'decbytes', 11, {
        description:
          'Bytes of single encodings among the selected videos (API field encoded: its key, codec, resolution and size, as last calculated by the API).',
        height: 12,
        queries: top(15, video, encodings, '{{display}}: {{encoding}} {{codec}}'),
        nothing: 'No video has an encoding.',
      }),
    ]),
  ],
};
