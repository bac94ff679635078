/**
 * The whole exporter in process against its own small simulator, on a clock that the test moves. The test can read its
 * page, its counters and its log.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { load } from '../../src/demo.ts';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import type { Shard } from '../../src/polling/shard.ts';
import { resources } from '../../src/resources/index.ts';
import type { ApiName, Ids } from '../../src/resources/resource.ts';
import type { KindName, Shape } from '../../src/simulator/dataset.ts';
import { everything } from '../../src/simulator/everything.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { resourceOf } from '../polling/fixtures.ts';
import { idsOf, referenceKinds } from '../simulator/targets.ts';

/** Long enough that no scheduled poll happens while a row is played. */
export const intervalMs = 3_600_000;
export const maxRetries = 1;
const patienceMs = 30_000;

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly msg: string;
  readonly kind?: string;
  readonly target?: Ids;
  readonly listing_of?: string;
  readonly result?: string;
  readonly reason?: string;
}

export interface Program {
  readonly exporter: Exporter;
  readonly simulator: Simulator;
  /** Default: two of each kind; three zones, each on its own page. */
  readonly targets: Readonly<Record<KindName, readonly Ids[]>>;
  /** The keys that must never be seen. */
  readonly keys: readonly string[];
  readonly log: readonly LogLine[];
  /** Everything that was logged, as it was written. */
  readonly logText: () => string;
  advance(ms: number): void;
  nowMs(): number;
  stop(): Promise<void>;
}

export interface ProgramOptions {
  /** For the APIs that should give up soon; the others have enough time for a busy machine. */
  readonly timeoutMs?: Partial<Record<ApiName, number>>;
  /** Whether targets are named one by one. Default: they are found with the account's key. */
  readonly isNamed?: boolean;
  readonly shape?: Partial<Shape>;
  readonly maxPageSize?: number;
  readonly shard?: Shard;
  /** The key that the exporter has for the account. Default: the right one. */
  readonly accountKey?: (simulator: Simulator) => string;
  /** Default: those of the API reference. */
  readonly kinds?: readonly KindName[];
}

let lastStart: Promise<unknown> = Promise.resolve();

/** Starts programs one after the other: many at a time would block the process for seconds. */
export function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const starting = lastStart.then(async () => {
    const program = await createProgram(options);
    await nextTurn();
    return program;
  });
  lastStart = starting.catch(() => undefined);
  return starting;
}

async function createProgram({
  timeoutMs = {},
  isNamed = false,
  shape,
  maxPageSize = 1,
  shard,
  accountKey,
  kinds = referenceKinds,
}: ProgramOptions): Promise<Program> {
  let nowMs = Date.parse('2026-08-15T12:00:00Z');
  const simulator = createSimulator({
    now: () => nowMs,
    maxPageSize,
    logRequests: true,
    shape: {
      applications: 2,
      zones: 3,
      endpoints: 2,
      rateLimitZones: 2,
      rulesPerZone: 2,
      libraries: 1,
      videosPerLibrary: 2,
      ...shape,
    },
  });
  await simulator.start();
  const targets = Object.fromEntries(kinds.map((kind) => [kind, idsOf(simulator, kind, isNamed)])) as Record<
    KindName,
    readonly Ids[]
  >;
  const { document, env: rightEnv } = everything(simulator, {
    isNamed,
    kinds,
    interval: '1h',
    staleAfter: '30d',
    api: (name) => ({
      timeout: `${(timeoutMs[name as ApiName] ?? patienceMs) / 1000}s`,
      max_concurrency: 8,
      requests_per_second: 500,
      max_retries: maxRetries,
      max_response_bytes: 1_000_000,
    }),
  });
  const env = accountKey ? { ...rightEnv, ACCOUNT_KEY: accountKey(simulator) } : rightEnv;
  const loaded = await load({ document, env });
  const lines: string[] = [];
  const log = pino(
    { base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(line) },
  );
  const exporter = await createExporter({
    load: () => Promise.resolve(loaded),
    addresses: [{ host: '127.0.0.1', port: 0 }],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    shard,
    log,
    now: () => nowMs,
    uptimeMs: () => nowMs,
  });
  return {
    exporter,
    simulator,
    targets,
    keys: [
      ...new Set([
        ...Object.values(env),
        ...Object.values(rightEnv),
        ...Object.values(simulator.keys.libraries),
      ]),
    ],
    get log() {
      // Lines about targets, not about an API or the configuration.
      return lines.map((line) => JSON.parse(line) as LogLine).filter(({ kind }) => kind !== undefined);
    },
    logText: () => lines.join(''),
    advance: (ms) => {
      nowMs += ms;
    },
    nowMs: () => nowMs,
    async stop() {
      await exporter.stop();
      await simulator.stop();
    },
  };
}

/** Polls everything, including what is found by it; resolves with whether all of it succeeded. */
export async function pollAll(exporter: Exporter): Promise<boolean> {
  await exporter.pollOnce();
  const isPending = ({ state }: { state: string }) => state === 'pending';
  while (exporter.listings().some(isPending) || exporter.targets().some(isPending)) await sleep(5);
  const isOk = ({ state }: { state: string }) => state === 'ok';
  return exporter.listings().every(isOk) && exporter.targets().every(isOk);
}

/** The rows of the API's values on a page, by their text up to the value. */
export type Rows = Readonly<Record<string, number>>;

export interface Page {
  readonly text: string;
  /** The series of one target or of all targets of a kind. */
  of(kind: string, ids?: Ids): Rows;
  /** The value of a series, or 0 if there is none. */
  value(series: string): number;
  /** The sum over the series that begin with the text. */
  sum(start: string): number;
}

const kindOf = new Map(
  resources.flatMap(({ kind, metricPrefix, families }) =>
    ['up', 'last_success_timestamp_seconds']
      .map((suffix) => `${metricPrefix}_${suffix}`)
      .concat(families.map(({ name }) => name))
      .map((name) => [name, kind] as const),
  ),
);

export async function readPage(exporter: Exporter): Promise<Page> {
  const text = await exporter.page();
  const ofKinds = new Map<string, (readonly [series: string, value: number])[]>();
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const at = line.lastIndexOf(' ');
    const series = line.slice(0, at);
    const value = Number(line.slice(at + 1));
    const kind = kindOf.get(series.replace(/\{.*$/s, ''));
    values.set(series, value);
    if (kind === undefined) continue;
    if (ofKinds.get(kind)?.push([series, value]) === undefined) ofKinds.set(kind, [[series, value]]);
  }
  return {
    text,
    of(kind, ids = {}) {
      const labels = Object.entries(ids).map(([label, value]) => `${label}="${value}"`);
      const rows = ofKinds.get(kind) ?? [];
      return Object.fromEntries(rows.filter(([series]) => labels.every((label) => series.includes(label))));
    },
    value: (series) => values.get(series) ?? 0,
    sum(start) {
      let sum = 0;
      for (const [series, value] of values) if (series.startsWith(start)) sum += value;
      return sum;
    },
  };
}

export function apiOf(kind: string): ApiName {
  return resourceOf(kind).api;
}
