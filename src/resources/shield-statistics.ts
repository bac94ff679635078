/** What each protection of a Shield Zone did, by action and day (`/shield/metrics/overview/{zone}/detailed`). */

import { mapOfDays, newestAndTotal, newestOf, openInstants } from './days.ts';
import { defineResource } from './define.ts';
import { enveloped } from './envelope.ts';
import { type Entries, entriesOf, integer, mapped, object, snakeCased, type ValueOf } from './fields.ts';
import type { CounterSample, Day, DayFigure } from './resource.ts';
import { hasNoProtections, zones } from './shield-zone.ts';

/** The API can add actions, so the series of all seven protections together are bounded. */
const maxSeries = 50;
const rest = { protection: 'other', action: 'other' };

/** The requests of each action on each day. */
const actionsByDay = mapped(
  object({ metrics: mapOfDays(entriesOf(integer)) }).ignoring('totals{*}'),
  ({ metrics }) => metrics,
);

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

/** A series for each action that any of the days has. */
function seriesOf(protection: string, days: readonly Day<Entries<number>>[]): readonly CounterSample[] {
  const series = new Map<string, DayFigure[]>();
  for (const { startSeconds, value: actions } of days) {
    for (const [action, value] of actions) {
      if (value !== undefined) series.set(action, [...(series.get(action) ?? []), { startSeconds, value }]);
    }
  }
  return Array.from(series, ([action, ofAction]) => ({
    labels: { protection, action: snakeCased(action) },
    days: ofAction,
  }));
}

const [newest, total] = newestAndTotal<Protections>('requests', 'Requests by protection and action', {
  fields,
  labels: ['protection', 'action'],
  series: (given) => fields.flatMap((field) => seriesOf(snakeCased(field), given[field] ?? [])),
});

export const shieldStatistics = defineResource({
  kind: 'shield_statistics',
  noun: 'requests of the Shield Zone by protection',
  familyPrefix: 'bunnynet_shield',
  listing: zones,
  path: '/shield/metrics/overview/{shieldZoneId}/detailed',
  // Resolution 4: a point a day.
  query: openInstants('StartDate', 'EndDate', 'Resolution=4'),
  answer: enveloped(protections),
  families: () => [
    newest,
    { ...total, bound: { most: maxSeries, rest } },
    {
      name: 'requests_latest_day_timestamp_seconds',
      words:
        'Start of the newest UTC day that any protection has, as Unix time (newest key of the API fields metrics)',
      fields,
      series: (given) => newestOf(fields.flatMap((field) => given[field] ?? [])),
    },
  ],
  isEmpty: hasNoProtections,
});
