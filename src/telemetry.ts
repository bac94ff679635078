/** The exporter's own metrics: what it did, how it went, and what it holds. */
import { pollResults } from './api/errors.ts';
import type { Format } from './exposition/format.ts';
import { OwnFamily, type OwnHeader, OwnHistogram } from './exposition/own-family.ts';
import type { ApiCapacity } from './polling/capacity.ts';
import type { ListingSummary } from './polling/listing-summary.ts';
import type { PollObserver } from './polling/poller.ts';
import { createProcessMetrics, type ProcessMetricsChoice } from './process-metrics.ts';
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
  /** The kinds that are on from now: the rows of others leave, and those of new ones begin at 0. */
  follow(kinds: readonly Resource[]): void;
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
  /** The exposition of all of it, in parts; one whose bytes did not change is the same Buffer as before. */
  render(format: Format): Promise<readonly Buffer[]>;
}

/** Looking at the process and its heap takes longer than rendering all other metrics of the exporter. */
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
  readonly enumeratedFields?: readonly string[];
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

function header(name: string, type: OwnHeader['type'], help: string): OwnHeader {
  return { name: `bunnynet_exporter_${name}`, type, help };
}

const gauge = (name: string, help: string) => new OwnFamily(header(name, 'gauge', help));
const counter = (name: string, help: string) => new OwnFamily(header(name, 'counter', help));
const durations = (name: string, help: string) =>
  new OwnHistogram({ name: `bunnynet_exporter_${name}`, help }, durationBuckets);

/** What happens is written down when it happens. In the order of the page. */
function declareEvents() {
  return {
    build: new OwnFamily(
      header(
        'build_info',
        'info',
        'Always 1; the version of the exporter, the commit that it was built from and the version of Node in its labels.',
      ),
    ),
    polls: counter('polls_total', 'Polls that ended, by how. A listing of Shield Zones is one poll.'),
    pollDuration: durations(
      'poll_duration_seconds',
      'Duration of polls from the first request to the last, with retries and the waits between them.',
    ),
    requests: counter(
      'api_requests_total',
      'Requests to the API, retries included, by HTTP status; timeout, network or schema where no answer was complete.',
    ),
    requestDuration: durations(
      'api_request_duration_seconds',
      'Duration of requests to the API, to the last byte of the answer.',
    ),
    pausedUntil: gauge(
      'api_paused_until_timestamp_seconds',
      'Until when a 429 of the API lets every request wait, as Unix time; 0 when there was none.',
    ),
    lag: gauge(
      'schedule_lag_seconds',
      'How late the latest poll started. It grows when the pace does not suffice for the targets.',
    ),
    mismatches: counter(
      'schema_mismatches_total',
      'Fields of answers that had the wrong type; their series were left out.',
    ),
    unrecognized: counter(
      'unrecognized_values_total',
      'Values of answers that the API reference does not list.',
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
    ),
  };
}

type Events = ReturnType<typeof declareEvents>;

/** What is counted at the time of a scrape; the listings are those of that time. */
interface Count {
  readonly family: OwnFamily;
  readonly update: (family: OwnFamily, listings: readonly ListingSummary[]) => void;
}

function declareCounts(inventory: Inventory, rows: Pick<Rows, 'kinds' | 'apis'>): readonly Count[] {
  const byKind = (name: string, help: string, count: (kind: string) => number): Count => ({
    family: gauge(name, help),
    update(family) {
      const { kinds } = rows;
      family.remove(({ kind = '' }) => !kinds.has(kind));
      for (const kind of kinds) family.set({ kind }, count(kind));
    },
  });
  return [
    byKind('targets', 'Targets that are wanted.', inventory.targets),
    byKind(
      'stale_targets',
      'Targets whose values left the page, or never came, for want of a good poll within stale_after.',
      inventory.staleTargets,
    ),
    byKind('series', 'Series on the page.', inventory.series),
    byKind(
      'series_dropped',
      'Series that are left out because of limits.max_series.',
      inventory.droppedSeries,
    ),
    {
      family: gauge(
        'refused_keys',
        'Keys with which nothing of an API can be read: each answer is 401 or 403.',
      ),
      update(family) {
        const apis: ReadonlySet<string> = rows.apis;
        family.remove(({ api = '' }) => !apis.has(api));
        for (const api of rows.apis) family.set({ api }, inventory.refusedKeys(api));
      },
    },
    {
      family: counter(
        'log_lines_dropped_total',
        'Log lines that could not be written: the disk was full, or nobody read the pipe.',
      ),
      update: (family) => family.set({}, inventory.droppedLogLines()),
    },
    // By kind and credential; what is not listed any more has no series.
    ...discoveryFigures.map(([name, help, value]) => ({
      family: gauge(`discovery_${name}`, help),
      update(family: OwnFamily, listings: readonly ListingSummary[]) {
        family.remove();
        for (const summary of listings) {
          const { kind, credential } = summary;
          const given = value(summary);
          if (given !== undefined) family.set({ kind, credential }, given);
        }
      },
    })),
  ];
}

/** Which kinds and APIs have rows: those that are on, and no others. */
class Rows {
  readonly #events: Events;
  kinds: ReadonlySet<string> = new Set();
  /** Those that are on, and those that their listings are named after. */
  named: ReadonlySet<string> = new Set();
  apis: ReadonlySet<ApiName> = new Set();

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
    this.#end();
  }

  /** Rows are present from the start at 0, so that increase() sees the first event. */
  #begin(resource: Resource): void {
    const { kind } = resource;
    const { mismatches, unrecognized, polls, pollDuration, lag } = this.#events;
    for (const { kind: name, fields, enumeratedFields = [] } of fieldsOf(resource)) {
      for (const field of fields) mismatches.begin({ kind: name, field });
      for (const field of enumeratedFields) unrecognized.begin({ kind: name, field });
    }
    for (const result of pollResults) polls.begin({ kind, result });
    pollDuration.begin({ kind });
    lag.begin({ kind });
  }

  #beginApi(api: ApiName): void {
    const { requests, requestDuration, pausedUntil, planned } = this.#events;
    requests.begin({ api, code: '200' });
    requestDuration.begin({ api });
    pausedUntil.begin({ api });
    planned.begin({ api });
  }

  /** Takes away the rows of what is off. */
  #end(): void {
    const { polls, pollDuration, lag, mismatches, unrecognized } = this.#events;
    const { requests, requestDuration, pausedUntil, planned } = this.#events;
    for (const family of [polls, pollDuration, lag]) family.remove(({ kind = '' }) => !this.kinds.has(kind));
    for (const family of [mismatches, unrecognized]) family.remove(({ kind = '' }) => !this.named.has(kind));
    const apis: ReadonlySet<string> = this.apis;
    for (const family of [requests, requestDuration, pausedUntil, planned])
      family.remove(({ api = '' }) => !apis.has(api));
  }
}

/** kinds: those that are on; no other kind is named until `follow`. */
export function createTelemetry(
  kinds: readonly Resource[],
  inventory: Inventory,
  processMetricsChoice: ProcessMetricsChoice = 'basic',
): Telemetry {
  const processMetrics = createProcessMetrics(processMetricsChoice);
  const events = declareEvents();
  const rows = new Rows(events);
  const counts = declareCounts(inventory, rows);
  const families: readonly OwnFamily[] = [...Object.values(events), ...counts.map(({ family }) => family)];
  events.build.set({ version, revision, node_version: process.versions.node }, 1);
  rows.follow(kinds);

  const steady = keptByFormat((format) => {
    const listings = inventory.listings();
    for (const { family, update } of counts) update(family, listings);
    return families.map((family) => family.render(format));
  });
  const ofProcess = keptByFormat(async (format) => [await (await processMetrics)(format)], processMaxAgeMs);

  // What a poll of a kind that has just been turned off still tells is dropped: its rows have left.
  return {
    follow: (wanted) => rows.follow(wanted),
    requested(api, code, durationSeconds) {
      if (!rows.apis.has(api)) return;
      events.requests.add({ api, code }, 1);
      events.requestDuration.observe({ api }, durationSeconds);
    },
    paused(api, untilMs) {
      if (rows.apis.has(api)) events.pausedUntil.set({ api }, untilMs / 1000);
    },
    polled(kind, result, durationSeconds) {
      if (!rows.kinds.has(kind)) return;
      events.polls.add({ kind, result }, 1);
      events.pollDuration.observe({ kind }, durationSeconds);
    },
    mismatched(kind, field) {
      if (rows.named.has(kind)) events.mismatches.add({ kind, field }, 1);
    },
    unrecognized(kind, field) {
      if (rows.named.has(kind)) events.unrecognized.add({ kind, field }, 1);
    },
    planned(capacities) {
      for (const api of rows.apis) {
        // An API that nothing is asked of any more is at 0 again.
        const needed = capacities.find((capacity) => capacity.api === api)?.neededPerSecond ?? 0;
        events.planned.set({ api }, needed);
      }
    },
    started(kind, lagSeconds) {
      if (rows.kinds.has(kind)) events.lag.set({ kind }, Math.max(0, lagSeconds));
    },
    reloaded(succeeded, atMs) {
      events.reloadSucceeded.set({}, succeeded ? 1 : 0);
      if (succeeded) events.reloadSuccessTime.set({}, atMs / 1000);
    },
    render: async (format) => [await ofProcess(format), await steady(format)],
  };
}

type Texts = readonly string[];

interface Rendered {
  readonly texts: Texts;
  readonly bytes: Buffer;
}

/** Gives the same Buffer while the texts are the same, and does not look again before `maxAgeMs`. */
function keptByFormat(render: (format: Format) => Texts | Promise<Texts>, maxAgeMs = 0) {
  const kept = new Map<Format, { readonly rendered: Promise<Rendered>; readonly atMs: number }>();
  const renderAnew = async (format: Format, before: Promise<Rendered> | undefined): Promise<Rendered> => {
    const [texts, known] = [await render(format), await before?.catch(() => undefined)];
    const isSame = known?.texts.every((text, i) => text === texts[i]);
    return known && isSame ? known : { texts, bytes: Buffer.from(texts.join('')) };
  };
  return async (format: Format): Promise<Buffer> => {
    const known = kept.get(format);
    const atMs = performance.now();
    const isFresh = known !== undefined && atMs - known.atMs < maxAgeMs;
    const rendered = isFresh ? known.rendered : renderAnew(format, known?.rendered);
    if (!isFresh) kept.set(format, { rendered, atMs });
    return (await rendered).bytes;
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
