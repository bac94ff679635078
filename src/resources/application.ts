/** The usage summary of a Magic Containers application (reference 4.1, 2.1, 3). */
import * as z from 'zod';
import {
  divided,
  type Entries,
  entriesOf,
  number,
  object,
  parseChartKey,
  readFields,
  text,
  type ValueOf,
} from './fields.ts';
import { cursorPageFields, mapEach, readCursorPages } from './pages.ts';
import { type Diagnostics, defineResource, familiesOf, type Listing } from './resource.ts';

/** ApplicationStatus (reference 3), matched without regard to case. */
export const applicationStates = [
  'unknown',
  'active',
  'progressing',
  'inactive',
  'failing',
  'suspended',
] as const;

const statusLabels = applicationStates.map((status) => Object.freeze({ status }));

const maxChartPoints = 100;

const summary = object({
  averageLatency: number,
  currentLatency: number,
  totalVolumeSizeInGb: number,
  monthlyCost: number,
  latencyChart: entriesOf(number),
  status: text,
});

interface Chart {
  readonly entries: Entries<number>;
  /** How many of them have a number. */
  readonly points: number;
  /** The newest of those, where a key is an instant. */
  readonly newest: { readonly atSeconds: number; readonly latency: number } | undefined;
}

export interface ApplicationReading extends Omit<ValueOf<typeof summary>, 'status' | 'latencyChart'> {
  readonly state: (typeof applicationStates)[number] | undefined;
  readonly chart: Chart | undefined;
}

/** The setting that every kind with a latency of applications has. */
export const latencySettings = {
  latency_unit: z
    .enum(['milliseconds', 'seconds'])
    .default('milliseconds')
    .describe('The unit of the latencies that the API reports'),
};

const settings = {
  ...latencySettings,
  latency_chart: z
    .enum(['latest', 'points', 'off'])
    .default('latest')
    .describe('What is exported of latencyChart: its newest entry, every entry (at most 100), or nothing'),
};
type Settings = z.output<z.ZodObject<typeof settings>>;
export type LatencySettings = z.output<z.ZodObject<typeof latencySettings>>;

/** In one pass, for of nearly every chart the newest entry alone is wanted. */
function readChart(entries: Entries<number>, diagnostics: Diagnostics): Chart {
  let points = 0;
  let newestAt = Number.NEGATIVE_INFINITY;
  let newestKey = '';
  let latency: number | undefined;
  for (const [key, value] of entries) {
    const atSeconds = parseChartKey(key);
    if (atSeconds === undefined) diagnostics.mismatch('latencyChart', 'an instant as key', 'another text');
    if (value === undefined) continue;
    points++;
    if (atSeconds === undefined || !isNewer(atSeconds, key, newestAt, newestKey)) continue;
    newestAt = atSeconds;
    newestKey = key;
    latency = value;
  }
  return { entries, points, newest: latency === undefined ? undefined : { atSeconds: newestAt, latency } };
}

/** Of two keys for one instant, or for none (minus infinity), the one that comes later in the alphabet counts as newer. */
function isNewer(atSeconds: number, key: string, thanSeconds: number, thanKey: string): boolean {
  return atSeconds > thanSeconds || (atSeconds === thanSeconds && key > thanKey);
}

/** The keys and latencies of the newest entries, the newest first; keys that are no instants come last. */
function newestPoints({ entries }: Chart): readonly { key: string; latency: number }[] {
  return entries
    .flatMap(([key, latency]) => {
      const atSeconds = parseChartKey(key) ?? Number.NEGATIVE_INFINITY;
      return latency === undefined ? [] : [{ key, atSeconds, latency }];
    })
    .sort((a, b) => (isNewer(a.atSeconds, a.key, b.atSeconds, b.key) ? -1 : 1))
    .slice(0, maxChartPoints);
}

export function inSeconds(
  latency: number | null | undefined,
  { latency_unit }: LatencySettings,
): number | undefined {
  return latency_unit === 'seconds' ? (latency ?? undefined) : divided(latency, 1000);
}

/** The newest entry of the chart, where the chart is on and its keys are instants. */
function latestPoint({ chart }: ApplicationReading, { latency_chart }: Settings): Chart['newest'] {
  return latency_chart === 'latest' ? chart?.newest : undefined;
}

const { gauge, info } = familiesOf<ApplicationReading, Settings>('bunnynet_application');

const listedApplication = object({ id: text, name: text });

/** Every application of an account. */
export const applications: Listing = {
  kind: 'application',
  api: 'application',
  nouns: 'applications',
  fields: [...listedApplication.names, ...cursorPageFields],
  async discover(get, _parent, diagnostics) {
    const found = await readCursorPages(
      { path: '/apps', nouns: 'applications', perPage: 1000, element: listedApplication, identifier: 'id' },
      get,
      diagnostics,
    );
    return mapEach(found, ([id, { name }]) => ({ ids: { app_id: id }, name: name ?? undefined }));
  },
};

export const application = defineResource({
  kind: 'application',
  api: 'application',
  reference: '4.1',
  noun: 'application',
  section: 'applications',
  ids: [{ label: 'app_id', setting: 'id', form: 'opaque' }],
  defaultIntervalSeconds: 60,
  settings,
  fields: summary.names,
  listing: applications,
  enumeratedFields: ['status'],
  condition: {
    states: {
      failing: 'bad',
      suspended: 'bad',
      unknown: 'warn',
      progressing: 'idle',
      inactive: 'idle',
      active: 'ok',
    },
    of: ({ state }) => state,
  },

  async read(get, ids, diagnostics): Promise<ApplicationReading> {
    const body = await get(`/apps/${encodeURIComponent(ids['app_id'] ?? '')}/summary`);
    const { status, latencyChart, ...rest } = readFields(summary, body, diagnostics);
    const state = applicationStates.find((known) => known === status?.toLowerCase());
    const given = typeof status === 'string';
    if (given && state === undefined) diagnostics.unrecognized('status');
    return {
      ...rest,
      state: state ?? (given ? 'unknown' : undefined),
      chart: latencyChart ? readChart(latencyChart, diagnostics) : undefined,
    };
  },

  families: [
    info(
      'The name of the application, from the configuration or else from the API.',
      ['name'],
      (_, { name }) => ({ name }),
    ),
    gauge(
      'status',
      'ApplicationStatus (API field status): 1 for the state that the application is in, 0 for the others.',
      ({ state }) =>
        state && statusLabels.map((labels) => ({ labels, value: labels.status === state ? 1 : 0 })),
      ['status'],
    ),
    gauge(
      'average_latency_seconds',
      'Average latency (API field averageLatency, converted by the setting latency_unit).',
      (reading, { settings }) => inSeconds(reading.averageLatency, settings),
    ),
    gauge(
      'current_latency_seconds',
      'Current latency (API field currentLatency, converted by the setting latency_unit).',
      (reading, { settings }) => inSeconds(reading.currentLatency, settings),
    ),
    gauge(
      'volume_size_bytes',
      'Size of all volumes (API field totalVolumeSizeInGb, times 1e9).',
      ({ totalVolumeSizeInGb: gigabytes }) =>
        typeof gigabytes === 'number' ? Math.round(gigabytes * 1e9) : undefined,
    ),
    gauge(
      'monthly_cost',
      'Monthly cost in US dollars (API field monthlyCost).',
      ({ monthlyCost }) => monthlyCost ?? undefined,
    ),
    gauge(
      'latency_chart_points',
      'Number of entries of the latency chart (API field latencyChart).',
      ({ chart }, { settings }) => (settings.latency_chart === 'off' ? undefined : chart?.points),
    ),
    gauge(
      'latency_chart_latest_seconds',
      'Latency of the newest entry of the chart (API field latencyChart, converted by the setting latency_unit).',
      (reading, { settings }) => inSeconds(latestPoint(reading, settings)?.latency, settings),
    ),
    gauge(
      'latency_chart_latest_timestamp_seconds',
      'Time of the newest entry of the chart, as Unix time (API field latencyChart).',
      (reading, { settings }) => latestPoint(reading, settings)?.atSeconds,
    ),
    gauge(
      'latency_chart_seconds',
      'Latency of each entry of the chart, at most the 100 newest, with the setting latency_chart: points (API field latencyChart).',
      ({ chart }, { settings }) =>
        settings.latency_chart === 'points' && chart
          ? newestPoints(chart).map(({ key, latency }) => ({
              labels: { key },
              value: inSeconds(latency, settings) ?? latency,
            }))
          : undefined,
      ['key'],
    ),
  ],
});
