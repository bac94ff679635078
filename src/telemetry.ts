/** The exporter's own metrics, and those of its process. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type PollResult, pollResults } from './api/errors.ts';

import type { Format, Header } from './exposition/format.ts';
import { OwnFamilies, type OwnFamily, type OwnRow } from './exposition/own-families.ts';
import type { Store } from './exposition/store.ts';
import type { AccountState, TargetCounts } from './polling/accounts.ts';
import type { ListingSummary } from './polling/listing-summary.ts';
import type { Overview } from './polling/overview.ts';
import { isFoundKey } from './polling/spec.ts';
import { type ApiName, operationsOf, type Resource } from './resources/resource.ts';
import { revision, version } from './version.ts';

/** What is read at each scrape. */
export interface Inventory {
  /** Another object once something has changed, the series of the store included. */
  readonly overview: () => Pick<Overview, 'counts' | 'summaries' | 'accountsAt' | 'health' | 'capacities'>;
  readonly store: Pick<Store, 'series'>;
  /** loadedAtMs: the last success (Unix time); refused: set if a later load failed. Another object once it has changed. */
  readonly configuration: () => { readonly loadedAtMs: number; readonly refused: object | undefined };
  /** The keys that an API has paused; an empty credential stands for the API as a whole. untilMs: Unix time. */
  readonly pauses: () => readonly {
    readonly api: ApiName;
    readonly credential: string;
    readonly untilMs: number;
  }[];
  /** Since the start. */
  readonly droppedLogLines: () => number;
  /** When the oldest counter began; undefined where nothing is counted. Unix time. */
  readonly countingSinceMs: () => number | undefined;
  /** When the state was last written; undefined before the first write. Undefined where counters are not kept. Unix time. */
  readonly state: (() => number | undefined) | undefined;
  /** Unix time. */
  readonly now: () => number;
}

export type Telemetry = ReturnType<typeof createTelemetry>;

const prefix = 'bunnynet_exporter_';

/** The version of the exporter, as a family that is always 1. */
export const buildInfo = {
  name: `${prefix}build_info`,
  type: 'info',
  help: 'Always 1; the version of the exporter, the commit that it was built from and the version of Node in its labels.',
  labels: { version, revision, node_version: process.versions.node },
} as const;

/** Declares families in a registry, in the order of the page. */
function declareIn(registry: Registry) {
  const named = (name: string, labelNames: readonly string[], help: string) => ({
    name: prefix + name,
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

/** Metrics of events, updated when something happens. */
function declareEvents({ counter, gauge, durations }: ReturnType<typeof declareIn>) {
  return {
    build: gauge('build_info', Object.keys(buildInfo.labels), buildInfo.help),
    polls: counter(
      'polls_total',
      ['kind', 'result'],
      'Polls by kind and result. A listing that feeds many targets is one poll.',
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
    lag: gauge(
      'schedule_lag_seconds',
      ['kind'],
      'Delay of the latest poll against its schedule. It grows when the request rate is too low for the number of targets.',
    ),
    mismatches: counter(
      'schema_mismatches_total',
      ['kind', 'field'],
      'Fields of the wrong type in answers; their series are left out. No series before the first.',
    ),
    unrecognized: counter(
      'unrecognized_values_total',
      ['kind', 'field'],
      'Values in answers that the API reference does not list. No series before the first.',
    ),
  };
}

/** A family that is read at each scrape. */
interface Count {
  readonly name: string;
  readonly help: string;
  readonly type?: Header['type'];
  readonly read: (now: Reading) => readonly OwnRow[];
}

/** What a scrape reads once. */
interface Reading extends ReturnType<Inventory['overview']> {
  readonly accounts: readonly AccountState[];
}

/** By kind. */
type PollDurations = ReadonlyMap<string, { readonly sumSeconds: number; readonly count: number }>;

/** The kinds that are on, and the APIs that they use. */
interface On {
  kinds: readonly string[];
  apis: readonly ApiName[];
}

/** Declares what is read at each scrape. Returns a function that reads it. */
function declareCounts(inventory: Inventory, on: On, durations: PollDurations): () => readonly OwnFamily[] {
  const single = (name: string, help: string, figure: () => number): Count => ({
    name,
    help,
    read: () => [{ value: figure() }],
  });
  const byKind = (name: string, help: string, figureOf: (kind: string, now: Reading) => number): Count => ({
    name,
    help,
    read: (now) => on.kinds.map((kind) => ({ labels: { kind }, value: figureOf(kind, now) })),
  });
  const isOn = ({ kind }: { readonly kind: string }) => on.kinds.includes(kind);
  /** Of each account of which a kind has targets, or lists them. */
  const byAccount = (name: string, help: string, figureOf: (counts: TargetCounts) => number): Count => ({
    name,
    help,
    read: ({ counts, summaries }) => {
      const none = { targets: 0, stale: 0, failing: new Map<string, number>() };
      const listed = summaries.filter(isOn).map(({ kind, account }) => ({ ...none, kind, account }));
      const known = new Set(counts.map(({ kind, account }) => `${kind} ${account}`));
      const all = [
        ...counts.filter(isOn),
        ...listed.filter(({ kind, account }) => !known.has(`${kind} ${account}`)),
      ];
      return all.map((each) => ({
        labels: { kind: each.kind, account: each.account },
        value: figureOf(each),
      }));
    },
  });
  const byApi = (name: string, help: string, figureOf: (api: ApiName, now: Reading) => number): Count => ({
    name,
    help,
    read: (now) => on.apis.map((api) => ({ labels: { api }, value: figureOf(api, now) })),
  });
  /** A listing that is gone has no series. */
  const byListing = (
    name: string,
    help: string,
    figureOf: (summary: ListingSummary) => number | undefined,
  ): Count => ({
    name: `discovery_${name}`,
    help,
    read: ({ summaries }) =>
      summaries.flatMap((summary): OwnRow[] => {
        const { kind, account } = summary;
        const value = figureOf(summary);
        return value === undefined ? [] : [{ labels: { kind, account }, value }];
      }),
  });
  const all: readonly Count[] = [
    {
      name: 'poll_duration_seconds',
      type: 'summary',
      help: 'Duration of polls from the first request to the last, retries and waits included.',
      read: () =>
        Array.from(durations, ([kind, { sumSeconds, count }]) => [
          { suffix: '_sum', labels: { kind }, value: sumSeconds },
          { suffix: '_count', labels: { kind }, value: count },
        ]).flat(),
    },
    single(
      'config_last_reload_successful',
      'Whether the last load of the configuration succeeded: 1 yes, 0 no (then the previous one is in use).',
      () => (inventory.configuration().refused ? 0 : 1),
    ),
    single(
      'config_last_reload_success_timestamp_seconds',
      'When the configuration was last loaded with success, as Unix time.',
      () => inventory.configuration().loadedAtMs / 1000,
    ),
    {
      name: 'counting_since_timestamp_seconds',
      help: 'When the oldest counter began that sums days, as Unix time; with state.file that can be before the start of the exporter. No series before the first reading.',
      read: () => timestampRow(inventory.countingSinceMs()),
    },
    {
      name: 'state_last_write_timestamp_seconds',
      help: 'When the counters were last written to state.file, as Unix time. No series without that file, and before the first time.',
      read: () => timestampRow(inventory.state?.()),
    },
    byApi(
      'planned_requests_per_second',
      'Requests a second that the polls and listings of an API need at their intervals, without retries.',
      (api, { capacities }) => capacities.find((capacity) => capacity.api === api)?.neededPerSecond ?? 0,
    ),
    byAccount('targets', 'Targets that are polled.', ({ targets }) => targets),
    byAccount(
      'stale_targets',
      'Targets without values on the page because no poll succeeded within stale_after.',
      ({ stale }) => stale,
    ),
    {
      name: 'failing_targets',
      help: 'Targets whose last poll failed, by its result. No series where none did.',
      read: ({ counts }) =>
        counts
          .filter(isOn)
          .flatMap(({ kind, account, failing }) =>
            Array.from(failing, ([result, value]) => ({ labels: { kind, account, result }, value })),
          ),
    },
    {
      name: 'account_unreadable',
      help: '1 while nothing of the account is read with its key although something is due; else 0. The reason is the commonest result of what failed since, or late where nothing failed.',
      read: ({ accounts }) =>
        accounts.map(({ account, unreadable }) => ({
          labels: { account, reason: unreadable ?? '' },
          value: Number(unreadable !== undefined),
        })),
    },
    byKind('series', 'Series on the page.', (kind) => inventory.store.series(kind)),
    {
      name: 'refused_keys',
      help: '1 while the API answers the key with 401 and nothing of it was read with it since, else 0. A key that came with a listing has a series only while it is refused.',
      read: ({ health }) =>
        on.apis.flatMap((api) =>
          Array.from(health.apis.get(api)?.keys ?? [], ([credential, { account, state }]) => ({
            labels: { api, credential, account },
            value: Number(state === 'refused'),
          })).filter(({ labels, value }) => value === 1 || !isFoundKey(labels.credential)),
        ),
    },
    {
      name: 'api_paused_until_timestamp_seconds',
      help: 'End of the pause of a key after a 429, as Unix time; 0 without a pause. Without a credential: of the API as a whole. A key that came with a listing has a series only while it is paused.',
      read: ({ health }) => {
        const pauses = inventory.pauses();
        return on.apis.flatMap((api) => {
          const known = [...(health.apis.get(api)?.keys.keys() ?? [])];
          const configured = known.filter((credential) => !isFoundKey(credential));
          const untilMs = new Map(['', ...configured].map((credential) => [credential, 0]));
          for (const pause of pauses) if (pause.api === api) untilMs.set(pause.credential, pause.untilMs);
          return Array.from(untilMs, ([credential, ms]) => ({
            labels: { api, credential },
            value: Math.round(ms / 1000),
          }));
        });
      },
    },
    byApi(
      'api_unreadable',
      '1 while the API is down: nothing that was asked since its last answer got one, and not because one operation fails; else 0.',
      (api, { health }) => Number(health.apis.get(api)?.state === 'down'),
    ),
    byListing('up', '1 when the last read of every listing succeeded, else 0.', ({ isUp }) =>
      isUp === undefined ? undefined : Number(isUp),
    ),
    byListing(
      'last_success_timestamp_seconds',
      'When the listing was last complete, as Unix time; of several listings (one for each zone or library) the oldest.',
      ({ lastSuccessMs }) => (lastSuccessMs === undefined ? undefined : lastSuccessMs / 1000),
    ),
    byListing(
      'found_targets',
      'Targets in the last complete listings, including those that the configuration excludes.',
      ({ isKnown, found }) => (isKnown ? found : undefined),
    ),
    byListing(
      'excluded_targets',
      'Targets in the last complete listings that the configuration excludes (include, exclude).',
      ({ isKnown, excluded }) => (isKnown ? excluded : undefined),
    ),
    byListing(
      'failing_listings',
      'Listings whose last read failed; the targets they found before stay.',
      ({ isUp, failing }) => (isUp === undefined ? undefined : failing),
    ),
    {
      ...single(
        'log_lines_dropped_total',
        'Log lines that could not be written: the disk was full, or nobody read the pipe.',
        () => inventory.droppedLogLines(),
      ),
      type: 'counter',
    },
  ];
  return () => {
    const overview = inventory.overview();
    const nowMs = inventory.now();
    const now = { ...overview, accounts: overview.accountsAt(nowMs) };
    return all.map(({ name, help, type = 'gauge', read }) => ({
      name: prefix + name,
      help,
      type,
      rows: read(now),
    }));
  };
}

/** A row with a Unix time in seconds; none where there is no time. */
function timestampRow(ms: number | undefined): readonly OwnRow[] {
  return ms === undefined ? [] : [{ value: ms / 1000 }];
}

/** What prom-client gives. Its declaration says that the type is a number, and knows no `metricName`. */
interface JsonFamily extends Header {
  readonly values: readonly (Omit<OwnRow, 'suffix'> & { readonly metricName?: string })[];
}

async function familiesOf(registry: Registry): Promise<readonly OwnFamily[]> {
  const families = (await registry.getMetricsAsJSON()) as unknown as readonly JsonFamily[];
  return families.map(({ name, help, type, values }) => ({
    name,
    help,
    type: name.endsWith('_info') ? 'info' : type,
    rows: values.map(({ metricName = name, ...row }) => ({ ...row, suffix: metricName.slice(name.length) })),
  }));
}

let processMetrics: Registry | undefined;

/** How often prom-client measures the delay of the event loop: as rarely as it can, because that wakes an idle process. */
const neverMs = 2 ** 31 - 1;

/** There is one for the process: it watches the garbage collections. */
function processRegistry(): Registry {
  if (processMetrics) return processMetrics;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  // Without the permission to read it, the value would be 0.
  const mayRead = (path: string) => process.permission?.has('fs.read', path) !== false;
  const unwanted = [
    // `promtool check metrics` rejects these.
    ...['handles', 'requests', 'resources'].flatMap((what) => [
      `nodejs_active_${what}`,
      `nodejs_active_${what}_total`,
    ]),
    ...['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
      (figure) => `nodejs_eventloop_lag_${figure}_seconds`,
    ),
    // Nine spaces: `nodejs_heap_size_*_bytes` has their sums.
    ...['total', 'used', 'available'].map((figure) => `nodejs_heap_space_size_${figure}_bytes`),
    ...(mayRead('/proc/self/fd') ? [] : ['process_open_fds']),
    ...(mayRead('/proc/self/status')
      ? []
      : ['process_resident_memory_bytes', 'process_virtual_memory_bytes', 'process_heap_bytes']),
  ];
  for (const name of unwanted) registry.removeSingleMetric(name);
  processMetrics = registry;
  return registry;
}

/** How old a rendering may be of what changes with time alone. Servers that scrape together share one. */
const maxAgeMs = 1000;

/** kinds: those that are on; no other kind is named until `follow`. */
export function createTelemetry(kinds: readonly Resource[], inventory: Inventory) {
  const registry = new Registry();
  const events = declareEvents(declareIn(registry));
  const on: On = { kinds: [], apis: [] };
  const durations = new Map<string, { sumSeconds: number; count: number }>();
  events.build.set(buildInfo.labels, 1);
  // Now, not at the first scrape: it counts from its creation.
  const ofProcess = processRegistry();
  const processFamilies = new OwnFamilies(() => familiesOf(ofProcess));
  let renderedAtMs = Number.NEGATIVE_INFINITY;
  const eventFamilies = new OwnFamilies(() => familiesOf(registry));
  const countFamilies = new OwnFamilies(declareCounts(inventory, on, durations));
  /** What they were counted from. */
  let counted: readonly unknown[] = [];
  /** The APIs that have their first rows. */
  const begun = new Set<ApiName>();
  const beginApi = (api: ApiName) => {
    events.requests.inc({ api, code: '200' }, 0);
    events.requestDuration.zero({ api });
    begun.add(api);
  };

  /** Sets the kinds that are on. The rows of new ones begin at 0; the counters of others stay as they are. */
  const follow = (wanted: readonly Resource[]) => {
    const apis = new Set(wanted.flatMap(operationsOf).map(({ api }) => api));
    const kindsOn = wanted.map(({ kind }) => kind);
    // Rows are present from the start at 0, so that increase() sees the first event. Not those of fields: they are many, and
    // nearly all stay at 0.
    for (const kind of kindsOn) for (const result of pollResults) events.polls.inc({ kind, result }, 0);
    for (const api of apis) if (!begun.has(api)) beginApi(api);
    // A kind that is off has no lag.
    for (const kind of on.kinds) if (!kindsOn.includes(kind)) events.lag.remove({ kind });
    for (const kind of kindsOn) events.lag.inc({ kind }, 0);
    on.kinds = kindsOn;
    on.apis = [...apis];
    eventFamilies.outdate();
    countFamilies.outdate();
  };
  follow(kinds);

  return {
    follow,
    requested(api: ApiName, code: string, durationSeconds: number) {
      events.requests.inc({ api, code });
      events.requestDuration.observe({ api }, durationSeconds);
      eventFamilies.outdate();
    },
    polled(kind: string, result: PollResult, durationSeconds: number) {
      events.polls.inc({ kind, result });
      const { sumSeconds, count } = durations.get(kind) ?? { sumSeconds: 0, count: 0 };
      durations.set(kind, { sumSeconds: sumSeconds + durationSeconds, count: count + 1 });
      eventFamilies.outdate();
      countFamilies.outdate();
    },
    mismatched(kind: string, field: string) {
      events.mismatches.inc({ kind, field });
      eventFamilies.outdate();
    },
    unrecognized(kind: string, field: string) {
      events.unrecognized.inc({ kind, field });
      eventFamilies.outdate();
    },
    started(kind: string, lagSeconds: number) {
      // While a kind is being turned off, its last polls may still start.
      if (!on.kinds.includes(kind)) return;
      events.lag.set({ kind }, Math.max(0, lagSeconds));
      eventFamilies.outdate();
    },
    /**
     * The metrics of the process, which may be a second old, those of events, and what is counted now. Unchanged, a part is the
     * same Buffer.
     */
    async render(format: Format): Promise<readonly Buffer[]> {
      const nowMs = performance.now();
      if (nowMs - renderedAtMs > maxAgeMs) {
        processFamilies.outdate();
        countFamilies.outdate();
        renderedAtMs = nowMs;
      }
      const now = [inventory.overview(), inventory.configuration(), inventory.droppedLogLines()];
      if (now.some((one, at) => one !== counted[at])) countFamilies.outdate();
      counted = now;
      return Promise.all(
        [processFamilies, eventFamilies, countFamilies].map((families) => families.bytes(format)),
      );
    },
  };
}
