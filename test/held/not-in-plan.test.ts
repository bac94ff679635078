import { expect, it } from 'vitest';
import { resources } from '../../src/resources/kinds/index.ts';
import { type Route, reply, startWhole } from './whole.ts';

/** As recorded: HTTP 202, no data, and a key that begins so. */
const lacking: Route = () =>
  reply(
    202,
    JSON.stringify({
      data: null,
      error: {
        statusCode: 403,
        success: false,
        message: 'Request rejected',
        errorKey: 'invalid_plan_type.shieldzone',
      },
    }),
  );

const ofZones = resources.filter(({ api, kind }) => api === 'shield' && kind !== 'shield_zone');
const zones: Route = () => ({
  data: [{ shieldZoneId: 501, pullZoneId: 7, wafEnabled: true }],
  page: { totalCount: 1, totalPages: 1, currentPage: 1, nextPage: 2, pageSize: 100 },
});
const pullZones: Route = () => ({ Items: [{ Id: 7, Name: 'shop' }], TotalItems: 1, HasMoreItems: false });

async function start(kinds: readonly string[], routes: Record<string, Route>) {
  const sections = resources.filter(({ kind }) => kinds.includes(kind)).map(({ section }) => section);
  return await startWhole({
    document: Object.fromEntries(sections.map((section) => [section, { targets: 'all' }])),
    routes: { '/shield/shield-zones': zones, '/pullzone': pullZones, ...routes },
  });
}

it('what the plan of a zone lacks is no failure, whichever operation of Shield says so', async () => {
  const kinds = ofZones.map(({ kind }) => kind);
  const whole = await start(kinds, { '*': lacking });
  expect(await whole.poll()).toBe(true);
  const targets = whole.exporter.targets();
  expect(targets.map(({ target, state }) => [target.kind, state])).toEqual(
    // Its endpoints are listed, and so there are none.
    kinds.filter((kind) => kind !== 'api_guardian').map((kind) => [kind, 'lacking']),
  );
  for (const { target } of targets) {
    const { resource } = target;
    const page = (await whole.get(`/metrics?kind=${target.kind}`)).body;
    expect(page.match(/^bunnynet\w+/gm), target.kind).toEqual([
      `${resource.metricPrefix}_up`,
      `${resource.metricPrefix}_last_success_timestamp_seconds`,
    ]);
    expect(await whole.value(`${resource.metricPrefix}_up`)).toBe(1);
  }
  const up = Object.values(await whole.series('bunnynet_exporter_discovery_up'));
  expect(up.every((value) => value === 1)).toBe(true);
  expect(whole.exporter.causes()).toEqual([]);
  expect(whole.said('does not include')).toEqual([]);
});

it('what had figures and is no longer in the plan is logged once, and the page says since when', async () => {
  const rules = '/shield/waf/rules/review-triggered/501';
  const path = '/shield/metrics/rate-limits/501';
  const breaches = (today: number) => () => ({
    data: [
      { ratelimitId: 3, ratelimitOverviewPastTwentyEightDays: { '15-08-2026': { totalBreaches: today } } },
    ],
  });
  const whole = await start(['rate_limit', 'shield_triggered_rules'], {
    '/shield/rate-limits/501': () => ({ data: [] }),
    [path]: breaches(5),
    [rules]: () => ({ totalTriggeredRules: 2, triggeredRules: [] }),
  });
  await whole.poll();
  whole.routes[path] = breaches(8);
  await whole.poll();
  const total = () => whole.value('bunnynet_shield_rate_limit_breaches_total');
  expect(await total()).toBe(3);

  whole.routes[path] = lacking;
  expect(await whole.poll()).toBe(true);
  await whole.poll();
  expect(
    whole.said('the plan of shop does not include Shield rate limits').map(({ level }) => level),
  ).toEqual([40]);
  expect([await total(), await whole.value('bunnynet_shield_rate_limit_up')]).toEqual([undefined, 1]);
  expect((await whole.get('/')).body).toMatch(/not in the plan<\/span> <small>since/);
  const { targets } = JSON.parse((await whole.get('/api/v1/targets?kind=rate_limit')).body) as {
    readonly targets: readonly Readonly<Record<string, unknown>>[];
  };
  expect(targets).toMatchObject([
    { state: 'lacking', lacking_since: expect.stringMatching(/^2026-08-15T12:00:00/) as string },
  ]);

  whole.routes[path] = breaches(9);
  await whole.poll();
  expect(await total()).toBe(4);
});
