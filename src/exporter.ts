/**
 * The composition root: it makes every part and connects it with the next. Two ways meet at the store: polls write to it,
 * scrapes read from it, and neither waits for the other.
 */
import type { Logger } from 'pino';
import { ApiAccess } from './api/api-access.ts';
import type { ClientObserver } from './api/client.ts';
import type { ForwardProxy } from './api/proxy.ts';
import type { Config } from './config/config.ts';
import { describeConfig } from './config/describe.ts';
import { compareListed, describeDiscovery } from './discovery/discovered.ts';
import { Store } from './exposition/store.ts';
import { createMetricsRoute } from './http/metrics-route.ts';
import type { Route } from './http/route.ts';
import { createWebServer, type ListenAddress, type WebServer } from './http/server.ts';
import { type ApiCapacity, rateText } from './polling/capacity.ts';
import { type ListingStatus, PollEngine } from './polling/engine.ts';
import { summarizeListings } from './polling/listing-summary.ts';
import { ownedBy, type Shard } from './polling/shard.ts';
import type { TargetStatus } from './polling/target-states.ts';
import type { ProcessMetricsChoice } from './process-metrics.ts';
import type { Exchange } from './report/report.ts';
import { catalogue } from './resources/catalogue.ts';
import { resources } from './resources/index.ts';
import type { ApiName, Resource } from './resources/resource.ts';
import type { Credentials, Secret } from './secrets/credentials.ts';
import { FoundKeys } from './secrets/found-keys.ts';
import { KeyWatch } from './secrets/key-watch.ts';
import type { ExporterStatus } from './status/content.ts';
import { createPages } from './status/pages.ts';
import { SchemaDrift } from './status/schema-drift.ts';
import { createTelemetry, type Inventory, type Telemetry } from './telemetry.ts';
import { plural } from './text.ts';
import { letGrowIfBusy } from './v8.ts';
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
  /** Answers probes, whatever the web configuration asks of clients. */
  readonly probeAddress?: ListenAddress | undefined;
  readonly telemetryPath: string;
  /** Default `basic`. */
  readonly processMetrics?: ProcessMetricsChoice | undefined;
  readonly webConfigFile?: string | undefined;
  readonly enableLifecycle: boolean;
  readonly shard?: Shard | undefined;
  /** The way to the APIs, where it is not direct. */
  readonly proxy?: ForwardProxy | undefined;
  readonly log: Logger;
  /** Log lines since the start that could not be written. Default: none. */
  readonly droppedLogLines?: (() => number) | undefined;
  /** Whether everything is polled once alone: nothing is said of what comes next. */
  readonly isOnce?: boolean | undefined;
  /** Told of every request to the API that was sent. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Unix time. Default `Date.now`. */
  readonly now?: () => number;
  /** By which values grow old: it never jumps. Default: the machine's uptime. */
  readonly uptimeMs?: () => number;
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
  /** The state of every listing. */
  listings(): readonly ListingStatus[];
  /** The configuration in force, as the file would say it. */
  config(): ReturnType<typeof describeConfig>;
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
const probePages = ['/-/healthy', '/-/ready'];
const stopGraceMs = 3000;

export async function createExporter(options: ExporterOptions): Promise<Exporter> {
  return new WiredExporter(options, await options.load());
}

class WiredExporter implements Exporter {
  readonly #options: ExporterOptions;
  readonly #store: Store;
  readonly #telemetry: Telemetry;
  readonly #apis: ApiAccess;
  readonly #engine: PollEngine;
  readonly #foundKeys = new FoundKeys();
  readonly #keyWatch: KeyWatch;
  readonly #server: WebServer;
  readonly #probes: WebServer | undefined;
  readonly #tellDropped: (maxSeries: number) => void;
  readonly #tellPlan: (capacities: readonly ApiCapacity[]) => void;
  readonly #schemaDrift = new SchemaDrift();
  #config: Config;
  #credentials: Credentials;
  #configuration: ExporterStatus['configuration'] = { loadedAtMs: Date.now(), refused: undefined };
  #capacities: readonly ApiCapacity[] = [];
  #isPolling = false;

  constructor(options: ExporterOptions, { config, credentials }: Loaded) {
    const { log } = options;
    this.#options = options;
    this.#config = config;
    this.#credentials = credentials;
    this.#store = new Store(catalogue, { maxSeries: config.limits.maxSeries });
    const inventory: Inventory = {
      targets: (kind) => this.#engine.states.counts(kind).targets,
      staleTargets: (kind) => this.#engine.states.counts(kind).stale,
      series: (kind) => this.#store.series(kind),
      droppedSeries: (kind) => this.#store.dropped(kind),
      listings: () => summarizeListings(this.#engine.listings()),
      refusedKeys: (api) => this.#engine.keys.refusedKeys(api),
      droppedLogLines: options.droppedLogLines ?? (() => 0),
    };
    this.#telemetry = createTelemetry(kindsOn(config), inventory, options.processMetrics);
    const readKey = (api: ApiName, credential: string) => this.#readKey(api, credential);
    const requests = observeRequests(this.#telemetry, options);
    this.#apis = new ApiAccess(config.apis, readKey, requests, options.proxy);
    this.#engine = new PollEngine({
      resources,
      store: this.#store,
      clientOf: (api) => this.#apis.client(api),
      paceOf: (api) => this.#apis.pacer(api),
      observer: {
        ...this.#telemetry,
        mismatched: (kind, field) => {
          this.#telemetry.mismatched(kind, field);
          this.#schemaDrift.note({ kind, field });
        },
      },
      log,
      foundKeys: this.#foundKeys,
      keySource: (name) =>
        this.#foundKeys.get(name) ? 'found with its library' : this.#credentials.describe(name),
      isOnce: options.isOnce,
      redact: (text) => this.#foundKeys.redact(this.#credentials.redact(text)),
      owns: ownedBy(options.shard),
      onPlanned: (capacities) => {
        this.#capacities = capacities;
        this.#telemetry.planned(capacities);
        this.#tellPlan(capacities);
      },
      onSweep: () => {
        void this.#keyWatch.look();
        this.#tellDropped(this.#config.limits.maxSeries);
        this.#tellPlan(this.#capacities);
      },
      now: options.now,
      uptimeMs: options.uptimeMs,
    });
    this.#keyWatch = new KeyWatch((name) => this.#engine.keyChanged(name));
    this.#tellDropped = droppedTeller(this.#store, log);
    this.#tellPlan = planTeller(() => this.#engine.listings().every(({ state }) => state !== 'pending'), log);
    const { addresses, probeAddress, webConfigFile } = options;
    const routes = this.#routes();
    this.#server = createWebServer({ addresses, webConfigFile, log, routes });
    const probed = routes.filter(({ path }) => probePages.includes(path));
    this.#probes = probeAddress && createWebServer({ addresses: [probeAddress], log, routes: probed });
  }

  async start(): Promise<readonly string[]> {
    const urls = await this.#server.start();
    for (const url of await this.#startProbes()) this.#options.log.info({ url }, 'answering probes');
    await this.#startPolling();
    this.#logTargets();
    const startedMs = performance.now();
    void this.#engine.allPolled.then(() => {
      this.#options.log.info(this.#engine.roundText(performance.now() - startedMs));
    });
    return urls;
  }

  async pollOnce(): Promise<boolean> {
    if (this.#isPolling) {
      await this.#engine.pollNow();
    } else {
      await this.#startPolling();
      await this.#engine.allPolled;
    }
    this.#tellDropped(this.#config.limits.maxSeries);
    return this.#engine.allHealthy;
  }

  targets(): readonly TargetStatus[] {
    this.#engine.dropStale();
    return [...this.#engine.states.statuses()];
  }

  listings(): readonly ListingStatus[] {
    return this.#engine.listings();
  }

  config(): ReturnType<typeof describeConfig> {
    return describeConfig(this.#config, resources);
  }

  async page(): Promise<string> {
    this.#engine.dropStale();
    const { parts } = await this.#store.page('text');
    return Buffer.concat([...parts, ...(await this.#telemetry.render('text'))]).toString();
  }

  readonly reload = oneAtATime(async () => {
    const { log, load } = this.#options;
    let loaded: Loaded;
    try {
      loaded = await load();
      await this.#server.reload();
    } catch (error) {
      const { message } = error as Error;
      this.#configuration = { ...this.#configuration, refused: { atMs: Date.now(), message } };
      this.#telemetry.reloaded(false, Date.now());
      log.error(`keeping the previous configuration: ${message}`);
      throw error;
    }
    this.#config = loaded.config;
    this.#credentials = loaded.credentials;
    this.#store.setMaxSeries(this.#config.limits.maxSeries);
    this.#apis.reconfigure(this.#config.apis, (api, err) =>
      log.error({ api, err }, 'keeping its previous settings'),
    );
    const before = this.targets();
    await this.#apply();
    // Only now that the removed targets have left: they make room, too.
    this.#engine.states.makeRoom();
    this.#tellDropped(this.#config.limits.maxSeries);
    const change = describeChange(before, this.targets());
    log.info(`the configuration was reloaded: ${change === '' ? 'the same targets' : change}`);
    this.#logTargets();
  });

  async stop(): Promise<void> {
    this.#apis.closePacers();
    const servers = [this.#server, this.#probes].map((server) => server?.stop(stopGraceMs));
    await Promise.all([this.#engine.stop(), ...servers]);
    await this.#apis.close();
  }

  async #startProbes(): Promise<readonly string[]> {
    try {
      return (await this.#probes?.start()) ?? [];
    } catch (error) {
      await this.#server.stop(0);
      throw error;
    }
  }

  /** A key that a listing gave opens the video API alone. */
  #readKey(api: ApiName, credential: string): Promise<Secret> {
    const found = api === 'video' ? this.#foundKeys.get(credential) : undefined;
    return found ? Promise.resolve(found) : this.#credentials.read(credential);
  }

  #routes(): readonly Route[] {
    const { telemetryPath, shard, enableLifecycle } = this.#options;
    const metrics = createMetricsRoute({
      store: this.#store,
      kinds,
      ownMetrics: (format) => this.#telemetry.render(format),
      beforeScrape: () => {
        letGrowIfBusy();
        this.#engine.dropStale();
      },
      maxConcurrentScrapes,
      writeTimeoutMs: scrapeWriteTimeoutMs,
    });
    const pages = createPages({
      telemetryPath,
      kinds: resources,
      build: { version, revision, startedAtMs: Date.now(), shard: shard && `${shard.index}/${shard.count}` },
      exporterStatus: () => this.#status(),
      isReady: () => this.#engine.isReady,
      targets: () => this.targets(),
      listings: () => this.listings(),
      nextPollInMs: (target) => this.#engine.nextPollInMs(target),
      config: () => this.config(),
      reload: enableLifecycle ? this.reload : undefined,
    });
    return [{ path: telemetryPath, methods: ['GET'], handle: metrics }, ...pages];
  }

  #status(): ExporterStatus {
    return {
      series: (kind) => this.#store.series(kind),
      droppedSeries: droppedSeries(this.#store),
      maxSeries: this.#config.limits.maxSeries,
      configuration: this.#configuration,
      pauses: this.#apis.pauses,
      capacities: this.#capacities,
      schemaDrift: this.#schemaDrift.records(),
    };
  }

  /** Begins to use the configuration. */
  async #apply(): Promise<void> {
    this.#configuration = { loadedAtMs: Date.now(), refused: undefined };
    this.#telemetry.reloaded(true, this.#configuration.loadedAtMs);
    this.#keyWatch.follow(this.#credentials, Object.keys(this.#config.credentials));
    this.#telemetry.follow(kindsOn(this.#config));
    await this.#engine.apply(this.#config);
    void this.#keyWatch.look();
  }

  async #startPolling(): Promise<void> {
    await this.#apply();
    this.#isPolling = true;
  }

  #logTargets(): void {
    const counts = kinds.map((kind) => [kind, this.#engine.states.counts(kind).targets] as const);
    const targets = Object.fromEntries(counts.filter(([, count]) => count > 0));
    const all = this.#config.sections.flatMap(({ kind, targets: wanted }) =>
      wanted === 'all' ? [kind] : [],
    );
    const found = all.length > 0 ? `, and all that is found of ${plural(all.length, 'kind')}` : '';
    this.#options.log.info({ targets, all }, `polling the configured targets${found}`);
  }
}

/** The kinds that have a section. */
function kindsOn({ sections }: Config): readonly Resource[] {
  return resources.filter(({ kind }) => sections.some((section) => section.kind === kind));
}

/** What the clients tell: counted, and for people who want to know more, logged. */
function observeRequests(telemetry: Telemetry, { log, onExchange }: ExporterOptions): ClientObserver {
  const pausedUntilMs = new Map<ApiName, number>();
  return {
    requested(api, code, seconds, path, answer) {
      onExchange?.({ api, path, code, durationMs: seconds * 1000, answer });
      letGrowIfBusy();
      telemetry.requested(api, code, seconds);
      if (log.isLevelEnabled('debug'))
        log.debug({ api, path, code, duration_seconds: Number(seconds.toFixed(3)) }, 'asked the API');
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

/**
 * Says what the plan costs once everything was listed, and again whenever an API needs a tenth more or less. That a pace does
 * not suffice is said at once, and again with the new numbers.
 */
function planTeller(isListed: () => boolean, log: Logger): (capacities: readonly ApiCapacity[]) => void {
  let told: readonly ApiCapacity[] | undefined;
  let warned = new Map<ApiName, string>();
  const hasChanged = (capacities: readonly ApiCapacity[]) => {
    const needs = new Map(told?.map(({ api, neededPerSecond }) => [api, neededPerSecond]));
    return (
      capacities.length !== needs.size ||
      capacities.some(({ api, neededPerSecond }) => {
        const before = needs.get(api);
        return before === undefined || Math.abs(neededPerSecond - before) > before / 10;
      })
    );
  };
  return (capacities) => {
    if (told === capacities) return;
    const isTold = told ? hasChanged(capacities) : isListed();
    if (isTold) {
      told = capacities;
      const costs = capacities.map(
        ({ api, neededPerSecond, allowedPerSecond }) =>
          `${api} ${rateText(neededPerSecond)} of ${rateText(allowedPerSecond)}`,
      );
      if (costs.length > 0) log.info(`planned requests/s: ${costs.join(', ')}`);
    }
    const short = new Map<ApiName, string>();
    for (const { api, shortfall } of capacities) {
      if (shortfall === undefined) continue;
      const before = warned.get(api);
      const isNews = before === undefined || (isTold && before !== shortfall);
      if (isNews) log.warn({ api }, shortfall);
      short.set(api, isNews ? shortfall : before);
    }
    warned = short;
  };
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

/** What has changed of the targets: `+2 −1, 1 renamed`; nothing where they are the same. */
function describeChange(before: readonly TargetStatus[], after: readonly TargetStatus[]): string {
  const found = ({ target: { key, name } }: TargetStatus) => ({ ids: { key }, name });
  return describeDiscovery(compareListed(before.map(found), after.map(found)));
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
