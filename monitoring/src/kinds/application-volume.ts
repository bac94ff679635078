/** Volumes of applications: how full they are, and what uses them. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { anywhere, share, top, values } from '../promql.ts';
import { sameAs } from '../rules.ts';
import { grid } from '../tables.ts';
import { application, applicationDashboard } from './application.ts';

const family = (name: string): string => `bunnynet_application_volume_${name}`;

/** A volume is shown with its own name and the application's. Of two volumes with the same name, the fuller is shown. */
const volume = { ...application, ids: ['app_id', 'volume'] };
const { matchers, values: own } = sameAs(['app_id']);
const used = `last_over_time(bunnynet_application_volume_usage_bytes{${matchers}}[3m:1m])`;
const size = `last_over_time(bunnynet_application_volume_capacity_bytes{${matchers}}[3m:1m])`;
const inRow = (name: string): string => values(anywhere(volume), family(name));
const fullest = share(volume, family('usage_bytes'), family('capacity_bytes'));

export const applicationVolume: KindMonitoring = {
  kind: 'application_volume',
  rules: {
    about: 'Volumes of applications.',
    reading: family('capacity_bytes'),
    subject: application,
    alerts: {
      BunnynetApplicationVolumeNearlyFull: {
        comment: 'The fullest volume of an application.',
        expr: `
          max by (app_id) (
            max by (app_id, volume, volume_id) (last_over_time(bunnynet_application_volume_usage_bytes[3m:1m]))
            / (max by (app_id, volume, volume_id) (last_over_time(bunnynet_application_volume_capacity_bytes[3m:1m])) > 0)
          ) >= [[share]]`,
        thresholds: { share: 0.9 },
        for: '15m',
        keepFiringFor: '30m',
        summary: 'A volume of application {{ or $name $labels.app_id }} is nearly full',
        description: `The fullest volume of application {{ $labels.app_id }}{{ with query (printf \`topk(1, max by (volume) (${used} / (${size} > 0)))\` ${own} ${own}) }}, {{ . | first | label "volume" }},{{ end }} has been {{ $value | humanizePercentage }} full for [[for]].`,
      },
    },
  },
  rows: [
    row(applicationDashboard, 'Volumes', [
      grid('Volumes', 'decbytes', 24, {
        description:
          'The 100 fullest volumes of the selected applications (API fields size, totalUsage and containersCount, as they are now).',
        entity: volume,
        rows: `topk(100, ${fullest})`,
        labels: { volume: 'Volume' },
        columns: [
          {
            title: 'Full',
            expr: share(anywhere(volume), family('usage_bytes'), family('capacity_bytes')),
            unit: 'percentunit',
            steps: ['text', [0.9, 'orange'], [1, 'red']],
          },
          { title: 'Used', expr: inRow('usage_bytes') },
          { title: 'Size', expr: inRow('capacity_bytes') },
          { title: 'Containers', expr: inRow('containers'), unit: 'short' },
        ],
        alerts: ['BunnynetApplicationVolumeNearlyFull'],
      }),
      bars('Fullest volumes (top 10)', 'percentunit', 12, {
        description:
          'Share of a volume that is used (API fields totalUsage and size). An alert fires from 90 %.',
        height: 9,
        steps: ['green', [0.9, 'orange'], [1, 'red']],
        queries: top(10, application, fullest, '{{display}}: {{volume}}'),
        link: application.link,
        alerts: ['BunnynetApplicationVolumeNearlyFull'],
      }),
      lines('Volume instances by state', 'short', 12, {
        description:
          'Instances of the volumes of the selected applications in each state (API field volumeInstances).',
        height: 9,
        stacked: true,
        queries: { '{{status}}': `sum by (status) (${values(volume, family('instances'), ['status'])})` },
        colors: {
          attached: 'green',
          detached: 'yellow',
          scheduled: 'blue',
          creating: 'semi-dark-blue',
          extending: 'light-blue',
          not_scheduled: 'dark-orange',
          maintenance: 'purple',
          deleting: 'gray',
          unknown: 'orange',
          failed: 'red',
        },
      }),
    ]),
  ],
};
