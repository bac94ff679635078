/** The exporter's own metrics: what it did, how it went, what it holds, and what its process takes. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { pollResults } from './api/errors.ts';
import type { Format } from './exposition/format.ts';
import { OwnText } from './exposition/own-text.ts';
import type { ApiCapacity } from './polling/capacity.ts';
import type { ListingSummary } from './polling/listing-summary.ts';
import type { PollObserver } from './polling/poller.ts';
import { type ApiName, isReadAlone, type Listing, type Resource } from './resources/resource.ts';
import { revision, version } from './version.ts';

/** What is counted at each scrape. */
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
  /**
   * Everything as text: the metrics of the process, which may be a second old, then the exporter's own. A part that did not
   * change is the same Buffer as before.
   */
  render(format: Format): Promise<readonly Buffer[]>;
}

/** The listing, and those that it needs. */
function* listingsWith(listing: Listing | undefined): Generator<Listing> {
  if (!listing) return;
  yield listing;
  yield* listingsWith(listing.parent);
  yield* listingsWith(listing.names);
}

/** A kind, and every listing that it can need. Fields are counted under the name of each. */
function partsOf(resource: Resource): readonly (Resource | Listing)[] {
  const partNames = isReadAlone(resource) ? resource.partNames : undefined;
  return [resource, ...listingsWith(resource.listing), ...listingsWith(partNames)];
}

/** Declares families in a registry, in the order of the page. */
function declareIn(registry: Registry) {
  const named = (name: string, labelNames: readonly string[], help: string) => ({
    name: `bunnynet_exporter_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: (...family: Parameters<typeof named>) => new Counter(named(...family)),
    gauge: (...family: Parameters<typeof named>) => new Gauge(named(...family)),
    durations: (...family: Parameters<typeof named>) =>
      new Histogram({ ...named(...family), buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] }),
  };
}

type Declare = ReturnType<typeof declareIn>;

/** Metrics of events, updated when something happens. */
function declareEvents({ counter, gauge, durations }: Declare) {
  return {
    build: gauge(
      'build_info',
      ['version', 'revision', 'node_version'],
      'Always 1; the version of the exporter, the commit that it was built from and the version of Node in its labels.',
    ),
    polls: counter(
      'polls_total',
      ['kind', 'result'],
      'Polls that ended, by how. A listing of Shield Zones is one poll.',
    ),
    pollDuration: durations(
      'poll_duration_seconds',
      ['kind'],
      'Duration of polls from the first request to the last, with retries and the waits between them.',
    ),
    requests: counter(
      'api_requests_total',
      ['api', 'code'],
      'Requests to the API, retries included, by HTTP status; timeout, network or schema where no answer was complete.',
    ),
    requestDuration: durations(
      'api_request_duration_seconds',
      ['api'],
      'Duration of requests to the API, to the last byte of the answer.',
    ),
    pausedUntil: gauge(
      'api_paused_until_timestamp_seconds',
      ['api'],
      'Until when a 429 of the API lets every request wait, as Unix time; 0 when there was none.',
    ),
    lag: gauge(
      'schedule_lag_seconds',
      ['kind'],
      'How late the latest poll started. It grows when the pace does not suffice for the targets.',
    ),
    mismatches: counter(
      'schema_mismatches_total',
      ['kind', 'field'],
      'Fields of answers that had the wrong type; their series were left out.',
    ),
    unrecognized: counter(
      'unrecognized_values_total',
      ['kind', 'field'],
      'Values of answers that the API reference does not list.',
    ),
    reloadSucceeded: gauge(
      'config_last_reload_successful',
      [],
      'Whether the last load of the configuration succeeded: 1 yes, 0 no (then the previous one is in use).',
    ),
    reloadSuccessTime: gauge(
      'config_last_reload_success_timestamp_seconds',
      [],
      'When the configuration was last loaded with success, as Unix time.',
    ),
    planned: gauge(
      'planned_requests_per_second',
      ['api'],
      'Requests a second that the polls and listings of an API need at their intervals, without retries.',
    ),
  };
}

type Events = ReturnType<typeof declareEvents>;

/** Which kinds and APIs have rows: only those that are on. */
class Rows {
  readonly #events: Events;
  kinds: ReadonlySet<string> = new Set();
  /** Those that are on, and those that their listings are named after. */
  named: ReadonlySet<string> = new Set();
  apis: ReadonlySet<ApiName> = new Set();

  constructor(events: Events) {
    this.#events = events;
  }

  /** Resolves once the rows of kinds and APIs that were turned off have left. */
  async follow(wanted: readonly Resource[]): Promise<void> {
    const { kinds, apis } = this;
    this.kinds = new Set(wanted.map(({ kind }) => kind));
    const parts = wanted.flatMap(partsOf);
    this.named = new Set(parts.map((part) => part.kind));
    this.apis = new Set(parts.map((part) => part.api));
    for (const resource of wanted) if (!kinds.has(resource.kind)) this.#begin(resource);
    for (const api of this.apis) if (!apis.has(api)) this.#beginApi(api);
    await this.#end();
  }

  /** Rows are present from the start at 0, so that increase() sees the first event. */
  #begin(resource: Resource): void {
    const { kind } = resource;
    const { mismatches, unrecognized, polls, pollDuration, lag } = this.#events;
    for (const { kind: name, fields, enumeratedFields = [] } of partsOf(resource)) {
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

  /** Removes the rows of kinds and APIs that are off; another reload can turn them on again meanwhile. */
  async #end(): Promise<void> {
    for (const metric of Object.values(this.#events)) {
      for (const { labels } of (await metric.get()).values) {
        // Removing a histogram removes its buckets.
        const { le: _, ...own } = labels as Record<string, string>;
        const kinds = own['field'] === undefined ? this.kinds : this.named;
        const apis: ReadonlySet<string> = this.apis;
        const isOn =
          (own['kind'] === undefined || kinds.has(own['kind'])) &&
          (own['api'] === undefined || apis.has(own['api']));
        if (!isOn) metric.remove(own);
      }
    }
  }
}

type Row = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Declares what is counted at each scrape. Returns what counts: it sets anew what has changed, and tells whether anything has. */
function declareCounts({ counter, gauge }: Declare, inventory: Inventory, on: Rows): () => boolean {
  const counts: { metric: Counter | Gauge; rows: () => readonly Row[]; text: string }[] = [];
  const count = (metric: Counter | Gauge, rows: () => readonly Row[]) => {
    counts.push({ metric, rows, text: '' });
  };
  const byKind = (name: string, help: string, figureOf: (kind: string) => number) =>
    count(gauge(name, ['kind'], help), () => Array.from(on.kinds, (kind) => [{ kind }, figureOf(kind)]));
  byKind('targets', 'Targets that are wanted.', inventory.targets);
  byKind(
    'stale_targets',
    'Targets whose values left the page, or never came, because no poll succeeded within stale_after.',
    inventory.staleTargets,
  );
  byKind('series', 'Series on the page.', inventory.series);
  byKind('series_dropped', 'Series that are left out because of limits.max_series.', inventory.droppedSeries);
  count(
    gauge(
      'refused_keys',
      ['api'],
      'Keys with which nothing of an API can be read: each answer is 401 or 403.',
    ),
    () => Array.from(on.apis, (api) => [{ api }, inventory.refusedKeys(api)]),
  );
  // By kind and credential; a listing that is gone has no series.
  for (const [name, help, figureOf] of discoveryFigures)
    count(gauge(`discovery_${name}`, ['kind', 'credential'], help), () =>
      inventory.listings().flatMap((summary): Row[] => {
        const { kind, credential } = summary;
        const value = figureOf(summary);
        return value === undefined ? [] : [[{ kind, credential }, value]];
      }),
    );
  count(
    counter(
      'log_lines_dropped_total',
      [],
      'Log lines that could not be written: the disk was full, or nobody read the pipe.',
    ),
    () => [[{}, inventory.droppedLogLines()]],
  );
  return () => {
    const changed = counts.filter((counted) => {
      const rows = counted.rows();
      const text = JSON.stringify(rows);
      if (text === counted.text) return false;
      counted.text = text;
      counted.metric.reset();
      for (const [labels, value] of rows) counted.metric.inc(labels, value);
      return true;
    });
    return changed.length > 0;
  };
}

let processMetrics: Registry | undefined;

/** One for the process: it watches the event loop and the garbage collections. */
function processRegistry(): Registry {
  if (processMetrics) return processMetrics;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Without the permission to read it, the value would be 0.
  const mayRead = (path: string) => process.permission?.has('fs.read', path) !== false;
  const unwanted = [
    // `promtool check metrics` rejects these.
    ...['handles', 'requests', 'resources'].flatMap((what) => [
      `nodejs_active_${what}`,
      `nodejs_active_${what}_total`,
    ]),
    ...(mayRead('/proc/self/fd') ? [] : ['process_open_fds']),
    ...(mayRead('/proc/self/status')
      ? []
      : ['process_resident_memory_bytes', 'process_virtual_memory_bytes', 'process_heap_bytes']),
  ];
  for (const name of unwanted) registry.removeSingleMetric(name);
  processMetrics = registry;
  return registry;
}

/** How old the metrics of the process may be. Servers that scrape together share one rendering. */
const processAgeMs = 1000;

/** kinds: those that are on; no other kind is named until `follow`. */
export function createTelemetry(kinds: readonly Resource[], inventory: Inventory): Telemetry {
  const registry = new Registry();
  const declare = declareIn(registry);
  const events = declareEvents(declare);
  const rows = new Rows(events);
  const count = declareCounts(declare, inventory, rows);
  events.build.set({ version, revision, node_version: process.versions.node }, 1);
  // Now, not at the first scrape: it counts from its creation.
  const ofProcess = processRegistry();
  const processText = new OwnText(() => ofProcess.metrics());
  let processAtMs = Number.NEGATIVE_INFINITY;
  const ownText = new OwnText(() => registry.metrics());
  let followed: Promise<void>;
  const follow = (wanted: readonly Resource[]) => {
    followed = rows.follow(wanted).then(() => ownText.outdate());
  };
  follow(kinds);

  /** Events of a kind that has just been turned off are dropped: its rows have left. */
  const update = (isOn: boolean, change: () => void) => {
    if (!isOn) return;
    change();
    ownText.outdate();
  };

  return {
    follow,
    requested: (api, code, durationSeconds) =>
      update(rows.apis.has(api), () => {
        events.requests.inc({ api, code });
        events.requestDuration.observe({ api }, durationSeconds);
      }),
    paused: (api, untilMs) =>
      update(rows.apis.has(api), () => events.pausedUntil.set({ api }, untilMs / 1000)),
    polled: (kind, result, durationSeconds) =>
      update(rows.kinds.has(kind), () => {
        events.polls.inc({ kind, result });
        events.pollDuration.observe({ kind }, durationSeconds);
      }),
    mismatched: (kind, field) => update(rows.named.has(kind), () => events.mismatches.inc({ kind, field })),
    unrecognized: (kind, field) =>
      update(rows.named.has(kind), () => events.unrecognized.inc({ kind, field })),
    planned: (capacities) =>
      update(true, () => {
        for (const api of rows.apis) {
          // An API that is no longer asked is back at 0.
          const needed = capacities.find((capacity) => capacity.api === api)?.neededPerSecond ?? 0;
          events.planned.set({ api }, needed);
        }
      }),
    started: (kind, lagSeconds) =>
      update(rows.kinds.has(kind), () => events.lag.set({ kind }, Math.max(0, lagSeconds))),
    reloaded: (succeeded, atMs) =>
      update(true, () => {
        events.reloadSucceeded.set(succeeded ? 1 : 0);
        if (succeeded) events.reloadSuccessTime.set(atMs / 1000);
      }),
    async render(format) {
      await followed;
      if (count()) ownText.outdate();
      const nowMs = performance.now();
      if (nowMs - processAtMs > processAgeMs) {
        processText.outdate();
        processAtMs = nowMs;
      }
      return Promise.all([processText.bytes(format), ownText.bytes(format)]);
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
