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
      lines('Changes in an hour, by product', 'short', 12, {
        description:
          'What was changed in the selected accounts within an hour (API field Logs, Product). A sort of change that is new counts as «other» once.',
        stacked: true,
        queries: { '{{product}}': `sum by (product) (${hourly(account, changes, by)})` },
      }),
      bars('Changes in the past hour: top 10', 'short', 8, {
        description:
          'By type of resource, action and type of actor (API field Logs: ResourceType, Action, ActorType).',
        queries: {
          '{{resource_type}}: {{action}} by {{actor_type}}': `topk(10, ${hourly(account, changes, by)} > 0)`,
        },
        nothing: 'Nothing was changed.',
      }),
      bars('Since the latest change', 's', 4, {
        description: 'Of the UTC day (API field Logs, Timestamp).',
        queries: {
          '{{account}}': `topk(10, time() - ${values(account, 'bunnynet_audit_log_latest_change_timestamp_seconds')})`,
        },
        nothing: 'None today.',
      }),
    ]),
  ],
};
