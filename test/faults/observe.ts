/**
 * Plays one fault on one operation and writes down what could be seen: on the page, in the counters, in the simulator's
 * request log and in the exporter's log, before the first success and after one. It judges nothing.
 */
import { pollResults } from '../../src/api/errors.ts';
import type { Ids } from '../../src/resources/resource.ts';
import type { KindName } from '../../src/simulator/dataset.ts';
import { type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import { isPaged } from '../../src/simulator/kind.ts';
import { operationOf } from '../simulator/addresses.ts';
import { referenceKinds } from '../simulator/targets.ts';
import { expectations, outcomeOf } from './expectations.ts';
import { apiOf, type LogLine, type Program, type Rows, readPage, startProgram } from './program.ts';

export interface Row {
  readonly type: FaultType;
  readonly kind: KindName;
}

export const rows: readonly Row[] = (Object.keys(faultTypes) as FaultType[]).flatMap((type) =>
  referenceKinds.filter((kind) => faultTypes[type].appliesTo.includes(kind)).map((kind) => ({ type, kind })),
);

/** True where one poll reads all targets of the kind, page by page. */
export function isListing(kind: KindName): boolean {
  return isPaged(operationOf(kind));
}

/** What is on the page of the target that is struck (of all zones, for the listing), and of every other by its name. */
export interface Shown {
  readonly hit: Rows;
  readonly others: Readonly<Record<string, Rows>>;
  /** Logged since the last look. */
  readonly log: readonly LogLine[];
}

/** One poll of everything. */
export interface Polled extends Shown {
  /** What the polls of the kind were counted as. */
  readonly results: Readonly<Record<string, number>>;
  /** Requests for what is struck. */
  readonly requests: number;
  readonly paused: boolean;
  readonly mismatches: number;
  readonly unrecognized: number;
}

export interface Observation {
  readonly row: Row;
  /** What is struck; no ids for the listing. */
  readonly target: Ids;
  /** Seconds since 1970 of the polls, by the exporter's clock. */
  readonly firstAt: number;
  readonly secondAt: number;
  readonly thirdAt: number;
  /** The fault strikes from the start; then it is gone. */
  readonly before: Polled;
  readonly restored: Polled;
  /** It strikes again, 20 days later; another 11 days later its values are too old, and those of the others are not. */
  readonly after: Polled;
  readonly stale: Shown;
  readonly recovered: Polled;
  /** Whether a key was on a page or in the log at any time. */
  readonly leaked: boolean;
}

const day = 86_400_000;

export async function observe(row: Row): Promise<Observation> {
  const { type, kind } = row;
  const { parameters } = expectations[type];
  // An answer of 408 is counted as a timeout, too, and needs no waiting.
  const givesUp = outcomeOf(type, kind).result === 'timeout' && !type.startsWith('status-');
  // What is struck, and a neighbour that must not notice: more would only take longer.
  const neighbour = referenceKinds[(referenceKinds.indexOf(kind) + 1) % referenceKinds.length] ?? kind;
  const program = await startProgram({
    isNamed: true,
    kinds: [kind, neighbour],
    timeoutMs: givesUp ? { [apiOf(kind)]: 5000 } : {},
  });
  const { simulator } = program;
  const [hit = {}] = isListing(kind) ? [] : program.targets[kind];
  const target = Object.values(hit).join('/');
  const pages: string[] = [];

  let logged = 0;
  let page = await readPage(program.exporter);
  const look = async (): Promise<Shown> => {
    page = await readPage(program.exporter);
    pages.push(page.text);
    const lines = program.log;
    // What a listing has is no news of a poll.
    const log = lines.slice(logged).filter((line) => !('added' in line));
    logged = lines.length;
    return { hit: page.of(kind, hit), others: othersOn(page, program, kind), log };
  };
  const poll = async (): Promise<Polled> => {
    const old = page;
    const requestsBefore = simulator.requests.length;
    await program.exporter.pollOnce();
    const asked = simulator.requests
      .slice(requestsBefore)
      .filter(({ operation, path }) => operation === kind && holdsAll(path, Object.values(hit)));
    const shown = await look();
    const grown = (start: string) => page.sum(start) - old.sum(start);
    const paused = `bunnynet_exporter_api_paused_until_timestamp_seconds{api="${apiOf(kind)}"}`;
    return {
      ...shown,
      results: Object.fromEntries(
        pollResults
          .map((result) => {
            const series = `bunnynet_exporter_polls_total{kind="${kind}",result="${result}"}`;
            return [result, grown(series)] as const;
          })
          .filter(([, count]) => count > 0),
      ),
      requests: asked.length,
      paused: page.own(paused) > old.own(paused),
      mismatches: grown(`bunnynet_exporter_schema_mismatches_total{kind="${kind}"`),
      unrecognized: grown(`bunnynet_exporter_unrecognized_values_total{kind="${kind}"`),
    };
  };
  const strike = () => simulator.inject({ type, kind, ...(target && { target }), ...parameters });

  try {
    const firstAt = program.nowMs() / 1000;
    strike();
    const before = await poll();
    simulator.clearFaults();
    const restored = await poll();
    program.advance(20 * day);
    const secondAt = program.nowMs() / 1000;
    strike();
    const after = await poll();
    program.advance(11 * day);
    const thirdAt = program.nowMs() / 1000;
    const stale = await look();
    simulator.clearFaults();
    const recovered = await poll();
    const everything = [...pages, program.logText()];
    const leaked = everything.some((text) => program.keys.some((key) => text.includes(key)));
    return {
      row,
      target: hit,
      firstAt,
      secondAt,
      thirdAt,
      before,
      restored,
      after,
      stale,
      recovered,
      leaked,
    };
  } finally {
    await program.stop();
  }
}

function othersOn(
  page: Awaited<ReturnType<typeof readPage>>,
  { targets }: Program,
  struck: KindName,
): Readonly<Record<string, Rows>> {
  const spared = (Object.keys(targets) as KindName[]).flatMap((kind) => {
    if (kind !== struck) return targets[kind].map((ids) => ({ kind, ids }));
    return isListing(kind) ? [] : targets[kind].slice(1).map((ids) => ({ kind, ids }));
  });
  return Object.fromEntries(
    spared.map(({ kind, ids }) => [`${kind} ${Object.values(ids).join('/')}`, page.of(kind, ids)]),
  );
}

/** Whether the ids are parts of the path. */
function holdsAll(path: string, ids: readonly string[]): boolean {
  const parts = path.replace(/\?.*$/, '').split('/');
  return ids.every((id) => parts.includes(id));
}
