/**
 * The composition root: it makes every part and connects it with the next. Two ways meet at the store: polls write to it,
 * scrapes read from it, and neither waits for the other.
 */
import type { Logger } from 'pino';
import { ApiClient, type ClientObserver } from './api/client.ts';
import { Pacer } from './api/pacer.ts';
import type { ForwardProxy } from './api/proxy.ts';
import type { Config } from './config/config.ts';
import { describeConfig } from './config/describe.ts';
import { renderTail } from './exposition/format.ts';
import { Store } from './exposition/store.ts';
import { createMetricsHandler } from './http/metrics-route.ts';
import { createWebServer, type ListenAddress, type WebServer } from './http/server.ts';
import { capacity } from './polling/capacity.ts';
import { Fleet } from './polling/engine.ts';
import { ownConfig } from './polling/plan.ts';
import { ownedBy, type Shard } from './polling/shard.ts';
import type { TargetStatus } from './polling/target-states.ts';
import { catalogue } from './resources/catalogue.ts';
import { resources } from './resources/index.ts';
import { type ApiName, apiNames } from './resources/resource.ts';
import type { Credentials } from './secrets/credentials.ts';
import { createPages } from './status/pages.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';
import { revision, version } from './version.ts';

/** A configuration and the keys that it names. */
export interface Loaded {
  readonly config: Config;
  readonly credentials: Credentials;
}

export interface ExporterOptions {
  /** Loads and checks the configuration: at the start and at each reload. Rejects with what is wrong with it. */
  readonly load: () => Promise<Loaded>;
  readonly addresses: readonly ListenAddress[];
  readonly telemetryPath: string;
  readonly webConfigFile?: string | undefined;
  readonly enableLifecycle: boolean;
  readonly shard?: Shard | undefined;
  /** The way to the APIs, where it is not direct. */
  readonly proxy?: ForwardProxy | undefined;
  readonly log: Logger;
  /** Unix time, by which values grow old. Default `Date.now`. */
  readonly now?: () => number;
}

export interface Exporter {
  /** Begins to poll and to serve; resolves with the URLs that it listens on. */
  start(): Promise<readonly string[]>;
  /**
   * Polls every target once without serving, and resolves with whether every poll succeeded. The first call begins to poll;
   * a further one asks everything again at once, whatever its interval.
   */
  pollOnce(): Promise<boolean>;
  /** How every target stands. */
  targets(): readonly TargetStatus[];
  /** The exposition as a scrape in the text format would see it. */
  page(): Promise<string>;
  /** Loads the configuration anew. Rejects where it is wrong; the one in force then stays. */
  reload(): Promise<void>;
  /** Ends polls and connections. */
  stop(): Promise<void>;
}

const kinds = resources.map(({ kind }) => kind);
const maxConcurrentScrapes = 16;
const scrapeWriteTimeoutMs = 30_000;
const watchIntervalMs = 5000;
const stopGraceMs = 3000;

export async function createExporter(options: ExporterOptions): Promise<Exporter> {
  const { log } = options;
  let { config, credentials } = await options.load();

  const owns = ownedBy(options.shard);
  const store = new Store(catalogue, { maxSeries: config.limits.maxSeries });
  const telemetry: Telemetry = createTelemetry(resources, {
    targets: (kind) => fleet.board.counts(kind).targets,
    staleTargets: (kind) => fleet.board.counts(kind).stale,
    series: (kind) => store.series(kind),
    droppedSeries: (kind) => store.dropped(kind),
  });

  const pausedUntilMs = new Map<ApiName, number>();
  /** What the clients tell: counted, and for people who want to know more, logged. */
  const requests: ClientObserver = {
    requested(api, code, seconds, path) {
      telemetry.requested(api, code, seconds);
      log.debug({ api, path, code, duration_seconds: seconds }, 'asked the API');
    },
    paused(api, untilMs) {
      telemetry.paused(api, untilMs);
      const isNew = Date.now() > (pausedUntilMs.get(api) ?? 0);
      pausedUntilMs.set(api, untilMs);
      if (isNew)
        log.warn(
          { api },
          `the API answered 429; it is asked nothing until ${new Date(untilMs).toISOString()}`,
        );
    },
  };

  const pacers = new Map<ApiName, Pacer>();
  const clients = new Map<ApiName, ApiClient>();
  for (const api of apiNames) {
    const asking = resources.filter((resource) => resource.api === api).map(({ kind }) => kind);
    const pacer = new Pacer(config.apis[api], asking);
    pacers.set(api, pacer);
    const readKey = (credential: string) => credentials.read(credential);
    clients.set(api, new ApiClient(api, config.apis[api], pacer, readKey, requests, options.proxy));
  }

  const fleet = new Fleet({
    resources,
    store,
    clientOf: (api) => known(clients, api),
    lineOf: (api) => known(pacers, api),
    observer: telemetry,
    log,
    redact: (text) => credentials.redact(text),
    owns,
    now: options.now,
  });

  const metrics = createMetricsHandler({
    store,
    kinds,
    ownMetrics: (format) => telemetry.render(format),
    beforeScrape: () => fleet.dropStale(),
    maxConcurrentScrapes,
    writeTimeoutMs: scrapeWriteTimeoutMs,
  });
  const server: WebServer = createWebServer({
    addresses: options.addresses,
    webConfigFile: options.webConfigFile,
    log,
    routes: [
      { path: options.telemetryPath, methods: ['GET'], handle: metrics },
      ...createPages({
        telemetryPath: options.telemetryPath,
        kinds: resources.map(({ kind, noun }) => ({ kind, noun })),
        about: {
          version,
          revision,
          startedAtMs: Date.now(),
          shard: options.shard && `${options.shard.index}/${options.shard.count}`,
        },
        condition: () => ({
          series: (kind) => store.series(kind),
          droppedSeries: kinds.reduce((sum, kind) => sum + store.dropped(kind), 0),
          maxSeries: config.limits.maxSeries,
          configuration: { loadedAtMs, refused },
          pauses: pauses(),
          paceWarnings,
        }),
        isReady: () => fleet.isReady,
        targets: () => [...fleet.board.statuses()],
        nextPollInMs: (status) => fleet.nextPollInMs(status),
        config: () => describeConfig(config, resources),
        reload: options.enableLifecycle ? reload : undefined,
      }),
    ],
  });

  /** The configuration in force as the status page tells of it. */
  let loadedAtMs = Date.now();
  let refused: { readonly atMs: number; readonly message: string } | undefined;
  let paceWarnings: readonly string[] = [];

  function pauses() {
    return apiNames.flatMap((api) => {
      const { pausedForMs } = known(pacers, api);
      // A pacer that was closed pauses for ever.
      return pausedForMs > 0 && Number.isFinite(pausedForMs)
        ? [{ api, untilMs: Date.now() + pausedForMs }]
        : [];
    });
  }

  /** Puts the configuration in force. */
  function apply(): void {
    loadedAtMs = Date.now();
    refused = undefined;
    telemetry.reloaded(true, loadedAtMs);
    const short = capacity(ownConfig(config, owns), resources).filter(({ message }) => message !== undefined);
    for (const { api, message } of short) log.warn({ api }, message);
    paceWarnings = short.map(({ message = '' }) => message);
    fleet.apply(config);
  }

  function logTargets(): void {
    const targets = kinds.map((kind) => [kind, fleet.board.counts(kind).targets] as const);
    const counts = Object.fromEntries(targets.filter(([, count]) => count > 0));
    log.info({ targets: counts }, 'polling what the configuration wants');
  }

  /** Says once that limits.max_series leaves something out, and once that it does no more. */
  let isDropping = false;
  function tellOfDropped(): void {
    const dropped = kinds.reduce((sum, kind) => sum + store.dropped(kind), 0);
    if (dropped > 0 === isDropping) return;
    isDropping = dropped > 0;
    const limit = config.limits.maxSeries;
    if (isDropping)
      log.warn({ dropped }, `${dropped} series are left out, because limits.max_series is ${limit}`);
    else log.info('no series is left out any more');
  }

  /** The version of each key in force that was last seen here; requests may have read a newer one since. */
  const keyVersions = new Map<string, number>();
  /** Whoever waits for a newer version of a key learns of it here; the next request reads it anyway. */
  async function watchKeys(): Promise<void> {
    const watched = credentials;
    for (const name of Object.keys(config.credentials)) {
      // What is wrong with a key shows in the polls that need it.
      await watched.read(name).catch(() => undefined);
      if (watched !== credentials) return;
      const version = watched.version(name);
      const isNewer = version > (keyVersions.get(name) ?? version);
      keyVersions.set(name, version);
      if (isNewer) fleet.keyChanged(name);
    }
  }
  let watch: NodeJS.Timeout | undefined;

  function poll(): void {
    apply();
    void watchKeys();
    watch = setInterval(() => {
      void watchKeys();
      tellOfDropped();
    }, watchIntervalMs).unref();
  }

  /** Reloads never overlap, or an older configuration could end in force. Who asks while one waits joins it. */
  let lastReload: Promise<unknown> = Promise.resolve();
  let nextReload: Promise<void> | undefined;
  function reload(): Promise<void> {
    nextReload ??= lastReload.then(() => {
      nextReload = undefined;
      const reloaded = reloadNow();
      lastReload = reloaded.catch(() => undefined);
      return reloaded;
    });
    return nextReload;
  }

  async function reloadNow(): Promise<void> {
    let loaded: Loaded;
    try {
      loaded = await options.load();
      await server.reload();
    } catch (error) {
      refused = { atMs: Date.now(), message: (error as Error).message };
      telemetry.reloaded(false, refused.atMs);
      log.error(`the configuration before stays in force: ${refused.message}`);
      throw error;
    }
    const before = config;
    ({ config, credentials } = loaded);
    keyVersions.clear();
    store.setMaxSeries(config.limits.maxSeries);
    for (const api of apiNames) {
      if (JSON.stringify(before.apis[api]) === JSON.stringify(config.apis[api])) continue;
      known(pacers, api).setPace(config.apis[api]);
      known(clients, api)
        .reconfigure(config.apis[api])
        .catch((err: unknown) => log.error({ api, err }, 'its settings before stay in force'));
    }
    log.info('the configuration was reloaded');
    apply();
    logTargets();
  }

  return {
    async start() {
      const urls = await server.start();
      poll();
      logTargets();
      return urls;
    },
    async pollOnce() {
      if (watch) {
        await fleet.pollNow();
      } else {
        poll();
        await fleet.allPolled;
      }
      tellOfDropped();
      return fleet.isWell;
    },
    targets: () => [...fleet.board.statuses()],
    async page() {
      fleet.dropStale();
      const { parts } = await store.page('text');
      return Buffer.concat([...parts, ...renderTail('text', await telemetry.render('text'))]).toString();
    },
    reload,
    async stop() {
      clearInterval(watch);
      for (const pacer of pacers.values()) pacer.close();
      await Promise.all([fleet.stop(), server.stop(stopGraceMs)]);
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

function known<Value>(map: ReadonlyMap<ApiName, Value>, api: ApiName): Value {
  const value = map.get(api);
  if (value === undefined) throw new Error(`no part for the API ${api}`);
  return value;
}
