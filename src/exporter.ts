/**
 * The composition root: it makes every part and connects it to the next. Polls write to the store, scrapes read from it, and
 * neither waits for the other.
 */
import type { Logger } from 'pino';
import { type ApiClients, createClients } from './api/client.ts';
import type { CreateSender } from './api/pool.ts';
import type { ForwardProxy } from './api/proxy.ts';
import type { Cause, CauseInput } from './causes/cause.ts';
import { CauseLog } from './causes/cause-log.ts';
import { causesOf } from './causes/causes.ts';
import { machineUptimeMs } from './clock.ts';
import type { Config } from './config/config.ts';
import { describeConfig } from './config/read.ts';
import { withoutAccounts } from './config/without-accounts.ts';
import { type ReadState, readState } from './counting/state-file.ts';
import { type KeeperOptions, StateKeeper, type StateProblem } from './counting/state-keeper.ts';
import { Store } from './exposition/store.ts';
import { createMetricsRoute } from './http/metrics-route.ts';
import type { Route } from './http/route.ts';
import { type ListenAddress, WebServer } from './http/server.ts';
import {
  describeChange,
  lackingLog,
  logWanted,
  observeRequests,
  orphanLog,
  planLog,
  roundText,
} from './log-lines.ts';
import { PollEngine } from './polling/engine.ts';
import type { ListingStatus } from './polling/listing-status.ts';
import type { Overview } from './polling/overview.ts';
import type { TargetStatus } from './polling/target-task.ts';
import type { Exchange } from './report/report.ts';
import { catalogue } from './resources/catalogue.ts';
import { resources } from './resources/kinds/index.ts';
import { type ApiName, apiNames, type Resource } from './resources/resource.ts';
import { SchemaDrift } from './schema-drift.ts';
import type { Credentials } from './secrets/credentials.ts';
import { Keys } from './secrets/keys.ts';
import { Redactor } from './secrets/redactor.ts';
import type { SameKey } from './secrets/same-keys.ts';
import { selectionWarnings } from './selection-warnings.ts';
import { createPages } from './status/routes.ts';
import type { ExporterStatus } from './status/view.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';
import { plural } from './text.ts';
import { nextTurn } from './turns.ts';

/** A configuration and the keys that it names. */
export interface Setup {
  readonly config: Config;
  readonly credentials: Credentials;
}

export interface ExporterOptions {
  /** Loads and checks the configuration, at the start and at each reload. Rejects with its problems. */
  readonly load: () => Promise<Setup>;
  readonly addresses: readonly ListenAddress[];
  /** Answers probes without TLS and password. */
  readonly probeAddress?: ListenAddress | undefined;
  readonly telemetryPath: string;
  readonly webConfigFile?: string | undefined;
  readonly enableLifecycle: boolean;
  /** Default: direct connections. */
  readonly proxy?: ForwardProxy | undefined;
  readonly log: Logger;
  /** Learns all keys, and hides them on the pages. The log hides those that it knows. Default: one of its own. */
  readonly redactor?: Redactor | undefined;
  /** How many log lines could not be written since the start. Default: none. */
  readonly droppedLogLines?: (() => number) | undefined;
  /**
   * Whether everything is polled only once. Then what is paused for longer than the timeout of its API fails, a library's new key that
   * is refused counts as refused at once, and no value becomes stale. Default: false.
   */
  readonly pollsOnce?: boolean | undefined;
  /** Called with every request that was sent to the API. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /**
   * Whether counters are kept over a restart, if the configuration says where. file: where, whatever the configuration says. Default:
   * they are not.
   */
  readonly state?: ({ readonly file: string | undefined } & Pick<KeeperOptions, 'during'>) | undefined;
  /** Unix time. Default `Date.now`. */
  readonly now?: () => number;
  /** The clock by which values, and connections, age; it never jumps. Default: the machine's uptime. */
  readonly uptimeMs?: () => number;
  /** What requests to an API are sent with. Default: connections to its address. */
  readonly createSender?: CreateSender | undefined;
}

const kinds = resources.map(({ kind }) => kind);
/** The causes that have lines of their own when they occur. */
const loggedAlone: readonly Cause['reason'][] = ['drift', 'reload', 'former_key'];
const probePages = ['/-/healthy', '/-/ready'];
const stopGraceMs = 3000;

export async function createExporter(options: ExporterOptions): Promise<Exporter> {
  const setup = await options.load();
  const path = stateFileOf(options, setup);
  const { now = Date.now } = options;
  return new Exporter(
    options,
    setup,
    path === undefined ? undefined : { path, ...(await readState(path, now())) },
  );
}

/** Where counters are kept; undefined where they are not. */
function stateFileOf({ state }: ExporterOptions, { config }: Setup): string | undefined {
  return state && (state.file ?? config.state.file);
}

/** Where counters are kept, and what was there at the start. */
interface OwnState extends ReadState {
  readonly path: string;
}

export class Exporter {
  readonly #options: ExporterOptions;
  readonly #store: Store;
  readonly #telemetry: Telemetry;
  readonly #clients: ApiClients;
  readonly #engine: PollEngine;
  readonly #keys: Keys;
  readonly #server: WebServer;
  readonly #probes: WebServer | undefined;
  readonly #logPlan: ReturnType<typeof planLog>;
  readonly #logLacking: ReturnType<typeof lackingLog>;
  readonly #logOrphans: ReturnType<typeof orphanLog>;
  readonly #selectionWarnings = selectionWarnings(resources);
  readonly #schemaDrift: SchemaDrift;
  readonly #causeLog: CauseLog;
  /** What the causes depended on when they were logged last. */
  #logged:
    | {
        readonly overview: Overview;
        readonly state: StateProblem | undefined;
        readonly isPaused: boolean;
      }
    | undefined;
  readonly #stateFile: string | undefined;
  readonly #keeper: StateKeeper | undefined;
  readonly #uptimeMs: () => number;
  /** By the machine's uptime. */
  readonly #startedMs: number;
  #setup: Setup;
  /** The accounts that are not read, because they have the key of another one. */
  #sameKeys: readonly SameKey[] = [];
  #configuration: ExporterStatus['configuration'] = { loadedAtMs: Date.now(), refused: undefined };
  /** Of the start and the reloads. */
  #lastChange: Promise<void> = Promise.resolve();

  constructor(options: ExporterOptions, setup: Setup, ownState?: OwnState) {
    const { log, redactor = new Redactor(options.uptimeMs) } = options;
    const { config } = setup;
    this.#options = options;
    this.#uptimeMs = options.uptimeMs ?? machineUptimeMs;
    this.#startedMs = this.#uptimeMs();
    this.#keys = new Keys({
      redactor,
      onChanged: (credentials) => this.#keysChanged(credentials),
      onProblem: (credential, problem) =>
        problem === undefined
          ? log.info({ credential }, 'the key can be read again')
          : log.warn({ credential }, `${problem}; the last readable key stays in use`),
    });
    this.#setup = setup;
    this.#stateFile = ownState?.path;
    this.#store = new Store(catalogue);
    this.#telemetry = createTelemetry(kindsOn(config), {
      overview: () => this.#engine.overview(),
      store: this.#store,
      configuration: () => this.#configuration,
      droppedLogLines: options.droppedLogLines ?? (() => 0),
      accounts: () => this.#setup.config.accounts,
      sameKeys: () => this.#sameKeys,
      pauses: () => this.#pauses(),
      state: ownState && (() => this.#keeper?.writes),
    });
    const observer = observeRequests(this.#telemetry, log, options.onExchange);
    this.#schemaDrift = new SchemaDrift({
      telemetry: this.#telemetry,
      log,
      now: () => this.#now(),
      uptimeMs: this.#uptimeMs,
    });
    const keys = {
      // A key that came with a listing is only for the video API.
      get: (api: ApiName, credential: string) =>
        (api === 'video' ? this.#keys.found.get(credential) : undefined) ?? this.#keys.get(credential),
      check: () => this.#keys.check(),
    };
    const uptimeMs = this.#uptimeMs;
    this.#clients = createClients(config.apis, keys, observer, {
      ...options,
      uptimeMs,
      failsPaused: options.pollsOnce,
    });
    this.#engine = new PollEngine({
      resources,
      store: this.#store,
      clientOf: (api) => this.#clients[api],
      paceOf: (api) => this.#clients[api].pacer,
      observer: {
        ...this.#telemetry,
        mismatched: (...drift) => this.#schemaDrift.mismatched(...drift),
        unrecognized: (...drift) => this.#schemaDrift.unrecognized(...drift),
      },
      log,
      foundKeys: this.#keys.found,
      keyIdOf: (name) => this.#keys.idOf(name),
      onBegun: ownState && (() => this.#keeper?.writeSoon()),
      onSweep: () => {
        void this.#keys.check();
        this.#logCauses();
        this.#logPlan(this.#engine.overview().capacities);
        this.#warnOfSelections();
      },
      now: options.now,
      uptimeMs,
      pollsOnce: options.pollsOnce,
    });
    if (ownState?.state) this.#engine.counters.restore(ownState.state);
    this.#causeLog = new CauseLog(log);
    this.#keeper = ownState && this.#keeperOf(ownState);
    this.#logPlan = planLog(() => this.listings().every(({ state }) => state !== 'pending'), log);
    this.#logLacking = lackingLog(log, resources);
    this.#logOrphans = orphanLog(log);
    const { addresses, probeAddress, webConfigFile } = options;
    const routes = this.#routes(redactor);
    this.#server = new WebServer({ addresses, webConfigFile, log, routes });
    const probed = routes.filter(({ path }) => probePages.includes(path));
    this.#probes = probeAddress && new WebServer({ addresses: [probeAddress], log, routes: probed });
  }

  /** Begins to poll and to serve; resolves with the URLs that it listens on. */
  async start(): Promise<readonly string[]> {
    const { log } = this.#options;
    const urls = await this.#server.start();
    for (const url of await this.#startProbes()) log.info({ url }, 'answering probes');
    await this.#inTurn(() => this.#apply(this.#setup));
    this.#keeper?.begin();
    this.#logWanted();
    const startedMs = performance.now();
    void this.#engine.allPolled.then(() => {
      log.info(roundText(this.targets(), this.listings(), performance.now() - startedMs));
      this.#warnOfSelections();
    });
    return urls;
  }

  /**
   * Polls every target once without serving; resolves with whether every poll succeeded. The first call begins to poll, a further
   * one asks everything again at once, whatever its interval.
   */
  async pollOnce(): Promise<boolean> {
    if (this.#engine.hasPolledAll) {
      await this.#engine.pollNow();
    } else {
      await this.#inTurn(() => this.#apply(this.#setup));
      await this.#engine.allPolled;
    }
    this.#logCauses();
    this.#warnOfSelections();
    return this.#engine.overview().isHealthy && this.#sameKeys.length === 0;
  }

  targets(): readonly TargetStatus[] {
    return this.#engine.overview().targets;
  }

  listings(): readonly ListingStatus[] {
    return this.#engine.overview().listings;
  }

  /** Why something is wrong, the worst first. */
  causes(): readonly Cause[] {
    return causesOf(this.#causeInput());
  }

  /** The current configuration, as it would stand in a file. */
  config(): ReturnType<typeof describeConfig> {
    return describeConfig(this.#setup.config, resources);
  }

  /** The exposition as a scrape in the text format would see it, with or without the exporter's own metrics. */
  async page({ withOwn } = { withOwn: true }): Promise<string> {
    this.#engine.overview();
    const page = this.#store.page('text');
    return Buffer.concat([...page, ...(withOwn ? await this.#telemetry.render('text') : [])]).toString();
  }

  /** Loads the configuration again, once earlier reloads have ended. Rejects if it is wrong, and keeps the previous one. */
  reload(): Promise<void> {
    return this.#inTurn(() => this.#reload());
  }

  /** Resolves when no write of the state is under way. */
  async stateWritten(): Promise<void> {
    await this.#keeper?.settled();
  }

  /** Ends polls and connections, and writes the state for the last time. */
  async stop(): Promise<void> {
    const servers = [this.#server, this.#probes].map((server) => server?.stop(stopGraceMs));
    const polls = this.#engine.stop().then(() => this.#keeper?.end());
    await Promise.all([polls, ...servers]);
    this.#logCauses();
    await Promise.all(apiNames.map((api) => this.#clients[api].close()));
  }

  #keeperOf({ path, state, problem }: OwnState): StateKeeper {
    const { log } = this.#options;
    if (problem !== undefined) log.error(problem);
    const known =
      state && `${plural(state.targets.length, 'target')} go on as of ${isoTime(state.written_at)}`;
    log.info({ state: path }, known ? `the counters of ${known}` : 'counters begin, and are to be kept');
    const { counters } = this.#engine;
    return new StateKeeper({
      path,
      readWriter: state?.writer,
      states: () => counters.states(),
      now: () => this.#now(),
      during: this.#options.state?.during,
    });
  }

  async #startProbes(): Promise<readonly string[]> {
    try {
      return (await this.#probes?.start()) ?? [];
    } catch (error) {
      await this.#server.stop(0);
      throw error;
    }
  }

  /** Changes the configuration once earlier changes have ended. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    this.#lastChange = this.#lastChange.then(change, change);
    return this.#lastChange;
  }

  async #reload(): Promise<void> {
    const { log, load } = this.#options;
    let setup: Setup;
    try {
      setup = await load();
      this.#server.reload();
    } catch (error) {
      const { message } = error as Error;
      this.#configuration = { ...this.#configuration, refused: { atMs: Date.now(), message } };
      log.error(`keeping the previous configuration: ${message}`);
      throw error;
    }
    const file = stateFileOf(this.#options, setup);
    if (file !== this.#stateFile)
      log.warn(
        `state.file takes effect with a restart: counters are kept in ${this.#stateFile ?? 'no file'} until then`,
      );
    const before = this.#engine.targets();
    await this.#apply(setup);
    const change = describeChange(before, this.#engine.targets());
    // In another turn: the plan alone may have taken long.
    await nextTurn();
    log.info(`the configuration was reloaded: ${change === '' ? 'the same targets' : `targets ${change}`}`);
    this.#logWanted();
    this.#warnOfSelections();
  }

  #routes(redactor: Redactor): readonly Route[] {
    const { telemetryPath, enableLifecycle } = this.#options;
    const metrics = createMetricsRoute({
      store: this.#store,
      kinds,
      ownMetrics: (format) => this.#telemetry.render(format),
      beforeScrape: () => void this.#engine.overview(),
    });
    const pages = createPages({
      telemetryPath,
      hide: (text) => redactor.redact(text),
      kinds: resources,
      exporterStatus: () => this.#status(),
      causeInput: () => this.#causeInput(),
      isReady: () => this.#engine.isReady,
      hasRead: () => this.#engine.hasRead,
      accounts: () => this.#setup.config.accounts,
      leftOut: () => this.#sameKeys.map(({ account }) => account),
      isOn: (kind) => this.#setup.config.sections.some((section) => section.kind === kind),
      targets: () => this.targets(),
      listings: () => this.listings(),
      tallies: () => this.#engine.overview().tallies,
      nextPollInMs: (target) => this.#engine.nextPollInMs(target),
      config: () => this.config(),
      reload: enableLifecycle ? () => this.reload() : undefined,
    });
    return [{ path: telemetryPath, methods: ['GET'], handle: metrics }, ...pages];
  }

  #status(): ExporterStatus {
    return {
      upMs: this.#uptimeMs() - this.#startedMs,
      series: (kind) => this.#store.series(kind),
      configuration: this.#configuration,
      capacities: this.#engine.overview().capacities,
    };
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #causeInput(): CauseInput {
    const { config } = this.#setup;
    const { health, targets, listings, capacities, shared, tallies } = this.#engine.overview();
    const kinds = new Set(tallies.map(({ kind }) => kind));
    return {
      health,
      targets,
      listings,
      kinds: resources,
      baseUrlOf: (api) => config.apis[api].baseUrl,
      addressNameOf: (api) => config.apis[api].names.address,
      keySource: (name) => this.#keys.describe(name),
      noKeyReason: (name) => this.#keys.found.noKeyReason(name),
      exporter: {
        refusedReload: this.#configuration.refused,
        pauses: this.#pauses(),
        capacities,
        schemaDrift: this.#schemaDrift.fields().filter(({ kind }) => kinds.has(kind)),
        shared,
        sameKeys: this.#sameKeys,
        formerKeys: this.#keys.problems,
        state: this.#keeper?.problem,
      },
      nowMs: this.#now(),
      uptimeMs: this.#uptimeMs(),
    };
  }

  /** What the APIs have paused, and until when. */
  #pauses(): CauseInput['exporter']['pauses'] {
    const nowMs = this.#now();
    const { health, targets, listings } = this.#engine.overview();
    const isAsked = (credential: string, kind: string) =>
      targets.some(({ target }) => target.kind === kind && target.credential === credential) ||
      listings.some(({ poll }) => poll.kind === kind && poll.credential === credential);
    return Array.from(health.apis, ([api, { keys }]) => {
      const parts = this.#clients[api].pacer.pauses(keys.keys());
      return parts
        .filter(({ credential, kind }) => kind === '' || isAsked(credential, kind))
        .map(({ forMs, ...part }) => ({ api, ...part, untilMs: nowMs + forMs }));
    }).flat();
  }

  #logCauses(): void {
    const overview = this.#engine.overview();
    const state = this.#keeper?.problem;
    const isPaused = this.#pauses().length > 0;
    const { overview: before, state: stateBefore, isPaused: wasPaused } = this.#logged ?? {};
    // In most sweeps nothing has changed since the one before. Pauses alone begin and end without a poll.
    if (overview === before && state === stateBefore && !isPaused && !wasPaused) return;
    this.#logged = { overview, state, isPaused };
    this.#logLacking(overview.listings);
    this.#logOrphans(overview.listings);
    const causes = this.causes().filter(({ reason }) => !loggedAlone.includes(reason));
    this.#causeLog.write(causes, this.#now(), this.#uptimeMs());
  }

  async #apply(setup: Setup): Promise<void> {
    const { config, credentials } = setup;
    const keys = await credentials.readAll();
    // Nothing is awaited from here on: no request has a key of one configuration and the address of another, and the engine drops
    // a listing that was partly read with the previous keys.
    this.#keys.use(credentials, keys);
    this.#setup = setup;
    this.#configuration = { loadedAtMs: Date.now(), refused: undefined };
    this.#telemetry.setKinds(kindsOn(config));
    for (const api of apiNames)
      this.#clients[api]
        .reconfigure(config.apis[api])
        .catch((err: unknown) => this.#options.log.error({ api, err }, 'keeping its previous settings'));
    this.#sameKeys = this.#keys.sameKeys(config.accounts);
    this.#engine.apply(this.#readConfig());
  }

  /** What is read of the configuration. */
  #readConfig(): Config {
    return withoutAccounts(
      this.#setup.config,
      this.#sameKeys.map(({ account }) => account),
    );
  }

  /** Key files have changed, and with them perhaps which accounts are read. */
  #keysChanged(credentials: readonly string[]): void {
    const before = JSON.stringify(this.#sameKeys);
    this.#sameKeys = this.#keys.sameKeys(this.#setup.config.accounts);
    if (JSON.stringify(this.#sameKeys) !== before) this.#engine.apply(this.#readConfig());
    const left = new Set(this.#sameKeys.map(({ account }) => account));
    this.#engine.keysChanged(credentials.filter((credential) => !left.has(credential)));
  }

  /** Says what of the patterns is hardly meant, once everything was polled once: then all is known that they select from. */
  #warnOfSelections(): void {
    if (!this.#engine.hasPolledAll) return;
    const { listings } = this.#engine.overview();
    const leftOut = this.#sameKeys.map(({ account }) => account);
    for (const text of this.#selectionWarnings(this.#setup.config, listings, leftOut))
      this.#options.log.warn(text);
  }

  #logWanted(): void {
    const { log } = this.#options;
    const { tallies } = this.#engine.overview();
    logWanted(log, this.#setup.config, resources, (kind) =>
      tallies.reduce((sum, each) => sum + (each.kind === kind ? each.counts.targets : 0), 0),
    );
  }
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** The kinds that have a section. */
function kindsOn({ sections }: Config): readonly Resource[] {
  return resources.filter(({ kind }) => sections.some((section) => section.kind === kind));
}
