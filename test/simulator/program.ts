/** The whole exporter in process against its own small simulator, at a time that stands still. The test reads its page and its log. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import pino from 'pino';
import { load } from '../../src/demo.ts';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import type { Shard } from '../../src/polling/shard.ts';
import type { ApiName, Ids } from '../../src/resources/resource.ts';
import type { KindName, Shape } from '../../src/simulator/dataset.ts';
import { everything } from '../../src/simulator/everything.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { idsOf, referenceKinds } from './targets.ts';

const maxRetries = 1;
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
  stop(): Promise<void>;
}

export interface ProgramOptions {
  /** For the APIs that should give up soon; the others have enough time for a busy machine. */
  readonly timeoutMs?: Partial<Record<ApiName, number>>;
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
  shape,
  maxPageSize = 1,
  shard,
  accountKey,
  kinds = referenceKinds,
}: ProgramOptions): Promise<Program> {
  const nowMs = Date.parse('2026-08-15T12:00:00Z');
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
  const targets = Object.fromEntries(kinds.map((kind) => [kind, idsOf(simulator, kind, false)])) as Record<
    KindName,
    readonly Ids[]
  >;
  const { document, env: rightEnv } = everything(simulator, {
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
    async stop() {
      await exporter.stop();
      await simulator.stop();
    },
  };
}

export interface Page {
  readonly text: string;
  /** The sum over the series that begin with the text. */
  sum(start: string): number;
}

export async function readPage(exporter: Exporter): Promise<Page> {
  const text = await exporter.page();
  return {
    text,
    sum(start) {
      const rows = text.split('\n').filter((line) => line.startsWith(start));
      return rows.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
  };
}
