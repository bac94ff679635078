/** The usage summary of a Magic Containers application (`/apps/{appId}/summary`). */
import * as z from 'zod';
import { defineListing, defineResource } from '../define.ts';
import { gauge, label, shown, states } from '../families.ts';
import {
  divided,
  entriesOf,
  type FieldType,
  gigabytes,
  mapped,
  number,
  object,
  textId,
  type ValueOf,
} from '../fields.ts';
import type { TargetContext } from '../resource.ts';
import { parseChartKey } from '../times.ts';

/** What the API calls ApplicationStatus. */
const applicationStates = ['unknown', 'active', 'progressing', 'inactive', 'failing', 'suspended'] as const;

const maxChartPoints = 100;

/** The setting of every kind that has latencies of applications. */
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

type LatencyTarget = TargetContext<z.output<z.ZodObject<typeof latencySettings>>>;
type Target = TargetContext<z.output<z.ZodObject<typeof settings>>>;

const converted = '(%s, converted by the setting latency_unit)';

function inSeconds(latency: number, { settings: { latency_unit } }: LatencyTarget): number {
  return latency_unit === 'seconds' ? latency : divided(latency, 1000);
}

/** A latency in the unit that the configuration says. */
export function latency(name: string, words: string, type = number): FieldType<number> {
  return shown(type, { name, words: `${words} ${converted}`, series: inSeconds });
}

/** The entries of a chart, newest first. Those whose keys are no instants come last, at minus infinity. */
const points = mapped(entriesOf(number), (entries, notes) => {
  const all: { readonly key: string; readonly atSeconds: number; readonly latency: number }[] = [];
  for (const [key, value] of entries) {
    const atSeconds = parseChartKey(key)?.atSeconds ?? Number.NEGATIVE_INFINITY;
    if (!Number.isFinite(atSeconds)) notes.badKey('an instant');
    if (value !== undefined) all.push({ key, atSeconds, latency: value });
  }
  return all.sort((a, b) => b.atSeconds - a.atSeconds || (a.key > b.key ? -1 : 1));
});
type Points = ValueOf<typeof points>;

/** The newest entry, if the configuration asks for it and its key is an instant. */
function latest([newest]: Points, { settings: { latency_chart } }: Target): Points[number] | undefined {
  return latency_chart === 'latest' && newest && Number.isFinite(newest.atSeconds) ? newest : undefined;
}

const latencyChart = shown(
  points,
  {
    name: 'latency_chart_points',
    words: 'Number of entries of the latency chart',
    series: (all, target: Target) => (target.settings.latency_chart === 'off' ? undefined : all.length),
  },
  {
    name: 'latency_chart_latest_seconds',
    words: `Latency of the newest entry of the chart ${converted}`,
    series(all, target: Target) {
      const newest = latest(all, target);
      return newest && inSeconds(newest.latency, target);
    },
  },
  {
    name: 'latency_chart_latest_timestamp_seconds',
    words: 'Time of the newest entry of the chart, as Unix time',
    series: (all, target: Target) => latest(all, target)?.atSeconds,
  },
  {
    name: 'latency_chart_seconds',
    words: 'Latency of each chart entry, at most the 100 newest; only with the setting latency_chart: points',
    labels: ['key'],
    series: (all, target: Target) =>
      target.settings.latency_chart === 'points'
        ? all
            .slice(0, maxChartPoints)
            .map(({ key, latency }) => ({ labels: { key }, value: inSeconds(latency, target) }))
        : [],
  },
);

const summary = object({
  status: states(
    'status',
    'ApplicationStatus (%s): 1 for the state that the application is in, 0 for the others',
    applicationStates,
  ),
  averageLatency: latency('average_latency_seconds', 'Average latency'),
  currentLatency: latency('current_latency_seconds', 'Current latency'),
  totalVolumeSizeInGb: gauge('volume_size_bytes', 'Size of all volumes (%s, times 1e9)', gigabytes),
  monthlyCost: gauge('monthly_cost_dollars', 'Monthly cost in US dollars'),
  latencyChart,
});

export const applications = defineListing({
  kind: 'application',
  product: 'Magic Containers',
  optionalProduct: 'api',
  api: 'application',
  nouns: 'applications',
  path: '/apps',
  element: object({ id: textId, name: label('name') }).ignoring(
    'description displayEndpoint{id address type} status',
  ),
  ids: [{ label: 'app_id', setting: 'id', form: 'opaque' }],
});

export const application = defineResource({
  kind: 'application',
  noun: 'application',
  section: 'applications',
  defaultIntervalSeconds: 60,
  settings,
  listing: applications,
  condition: {
    states: {
      failing: 'bad',
      suspended: 'bad',
      unknown: 'warn',
      progressing: 'idle',
      inactive: 'idle',
      active: 'ok',
    },
    stateOf: ({ status }) => status,
  },
  answer: summary,
  info: 'The name of the application, from the configuration or else from the API',
  path: '/apps/{appId}/summary',
});
