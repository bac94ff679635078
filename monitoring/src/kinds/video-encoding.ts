/** The encoding of a library's videos: how many wait, and how many fail. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { top, values } from '../promql.ts';
import { library, streamDashboard } from './video-library.ts';

const family = (name: string): string => `bunnynet_video_encoding_${name}`;
const unfinished = values(library, family('videos'), ['status'], ['status!="finished"']);
const oldest = values(library, family('oldest_unfinished_timestamp_seconds'));

export const videoEncoding: KindMonitoring = {
  kind: 'video_encoding',
  rules: {
    about: 'The encoding of videos.',
    reading: family('videos{status="finished"}'),
    subject: library,
    alerts: {
      BunnynetVideoEncodingFailed: {
        comment: 'What failed long ago stays in that state, so only what came in the past six hours counts.',
        expr: `
          sum by (library_id) (max by (library_id, status) (
            last_over_time(bunnynet_video_encoding_videos{status=~"error|upload_failed"}[3m:1m])
            - min_over_time(bunnynet_video_encoding_videos{status=~"error|upload_failed"}[6h])
          )) >= [[videos]]`,
        thresholds: { videos: 1 },
        for: '0m',
        held: false,
        summary: 'Videos of the library {{ or $name $labels.library_id }} fail to encode',
        description:
          'Videos of the library {{ $labels.library_id }} that have failed to upload or to encode in the past six hours: {{ $value }}.',
      },
      BunnynetVideoEncodingSlow: {
        comment:
          'Measured at the last reading: since then it may have been encoded, which a long interval would show hours later.',
        expr: `
          max by (library_id) (
            max by (job, instance, library_id) (last_over_time(bunnynet_video_encoding_last_success_timestamp_seconds[3m:1m]))
            - max by (job, instance, library_id) (last_over_time(bunnynet_video_encoding_oldest_unfinished_timestamp_seconds[3m:1m]))
          ) > [[seconds]]`,
        thresholds: { seconds: 3600 },
        for: '30m',
        held: false,
        summary: 'A video of the library {{ or $name $labels.library_id }} is waiting to be encoded',
        description:
          'A video of the library {{ $labels.library_id }} had been uploaded {{ $value | humanizeDuration }} before the last reading, and was not encoded.',
      },
    },
  },
  rows: [
    row(streamDashboard, 'Encoding', [
      lines('Unfinished videos by state', 'short', 12, {
        description:
          'Videos of the selected libraries together in each state except finished (API field status, as it is at each poll).',
        queries: { '{{status}}': `sum by (status) (${unfinished})` },
        alerts: ['BunnynetVideoEncodingFailed'],
      }),
      bars('Longest wait for the encoder by library (top 10)', 's', 12, {
        description:
          'Time since the upload of the oldest video that is not encoded yet (API field dateUploaded). An alert fires from one hour.',
        steps: ['green', [3600, 'orange']],
        queries: top(10, library, `time() - ${oldest}`),
        link: library.link,
        nothing: 'No video is waiting.',
        alerts: ['BunnynetVideoEncodingSlow'],
      }),
    ]),
  ],
};
