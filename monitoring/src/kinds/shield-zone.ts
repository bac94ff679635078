/** Shield Zones: how their firewalls are set. */
import { type Dashboard, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, numbers, onOff, textOf, yesNo } from '../panels.ts';
import { all, anyOf, anywhere, entityOf, highest, named, seriesOf, share, top, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

/** Also for entities that belong to a zone. */
export const onShieldDashboard = {
  noun: 'zone',
  picks: { zone: 'shield_zone_id' },
  dashboard: 'bunnynet-shield',
} as const;

export const zone = entityOf({
  ...onShieldDashboard,
  ids: ['shield_zone_id'],
  info: 'bunnynet_shield_zone_info',
});
const every = all(zone);

/** Shared by all kinds about zones. */
export const shieldDashboard: Dashboard = {
  uid: 'bunnynet-shield',
  title: 'Shield',
  description: 'Zones, their protections, API Guardian and rate limits.',
  picked: ['shield_zone_id=~"$zone|"'],
  details: ['WAF rules and access lists', 'The month', 'API Guardian', 'Rate limits', 'Readings'],
  variables: [pickByName(zone, 'Zone')],
};

const learning = textOf({ 0: ['no', 'text'], 1: ['learning', 'blue'] });
/** wafExecutionMode, dDoSExecutionMode, executionMode of API Guardian */
export const modeText = textOf({ 0: ['log', 'orange'], 1: ['block', 'green'] });
const planType = textOf({
  0: ['basic', 'text'],
  1: ['advanced', 'text'],
  2: ['business', 'text'],
  3: ['enterprise', 'text'],
});
/** dDoSShieldSensitivity */
const sensitivity = textOf({
  0: ['off', 'red'],
  1: ['low', 'text'],
  2: ['medium', 'text'],
  3: ['high', 'text'],
  4: ['challenge', 'text'],
});

const family = (name: string): string => `bunnynet_shield_zone_${name}`;
const field = (name: string): string => values(anywhere(zone), family(name));
const count = (expr: string): string => `count(${highest(every, expr)}) or vector(0)`;

/** At most a hundred zones; those without a firewall and those that cannot be read come first. */
const rows = `bottomk(100, min by (shield_zone_id) (${anyOf(zone, family('(up|waf_enabled)'))}))`;

const until = family('learning_mode_until_timestamp_seconds');
/** The API leaves learningMode on after its end, and switches nothing then. */
const learns = `(${seriesOf(every, family('learning_mode'))} == 1 unless ${until} <= time())`;
const onlyLogs = `${seriesOf(every, family('waf_execution_mode'))} == 0 and ${family('waf_enabled')} == 1 unless ${learns}`;
const learningLeft = `${seriesOf(zone, until)} - time() > 0 and ${family('learning_mode')} == 1`;

const logsOnly = `(
              max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_execution_mode[3m:1m])) == 0
              and max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_enabled[3m:1m])) == 1
              unless (
                max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode[3m:1m])) == 1
                unless max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode_until_timestamp_seconds[3m:1m])) <= time()
              )
            )`;

export const shieldZone: KindMonitoring = {
  kind: 'shield_zone',
  rules: {
    about: 'Shield Zones: how their firewalls are set.',
    reading: family('waf_enabled'),
    names: zone,
    interval: '1m',
    records: [
      {
        record: 'bunnynet:shield_zone_learning_mode_until:last',
        comment:
          'When a zone that does not block already stops learning, also while it cannot be read: it ends anyway. Nothing switches then.',
        expr: `
          max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode_until_timestamp_seconds[3m:1m]))
          and max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode[3m:1m])) == 1
          unless max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_execution_mode[3m:1m])) == 1
          or bunnynet:shield_zone_learning_mode_until:last and bunnynet:shield_zone_unread`,
      },
    ],
    alerts: {
      BunnynetShieldLearningModeEnding: {
        expr: `(bunnynet:shield_zone_learning_mode_until:last - time() > 0) < [[days]] * 86400`,
        thresholds: { days: 2 },
        for: '10m',
        held: false,
        summary: 'Learning mode of zone {{ or $name $labels.shield_zone_id }} is about to end',
        description:
          'The learning mode of zone {{ $labels.shield_zone_id }} ends in {{ $value | humanizeDuration }}. Nothing switches then: the execution mode is to log, so the firewall goes on to log and blocks nothing.',
      },
      BunnynetShieldWafDisabled: {
        comment: 'Where it is off for a day, that is on purpose, or known.',
        expr: `
          max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_enabled[3m:1m])) == 0
          and max by (shield_zone_id) (max_over_time(bunnynet_shield_zone_waf_enabled[1d])) == 1`,
        for: '15m',
        summary: 'Firewall of zone {{ or $name $labels.shield_zone_id }} is off',
        description:
          'The web application firewall of zone {{ $labels.shield_zone_id }} has been off for [[for]]. It was on within the past day.',
      },
      BunnynetShieldWafLogOnly: {
        comment:
          'A warning where it blocked or learned within a day: a change that somebody may not have meant.',
        expr: `
          label_replace(
            ${logsOnly} and (
              max by (shield_zone_id) (max_over_time(bunnynet_shield_zone_waf_execution_mode[1d])) == 1
              or max by (shield_zone_id) (max_over_time(bunnynet_shield_zone_learning_mode[1d])) == 1 and (
                max by (shield_zone_id) (max_over_time(bunnynet_shield_zone_learning_mode_until_timestamp_seconds[1d])) > time() - 86400
                or max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode[3m:1m])) == 0
              )
            ),
            "severity", "warning", "", ""
          )
          or on (shield_zone_id) ${logsOnly}`,
        for: '1h',
        severity: '{{ or $labels.severity "info" }}',
        summary: 'Firewall of zone {{ or $name $labels.shield_zone_id }} only logs',
        description:
          'The web application firewall of zone {{ $labels.shield_zone_id }} has only been logging for [[for]], and the zone is not learning.{{ if eq $labels.severity "warning" }} It blocked, or the zone learned, within the past day.{{ end }}',
      },
      BunnynetShieldCustomRulesNearLimit: {
        expr: `max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_custom_rules[3m:1m])) / (max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_custom_waf_rules_limit[3m:1m])) > 0) >= [[share]]`,
        thresholds: { share: 0.8 },
        for: '1h',
        severity: 'info',
        summary: 'Zone {{ or $name $labels.shield_zone_id }} has nearly used up its custom rules',
        description:
          'Zone {{ $labels.shield_zone_id }} uses {{ $value | humanizePercentage }} of its custom firewall rules.',
      },
      BunnynetShieldRateLimitRulesNearLimit: {
        expr: `
          count by (shield_zone_id) (
            max by (shield_zone_id, rate_limit_id) (last_over_time(bunnynet_shield_rate_limit_breaches_28d[3m:1m]))
          ) / (max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_rate_limit_rules_limit[3m:1m])) >= [[limit]]) >= [[share]]`,
        thresholds: { share: 0.8, limit: 5 },
        for: '1h',
        severity: 'info',
        summary:
          'Zone {{ or $name $labels.shield_zone_id }} has nearly as many rate limits as its plan allows',
        description:
          'Zone {{ $labels.shield_zone_id }} has {{ $value | humanizePercentage }} of the number of rate limits that its plan allows. This is not about how often they are breached.',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Shield', [
      numbers('WAF by zone', 'short', 8, {
        description:
          'Zones by what their firewall does (API fields wafEnabled, wafExecutionMode and learningMode, as they are now). "only log" leaves out the zones that are learning: those in learning mode whose end (learningModeUntil) is to come, or not known.',
        height: 8,
        queries: {
          zones: `count(${values(every, family('waf_enabled'))})`,
          off: count(`${seriesOf(every, family('waf_enabled'))} == 0`),
          'only log': count(onlyLogs),
          learning: count(learns),
        },
        wrong: { off: 'red', 'only log': 'orange', learning: 'blue' },
        link: linkTo(shieldDashboard.uid, 'Open the zones'),
        alerts: ['BunnynetShieldWafDisabled', 'BunnynetShieldWafLogOnly'],
      }),
    ]),
    row(shieldDashboard, 'Zones', [
      grid('Zones', 'short', 24, {
        description:
          'At most 100 of the selected zones, as they are configured now (API fields of the Shield Zone: wafEnabled, wafExecutionMode, learningMode, learningModeUntil, planType, dDoSShieldSensitivity, dDoSExecutionMode, wafDisabledRules, wafLogOnlyRules, wafCustomRuleOrder, customWafRulesLimit, rateLimitRulesLimit; no window).',
        height: 10,
        entity: zone,
        rows,
        columns: [
          { title: 'Firewall', expr: field('waf_enabled'), text: onOff },
          { title: 'Mode', expr: field('waf_execution_mode'), text: modeText },
          {
            title: 'Learning',
            expr: `((${field('learning_mode')} == 1 unless ${field('learning_mode_until_timestamp_seconds')} <= time()) or 0 * ${field('learning_mode')})`,
            text: learning,
          },
          {
            title: 'Learning until',
            expr: `(${field('learning_mode_until_timestamp_seconds')} > time()) * 1000 and on (shield_zone_id) ${family('learning_mode')} == 1`,
            unit: 'dateTimeAsIso',
            width: 170,
          },
          { title: 'Plan', expr: field('plan_type'), text: planType },
          { title: 'DDoS', expr: field('ddos_shield_sensitivity'), text: sensitivity },
          { title: 'On DDoS', expr: field('ddos_execution_mode'), text: modeText },
          { title: 'Rules off', expr: field('waf_disabled_rules') },
          { title: 'Log-only', expr: field('waf_log_only_rules') },
          { title: 'Custom', expr: field('waf_custom_rules') },
          { title: 'Allowed', expr: field('custom_waf_rules_limit') },
          { title: 'Rate limits', expr: field('rate_limit_rules_limit') },
          { title: 'Threats', expr: field('waf_realtime_threat_intelligence_enabled'), text: yesNo },
        ],
        ascending: true,
        alerts: ['BunnynetShieldWafDisabled', 'BunnynetShieldWafLogOnly'],
      }),
      bars('Custom rule limit used (top 10)', 'percentunit', 8, {
        description:
          'Share of the allowed custom WAF rules that is in use (length of API field wafCustomRuleOrder, and customWafRulesLimit). An alert fires from 80 %.',
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        queries: top(10, zone, share(zone, family('waf_custom_rules'), family('custom_waf_rules_limit'))),
        link: zone.link,
        nothing: 'No zone may have custom rules.',
        alerts: ['BunnynetShieldCustomRulesNearLimit'],
      }),
      bars('Learning mode ends in (next 10)', 's', 8, {
        description:
          'Time until the learning mode ends, for the zones that are learning now (API fields learningMode and learningModeUntil). Nothing switches then: the firewall goes on as its mode says.',
        steps: ['red', [86400, 'orange'], [172800, 'blue']],
        queries: { '{{display}}': named(zone, `bottomk(10, ${highest(zone, learningLeft)})`) },
        link: zone.link,
        nothing: 'No zone is learning.',
        alerts: ['BunnynetShieldLearningModeEnding'],
      }),
    ]),
  ],
};
