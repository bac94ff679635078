/** What every protection of a Shield Zone has done over the past 28 days (`/shield/metrics/overview/{zone}`). */

import { familiesOf } from './by-hand.ts';
import { newestFigures } from './daily.ts';
import { type Day, figureByDay, mapDays } from './days.ts';
import { entriesOf, integer, object, readFields, unwrapData, type ValueOf } from './fields.ts';
import { type CounterSample, defineResource, type Family } from './resource.ts';
import { zones } from './shield-zone.ts';

/** Every figure that one of the protections has; none has all of them. */
const figures = object({
  dDoSMitigated: integer,
  wafTriggeredRules: integer,
  ratelimitBreaches: integer,
  botDetectionChallenged: integer,
  accessListActions: integer,
  uploadScanningBlocks: integer,
  apiGuardianBlocks: integer,
  blockedRequests: integer,
  loggedRequests: integer,
  challengedRequests: integer,
  verifiedRequests: integer,
  blockedBreaches: integer,
  loggedBreaches: integer,
  challengedBreaches: integer,
  filesScanned: integer,
  rateLimited: integer,
  requestsInspected: integer,
  failedRequestValidation: integer,
  failedAuthenticationEnforcement: integer,
});
type Figures = ValueOf<typeof figures>;

/** The fields of 28 days, each with the field that has the same by days. The WAF alone has no such field. */
const dayFields = {
  overview: 'overviewPastTwentyEightDays',
  waf: undefined,
  dDoS: 'dDoSOverviewPastTwentyEightDays',
  ratelimit: 'ratelimitOverviewPastTwentyEightDays',
  botDetection: 'botDetectionOverviewPastTwentyEightDays',
  accessList: 'accessListOverviewPastTwentyEightDays',
  uploadScanning: 'uploadScanningOverviewPastTwentyEightDays',
  apiGuardian: 'apiGuardianOverviewPastTwentyEightDays',
} as const;
type Source = keyof typeof dayFields;
const sources = Object.keys(dayFields) as Source[];

const window = figures;
const byDay = entriesOf(window);

const metrics = object({
  overview: window,
  overviewPastTwentyEightDays: byDay,
  waf: window,
  dDoS: window,
  dDoSOverviewPastTwentyEightDays: byDay,
  ratelimit: window,
  ratelimitOverviewPastTwentyEightDays: byDay,
  botDetection: window,
  botDetectionOverviewPastTwentyEightDays: byDay,
  accessList: window,
  accessListOverviewPastTwentyEightDays: byDay,
  uploadScanning: window,
  uploadScanningOverviewPastTwentyEightDays: byDay,
  apiGuardian: window,
  apiGuardianOverviewPastTwentyEightDays: byDay,
  totalCleanRequestsLimit: integer,
  totalBillableRequests: integer,
});

interface Protection {
  readonly window: Figures | null | undefined;
  /** The newest first. */
  readonly days: readonly Day<Figures>[] | undefined;
}

export interface ShieldOverviewReading extends Partial<Readonly<Record<Source, Protection>>> {
  readonly totalCleanRequestsLimit?: number | null | undefined;
  readonly totalBillableRequests?: number | null | undefined;
}

/** Where one series of a family is in an answer. */
interface Part {
  readonly labels?: Readonly<Record<string, string>>;
  readonly source: Source;
  readonly figure: keyof Figures;
}

const { gauge, counter } = familiesOf<ShieldOverviewReading>('bunnynet_shield_overview');

/** The 28 days, the newest day and the counter of a figure. words: as a HELP begins. */
function windowed(
  name: string,
  words: string,
  parts: readonly Part[],
): readonly Family<ShieldOverviewReading>[] {
  const labels = Object.keys(parts[0]?.labels ?? {});
  const fields = [...new Set(parts.map(({ source }) => source))];
  const from = `API fields ${fields.join(', ')}`;
  const fromDays = `API fields ${fields.flatMap((source) => dayFields[source] ?? []).join(', ')}`;
  const series = (reading: ShieldOverviewReading): readonly CounterSample[] =>
    parts.flatMap(({ labels: own, source, figure }) => {
      const days = figureByDay(reading[source]?.days, (given) => given[figure]);
      return days ? [{ ...(own && { labels: own }), days }] : [];
    });
  return [
    gauge(
      `${name}_28d`,
      `${words} in the past 28 days, a rolling window that can fall: no rate() or increase() (${from}).`,
      (reading) =>
        parts.flatMap(({ labels: own, source, figure }) => {
          const value = reading[source]?.window?.[figure];
          return typeof value === 'number' ? [{ ...(own && { labels: own }), value }] : [];
        }),
      labels,
    ),
    gauge(
      `${name}_latest_day`,
      `${words} so far in the newest UTC day; falls back at midnight (${fromDays}).`,
      (reading) => newestFigures(series(reading)),
      labels,
    ),
    counter(
      `${name}_total`,
      `${words} since the exporter first read the zone, added up by UTC days (${fromDays}).`,
      series,
      labels,
    ),
  ];
}

function byAction(category: string, source: Source, actions: Readonly<Record<string, keyof Figures>>) {
  return Object.entries(actions).map(
    ([action, figure]): Part => ({ labels: { category, action }, source, figure }),
  );
}

function ofCategory(category: string, figure: keyof Figures): Part {
  return { labels: { category }, source: 'overview', figure };
}

const requestActions = {
  blocked: 'blockedRequests',
  logged: 'loggedRequests',
  challenged: 'challengedRequests',
} as const;

export const shieldOverview = defineResource({
  kind: 'shield_overview',
  api: 'shield',
  reference: 'GET /shield/metrics/overview/{shieldZoneId}',
  noun: "zone's protections",
  section: 'shield_overview',
  ids: [{ label: 'shield_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 300,
  fields: metrics.names,
  listing: zones,

  async read(get, ids, diagnostics): Promise<ShieldOverviewReading> {
    const body = await get(`/shield/metrics/overview/${ids['shield_zone_id']}`);
    const answer = readFields(metrics, unwrapData(body), diagnostics);
    const protections = sources.map((source): [Source, Protection] => {
      const field = dayFields[source];
      return [source, { window: answer[source], days: field && mapDays(answer[field], field, diagnostics) }];
    });
    const { totalCleanRequestsLimit, totalBillableRequests } = answer;
    return { ...Object.fromEntries(protections), totalCleanRequestsLimit, totalBillableRequests };
  },

  empty: { on: ['feature_not_available_on_plan'], reading: () => ({}) },

  families: [
    ...windowed('events', 'What each protection counts as its own: rules triggered, breaches, blocks', [
      ofCategory('waf', 'wafTriggeredRules'),
      ofCategory('ddos', 'dDoSMitigated'),
      ofCategory('rate_limit', 'ratelimitBreaches'),
      ofCategory('bot_detection', 'botDetectionChallenged'),
      ofCategory('access_list', 'accessListActions'),
      ofCategory('upload_scanning', 'uploadScanningBlocks'),
      ofCategory('api_guardian', 'apiGuardianBlocks'),
    ]),
    ...windowed('requests', 'Requests by the protection that acted on them and by its action', [
      ...byAction('waf', 'waf', requestActions),
      ...byAction('ddos', 'dDoS', { ...requestActions, verified: 'verifiedRequests' }),
      ...byAction('rate_limit', 'ratelimit', {
        blocked: 'blockedBreaches',
        logged: 'loggedBreaches',
        challenged: 'challengedBreaches',
      }),
      ...byAction('bot_detection', 'botDetection', {
        logged: 'loggedRequests',
        challenged: 'challengedRequests',
      }),
      ...byAction('access_list', 'accessList', requestActions),
      ...byAction('upload_scanning', 'uploadScanning', {
        blocked: 'blockedRequests',
        logged: 'loggedRequests',
      }),
      ...byAction('api_guardian', 'apiGuardian', {
        blocked: 'blockedRequests',
        logged: 'loggedRequests',
        rate_limited: 'rateLimited',
      }),
    ]),
    ...windowed('scanned_files', 'Uploaded files that were scanned', [
      { source: 'uploadScanning', figure: 'filesScanned' },
    ]),
    ...windowed('inspected_requests', 'Requests that API Guardian inspected', [
      { source: 'apiGuardian', figure: 'requestsInspected' },
    ]),
    ...windowed('failed_requests', 'Requests that failed a check of API Guardian', [
      { labels: { check: 'validation' }, source: 'apiGuardian', figure: 'failedRequestValidation' },
      {
        labels: { check: 'authentication' },
        source: 'apiGuardian',
        figure: 'failedAuthenticationEnforcement',
      },
    ]),
    gauge(
      'monthly_billable_requests',
      'Requests of this calendar month that are billed; falls back at its end (API field totalBillableRequests).',
      ({ totalBillableRequests: requests }) => requests ?? undefined,
    ),
    gauge(
      'clean_requests_limit',
      'Clean requests that the plan of the zone includes in a month (API field totalCleanRequestsLimit).',
      ({ totalCleanRequestsLimit: requests }) => requests ?? undefined,
    ),
    gauge(
      'latest_day_timestamp_seconds',
      'Start of the newest UTC day, as Unix time (newest key of the API field overviewPastTwentyEightDays).',
      (reading) => reading.overview?.days?.[0]?.startSeconds,
    ),
  ],
});
