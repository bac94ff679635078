/**
 * The composition root: it makes every part and connects it with the next. Two ways meet at the store: polls write to it,
 * scrapes read from it, and neither waits for the other.
 */
import type { Logger } from 'pino';
import { ApiAccess } from './api/api-access.ts';
import type { ClientObserver } from './api/client.ts';
import type { ForwardProxy } from './api/proxy.ts';
import type { Config } from './config/config.ts';
import { describeConfig } from './config/summary.ts';
import { renderTail } from './exposition/format.ts';
import { Store } from './exposition/store.ts';
import { createMetricsHandler } from './http/metrics-route.ts';
import { createWebServer, type ListenAddress } from './http/server.ts';
import type { ApiCapacity } from './polling/capacity.ts';
import { PollEngine } from './polling/engine.ts';
import { ownedBy, type Shard } from './polling/shard.ts';
import type { TargetStatus } from './polling/target-states.ts';
import { catalogue } from './resources/catalogue.ts';
import { resources } from './resources/index.ts';
import type { ApiName } from './resources/resource.ts';
import type { Credentials } from './secrets/credentials.ts';
import { KeyWatch } from './secrets/key-watch.ts';
import type { Condition } from './status/page.ts';
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
  /** The state of every target. */
  targets(): readonly TargetStatus[];
  /** The exposition as a scrape in the text format would see it. */
  page(): Promise<string>;
  /** Loads the configuration again. Rejects where it is wrong, and keeps the previous one. */
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
  let configuration: Condition['configuration'] = { loadedAtMs: Date.now(), refused: undefined };
  let paceWarnings: readonly string[] = [];
  let watch: NodeJS.Timeout | undefined;

  const store = new Store(catalogue, { maxSeries: config.limits.maxSeries });
  const telemetry = createTelemetry(resources, {
    targets: (kind) => engine.states.counts(kind).targets,
    staleTargets: (kind) => engine.states.counts(kind).stale,
    series: (kind) => store.series(kind),
    droppedSeries: (kind) => store.dropped(kind),
  });
  const readKey = (credential: string) => credentials.read(credential);
  const apis = new ApiAccess(config.apis, readKey, observeRequests(telemetry, log), options.proxy);
  const engine = new PollEngine({
    resources,
    store,
    clientOf: (api) => apis.client(api),
    paceOf: (api) => apis.pacer(api),
    observer: telemetry,
    log,
    redact: (text) => credentials.redact(text),
    owns: ownedBy(options.shard),
    onPlanned: (capacities) => {
      paceWarnings = warnOfShortfalls(capacities, paceWarnings, log);
    },
    now: options.now,
  });
  const keyWatch = new KeyWatch((name) => engine.keyChanged(name));
  const tellDropped = droppedTeller(store, log);
  const server = createServer();

  function createServer() {
    const metrics = createMetricsHandler({
      store,
      kinds,
      ownMetrics: (format) => telemetry.render(format),
      beforeScrape: () => engine.dropStale(),
      maxConcurrentScrapes,
      writeTimeoutMs: scrapeWriteTimeoutMs,
    });
    const { addresses, webConfigFile, telemetryPath, shard, enableLifecycle } = options;
    const pages = createPages({
      telemetryPath,
      kinds: resources,
      about: { version, revision, startedAtMs: Date.now(), shard: shard && `${shard.index}/${shard.count}` },
      condition: status,
      isReady: () => engine.isReady,
      targets: () => [...engine.states.statuses()],
      nextPollInMs: (target) => engine.nextPollInMs(target),
      config: () => describeConfig(config, resources),
      reload: enableLifecycle ? reload : undefined,
    });
    const routes = [{ path: telemetryPath, methods: ['GET'] as const, handle: metrics }, ...pages];
    return createWebServer({ addresses, webConfigFile, log, routes });
  }

  function status(): Condition {
    return {
      series: (kind) => store.series(kind),
      droppedSeries: droppedSeries(store),
      maxSeries: config.limits.maxSeries,
      configuration,
      pauses: apis.pauses,
      paceWarnings,
    };
  }

  /** Puts the configuration in force. */
  async function apply(): Promise<void> {
    configuration = { loadedAtMs: Date.now(), refused: undefined };
    telemetry.reloaded(true, configuration.loadedAtMs);
    keyWatch.follow(credentials, Object.keys(config.credentials));
    await engine.apply(config);
  }

  async function startPolling(): Promise<void> {
    await apply();
    void keyWatch.look();
    watch = setInterval(() => {
      void keyWatch.look();
      tellDropped(config.limits.maxSeries);
    }, watchIntervalMs).unref();
  }

  function logTargets(): void {
    const counts = kinds.map((kind) => [kind, engine.states.counts(kind).targets] as const);
    log.info(
      { targets: Object.fromEntries(counts.filter(([, count]) => count > 0)) },
      'polling what the configuration wants',
    );
  }

  const reload = oneAtATime(async () => {
    let loaded: Loaded;
    try {
      loaded = await options.load();
      await server.reload();
    } catch (error) {
      const { message } = error as Error;
      configuration = { ...configuration, refused: { atMs: Date.now(), message } };
      telemetry.reloaded(false, Date.now());
      log.error(`keeping the previous configuration: ${message}`);
      throw error;
    }
    ({ config, credentials } = loaded);
    store.setMaxSeries(config.limits.maxSeries);
    apis.reconfigure(config.apis, (api, err) => log.error({ api, err }, 'keeping its previous settings'));
    log.info('the configuration was reloaded');
    await apply();
    logTargets();
  });

  return {
    async start() {
      const urls = await server.start();
      await startPolling();
      logTargets();
      return urls;
    },
    async pollOnce() {
      if (watch) {
        await engine.pollNow();
      } else {
        await startPolling();
        await engine.allPolled;
      }
      tellDropped(config.limits.maxSeries);
      return engine.allHealthy;
    },
    targets: () => [...engine.states.statuses()],
    async page() {
      engine.dropStale();
      const { parts } = await store.page('text');
      return Buffer.concat([...parts, ...renderTail('text', await telemetry.render('text'))]).toString();
    },
    reload,
    async stop() {
      clearInterval(watch);
      apis.closePacers();
      await Promise.all([engine.stop(), server.stop(stopGraceMs)]);
      await apis.close();
    },
  };
}

/** What the clients tell: counted, and for people who want to know more, logged. */
function observeRequests(telemetry: Telemetry, log: Logger): ClientObserver {
  const pausedUntilMs = new Map<ApiName, number>();
  return {
    requested(api, code, seconds, path) {
      telemetry.requested(api, code, seconds);
      log.debug({ api, path, code, duration_seconds: seconds }, 'asked the API');
    },
    paused(api, untilMs) {
      telemetry.paused(api, untilMs);
      const isNew = Date.now() > (pausedUntilMs.get(api) ?? 0);
      pausedUntilMs.set(api, untilMs);
      if (!isNew) return;
      const until = new Date(untilMs).toISOString();
      log.warn({ api }, `the API answered 429; it is asked nothing until ${until}`);
    },
  };
}

/** Logs the shortfalls that were not there before. Returns those there are now. */
function warnOfShortfalls(
  capacities: readonly ApiCapacity[],
  known: readonly string[],
  log: Logger,
): readonly string[] {
  const short = capacities.flatMap(({ api, shortfall }) =>
    shortfall === undefined ? [] : [{ api, shortfall }],
  );
  for (const { api, shortfall } of short) if (!known.includes(shortfall)) log.warn({ api }, shortfall);
  return short.map(({ shortfall }) => shortfall);
}

function droppedSeries(store: Store): number {
  return kinds.reduce((sum, kind) => sum + store.dropped(kind), 0);
}

/** Says once that limits.max_series leaves something out, and once that it no longer does. */
function droppedTeller(store: Store, log: Logger): (maxSeries: number) => void {
  let wasDropping = false;
  return (maxSeries) => {
    const dropped = droppedSeries(store);
    if (dropped > 0 === wasDropping) return;
    wasDropping = dropped > 0;
    if (wasDropping)
      log.warn({ dropped }, `${dropped} series are left out, because limits.max_series is ${maxSeries}`);
    else log.info('no series is left out any more');
  };
}

/** Runs never overlap; whoever asks while one waits for its turn joins it. */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last.then(() => {
      next = undefined;
      const running = run();
      last = running.catch(() => undefined);
      return running;
    });
    return next;
  };
}
