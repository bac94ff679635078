/**
 * A history for the first day: reads what the API has of the past, kind by kind, and writes it as OpenMetrics with timestamps. Only
 * figures by hours or days have a past. The history has their counters, their newest days, their names, and `_up`. Of this directory
 * the program knows this file alone.
 */
import type { Writable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { FoundTargets, Target } from '../polling/past.ts';
import { allLabelsOf, catalogue } from '../resources/catalogue.ts';
import { firstOfDays } from '../resources/queries.ts';
import {
  type Family,
  type Ids,
  idText,
  isReadAlone,
  type Labels,
  type ReadResource,
  type Resource,
} from '../resources/resource.ts';
import { dayMs, hourMs, type Range } from '../resources/times.ts';
import { buildInfo } from '../telemetry.ts';
import { andList, count, plural } from '../text.ts';
import { Estimate } from './estimate.ts';
import {
  familiesOf,
  isName,
  labelsIn,
  namesOf,
  type Source,
  sourcesOf,
  TargetHistory,
  type Untold,
} from './history.ts';
import { stateOf } from './history-state.ts';
import { Output } from './output.ts';
import { type Answered, hasHistory, type PastOptions, PastReader } from './past-reader.ts';
import {
  asksForDays,
  defaultUntilMs,
  floor,
  isEmptyRange,
  merged,
  piecesOf,
  timeText,
  wholeIn,
} from './ranges.ts';
import { type Fill, seriesToWrite, throughout } from './rows.ts';
import { always, type Grid } from './samples.ts';
import { type CountedTarget, checkStateFile, writeHistoryState } from './state-file.ts';

export { askLongAgo } from './long-ago.ts';
export { ClosedError } from './output.ts';
export { hasHistory, type PastOptions } from './past-reader.ts';

export interface BackfillOptions extends PastOptions {
  readonly durationMs: number;
  /** Unix time. Default: `defaultUntilMs`. */
  readonly untilMs?: number | undefined;
  /** It divides an hour. */
  readonly stepMs: number;
  /** The labels that each row gets beside its own; none that a family has. */
  readonly labels: Labels;
  /** Whether the version of the exporter is written, too. */
  readonly withOwn: boolean;
  readonly output: Writable;
  /** Where the exporter finds what the history has counted, to go on from there. Undefined: nowhere. */
  readonly stateFile?: string | undefined;
  /** Called while requests are made and rows are written. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Unix time. Default `Date.now`. */
  readonly now?: () => number;
}

export interface Progress {
  /** How many answers have come. */
  readonly done: number;
  /** How many are to come in all. */
  readonly planned: number;
  readonly bytes: number;
}

/** How many targets of each kind the estimate looks at: few targets can have most of the series. */
const probedTargets = 24;

/** How many days an answer about no range has. */
const windowDays = 28;

/** Asks Prometheus since when an exporter counts, and since when it is scraped. */
const begins =
  'min_over_time(bunnynet_exporter_counting_since_timestamp_seconds[90d:5m]) or min_over_time(timestamp(bunnynet_exporter_build_info)[90d:5m])';

/** The labels that a row can have already. */
export function takenLabels(): ReadonlySet<string> {
  return new Set([...catalogue.flatMap(allLabelsOf), ...Object.keys(buildInfo.labels)]);
}

/** One read of one target: of a piece of the past, or without a piece of all that the API has. */
interface Job {
  readonly history: TargetHistory;
  readonly resource: ReadResource;
  readonly piece: Range | undefined;
}

/** A kind with figures of the past. */
interface KindPlan {
  readonly resource: ReadResource;
  readonly span: Range;
  readonly sources: ReadonlyMap<Family, Source>;
  readonly histories: readonly TargetHistory[];
  readonly jobs: readonly Job[];
}

/** Resolves with whether nothing is missing. Rejects once the signal is aborted, or nobody reads the output any more. */
export async function backfill(options: BackfillOptions): Promise<boolean> {
  return await new Backfill(options).run();
}

class Backfill {
  readonly #options: BackfillOptions;
  readonly #past: PastReader;
  readonly #output: Output;
  readonly #grid: Grid;
  readonly #now: () => number;
  readonly #nowMs: number;
  /** The time of which there are counters, by the ids of their targets and of what these are part of. */
  readonly #named = new Map<string, Range[]>();
  /** The answers that the estimate asked for early. */
  readonly #early = new Map<Job, Promise<Answered>>();
  /** What was counted of the targets that are written. */
  readonly #counted: CountedTarget[] = [];
  /** Of which something is missing. */
  readonly #incomplete = new Set<TargetHistory>();
  #done = 0;
  #planned = 0;
  #missing = 0;

  constructor(options: BackfillOptions) {
    const { signal, output, labels, stepMs, now = Date.now } = options;
    this.#options = options;
    this.#past = new PastReader(options);
    this.#now = now;
    this.#nowMs = now();
    // No kind has less than an hour.
    this.#grid = { stepMs, untilMs: floor(options.untilMs ?? defaultUntilMs(this.#nowMs), hourMs) };
    this.#output = new Output(output, labels, signal);
  }

  async run(): Promise<boolean> {
    const { log, resources, config, stateFile } = this.#options;
    const { fromMs, toMs } = this.#whole;
    if (stateFile !== undefined) await checkStateFile(stateFile);
    this.#warnOfEnd();
    try {
      await this.#past.open();
      const discovered = await this.#past.discover((kind) => isWanted(kind, config, resources), this.#now());
      for (const failure of discovered.failures) this.#miss(failure);
      const plans = this.#plan(discovered);
      const isNamedAlone = ({ resource }: Target) => isReadAlone(resource) && !hasHistory(resource);
      this.#planned += discovered.targets.filter(isNamedAlone).length;
      log.info(`the history is of ${timeText(fromMs)} to ${timeText(toMs)}`);
      await this.#announce(plans, discovered);
      if (this.#options.withOwn) await this.#writeOwn();
      for (const plan of plans) await this.#writeKind(plan);
      await this.#writeNames(discovered);
      await this.#output.end();
      const { series, samples, bytes } = this.#output;
      log.info(
        `wrote ${count(series)} series, ${plural(samples, 'sample')} and ${bytesText(bytes)} after ${plural(this.#past.requests, 'request')}`,
      );
      if (stateFile !== undefined) await this.#writeState(stateFile);
      return this.#missing === 0;
    } finally {
      await this.#past.close();
    }
  }

  /** After the history: a state of what is not in it would be wrong. */
  async #writeState(path: string): Promise<void> {
    const { log } = this.#options;
    const { written, kept } = await writeHistoryState(path, this.#counted, this.#now());
    const kinds = andList([...new Set(kept.map(({ kind }) => kind))]);
    if (written.length === 0)
      log.warn(
        `the state file ${path} is not written, since this history has no counter for it${kept.length > 0 ? `: it is still that of an earlier history (${plural(kept.length, 'target')})` : ''}`,
      );
    else if (kept.length > 0)
      log.warn(
        `the state file ${path} keeps what an earlier history has counted and this one has not, or less of: ${plural(kept.length, 'target')} of ${kinds}`,
      );
    if (written.length > 0)
      log.info(
        `an exporter that is started with the state file ${path} goes on from this history: ${plural(written.length, 'target')}`,
      );
  }

  /** The time that is asked for. */
  get #whole(): Range {
    const { untilMs } = this.#grid;
    return { fromMs: untilMs - this.#options.durationMs, toMs: untilMs };
  }

  #warnOfEnd(): void {
    const { log } = this.#options;
    const { untilMs } = this.#grid;
    const end = timeText(untilMs);
    log.info(
      `the history ends at ${end}. It must end before the first reading of the exporter and before the first sample that Prometheus has of it: if min(${begins}) is lower, pass that time as --backfill.until`,
    );
    if (untilMs > defaultUntilMs(this.#nowMs))
      log.warn(
        `${end} is less than three hours ago: Prometheus may lose samples of all its series at its next restart if this history is loaded before ${timeText(untilMs + 3 * hourMs)}`,
      );
  }

  #plan({ targets }: FoundTargets): readonly KindPlan[] {
    const { resources, config } = this.#options;
    return resources.flatMap((resource) => {
      const { kind } = resource;
      if (!hasHistory(resource) || !config.sections.some((section) => section.kind === kind)) return [];
      const { query } = resource;
      const span = wholeIn(this.#within(resource), query?.isByHours ? hourMs : dayMs);
      if (isEmptyRange(span)) {
        this.#miss(`${kind}: no whole ${query?.isByHours ? 'hour' : 'UTC day'} is in this time`);
        return [];
      }
      const sources = sourcesOf(kind);
      const histories = targets.filter((one) => one.kind === kind).map((one) => new TargetHistory(one, span));
      const pieces = asksForDays(query) ? piecesOf(query, span) : [undefined];
      const jobs = histories.flatMap((history) => pieces.map((piece) => ({ history, resource, piece })));
      this.#planned += jobs.length;
      return [{ resource, span, sources, histories, jobs }];
    });
  }

  /** The time of which the API has a kind. */
  #within({ kind, query }: ReadResource): Range {
    const { fromMs, toMs } = this.#whole;
    if (query?.reachDays === undefined) return this.#whole;
    const firstMs = firstOfDays(query.reachDays, this.#nowMs);
    if (firstMs > fromMs)
      this.#options.log.info(
        { kind },
        `${kind}: the API gives the last ${query.reachDays} days, so there is nothing before ${dayText(firstMs)}`,
      );
    return { fromMs: Math.max(fromMs, firstMs), toMs };
  }

  /** Says what comes. The newest answers of some targets of each kind show how many series a target has. */
  async #announce(plans: readonly KindPlan[], { targets, foundFor }: FoundTargets): Promise<void> {
    for (const job of plans.flatMap(probesOf)) {
      const answer = this.#read(job);
      // It is awaited later, or not at all once this is interrupted.
      answer.catch(() => undefined);
      this.#early.set(job, answer);
    }
    const estimate = new Estimate(this.#options.labels);
    const fill: Fill = (emit) => always([this.#whole], this.#grid, emit);
    if (this.#options.withOwn) estimate.add(buildInfo.name, buildInfo.labels, fill);
    for (const plan of plans) await this.#estimate(plan, estimate);
    const counted = new Set(
      plans.flatMap(({ histories }) => histories.flatMap(({ target }) => keysOf(target.ids))),
    );
    for (const [resource, family] of this.#namingAlone())
      for (const target of targets) {
        if (target.kind !== resource.kind || !counted.has(idsKey(target.ids))) continue;
        const reading = foundFor(target)?.reading;
        const names =
          reading === undefined ? [{ name: target.name ?? '' }] : labelsIn(namesOf(target, reading), family);
        for (const labels of names) estimate.add(family.name, { ...target.ids, ...labels }, fill);
      }
    const { series, samples, bytes } = estimate;
    this.#options.log.info(
      `${plural(this.#planned, 'request')} ${this.#planned === 1 ? 'comes' : 'come'}, at half of the pace of each API, and about ${count(Math.round(series))} series, ${count(Math.round(samples))} samples and ${bytesText(bytes)}`,
    );
  }

  async #estimate({ resource, span, sources, histories, jobs }: KindPlan, estimate: Estimate): Promise<void> {
    const probes: TargetHistory[] = [];
    for (const job of jobs) {
      const answer = await this.#early.get(job);
      if (!answer || 'failure' in answer) continue;
      const probe = new TargetHistory(job.history.target, span);
      probe.add(sources, answer.reading, answer.answered ?? this.#window(span));
      probes.push(probe);
    }
    const times = histories.length / probes.length;
    for (const probe of probes) {
      const ofTime = lengthOf([span]) / lengthOf(probe.ranges);
      for (const family of familiesOf(resource.kind))
        for (const { labels, fill } of seriesToWrite(family, sources, probe, this.#grid))
          estimate.add(family.name, { ...probe.target.ids, ...labels }, fill, { times, ofTime });
    }
  }

  async #writeOwn(): Promise<void> {
    const { name, labels } = buildInfo;
    this.#output.begin(buildInfo);
    await this.#output.write(name, labels, (emit) => always([this.#whole], this.#grid, emit));
  }

  async #writeKind(plan: KindPlan): Promise<void> {
    const { resource, histories } = plan;
    const failures = await this.#readAll(plan);
    this.#sayWhatIsMissing(plan, failures);
    const read = histories.filter(({ beginsMs }) => Number.isFinite(beginsMs));
    for (const history of read) this.#note(history);
    for (const family of familiesOf(resource.kind)) await this.#writeFamily(family, plan, read);
    const counters = familiesOf(resource.kind).filter((family) => family.days !== undefined);
    for (const history of read) {
      const state = this.#options.stateFile === undefined ? undefined : stateOf(history, counters);
      if (state) this.#counted.push({ state, isWhole: !this.#incomplete.has(history) });
    }
    for (const history of histories) history.forget();
  }

  /** Makes the requests of a kind, and returns those that failed. */
  async #readAll({ jobs, sources, span, resource }: KindPlan): Promise<readonly (readonly [Job, string])[]> {
    const failures: (readonly [Job, string])[] = [];
    const left = jobs.values();
    const work = async () => {
      for (const job of left) {
        const answer = await (this.#early.get(job) ?? this.#read(job));
        this.#early.delete(job);
        this.#done++;
        this.#progress();
        if ('failure' in answer) failures.push([job, answer.failure]);
        else job.history.add(sources, answer.reading, answer.answered ?? this.#window(span));
      }
    };
    const { maxConcurrency } = this.#options.config.apis[resource.api];
    await Promise.all(Array.from({ length: Math.max(1, Math.ceil(maxConcurrency / 2)) }, work));
    return failures;
  }

  /** The time of an answer that is about the past 28 days, whatever is asked for. */
  #window({ fromMs, toMs }: Range): Range {
    return { fromMs: Math.max(fromMs, firstOfDays(windowDays, this.#nowMs)), toMs };
  }

  #read({ history, resource, piece }: Job): Promise<Answered> {
    // A run can go on beyond midnight, and then one day more is too long ago for hours.
    return this.#past.read(resource, history.target, piece, this.#now());
  }

  #sayWhatIsMissing(
    { resource, histories, span }: KindPlan,
    failures: readonly (readonly [Job, string])[],
  ): void {
    const { log } = this.#options;
    const { kind } = resource;
    for (const history of histories) {
      const ofTarget = failures.filter(([job]) => job.history === history);
      const name = `${kind} ${targetName(history.target)}`;
      if (ofTarget.length > 0 || history.untold.length > 0) this.#incomplete.add(history);
      for (const [reason, ranges] of byReason(ofTarget))
        this.#miss(`${ranges.length > 0 ? `${ranges.map(daysText).join(', ')} of ` : ''}${name}: ${reason}`);
      for (const [families, ranges] of byFamilies(history.untold))
        this.#miss(
          `${ranges.map(daysText).join(', ')} of ${name}: the answer says nothing about ${families}`,
        );
    }
    const beginsMs = Math.min(...histories.map((one) => one.beginsMs));
    if (histories.length === 0) return;
    if (!Number.isFinite(beginsMs)) log.info({ kind }, `${kind}: the API has nothing of this time`);
    else if (beginsMs > span.fromMs) log.info({ kind }, `${kind}: nothing before ${dayText(beginsMs)}`);
  }

  #miss(what: string): void {
    this.#missing++;
    this.#options.log.warn(`the history lacks ${what}`);
  }

  async #writeFamily(
    family: Family,
    { sources }: KindPlan,
    histories: readonly TargetHistory[],
  ): Promise<void> {
    const writer = this.#writerOf(family);
    for (const history of histories)
      for (const { labels, fill } of seriesToWrite(family, sources, history, this.#grid))
        await writer(history.target.ids, labels, fill);
  }

  /** Writes series of a family, after its header with the first. */
  #writerOf(family: Family) {
    let hasBegun = false;
    return async (ids: Ids, labels: Labels | undefined, fill: Fill) => {
      if (!hasBegun) this.#output.begin(family);
      hasBegun = true;
      await this.#output.write(family.name, { ...ids, ...labels }, fill);
      this.#progress();
    };
  }

  /** Notes the time of which a target has counters, for the families that name the target or what it is part of. */
  #note({ target, ranges }: TargetHistory): void {
    for (const key of keysOf(target.ids)) {
      const known = this.#named.get(key) ?? [];
      this.#named.set(key, [...known, ...throughout(ranges)]);
    }
  }

  /** The names from kinds that have no counters. */
  async #writeNames({ targets, foundFor }: FoundTargets): Promise<void> {
    for (const [resource, family] of this.#namingAlone()) {
      const writer = this.#writerOf(family);
      for (const target of targets.filter(({ kind }) => kind === resource.kind)) {
        const ranges = this.#named.get(idsKey(target.ids));
        if (!ranges) continue;
        const names = await this.#namesOf(target, resource, foundFor(target)?.reading);
        for (const labels of labelsIn(names, family))
          await writer(target.ids, labels, (emit) => always(throughout(ranges), this.#grid, emit));
      }
    }
  }

  /** The families that name targets, of kinds without counters. */
  #namingAlone(): readonly (readonly [Resource, Family])[] {
    return this.#options.resources
      .filter((resource) => !hasHistory(resource))
      .flatMap((resource) =>
        familiesOf(resource.kind)
          .filter(isTargetName)
          .map((family) => [resource, family] as const),
      );
  }

  async #namesOf(target: Target, resource: Resource, found: unknown) {
    if (!isReadAlone(resource)) return found === undefined ? [] : namesOf(target, found);
    const answer = await this.#read({
      history: new TargetHistory(target, this.#whole),
      resource,
      piece: undefined,
    });
    this.#done++;
    if ('reading' in answer) return namesOf(target, answer.reading);
    this.#miss(`the name of ${resource.kind} ${targetName(target)}: ${answer.failure}`);
    return [];
  }

  #progress(): void {
    this.#options.onProgress?.({ done: this.#done, planned: this.#planned, bytes: this.#output.bytes });
  }
}

/** Whether a family names the targets of its kind, not their parts: only targets may have a counter of another kind. */
function isTargetName(family: Family): boolean {
  return isName(family) && family.named === 'target';
}

/** The newest job that is not about a part of a day, of some targets that are spread over all. */
function probesOf({ histories, jobs }: KindPlan): readonly Job[] {
  const probed = new Set(
    Array.from(
      { length: probedTargets },
      (_, at) => histories[Math.floor((at * histories.length) / probedTargets)],
    ),
  );
  return [...probed].flatMap((one) =>
    jobs
      .filter(({ history }) => history === one)
      .slice(-2)
      .slice(0, 1),
  );
}

function lengthOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}

/** Whether a kind has a history, or names what has one. */
function isWanted(kind: string, { sections }: Config, resources: readonly Resource[]): boolean {
  const resource = resources.find((one) => one.kind === kind);
  if (!resource) return false;
  if (hasHistory(resource)) return true;
  const ids = resource.ids.map(({ label }) => label);
  return (
    familiesOf(kind).some(isTargetName) &&
    resources.some(
      (one) =>
        hasHistory(one) &&
        sections.some((section) => section.kind === one.kind) &&
        ids.every((label, at) => one.ids[at]?.label === label),
    )
  );
}

/** The keys of a target, and of what it is part of. */
function keysOf(ids: Ids): readonly string[] {
  const all = Object.entries(ids);
  return all.map((_, at) => idsKey(Object.fromEntries(all.slice(0, at + 1))));
}

function idsKey(ids: Ids): string {
  return JSON.stringify(ids);
}

function targetName({ name, ids }: Target): string {
  return name === undefined ? idText(ids) : `${name} (${idText(ids)})`;
}

/** The days for each group of families that the answers do not tell. */
function byFamilies(untold: readonly Untold[]): ReadonlyMap<string, readonly Range[]> {
  const days = new Map<string, Range[]>();
  for (const { families, ...range } of untold) {
    const names = andList(families.map(({ name }) => name));
    days.set(names, [...(days.get(names) ?? []), range]);
  }
  return new Map(Array.from(days, ([names, ranges]) => [names, merged(ranges)]));
}

/** The days that failed for each reason, put together. */
function byReason(failures: readonly (readonly [Job, string])[]): ReadonlyMap<string, readonly Range[]> {
  const reasons = new Map<string, Range[]>();
  for (const [{ piece }, reason] of failures)
    reasons.set(reason, [...(reasons.get(reason) ?? []), ...(piece ? [piece] : [])]);
  return new Map(Array.from(reasons, ([reason, ranges]) => [reason, merged(ranges)]));
}

function dayText(ms: number): string {
  return timeText(ms).slice(0, 10);
}

/** `2026-11-02`, or `2026-11-02 to 2026-11-04` */
function daysText({ fromMs, toMs }: Range): string {
  const [first, last] = [fromMs, toMs - 1].map(dayText);
  return first === last ? `${first}` : `${first} to ${last}`;
}

function bytesText(bytes: number): string {
  return bytes < 1e6 ? `${count(bytes / 1e3, 0)} kB` : `${count(bytes / 1e6, 0)} MB`;
}
