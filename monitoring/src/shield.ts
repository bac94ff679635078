/** The dashboard of the Shield zones that are picked: how they are set, what API Guardian and the rate limits turn away. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { newDashboard } from './dashboard.ts';
import { bars, grid, lines, numbers } from './panels.ts';
import { growth, guardianEndpoint, named, namedWorst, values, zone } from './promql.ts';
import { executionMode, learning, onOff, planType, sensitivity, yesNo } from './states.ts';
import { zoneVariable } from './variables.ts';

const zoneField = (name: string): string => values(zone, `bunnynet_shield_zone_${name}`);
const guardian = (name: string): string => values(guardianEndpoint, `bunnynet_shield_api_guardian_${name}`);
const rateLimit = (name: string): string =>
  values(zone, `bunnynet_shield_rate_limit_${name}`, { by: ['rate_limit_id'] });

/** The rows of the zone table: at most a hundred, those without a firewall or that only log first. */
const rows = `topk(100, 2 * (${zoneField('waf_enabled')} == bool 0) + (${zoneField('waf_execution_mode')} == bool 0) or on (shield_zone_id) ${zoneField('up')} * 0)`;

function inRows(field: string): string {
  return `${zoneField(field)} and on (shield_zone_id) ${rows}`;
}

const figures = [
  ['inspected_requests', 'inspected', 'RequestsInspected'],
  ['blocked_requests', 'blocked', 'BlockedRequests'],
  ['logged_requests', 'logged', 'LoggedRequests'],
  ['rate_limited_requests', 'rate-limited', 'RateLimited'],
  ['failed_validation_requests', 'failed validation', 'FailedRequestValidation'],
  ['failed_authentication_requests', 'failed authentication', 'FailedAuthenticationEnforcement'],
] as const;

const breachFigures = ['breaches', 'logged_breaches', 'challenged_breaches', 'blocked_breaches'] as const;

const endpointIds = { by: ['key'], join: '"key", "/", "shield_zone_id", "endpoint_id"' };

/** The endpoints with the most requests blocked in the window, as one label that a table can be joined by. */
function endpointRow(figure: string): string {
  const top = `topk(50, ${guardian('blocked_requests_28d')})`;
  return `max by (key) (label_join(${guardian(figure)} and on (shield_zone_id, endpoint_id) ${top}, ${endpointIds.join}))`;
}

function endpointNames(): string {
  const top = `topk(50, ${guardian('blocked_requests_28d')})`;
  return `label_join(${named(guardianEndpoint, top)}, ${endpointIds.join})`;
}

export function shieldDashboard(): Dashboard {
  return newDashboard('Shield', 'Zones, API Guardian and rate limits.')
    .withVariable(zoneVariable())
    .withRow(new RowBuilder('Zones'))
    .withPanel(
      grid({
        title: 'Zones',
        description:
          'At most 100 of the zones that are picked, as they are configured now (API fields of the Shield Zone: wafEnabled, wafExecutionMode, learningMode, learningModeUntil, planType, dDoSShieldSensitivity, dDoSExecutionMode, wafDisabledRules, wafLogOnlyRules, wafCustomRuleOrder, customWafRulesLimit, rateLimitRulesLimit; no window).',
        unit: 'short',
        span: 24,
        height: 10,
        key: { label: 'shield_zone_id', title: 'Id' },
        labels: [{ label: 'display', title: 'Zone' }],
        columns: [
          {
            title: 'Firewall',
            expr: named(zone, inRows('waf_enabled')),
            unit: 'none',
            mappings: [onOff],
          },
          { title: 'Mode', expr: inRows('waf_execution_mode'), unit: 'none', mappings: [executionMode] },
          { title: 'Learning', expr: inRows('learning_mode'), unit: 'none', mappings: [learning] },
          {
            title: 'Learning until',
            expr: `${zoneField('learning_mode_until_timestamp_seconds')} * 1000 and on (shield_zone_id) ${rows}`,
            unit: 'dateTimeAsIso',
          },
          { title: 'Plan', expr: inRows('plan_type'), unit: 'none', mappings: [planType] },
          {
            title: 'DDoS sensitivity',
            expr: inRows('ddos_shield_sensitivity'),
            unit: 'none',
            mappings: [sensitivity],
          },
          {
            title: 'DDoS mode',
            expr: inRows('ddos_execution_mode'),
            unit: 'none',
            mappings: [executionMode],
          },
          { title: 'Disabled rules', expr: inRows('waf_disabled_rules') },
          { title: 'Log-only rules', expr: inRows('waf_log_only_rules') },
          { title: 'Custom rules', expr: inRows('waf_custom_rules') },
          { title: 'of', expr: inRows('custom_waf_rules_limit') },
          { title: 'Rate limits allowed', expr: inRows('rate_limit_rules_limit') },
          {
            title: 'Threat intelligence',
            expr: inRows('waf_realtime_threat_intelligence_enabled'),
            unit: 'none',
            mappings: [yesNo],
          },
        ],
        sort: { title: 'Firewall', descending: false },
      }),
    )
    .withPanel(
      bars({
        title: 'Custom rules, of those allowed: the 15 fullest zones',
        description:
          'Share of the limit of custom WAF rules that is used now (length of API field wafCustomRuleOrder, and customWafRulesLimit). An alert is raised from 80 %.',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        queries: [
          {
            expr: named(
              zone,
              `topk(15, ${zoneField('waf_custom_rules')} / (${zoneField('custom_waf_rules_limit')} > 0))`,
            ),
            legend: '{{display}}',
          },
        ],
      }),
    )
    .withPanel(
      bars({
        title: 'Rate limits, of those allowed: the 15 fullest zones',
        description:
          'Share of the limit of rate limits that has figures (number of ratelimitId in the rate limit metrics, and API field rateLimitRulesLimit). A rate limit that was deleted in the past 28 days may still be counted.',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        queries: [
          {
            expr: named(
              zone,
              `topk(15, count by (shield_zone_id) (${rateLimit('breaches_28d')}) / (${zoneField('rate_limit_rules_limit')} > 0))`,
            ),
            legend: '{{display}}',
          },
        ],
      }),
    )
    .withPanel(
      bars({
        title: 'Learning ends in: the 15 next zones',
        description:
          'Time until the learning mode ends and the firewall begins to act, for the zones that are learning now (API fields learningMode and learningModeUntil).',
        unit: 's',
        span: 8,
        steps: ['red', [86400, 'orange'], [172800, 'blue']],
        queries: [
          {
            expr: named(
              zone,
              `bottomk(15, (${zoneField('learning_mode_until_timestamp_seconds')} - time() > 0) and (${zoneField('learning_mode')} == 1))`,
            ),
            legend: '{{display}}',
          },
        ],
      }),
    )
    .withRow(new RowBuilder('API Guardian'))
    .withPanel(
      grid({
        title: 'The 50 endpoints with the most blocked requests, past 28 days',
        description:
          'What API Guardian did in the past 28 days, a rolling window that can fall (API fields totalRequestsInspected, totalBlockedRequests, totalLoggedRequests, totalRateLimited, totalFailedRequestValidation, totalFailedAuthenticationEnforcement).',
        unit: 'short',
        span: 24,
        key: { label: 'key', title: 'Zone / endpoint' },
        labels: [{ label: 'display', title: 'Endpoint' }],
        columns: [
          { title: 'Blocked', expr: endpointNames() },
          ...figures
            .filter(([figure]) => figure !== 'blocked_requests')
            .map(([figure, words]) => ({
              title: words.charAt(0).toUpperCase() + words.slice(1),
              expr: endpointRow(`${figure}_28d`),
            })),
        ],
        sort: { title: 'Blocked', descending: true },
      }),
    )
    .withPanel(
      lines({
        title: 'All endpoints picked, in the newest day',
        description:
          'Sums over the endpoints of the zones that are picked, in the newest UTC day, which starts again from nothing at midnight (API field overviewPastTwentyEightDays: blockedRequests, loggedRequests, rateLimited, failedRequestValidation, failedAuthenticationEnforcement of its newest day).',
        unit: 'short',
        span: 12,
        queries: figures
          .filter(([figure]) => figure !== 'inspected_requests')
          .map(([figure, words]) => ({ expr: `sum(${guardian(`${figure}_latest_day`)})`, legend: words })),
      }),
    )
    .withPanel(
      lines({
        title: 'Blocked in the past hour: the 10 worst endpoints',
        description:
          'Growth within an hour of the requests blocked in the newest UTC day (API field overviewPastTwentyEightDays, blockedRequests of its newest day).',
        unit: 'short',
        span: 6,
        queries: [
          {
            expr: namedWorst(
              10,
              guardianEndpoint,
              growth(guardianEndpoint, 'bunnynet_shield_api_guardian_blocked_requests_latest_day', '1h'),
            ),
            legend: '{{display}}',
          },
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Rate-limited in the past hour: the 10 worst endpoints',
        description:
          'Growth within an hour of the requests rate-limited in the newest UTC day (API field overviewPastTwentyEightDays, rateLimited of its newest day).',
        unit: 'short',
        span: 6,
        queries: [
          {
            expr: namedWorst(
              10,
              guardianEndpoint,
              growth(guardianEndpoint, 'bunnynet_shield_api_guardian_rate_limited_requests_latest_day', '1h'),
            ),
            legend: '{{display}}',
          },
        ],
      }),
    )
    .withRow(new RowBuilder('Rate limits'))
    .withPanel(
      lines({
        title: 'Breaches in the newest day, by what was done',
        description:
          'Sums over the rate limits of the zones that are picked, in the newest UTC day, which starts again from nothing at midnight (API field ratelimitOverviewPastTwentyEightDays: totalBreaches, loggedBreaches, challengedBreaches, blockedBreaches of its newest day).',
        unit: 'short',
        span: 12,
        queries: breachFigures.map((figure) => ({
          expr: `sum(${rateLimit(`${figure}_latest_day`)})`,
          legend: figure === 'breaches' ? 'all' : figure.replace('_breaches', ''),
        })),
      }),
    )
    .withPanel(
      lines({
        title: 'Breaches in the past hour: the 10 worst zones',
        description:
          'Growth within an hour of the breaches of the newest UTC day, all rate limits of a zone together (API field ratelimitOverviewPastTwentyEightDays, totalBreaches of its newest day).',
        unit: 'short',
        span: 12,
        queries: [
          {
            expr: namedWorst(
              10,
              zone,
              `sum by (shield_zone_id) (${growth(zone, 'bunnynet_shield_rate_limit_breaches_latest_day', '1h', { by: ['rate_limit_id'] })})`,
            ),
            legend: '{{display}}',
          },
        ],
      }),
    )
    .withPanel(
      bars({
        title: 'Breaches in the past 28 days: the 20 busiest rate limits',
        description:
          'Breaches of a rate limit in the past 28 days, a rolling window that can fall (API field overview, totalBreaches).',
        unit: 'short',
        span: 12,
        height: 10,
        queries: [
          {
            expr: named(zone, `topk(20, ${rateLimit('breaches_28d')})`),
            legend: '{{display}}: {{rate_limit_id}}',
          },
        ],
      }),
    )
    .withPanel(
      bars({
        title: 'Blocked breaches in the past 28 days: the 20 busiest rate limits',
        description:
          'Breaches of a rate limit that were answered by blocking in the past 28 days, a rolling window that can fall (API field overview, blockedBreaches).',
        unit: 'short',
        span: 12,
        height: 10,
        queries: [
          {
            expr: named(zone, `topk(20, ${rateLimit('blocked_breaches_28d')})`),
            legend: '{{display}}: {{rate_limit_id}}',
          },
        ],
      }),
    )
    .withRow(new RowBuilder('Readings'))
    .withPanel(
      numbers({
        title: 'Newest day that has figures',
        description:
          'Time since the newest UTC day of the figures began; more than a day means that nothing has been counted since (newest key of API fields overviewPastTwentyEightDays and ratelimitOverviewPastTwentyEightDays).',
        unit: 's',
        span: 24,
        steps: ['green', [172800, 'orange']],
        queries: [
          {
            expr: `time() - min(${guardian('latest_day_timestamp_seconds')})`,
            legend: 'API Guardian, oldest',
          },
          {
            expr: `time() - min(${rateLimit('latest_day_timestamp_seconds')})`,
            legend: 'rate limits, oldest',
          },
        ],
        nothing: 'none',
      }),
    )
    .build();
}
