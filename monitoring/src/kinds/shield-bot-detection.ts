/** Bot detection of zones: whether it is on, and challenges. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { onOff, textOf } from '../panels.ts';
import { anywhere, hundred, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

const family = (name: string): string => `bunnynet_shield_bot_detection_${name}`;
const field = (name: string): string => values(anywhere(zone), family(name));

export const shieldBotDetection: KindMonitoring = {
  kind: 'shield_bot_detection',
  rows: [
    row(shieldDashboard, 'WAF rules and access lists', [
      grid('Bot detection', 'short', 24, {
        description:
          'Whether a check of bot detection is on, and what it does with bots (API fields requestIntegrity, ipAddress, browserFingerprint: sensitivity; executionMode). At most 100 of the selected zones; those whose plan lacks it are not shown.',
        height: 6,
        entity: zone,
        rows: hundred(zone, family('(enabled|execution_mode)')),
        columns: [
          { title: 'Bot detection', expr: field('enabled'), text: onOff },
          {
            title: 'Mode',
            expr: field('execution_mode'),
            text: textOf({ 0: ['log', 'orange'], 1: ['challenge', 'green'] }),
          },
        ],
      }),
    ]),
  ],
};
