import { describe, expect, it } from 'vitest';
import { shieldZone } from '../../src/resources/shield-zone.ts';
import { type About, type Body, exposeListing } from './expose.ts';

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
bunnynet_shield_zone_info{shield_zone_id="501",name="www",pull_zone_id="90210",waf_profile_id="4"} 1
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

  it('may be integers with a decimal point', async () => {
    const { rows, mismatched, unrecognized } = await zone('"planType": 3.0');
    expect(rows).toBe('bunnynet_shield_zone_plan_type{shield_zone_id="501"} 3\n');
    expect([mismatched, unrecognized]).toEqual([[], []]);
  });

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

  it.each([
    ['2026-12-01T00:00:00.1234567Z', '1796083200.1234567'],
    ['2026-12-01T00:00:00', '1796083200'],
    ['2026-12-01 00:00:00', '1796083200'],
    ['2026-12-01T02:00:00+02:00', '1796083200'],
  ])('learningModeUntil: %s is %s', async (written, seconds) => {
    const { rows } = await zone(`"learningModeUntil": "${written}"`);
    expect(rows).toBe(
      `bunnynet_shield_zone_learning_mode_until_timestamp_seconds{shield_zone_id="501"} ${seconds}\n`,
    );
  });

  it.each(['0001-01-01T00:00:00', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.0000000+00:00'])(
    'learningModeUntil: %s means no date, and is not noted',
    async (written) => {
      const { rows, mismatched } = await zone(`"learningModeUntil": "${written}"`);
      expect([rows, mismatched]).toEqual(['', []]);
    },
  );

  it.each(['2026-02-31T00:00:00Z', '2026-13-01T00:00:00Z', '2026-12-01T25:00:00Z', '01-12-2026', '2026', ''])(
    'learningModeUntil: %j is invalid',
    async (written) => {
      const { rows, mismatched } = await zone(`"learningModeUntil": "${written}"`);
      expect([rows, mismatched]).toEqual(['', ['learningModeUntil']]);
    },
  );

  it('keep every digit of ids beyond 2^53', async () => {
    const { rows } = await read(`{
      "data": [{ "shieldZoneId": 9223372036854775807, "pullZoneId": 18446744073709551615, "wafProfileId": "9007199254740993" }]
    }`);
    expect(rows).toBe(
      'bunnynet_shield_zone_info{shield_zone_id="9223372036854775807",name="",pull_zone_id="18446744073709551615",waf_profile_id="9007199254740993"} 1\n',
    );
  });
});

describe('the listing', () => {
  const zones = (...ids: readonly unknown[]) => ids.map((shieldZoneId) => ({ shieldZoneId, planType: 1 }));
  const idsIn = ({ rows }: { rows: string }) =>
    [...rows.matchAll(/shield_zone_id="(\d+)"/g)].map(([, id]) => id);

  it('is read to its last page, even if its nextPage points further', async () => {
    const listing = await readPages(
      {
        data: zones(1, 2),
        page: { totalCount: 5, totalPages: 3, currentPage: 1, nextPage: 2, pageSize: 2 },
      },
      {
        data: zones(3, 4),
        page: { totalCount: 5, totalPages: 3, currentPage: 2, nextPage: 3, pageSize: 2 },
      },
      { data: zones(5), page: { totalCount: 5, totalPages: 3, currentPage: 3, nextPage: 4, pageSize: 2 } },
    );
    expect(idsIn(listing)).toEqual(['1', '2', '3', '4', '5']);
    expect(listing.asked).toEqual([
      '/shield/shield-zones?page=1&perPage=100',
      '/shield/shield-zones?page=2&perPage=100',
      '/shield/shield-zones?page=3&perPage=100',
    ]);
  });

  it('ends with the page that says it is the last', async () => {
    const listing = await readPages({
      data: zones(1, 2),
      page: { totalCount: 2, totalPages: 4, currentPage: 4, nextPage: 5 },
    });
    expect(idsIn(listing)).toEqual(['1', '2']);
    expect(listing.asked).toHaveLength(1);
  });

  it('goes on without a page object until a page is empty or brings nothing new', async () => {
    for (const last of [{ data: [] }, { data: zones(1, 2) }]) {
      const listing = await readPages({ data: zones(1, 2) }, { data: zones(3) }, last);
      expect(idsIn(listing)).toEqual(['1', '2', '3']);
      expect(listing.asked).toHaveLength(3);
    }
  });

  it('is incomplete if an empty page reports fewer zones than before', async () => {
    const page = { totalPages: 2, currentPage: 1, nextPage: 2 };
    await expect(
      readPages(
        { data: zones(1, 2, 3), page: { ...page, totalCount: 4 } },
        { data: [], page: { ...page, totalCount: 3 } },
      ),
    ).rejects.toThrow('changed from 4 to 3 zones');
  });

  it('is empty if the data is empty', async () => {
    const listing = await readPages({ data: [] });
    expect([listing.rows, listing.asked.length]).toEqual(['', 1]);
  });

  it('goes on without totals until a page is empty', async () => {
    const listing = await readPages(
      { data: zones(1), page: { currentPage: 1, nextPage: null } },
      { data: zones(2), page: { currentPage: 2 } },
      { data: [] },
    );
    expect(idsIn(listing)).toEqual(['1', '2']);
    expect(listing.asked).toHaveLength(3);
  });

  it.each([0, 1, 2])('without a number of pages, ends after page 2 when its nextPage is %d', async (next) => {
    const listing = await readPages(
      { data: zones(1), page: { totalCount: 2, nextPage: 2 } },
      { data: zones(2), page: { totalCount: 2, nextPage: next } },
    );
    expect(idsIn(listing)).toEqual(['1', '2']);
    expect(listing.asked).toHaveLength(2);
  });

  it('is incomplete if nextPage does not grow and items are missing', async () => {
    await expect(
      readPages({ data: zones(1), page: { totalPages: 3, currentPage: 1, nextPage: 1 } }),
    ).rejects.toMatchObject({ result: 'schema', message: 'the listing repeats itself after page 1' });
    await expect(readPages({ data: zones(1), page: { totalCount: 9, nextPage: 1 } })).rejects.toMatchObject({
      result: 'schema',
      message: 'the listing ended after 1 of 9 zones',
    });
  });

  it('is incomplete if pages repeat', async () => {
    await expect(
      readPages({
        data: zones(1, 2),
        page: { totalCount: 6, totalPages: 3, currentPage: 1, nextPage: 2, pageSize: 2 },
      }),
    ).rejects.toMatchObject({ result: 'schema', message: 'the listing repeats itself after page 2' });
  });

  it('is incomplete if it shrank meanwhile', async () => {
    await expect(
      readPages(
        { data: zones(1, 2), page: { totalCount: 4, totalPages: 2, currentPage: 1, nextPage: 2 } },
        { data: [] },
      ),
    ).rejects.toMatchObject({ result: 'schema', message: 'the listing ended after 2 of 4 zones' });
    await expect(
      readPages(
        { data: zones(1, 2), page: { totalCount: 4, totalPages: 2, currentPage: 1, nextPage: 2 } },
        { data: zones(4), page: { totalCount: 4, totalPages: 2, currentPage: 2, nextPage: 3 } },
      ),
    ).rejects.toMatchObject({ message: 'the listing ended after 3 of 4 zones' });
  });

  it('is incomplete if a zone was deleted meanwhile, because another may have moved to a page that was already read', async () => {
    await expect(
      readPages(
        { data: zones(1, 2), page: { totalCount: 5, totalPages: 3, currentPage: 1, nextPage: 2 } },
        // Zone 1 is deleted by now, and zone 3 has moved to the first page.
        { data: zones(4, 5), page: { totalCount: 4, totalPages: 2, currentPage: 2, nextPage: 3 } },
      ),
    ).rejects.toMatchObject({
      result: 'schema',
      message: 'the listing changed from 5 to 4 zones on page 2',
    });
  });

  it('ends after 1000 pages if the API never ends', async () => {
    let pages = 0;
    const listing = exposeListing(shieldZone, () => {
      pages++;
      return { data: zones(pages), page: { currentPage: pages, nextPage: pages + 1 } };
    });
    await expect(listing).rejects.toMatchObject({ message: 'the listing did not end after 1000 pages' });
    expect(pages).toBe(1000);
  });

  it('fails with the error of a page if one in the middle fails', async () => {
    const failure = new Error('HTTP 500');
    const first = {
      data: zones(1),
      page: { totalCount: 3, totalPages: 3, currentPage: 1, nextPage: 2, pageSize: 1 },
    };
    await expect(readPages(first, failure)).rejects.toBe(failure);
    await expect(
      readPages(first, { data: null, error: { success: false, message: 'busy', errorKey: null } }),
    ).rejects.toMatchObject({ result: 'rejected', message: 'busy' });
  });

  it.each([
    [zones(1, null, 'x', -3, {}), 4, 5],
    [[...zones(1, 2), { planType: 1 }, 'zone', null, []], 4, 6],
  ])('is incomplete with elements without a usable id: %j', async (data, unusable, all) => {
    const page = { totalCount: all, totalPages: 1, currentPage: 1 };
    await expect(read({ data, page })).rejects.toMatchObject({
      result: 'schema',
      message: `the listing is incomplete: ${unusable} of ${all} zones without a usable shieldZoneId`,
    });
  });

  it('is incomplete if an empty page says that more follow', async () => {
    const page = { totalPages: 3, nextPage: 3 };
    await expect(
      readPages({ data: zones(1, 2), page }, { data: [], page: { ...page, currentPage: 2 } }),
    ).rejects.toMatchObject({ message: 'page 2 is empty, though the listing says that it goes on' });
  });

  it('fails if no element has a usable id', async () => {
    await expect(read({ data: [{ planType: 1 }, null] })).rejects.toMatchObject({
      result: 'schema',
      message: 'no element of the array has a usable shieldZoneId',
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
      { data: zones(1), page: { totalCount: 'many', totalPages: '1', currentPage: 1, nextPage: 2 } },
      { data: [] },
    );
    expect(idsIn(listing)).toEqual(['1']);
    expect(listing.mismatched.toSorted()).toEqual(['totalCount', 'totalPages']);
  });

  it.each([
    { page: {} },
    { page: 'first' },
    { page: null },
    { page: { totalCount: 0, totalPages: 0, currentPage: 0, nextPage: null, pageSize: 0 } },
  ])('goes on to its end if the page object says nothing: %j', async (about) => {
    const listing = await readPages(
      { data: zones(1, 2), ...about },
      { data: zones(3), ...about },
      { data: null, ...about },
    );
    expect(idsIn(listing)).toEqual(['1', '2', '3']);
    expect([listing.asked.length, listing.mismatched]).toEqual([3, []]);
  });

  it.each([
    { page: { totalCount: 0 } },
    { error: null },
    { error: { statusCode: 0, success: false, message: null, errorKey: null } },
    { errorResponse: { statusCode: 200, success: true, message: '', errorKey: '' } },
  ])('is empty if its data is null without an error: %j', async (envelope) => {
    const listing = await readPages({ data: null, page: {}, ...envelope });
    expect([listing.rows, listing.asked.length]).toEqual(['', 1]);
  });

  it.each([
    { statusCode: 500, success: false, message: null, errorKey: null },
    { statusCode: 0, success: false, message: null, errorKey: 'internal_failure.zones' },
  ])('fails if its data is null with an error: %j', async (error) => {
    await expect(readPages({ data: null, error })).rejects.toMatchObject({ result: 'rejected' });
  });

  it.each([{ data: {} }, { data: 'zones' }, {}, { data: null }])(
    'rejects %j as a listing',
    async (answer) => {
      await expect(read(answer)).rejects.toMatchObject({ name: 'ReadingError', result: 'schema' });
    },
  );
});
