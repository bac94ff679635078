/** The exporter's own metrics: what it did, how it went, what it holds, and what its process takes. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { pollResults } from './api/errors.ts';
import type { Format } from './exposition/format.ts';
import { keptByFormat } from './exposition/own-text.ts';
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
  readonly refusedKeys: (api: ApiName) => number;
  /** Since the start. */
  readonly droppedLogLines: () => number;
}

export interface Telemetry extends PollObserver {
  /** Sets the kinds that are on: the rows of others leave, and those of new ones begin at 0. */
  follow(kinds: readonly Resource[]): void;
  /** A request to an API has ended. */
  requested(api: ApiName, code: string, durationSeconds: number): void;
  /** An API is paused until then (Unix time). */
  paused(api: ApiName, untilMs: number): void;
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
  /** What the polls of each API need. */
  planned(capacities: readonly ApiCapacity[]): void;
  /** The configuration was loaded. atMs: Unix time. */
  reloaded(succeeded: boolean, atMs: number): void;
  /** Everything as text, in parts. A part that did not change is the same Buffer as before. */
  render(format: Format): Promise<readonly Buffer[]>;
}

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
  readonly enumeratedFields?: readonly string[];
}

/** The fields that can be counted: those of readings, and those of listings under the kinds they are named after. */
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

type Metric = Counter | Gauge | Histogram;

/** Declares families in a registry, in the order of the page. */
function declareIn(registry: Registry) {
  const named = (name: string, help: string, labelNames: readonly string[]) => ({
    name: `bunnynet_exporter_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: (name: string, help: string, ...labels: readonly string[]) =>
      new Counter(named(name, help, labels)),
    gauge: (name: string, help: string, ...labels: readonly string[]) => new Gauge(named(name, help, labels)),
    durations: (name: string, help: string, ...labels: readonly string[]) =>
      new Histogram({ ...named(name, help, labels), buckets: durationBuckets }),
    /** Set anew for each page. */
    count: (name: string, help: string, labels: readonly string[], set: (gauge: Gauge) => void) =>
      new Gauge({
        ...named(name, help, labels),
        collect() {
          this.reset();
          set(this);
        },
      }),
  };
}

type Declare = ReturnType<typeof declareIn>;

/** Metrics of events, updated when something happens. */
function declareEvents({ counter, gauge, durations }: Declare) {
  return {
    build: gauge(
      'build_info',
      'Always 1; the version of the exporter, the commit that it was built from and the version of Node in its labels.',
      'version',
      'revision',
      'node_version',
    ),
    polls: counter(
      'polls_total',
      'Polls that ended, by how. A listing of Shield Zones is one poll.',
      'kind',
      'result',
    ),
    pollDuration: durations(
      'poll_duration_seconds',
      'Duration of polls from the first request to the last, with retries and the waits between them.',
      'kind',
    ),
    requests: counter(
      'api_requests_total',
      'Requests to the API, retries included, by HTTP status; timeout, network or schema where no answer was complete.',
      'api',
      'code',
    ),
    requestDuration: durations(
      'api_request_duration_seconds',
      'Duration of requests to the API, to the last byte of the answer.',
      'api',
    ),
    pausedUntil: gauge(
      'api_paused_until_timestamp_seconds',
      'Until when a 429 of the API lets every request wait, as Unix time; 0 when there was none.',
      'api',
    ),
    lag: gauge(
      'schedule_lag_seconds',
      'How late the latest poll started. It grows when the pace does not suffice for the targets.',
      'kind',
    ),
    mismatches: counter(
      'schema_mismatches_total',
      'Fields of answers that had the wrong type; their series were left out.',
      'kind',
      'field',
    ),
    unrecognized: counter(
      'unrecognized_values_total',
      'Values of answers that the API reference does not list.',
      'kind',
      'field',
    ),
    reloadSucceeded: gauge(
      'config_last_reload_successful',
      'Whether the last load of the configuration succeeded: 1 yes, 0 no (then the previous one is in use).',
    ),
    reloadSuccessTime: gauge(
      'config_last_reload_success_timestamp_seconds',
      'When the configuration was last loaded with success, as Unix time.',
    ),
    planned: gauge(
      'planned_requests_per_second',
      'Requests a second that the polls and listings of an API need at their intervals, without retries.',
      'api',
    ),
  };
}

type Events = ReturnType<typeof declareEvents>;

function declareCounts({ count }: Declare, inventory: Inventory, rows: Pick<Rows, 'kinds' | 'apis'>): void {
  const byKind = (name: string, help: string, figureOf: (kind: string) => number) =>
    count(name, help, ['kind'], (gauge) => {
      for (const kind of rows.kinds) gauge.set({ kind }, figureOf(kind));
    });
  byKind('targets', 'Targets that are wanted.', inventory.targets);
  byKind(
    'stale_targets',
    'Targets whose values left the page, or never came, for want of a good poll within stale_after.',
    inventory.staleTargets,
  );
  byKind('series', 'Series on the page.', inventory.series);
  byKind('series_dropped', 'Series that are left out because of limits.max_series.', inventory.droppedSeries);
  count(
    'refused_keys',
    'Keys with which nothing of an API can be read: each answer is 401 or 403.',
    ['api'],
    (gauge) => {
      for (const api of rows.apis) gauge.set({ api }, inventory.refusedKeys(api));
    },
  );
  // By kind and credential; a listing that is gone has no series.
  for (const [name, help, figureOf] of discoveryFigures) {
    count(`discovery_${name}`, help, ['kind', 'credential'], (gauge) => {
      for (const summary of inventory.listings()) {
        const { kind, credential } = summary;
        const value = figureOf(summary);
        if (value !== undefined) gauge.set({ kind, credential }, value);
      }
    });
  }
}

/** Which kinds and APIs have rows: only those that are on. */
class Rows {
  readonly #events: Events;
  kinds: ReadonlySet<string> = new Set();
  /** Those that are on, and those that their listings are named after. */
  named: ReadonlySet<string> = new Set();
  apis: ReadonlySet<ApiName> = new Set();
  /** Resolves once the rows of kinds that were turned off have left. */
  settled: Promise<unknown> = Promise.resolve();

  constructor(events: Events) {
    this.#events = events;
  }

  follow(wanted: readonly Resource[]): void {
    const { kinds, apis } = this;
    this.kinds = new Set(wanted.map(({ kind }) => kind));
    this.named = namesOf(wanted);
    this.apis = apisOf(wanted);
    for (const resource of wanted) if (!kinds.has(resource.kind)) this.#begin(resource);
    for (const api of this.apis) if (!apis.has(api)) this.#beginApi(api);
    this.settled = this.#end();
  }

  /** Rows are present from the start at 0, so that increase() sees the first event. */
  #begin(resource: Resource): void {
    const { kind } = resource;
    const { mismatches, unrecognized, polls, pollDuration, lag } = this.#events;
    for (const { kind: name, fields, enumeratedFields = [] } of fieldsOf(resource)) {
      for (const field of fields) mismatches.inc({ kind: name, field }, 0);
      for (const field of enumeratedFields) unrecognized.inc({ kind: name, field }, 0);
    }
    for (const result of pollResults) polls.inc({ kind, result }, 0);
    pollDuration.zero({ kind });
    lag.set({ kind }, 0);
  }

  #beginApi(api: ApiName): void {
    const { requests, requestDuration, pausedUntil, planned } = this.#events;
    requests.inc({ api, code: '200' }, 0);
    requestDuration.zero({ api });
    pausedUntil.set({ api }, 0);
    planned.set({ api }, 0);
  }

  /** Removes the rows of kinds and APIs that are off. */
  async #end(): Promise<void> {
    const { polls, pollDuration, lag, mismatches, unrecognized } = this.#events;
    const { requests, requestDuration, pausedUntil, planned } = this.#events;
    const keepRows = async (label: string, wanted: ReadonlySet<unknown>, metrics: readonly Metric[]) => {
      for (const metric of metrics)
        for (const { labels } of (await metric.get()).values) {
          // Removing a histogram removes its buckets.
          const { le: _, ...own } = labels as Record<string, string>;
          if (!wanted.has(own[label])) metric.remove(own);
        }
    };
    await keepRows('kind', this.kinds, [polls, pollDuration, lag]);
    await keepRows('kind', this.named, [mismatches, unrecognized]);
    await keepRows('api', this.apis, [requests, requestDuration, pausedUntil, planned]);
  }
}

let ofProcess: Registry | undefined;

/** One for the process: it watches the event loop and the garbage collections. */
function processRegistry(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  // `promtool check metrics` rejects these.
  for (const name of ['nodejs_active_handles', 'nodejs_active_requests', 'nodejs_active_resources'])
    for (const suffix of ['', '_total']) ofProcess.removeSingleMetric(`${name}${suffix}`);
  // Without the permission to read it, the value would be 0.
  const mayRead = (path: string) => process.permission?.has('fs.read', path) !== false;
  if (!mayRead('/proc/self/fd')) ofProcess.removeSingleMetric('process_open_fds');
  if (!mayRead('/proc/self/status'))
    for (const name of [
      'process_resident_memory_bytes',
      'process_virtual_memory_bytes',
      'process_heap_bytes',
    ])
      ofProcess.removeSingleMetric(name);
  return ofProcess;
}

/** kinds: those that are on; no other kind is named until `follow`. */
export function createTelemetry(kinds: readonly Resource[], inventory: Inventory): Telemetry {
  const registry = new Registry();
  const declare = declareIn(registry);
  const events = declareEvents(declare);
  const rows = new Rows(events);
  declareCounts(declare, inventory, rows);
  new Counter({
    name: 'bunnynet_exporter_log_lines_dropped_total',
    help: 'Log lines that could not be written: the disk was full, or nobody read the pipe.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(inventory.droppedLogLines());
    },
  });
  events.build.set({ version, revision, node_version: process.versions.node }, 1);
  rows.follow(kinds);
  const parts = [processRegistry(), registry].map((each) => keptByFormat(() => each.metrics()));

  // Events of a kind that has just been turned off are dropped: its rows have left.
  return {
    follow: (wanted) => rows.follow(wanted),
    requested(api, code, durationSeconds) {
      if (!rows.apis.has(api)) return;
      events.requests.inc({ api, code });
      events.requestDuration.observe({ api }, durationSeconds);
    },
    paused(api, untilMs) {
      if (rows.apis.has(api)) events.pausedUntil.set({ api }, untilMs / 1000);
    },
    polled(kind, result, durationSeconds) {
      if (!rows.kinds.has(kind)) return;
      events.polls.inc({ kind, result });
      events.pollDuration.observe({ kind }, durationSeconds);
    },
    mismatched(kind, field) {
      if (rows.named.has(kind)) events.mismatches.inc({ kind, field });
    },
    unrecognized(kind, field) {
      if (rows.named.has(kind)) events.unrecognized.inc({ kind, field });
    },
    planned(capacities) {
      for (const api of rows.apis) {
        // An API that is no longer asked is back at 0.
        const needed = capacities.find((capacity) => capacity.api === api)?.neededPerSecond ?? 0;
        events.planned.set({ api }, needed);
      }
    },
    started(kind, lagSeconds) {
      if (rows.kinds.has(kind)) events.lag.set({ kind }, Math.max(0, lagSeconds));
    },
    reloaded(succeeded, atMs) {
      events.reloadSucceeded.set(succeeded ? 1 : 0);
      if (succeeded) events.reloadSuccessTime.set(atMs / 1000);
    },
    async render(format) {
      await rows.settled;
      return Promise.all(parts.map((part) => part(format)));
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
