import { describe, expect, it } from 'vitest';
import { catalogue, firstFamilyOf } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/index.ts';

/** Every family with its labels: dashboards and alerts are written against these names, so they stay still. */
const families: Readonly<Record<string, readonly string[]>> = {
  application: [
    'bunnynet_application_up{app_id}',
    'bunnynet_application_last_success_timestamp_seconds{app_id}',
    'bunnynet_application_info{app_id,name}',
    'bunnynet_application_status{app_id,status}',
    'bunnynet_application_average_latency_seconds{app_id}',
    'bunnynet_application_current_latency_seconds{app_id}',
    'bunnynet_application_volume_size_bytes{app_id}',
    'bunnynet_application_monthly_cost{app_id}',
    'bunnynet_application_latency_chart_points{app_id}',
    'bunnynet_application_latency_chart_latest_seconds{app_id}',
    'bunnynet_application_latency_chart_latest_timestamp_seconds{app_id}',
    'bunnynet_application_latency_chart_seconds{app_id,key}',
  ],
  shield_zone: [
    'bunnynet_shield_zone_up{shield_zone_id}',
    'bunnynet_shield_zone_last_success_timestamp_seconds{shield_zone_id}',
    'bunnynet_shield_zone_info{shield_zone_id,name,pull_zone_id,waf_profile_id}',
    'bunnynet_shield_zone_learning_mode{shield_zone_id}',
    'bunnynet_shield_zone_learning_mode_until_timestamp_seconds{shield_zone_id}',
    'bunnynet_shield_zone_waf_enabled{shield_zone_id}',
    'bunnynet_shield_zone_waf_execution_mode{shield_zone_id}',
    'bunnynet_shield_zone_waf_disabled_rules{shield_zone_id}',
    'bunnynet_shield_zone_waf_log_only_rules{shield_zone_id}',
    'bunnynet_shield_zone_waf_custom_rules{shield_zone_id}',
    'bunnynet_shield_zone_waf_request_header_logging_enabled{shield_zone_id}',
    'bunnynet_shield_zone_request_body_logging_enabled{shield_zone_id}',
    'bunnynet_shield_zone_waf_request_ignored_headers{shield_zone_id}',
    'bunnynet_shield_zone_waf_realtime_threat_intelligence_enabled{shield_zone_id}',
    'bunnynet_shield_zone_waf_engine_config_entries{shield_zone_id}',
    'bunnynet_shield_zone_waf_request_body_limit_action{shield_zone_id}',
    'bunnynet_shield_zone_waf_response_body_limit_action{shield_zone_id}',
    'bunnynet_shield_zone_rate_limit_rules_limit{shield_zone_id}',
    'bunnynet_shield_zone_custom_waf_rules_limit{shield_zone_id}',
    'bunnynet_shield_zone_plan_type{shield_zone_id}',
    'bunnynet_shield_zone_ddos_shield_sensitivity{shield_zone_id}',
    'bunnynet_shield_zone_ddos_execution_mode{shield_zone_id}',
    'bunnynet_shield_zone_ddos_challenge_window{shield_zone_id}',
    'bunnynet_shield_zone_whitelabel_response_pages{shield_zone_id}',
  ],
  api_guardian: [
    'bunnynet_shield_api_guardian_up{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_last_success_timestamp_seconds{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_info{shield_zone_id,endpoint_id,name}',
    'bunnynet_shield_api_guardian_inspected_requests{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_blocked_requests{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_logged_requests{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_rate_limited_requests{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_failed_validation_requests{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_failed_authentication_requests{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_inspected_requests_latest_day{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_blocked_requests_latest_day{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_logged_requests_latest_day{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_rate_limited_requests_latest_day{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_failed_validation_requests_latest_day{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_failed_authentication_requests_latest_day{shield_zone_id,endpoint_id}',
    'bunnynet_shield_api_guardian_latest_day_timestamp_seconds{shield_zone_id,endpoint_id}',
  ],
  rate_limit: [
    'bunnynet_shield_rate_limit_up{shield_zone_id}',
    'bunnynet_shield_rate_limit_last_success_timestamp_seconds{shield_zone_id}',
    'bunnynet_shield_rate_limit_breaches{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_logged_breaches{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_challenged_breaches{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_blocked_breaches{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_breaches_latest_day{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_logged_breaches_latest_day{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_challenged_breaches_latest_day{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_blocked_breaches_latest_day{shield_zone_id,rate_limit_id}',
    'bunnynet_shield_rate_limit_latest_day_timestamp_seconds{shield_zone_id,rate_limit_id}',
  ],
  video_storage: [
    'bunnynet_video_storage_up{library_id,video_id}',
    'bunnynet_video_storage_last_success_timestamp_seconds{library_id,video_id}',
    'bunnynet_video_info{library_id,video_id,name}',
    'bunnynet_video_storage_bytes{library_id,video_id,component}',
    'bunnynet_video_encoded_storage_bytes{library_id,video_id,encoding,codec,resolution}',
    'bunnynet_video_storage_calculated_timestamp_seconds{library_id,video_id}',
  ],
};

/** The fields of the API that make a series: sections 2.1, 2.4, 2.5, 2.6 and 2.8 of its reference, less the ids. */
const fields: Readonly<Record<string, readonly string[]>> = {
  application: [
    'averageLatency',
    'currentLatency',
    'totalVolumeSizeInGb',
    'monthlyCost',
    'latencyChart',
    'status',
  ],
  shield_zone: [
    'pullZoneId',
    'learningMode',
    'learningModeUntil',
    'wafEnabled',
    'wafExecutionMode',
    'wafDisabledRules',
    'wafLogOnlyRules',
    'wafCustomRuleOrder',
    'wafRequestHeaderLoggingEnabled',
    'requestBodyLoggingEnabled',
    'wafRequestIgnoredHeaders',
    'wafRealtimeThreatIntelligenceEnabled',
    'wafProfileId',
    'wafEngineConfig',
    'wafRequestBodyLimitAction',
    'wafResponseBodyLimitAction',
    'rateLimitRulesLimit',
    'customWafRulesLimit',
    'planType',
    'dDoSShieldSensitivity',
    'dDoSExecutionMode',
    'dDoSChallengeWindow',
    'whitelabelResponsePages',
  ],
  api_guardian: [
    'totalBlockedRequests',
    'totalLoggedRequests',
    'totalRateLimited',
    'totalRequestsInspected',
    'totalFailedRequestValidation',
    'totalFailedAuthenticationEnforcement',
    'overviewPastTwentyEightDays',
  ],
  rate_limit: ['overview', 'ratelimitOverviewPastTwentyEightDays'],
  video_storage: [
    'encoded',
    'thumbnails',
    'previews',
    'originals',
    'mp4Fallback',
    'miscellaneous',
    'calculatedAt',
  ],
};

const kinds = resources.map(({ kind }) => kind);
const prefixes: Readonly<Record<string, string>> = { video_storage: 'bunnynet_video' };
const isState = (name: string) => /_(up|last_success_timestamp_seconds)$/.test(name);

it('has five kinds', () => {
  expect(kinds).toEqual(Object.keys(families));
});

describe.each(resources)('$kind', (resource) => {
  const { kind } = resource;
  const own = catalogue.filter((family) => family.kind === kind);
  /** The names after «API field» in a HELP. */
  const fieldsIn = (help: string) =>
    [...help.matchAll(/API fields? ([\w, ]+)/g)].flatMap(([, names]) => names?.split(', ') ?? []);

  it('has the families and labels that are promised', () => {
    expect(own.map(({ name, allLabels }) => `${name}{${allLabels.join(',')}}`)).toEqual(families[kind]);
  });

  it('begins with whether it is up', () => {
    expect(catalogue[firstFamilyOf(kind)]?.name).toBe(`${resource.metricPrefix}_up`);
    expect(catalogue[firstFamilyOf(kind) + 1]?.name).toBe(
      `${resource.metricPrefix}_last_success_timestamp_seconds`,
    );
  });

  it('names its families by its prefix, with the unit last, and none as a counter', () => {
    for (const { name, unit, type } of own) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*[a-z0-9]$/);
      expect(name.startsWith(`${prefixes[kind] ?? resource.metricPrefix}_`)).toBe(true);
      expect(name).not.toMatch(/_(total|count|sum|bucket)$/);
      expect(/_(seconds|bytes)$/.exec(name)?.[1]).toBe(unit);
      expect(name.endsWith('_info')).toBe(type === 'info');
    }
  });

  it('names in each HELP the field of the API that the figure is', () => {
    const notOfTheApi = own.filter(({ help }) => fieldsIn(help).length === 0).map(({ name }) => name);
    // What the exporter found out itself, and names that the configuration gives.
    expect(notOfTheApi.filter((name) => !isState(name) && !name.endsWith('_info'))).toEqual([]);
  });

  it('shows every field of the reference', () => {
    const named = new Set(own.flatMap(({ help }) => fieldsIn(help)));
    expect(fields[kind]?.filter((field) => !named.has(field))).toEqual([]);
  });

  it('says in each HELP one line that ends in a full stop', () => {
    for (const { help } of own) expect(help).toMatch(/^[^\n"\\]+\.$/);
  });
});

it('names no family twice', () => {
  const names = catalogue.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

it('says of windowed figures which window they have and how they may be queried', () => {
  const windowed = catalogue.filter(
    ({ kind, name, type }) =>
      ['api_guardian', 'rate_limit'].includes(kind) && type !== 'info' && !isState(name),
  );
  expect(windowed).toHaveLength(13 + 9);
  for (const { name, help } of windowed) {
    if (name.endsWith('_timestamp_seconds')) expect(help).toContain('newest UTC day');
    else if (name.endsWith('_latest_day')) {
      expect(help).toContain('in the newest UTC day');
      expect(help).toContain('increase() works');
    } else {
      expect(help).toContain('in the past 28 days');
      expect(help).toContain('no rate() or increase()');
    }
  }
});
