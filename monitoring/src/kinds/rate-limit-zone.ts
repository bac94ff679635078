/** What rate limits do with what breaches them. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { textOf } from '../panels.ts';
import { anywhere, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { limit, zoneNames } from './rate-limit.ts';
import { shieldDashboard } from './shield-zone.ts';

const does = (...actions: readonly string[]): string =>
  values(anywhere(limit), 'bunnynet_shield_rate_limit_action', [], [`status=~"${actions.join('|')}"`]);
const breaches = (of: typeof limit): string => values(of, 'bunnynet_shield_rate_limit_breaches_28d');

const yes = textOf({ 0: ['', 'text'], 1: ['yes', 'green'] });
const warnsYes = textOf({ 0: ['', 'text'], 1: ['yes', 'orange'] });

export const rateLimitZone: KindMonitoring = {
  kind: 'rate_limit_zone',
  rows: [
    row(shieldDashboard, 'Rate limits', [
      grid('What rate limits do (top 50 by breaches in the past 28 days)', 'short', 24, {
        description:
          'What each limit does with what breaches it, and how often it was breached in the past 28 days (API fields ruleConfiguration, actionType, and overview, totalBreaches). A limit that was deleted does nothing.',
        height: 8,
        entity: limit,
        name: 'Rate limit',
        rows: `topk(50, ${breaches(limit)})`,
        labels: { zone: 'Zone' },
        joined: `* on (shield_zone_id) group_left (zone) ${zoneNames}`,
        columns: [
          { title: 'Blocks', expr: does('block'), text: yes },
          { title: 'Challenges', expr: does('challenge'), text: yes },
          { title: 'Only logs', expr: does('log'), text: warnsYes },
          { title: 'Lets through', expr: does('allow', 'bypass'), text: warnsYes },
          { title: 'Breaches', expr: breaches(anywhere(limit)) },
        ],
        sort: 'Breaches',
      }),
    ]),
  ],
};
