/** How far the videos of a library are with their encoding, and which fail. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines } from '../panels.ts';
import { values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { library, streamDashboard, toLibrary } from './video-library.ts';

const readable = presence(
  'video_encoding',
  ['library_id'],
  'bunnynet_video_encoding_up',
  'bunnynet_video_encoding_videos{status="finished"}',
);

const rules: Rules = {
  about: 'The encoding of videos.',
  groups: [
    {
      name: 'bunnynet-video-encoding',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          alert: 'BunnynetVideoEncodingFailed',
          comment:
            'What failed long ago stays in that state, so only what came in the past six hours counts.',
          expr: `
          sum by (library_id) (max by (library_id, status) (
            last_over_time(bunnynet_video_encoding_videos{status=~"error|upload_failed"}[3m])
            - min_over_time(bunnynet_video_encoding_videos{status=~"error|upload_failed"}[6h])
          )) >= [[videos]]`,
          thresholds: { videos: 1 },
          for: '0m',
          severity: 'warning',
          about: readable,
          named: library,
          summary: 'Videos of the library {{ or $name $labels.library_id }} fail to encode',
          description:
            '{{ $value }} videos of the library {{ $labels.library_id }} have failed to upload or to encode in the past six hours.',
        },
        {
          alert: 'BunnynetVideoEncodingSlow',
          expr: `
          time() - min by (library_id) (last_over_time(bunnynet_video_encoding_oldest_unfinished_timestamp_seconds[3m])) > [[seconds]]`,
          thresholds: { seconds: 3600 },
          for: '30m',
          severity: 'warning',
          about: readable,
          named: library,
          summary: 'A video of the library {{ or $name $labels.library_id }} waits for its encoding',
          description:
            'A video of the library {{ $labels.library_id }} was uploaded {{ $value | humanizeDuration }} ago and is not encoded yet.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  return [
    row(streamDashboard, 'Encoding', [
      lines({
        title: 'Videos that are not finished, by state',
        description:
          'Videos of the selected libraries together in each state but finished (API field status, as it is at each poll).',
        unit: 'short',
        span: 12,
        queries: [
          {
            expr: `sum by (status) (${values(library, 'bunnynet_video_encoding_videos', { by: ['status'], where: ['status!="finished"'] })})`,
            legend: '{{status}}',
          },
        ],
        alerts: ['BunnynetVideoEncodingFailed'],
      }),
      rankedNow(
        10,
        library,
        `time() - ${values(library, 'bunnynet_video_encoding_oldest_unfinished_timestamp_seconds')}`,
        {
          title: 'Waiting longest for the encoder: the 10 slowest libraries',
          description:
            'How long ago the oldest video was uploaded that is not encoded yet (API field dateUploaded). An alert fires from one hour.',
          unit: 's',
          span: 12,
          steps: ['green', [3600, 'orange']],
          link: toLibrary,
          alerts: ['BunnynetVideoEncodingSlow'],
          nothing: 'None waits.',
        },
      ),
    ]),
  ];
}

export const videoEncodingMonitoring: KindMonitoring = { kind: 'video_encoding', panels, rules };
