/** WAF rules that requests have triggered and nobody has reviewed. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars } from '../panels.ts';
import { top, values } from '../promql.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

export const shieldTriggeredRules: KindMonitoring = {
  kind: 'shield_triggered_rules',
  rows: [
    row(shieldDashboard, 'WAF rules and access lists', [
      bars('WAF rules to review (top 10)', 'short', 6, {
        description:
          'WAF rules that requests have triggered and that nobody has reviewed; the API documents no window (API field totalTriggeredRules).',
        queries: top(10, zone, values(zone, 'bunnynet_shield_triggered_rules')),
        link: zone.link,
      }),
      bars('Requests by triggered rule (top 10)', 'short', 6, {
        description:
          'Of the rules that wait for a review; the API documents no window, and a rule leaves the list with its review (API field triggeredRules, totalTriggeredRequests).',
        queries: top(
          10,
          zone,
          values(zone, 'bunnynet_shield_triggered_rule_requests', ['rule_id']),
          '{{display}}: {{rule_id}}',
        ),
        link: zone.link,
        nothing: 'No rule waits for a review.',
      }),
    ]),
  ],
};
