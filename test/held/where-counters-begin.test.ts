/** What was there before a counter began is no gain, whenever the API first tells it, and whatever the machine takes for the time. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporary } from '../http/temporary.ts';
import { countersOf, dayMs, document, hourMs, kinds, minuteMs, routesOf } from './steady.ts';
import { type Route, reply, startWhole, type Whole } from './whole.ts';

const at = (text: string) => Date.parse(`2026-08-${text}:00Z`);

/** The same API, without the figures of a day while a test says so. */
function withHole(isMissing: (dayStartMs: number) => boolean, lateMs?: () => number) {
  const day = /"(\d{4}-\d{2}-\d{2})T[^"]*":(\d+|\{[^}]*\}),?|\["(\d{4}-\d{2}-\d{2})T[^"]*",\d+\],?/g;
  const routes = Object.entries(routesOf(lateMs)).map(([path, route]): [string, Route] => [
    path,
    (request) => {
      const asked = request.query.get('from')?.slice(0, 10) ?? '';
      if (path.startsWith('/loadbalancer') && isMissing(Date.parse(asked))) return { Summary: {} };
      const without = JSON.stringify(route(request)).replaceAll(
        day,
        (entry, a?: string, __?: string, b?: string) => (isMissing(Date.parse(a ?? b ?? '')) ? '' : entry),
      );
      return JSON.parse(without.replaceAll(/,([}\]])/g, '$1')) as unknown;
    },
  ]);
  return Object.fromEntries(routes);
}

async function startAt(nowMs: number, routes: Record<string, Route>, more: object = {}): Promise<Whole> {
  const whole = await startWhole({
    nowMs,
    apiUrl: 'https://api.test',
    routes,
    document: { ...document, ...more },
  });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  return whole;
}

/** Each has what the API has had since then; a poll may be up to an interval ago. */
async function expectExact(whole: Whole, sinceMs: number, what: string, mostMissing = 12) {
  const counted = await countersOf(whole);
  for (const { section } of kinds) {
    const missing = (Date.now() - sinceMs) / minuteMs - (counted[section] ?? Number.NaN) / 1000;
    expect(missing, `${section} ${what}`).toBeGreaterThanOrEqual(0);
    expect(missing, `${section} ${what}`).toBeLessThanOrEqual(mostMissing);
  }
}

describe('the day on which a counter begins', () => {
  it('is no gain where the API tells nothing of it until the evening', async () => {
    const whole = await startAt(
      at('15T19:00'),
      withHole((day) => day === at('15T00:00') && Date.now() < at('15T22:55')),
    );
    await whole.pass(at('15T22:50') - Date.now());
    for (const [section, value] of Object.entries(await countersOf(whole)))
      expect(value ?? 0, section).toBe(0);
    await whole.pass(at('15T23:10') - Date.now());
    // All that came before the first figure of the day is none.
    for (const [section, value] of Object.entries(await countersOf(whole))) {
      expect(value, section).toBeGreaterThanOrEqual(0);
      expect(value, section).toBeLessThanOrEqual(12_000);
    }
    await whole.pass(at('16T01:00') - Date.now());
    const counted = await countersOf(whole);
    for (const { section } of kinds) {
      const missing = 120 - (counted[section] ?? Number.NaN) / 1000;
      expect(missing, section).toBeGreaterThanOrEqual(0);
      expect(missing, section).toBeLessThanOrEqual(24);
    }
  });

  it('counts from its start where it began less than three hours before, and the first answer lacks it', async () => {
    const routes = {
      '/dnszone/7/statistics': withHole((day) => day === at('15T00:00') && Date.now() < at('15T01:30'))[
        '/dnszone/7/statistics'
      ],
    } as Record<string, Route>;
    const { dns_zones } = document;
    const whole = await startWhole({ nowMs: at('15T01:00'), routes, document: { dns_zones } });
    await whole.exporter.start();
    await whole.pass(45 * minuteMs);
    expect(await whole.value('bunnynet_dns_zone_queries_total')).toBeGreaterThanOrEqual(90_000);
  });

  it('counts from 0 where the sum beside an empty chart says that there is nothing', async () => {
    const path = '/statistics';
    let requests = 0;
    const whole = await startWhole({
      nowMs: at('15T12:00'),
      document: { pull_zone_statistics: { targets: [7] } },
      routes: {
        [path]: ({ query }) => {
          const isToday = query.get('dateFrom')?.startsWith('2026-08-15');
          if (!isToday) return { RequestsServedChart: { '2026-08-14T10:00:00Z': 500 } };
          return requests === 0
            ? { RequestsServedChart: {}, TotalRequestsServed: 0 }
            : { RequestsServedChart: { '2026-08-15T12:00:00Z': requests } };
        },
      },
    });
    await whole.poll();
    requests = 9;
    await whole.poll();
    expect(await whole.value('bunnynet_pull_zone_requests_total')).toBe(9);
  });
});

describe('a machine whose clock is wrong at its start', () => {
  it.each([
    ['three days behind', -3 * dayMs],
    ['three days ahead', 3 * dayMs],
  ])('%s for six seconds: nothing is counted that came before', async (_, wrongMs) => {
    let aheadMs = wrongMs;
    const right = () => Date.now() - aheadMs;
    const dated = Object.entries(routesOf(() => aheadMs)).map(([path, route]): [string, Route] => [
      path,
      async (request) =>
        reply(200, JSON.stringify(await route(request)), { date: new Date(right()).toUTCString() }),
    ]);
    const startMs = at('15T23:00');
    const whole = await startWhole({
      nowMs: startMs + wrongMs,
      routes: Object.fromEntries(dated),
      document,
    });
    await whole.exporter.start();
    await whole.pass(6000);
    whole.setClock(-wrongMs);
    aheadMs = 0;
    await whole.pass(25 * minuteMs);
    // The first answer about today is that of the second poll, ten minutes later.
    await expectExact(whole, startMs, 'soon', 22);
    await whole.pass(hourMs);
    await expectExact(whole, startMs, 'on the next day', 22);
  });
});

describe('an answer with a hole', () => {
  it('at first: days that come later and are more than a day old count for nothing', async () => {
    const hole = { is: true };
    const whole = await startAt(
      at('15T12:00'),
      withHole((day) => hole.is && (day === at('14T00:00') || day === at('13T00:00'))),
    );
    await whole.pass(11 * minuteMs);
    hole.is = false;
    await whole.pass(22 * minuteMs);
    await expectExact(whole, at('15T12:00'), 'since the start');
  });

  it('after a restart: the day is asked for again, and counts once', async () => {
    const more = { state: { file: join(temporary({}), 'state.json') } };
    const startMs = at('10T12:00');
    const first = await startAt(startMs, routesOf(), more);
    await first.pass(11 * minuteMs);
    await first.stop();
    first.setClock(at('15T12:00') - Date.now());
    const hole = { is: true };
    const second = await startAt(
      Date.now(),
      withHole((day) => hole.is && (day === at('12T00:00') || day === at('14T00:00'))),
      more,
    );
    await second.pass(minuteMs);
    hole.is = false;
    await second.pass(25 * minuteMs);
    await expectExact(second, startMs, 'after all');
    expect(second.said('is lost')).toEqual([]);
  });

  it('for ever: the day is asked for once more, and today goes on', async () => {
    const more = { state: { file: join(temporary({}), 'state.json') } };
    const first = await startAt(at('10T12:00'), routesOf(), more);
    await first.stop();
    first.setClock(at('15T12:00') - Date.now());
    const second = await startAt(
      Date.now(),
      withHole((day) => day === at('12T00:00')),
      more,
    );
    await second.pass(60 * minuteMs);
    const asked = second.requests.filter(
      ({ path, query }) => path.startsWith('/dns') && query.get('dateFrom') === '2026-08-12',
    );
    expect(asked).toHaveLength(2);
    const counted = await countersOf(second);
    for (const { section } of kinds)
      expect((counted[section] ?? 0) / 1000, section).toBeGreaterThan(4 * 24 * 60 - 12);
  });
});
