/** Volumes of applications: how full they are, and who uses them. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines } from '../panels.ts';
import { anywhere, share, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { grid } from '../tables.ts';
import { application, applicationDashboard, rowToApplication, toApplication } from './application.ts';

const family = (name: string): string => `bunnynet_application_volume_${name}`;

/** A volume of an application; the application's name stands for it, beside the volume's own. Of two volumes of one name the fuller is shown. */
const volume = { ...application, ids: ['app_id', 'volume'] };
const inRow = (name: string): string => values(anywhere(volume), family(name));
const fullest = share(volume, family('usage_bytes'), family('capacity_bytes'));

const readable = presence(
  'application_volume',
  ['app_id'],
  'bunnynet_application_volume_up',
  'bunnynet_application_volume_capacity_bytes',
);

const rules: Rules = {
  about: 'Volumes of applications.',
  groups: [
    {
      name: 'bunnynet-application-volume',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          alert: 'BunnynetApplicationVolumeNearlyFull',
          comment: 'The fullest volume of an application.',
          expr: `
          max by (app_id) (
            max by (app_id, volume, volume_id) (last_over_time(bunnynet_application_volume_usage_bytes[3m]))
            / (max by (app_id, volume, volume_id) (last_over_time(bunnynet_application_volume_capacity_bytes[3m])) > 0)
          ) >= [[share]]`,
          thresholds: { share: 0.9 },
          for: '15m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: application,
          summary: 'A volume of application {{ or $name $labels.app_id }} is nearly full',
          description:
            'The fullest volume of application {{ $labels.app_id }} has been {{ $value | humanizePercentage }} full for [[for]].',
        },
      ],
    },
  ],
};

const stateColors = {
  attached: 'green',
  detached: 'yellow',
  scheduled: 'blue',
  creating: 'semi-dark-blue',
  extending: 'light-blue',
  notScheduled: 'dark-orange',
  maintenance: 'purple',
  deleting: 'gray',
  unknown: 'orange',
  failed: 'red',
};

function panels(): readonly Row[] {
  return [
    row(applicationDashboard, 'Volumes', [
      grid({
        title: 'Volumes',
        description:
          'The 100 fullest volumes of the selected applications (API fields size, totalUsage and containersCount, as they are now).',
        unit: 'decbytes',
        span: 24,
        entity: volume,
        rows: `topk(100, ${fullest})`,
        name: 'Application',
        link: rowToApplication,
        labels: [{ source: 'volume', title: 'Volume' }],
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
        sort: { title: 'Full', descending: true },
        alerts: ['BunnynetApplicationVolumeNearlyFull'],
      }),
      rankedNow(10, application, fullest, {
        title: 'The 10 fullest volumes',
        description:
          'Share of a volume that is used (API fields totalUsage and size). An alert fires from 90 %.',
        unit: 'percentunit',
        span: 12,
        height: 9,
        steps: ['green', [0.9, 'orange'], [1, 'red']],
        legend: '{{display}}: {{volume}}',
        link: toApplication,
        alerts: ['BunnynetApplicationVolumeNearlyFull'],
      }),
      lines({
        title: 'Instances of volumes by state',
        description:
          'Instances of the volumes of the selected applications in each state (API field volumeInstances).',
        unit: 'short',
        span: 12,
        height: 9,
        stacked: true,
        queries: [
          {
            expr: `sum by (state) (${values(volume, family('instances'), { by: ['state'] })})`,
            legend: '{{state}}',
          },
        ],
        colors: stateColors,
      }),
    ]),
  ];
}

export const applicationVolumeMonitoring: KindMonitoring = { kind: 'application_volume', panels, rules };
