/** Shield Zone configurations: one paged listing gives all the zones that a credential can see (reference 4.4, 2.6, 2.7). */
import { boolean, code, codeFieldsOf, id, instant, integer, list, object, type ValueOf } from './fields.ts';
import { mapEach, readShieldPages, shieldPageFields } from './pages.ts';
import { pullZones } from './pull-zone.ts';
import { defineResource, familiesOf, type Listing } from './resource.ts';

const zone = object({
  shieldZoneId: id,
  pullZoneId: id,
  learningMode: boolean,
  learningModeUntil: instant,
  wafEnabled: boolean,
  wafExecutionMode: code([0, 1]),
  wafDisabledRules: list,
  wafLogOnlyRules: list,
  wafCustomRuleOrder: list,
  wafRequestHeaderLoggingEnabled: boolean,
  requestBodyLoggingEnabled: boolean,
  wafRequestIgnoredHeaders: list,
  wafRealtimeThreatIntelligenceEnabled: boolean,
  wafProfileId: id,
  wafEngineConfig: list,
  wafRequestBodyLimitAction: code([0, 1, 2]),
  wafResponseBodyLimitAction: code([0, 1, 2]),
  rateLimitRulesLimit: integer,
  customWafRulesLimit: integer,
  planType: code([0, 1, 2, 3]),
  dDoSShieldSensitivity: code([0, 1, 2, 3, 4]),
  dDoSExecutionMode: code([0, 1]),
  dDoSChallengeWindow: integer,
  whitelabelResponsePages: boolean,
});

export type ShieldZoneReading = ValueOf<typeof zone>;

/** Every zone that a credential can see, each with its configuration. A zone is called as its pull zone is. */
export const zones: Listing<ShieldZoneReading> = {
  kind: 'shield_zone',
  api: 'shield',
  nouns: 'Shield Zones',
  fields: [...zone.names, ...shieldPageFields],
  enumeratedFields: codeFieldsOf(zone),
  names: pullZones,
  async discover(get, _parent, diagnostics) {
    const found = await readShieldPages(
      {
        path: '/shield/shield-zones',
        nouns: 'zones',
        perPage: 100,
        element: zone,
        identifier: 'shieldZoneId',
      },
      get,
      diagnostics,
    );
    return mapEach(found, ([id, reading]) => ({
      ids: { shield_zone_id: id },
      namedBy: reading.pullZoneId ?? undefined,
      reading,
    }));
  },
};

/** A code or count as it is; true and false as 1 and 0. */
function asNumber(value: number | boolean | null | undefined): number | undefined {
  return typeof value === 'boolean' ? Number(value) : (value ?? undefined);
}

const { gauge, info } = familiesOf<ShieldZoneReading>('bunnynet_shield_zone');

type FieldOf<Value> = {
  [Field in keyof ShieldZoneReading]-?: ShieldZoneReading[Field] extends Value | null | undefined
    ? Field
    : never;
}[keyof ShieldZoneReading];

function flag(name: string, field: FieldOf<boolean>, meaning: string) {
  return gauge(name, `${meaning}: 1 yes, 0 no (API field ${field}).`, (reading) => asNumber(reading[field]));
}

function figure(name: string, field: FieldOf<number>, meaning: string) {
  return gauge(name, `${meaning} (API field ${field}).`, (reading) => asNumber(reading[field]));
}

function length(name: string, field: FieldOf<readonly unknown[]>, meaning: string) {
  return gauge(
    name,
    `Number of ${meaning} (length of the API field ${field}).`,
    (reading) => reading[field]?.length,
  );
}

export const shieldZone = defineResource({
  kind: 'shield_zone',
  api: 'shield',
  reference: '4.4',
  noun: 'Shield Zone',
  section: 'shield_zones',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 600,
  fields: zones.fields,
  enumeratedFields: codeFieldsOf(zone),
  listing: zones,

  families: [
    info(
      'The name of the zone, from the configuration or else from the API, its pull zone and its WAF profile (API fields pullZoneId, wafProfileId).',
      ['name', 'pull_zone_id', 'waf_profile_id'],
      ({ pullZoneId, wafProfileId }, { name }) => ({
        name,
        pull_zone_id: pullZoneId,
        waf_profile_id: wafProfileId,
      }),
    ),
    flag('learning_mode', 'learningMode', 'Whether the zone is in learning mode'),
    figure(
      'learning_mode_until_timestamp_seconds',
      'learningModeUntil',
      'End of the learning mode, as Unix time',
    ),
    flag('waf_enabled', 'wafEnabled', 'Whether the WAF is enabled'),
    figure('waf_execution_mode', 'wafExecutionMode', 'What the WAF does: 0 log, 1 block'),
    length('waf_disabled_rules', 'wafDisabledRules', 'disabled WAF rules'),
    length('waf_log_only_rules', 'wafLogOnlyRules', 'WAF rules that only log'),
    length('waf_custom_rules', 'wafCustomRuleOrder', 'custom WAF rules'),
    flag(
      'waf_request_header_logging_enabled',
      'wafRequestHeaderLoggingEnabled',
      'Whether the WAF logs request headers',
    ),
    flag('request_body_logging_enabled', 'requestBodyLoggingEnabled', 'Whether request bodies are logged'),
    length('waf_request_ignored_headers', 'wafRequestIgnoredHeaders', 'request headers that the WAF ignores'),
    flag(
      'waf_realtime_threat_intelligence_enabled',
      'wafRealtimeThreatIntelligenceEnabled',
      'Whether real-time threat intelligence is enabled',
    ),
    length('waf_engine_config_entries', 'wafEngineConfig', 'entries of the WAF engine configuration'),
    figure(
      'waf_request_body_limit_action',
      'wafRequestBodyLimitAction',
      'What happens to a request body over the limit: 0 block, 1 log, 2 ignore',
    ),
    figure(
      'waf_response_body_limit_action',
      'wafResponseBodyLimitAction',
      'What happens to a response body over the limit: 0 block, 1 log, 2 ignore',
    ),
    figure('rate_limit_rules_limit', 'rateLimitRulesLimit', 'How many rate-limit rules the zone may have'),
    figure('custom_waf_rules_limit', 'customWafRulesLimit', 'How many custom WAF rules the zone may have'),
    figure('plan_type', 'planType', 'Plan of the zone: 0 basic, 1 advanced, 2 business, 3 enterprise'),
    figure(
      'ddos_shield_sensitivity',
      'dDoSShieldSensitivity',
      'Sensitivity of the DDoS shield: 0 off, 1 low, 2 medium, 3 high, 4 challenge',
    ),
    figure('ddos_execution_mode', 'dDoSExecutionMode', 'What the DDoS shield does: 0 log, 1 block'),
    figure(
      'ddos_challenge_window',
      'dDoSChallengeWindow',
      'Challenge window of the DDoS shield, in the unit of the API',
    ),
    flag(
      'whitelabel_response_pages',
      'whitelabelResponsePages',
      'Whether response pages are shown without the name of the vendor',
    ),
  ],
});
