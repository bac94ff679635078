import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporary } from '../http/temporary.ts';
import { routesOf } from './steady.ts';
import { type Request, reply, startWhole } from './whole.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const noon = Date.parse('2026-08-15T12:00:00Z');

const application = {
  routes: { '/mc/apps/a/summary': () => ({ id: 'a', name: 'www', status: 'active', monthlyCost: 3.5 }) },
  document: { applications: { targets: ['a'], interval: '1m', stale_after: '3m' } },
  nowMs: noon,
};
const cost = 'bunnynet_application_monthly_cost_dollars';

it('setting the wall clock an hour ahead or back takes no good value off the page', async () => {
  const whole = await startWhole(application);
  await whole.poll();
  for (const laterMs of [hourMs, -2 * hourMs]) {
    whole.setClock(laterMs);
    expect(await whole.value(cost)).toBe(3.5);
  }
});

it('a value that gets too old leaves the page even if the wall clock is set back', async () => {
  const whole = await startWhole(application);
  await whole.poll();
  whole.advance(3 * minuteMs);
  expect(await whole.value(cost)).toBe(3.5);
  whole.advance(1);
  whole.setClock(-dayMs);
  expect(await whole.value(cost)).toBeUndefined();
});

/** One DNS zone that has counted 100 queries today and none on other days. setMs: by how much the clock is wrong. */
async function startDnsZone(setMs: number) {
  let queries = 100;
  let today = '2026-08-15';
  const whole = await startWhole({
    routes: {
      '/dnszone/7/statistics': ({ query }: Request) => {
        const from = query.get('dateFrom') ?? '';
        const isAsked = from <= today && today <= (query.get('dateTo') ?? '');
        return { QueriesServedChart: { [`${isAsked ? today : from}T00:00:00Z`]: isAsked ? queries : 0 } };
      },
    },
    document: { dns_zones: { targets: [7], interval: '1m' } },
    nowMs: noon + setMs,
  });
  return {
    whole,
    count: async (more: number) => {
      queries += more;
      whole.advance(minuteMs);
      await whole.poll();
      return whole.value('bunnynet_dns_zone_queries_total');
    },
    nextDay: (date: string) => {
      today = date;
      queries = 0;
      whole.advance(dayMs);
    },
  };
}

it('a counter that was first read while the clock was days ahead counts once the clock is right', async () => {
  const { whole, count, nextDay } = await startDnsZone(3 * dayMs);
  await whole.poll();
  whole.setClock(-3 * dayMs);
  // The first figure was counted earlier.
  expect(await count(50)).toBe(0);
  expect(await count(20)).toBe(20);
  nextDay('2026-08-16');
  expect(await count(30)).toBe(50);
});

it('a clock that is days ahead or behind for a while makes a counter lose and gain nothing', async () => {
  const { whole, count } = await startDnsZone(0);
  await whole.poll();
  expect(await count(10)).toBe(10);
  for (const laterMs of [10 * dayMs, -10 * dayMs]) {
    whole.setClock(laterMs);
    await count(1);
    await count(1);
    whole.setClock(-laterMs);
    await count(1);
  }
  expect(await count(4)).toBe(20);
});

it('a clock that is days ahead has no day asked for that is still to come, and loses none of them', async () => {
  let apiMs = noon;
  const whole = await startWhole({
    routes: {
      // Each day that has begun for the API has 10 bytes.
      '/storagezone/7/statistics/egress'({ query }: Request) {
        const fromMs = Date.parse(query.get('dateFrom') ?? '');
        const toMs = Math.min(apiMs, Date.parse(query.get('dateTo') ?? ''));
        const chart: Record<string, number> = {};
        for (let ms = fromMs; ms <= toMs; ms += dayMs) chart[new Date(ms).toISOString()] = 10;
        const body = JSON.stringify({ HttpEgressChart: chart });
        return reply(200, body, { date: new Date(apiMs).toUTCString() });
      },
    },
    document: { storage_zone_egress: { targets: [7], interval: '1m' } },
    nowMs: noon,
  });
  const read = async () => {
    whole.advance(minuteMs);
    await whole.poll();
    return whole.value('bunnynet_storage_zone_egress_bytes_total');
  };
  await read();
  whole.setClock(4 * dayMs);
  expect(await read()).toBe(0);
  const { length } = whole.requests;
  for (let time = 0; time < 5; time++) expect(await read()).toBe(0);
  expect(whole.requests.length - length).toBe(5);
  whole.setClock(-4 * dayMs);
  for (const total of [10, 20, 30]) {
    apiMs += dayMs;
    whole.advance(dayMs);
    expect(await read()).toBe(total);
  }
});

/** The breaches of one rate limit by day, as the test sets them; undefined if the answer lacks the rate limit. */
async function startRateLimit() {
  const answer: { days: Record<string, number> | undefined } = { days: {} };
  const rateLimit = (days: Record<string, number>) => ({
    ratelimitId: 11,
    ratelimitOverviewPastTwentyEightDays: Object.fromEntries(
      Object.entries(days).map(([day, totalBreaches]) => [`${day}T00:00:00Z`, { totalBreaches }]),
    ),
  });
  const whole = await startWhole({
    routes: {
      '/shield/metrics/rate-limits/501': () => ({ data: answer.days ? [rateLimit(answer.days)] : [] }),
    },
    document: { rate_limits: { targets: [501], interval: '5m' } },
    nowMs: noon,
  });
  const read = async (days: Record<string, number> | undefined) => {
    answer.days = days;
    whole.advance(5 * minuteMs);
    await whole.poll();
    return whole.value('bunnynet_shield_rate_limit_breaches_total', { rate_limit_id: '11' });
  };
  return { whole, read };
}

it('a counter goes on after an answer with days far ahead', async () => {
  const { read } = await startRateLimit();
  await read({ '2026-08-15': 5 });
  await read({ '2026-08-15': 6, '2027-01-01': 900, '2027-01-02': 900 });
  expect(await read({ '2026-08-15': 7 })).toBe(2);
  expect(await read({ '2026-08-15': 7, '2026-08-16': 1 })).toBe(3);
});

it('a counter that is missing in readings is kept while the clock is days ahead', async () => {
  const { whole, read } = await startRateLimit();
  await read({ '2026-08-15': 5 });
  await read({ '2026-08-15': 9 });
  await read(undefined);
  whole.setClock(10 * dayMs);
  await read(undefined);
  whole.setClock(-10 * dayMs);
  expect(await read({ '2026-08-15': 11 })).toBe(6);
});

it('a counter that was first read while the clock was a month behind does not jump once the clock is right', async () => {
  const { whole, read } = await startRateLimit();
  whole.setClock(-30 * dayMs);
  await read({ '2026-08-13': 400, '2026-08-14': 500, '2026-08-15': 5 });
  whole.setClock(30 * dayMs);
  expect(await read({ '2026-08-13': 400, '2026-08-14': 500, '2026-08-15': 6 })).toBe(1);
});

it('what is overdue when the machine wakes is read at once, and nothing else', async () => {
  const whole = await startWhole({
    document: {
      billing: { targets: 'all', interval: '1h' },
      applications: { targets: ['a'], interval: '2h' },
      dns_zones: { targets: [7], interval: '5m' },
    },
    routes: {
      '/billing': () => ({ Balance: 5 }),
      '/mc/apps/a/summary': () => ({ monthlyCost: 1 }),
      '/dnszone/7/statistics': () => ({ QueriesServedChart: {} }),
    },
  });
  const asked = (path: string) => whole.requests.filter((request) => request.path === path).length;
  await whole.exporter.start();
  await whole.pass(8 * minuteMs);
  expect([asked('/billing'), asked('/mc/apps/a/summary')]).toEqual([1, 1]);
  const before = asked('/dnszone/7/statistics');
  whole.advance(54 * minuteMs);
  await whole.pass(15_000);
  expect([asked('/billing'), asked('/mc/apps/a/summary')]).toEqual([2, 1]);
  expect(asked('/dnszone/7/statistics') - before).toBe(1);
  // From then on at its interval.
  await whole.pass(50 * minuteMs);
  expect(asked('/billing')).toBe(2);
  await whole.pass(20 * minuteMs);
  expect(asked('/billing')).toBe(3);
});

it('a state that was written while the clock stood at 1970 is used at the next start', async () => {
  const path = join(temporary({}), 'state.json');
  const documentOf = (...ids: readonly number[]) =>
    ({ dns_zones: { targets: ids, interval: '10m' }, state: { file: path } }) as never;
  const routes = { '*': routesOf()['/dnszone/7/statistics'] as never };
  const apiUrl = 'https://api.test';
  const first = await startWhole({ apiUrl, document: documentOf(7, 8), routes });
  await first.exporter.start();
  await first.pass(11 * minuteMs);
  first.document = documentOf(7);
  await first.reload();
  await first.pass(30 * minuteMs);
  const nowMs = Date.now();
  first.setClock(Date.parse('1970-01-01T00:05:00Z') - nowMs);
  await first.stop();
  first.setClock(nowMs - Date.now());
  expect(readFileSync(path, 'utf8')).toContain('"value":33000');
  const second = await startWhole({ apiUrl, document: documentOf(7), routes });
  await second.exporter.start();
  await second.pass(minuteMs);
  expect(second.said('cannot be used').map(({ msg }) => msg)).toEqual([]);
  expect(await second.value('bunnynet_dns_zone_queries_total')).toBeGreaterThanOrEqual(33_000);
});

it('the status page says for how long the exporter is up, whatever the clock was at its start', async () => {
  const whole = await startWhole({
    nowMs: Date.parse('1970-01-01T00:01:00Z'),
    document: { applications: { targets: ['a'] } },
    routes: { '*': () => ({ monthlyCost: 1 }) },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  whole.setClock(Date.parse('2026-08-15T12:00:00Z') - Date.now());
  await whole.pass(60_000);
  const [, up] = /<dt>up<\/dt><dd>(.*?)<\/dd>/.exec((await whole.get('/')).body) ?? [];
  expect(up).toMatch(/^2 m/);
});

it('an outage after the wall clock was set back has its own beginning, and says how long values stay', async () => {
  const pullZones = { Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false };
  let isDown = false;
  const down = (answer: unknown) => () => (isDown ? reply(503) : answer);
  const whole = await startWhole({
    document: { billing: { targets: 'all', interval: '1m' }, pull_zones: { targets: 'all', interval: '1m' } },
    routes: { '/billing': down({ Balance: 5 }), '/pullzone': down(pullZones) },
  });
  await whole.exporter.start();
  await whole.pass(5 * minuteMs);
  whole.setClock(-2 * hourMs);
  const setMs = Date.now();
  isDown = true;
  await whole.pass(10 * minuteMs);
  await whole.sweep();
  const [cause] = whole.exporter.causes();
  expect.soft((cause?.sinceMs ?? 0) - Date.now(), 'the cause began in the future').toBeLessThanOrEqual(0);
  expect.soft(cause?.sinceMs).toBeGreaterThanOrEqual(setMs);
  expect.soft(whole.said('Nothing can be read')[0]?.msg).not.toContain('the first for 2 h');
  isDown = false;
  await whole.pass(5 * minuteMs);
  await whole.sweep();
  expect.soft(whole.said('this is over').at(-1)?.msg).not.toContain('over after 0 s');
});

it('what is wrong is not said with each poll after the clock was set back', async () => {
  const whole = await startWhole({
    document: {
      billing: { targets: 'all', interval: '1m' },
      pull_zones: { targets: 'all', interval: '1m' },
    },
    routes: { '/billing': () => ({ Balance: 5 }), '/pullzone': () => reply(403) },
  });
  await whole.exporter.start();
  await whole.pass(5 * minuteMs);
  await whole.sweep();
  expect(whole.said('may not read')).toHaveLength(1);
  whole.setClock(-2 * hourMs);
  for (let minute = 0; minute < 30; minute++) {
    await whole.pass(minuteMs);
    await whole.sweep();
  }
  expect(whole.said('may not read').length).toBeLessThanOrEqual(2);
});

it('the end of an outage says how long it was, also where the clock was set meanwhile', async () => {
  const pullZones = { Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false };
  let isDown = true;
  const down = (answer: unknown) => () => (isDown ? reply(503) : answer);
  const whole = await startWhole({
    nowMs: Date.parse('1970-01-01T00:01:00Z'),
    document: { billing: { targets: 'all', interval: '1m' }, pull_zones: { targets: 'all', interval: '1m' } },
    routes: { '/billing': down({ Balance: 5 }), '/pullzone': down(pullZones) },
  });
  await whole.exporter.start();
  await whole.pass(5 * minuteMs);
  await whole.sweep();
  expect(whole.said('Nothing can be read')).toHaveLength(1);
  // As on a machine whose clock has no battery: with the network comes the time.
  whole.setClock(Date.parse('2026-08-15T12:00:00Z') - Date.now());
  isDown = false;
  await whole.pass(2 * minuteMs);
  await whole.sweep();
  expect(whole.said('this is over').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(/over after [5-7] m/),
  ]);
});

it('a key that was replaced stays hidden for a day, also where the clock is set ahead', async () => {
  const former = 'the-former-key-of-the-account';
  const whole = await startWhole({
    document: { applications: { interval: '1m', stale_after: '3m', targets: ['a'] } },
    env: { KEY: former },
    // What is before the API, and knows the key from before, says so.
    routes: { '*': () => reply(400, JSON.stringify({ Message: `cached for ${former}`, ErrorKey: 'x' })) },
  });
  await whole.exporter.start();
  await whole.pass(20_000);
  const shown = async () => (await whole.get('/api/v1/targets')).body;
  expect(await shown()).toContain('cached for [redacted]');
  whole.env['KEY'] = 'the-key-that-is-new';
  await whole.reload();
  // The clock was at 1970 until now.
  whole.setClock(25 * hourMs);
  await whole.pass(120_000);
  expect(await shown()).not.toContain(former);
});
