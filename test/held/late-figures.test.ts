/**
 * Figures that come late, in each way in which a kind asks for them: what the API has in the end is counted, at midnight, too, and
 * after a restart from then on.
 */
import { describe, expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { byHour, countersOf, document, hourMs, kinds, minuteMs, routesOf } from './steady.ts';
import { startWhole, type Whole } from './whole.ts';

const midnight = Date.parse('2026-08-16T00:00:00Z');
const evening = midnight - runs(10, 60) * minuteMs;
const noon = Date.parse('2026-08-16T12:00:00Z');

async function startAt(nowMs: number, lateMs: number): Promise<Whole> {
  const whole = await startWhole({ nowMs, document, routes: routesOf(() => lateMs) });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  return whole;
}

/** By day the exporter sleeps from soon after midnight until soon before yesterday is read for the last time. */
async function passUntil(whole: Whole, untilMs: number): Promise<void> {
  const [sleepsMs, wakesMs] = [midnight + 15 * minuteMs, noon - 20 * minuteMs];
  if (runs(untilMs > wakesMs, false)) {
    await whole.pass(sleepsMs - Date.now());
    whole.advance(wakesMs - sleepsMs);
  }
  await whole.pass(untilMs - Date.now());
}

/** What the API has had since a poll, by its last poll in each kind; a poll may be up to an interval ago. */
function expectExact(now: Readonly<Record<string, number | undefined>>, gainedMs: number, what: string) {
  for (const { section } of kinds) {
    const missing = gainedMs / minuteMs - (now[section] ?? 0) / 1000;
    expect(missing, `${section} ${what}`).toBeGreaterThanOrEqual(0);
    expect(missing, `${section} ${what}`).toBeLessThanOrEqual(12);
  }
}

/** How late, and until when time passes: by then all of the day before is there. */
const delays: readonly (readonly [late: string, lateMs: number, untilMs: number])[] = [
  ['20 minutes', 20 * minuteMs, midnight + runs(45, 190) * minuteMs],
  ['an hour', hourMs, midnight + 3 * hourMs + 10 * minuteMs],
  ['three hours', 3 * hourMs, noon + 20 * minuteMs],
  ['ten hours', 10 * hourMs, noon + 20 * minuteMs],
  ['almost twelve hours', 12 * hourMs - 5 * minuteMs, noon + runs(12, 20) * minuteMs],
];

describe.each(delays.filter(([late]) => runs(/20 m|almost/, /./).test(late)))(
  'figures that come %s late',
  (_, lateMs, untilMs) => {
    it('are counted over midnight', async () => {
      const whole = await startAt(evening, lateMs);
      await passUntil(whole, untilMs);
      expectExact(await countersOf(whole), untilMs - evening, 'since the evening');
    });

    it('are counted from a start just after midnight on', async () => {
      const startMs = midnight + 5 * minuteMs;
      const whole = await startAt(startMs, lateMs);
      // What there was before is no gain.
      expect(Object.values(await countersOf(whole))).toEqual(kinds.map(() => 0));
      await passUntil(whole, untilMs);
      expectExact(await countersOf(whole), untilMs - startMs, 'since the start');
    });
  },
);

type Delay = [late: string, lateMs: number];

describe.each<Delay>([
  ['three hours', 3 * hourMs],
  ...runs<Delay[]>(
    [],
    [
      ['20 minutes', 20 * minuteMs],
      ['an hour', hourMs],
    ],
  ),
])('the newest hour of a pull zone whose hours come %s after their end', (_, lateMs) => {
  const gauge = 'bunnynet_pull_zone_cache_hit_ratio_latest_hour';

  it.each([
    ['in an evening', midnight - 10 * minuteMs, midnight + 5 * hourMs],
    ['at half past midnight', midnight + 30 * minuteMs, midnight + runs(2, 5) * hourMs],
  ])('is on the page all night after a start %s', async (_when, startMs, untilMs) => {
    const everyMinutes = runs(10, 5);
    const whole = await startWhole({
      nowMs: startMs,
      document: { pull_zone_statistics: { targets: [7], interval: `${everyMinutes}m` } },
      routes: {
        '/statistics': ({ query }) => {
          const ended = Object.entries(byHour(query.get('dateFrom'), query.get('dateTo'), 0)).filter(
            ([hour]) => Date.parse(hour) + hourMs + lateMs <= Date.now(),
          );
          return {
            RequestsServedChart: Object.fromEntries(ended),
            CacheHitRateChart: Object.fromEntries(ended.map(([hour]) => [hour, 80])),
          };
        },
      },
    });
    await whole.exporter.start();
    for (let atMs = startMs; atMs < untilMs; atMs += everyMinutes * minuteMs) {
      await whole.pass(everyMinutes * minuteMs);
      expect(await whole.value(gauge), new Date(Date.now()).toISOString()).toBe(0.8);
    }
  });
});
