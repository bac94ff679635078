/** What each protection of a Shield Zone did, by action and day (`/shield/metrics/overview/{zone}/detailed`). */
import { newestAndTotal } from './daily.ts';
import { type Day, instantQuery, mapOfDays } from './days.ts';
import type { CounterSample } from './families.ts';
import { type Entries, entriesOf, integer, mapped, object, unwrapData, type ValueOf } from './fields.ts';
import { defineResource } from './resource.ts';
import { withoutProtections, zones } from './shield-zone.ts';

/** Actions are the API's own words: so many series have one of their own, of the seven protections together. */
const maxSeries = 50;
const rest = { protection: 'other', action: 'other' };

/** The requests of each action on each day. */
const actionsByDay = mapped(object({ metrics: mapOfDays(entriesOf(integer)) }), ({ metrics }) => metrics);

const protections = object(
  {
    waf: actionsByDay,
    ddos: actionsByDay,
    rateLimit: actionsByDay,
    accessLists: actionsByDay,
    botDetection: actionsByDay,
    uploadScanning: actionsByDay,
    apiGuardian: actionsByDay,
  },
  'totalCleanRequestsLimit',
  'totalBillableRequestsThisMonth',
  'resolution',
);
type Protections = ValueOf<typeof protections>;
type Field = keyof Protections;
const fields = protections.names as readonly Field[];

/** `rateLimit` as `rate_limit`. */
function snakeCased(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function seriesOf(protection: string, days: readonly Day<Entries<number>>[]): readonly CounterSample[] {
  const actions = new Set(days.flatMap(({ figures }) => figures.map(([action]) => action)));
  return [...actions].flatMap((action) => {
    const ofAction = days.flatMap(({ startSeconds, figures }) => {
      const value = figures.find(([name]) => name === action)?.[1];
      return value === undefined ? [] : [{ startSeconds, value }];
    });
    return ofAction.length > 0
      ? [{ labels: { protection, action: action.toLowerCase() }, days: ofAction }]
      : [];
  });
}

const [newest, total] = newestAndTotal<Protections>(
  'requests',
  'Requests that a protection acted on, by protection and action',
  {
    fields,
    labels: ['protection', 'action'],
    series: (given) => fields.flatMap((field) => seriesOf(snakeCased(field), given[field] ?? [])),
  },
);

export const shieldStatistics = defineResource<Protections>({
  kind: 'shield_statistics',
  product: 'Shield',
  reference: 'GET /shield/metrics/overview/{shieldZoneId}/detailed',
  noun: 'requests of the Shield Zone by protection',
  familyPrefix: 'bunnynet_shield',
  defaultIntervalSeconds: 600,
  listing: zones,
  answer: protections,
  families: [
    newest,
    { ...total, bound: { most: maxSeries, rest } },
    {
      name: 'requests_latest_day_timestamp_seconds',
      words:
        'Start of the newest UTC day that any protection has, as Unix time (newest key of the API fields metrics)',
      fields,
      series(given) {
        const starts = fields.flatMap((field) => given[field] ?? []).map(({ startSeconds }) => startSeconds);
        return starts.length > 0 ? Math.max(...starts) : undefined;
      },
    },
  ],
  // Resolution 4: a point a day.
  path: ({ shield_zone_id }, context) =>
    `/shield/metrics/overview/${shield_zone_id}/detailed?${instantQuery(context, 'StartDate', 'EndDate')}&Resolution=4`,
  unwrap: unwrapData,
  empty: withoutProtections,
});
