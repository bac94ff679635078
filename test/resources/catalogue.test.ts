/** Rules that hold of every family. Their names and labels are kept still by docs/metrics.md, which the tests compare. */
import { describe, expect, it } from 'vitest';
import { catalogue, firstFamilyOf } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/index.ts';

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

it('knows the fields of every kind', () => {
  expect(kinds).toEqual(Object.keys(fields));
});

describe.each(resources)('$kind', (resource) => {
  const { kind } = resource;
  const own = catalogue.filter((family) => family.kind === kind);
  /** The names after «API field» in a HELP. */
  const fieldsIn = (help: string) =>
    [...help.matchAll(/API fields? ([\w, ]+)/g)].flatMap(([, names]) => names?.split(', ') ?? []);

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
