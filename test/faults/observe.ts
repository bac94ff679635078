/**
 * Plays one fault on one target of some kinds and records what can be seen of each: on the page, in the counters, in
 * the simulator's request log and in the exporter's log, before the first success and after one. It checks nothing.
 */
import { pollResults } from '../../src/api/errors.ts';
import type { Ids } from '../../src/resources/resource.ts';
import type { KindName } from '../../src/simulator/dataset.ts';
import { type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import { isPaged } from '../../src/simulator/kind.ts';
import { operationOf } from '../simulator/addresses.ts';
import { at } from '../simulator/ask.ts';
import { referenceKinds } from '../simulator/targets.ts';
import { expectations, outcomeOf } from './expectations.ts';
import {
  apiOf,
  type LogLine,
  type Page,
  type Program,
  type Rows,
  readPage,
  startProgram,
} from './program.ts';

export interface Row {
  readonly type: FaultType;
  readonly kind: KindName;
}

export const rows: readonly Row[] = (Object.keys(faultTypes) as FaultType[]).flatMap((type) =>
  referenceKinds.filter((kind) => faultTypes[type].appliesTo.includes(kind)).map((kind) => ({ type, kind })),
);

/** The log has at most 20 single lines a minute: a row takes five, the listing of three zones seven. */
const rowsAtOnce = 3;

/**
 * The rows that one program plays at once, all of the same fault. A refused key is logged only once, whatever targets it
 * affects, so those rows are played alone.
 */
export const groups: readonly (readonly Row[])[] = groupsOf(rows);

function groupsOf(all: readonly Row[]): readonly (readonly Row[])[] {
  const made: Row[][] = [];
  const isAlone = ({ type, kind }: Row) => outcomeOf(type, kind).result === 'auth';
  for (const row of all) {
    const last = made.at(-1) ?? [];
    const fits = last[0]?.type === row.type && last.length < rowsAtOnce && ![...last, row].some(isAlone);
    if (fits) last.push(row);
    else made.push([row]);
  }
  return made;
}

/** Whether one poll reads all targets of the kind, page by page. */
export function isListing(kind: KindName): boolean {
  return isPaged(operationOf(kind));
}

/** The rows of the struck target (of all zones, for the listing), and of every other target by its name. */
export interface Shown {
  readonly hit: Rows;
  readonly others: Readonly<Record<string, Rows>>;
  /** Logged since the last look. */
  readonly log: readonly LogLine[];
}

/** One poll of everything. */
export interface Polled extends Shown {
  /** The polls of the kind, counted by result. */
  readonly results: Readonly<Record<string, number>>;
  /** Requests for the struck target. */
  readonly requests: number;
  readonly paused: boolean;
  readonly mismatches: number;
  readonly unrecognized: number;
}

export interface Observation {
  readonly row: Row;
  /** The struck target; no ids for the listing. */
  readonly target: Ids;
  /** Seconds since 1970 of the polls, by the exporter's clock. */
  readonly firstAt: number;
  readonly secondAt: number;
  readonly thirdAt: number;
  /** While the fault strikes from the start; `restored` is after it. */
  readonly before: Polled;
  readonly restored: Polled;
  /** The fault strikes again 20 days later. Another 11 days later the target's values are too old, those of others are not. */
  readonly after: Polled;
  readonly stale: Shown;
  readonly recovered: Polled;
  /** Whether a key was on a page or in the log at any time. */
  readonly leaked: boolean;
}

/** What can be seen at one moment, and what happened since the last one. */
interface Moment {
  readonly page: Page;
  readonly log: readonly LogLine[];
  readonly requests: Program['simulator']['requests'];
}

const day = 86_400_000;

export async function observe(group: readonly Row[]): Promise<readonly Observation[]> {
  const struck = group.map(({ kind }) => kind);
  // A 408 counts as a timeout too, but takes no time.
  const isSlow = ({ type, kind }: Row) =>
    outcomeOf(type, kind).result === 'timeout' && !type.startsWith('status-');
  const program = await startProgram({
    isNamed: true,
    // The struck target and an unaffected neighbour: more would only take longer.
    kinds: [...new Set([...struck, neighbourOf(struck.at(-1))])],
    timeoutMs: Object.fromEntries(group.filter(isSlow).map(({ kind }) => [apiOf(kind), 5000])),
  });
  const { simulator, exporter } = program;
  const hits = new Map(
    struck.map((kind) => [kind, isListing(kind) ? {} : (program.targets[kind][0] ?? {})] as const),
  );

  let logged = 0;
  let asked = 0;
  const pages: string[] = [];
  const look = async (): Promise<Moment> => {
    const page = await readPage(exporter);
    pages.push(page.text);
    const { log } = program;
    // Changes of a listing are not about a poll.
    const news = log.slice(logged).filter((line) => !('added' in line));
    logged = log.length;
    const requests = simulator.requests.slice(asked);
    asked = simulator.requests.length;
    return { page, log: news, requests };
  };
  const poll = async (): Promise<Moment> => {
    await exporter.pollOnce();
    return await look();
  };
  const strike = () => {
    for (const { type, kind } of group) {
      const target = Object.values(hits.get(kind) ?? {}).join('/');
      simulator.inject({ type, kind, ...(target && { target }), ...expectations[type].parameters });
    }
  };

  try {
    const start = await look();
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
    return group.map((row) => {
      const target = hits.get(row.kind) ?? {};
      const shown = ({ page, log }: Moment): Shown => ({
        hit: page.of(row.kind, target),
        others: othersOn(page, program, struck),
        // There must be none of other kinds.
        log: log.filter(({ kind }) => kind === row.kind || !(struck as readonly unknown[]).includes(kind)),
      });
      const polled = (moment: Moment, last: Moment) => ({
        ...shown(moment),
        ...countedOf(row.kind, Object.values(target), moment, last),
      });
      return {
        row,
        target,
        firstAt,
        secondAt,
        thirdAt,
        before: polled(before, start),
        restored: polled(restored, before),
        after: polled(after, restored),
        stale: shown(stale),
        recovered: polled(recovered, stale),
        leaked,
      };
    });
  } finally {
    await program.stop();
  }
}

function neighbourOf(kind: KindName | undefined): KindName {
  const next = kind === undefined ? 0 : referenceKinds.indexOf(kind) + 1;
  return at(referenceKinds, next % referenceKinds.length);
}

/** What a poll counted for a kind and for the struck ids. */
function countedOf(kind: KindName, ids: readonly string[], { page, requests }: Moment, last: Moment) {
  const gained = (series: string) => page.value(series) - last.page.value(series);
  const sum = (start: string) => page.sum(start) - last.page.sum(start);
  const results = pollResults
    .map(
      (result) =>
        [result, gained(`bunnynet_exporter_polls_total{kind="${kind}",result="${result}"}`)] as const,
    )
    .filter(([, count]) => count > 0);
  return {
    results: Object.fromEntries(results),
    requests: requests.filter(({ operation, path }) => operation === kind && holdsAll(path, ids)).length,
    paused: gained(`bunnynet_exporter_api_paused_until_timestamp_seconds{api="${apiOf(kind)}"}`) > 0,
    mismatches: sum(`bunnynet_exporter_schema_mismatches_total{kind="${kind}"`),
    unrecognized: sum(`bunnynet_exporter_unrecognized_values_total{kind="${kind}"`),
  };
}

/** The targets that are not struck: one of each struck kind that is not a listing, and all of the other kinds. */
function othersOn(
  page: Page,
  { targets }: Program,
  struck: readonly KindName[],
): Readonly<Record<string, Rows>> {
  const spared = (Object.keys(targets) as KindName[]).flatMap((kind) => {
    const from = !struck.includes(kind) ? 0 : isListing(kind) ? targets[kind].length : 1;
    return targets[kind].slice(from).map((ids) => ({ kind, ids }));
  });
  return Object.fromEntries(
    spared.map(({ kind, ids }) => [`${kind} ${Object.values(ids).join('/')}`, page.of(kind, ids)]),
  );
}

/** Whether the path contains the ids. */
function holdsAll(path: string, ids: readonly string[]): boolean {
  const parts = path.replace(/\?.*$/, '').split('/');
  return ids.every((id) => parts.includes(id));
}
