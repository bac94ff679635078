/** The types that the rest of the program uses for any kind: resource, listing, reading, family. `define.ts` shows how to declare one. */
import type * as z from 'zod';
import type { Documented } from './documented.ts';
import type { Diagnostics } from './fields.ts';
import type { Range } from './times.ts';

export { type Diagnostics, ReadingError, silent } from './fields.ts';

/** The hosts of the API; each has its own address, key, pace and pool of connections. */
export const apiNames = ['application', 'shield', 'core', 'video', 'origin_errors'] as const;
export type ApiName = (typeof apiNames)[number];

/** Where kinds can be chosen, it stands for the exporter's own metrics. No resource has this name. */
export const ownKind = 'exporter';

/** One part of what identifies a target. */
export interface IdField {
  readonly label: string;
  /** The key in a target's long form in the configuration. */
  readonly setting: string;
  /** opaque: 1 to 128 characters of `A-Z a-z 0-9 . _ -`; integer: up to 64 bits, unsigned; guid: 8-4-4-4-12 hexadecimal digits. */
  readonly form: 'opaque' | 'integer' | 'guid';
}

/** The target's labels and their values, in the order in which they are exposed. */
export type Ids = Readonly<Record<string, string>>;

/** Ids as one text: `7/4711`. */
export function idText(ids: Ids): string {
  return Object.values(ids).join('/');
}

/**
 * Requests a path under the base URL of the API; resolves with the parsed JSON body, rejects when the request failed. withoutRetries:
 * what fails is asked for again by another poll.
 */
export type Get = (
  path: string,
  options?: { readonly withoutRetries?: boolean | undefined },
) => Promise<unknown>;

export interface ReadContext {
  /** When the target is read. Unix time. */
  readonly nowMs: number;
  /** When the last good poll began that asked for every day that may have grown. Undefined before the first. Unix time. */
  readonly caughtUpMs?: number | undefined;
  /** The start of the newest day of which something was counted. Unix time. */
  readonly newestDayMs?: number | undefined;
  /**
   * For a history: the days that are read instead of today and of those that may have grown. The range begins with a UTC day. Figures by
   * hours stay those of hours, and an answer about other days is an error.
   */
  readonly past?: Range | undefined;
  /** The starts of earlier days that were asked for, and are asked for again, one by one. Unix time. */
  readonly pendingMs?: readonly number[] | undefined;
  /** The starts of those that are not asked for again. Unix time. */
  readonly lostMs?: readonly number[] | undefined;
  /** Whether the poll before this one failed. */
  readonly hasFailed?: boolean | undefined;
}

/** An earlier day that a poll wanted, and of which it has nothing. */
export interface UntoldDay {
  /** Unix time. */
  readonly startMs: number;
  /** refused: the next answer would be the same; not_asked: nothing says that it would fail; blank: an answer has nothing of it. */
  readonly how: 'refused' | 'failed' | 'not_asked' | 'blank';
  /** Why, in one line. */
  readonly reason?: string | undefined;
}

/** A request of a range of days. */
export interface DaysRequest {
  /** `dateFrom=2026-08-20&dateTo=2026-08-20`. */
  readonly query: string;
  /** The days that it asks for: what an answer has of others is left out. Undefined where it asks for no days, as for those of a month. */
  readonly range?: Range;
  /** The day as the path has it, after the ids. */
  readonly date?: string;
}

/** Which requests a kind makes for a range of time; `queries.ts` has those there are. */
export interface Query {
  /**
   * When a poll requests yesterday, too. `always`: it is in the same request. `late`: while late figures come, every half hour, and
   * once after noon, since it is one more request. `newest_hour`: in each poll of the night as long as one of its hours is the newest.
   * Undefined: never, since nothing of it counts.
   */
  readonly yesterday?: 'always' | 'late' | 'newest_hour';
  /** Whether its charts have a point an hour. Default: a point a day, or none. */
  readonly isByHours?: true;
  /** How many days the API has, today included, where that is documented. */
  readonly reachDays?: number;
  /** What is requested of days that are too long ago for hours. */
  readonly older?: Query;
  /** The requests for a range that begins with a UTC day, the oldest first. */
  readonly requestsFor: (range: Range) => readonly DaysRequest[];
}

/** One thing that a listing has. */
export interface Listed {
  readonly ids: Ids;
  readonly name?: string | undefined;
  /** The id of the thing that gives it its name, in the listing's `names`. */
  readonly namedBy?: string | undefined;
  /** The features of the listing's `features` that are on. */
  readonly features?: readonly string[] | undefined;
  /** Whether the listing says that it was deleted. */
  readonly isDeleted?: true | undefined;
}

/** The key that opens what a listing has, where it has one for each. */
export interface ListedKey {
  /** The key; undefined if the thing was listed without one. It is a function, so that nothing that writes objects out shows the key. */
  readonly key: (() => string) | undefined;
  /** True where the listing has a key that only reads, and no other. */
  readonly isReadOnly: boolean;
}

/** A thing that a listing has, with its reading and what opens it. The list of what was found has neither the reading nor the key. */
export interface Found<Reading = unknown> extends Listed {
  readonly reading?: Reading;
  /** The key of its own; undefined where the credential of the listing opens it. */
  readonly ownKey?: ListedKey | undefined;
}

/** What one run through a listing has. */
export interface ListingRun<Reading = unknown> {
  /** The things, each once. Whoever reads them goes through them once, a few milliseconds at a time. */
  readonly found: Iterable<Found<Reading>>;
  /** What the answer says of the parent itself: the reading of the kind that is `readBy` the listing. Undefined if it says nothing. */
  readonly about?: unknown;
  /**
   * What shows that the listing changed while its pages were read, for messages. Then what is not found may be there all the same.
   * Undefined if the run is complete.
   */
  readonly moved?: string | undefined;
}

/** How a request or a reading failed, as far as a kind needs to know. */
export interface FailureOf {
  readonly result: string;
  /** The API's own name of the error, such as `not_found.ratelimit_shieldzone`. */
  readonly errorKey: string | undefined;
}

/** An operation of the API, and what is known of its answer. */
export interface Operation {
  /** The API that has it. (Of a kind: that of the listing, or core.) */
  readonly api: ApiName;
  /** The path below the base URL. What stands in braces is an id. */
  readonly path: string;
  readonly documented: Documented;
  /** The outermost fields that are read: what `schema_mismatches_total` can name. */
  readonly fields: readonly string[];
}

/** An operation that lists targets: those of an account or, with a parent, those below each thing that the parent lists. */
export interface Listing<Reading = unknown> extends Operation {
  /** The kind that it is named after. Other kinds with the same ids can use it, too. */
  readonly kind: string;
  readonly product: Product;
  /** What it lists, for people: `Shield Zones`. */
  readonly nouns: string;
  /** What identifies a thing that it lists, the ids of its parent first. */
  readonly ids?: readonly IdField[];
  readonly parent?: Listing | undefined;
  /** The listing that has the names, by the ids of `namedBy`. */
  readonly names?: Listing | undefined;
  /**
   * True where a thing is still listed after the one that gives it its name was deleted. Then it is left out, unless the setting `orphans`
   * of the kind with these readings is `keep`.
   */
  readonly hasOrphans?: true | undefined;
  /** True where each thing that it lists has a key of its own, with which alone other APIs read it. */
  readonly hasOwnKeys?: true | undefined;
  /**
   * True where an account may lack the product altogether. Then 401, 403 and 404 mean that there is nothing to list, as long as the
   * operation never succeeded with the key in this process, and another one of the same API does. `api`: the whole API is the
   * product. Then 403, and 404 at the default address, mean so, as long as the key reads something of other APIs, and nothing of this one.
   */
  readonly optionalProduct?: true | 'api' | undefined;
  /** Other operations that a run calls. */
  readonly beside?: readonly Operation[];
  /** Whether a failure means that there is nothing to list. */
  isEmpty?(failure: FailureOf): boolean;
  /** Rejects unless it read the listing to its end. parent: the ids of what the parent lists. nowMs: when it begins. Unix time. */
  discover(
    get: Get,
    parent: Ids | undefined,
    diagnostics: Diagnostics,
    nowMs: number,
  ): Promise<ListingRun<Reading>>;
}

/** The target whose reading becomes samples. */
export interface TargetContext<Settings = unknown> {
  readonly ids: Ids;
  readonly name: string | undefined;
  /** The parts of the target that have a name. */
  readonly parts?: readonly Pick<Listed, 'ids' | 'name'>[] | undefined;
  /** The settings of its section that only its kind has. */
  readonly settings: Settings;
}

export type Labels = Readonly<Record<string, string>>;

interface HasLabels {
  /** Labels beyond the target's; their names are the family's `labels`. */
  readonly labels?: Labels;
}

export interface Sample extends HasLabels {
  readonly value: number;
}

/** A day, and what there is of it: what the API has counted so far. Of the past, also an hour, see `ReadContext`. */
export interface Day<Value = number> {
  /** Start of the UTC day, or of the hour, in seconds since 1970. */
  readonly startSeconds: number;
  readonly value: Value;
  /** Whether it is an hour: the first one begins with its day, so the start alone does not tell. */
  readonly isHour?: true | undefined;
}
export type DayFigure = Day;

/** The days of one series of a counter, in any order. */
export interface CounterSample extends HasLabels {
  readonly days: readonly DayFigure[];
}

/**
 * What an answer without any day of a figure says: `none`, that nothing was counted; `unknown`, nothing. Or that nothing was counted
 * where the fields of `ToldBy` show it.
 */
export type WithoutDays = 'none' | 'unknown' | ToldBy;

/** Names of fields beside a chart. */
export interface ToldBy {
  /** A number or a chart that is at least the sum of this one: where it is 0, nothing was counted. */
  readonly sum?: string;
  /** A chart that is the sum of all charts that name it: where the others add up to it, nothing was counted. */
  readonly whole?: string;
}

/** How many series one target has of a counter whose label values the API invents. */
export interface CounterBound {
  /** How many have a series of their own: the largest of the first readings. */
  readonly most: number;
  /** The labels of what all others are counted as. */
  readonly rest: Labels;
}

/** One metric family as data. */
export interface Family<Reading = unknown> {
  readonly kind: string;
  readonly name: string;
  readonly help: string;
  /**
   * info: a gauge that is always 1 and carries text in labels; its name ends in `_info`. counter: what `days` has gained since
   * this process first read it, or without `days` what the API has counted; its name ends in `_total`.
   */
  readonly type: 'gauge' | 'info' | 'counter';
  /** The base unit that the name ends in. */
  readonly unit?: 'seconds' | 'bytes' | undefined;
  /** Names of the labels beyond the target's. */
  readonly labels: readonly string[];
  /** The outermost fields of the answer that it comes from. */
  readonly fields: readonly string[];
  /** Where the label `name` comes from, if not from the reading alone: the target, or those of its parts that have a name. */
  readonly named?: 'target' | 'parts' | undefined;
  /** The samples of a reading; none for what the API did not give. */
  samples(reading: Reading, target: TargetContext): readonly Sample[];
  /** The days that a reading has, for a counter that adds up days. */
  days?(reading: Reading, target: TargetContext): readonly CounterSample[];
  readonly bound?: CounterBound | undefined;
  /** The days that a reading has, for a gauge of the newest day. */
  figures?(reading: Reading, target: TargetContext): readonly (Sample | CounterSample)[];
  /** What an answer says in which the days are missing, for each of the family's fields. */
  readonly withoutDays?: readonly WithoutDays[];
  /** Whether its labels are of things that the API names: a country, a rate limit. Other series exist as long as their target. */
  readonly comesAndGoes: boolean;
}

/** How bad a state is, for colours and order. */
export type Tone = 'bad' | 'warn' | 'idle' | 'ok';

/** The state that the API reports of a target, whether or not polls of it succeed. */
export interface Condition<Reading = unknown> {
  /** Every state there is, the worst first. */
  readonly states: Readonly<Record<string, Tone>>;
  stateOf(reading: Reading): string | undefined;
}

/** The products of bunny.net, in the order in which people see them. */
export const products = [
  'Magic Containers',
  'Shield',
  'CDN',
  'Storage',
  'DNS',
  'Stream',
  'Scripts',
  'Database',
  'Account',
] as const;
export type Product = (typeof products)[number];

/** What every kind has. Its file may leave out what has a default, given in brackets. */
interface Kind<Reading> extends Operation {
  readonly kind: string;
  /** The product of bunny.net that it belongs to. (That of the listing, or the account.) */
  readonly product: Product;
  /** What one target is, for people: `application`. */
  readonly noun: string;
  /** The key of its section in the configuration. (The kind.) */
  readonly section: string;
  /** The environment variable that lists targets where there is no configuration file; parts of an id are joined by `/`. (`BUNNYNET_` and the section.) */
  readonly environment: string;
  /** The first part of its metric names, up to `_up`. (`bunnynet_` and the kind.) */
  readonly metricPrefix: string;
  /** What identifies a target. (The ids of the listing, or the account.) */
  readonly ids: readonly IdField[];
  /** The seconds between two polls of a target, unless it is set. (600.) */
  readonly defaultIntervalSeconds: number;
  /** True if it takes a request for each of very many targets: then it is off unless the configuration names it. (False.) */
  readonly isCostly: boolean;
  /** Settings of the section beyond those that every section has. (None.) */
  readonly settings: z.ZodRawShape;
  /** The state of a target that the API reports, for the status page. Undefined if it reports none for this kind. */
  readonly condition?: Condition<Reading> | undefined;
  /**
   * What else than its families is needed of a reading: it stays until the target leaves, is missing from its listing, or the plan lacks
   * it, also when its values are stale. Only plain data.
   *
   * @param before what was extracted from the reading before; undefined for the first
   */
  extract?(reading: Reading, before: unknown): unknown;
  /** Its families, less `_up` and `_last_success_timestamp_seconds`, which every kind has. */
  readonly families: readonly Family<Reading>[];
}

/** The reading of one answer. */
export interface ReadPart<Reading = unknown> {
  readonly reading: Reading;
  /** The days that it was asked for; undefined if it is about no range. */
  readonly range?: Range | undefined;
}

/** What one read of a target gives. */
export interface Readings<Reading = unknown> {
  /** What the page shows: always of the same days at a time of the day. */
  readonly shown: Reading;
  /** What the counters count: the same, or with earlier days that may have grown, the oldest first. */
  readonly counted: readonly ReadPart<Reading>[];
  /** Earlier days that neither has. */
  readonly untold?: readonly UntoldDay[] | undefined;
}

/** A kind of which one read gives one target's reading. */
export interface ReadResource<Reading = unknown> extends Kind<Reading> {
  /** What `targets: all` stands for: what this listing has. Without it, targets are named one by one. */
  readonly listing?: Listing | undefined;
  /** With `targets: all`, only what has this feature is polled. */
  readonly feature?: string;
  /** True where a key that was listed and only reads does not open it. */
  readonly needsFullKey?: true;
  /** True if a credential has one target, its account. It has one label and needs no listing. */
  readonly ofAccount?: true | undefined;
  /** `api` where the whole API is a product that an account may lack, by the rule of `Listing.optionalProduct`. */
  readonly optionalProduct?: 'api' | undefined;
  /** Lists the parts of a target that have names. The last id of a part is what the reading calls it. */
  readonly partNames?: Listing | undefined;
  /** What is requested for a range of days. Undefined: one request, which is about no range. */
  readonly query?: Query;
  /** A field that is true where the API has more of a day than it gives. */
  readonly cutOff?: string;
  read(
    this: void,
    get: Get,
    ids: Ids,
    diagnostics: Diagnostics,
    context: ReadContext,
  ): Promise<Readings<Reading>>;
  /** Whether a failure means that there is nothing to read, and the reading of that. */
  isEmpty?(failure: FailureOf): boolean;
  readonly nothing: Reading;
}

/** A kind whose readings come with the listing of its targets, or with another one below each of them. */
export interface ListedResource<Reading = unknown> extends Kind<Reading> {
  /** What `targets: all` stands for: what this listing has. */
  readonly listing: Listing;
  /** The listing below each target whose run has its reading in `about`. Undefined where `listing` has the readings. */
  readonly readBy?: Listing;
}

export type Resource<Reading = unknown> = ReadResource<Reading> | ListedResource<Reading>;

export function isReadAlone(resource: Resource): resource is ReadResource {
  return 'read' in resource;
}

/** The operation of a kind, those of its listings, and those that these need. */
export function operationsOf(resource: Resource): readonly Operation[] {
  const other = isReadAlone(resource) ? resource.partNames : resource.readBy;
  return [resource, ...withNeeded(resource.listing), ...withNeeded(other)];
}

function withNeeded(listing: Listing | undefined): readonly Operation[] {
  if (!listing) return [];
  const { beside = [], parent, names } = listing;
  return [listing, ...beside, ...withNeeded(parent), ...withNeeded(names)];
}
