/** The dashboard of the video libraries that are picked: what they store, in which parts, and how old the figures are. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { newDashboard } from './dashboard.ts';
import { bars, grid, lines, numbers } from './panels.ts';
import { library, named, selector, upFamilies, values, video, worst } from './promql.ts';
import { upText } from './states.ts';
import { libraryVariable, videoVariable } from './variables.ts';

const byComponent = values(video, 'bunnynet_video_storage_bytes', { by: ['component'] });
const bytes = `sum by (library_id, video_id) (${byComponent})`;
const calculated = values(video, 'bunnynet_video_storage_calculated_timestamp_seconds');
const up = values(video, upFamilies.video_storage);
const lastSuccess = values(video, 'bunnynet_video_storage_last_success_timestamp_seconds');
const encodings = `max by (library_id, video_id, encoding, codec, resolution) (${selector('bunnynet_video_encoded_storage_bytes', video.selection)})`;

/** The rows of the table: the hundred largest videos, and those that cannot be read while there is room. */
const rows = `topk(100, ${bytes} or on (library_id, video_id) ${up} * 0)`;
const key = '"key", "/", "library_id", "video_id"';

function inRows(expr: string): string {
  return `max by (key) (label_join(${expr} and on (library_id, video_id) ${rows}, ${key}))`;
}

export function videoStorageDashboard(): Dashboard {
  return newDashboard('Video storage', 'What the videos of a library store, and in which parts.')
    .withVariable(libraryVariable())
    .withVariable(videoVariable())
    .withRow(new RowBuilder('Libraries'))
    .withPanel(
      numbers({
        title: 'Stored',
        description:
          'Bytes of the videos that are picked, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 6,
        spark: true,
        queries: [{ expr: `sum(${bytes})`, legend: 'stored' }],
        nothing: 'none',
      }),
    )
    .withPanel(
      numbers({
        title: 'Videos read',
        description:
          'How many of the videos that are picked have a size now (the exporter’s own; no API field).',
        unit: 'short',
        span: 6,
        queries: [
          { expr: `count(${bytes})`, legend: 'read' },
          { expr: `count(${up})`, legend: 'of' },
        ],
        nothing: 'none',
      }),
    )
    .withPanel(
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
    )
    .withPanel(
      numbers({
        title: 'Oldest reading',
        description:
          'Age of the oldest last good reading among the videos that are picked (the exporter’s own; no API field).',
        unit: 's',
        span: 6,
        steps: ['green', [10800, 'orange'], [86400, 'red']],
        queries: [{ expr: `max(time() - (${lastSuccess} > 0))`, legend: 'oldest' }],
        nothing: 'none',
      }),
    )
    .withPanel(
      lines({
        title: 'Stored: the 20 largest libraries',
        description:
          'Bytes of the videos of a library, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        queries: [
          {
            expr: worst(20, library, `sum by (library_id) (${byComponent})`),
            legend: 'library {{library_id}}',
          },
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Stored by component',
        description:
          'Bytes of the videos that are picked, by component (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        stacked: true,
        queries: [{ expr: `sum by (component) (${byComponent})`, legend: '{{component}}' }],
      }),
    )
    .withRow(new RowBuilder('Videos'))
    .withPanel(
      grid({
        title: 'Videos',
        description:
          'The 100 largest of the videos that are picked (API fields originals, encoded, thumbnails, previews, mp4Fallback and miscellaneous together, and calculatedAt).',
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
    )
    .withPanel(
      lines({
        title: 'Stored: the 15 largest videos',
        description:
          'Bytes of a video, all components together (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        queries: [{ expr: named(video, worst(15, video, bytes)), legend: '{{display}}' }],
      }),
    )
    .withPanel(
      bars({
        title: 'Encodings: the 20 largest',
        description:
          'Bytes of single encodings among the videos that are picked (API field encoded: its key, codec, resolution and size, as last calculated by the API).',
        unit: 'bytes',
        span: 12,
        queries: [
          {
            expr: named(video, `topk(20, ${encodings})`),
            legend: '{{display}}: {{encoding}} {{resolution}} {{codec}}',
          },
        ],
      }),
    )
    .build();
}
