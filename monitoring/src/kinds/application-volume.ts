/** Volumes of applications: how full they are, and who uses them. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, grid, lines } from '../panels.ts';
import { named, values } from '../promql.ts';
import { presence, type Rules } from '../rules.ts';
import { application, applicationDashboard } from './application.ts';

const figure = (name: string, by: readonly string[] = []): string =>
  values(application, `bunnynet_application_volume_${name}`, { by: ['volume', ...by] });

const share = `${figure('usage_bytes')} / (${figure('capacity_bytes')} > 0)`;

/** The rows of the table, with one label that a table can join on. */
const rows = `topk(100, ${share})`;
const key = '"key", "/", "app_id", "volume"';
const inRows = (expr: string): string =>
  `max by (key) (label_join(${expr} and on (app_id, volume) ${rows}, ${key}))`;

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
            max by (app_id, volume) (last_over_time(bunnynet_application_volume_usage_bytes[3m]))
            / (max by (app_id, volume) (last_over_time(bunnynet_application_volume_capacity_bytes[3m])) > 0)
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

function panels(): readonly Row[] {
  return [
    row(applicationDashboard, 'Volumes', [
      grid({
        title: 'Volumes',
        description:
          'The 100 fullest volumes of the selected applications (API fields size, totalUsage and containersCount, as they are now).',
        unit: 'decbytes',
        span: 12,
        key: { label: 'key', title: 'Application / volume' },
        columns: [
          {
            title: 'Full',
            expr: inRows(`(${share})`),
            unit: 'percentunit',
            steps: ['text', [0.9, 'orange'], [1, 'red']],
          },
          { title: 'Used', expr: inRows(figure('usage_bytes')) },
          { title: 'Size', expr: inRows(figure('capacity_bytes')) },
          { title: 'Containers', expr: inRows(figure('containers')), unit: 'short' },
        ],
        sort: { title: 'Full', descending: true },
      }),
      bars({
        title: 'The 15 fullest volumes',
        description:
          'Share of a volume that is used (API fields totalUsage and size). An alert fires from 90 %.',
        unit: 'percentunit',
        span: 6,
        height: 9,
        steps: ['green', [0.9, 'orange'], [1, 'red']],
        queries: [{ expr: named(application, `topk(15, ${share})`), legend: '{{display}}: {{volume}}' }],
      }),
      lines({
        title: 'Instances of volumes by state',
        description:
          'Instances of the volumes of the selected applications in each state (API field volumeInstances).',
        unit: 'short',
        span: 6,
        height: 9,
        stacked: true,
        queries: [{ expr: `sum by (state) (${figure('instances', ['state'])})`, legend: '{{state}}' }],
      }),
    ]),
  ];
}

export const applicationVolumeMonitoring: KindMonitoring = { kind: 'application_volume', panels, rules };
