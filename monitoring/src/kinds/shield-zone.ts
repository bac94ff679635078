/** Shield Zones: how their firewalls are set. */
import { type Dashboard, type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, numbers, textOf } from '../panels.ts';
import { all, anywhere, entityOf, highest, named, selector, seriesOf, share, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { onOff, yesNo } from '../states.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

export const zone = entityOf({
  ids: ['shield_zone_id'],
  info: 'bunnynet_shield_zone_info',
  selection: ['shield_zone_id=~"$zone"'],
});
const every = all(zone);

/** For every kind that is read for a zone. */
export const shieldDashboard: Dashboard = {
  uid: 'bunnynet-shield',
  title: 'Shield',
  description: 'Zones, their protections, API Guardian and rate limits.',
  picked: ['shield_zone_id=~"$zone|"'],
  details: ['The month', 'API Guardian', 'Rate limits', 'Readings'],
  variables: () => [pickByName('zone', 'Zone', every, 'shield_zone_id')],
};

const open = 'Open the zone';
export const toZone = linkTo(shieldDashboard.uid, open, { zone: '${__field.labels.shield_zone_id}' });
/** The same from a table. */
export const rowToZone = linkTo(shieldDashboard.uid, open, { zone: '${__data.fields.shield_zone_id}' });

const learning = textOf({ 0: ['no', 'text'], 1: ['learning', 'blue'] });
/** wafExecutionMode, dDoSExecutionMode */
const modeText = textOf({ 0: ['log', 'orange'], 1: ['block', 'green'] });
/** planType */
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

/** The rows of the table: at most a hundred, those without a firewall and those that cannot be read first. */
const rows = `bottomk(100, min by (shield_zone_id) (${selector('', ['__name__=~"bunnynet_shield_zone_(up|waf_enabled)"', ...zone.matchers])}))`;

const readable = presence(
  'shield_zone',
  ['shield_zone_id'],
  'bunnynet_shield_zone_up',
  'bunnynet_shield_zone_waf_enabled',
);

const rules: Rules = {
  about: 'Shield Zones: how their firewalls are set.',
  groups: [
    {
      name: 'bunnynet-shield-zone',
      interval: '1m',
      rules: [
        ...readable.records,
        displayRecord(zone),
        {
          record: 'bunnynet:shield_zone_learning_mode_until:last',
          comment:
            'When the learning mode of a learning zone ends, also while the zone cannot be read: it ends all the same.',
          expr: `
          max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode_until_timestamp_seconds[3m]))
          and max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode[3m])) == 1
          or bunnynet:shield_zone_learning_mode_until:last and bunnynet:shield_zone_unread`,
        },
        {
          alert: 'BunnynetShieldLearningModeEnding',
          expr: `(bunnynet:shield_zone_learning_mode_until:last - time() > 0) < [[days]] * 86400`,
          thresholds: { days: 2 },
          for: '10m',
          severity: 'warning',
          about: readable,
          named: zone,
          summary: 'Learning mode of zone {{ or $name $labels.shield_zone_id }} is about to end',
          description:
            'The learning mode of zone {{ $labels.shield_zone_id }} ends in {{ $value | humanizeDuration }}; the firewall then starts to act on what it has learned.',
        },
        {
          alert: 'BunnynetShieldWafDisabled',
          expr: `max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_enabled[3m])) == 0`,
          for: '15m',
          severity: 'warning',
          held: readable,
          named: zone,
          summary: 'Firewall of zone {{ or $name $labels.shield_zone_id }} is off',
          description:
            'The web application firewall of zone {{ $labels.shield_zone_id }} has been off for [[for]].',
        },
        {
          alert: 'BunnynetShieldWafLogOnly',
          expr: `
          max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_execution_mode[3m])) == 0
          and max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_enabled[3m])) == 1
          unless max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_learning_mode[3m])) == 1`,
          for: '1h',
          severity: 'warning',
          held: readable,
          named: zone,
          summary: 'Firewall of zone {{ or $name $labels.shield_zone_id }} only logs',
          description:
            'The web application firewall of zone {{ $labels.shield_zone_id }} has only been logging for [[for]], and the zone is not in learning mode.',
        },
        {
          alert: 'BunnynetShieldCustomRulesNearLimit',
          expr: `max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_waf_custom_rules[3m])) / (max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_custom_waf_rules_limit[3m])) > 0) >= [[share]]`,
          thresholds: { share: 0.8 },
          for: '1h',
          severity: 'info',
          held: readable,
          named: zone,
          summary: 'Zone {{ or $name $labels.shield_zone_id }} has nearly used up its custom rules',
          description:
            'Zone {{ $labels.shield_zone_id }} uses {{ $value | humanizePercentage }} of its custom firewall rules.',
        },
        {
          alert: 'BunnynetShieldRateLimitsNearLimit',
          expr: `
          count by (shield_zone_id) (
            max by (shield_zone_id, rate_limit_id) (last_over_time(bunnynet_shield_rate_limit_breaches_28d[3m]))
          ) / (max by (shield_zone_id) (last_over_time(bunnynet_shield_zone_rate_limit_rules_limit[3m])) > 0) >= [[share]]`,
          thresholds: { share: 0.8 },
          for: '1h',
          severity: 'info',
          held: readable,
          named: zone,
          summary: 'Zone {{ or $name $labels.shield_zone_id }} has nearly used up its rate limits',
          description:
            'Zone {{ $labels.shield_zone_id }} has metrics for {{ $value | humanizePercentage }} of the rate limits that its plan allows.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  const off = `${seriesOf(every, family('waf_enabled'))} == 0`;
  const logs = `${seriesOf(every, family('waf_execution_mode'))} == 0 and ${family('waf_enabled')} == 1 unless ${family('learning_mode')} == 1`;
  const count = (expr: string): string => `count(${highest(every, expr)}) or vector(0)`;
  const left = `${seriesOf(zone, family('learning_mode_until_timestamp_seconds'))} - time() > 0 and ${family('learning_mode')} == 1`;
  return [
    row(overviewDashboard, 'Shield', [
      numbers({
        title: 'Firewalls',
        description:
          'Zones by what their firewall does (API fields wafEnabled, wafExecutionMode and learningMode, as they are now). «only logs» leaves out the zones that are learning.',
        unit: 'short',
        span: 8,
        height: 8,
        queries: [
          { expr: `count(${values(every, family('waf_enabled'))})`, legend: 'zones' },
          { expr: count(off), legend: 'off' },
          { expr: count(logs), legend: 'only log' },
          { expr: count(`${seriesOf(every, family('learning_mode'))} == 1`), legend: 'learning' },
        ],
        wrong: { off: 'red', 'only log': 'orange', learning: 'blue' },
        nothing: 'none',
        link: linkTo(shieldDashboard.uid, 'Open the zones'),
        alerts: ['BunnynetShieldWafDisabled', 'BunnynetShieldWafLogOnly'],
      }),
    ]),
    row(shieldDashboard, 'Zones', [
      grid({
        title: 'Zones',
        description:
          'At most 100 of the selected zones, as they are configured now (API fields of the Shield Zone: wafEnabled, wafExecutionMode, learningMode, learningModeUntil, planType, dDoSShieldSensitivity, dDoSExecutionMode, wafDisabledRules, wafLogOnlyRules, wafCustomRuleOrder, customWafRulesLimit, rateLimitRulesLimit; no window).',
        unit: 'short',
        span: 24,
        height: 10,
        entity: zone,
        rows,
        name: 'Zone',
        link: rowToZone,
        columns: [
          { title: 'Firewall', expr: field('waf_enabled'), unit: 'none', mappings: [onOff] },
          { title: 'Mode', expr: field('waf_execution_mode'), unit: 'none', mappings: [modeText] },
          { title: 'Learning', expr: field('learning_mode'), unit: 'none', mappings: [learning] },
          {
            title: 'Learning until',
            expr: `${field('learning_mode_until_timestamp_seconds')} * 1000 and on (shield_zone_id) ${family('learning_mode')} == 1`,
            unit: 'dateTimeAsIso',
            width: 170,
          },
          { title: 'Plan', expr: field('plan_type'), unit: 'none', mappings: [planType] },
          {
            title: 'DDoS',
            expr: field('ddos_shield_sensitivity'),
            unit: 'none',
            mappings: [sensitivity],
          },
          { title: 'On DDoS', expr: field('ddos_execution_mode'), unit: 'none', mappings: [modeText] },
          { title: 'Rules off', expr: field('waf_disabled_rules') },
          { title: 'Log-only', expr: field('waf_log_only_rules') },
          { title: 'Custom', expr: field('waf_custom_rules') },
          { title: 'Allowed', expr: field('custom_waf_rules_limit') },
          { title: 'Rate limits', expr: field('rate_limit_rules_limit') },
          {
            title: 'Threats',
            expr: field('waf_realtime_threat_intelligence_enabled'),
            unit: 'none',
            mappings: [yesNo],
          },
        ],
        sort: { title: 'Firewall', descending: false },
        alerts: ['BunnynetShieldWafDisabled', 'BunnynetShieldWafLogOnly'],
      }),
      rankedNow(10, zone, share(zone, family('waf_custom_rules'), family('custom_waf_rules_limit')), {
        title: 'Custom rules, of those allowed: the 10 fullest',
        description:
          'Share of the allowed custom WAF rules that is in use (length of API field wafCustomRuleOrder, and customWafRulesLimit). An alert fires from 80 %.',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        link: toZone,
        nothing: 'No zone may have custom rules.',
        alerts: ['BunnynetShieldCustomRulesNearLimit'],
      }),
      bars({
        title: 'Learning ends in: the 10 next zones',
        description:
          'Time until the learning mode ends and the firewall begins to act, for the zones that are learning now (API fields learningMode and learningModeUntil).',
        unit: 's',
        span: 8,
        queries: [{ expr: named(zone, `bottomk(10, ${highest(zone, left)})`), legend: '{{display}}' }],
        steps: ['red', [86400, 'orange'], [172800, 'blue']],
        link: toZone,
        nothing: 'No zone is learning.',
        alerts: ['BunnynetShieldLearningModeEnding'],
      }),
    ]),
  ];
}

export const shieldZoneMonitoring: KindMonitoring = { kind: 'shield_zone', panels, rules };
