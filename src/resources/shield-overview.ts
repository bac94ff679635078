/** What the parts of Shield did for one Shield Zone over the past 28 days (`/shield/metrics/overview/{zone}`). */
import { z } from 'zod';
import { newestFigures } from './daily.ts';
import { figureByDay, mapDays } from './days.ts';
import { integer, readFields, unwrapData } from './fields.ts';
import { type CounterSample, defineResource, type Family, familiesOf, type Sample } from './resource.ts';
import { zones } from './shield-zone.ts';

/** A figure of the API: the object of its 28 days, the map of its days where there is one, and its field in both. */
interface Figure {
  readonly labels: Readonly<Record<string, string>>;
  readonly window: string;
  readonly days: string | undefined;
  readonly field: string;
}

/** Each part with the field of each action. */
const actions = {
  ddos: [
    'dDoS',
    {
      logged: 'loggedRequests',
      verified: 'verifiedRequests',
      blocked: 'blockedRequests',
      challenged: 'challengedRequests',
    },
  ],
  waf: ['waf', { logged: 'loggedRequests', blocked: 'blockedRequests', challenged: 'challengedRequests' }],
  rate_limit: [
    'ratelimit',
    { logged: 'loggedBreaches', blocked: 'blockedBreaches', challenged: 'challengedBreaches' },
  ],
  bot_detection: ['botDetection', { logged: 'loggedRequests', challenged: 'challengedRequests' }],
  access_list: [
    'accessList',
    { logged: 'loggedRequests', blocked: 'blockedRequests', challenged: 'challengedRequests' },
  ],
  upload_scanning: ['uploadScanning', { logged: 'loggedRequests', blocked: 'blockedRequests' }],
  api_guardian: [
    'apiGuardian',
    {
      logged: 'loggedRequests',
      blocked: 'blockedRequests',
      rate_limited: 'rateLimited',
      failed_validation: 'failedRequestValidation',
      failed_authentication: 'failedAuthenticationEnforcement',
    },
  ],
} as const;

/** The one figure of each part by which the API sums it up. */
const events = {
  ddos: 'dDoSMitigated',
  waf: 'wafTriggeredRules',
  rate_limit: 'ratelimitBreaches',
  bot_detection: 'botDetectionChallenged',
  access_list: 'accessListActions',
  upload_scanning: 'uploadScanningBlocks',
  api_guardian: 'apiGuardianBlocks',
} as const;

function daysFieldOf(window: string): string | undefined {
  // Of the WAF there are days of the triggered rules alone, among the events.
  return window === 'waf' ? undefined : `${window}OverviewPastTwentyEightDays`;
}

const requests: readonly Figure[] = Object.entries(actions).flatMap(([category, [window, fields]]) =>
  Object.entries(fields).map(([action, field]) => ({
    labels: { category, action },
    window,
    days: daysFieldOf(window),
    field,
  })),
);
const eventFigures: readonly Figure[] = Object.entries(events).map(([category, field]) => ({
  labels: { category },
  window: 'overview',
  days: 'overviewPastTwentyEightDays',
  field,
}));
const inspected: Figure = {
  labels: {},
  window: 'apiGuardian',
  days: daysFieldOf('apiGuardian'),
  field: 'requestsInspected',
};
const scanned: Figure = {
  labels: {},
  window: 'uploadScanning',
  days: daysFieldOf('uploadScanning'),
  field: 'filesScanned',
};
const figures = [...requests, ...eventFigures, inspected, scanned];

type Counts = Readonly<Record<string, number | null | undefined>>;
type DayMap = Readonly<Record<string, Counts | null | undefined>>;

function schemaOf(): z.ZodObject {
  const windows = new Map<string, Record<string, typeof integer>>();
  for (const { window, days, field } of figures) {
    for (const name of days === undefined ? [window] : [window, days]) {
      windows.set(name, { ...windows.get(name), [field]: integer });
    }
  }
  const shapes = Array.from(windows, ([name, fields]) => {
    const counts = z.object(fields).nullish();
    return [name, name.endsWith('PastTwentyEightDays') ? z.record(z.string(), counts).nullish() : counts];
  });
  return z.object({
    ...Object.fromEntries(shapes),
    totalCleanRequestsLimit: integer,
    totalBillableRequests: integer,
  });
}

const overview = schemaOf();

export interface ShieldOverviewReading {
  readonly cleanRequestsLimit: number | null | undefined;
  readonly billableRequests: number | null | undefined;
  /** By the object of the API. */
  readonly windows: Readonly<Record<string, Counts | null | undefined>>;
  /** By the map of the API, the newest day first. */
  readonly days: Readonly<Record<string, ReturnType<typeof mapDays<Counts>>>>;
}

const { gauge, counter } = familiesOf<ShieldOverviewReading>('bunnynet_shield_overview');

/** The 28 days, the newest day and the counter of figures that differ by their labels. */
function windowed(
  name: string,
  words: string,
  of: readonly Figure[],
): readonly Family<ShieldOverviewReading>[] {
  const labels = Object.keys(of[0]?.labels ?? {});
  const unique = (names: readonly (string | undefined)[]) => [...new Set(names.filter(Boolean))].join(', ');
  const inWindows = `API fields ${unique(of.map(({ window }) => window))}`;
  const inDays = `API fields ${unique(of.map(({ days }) => days))}`;
  const rolling = ({ windows }: ShieldOverviewReading): readonly Sample[] =>
    of.flatMap(({ labels, window, field }) => {
      const value = windows[window]?.[field];
      return typeof value === 'number' ? [{ labels, value }] : [];
    });
  const byDay = ({ days }: ShieldOverviewReading): readonly CounterSample[] =>
    of.flatMap(({ labels, days: map = '', field }) => {
      const counted = figureByDay(days[map], (counts) => counts[field]);
      return counted ? [{ labels, days: counted }] : [];
    });
  return [
    gauge(
      `${name}_28d`,
      `${words} in the past 28 days, a rolling window that can fall: no rate() or increase() (${inWindows}).`,
      rolling,
      labels,
    ),
    gauge(
      `${name}_latest_day`,
      `${words} so far in the newest UTC day; falls back at midnight (${inDays}).`,
      (reading) => newestFigures(byDay(reading)),
      labels,
    ),
    counter(
      `${name}_total`,
      `${words} since the exporter first read the zone, added up by UTC days (${inDays}).`,
      byDay,
      labels,
    ),
  ];
}

export const shieldOverview = defineResource({
  kind: 'shield_overview',
  api: 'shield',
  reference: 'GET /shield/metrics/overview/{shieldZoneId}',
  noun: "Shield Zone's overview",
  section: 'shield_overview',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 300,
  fields: Object.keys(overview.shape),
  listing: zones,

  async read(get, ids, diagnostics): Promise<ShieldOverviewReading> {
    const body = await get(`/shield/metrics/overview/${ids['shield_zone_id']}`);
    const answer: Readonly<Record<string, unknown>> = readFields(overview, unwrapData(body), diagnostics);
    const maps = Object.keys(answer).filter((field) => field.endsWith('PastTwentyEightDays'));
    return {
      cleanRequestsLimit: answer['totalCleanRequestsLimit'] as number | null | undefined,
      billableRequests: answer['totalBillableRequests'] as number | null | undefined,
      windows: answer as ShieldOverviewReading['windows'],
      days: Object.fromEntries(
        maps.map((field) => [field, mapDays(answer[field] as DayMap | null | undefined, field, diagnostics)]),
      ),
    };
  },

  empty: {
    on: ['feature_not_available_on_plan'],
    reading: () => ({ cleanRequestsLimit: undefined, billableRequests: undefined, windows: {}, days: {} }),
  },

  families: [
    ...windowed('requests', 'Requests by the part of Shield and what it did with them', requests),
    ...windowed('events', 'What each part of Shield is summed up by', eventFigures),
    ...windowed('inspected_requests', 'Requests that API Guardian inspected', [inspected]),
    ...windowed('scanned_files', 'Files that were scanned when they were uploaded', [scanned]),
    gauge(
      'billable_requests',
      'Billable requests of this calendar month (API field totalBillableRequests).',
      ({ billableRequests }) => billableRequests ?? undefined,
    ),
    gauge(
      'clean_requests_limit',
      'Clean requests that the plan has for a month (API field totalCleanRequestsLimit).',
      ({ cleanRequestsLimit }) => cleanRequestsLimit ?? undefined,
    ),
  ],
});
