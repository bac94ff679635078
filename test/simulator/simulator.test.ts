import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/simulator/dataset.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { libraryKey, oneOfEach, operationOf, urls } from './addresses.ts';
import { ask, at, type JsonObject, jsonOf, listOf, objectOf } from './ask.ts';
import { noon, startSimulator } from './start.ts';

const dayMs = 86_400_000;

/** `number`, `string`, `boolean`, `list`, `object` or `null`, by field. */
function typesOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([field, held]) => [
      field,
      held === null ? 'null' : Array.isArray(held) ? 'list' : typeof held,
    ]),
  );
}

describe('application summary (reference 2.1)', () => {
  it('has every field, with a chart of daily instants', async () => {
    const simulator = await startSimulator();
    const heard = await ask(
      urls(simulator).application(at(simulator.applications, 0).id),
      simulator.keys.account,
    );
    expect(heard.status).toBe(200);
    expect(heard.headers['content-type']).toMatch(/^application\/json/);
    const summary = jsonOf(heard);
    expect(typesOf(summary)).toEqual({
      averageLatency: 'number',
      currentLatency: 'number',
      totalVolumeSizeInGb: 'number',
      monthlyCost: 'number',
      latencyChart: 'object',
      status: 'string',
    });
    const chart = objectOf(summary['latencyChart']);
    expect(Object.keys(chart)).toHaveLength(14);
    expect(Object.keys(chart)).toContain('2026-08-20T00:00:00Z');
    for (const [instant, latency] of Object.entries(chart)) {
      expect(instant).toMatch(/^2026-08-\d\dT00:00:00Z$/);
      expect(latency).toBeTypeOf('number');
    }
  });

  it('has every status at any time, and applications change theirs now and then', async () => {
    let nowMs = noon;
    const simulator = await startSimulator({ now: () => nowMs });
    const histories = new Map<string, Set<unknown>>();
    for (let minute = 0; minute < 60; minute += 1) {
      nowMs = noon + minute * 60_000;
      const statuses = new Set<unknown>();
      for (const { id } of simulator.applications) {
        const { status } = jsonOf(await ask(urls(simulator).application(id), simulator.keys.account));
        statuses.add(status);
        histories.set(id, (histories.get(id) ?? new Set()).add(status));
      }
      expect(statuses).toEqual(
        new Set(['unknown', 'active', 'progressing', 'inactive', 'failing', 'suspended']),
      );
    }
    expect([...histories.values()].some((statuses) => statuses.size > 1)).toBe(true);
  });

  it('leaves out some fields of a few applications, or sends null', async () => {
    const simulator = await startSimulator({ shape: { applications: 24 } });
    const summaries: JsonObject[] = [];
    for (const { id } of simulator.applications) {
      summaries.push(jsonOf(await ask(urls(simulator).application(id), simulator.keys.account)));
    }
    expect(summaries.filter((summary) => summary['averageLatency'] === null)).toHaveLength(1);
    expect(summaries.filter((summary) => !('monthlyCost' in summary))).toHaveLength(1);
    expect(summaries.every((summary) => typeof summary['currentLatency'] === 'number')).toBe(true);
  });
});

const zoneTypes = {
  shieldZoneId: 'number',
  pullZoneId: 'number',
  learningMode: 'boolean',
  learningModeUntil: 'string',
  wafEnabled: 'boolean',
  wafExecutionMode: 'number',
  wafDisabledRules: 'list',
  wafLogOnlyRules: 'list',
  wafCustomRuleOrder: 'list',
  wafRequestHeaderLoggingEnabled: 'boolean',
  requestBodyLoggingEnabled: 'boolean',
  wafRequestIgnoredHeaders: 'list',
  wafRealtimeThreatIntelligenceEnabled: 'boolean',
  wafProfileId: 'number',
  wafEngineConfig: 'list',
  wafRequestBodyLimitAction: 'number',
  wafResponseBodyLimitAction: 'number',
  rateLimitRulesLimit: 'number',
  customWafRulesLimit: 'number',
  planType: 'number',
  dDoSShieldSensitivity: 'number',
  dDoSExecutionMode: 'number',
  dDoSChallengeWindow: 'number',
  whitelabelResponsePages: 'boolean',
};

describe('Shield Zone listing (reference 2.6, 2.7)', () => {
  it('has every field of a zone, with seven digits for fractions of a second', async () => {
    const simulator = await startSimulator();
    const { data } = jsonOf(await ask(urls(simulator).zones(), simulator.keys.account));
    const zone = objectOf(at(listOf(data), 0));
    expect(typesOf(zone)).toEqual(zoneTypes);
    expect(zone['learningModeUntil']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
    expect(typesOf(at(listOf(zone['wafEngineConfig']), 0))).toEqual({
      name: 'string',
      valueEncoded: 'string',
    });
  });

  it('has ten zones per page by default, in a stable order without gaps', async () => {
    const simulator = await startSimulator({ shape: { zones: 23 } });
    const ids: string[] = [];
    for (const page of [1, 2, 3]) {
      const body = jsonOf(await ask(urls(simulator).zones(`?page=${page}`), simulator.keys.account));
      expect(body['page']).toEqual({
        totalCount: 23,
        totalPages: 3,
        currentPage: page,
        nextPage: page + 1,
        pageSize: 10,
      });
      ids.push(...listOf(body['data']).map((zone) => String(objectOf(zone)['shieldZoneId'])));
    }
    expect(ids).toEqual(simulator.zones.map((zone) => zone.id));
  });

  it('has at most a thousand zones per page', async () => {
    const simulator = await startSimulator({ scale: 'full' });
    const body = jsonOf(await ask(urls(simulator).zones('?page=2&perPage=5000'), simulator.keys.account));
    expect(body['page']).toMatchObject({ totalCount: 1_200, totalPages: 2, pageSize: 1_000 });
    expect(listOf(body['data'])).toHaveLength(200);
  });

  it('has smaller pages if the simulator is configured so', async () => {
    const simulator = await startSimulator({ maxPageSize: 2 });
    const body = jsonOf(await ask(urls(simulator).zones('?perPage=1000'), simulator.keys.account));
    expect(body['page']).toMatchObject({ totalPages: 3, pageSize: 2 });
  });

  it('has no zones past the last page, but a nextPage', async () => {
    const simulator = await startSimulator();
    const body = jsonOf(await ask(urls(simulator).zones('?page=9'), simulator.keys.account));
    expect(body['data']).toEqual([]);
    expect(body['page']).toMatchObject({ currentPage: 9, totalPages: 1, nextPage: 10 });
  });

  it('has no page object if the account has no zones', async () => {
    const simulator = await startSimulator({ shape: { zones: 0, endpoints: 0, rateLimitZones: 0 } });
    const heard = await ask(urls(simulator).zones(), simulator.keys.account);
    expect(heard.text).toBe('{"data":[]}');
  });

  it('writes ids of more than 53 bits exactly', async () => {
    const simulator = await startSimulator({ shape: { zones: 60 } });
    const wide = simulator.zones.map((zone) => zone.id).filter((id) => id.length > 15);
    expect(wide).toHaveLength(1);
    const { text } = await ask(urls(simulator).zones('?perPage=100'), simulator.keys.account);
    expect(text).toContain(`{"shieldZoneId":${wide[0]},`);
  });
});

const guardianFigures = [
  'blockedRequests',
  'loggedRequests',
  'rateLimited',
  'requestsInspected',
  'failedRequestValidation',
  'failedAuthenticationEnforcement',
];

const guardianTotals = {
  totalBlockedRequests: 'blockedRequests',
  totalLoggedRequests: 'loggedRequests',
  totalRateLimited: 'rateLimited',
  totalRequestsInspected: 'requestsInspected',
  totalFailedRequestValidation: 'failedRequestValidation',
  totalFailedAuthenticationEnforcement: 'failedAuthenticationEnforcement',
};

describe('API Guardian metrics (reference 2.4)', () => {
  it('has totals that are the sums of twenty-eight days', async () => {
    const simulator = await startSimulator();
    const unsorted: boolean[] = [];
    for (const { shieldZoneId, id } of simulator.endpoints) {
      const heard = await ask(urls(simulator).guardian(shieldZoneId, id), simulator.keys.account);
      const data = objectOf(jsonOf(heard)['data']);
      expect(Object.keys(data)).toEqual([...Object.keys(guardianTotals), 'overviewPastTwentyEightDays']);
      const days = objectOf(data['overviewPastTwentyEightDays']);
      expect(Object.keys(days)).toHaveLength(28);
      expect(days).toHaveProperty('20-08-2026');
      expect(days).toHaveProperty('24-07-2026');
      for (const day of Object.values(days)) expect(Object.keys(objectOf(day))).toEqual(guardianFigures);
      for (const [total, figure] of Object.entries(guardianTotals)) {
        const sum = Object.values(days).reduce<number>(
          (held, day) => held + Number(objectOf(day)[figure]),
          0,
        );
        expect(data[total]).toBe(sum);
      }
      unsorted.push(Object.keys(days).at(-1) !== '20-08-2026');
    }
    expect(unsorted).toContain(true);
    expect(unsorted).toContain(false);
  });

  it('has figures that grow until midnight and start again, and never changes a past day', async () => {
    let nowMs = Date.UTC(2026, 7, 20);
    const simulator = await startSimulator({ now: () => nowMs });
    const { shieldZoneId, id } = at(simulator.endpoints, 0);
    const inspected = async (day: string) => {
      const heard = await ask(urls(simulator).guardian(shieldZoneId, id), simulator.keys.account);
      const days = objectOf(objectOf(jsonOf(heard)['data'])['overviewPastTwentyEightDays']);
      return Number(objectOf(days[day])['requestsInspected']);
    };
    expect(await inspected('20-08-2026')).toBe(0);
    const past = await inspected('19-08-2026');
    let before = 0;
    for (let hour = 1; hour < 24; hour += 1) {
      nowMs = Date.UTC(2026, 7, 20, hour);
      const figure = await inspected('20-08-2026');
      expect(figure).toBeGreaterThan(before);
      expect(await inspected('19-08-2026')).toBe(past);
      before = figure;
    }
    nowMs = Date.UTC(2026, 7, 21);
    expect(await inspected('21-08-2026')).toBe(0);
    expect(await inspected('20-08-2026')).toBeGreaterThan(before);
  });
});

describe('rate-limit metrics (reference 2.5)', () => {
  it('has the breaches of each rule, in total and by day', async () => {
    const simulator = await startSimulator();
    const { id, rules } = at(simulator.rateLimitZones, 0);
    const { data } = jsonOf(await ask(urls(simulator).rateLimits(id), simulator.keys.account));
    const items = listOf(data).map(objectOf);
    expect(items.map((item) => String(item['ratelimitId']))).toEqual(rules.map((rule) => rule.id));
    for (const item of items) {
      expect(Object.keys(item)).toEqual(['ratelimitId', 'overview', 'ratelimitOverviewPastTwentyEightDays']);
      const overview = objectOf(item['overview']);
      expect(Object.keys(overview)).toEqual([
        'totalBreaches',
        'loggedBreaches',
        'challengedBreaches',
        'blockedBreaches',
      ]);
      const days = Object.values(objectOf(item['ratelimitOverviewPastTwentyEightDays'])).map(objectOf);
      expect(days).toHaveLength(28);
      for (const [figure, total] of Object.entries(overview)) {
        expect(days.reduce((sum, day) => sum + Number(day[figure]), 0)).toBe(total);
      }
      expect(overview['totalBreaches']).toBe(
        Number(overview['loggedBreaches']) +
          Number(overview['challengedBreaches']) +
          Number(overview['blockedBreaches']),
      );
    }
  });
});

describe('video storage (reference 2.8)', () => {
  it('has every field and the renditions, calculated some time ago', async () => {
    const simulator = await startSimulator();
    for (const { libraryId, id } of simulator.videos.slice(0, 7)) {
      const heard = await ask(urls(simulator).video(libraryId, id), libraryKey(simulator, libraryId));
      const body = jsonOf(heard);
      expect(body).toMatchObject({ success: true, statusCode: 200 });
      expect(body).toHaveProperty('message');
      const data = objectOf(body['data']);
      expect(typesOf(data)).toEqual({
        encoded: 'object',
        thumbnails: 'number',
        previews: 'number',
        originals: 'number',
        mp4Fallback: 'number',
        miscellaneous: 'number',
        calculatedAt: 'string',
      });
      const age = noon - Date.parse(String(data['calculatedAt']));
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThan(2 * dayMs);
      const renditions = Object.values(objectOf(data['encoded'])).map(objectOf);
      expect(renditions.length).toBeGreaterThanOrEqual(2);
      for (const rendition of renditions) {
        expect(Object.keys(rendition)).toEqual(['codec', 'resolution', 'size']);
        expect(Number.isSafeInteger(rendition['size'])).toBe(true);
      }
    }
  });
});

describe('determinism', () => {
  it('gives the same answers for the same seed and time, whatever the earlier requests', async () => {
    const first = await startSimulator();
    const second = await startSimulator();
    const answers = new Map<string, string>();
    for (const { url, key } of oneOfEach(first)) {
      answers.set(url.replace(first.origin, ''), (await ask(url, key)).text);
    }
    for (const { url, key } of oneOfEach(second).reverse()) {
      expect((await ask(url, key)).text).toBe(answers.get(url.replace(second.origin, '')));
    }
    expect(answers.size).toBe(allKinds.length);
  });

  it('gives another dataset for another seed', () => {
    const ids = (seed: number) => createSimulator({ seed }).applications.map(({ id }) => id);
    expect(ids(2)).not.toEqual(ids(1));
    expect(createSimulator({ seed: 2 }).keys.account).not.toBe(createSimulator({ seed: 1 }).keys.account);
  });

  it('changes values over time if they depend on time', async () => {
    let nowMs = noon;
    const simulator = await startSimulator({ now: () => nowMs });
    const answers = () =>
      Promise.all(oneOfEach(simulator).map(async ({ url, key }) => (await ask(url, key)).text));
    const before = await answers();
    nowMs += 3 * dayMs;
    const after = await answers();
    for (const [index, { operation }] of oneOfEach(simulator).entries()) {
      const { isStill = false } = operationOf(operation).traits;
      expect(after[index] === before[index], operation).toBe(isStill);
    }
  });

  it.each(['small', 'medium', 'full'] as const)('has unique ids at scale %s', (scale) => {
    const simulator = createSimulator({ scale });
    const ids = [
      ...simulator.applications.map(({ id }) => id),
      ...simulator.zones.map(({ id }) => `zone ${id}`),
      ...simulator.endpoints.map(({ id }) => `endpoint ${id}`),
      ...simulator.rateLimitZones.flatMap(({ rules }) => rules.map((rule) => `rule ${rule.id}`)),
      ...simulator.videos.map(({ id }) => id),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(simulator.applications.map(({ name }) => name)).size).toBe(simulator.applications.length);
    for (const { id } of simulator.videos) {
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/);
    }
  });
});

describe('keys', () => {
  it('refuses every operation without a key, and marks the answer with a request id', async () => {
    const simulator = await startSimulator();
    for (const { url, operation } of oneOfEach(simulator)) {
      const heard = await ask(url);
      expect(heard.status).toBe(401);
      expect(heard.headers['cdn-requestid']).toMatch(/^[\da-f]{32}$/);
      // Only the Shield API has a message.
      const { api } = operationOf(operation);
      expect(heard.text).toBe(api === 'shield' ? '{"title":"Unauthorized","status":401}' : '');
    }
  });

  it("accepts only a library's own key for its videos", async () => {
    const simulator = await startSimulator();
    const [own = '', other = ''] = simulator.libraryIds;
    const { id } = at(simulator.videos, 0);
    const url = urls(simulator).video(own, id);
    expect((await ask(url, libraryKey(simulator, own))).status).toBe(200);
    expect((await ask(url, libraryKey(simulator, other))).status).toBe(401);
    expect((await ask(url, simulator.keys.account)).status).toBe(401);
    expect((await ask(url, simulator.keys.readOnlyLibraries[own])).status).toBe(403);
  });

  it('accepts the given keys, and a replaced key at once', async () => {
    const simulator = await startSimulator({ keys: { account: 'mine' } });
    expect((await ask(urls(simulator).zones(), 'mine')).status).toBe(200);
    simulator.replaceKey('account', 'next');
    expect((await ask(urls(simulator).zones(), 'mine')).status).toBe(401);
    expect((await ask(urls(simulator).zones(), 'next')).status).toBe(200);
    expect(simulator.keys.account).toBe('next');
  });
});

describe('a missing item', () => {
  it('is a 404 with problem details for an application', async () => {
    const simulator = await startSimulator();
    const heard = await ask(urls(simulator).application('nobody'), simulator.keys.account);
    expect(heard.status).toBe(404);
    expect(typesOf(jsonOf(heard))).toEqual({
      title: 'string',
      status: 'number',
      detail: 'string',
      instance: 'string',
    });
  });

  it('is a 404 for a video', async () => {
    const simulator = await startSimulator();
    const [library = ''] = simulator.libraryIds;
    const heard = await ask(urls(simulator).video(library, 'nobody'), libraryKey(simulator, library));
    expect(heard.status).toBe(404);
    expect(jsonOf(heard)).toMatchObject({ success: false, statusCode: 404 });
  });

  it.each(['48999998', '48999999'])(
    'is an error with a good status for the unknown zone %s',
    async (zone) => {
      const simulator = await startSimulator();
      for (const url of [urls(simulator).rateLimits(zone), urls(simulator).guardian(zone, '1')]) {
        const heard = await ask(url, simulator.keys.account);
        expect(heard.status).toBe(zone.endsWith('8') ? 202 : 200);
        const { error, data } = jsonOf(heard);
        expect(data).toBeNull();
        expect(typesOf(error)).toEqual({
          statusCode: 'number',
          success: 'boolean',
          message: 'string',
          errorKey: 'string',
        });
        expect(error).toMatchObject({
          success: false,
          errorKey: 'not_found_or_unauthorised_access.shieldzone',
        });
      }
    },
  );

  it('has its own error key for a zone without rate limits and a plan without API Guardian', async () => {
    const simulator = await startSimulator();
    const errorKey = async (url: string) =>
      objectOf(jsonOf(await ask(url, simulator.keys.account))['error'])['errorKey'];
    const basic = simulator.zones.find((zone) => zone.planType === 0)?.id ?? '';
    expect(await errorKey(urls(simulator).rateLimits(basic))).toBe('not_found.ratelimit_shieldzone');
    expect(await errorKey(urls(simulator).guardian(basic, '1201'))).toBe('feature_not_available_on_plan');
  });

  it('is gone once it is removed, until it is brought back', async () => {
    const simulator = await startSimulator();
    const { id } = at(simulator.applications, 0);
    const zone = at(simulator.zones, 0).id;
    const restore = [simulator.remove(id), simulator.remove(zone)];
    expect((await ask(urls(simulator).application(id), simulator.keys.account)).status).toBe(404);
    const listed = jsonOf(await ask(urls(simulator).zones(), simulator.keys.account));
    expect(listed['page']).toMatchObject({ totalCount: 4 });
    for (const bringBack of restore) bringBack();
    expect((await ask(urls(simulator).application(id), simulator.keys.account)).status).toBe(200);
  });

  it('is a 404 for other paths, and other methods are a 405', async () => {
    const simulator = await startSimulator();
    expect((await ask(`${simulator.origin}/elsewhere`, simulator.keys.account)).status).toBe(404);
    expect((await ask(urls(simulator).zones(), simulator.keys.account, 'POST')).status).toBe(405);
  });
});

describe('a day that is asked for', () => {
  const today = new Date(noon).toISOString().slice(0, 10);

  it.each([
    ['pull_zone_statistics', 'dateFrom', 'dateTo', 'RequestsServedChart'],
    ['application_statistics', 'fromDate', 'toDate', 'trafficChart'],
    ['shield_statistics', 'StartDate', 'EndDate', ''],
  ])('is between two date-times for %s, and a date is refused', async (kind, from, to, chart) => {
    const simulator = await startSimulator();
    const { url, key } = oneOfEach(simulator).find(({ operation }) => operation === kind) ?? {
      url: '',
      key: '',
    };
    const asked = async (first: string, last: string) =>
      await ask(
        `${url}${url.includes('?') ? '&' : '?'}loadRequestsServed=true&${from}=${first}&${to}=${last}`,
        key,
      );
    const good = await asked(`${today}T00:00:00Z`, `${today}T23:59:59Z`);
    expect(good.status).toBe(200);
    if (chart !== '') expect(Object.keys(objectOf(jsonOf(good)[chart]))).toHaveLength(1);
    expect((await asked(today, today)).status).toBe(400);
    expect((await asked(`${today}T00:00:00Z`, '2026-02-31T00:00:00')).status).toBe(400);
  });
});

describe('good answers of the shield API', () => {
  it('come without an error, with a null error, and with an empty default envelope', async () => {
    const simulator = await startSimulator({ shape: { endpoints: 30 } });
    const errors = new Set<string>();
    for (const { shieldZoneId, id } of simulator.endpoints) {
      const heard = await ask(urls(simulator).guardian(shieldZoneId, id), simulator.keys.account);
      errors.add(JSON.stringify(jsonOf(heard)['error']) ?? 'absent');
    }
    expect([...errors].sort()).toEqual([
      'absent',
      'null',
      '{"statusCode":0,"success":false,"message":null,"errorKey":null}',
    ]);
  });
});

describe('the log of the simulator', () => {
  it('counts requests and answers by operation, and records them on request', async () => {
    const simulator = await startSimulator({ logRequests: true });
    for (const { url, key } of oneOfEach(simulator)) await ask(url, key);
    await ask(urls(simulator).zones('?page=2'), 'wrong');
    await ask(`${simulator.origin}/elsewhere`);
    expect(simulator.counters.shield_zone).toEqual({ requests: 2, statuses: { 200: 1, 401: 1 } });
    expect(simulator.counters.video_storage).toEqual({ requests: 1, statuses: { 200: 1 } });
    expect(simulator.counters.other).toEqual({ requests: 1, statuses: { 404: 1 } });
    expect(simulator.requests.map(({ operation, key, status }) => `${operation} ${key} ${status}`)).toEqual([
      ...oneOfEach(simulator).map(({ operation }) => `${operation} ${operationOf(operation).key} 200`),
      'shield_zone unknown 401',
      'other none 404',
    ]);
    expect(at(simulator.requests, -2).path).toBe('/shield/shield-zones?page=2');
  });

  it('records nothing by default', async () => {
    const simulator = await startSimulator();
    await ask(urls(simulator).zones(), simulator.keys.account);
    expect(simulator.requests).toEqual([]);
    expect(simulator.counters.shield_zone.requests).toBe(1);
  });
});
