/** API Guardian of zones: whether it is on, and blocks. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { onOff } from '../panels.ts';
import { anywhere, hundred, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { modeText, shieldDashboard, zone } from './shield-zone.ts';

const family = (name: string): string => `bunnynet_shield_api_guardian_${name}`;
const field = (name: string): string => values(anywhere(zone), family(name));
const endpoints = values(anywhere(zone), family('enabled'), ['endpoint_id']);

const isEnabled = `max by (shield_zone_id) (last_over_time(${family('zone_enabled')}[3m:1m]))`;
const mode = `max by (shield_zone_id) (last_over_time(${family('zone_execution_mode')}[3m:1m]))`;
const ofWeek = (name: string): string => `max by (shield_zone_id) (max_over_time(${family(name)}[7d]))`;

export const apiGuardianZone: KindMonitoring = {
  kind: 'api_guardian_zone',
  rules: {
    about: 'API Guardian of zones: whether it is on, and blocks.',
    reading: family('zone_enabled'),
    subject: zone,
    alerts: {
      BunnynetShieldApiGuardianDisabled: {
        comment: 'Where it was off for the whole week, that is on purpose.',
        expr: `${isEnabled} == 0 and ${ofWeek('zone_enabled')} == 1`,
        for: '15m',
        summary: 'API Guardian of zone {{ or $name $labels.shield_zone_id }} is off',
        description:
          'API Guardian of zone {{ $labels.shield_zone_id }} has been off for [[for]]. It was on within the past seven days.',
      },
      BunnynetShieldApiGuardianLogOnly: {
        comment:
          'Where it only logged for the whole week, that is on purpose. Where it is off, the other alert says so.',
        expr: `${mode} == 0 and ${isEnabled} == 1 and ${ofWeek('zone_execution_mode')} > 0`,
        for: '1h',
        summary: 'API Guardian of zone {{ or $name $labels.shield_zone_id }} only logs',
        description:
          'API Guardian of zone {{ $labels.shield_zone_id }} has only been logging for [[for]]. It blocked within the past seven days.',
      },
    },
  },
  rows: [
    row(shieldDashboard, 'API Guardian', [
      grid('API Guardian by zone', 'short', 24, {
        description:
          'Whether API Guardian of each zone is enabled and blocks, how many endpoints it has, and how many it may have (API fields configuration: isEnabled, executionMode, maxEndpoints; endpoints: isEnabled). At most 100 of the selected zones.',
        height: 6,
        entity: zone,
        rows: hundred(zone, family('zone_(enabled|endpoints)')),
        columns: [
          { title: 'API Guardian', expr: field('zone_enabled'), text: onOff },
          { title: 'Mode', expr: field('zone_execution_mode'), text: modeText },
          { title: 'Endpoints', expr: field('zone_endpoints') },
          { title: 'Enabled', expr: `sum by (shield_zone_id) (${endpoints})` },
          { title: 'Allowed', expr: field('zone_endpoints_limit') },
        ],
        sort: 'Endpoints',
        alerts: ['BunnynetShieldApiGuardianDisabled', 'BunnynetShieldApiGuardianLogOnly'],
      }),
    ]),
  ],
};
