/** Access lists of zones: how much of what the plan allows is used. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { anywhere, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

const family = (name: string): string => `bunnynet_shield_access_lists_${name}`;
const field = (name: string): string => values(anywhere(zone), family(name));

export const shieldAccessLists: KindMonitoring = {
  kind: 'shield_access_lists',
  rows: [
    row(shieldDashboard, 'WAF rules and access lists', [
      grid('Access lists', 'short', 12, {
        description:
          'At most 100 of the selected zones, those with the most entries of their own: entries and lists, what the plan allows, and how long ago the oldest enabled list of the vendor was updated (API fields customEntryCount, customEntryLimit, customListCount, customListLimit, managedLists).',
        height: 8,
        entity: zone,
        rows: `topk(100, ${values(zone, family('custom_entries'))})`,
        columns: [
          { title: 'Entries', expr: field('custom_entries') },
          { title: 'Allowed', expr: field('custom_entries_limit') },
          { title: 'Lists', expr: field('custom_lists') },
          { title: 'Lists allowed', expr: field('custom_lists_limit') },
          { title: 'Oldest', expr: `time() - ${field('oldest_update_timestamp_seconds')}`, unit: 's' },
        ],
      }),
    ]),
  ],
};
