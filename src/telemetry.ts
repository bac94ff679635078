/** The exporter's own metrics, and those of its process. */
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  Registry,
  Summary,
  type SummaryConfiguration,
} from 'prom-client';
import { type PollResult, pollResults } from './api/errors.ts';
import type { StateWrites } from './counting/state-keeper.ts';
import {
  type Format,
  type Header,
  type Labels,
  renderHeader,
  renderLabels,
  renderRow,
} from './exposition/format.ts';
import type { Store } from './exposition/store.ts';
import { accountReasons } from './polling/account-health.ts';
import { failingReason } from './polling/health.ts';
import type { Overview } from './polling/overview.ts';
import { isFoundKey } from './polling/spec.ts';
import type { ListedTally, Tally } from './polling/tally.ts';
import { type ApiName, operationsOf, type Resource } from './resources/resource.ts';
import type { SameKey } from './secrets/same-keys.ts';
import { revision, version } from './version.ts';

/** What an API has paused with a 429: a kind with a key; without a kind the key; without a credential the API as a whole. */
export interface Paused {
  readonly api: ApiName;
  readonly credential: string;
  readonly kind: string;
  /** Unix time. */
  readonly untilMs: number;
}

/** What is read at each scrape. */
export interface Inventory {
  /** Another object once something has changed. */
  readonly overview: () => Pick<Overview, 'tallies' | 'health' | 'capacities' | 'countingSinceMs'>;
  readonly store: Pick<Store, 'series'>;
  /** loadedAtMs: the last success (Unix time); refused: set if a later load failed. Another object once it has changed. */
  readonly configuration: () => { readonly loadedAtMs: number; readonly refused: object | undefined };
  readonly pauses: () => readonly Paused[];
  /** The names of the accounts of the configuration. */
  readonly accounts: () => readonly string[];
  /** Those that are not read, because they have the key of another one. */
  readonly sameKeys: () => readonly SameKey[];
  /** Since the start. */
  readonly droppedLogLines: () => number;
  /** How the writes of the state go. Undefined where counters are not kept. */
  readonly state: (() => StateWrites | undefined) | undefined;
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

/** A series of a family that is read at each scrape. */
interface Row {
  readonly labels?: Labels;
  readonly value: number;
}

/** A gauge whose rows are read at each scrape. With `collect`, prom-client would file each row by its labels, and take it out at once. */
class ReadGauge extends Gauge {
  readonly #read: () => readonly Row[];

  constructor(family: GaugeConfiguration<string>, read: () => readonly Row[]) {
    super(family);
    this.#read = read;
  }

  override async get() {
    const values: { labels: Labels; value: number }[] = [];
    for (const { labels = {}, value } of this.#read()) values.push({ labels, value });
    return { ...(await super.get()), values };
  }
}

interface SumsRow {
  readonly metricName: string;
  readonly labels: Labels;
  value: number;
}

/** A summary of the sum and the count alone. prom-client's own sorts what it observed at each scrape, also where it shows no quantile. */
class Sums extends Summary {
  readonly #name: string;
  readonly #rows = new Map<string, readonly [sum: SumsRow, count: SumsRow]>();

  constructor(family: SummaryConfiguration<string>) {
    super(family);
    this.#name = family.name;
  }

  add(kind: string, value: number): void {
    const row = (suffix: string) => ({ metricName: this.#name + suffix, labels: { kind }, value: 0 });
    const [sum, count] = this.#rows.get(kind) ?? [row('_sum'), row('_count')];
    sum.value += value;
    count.value++;
    this.#rows.set(kind, [sum, count]);
  }

  override async get() {
    return { ...(await super.get()), values: [...this.#rows.values()].flat() };
  }
}

/** Declares families in a registry, in the order of the page. */
function declareIn(registry: Registry) {
  const named = (name: string, labelNames: readonly string[], help: string) => ({
    name: prefix + name,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    named,
    counter: (...family: Parameters<typeof named>) => new Counter(named(...family)),
    gauge: (...family: Parameters<typeof named>) => new Gauge(named(...family)),
    durations: (...family: Parameters<typeof named>) =>
      new Histogram({ ...named(...family), buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] }),
  };
}

/** Metrics of events, updated when something happens. */
function declareEvents({ named, counter, gauge, durations }: ReturnType<typeof declareIn>) {
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
      'Requests to the API, retries included, by HTTP status; timeout, network or schema where no answer was complete, aborted where it was not waited for, and maybe not even sent.',
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
    pollDuration: new Sums(
      named(
        'poll_duration_seconds',
        ['kind'],
        'Duration of polls from the first request to the last, retries and waits included.',
      ),
    ),
  };
}

/** What the metrics of a scrape are read from. */
interface Facts extends ReturnType<Inventory['overview']> {
  /** The kinds that are on, and the APIs that they use. */
  readonly kinds: readonly string[];
  readonly apis: readonly ApiName[];
  /** Of each kind and account, with its labels. */
  readonly labelled: readonly { readonly labels: Labels; readonly tally: Tally; readonly isOn: boolean }[];
}

/** Declares what is counted at each scrape. facts: those of the scrape under way. */
function declareCounts(
  { named }: ReturnType<typeof declareIn>,
  inventory: Inventory,
  facts: () => Facts,
): void {
  type Rows = (now: Facts) => readonly Row[];
  const gauge = (name: string, labels: readonly string[], help: string, read: Rows) =>
    new ReadGauge(named(name, labels, help), () => read(facts()));
  const single = (name: string, help: string, figure: () => number) =>
    gauge(name, [], help, () => [{ value: figure() }]);
  /** Of each account of which a kind has targets, or lists them. */
  const byAccount = (name: string, help: string, figureOf: (tally: Tally) => number) =>
    gauge(name, ['kind', 'account'], help, ({ labelled }) => {
      const rows: Row[] = [];
      for (const { labels, tally, isOn } of labelled) if (isOn) rows.push({ labels, value: figureOf(tally) });
      return rows;
    });
  const byApi = (name: string, help: string, figureOf: (api: ApiName, now: Facts) => number) =>
    gauge(name, ['api'], help, (now) =>
      now.apis.map((api) => ({ labels: { api }, value: figureOf(api, now) })),
    );
  /** A listing that is gone has no series. */
  const byListing = (name: string, help: string, figureOf: (listed: ListedTally) => number | undefined) =>
    gauge(`discovery_${name}`, ['kind', 'account'], help, ({ labelled }) => {
      const rows: Row[] = [];
      for (const { labels, tally } of labelled) {
        const value = tally.listed && figureOf(tally.listed);
        if (value !== undefined) rows.push({ labels, value });
      }
      return rows;
    });
  single(
    'config_last_reload_successful',
    'Whether the last load of the configuration succeeded: 1 yes, 0 no (then the previous one is in use).',
    () => (inventory.configuration().refused ? 0 : 1),
  );
  single(
    'config_last_reload_success_timestamp_seconds',
    'When the configuration was last loaded with success, as Unix time.',
    () => inventory.configuration().loadedAtMs / 1000,
  );
  gauge(
    'counting_since_timestamp_seconds',
    [],
    'When the oldest counter began that sums days, as Unix time; with state.file that can be before the start of the exporter. No series before the first reading.',
    ({ countingSinceMs }) => timestampRow(countingSinceMs),
  );
  gauge(
    'state_last_write_timestamp_seconds',
    [],
    'When this process last wrote the counters to state.file, as Unix time; 0 before the first time. No series without that file.',
    () => (inventory.state ? [{ value: (inventory.state()?.lastWriteMs ?? 0) / 1000 }] : []),
  );
  gauge(
    'state_write_failing_since_timestamp_seconds',
    [],
    'Since when the counters cannot be written to state.file, as Unix time. No series while they can.',
    () => timestampRow(inventory.state?.()?.failingSinceMs),
  );
  byApi(
    'planned_requests_per_second',
    'Requests a second that the polls and listings of an API need at their intervals, without retries.',
    (api, { capacities }) => capacities.find((capacity) => capacity.api === api)?.neededPerSecond ?? 0,
  );
  gauge(
    'allowed_requests_per_second',
    ['api'],
    'Requests a second that the configuration allows at an API (requests_per_second). No series while nothing is polled there.',
    ({ capacities }) =>
      capacities.map(({ api, allowedPerSecond }) => ({ labels: { api }, value: allowedPerSecond })),
  );
  byAccount('targets', 'Targets that are polled.', ({ counts }) => counts.targets);
  byAccount(
    'stale_targets',
    'Targets without values on the page because no poll succeeded within stale_after.',
    ({ counts }) => counts.stale,
  );
  gauge(
    'failing_targets',
    ['kind', 'account', 'result'],
    'Targets whose last poll failed, by its result. No series where none did.',
    ({ labelled }) => {
      const rows: Row[] = [];
      for (const { labels, tally, isOn } of labelled)
        if (isOn)
          for (const [result, value] of tally.failing) rows.push({ labels: { ...labels, result }, value });
      return rows;
    },
  );
  const accountsOf = ({ health }: Facts) => [
    ...new Set([...inventory.accounts(), ...health.accounts.keys()]),
  ];
  gauge(
    'account_last_success_timestamp_seconds',
    ['account'],
    'When something was last read with the key of the account itself, as Unix time; 0 before the first time.',
    (now) =>
      accountsOf(now).map((account) => ({
        labels: { account },
        value: Math.max(0, (now.health.accounts.get(account)?.lastSuccessMs ?? 0) / 1000),
      })),
  );
  gauge(
    'account_failing',
    ['account', 'reason'],
    '1 while nothing can be read with the key of the account itself, else 0: something was tried since its last success, all of it failed, and so did what was read last, which is asked after two failures, once in five minutes; or all its APIs have paused the key. Only the commonest reason is 1; api_down where everything that was tried is of APIs that are down. What does not exist (not_found), is rejected or is not in the plan counts for neither.',
    (now) => {
      const pauses = inventory.pauses();
      return accountsOf(now).flatMap((account) => {
        const own = now.health.accounts.get(account);
        const isPaused = (api: ApiName) =>
          pauses.some(
            (pause) => pause.api === api && pause.kind === '' && ['', account].includes(pause.credential),
          );
        const failing = own && failingReason(own, isPaused);
        return accountReasons.map((reason) => ({
          labels: { account, reason },
          value: Number(reason === failing),
        }));
      });
    },
  );
  gauge(
    'account_key_shared',
    ['account'],
    '1 while the account is not read, because one before it in the configuration has the same key; else 0.',
    () => {
      const left = inventory.sameKeys().map(({ account }) => account);
      return inventory.accounts().map((account) => ({
        labels: { account },
        value: Number(left.includes(account)),
      }));
    },
  );
  gauge('series', ['kind'], 'Series on the page.', ({ kinds }) =>
    kinds.map((kind) => ({ labels: { kind }, value: inventory.store.series(kind) })),
  );
  gauge(
    'refused_keys',
    ['api', 'credential', 'account'],
    '1 while the API answers the key with 401 and nothing of it was read with it since, else 0. A 401 for an id counts once another request with the key got 401, too. A new key of a library counts two minutes later. A key that came with a listing has a series only while it is refused.',
    ({ health, apis }) =>
      apis.flatMap((api) =>
        Array.from(health.apis.get(api)?.keys ?? [], ([credential, { account, isRefused }]) => ({
          labels: { api, credential, account },
          value: Number(isRefused),
        })).filter(({ labels, value }) => value === 1 || !isFoundKey(labels.credential)),
      ),
  );
  gauge(
    'api_paused_until_timestamp_seconds',
    ['api', 'credential', 'account'],
    'End of the pause of a key after a 429, as Unix time; 0 without a pause. Without a credential and an account: of the API as a whole. A key that came with a listing has a series only while it is paused.',
    ({ health, apis }) => {
      const pauses = inventory.pauses();
      return apis.flatMap((api) => {
        const keys = health.apis.get(api)?.keys;
        const configured = [...(keys?.keys() ?? [])].filter((credential) => !isFoundKey(credential));
        const untilMs = new Map(['', ...configured].map((credential) => [credential, 0]));
        for (const pause of pauses)
          if (pause.api === api && pause.kind === '') untilMs.set(pause.credential, pause.untilMs);
        return Array.from(untilMs, ([credential, ms]) => ({
          labels: { api, credential, account: keys?.get(credential)?.account ?? '' },
          value: Math.round(ms / 1000),
        }));
      });
    },
  );
  gauge(
    'kind_paused_until_timestamp_seconds',
    ['api', 'kind', 'credential', 'account'],
    'End of the pause of a kind and its listings with a key after a 429, as Unix time. A series only while it is paused. The key is paused when a second kind gets 429 and nothing was read with it in between.',
    ({ health, apis }) =>
      inventory
        .pauses()
        .filter(({ api, kind }) => kind !== '' && apis.includes(api))
        .map(({ api, kind, credential, untilMs }) => {
          const { account = '' } = health.apis.get(api)?.keys.get(credential) ?? {};
          return { labels: { api, kind, credential, account }, value: Math.round(untilMs / 1000) };
        }),
  );
  byApi(
    'api_unreadable',
    '1 while the API is down: nothing that was asked since its last answer got one, and not because one operation fails; else 0.',
    (api, { health }) => Number(health.apis.get(api)?.state === 'down'),
  );
  byListing('up', '1 when the last read of every listing succeeded, else 0.', ({ isUp }) =>
    isUp === undefined ? undefined : Number(isUp),
  );
  byListing(
    'last_success_timestamp_seconds',
    'When the listing was last complete, as Unix time; of several listings (one for each zone or library) the oldest.',
    ({ lastSuccessMs }) => (lastSuccessMs === undefined ? undefined : lastSuccessMs / 1000),
  );
  byListing(
    'found_targets',
    'Targets in the last complete listings, including those that the configuration excludes.',
    ({ isKnown, found }) => (isKnown ? found : undefined),
  );
  byListing(
    'excluded_targets',
    'Targets in the last complete listings that the configuration excludes (include, exclude).',
    ({ isKnown, excluded }) => (isKnown ? excluded : undefined),
  );
  byListing(
    'failing_listings',
    'Listings whose last read failed; the targets they found before stay.',
    ({ isUp, failing }) => (isUp === undefined ? undefined : failing),
  );
  new Counter({
    ...named(
      'log_lines_dropped_total',
      [],
      'Log lines that could not be written: the disk was full, or nobody read the pipe.',
    ),
    collect() {
      this.reset();
      this.inc(inventory.droppedLogLines());
    },
  });
}

/** A row with a Unix time in seconds; none where there is no time. */
function timestampRow(ms: number | undefined): readonly Row[] {
  return ms === undefined ? [] : [{ value: ms / 1000 }];
}

/** Of a histogram or a summary: `<name>_sum` and the like. */
interface JsonRow extends Row {
  readonly metricName?: string;
}

/** What prom-client gives. Its declaration says that the type is a number, and knows no `metricName`. */
interface JsonFamily extends Header {
  readonly values: readonly JsonRow[];
}

/** The families of a registry as they were rendered, in its order. */
interface Rendering {
  readonly families: readonly { readonly rows: readonly JsonRow[]; readonly bytes: Buffer }[];
  readonly bytes: Buffer;
}

/** Renders what a registry has now. before: its last rendering in this format, whose bytes are used again if nothing has changed. */
async function render(registry: Registry, format: Format, before: Rendering | undefined): Promise<Rendering> {
  const now = (await registry.getMetricsAsJSON()) as unknown as readonly JsonFamily[];
  const families = now.map((family, at) => {
    const known = before?.families[at];
    if (known && areSame(known.rows, family.values)) return known;
    // prom-client changes the values in its own rows. As bytes: V8 keeps every part of a text that was concatenated.
    return { rows: family.values.map(copyOf), bytes: Buffer.from(renderFamily(family, format)) };
  });
  if (before && families.every((family, at) => family === before.families[at])) return before;
  const bytes = Buffer.concat(families.map((family) => family.bytes));
  // Each family is a part of the bytes of all, so that they are kept once.
  let end = 0;
  const parts = families.map((family) => {
    const from = end;
    end += family.bytes.length;
    return { rows: family.rows, bytes: bytes.subarray(from, end) };
  });
  return { families: parts, bytes };
}

function copyOf(row: JsonRow): JsonRow {
  return { ...row };
}

function areSame(before: readonly JsonRow[], now: readonly JsonRow[]): boolean {
  if (before.length !== now.length) return false;
  for (const [at, row] of before.entries()) if (!isSame(row, now[at])) return false;
  return true;
}

function isSame(before: JsonRow, now: JsonRow | undefined): boolean {
  return (
    Object.is(before.value, now?.value) &&
    before.metricName === now?.metricName &&
    haveSame(before.labels ?? {}, now?.labels ?? {})
  );
}

function haveSame(before: Labels, now: Labels): boolean {
  if (before === now) return true;
  for (const name in before) if (before[name] !== now[name]) return false;
  return Object.keys(before).length === Object.keys(now).length;
}

function renderFamily({ name, help, type, values }: JsonFamily, format: Format): string {
  let text = renderHeader({ name, help, type: name.endsWith('_info') ? 'info' : type }, format);
  for (const { metricName = name, labels, value } of values)
    text += renderRow(metricName, renderLabels(labels), value);
  return text;
}

let processMetrics: Registry | undefined;

/** How often prom-client measures the delay of the event loop, which nothing shows: as rarely as it can, because that wakes an idle process. */
const neverMs = 2 ** 31 - 1;

/** As prom-client's own: how long the event loop took to come round when it was last asked. */
function addLag(registry: Registry): void {
  new Gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Lag of event loop in seconds.',
    registers: [registry],
    collect() {
      const begunMs = performance.now();
      setImmediate(() => this.set((performance.now() - begunMs) / 1000));
    },
  });
}

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
    // prom-client works out all of them for the one that is worth showing: half of the time of a scrape. `addLag` has that one.
    ...['', 'min_', 'max_', 'mean_', 'stddev_', 'p50_', 'p90_', 'p99_'].map(
      (figure) => `nodejs_eventloop_lag_${figure}seconds`,
    ),
    // Nine spaces: `nodejs_heap_size_*_bytes` has their sums.
    ...['total', 'used', 'available'].map((figure) => `nodejs_heap_space_size_${figure}_bytes`),
    ...(mayRead('/proc/self/fd') ? [] : ['process_open_fds']),
    ...(mayRead('/proc/self/status')
      ? []
      : ['process_resident_memory_bytes', 'process_virtual_memory_bytes', 'process_heap_bytes']),
  ];
  for (const name of unwanted) registry.removeSingleMetric(name);
  addLag(registry);
  processMetrics = registry;
  return registry;
}

/** How old the metrics of the process may be: to read them is half of what an unchanged page costs, and servers that scrape together share them. */
const maxAgeMs = 1000;

/** kinds: those that are on; no other kind is named until `setKinds`. */
export function createTelemetry(kinds: readonly Resource[], inventory: Inventory) {
  const registry = new Registry();
  const declare = declareIn(registry);
  const events = declareEvents(declare);
  let on: Pick<Facts, 'kinds' | 'apis'> = { kinds: [], apis: [] };
  /** Those of the scrape that is beginning: prom-client begins to collect all families before it waits for one. */
  let facts: Facts | undefined;
  declareCounts(declare, inventory, () => {
    if (facts) return facts;
    const overview = inventory.overview();
    const labelled: Facts['labelled'][number][] = [];
    for (const tally of overview.tallies) {
      const { kind, account } = tally;
      labelled.push({ labels: { kind, account }, tally, isOn: on.kinds.includes(kind) });
    }
    facts = { ...overview, ...on, labelled };
    return facts;
  });
  events.build.set(buildInfo.labels, 1);
  // Now, not at the first scrape: it counts from its creation.
  const ofProcess = processRegistry();
  /** Of each part, by format. */
  const renderings = new Map<string, Rendering & { readonly atMs: number }>();
  /** The APIs that have their first rows. */
  const begun = new Set<ApiName>();
  const beginApi = (api: ApiName) => {
    events.requests.inc({ api, code: '200' }, 0);
    events.requestDuration.zero({ api });
    begun.add(api);
  };

  /** Sets the kinds that are on. The rows of new ones begin at 0; the counters of others stay as they are. */
  const setKinds = (wanted: readonly Resource[]) => {
    const apis = new Set(wanted.flatMap(operationsOf).map(({ api }) => api));
    const kindsOn = wanted.map(({ kind }) => kind);
    // Rows are present from the start at 0, so that increase() sees the first event. Not those of fields: they are many, and
    // nearly all stay at 0.
    for (const kind of kindsOn) for (const result of pollResults) events.polls.inc({ kind, result }, 0);
    for (const api of apis) if (!begun.has(api)) beginApi(api);
    // A kind that is off has no lag.
    for (const kind of on.kinds) if (!kindsOn.includes(kind)) events.lag.remove({ kind });
    for (const kind of kindsOn) events.lag.inc({ kind }, 0);
    on = { kinds: kindsOn, apis: [...apis] };
  };
  setKinds(kinds);

  return {
    setKinds,
    requested(api: ApiName, code: string, durationSeconds: number) {
      events.requests.inc({ api, code });
      if (code !== 'aborted') events.requestDuration.observe({ api }, durationSeconds);
    },
    polled(kind: string, result: PollResult, durationSeconds: number) {
      events.polls.inc({ kind, result });
      events.pollDuration.add(kind, durationSeconds);
    },
    mismatched(kind: string, field: string) {
      events.mismatches.inc({ kind, field });
    },
    unrecognized(kind: string, field: string) {
      events.unrecognized.inc({ kind, field });
    },
    started(kind: string, lagSeconds: number) {
      // While a kind is being turned off, its last polls may still start.
      if (!on.kinds.includes(kind)) return;
      events.lag.set({ kind }, Math.max(0, lagSeconds));
    },
    /** The metrics of the process, and the exporter's own. A part that is as it was is the same Buffer: it is compressed once. */
    async render(format: Format): Promise<readonly Buffer[]> {
      const parts = [ofProcess, registry].map(async (part, at) => {
        const key = `${format} ${at}`;
        const known = renderings.get(key);
        if (part === ofProcess && known && performance.now() - known.atMs < maxAgeMs) return known.bytes;
        const rendering = await render(part, format, known);
        renderings.set(key, { ...rendering, atMs: performance.now() });
        return rendering.bytes;
      });
      facts = undefined;
      return Promise.all(parts);
    },
  };
}
