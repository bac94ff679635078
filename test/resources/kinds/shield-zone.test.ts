import { describe, expect, it } from 'vitest';
import { shieldZone } from '../../../src/resources/kinds/shield-zone.ts';
import { type About, type Body, exposeListing } from '../expose.ts';

const read = (answer: Body, about?: About) =>
  exposeListing(shieldZone, (path) => (path.includes('page=1&') ? answer : { data: [] }), about);

/** Reads these pages in order; the last one answers all further requests. */
const readPages = (...pages: readonly (Body | Error)[]) => {
  let at = 0;
  return exposeListing(shieldZone, () => pages[Math.min(at++, pages.length - 1)] ?? null);
};

it('shows the configuration of a zone', async () => {
  const { rows, asked } = await read(
    `{
      "data": [
        {
          "shieldZoneId": 501,
          "pullZoneId": 90210,
          "learningMode": true,
          "learningModeUntil": "2026-12-01T00:00:00Z",
          "wafEnabled": true,
          "wafExecutionMode": 1,
          "wafDisabledRules": ["920350", "941100"],
          "wafLogOnlyRules": [],
          "wafCustomRuleOrder": [31, 32, 33],
          "wafRequestHeaderLoggingEnabled": false,
          "requestBodyLoggingEnabled": true,
          "wafRequestIgnoredHeaders": ["x-debug"],
          "wafRealtimeThreatIntelligenceEnabled": true,
          "wafProfileId": 4,
          "wafEngineConfig": [{ "name": "paranoia_level", "valueEncoded": "Mg==" }],
          "wafRequestBodyLimitAction": 0,
          "wafResponseBodyLimitAction": 2,
          "rateLimitRulesLimit": 25,
          "customWafRulesLimit": 50,
          "planType": 2,
          "dDoSShieldSensitivity": 3,
          "dDoSExecutionMode": 1,
          "dDoSChallengeWindow": 3600,
          "whitelabelResponsePages": false
        }
      ],
      "page": { "totalCount": 1, "totalPages": 1, "currentPage": 1, "nextPage": 2, "pageSize": 100 }
    }`,
    { name: 'www' },
  );
  expect(asked).toEqual(['/shield/shield-zones?page=1&perPage=100']);
  expect(rows).toBe(`\
bunnynet_shield_zone_info{shield_zone_id="501",account="account",name="www",pull_zone_id="90210",waf_profile_id="4"} 1
bunnynet_shield_zone_learning_mode{shield_zone_id="501"} 1
bunnynet_shield_zone_learning_mode_until_timestamp_seconds{shield_zone_id="501"} 1796083200
bunnynet_shield_zone_waf_enabled{shield_zone_id="501"} 1
bunnynet_shield_zone_waf_execution_mode{shield_zone_id="501"} 1
bunnynet_shield_zone_waf_disabled_rules{shield_zone_id="501"} 2
bunnynet_shield_zone_waf_log_only_rules{shield_zone_id="501"} 0
bunnynet_shield_zone_waf_custom_rules{shield_zone_id="501"} 3
bunnynet_shield_zone_waf_request_header_logging_enabled{shield_zone_id="501"} 0
bunnynet_shield_zone_request_body_logging_enabled{shield_zone_id="501"} 1
bunnynet_shield_zone_waf_request_ignored_headers{shield_zone_id="501"} 1
bunnynet_shield_zone_waf_realtime_threat_intelligence_enabled{shield_zone_id="501"} 1
bunnynet_shield_zone_waf_engine_config_entries{shield_zone_id="501"} 1
bunnynet_shield_zone_waf_request_body_limit_action{shield_zone_id="501"} 0
bunnynet_shield_zone_waf_response_body_limit_action{shield_zone_id="501"} 2
bunnynet_shield_zone_rate_limit_rules_limit{shield_zone_id="501"} 25
bunnynet_shield_zone_custom_waf_rules_limit{shield_zone_id="501"} 50
bunnynet_shield_zone_plan_type{shield_zone_id="501"} 2
bunnynet_shield_zone_ddos_shield_sensitivity{shield_zone_id="501"} 3
bunnynet_shield_zone_ddos_execution_mode{shield_zone_id="501"} 1
bunnynet_shield_zone_ddos_challenge_window{shield_zone_id="501"} 3600
bunnynet_shield_zone_whitelabel_response_pages{shield_zone_id="501"} 0
`);
});

describe('the fields of a zone', () => {
  const zone = (fields: string) => read(`{ "data": [{ "shieldZoneId": 501, ${fields} }] }`);

  it('are exported and noted if they are unlisted codes', async () => {
    const fields = {
      wafExecutionMode: 2,
      wafRequestBodyLimitAction: 3,
      wafResponseBodyLimitAction: -1,
      planType: 99,
      dDoSShieldSensitivity: 5,
      dDoSExecutionMode: 9007199254740992,
    };
    const { rows, mismatched, unrecognized } = await zone(JSON.stringify(fields).slice(1, -1));
    expect(rows.match(/\} (\S+)$/gm)).toEqual(['} 2', '} 3', '} -1', '} 99', '} 5', '} 9007199254740992']);
    expect(mismatched).toEqual([]);
    expect(unrecognized).toEqual(Object.entries(fields).map(([field, value]) => `${field}: ${value}`));
  });

  it.each(['0001-01-01T00:00:00', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.0000000+00:00'])(
    'learningModeUntil: %s means no date, and is not noted',
    async (written) => {
      const { rows, mismatched } = await zone(`"learningModeUntil": "${written}"`);
      expect([rows, mismatched]).toEqual(['', []]);
    },
  );
});

describe('the listing', () => {
  const zones = (...ids: readonly unknown[]) => ids.map((shieldZoneId) => ({ shieldZoneId, planType: 1 }));
  /** A page with these zones, and what it says of itself. */
  const page = (ids: readonly unknown[], about?: unknown) => ({
    data: zones(...ids),
    ...(about === undefined ? {} : { page: about }),
  });
  const at = (currentPage: number, totalPages: number, totalCount: number) => ({
    totalCount,
    totalPages,
    currentPage,
    nextPage: currentPage + 1,
  });
  const empty = { data: [] };
  const idsIn = ({ rows }: { rows: string }) =>
    [...rows.matchAll(/shield_zone_id="(\d+)"/g)]
      .map(([, id]) => id)
      .sort((a, b) => Number(a) - Number(b))
      .join(' ');

  it.each<[string, readonly Body[], string, number]>([
    [
      'to its last page, even if its nextPage points further',
      [page([1, 2], at(1, 3, 5)), page([3, 4], at(2, 3, 5)), page([5], at(3, 3, 5))],
      '1 2 3 4 5',
      3,
    ],
    ['to the page that says it is the last', [page([1, 2], at(4, 4, 2))], '1 2', 1],
    ['without a page object until a page is empty', [page([1, 2]), page([3]), empty], '1 2 3', 3],
    [
      'without a page object until one brings nothing new',
      [page([1, 2]), page([3]), page([1, 2])],
      '1 2 3',
      3,
    ],
    [
      'without totals until a page is empty',
      [page([1], { currentPage: 1, nextPage: null }), page([2], { currentPage: 2 }), empty],
      '1 2',
      3,
    ],
    [
      'without a number of pages until its count is reached',
      [page([1], { totalCount: 2, nextPage: 2 }), page([2], { totalCount: 2, nextPage: 1 })],
      '1 2',
      2,
    ],
    [
      'if the page object says nothing',
      [page([1, 2], {}), page([3], 'first'), { data: null, page: {} }],
      '1 2 3',
      3,
    ],
    [
      'if the page object has only zeros',
      [page([1], { totalCount: 0, totalPages: 0, currentPage: 0, nextPage: null }), empty],
      '1',
      2,
    ],
  ])('is read %s', async (_, pages, ids, requests) => {
    const listing = await readPages(...pages);
    expect([idsIn(listing), listing.asked.length]).toEqual([ids, requests]);
  });

  it.each<[string, readonly Body[], string]>([
    [
      'an empty page counts fewer',
      [page([1, 2, 3], at(1, 2, 4)), { data: [], page: at(1, 2, 3) }],
      'changed from 4 to 3 zones',
    ],
    ['it shrank meanwhile', [page([1, 2], at(1, 2, 4)), page([4], at(2, 2, 4))], 'ended after 3 of 4 zones'],
    [
      'an empty page says that more follow',
      [
        page([1, 2], { totalPages: 3, nextPage: 3 }),
        { data: [], page: { totalPages: 3, nextPage: 3, currentPage: 2 } },
      ],
      'page 2 is empty, though the listing says that it goes on',
    ],
  ])('has moved if %s', async (_, pages, message) => {
    expect((await readPages(...pages)).moved).toContain(message);
  });

  it('is not complete if its only page counts more and names no other page', async () => {
    const pages = [page([1], { totalCount: 9, nextPage: 1 })];
    await expect(readPages(...pages)).rejects.toMatchObject({
      result: 'schema',
      message: 'the listing ended after 1 of 9 zones',
    });
  });

  it('uses the later of two zones with the same id', async () => {
    const { rows } = await read({
      data: [
        { shieldZoneId: 1, planType: 1, dDoSChallengeWindow: 60 },
        { shieldZoneId: '1', planType: 2 },
      ],
    });
    expect(rows).toBe('bunnynet_shield_zone_plan_type{shield_zone_id="1"} 2\n');
  });

  it('reads a page object with wrong types as far as possible', async () => {
    const listing = await readPages(
      page([1], { totalCount: 'many', totalPages: '1', currentPage: 1, nextPage: 2 }),
      empty,
    );
    expect(idsIn(listing)).toBe('1');
    expect(listing.mismatched.toSorted()).toEqual(['totalCount', 'totalPages']);
  });
});
