/** Shield Zone configurations: one paged listing gives all the zones that a credential can see (reference 4.4, 2.6, 2.7). */
import { z } from 'zod';
import { boolean, id, instant, integer, list, readElements, readFields, unwrapData } from './fields.ts';
import { familiesOf, type Get, type ListingResource, type Notes, ReadingError } from './resource.ts';

const zonesPerPage = 100;
/** Ends a listing whose pages never do. */
const maxPages = 1000;

const zone = z.object({
  shieldZoneId: id,
  pullZoneId: id,
  learningMode: boolean,
  learningModeUntil: instant,
  wafEnabled: boolean,
  wafExecutionMode: integer,
  wafDisabledRules: list,
  wafLogOnlyRules: list,
  wafCustomRuleOrder: list,
  wafRequestHeaderLoggingEnabled: boolean,
  requestBodyLoggingEnabled: boolean,
  wafRequestIgnoredHeaders: list,
  wafRealtimeThreatIntelligenceEnabled: boolean,
  wafProfileId: id,
  wafEngineConfig: list,
  wafRequestBodyLimitAction: integer,
  wafResponseBodyLimitAction: integer,
  rateLimitRulesLimit: integer,
  customWafRulesLimit: integer,
  planType: integer,
  dDoSShieldSensitivity: integer,
  dDoSExecutionMode: integer,
  dDoSChallengeWindow: integer,
  whitelabelResponsePages: boolean,
});

const page = z.object({
  totalCount: integer,
  totalPages: integer,
  currentPage: integer,
  nextPage: integer,
  pageSize: integer,
});

export type ShieldZoneReading = z.output<typeof zone>;

interface ZonePage {
  readonly zones: readonly ShieldZoneReading[];
  /** Elements without a usable id. */
  readonly unusable: number;
  /** Absent where the answer has none, as an empty list has. */
  readonly page: z.output<typeof page> | undefined;
}

async function readPage(get: Get, number: number, notes: Notes): Promise<ZonePage> {
  const body = await get(`/shield/shield-zones?page=${number}&perPage=${zonesPerPage}`);
  const data = unwrapData(body);
  const zones = readElements(zone, 'shieldZoneId', data, notes);
  const about = (body as { page?: unknown }).page;
  return {
    zones,
    unusable: (data as readonly unknown[]).length - zones.length,
    page: about ? readFields(page, about, notes) : undefined,
  };
}

/**
 * The page to ask for after this one; undefined after the last. `nextPage` can point onward past the last page, so it
 * is believed only as long as there is more to come. Where the number of pages is missing, one that does not grow ends
 * the listing; where there is no page object, the first page that brings nothing new does.
 */
function pageAfter(number: number, { zones, page: about }: ZonePage): number | undefined {
  if (zones.length === 0) return undefined;
  if (!about) return number + 1;
  const { totalPages, currentPage, nextPage } = about;
  const next = nextPage ?? number + 1;
  if (typeof totalPages !== 'number') return next > number ? next : undefined;
  return (currentPage ?? number) < totalPages ? next : undefined;
}

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

export const shieldZone: ListingResource<ShieldZoneReading> = {
  mode: 'listing',
  kind: 'shield_zone',
  api: 'shield',
  reference: '4.4',
  noun: 'Shield Zone',
  section: 'shield_zones',
  environment: 'BUNNYNET_SHIELD_ZONES',
  metricPrefix: 'bunnynet_shield_zone',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 600,
  settings: {},
  fields: [...Object.keys(zone.shape), ...Object.keys(page.shape)],
  enumeratedFields: [],
  emptyOn: [],

  async list(get, notes) {
    const zones = new Map<string, ShieldZoneReading>();
    let unusable = 0;
    let expected: number | undefined;
    let asked = 0;
    for (let number: number | undefined = 1; number !== undefined; ) {
      const answer = await readPage(get, number, notes);
      const known = zones.size;
      for (const reading of answer.zones) zones.set(reading.shieldZoneId ?? '', reading);
      unusable += answer.unusable;
      const count = answer.page?.totalCount ?? expected;
      // A zone created or deleted meanwhile moves the others from page to page, and one that is there may be missed.
      if (expected !== undefined && count !== expected) {
        throw new ReadingError(
          'schema',
          `the listing changed from ${expected} to ${count} zones on page ${number}`,
        );
      }
      expected = count;
      if (!answer.page && zones.size === known) break;
      const next = pageAfter(number, answer);
      if (next !== undefined && (next <= number || zones.size === known)) {
        throw new ReadingError('schema', `the listing repeats itself after page ${number}`);
      }
      if (next !== undefined && ++asked === maxPages) {
        throw new ReadingError('schema', `the listing did not end after ${maxPages} pages`);
      }
      number = next;
    }
    if (zones.size + unusable < (expected ?? 0)) {
      throw new ReadingError('schema', `the listing ended after ${zones.size} of ${expected} zones`);
    }
    return zones;
  },

  families: [
    info(
      'The name that the configuration gives the zone, its pull zone and its WAF profile (API fields pullZoneId, wafProfileId).',
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
};
