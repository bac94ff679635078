/** The exporter's own metrics: what it did, how it went, and what it holds. The only user of prom-client. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { pollResults } from './api/errors.ts';
import type { ApiCapacity } from './polling/capacity.ts';
import type { ListingSummary } from './polling/listing-summary.ts';
import type { PollObserver } from './polling/poller.ts';
import { type ApiName, isReadAlone, type Listing, type Resource } from './resources/resource.ts';
import { revision, version } from './version.ts';

/** What is counted at the time of a scrape. */
export interface Inventory {
  readonly targets: (kind: string) => number;
  readonly staleTargets: (kind: string) => number;
  readonly series: (kind: string) => number;
  readonly droppedSeries: (kind: string) => number;
  readonly listings: () => readonly ListingSummary[];
}

export interface Telemetry extends PollObserver {
  /** The kinds that are on from now: the rows of others leave, and those of new ones begin at 0. */
  follow(kinds: readonly Resource[]): Promise<void>;
  /** A request to an API, as the client tells of it. */
  requested(api: ApiName, code: string, durationSeconds: number): void;
  /** Until when an API is asked nothing (Unix time). */
  paused(api: ApiName, untilMs: number): void;
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
  /** What the polls of each API need. */
  planned(capacities: readonly ApiCapacity[]): void;
  /** atMs: Unix time of a load of the configuration. */
  reloaded(succeeded: boolean, atMs: number): void;
  /** The exposition of all of it. */
  render(format: 'text' | 'openmetrics'): Promise<string>;
}

/** `promtool check metrics` rejects these of prom-client's default metrics. */
const rejectedDefaults = [
  'nodejs_active_handles',
  'nodejs_active_requests',
  'nodejs_active_resources',
].flatMap((name) => [name, `${name}_total`]);

/** Looking at the process, its files and its heap takes longer than rendering all other metrics of the exporter. */
const processMaxAgeMs = 1000;

const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The listing, and those that it needs. */
function* listingsWith(listing: Listing | undefined): Generator<Listing> {
  if (!listing) return;
  yield listing;
  yield* listingsWith(listing.parent);
  yield* listingsWith(listing.names);
}

/** Every listing that a kind can need. */
function listingsOf(resource: Resource): readonly Listing[] {
  const partNames = isReadAlone(resource) ? resource.partNames : undefined;
  return [...listingsWith(resource.listing), ...listingsWith(partNames)];
}

interface Fields {
  readonly kind: string;
  readonly fields: readonly string[];
}

/** What of the answers can be counted by field: those of readings, and those of listings by the kinds they are named after. */
function fieldsOf(resource: Resource): readonly Fields[] {
  return [resource, ...listingsOf(resource)];
}

/** The APIs that the polls and the listings of these kinds ask. */
function apisOf(kinds: readonly Resource[]): ReadonlySet<ApiName> {
  return new Set(
    kinds.flatMap((resource) => [resource.api, ...listingsOf(resource).map((listing) => listing.api)]),
  );
}

/** These kinds, and those that their listings are named after: fields of both are counted. */
function namesOf(kinds: readonly Resource[]): ReadonlySet<string> {
  return new Set(kinds.flatMap((resource) => fieldsOf(resource).map(({ kind }) => kind)));
}

/** Takes away the rows with this value of a label. */
async function removeRows(
  metric: Counter<string> | Gauge<string>,
  label: string,
  value: string,
): Promise<void> {
  const { values } = await metric.get();
  for (const { labels } of values) if (labels[label] === value) metric.remove(labels);
}

function declareMetrics(registers: Registry[]) {
  const declare = <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) => ({
    name: `bunnynet_exporter_${name}`,
    help,
    labelNames,
    registers,
  });
  const durations = { buckets: durationBuckets };
  return {
    build: new Gauge(
      declare(
        'build_info',
        'Always 1; the version of the exporter, the commit that it was built from and the version of Node in its labels.',
        'version',
        'revision',
        'node_version',
      ),
    ),
    polls: new Counter(
      declare(
        'polls_total',
        'Polls that ended, by how. A listing of Shield Zones is one poll.',
        'kind',
        'result',
      ),
    ),
    pollDuration: new Histogram({
      ...declare(
        'poll_duration_seconds',
        'Duration of polls from the first request to the last, with retries and the waits between them.',
        'kind',
      ),
      ...durations,
    }),
    requests: new Counter(
      declare(
        'api_requests_total',
        'Requests to the API, retries included, by HTTP status; timeout, network or schema where no answer was complete.',
        'api',
        'code',
      ),
    ),
    requestDuration: new Histogram({
      ...declare(
        'api_request_duration_seconds',
        'Duration of requests to the API, to the last byte of the answer.',
        'api',
      ),
      ...durations,
    }),
    pausedUntil: new Gauge(
      declare(
        'api_paused_until_timestamp_seconds',
        'Until when a 429 of the API lets every request wait, as Unix time; 0 when there was none.',
        'api',
      ),
    ),
    lag: new Gauge(
      declare(
        'schedule_lag_seconds',
        'How late the latest poll started. It grows when the pace does not suffice for the targets.',
        'kind',
      ),
    ),
    mismatches: new Counter(
      declare(
        'schema_mismatches_total',
        'Fields of answers that had the wrong type; their series were left out.',
        'kind',
        'field',
      ),
    ),
    unrecognized: new Counter(
      declare(
        'unrecognized_values_total',
        'Values of answers that the API reference does not list.',
        'kind',
        'field',
      ),
    ),
    reloadSucceeded: new Gauge(
      declare(
        'config_last_reload_successful',
        'Whether the last load of the configuration succeeded: 1 yes, 0 no (then the previous one is in use).',
      ),
    ),
    reloadSuccessTime: new Gauge(
      declare(
        'config_last_reload_success_timestamp_seconds',
        'When the configuration was last loaded with success, as Unix time.',
      ),
    ),
    planned: new Gauge(
      declare(
        'planned_requests_per_second',
        'Requests a second that the polls and listings of an API need at their intervals, without retries.',
        'api',
      ),
    ),
  };
}

type Metrics = ReturnType<typeof declareMetrics>;

/** What is counted at the time of a scrape, for the kinds that are on then. */
function declareInventory(
  registers: Registry[],
  inventory: Inventory,
  kindsOn: () => readonly Resource[],
): void {
  const counts = [
    ['targets', 'Targets that are wanted.', inventory.targets],
    [
      'stale_targets',
      'Targets whose values left the page, or never came, for want of a good poll within stale_after.',
      inventory.staleTargets,
    ],
    ['series', 'Series on the page.', inventory.series],
    ['series_dropped', 'Series that are left out because of limits.max_series.', inventory.droppedSeries],
  ] as const;
  for (const [name, help, count] of counts) {
    new Gauge({
      name: `bunnynet_exporter_${name}`,
      help,
      labelNames: ['kind'],
      registers,
      collect() {
        this.reset();
        for (const { kind } of kindsOn()) this.set({ kind }, count(kind));
      },
    });
  }
}

/** Which kinds and APIs have rows: those that are on, and no others. */
class Rows {
  readonly #metrics: Metrics;
  kinds: readonly Resource[] = [];
  /** Those that are on, and those that their listings are named after. */
  named: ReadonlySet<string> = new Set();
  apis: ReadonlySet<ApiName> = new Set();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  isOn(kind: string): boolean {
    return this.kinds.some((resource) => resource.kind === kind);
  }

  async follow(wanted: readonly Resource[]): Promise<void> {
    const { kinds, named, apis } = this;
    this.kinds = wanted;
    this.named = namesOf(wanted);
    this.apis = apisOf(wanted);
    for (const resource of wanted) if (!kinds.includes(resource)) this.#begin(resource);
    for (const api of this.apis) if (!apis.has(api)) this.#beginApi(api);
    await Promise.all([
      ...kinds.filter(({ kind }) => !this.isOn(kind)).map(({ kind }) => this.#end(kind)),
      ...[...named].filter((kind) => !this.named.has(kind)).map((kind) => this.#endFields(kind)),
      ...[...apis].filter((api) => !this.apis.has(api)).map((api) => this.#endApi(api)),
    ]);
  }

  /** Rows are present from the start at 0, so that increase() sees the first event. */
  #begin(resource: Resource): void {
    const { kind, enumeratedFields } = resource;
    const { mismatches, unrecognized, polls, pollDuration, lag } = this.#metrics;
    for (const { kind: name, fields } of fieldsOf(resource))
      for (const field of fields) mismatches.inc({ kind: name, field }, 0);
    for (const field of enumeratedFields) unrecognized.inc({ kind, field }, 0);
    for (const result of pollResults) polls.inc({ kind, result }, 0);
    pollDuration.zero({ kind });
    lag.set({ kind }, 0);
  }

  async #end(kind: string): Promise<void> {
    this.#metrics.pollDuration.remove({ kind });
    this.#metrics.lag.remove({ kind });
    await removeRows(this.#metrics.polls, 'kind', kind);
  }

  async #endFields(kind: string): Promise<void> {
    const { mismatches, unrecognized } = this.#metrics;
    await Promise.all([removeRows(mismatches, 'kind', kind), removeRows(unrecognized, 'kind', kind)]);
  }

  #beginApi(api: ApiName): void {
    const { requests, requestDuration, pausedUntil, planned } = this.#metrics;
    requests.inc({ api, code: '200' }, 0);
    requestDuration.zero({ api });
    pausedUntil.set({ api }, 0);
    planned.set({ api }, 0);
  }

  async #endApi(api: ApiName): Promise<void> {
    const { requests, requestDuration, pausedUntil, planned } = this.#metrics;
    requestDuration.remove({ api });
    pausedUntil.remove({ api });
    planned.remove({ api });
    await removeRows(requests, 'api', api);
  }
}

/** kinds: those that are on; no other kind is named until `follow`. */
export function createTelemetry(kinds: readonly Resource[], inventory: Inventory): Telemetry {
  const registry = new Registry();
  const registers = [registry];
  const processMetrics = createProcessMetrics();
  const metrics = declareMetrics(registers);
  const rows = new Rows(metrics);
  declareInventory(registers, inventory, () => rows.kinds);
  const setDiscovery = createDiscoveryMetrics(registers);
  metrics.build.set({ version, revision, node_version: process.versions.node }, 1);
  void rows.follow(kinds);

  // What a poll of a kind that has just been turned off still tells is dropped: its rows have left.
  return {
    follow: (wanted) => rows.follow(wanted),
    requested(api, code, durationSeconds) {
      if (!rows.apis.has(api)) return;
      metrics.requests.inc({ api, code });
      metrics.requestDuration.observe({ api }, durationSeconds);
    },
    paused(api, untilMs) {
      if (rows.apis.has(api)) metrics.pausedUntil.set({ api }, untilMs / 1000);
    },
    polled(kind, result, durationSeconds) {
      if (!rows.isOn(kind)) return;
      metrics.polls.inc({ kind, result });
      metrics.pollDuration.observe({ kind }, durationSeconds);
    },
    mismatched(kind, field) {
      if (rows.named.has(kind)) metrics.mismatches.inc({ kind, field });
    },
    unrecognized(kind, field) {
      if (rows.named.has(kind)) metrics.unrecognized.inc({ kind, field });
    },
    planned(capacities) {
      // An API that nothing is asked of any more is at 0 again.
      for (const api of rows.apis) metrics.planned.set({ api }, 0);
      for (const { api, neededPerSecond } of capacities)
        if (rows.apis.has(api)) metrics.planned.set({ api }, neededPerSecond);
    },
    started(kind, lagSeconds) {
      if (rows.isOn(kind)) metrics.lag.set({ kind }, Math.max(0, lagSeconds));
    },
    reloaded(succeeded, atMs) {
      metrics.reloadSucceeded.set(succeeded ? 1 : 0);
      if (succeeded) metrics.reloadSuccessTime.set(atMs / 1000);
    },
    async render(format) {
      setDiscovery(inventory.listings());
      const parts = [await processMetrics(), await registry.metrics()];
      // prom-client parts families by an empty line, which OpenMetrics does not know.
      const text = parts.join('').replaceAll(/\n{2,}/g, '\n');
      return format === 'openmetrics' ? toOpenMetrics(text) : text;
    },
  };
}

type DiscoveryFigure = readonly [
  name: string,
  help: string,
  value: (summary: ListingSummary) => number | undefined,
];

const discoveryFigures: readonly DiscoveryFigure[] = [
  [
    'up',
    '1 when the last read of every listing succeeded, else 0.',
    ({ isUp }) => (isUp === undefined ? undefined : Number(isUp)),
  ],
  [
    'last_success_timestamp_seconds',
    'When the listing was last complete, as Unix time; of several listings (one for each zone or library) the oldest.',
    ({ lastSuccessMs }) => (lastSuccessMs === undefined ? undefined : lastSuccessMs / 1000),
  ],
  [
    'found_targets',
    'What the last complete listings have, including what the configuration leaves out.',
    ({ lastSuccessMs, found }) => (lastSuccessMs === undefined ? undefined : found),
  ],
  [
    'excluded_targets',
    'What the last complete listings have and the configuration leaves out (include, exclude).',
    ({ lastSuccessMs, excluded }) => (lastSuccessMs === undefined ? undefined : excluded),
  ],
  [
    'failing_listings',
    'Listings whose last read failed; what they found before stays.',
    ({ isUp, failing }) => (isUp === undefined ? undefined : failing),
  ],
];

/** The state of the listings by kind and credential; what is not listed any more has no series. */
function createDiscoveryMetrics(registers: Registry[]): (summaries: readonly ListingSummary[]) => void {
  const labelNames = ['kind', 'credential'] as const;
  const gauges = discoveryFigures.map(([figure, help, value]) => {
    const name = `bunnynet_exporter_discovery_${figure}`;
    return { gauge: new Gauge({ name, help, labelNames, registers }), value };
  });
  return (summaries) => {
    for (const { gauge, value } of gauges) {
      gauge.reset();
      for (const summary of summaries) {
        const given = value(summary);
        if (given !== undefined) gauge.set({ kind: summary.kind, credential: summary.credential }, given);
      }
    }
  };
}

/** prom-client's metrics of Node and the process; scrapes within a second of each other share one look. */
function createProcessMetrics(): () => Promise<string> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of rejectedDefaults) registry.removeSingleMetric(name);
  let text = Promise.resolve('');
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - lookedAtMs >= processMaxAgeMs) {
      lookedAtMs = performance.now();
      text = registry.metrics();
    }
    return text;
  };
}

/**
 * prom-client's text as OpenMetrics: a family is named less its `_total` or `_info`, has its unit, and the end is marked.
 * prom-client's own OpenMetrics mode renames its counters for good, which would spoil the next text page.
 */
function toOpenMetrics(text: string): string {
  const counters = new Set([...text.matchAll(/^# TYPE (\w+)_total counter$/gm)].map(([, name]) => name));
  const renamed = text.replaceAll(/^# (HELP|TYPE) (\w+)_total /gm, (line, keyword: string, name: string) =>
    counters.has(name) ? `# ${keyword} ${name} ` : line,
  );
  const typed = renamed
    .replaceAll(/^# (HELP|TYPE) (\w+)_info /gm, '# $1 $2 ')
    .replaceAll(/^# TYPE (bunnynet_exporter_build|nodejs_version) gauge$/gm, '# TYPE $1 info')
    .replaceAll(/^(# TYPE (\w+_(seconds|bytes)) \w+)$/gm, '$1\n# UNIT $2 $3');
  return `${typed}# EOF\n`;
}
