/** Shield Zone configurations (`/shield/shield-zones`): one paged listing gives all the zones that a credential can see. */
import * as z from 'zod';
import { defineListedResource, defineListing } from '../define.ts';
import { coded, count, flag, label, length, timestamp } from '../families.ts';
import { id, instant, object, reference } from '../fields.ts';
import { pullZones } from './pull-zone.ts';

const zone = object({
  shieldZoneId: id,
  pullZoneId: label('pull_zone_id', reference),
  wafProfileId: label('waf_profile_id', reference),
  learningMode: flag(
    'learning_mode',
    'Whether the zone is in learning mode; the API leaves it on after its end',
  ),
  learningModeUntil: timestamp(
    'learning_mode_until_timestamp_seconds',
    'End of the learning mode, in which nothing switches: the WAF goes on as its execution mode says',
  ),
  wafEnabled: flag('waf_enabled', 'Whether the WAF is enabled'),
  wafExecutionMode: coded('waf_execution_mode', 'What the WAF does', ['log', 'block']),
  wafDisabledRules: length('waf_disabled_rules', 'disabled WAF rules'),
  wafLogOnlyRules: length('waf_log_only_rules', 'WAF rules that only log'),
  wafCustomRuleOrder: length('waf_custom_rules', 'custom WAF rules'),
  wafRequestHeaderLoggingEnabled: flag(
    'waf_request_header_logging_enabled',
    'Whether the WAF logs request headers',
  ),
  requestBodyLoggingEnabled: flag('request_body_logging_enabled', 'Whether request bodies are logged'),
  wafRequestIgnoredHeaders: length('waf_request_ignored_headers', 'request headers that the WAF ignores'),
  wafRealtimeThreatIntelligenceEnabled: flag(
    'waf_realtime_threat_intelligence_enabled',
    'Whether real-time threat intelligence is enabled',
  ),
  wafEngineConfig: length('waf_engine_config_entries', 'entries of the WAF engine configuration'),
  wafRequestBodyLimitAction: coded(
    'waf_request_body_limit_action',
    'What happens to a request body over the limit',
    ['block', 'log', 'ignore'],
  ),
  wafResponseBodyLimitAction: coded(
    'waf_response_body_limit_action',
    'What happens to a response body over the limit',
    ['block', 'log', 'ignore'],
  ),
  rateLimitRulesLimit: count('rate_limit_rules_limit', 'Maximum number of rate-limit rules'),
  customWafRulesLimit: count('custom_waf_rules_limit', 'Maximum number of custom WAF rules'),
  planType: coded('plan_type', 'Plan of the zone', ['basic', 'advanced', 'business', 'enterprise']),
  dDoSShieldSensitivity: coded('ddos_shield_sensitivity', 'Sensitivity of the DDoS shield', [
    'off',
    'low',
    'medium',
    'high',
    'challenge',
  ]),
  dDoSExecutionMode: coded('ddos_execution_mode', 'What the DDoS shield does', ['log', 'block']),
  dDoSChallengeWindow: count(
    'ddos_challenge_window',
    'Challenge window of the DDoS shield, in the unit of the API',
  ),
  deletedDateTime: instant,
  whitelabelResponsePages: flag('whitelabel_response_pages', 'Whether response pages are white-labelled'),
}).ignoring('wafEngineConfig[name valueEncoded]');

/** Every zone that a credential can see. A zone has the name of its pull zone. */
export const zones = defineListing({
  kind: 'shield_zone',
  product: 'Shield',
  api: 'shield',
  nouns: 'Shield Zones',
  names: pullZones,
  hasOrphans: true,
  path: '/shield/shield-zones',
  element: zone,
  elementNouns: 'zones',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  about: ({ pullZoneId, deletedDateTime }) => ({
    namedBy: pullZoneId,
    isDeleted: deletedDateTime === undefined ? undefined : true,
  }),
});

export const shieldZone = defineListedResource({
  noun: 'Shield Zone',
  section: 'shield_zones',
  settings: {
    orphans: z
      .enum(['drop', 'keep'])
      .default('drop')
      .describe(
        'Whether Shield Zones whose pull zone was deleted are read, with all kinds below them: the API lists them for ever. Left out once two complete lists of pull zones lack theirs',
      ),
  },
  listing: zones,
  info: 'The name of the zone, from the configuration or else from the API, its pull zone and its WAF profile',
});
