/** What was changed in an account. Every dashboard marks it in its charts (alert-list.ts). */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { hourly, values } from '../promql.ts';
import { account, accountDashboard } from './billing.ts';

const changes = 'bunnynet_audit_log_changes_total';
const by = ['product', 'resource_type', 'action', 'actor_type'];

export const auditLog: KindMonitoring = {
  kind: 'audit_log',
  rows: [
    row(accountDashboard, 'Changes', [
      lines('Changes per hour by product', 'short', 8, {
        description:
          'What was changed in the selected accounts within an hour (API field Logs, Product). The first change of a new sort counts as "other".',
        stacked: true,
        queries: { '{{product}}': `sum by (product) (${hourly(account, changes, by)})` },
      }),
      bars('Changes in the past hour (top 10)', 'short', 12, {
        description:
          'By type of resource, action and type of actor (API field Logs: ResourceType, Action, ActorType).',
        queries: {
          '{{resource_type}}: {{action}} by {{actor_type}}': `topk(10, ${hourly(account, changes, by)} > 0)`,
        },
        nothing: 'Nothing was changed.',
      }),
      bars('Latest change', 's', 4, {
        description: 'Time since the latest change of the UTC day (API field Logs, Timestamp).',
        queries: {
          '{{account}}': `topk(10, time() - ${values(account, 'bunnynet_audit_log_latest_change_timestamp_seconds')})`,
        },
        nothing: 'No change today.',
      }),
    ]),
  ],
};
