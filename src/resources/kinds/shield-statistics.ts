/** What each protection of a Shield Zone did, by action and day (`/shield/metrics/overview/{zone}/detailed`). */
import { byDay, newestAndTotal, newestOf, sumByDay } from '../charts.ts';
import { defineResource } from '../define.ts';
import { enveloped } from '../envelope.ts';
import {
  type Entries,
  entriesOf,
  type FieldType,
  integer,
  mapped,
  object,
  snakeCased,
  type ValueOf,
} from '../fields.ts';
import { instantsInOne } from '../queries.ts';
import type { CounterSample, Day, DayFigure } from '../resource.ts';
import { parseChartKey } from '../times.ts';
import { zones } from './shield-zone.ts';

/** The API can add actions, so the series of all seven protections together are bounded. */
const bound = { most: 50, rest: { protection: 'other', action: 'other' } };

/**
 * Counts by day and by name. Their map is one of maps, and which level has the days is not documented: the keys say so.
 * Where neither has, that is noted. A day without counts is one of the days.
 */
const countsByDay: FieldType<readonly Day<Entries<number>>[]> = mapped(
  entriesOf(entriesOf(integer)),
  (outer, notes) => {
    if (outer.some(([key]) => parseChartKey(key) !== undefined)) return byDay(outer, notes);
    const turned = outer.flatMap(([name, inner = []]) =>
      inner.map(([key, count]) => [key, [[name, count]]] as const),
    );
    return byDay(turned, notes);
  },
);

/** The requests of each action on each day. */
const actionsByDay = mapped(object({ metrics: countsByDay }).ignoring('totals{*}'), ({ metrics }) => metrics);

const protections = object({
  waf: actionsByDay,
  ddos: actionsByDay,
  rateLimit: actionsByDay,
  accessLists: actionsByDay,
  botDetection: actionsByDay,
  uploadScanning: actionsByDay,
  apiGuardian: actionsByDay,
}).ignoring('totalCleanRequestsLimit totalBillableRequestsThisMonth resolution');
type Protections = ValueOf<typeof protections>;
const fields = Object.keys(protections.shape) as (keyof Protections)[];

function newestDayOf(given: Protections): number | undefined {
  return newestOf(fields.flatMap((field) => given[field] ?? []));
}

/** A series for each action that any of the days has. The API writes one action in several ways. */
function seriesOf(protection: string, days: readonly Day<Entries<number>>[]): readonly CounterSample[] {
  const series = new Map<string, DayFigure[]>();
  for (const { startSeconds, value: actions } of days) {
    for (const [name, value] of actions) {
      const action = snakeCased(name);
      if (value === undefined) continue;
      const known = series.get(action);
      if (known) known.push({ startSeconds, value });
      else series.set(action, [{ startSeconds, value }]);
    }
  }
  return Array.from(series, ([action, ofAction]) => ({
    labels: { protection, action },
    days: sumByDay(ofAction),
  }));
}

function allSeries(given: Protections): readonly CounterSample[] {
  return fields.flatMap((field) => seriesOf(snakeCased(field), given[field] ?? []));
}

const [newest, total] = newestAndTotal<Protections>(
  'requests',
  'Requests by protection and action',
  { fields, labels: ['protection', 'action'], bound, series: allSeries },
  'unknown',
);

export const shieldStatistics = defineResource({
  kind: 'shield_statistics',
  noun: 'Shield requests',
  familyPrefix: 'bunnynet_shield',
  listing: zones,
  path: '/shield/metrics/overview/{shieldZoneId}/detailed',
  // Resolution 4: a point a day.
  query: instantsInOne('StartDate', 'EndDate', 'Resolution=4'),
  answer: enveloped(protections),
  families: () => [
    {
      ...newest,
      words: `${newest.words}. At most 50 series, the largest; the rest is \`other\``,
      // A day without any action is the newest day, too.
      series(given) {
        const day = newestDayOf(given);
        return allSeries(given).map((series) => ({
          ...series,
          days: series.days.filter(({ startSeconds }) => startSeconds === day),
        }));
      },
    },
    {
      ...total,
      words: `${total.words}. At most 50 series; the gains of all others count as \`other\``,
    },
    {
      name: 'requests_latest_day_timestamp_seconds',
      words:
        'Start of the newest UTC day that any protection has, as Unix time (newest day of the API fields metrics)',
      fields,
      series: newestDayOf,
    },
  ],
});
