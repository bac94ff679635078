/**
 * What a kind is: one read operation of the API, declared as data, and what a listing is: an operation that finds targets.
 * It owns the words that the rest of the house uses for any kind.
 */
import type * as z from 'zod';

/** The hosts of the API; each has its own address, key, pace and pool of connections. */
export const apiNames = ['application', 'shield', 'core', 'video'] as const;
export type ApiName = (typeof apiNames)[number];

/** The target's labels and their values, in the order in which they are exposed. */
export type Ids = Readonly<Record<string, string>>;

/** One part of what identifies a target. */
export interface IdField {
  /** The label on every series of the target. */
  readonly label: string;
  /** The key in a target's long form in the configuration. */
  readonly setting: string;
  /** opaque: 1 to 128 characters of `A-Z a-z 0-9 . _ -`; integer: up to 64 bits, unsigned; guid: 8-4-4-4-12 hexadecimal digits. */
  readonly form: 'opaque' | 'integer' | 'guid';
}

/** Asks the API for a path under its base URL; resolves with the parsed JSON body, rejects when the request failed. */
export type Get = (path: string) => Promise<unknown>;

/** When a target is read. */
export interface ReadContext {
  /** Unix time. */
  readonly nowMs: number;
  /** Unix time of the last good poll of the target; undefined before the first. */
  readonly lastSuccessMs?: number | undefined;
}

/** Takes note of what could not be used of an answer. */
export interface Diagnostics {
  /**
   * A field of the wrong type: its series are left out, the rest of the answer is kept.
   *
   * @param expected what it should be, such as `a number`
   * @param received what it is, without its value
   */
  mismatch(field: string, expected?: string, received?: string): void;
  /** A value that the reference does not list (an unknown state). */
  unrecognized(field: string): void;
}

/** An answer that was read but is no reading: an error in its body, or a body that cannot be one. */
export class ReadingError extends Error {
  override readonly name = 'ReadingError';
  readonly result: 'rejected' | 'schema';
  /** The API's own name of the error (reference 2.3), where it gave one. */
  readonly errorKey: string | undefined;

  constructor(result: 'rejected' | 'schema', message: string, errorKey?: string) {
    super(message);
    this.result = result;
    this.errorKey = errorKey;
  }
}

/** The target whose reading becomes samples: its ids, its name, and the settings of its section. */
export interface TargetContext<Settings = unknown> {
  readonly ids: Ids;
  readonly name: string | undefined;
  /** The parts of the target that have a name. */
  readonly parts?: readonly Listed[] | undefined;
  readonly settings: Settings;
}

export interface Sample {
  /** Labels beyond the target's; their names are the family's `labels`. Freeze those that are made once: the store need not copy them. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of a counter: when it began to count, as Unix time. It never changes. */
  readonly createdSeconds?: number;
}

/** What the API has counted on one day so far. */
export interface DayFigure {
  /** Start of the UTC day, in seconds since 1970. */
  readonly startSeconds: number;
  readonly value: number;
}

/** The days of one series of a counter, in any order. */
export interface CounterSample {
  /** Labels beyond the target's; their names are the family's `labels`. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly days: readonly DayFigure[];
}

/** One metric family as data. */
export interface Family<Reading = unknown, Settings = unknown> {
  readonly name: string;
  readonly help: string;
  /**
   * info: a gauge that is always 1 and carries text in labels; its name ends in `_info`. counter: what `days` has gained since
   * this process first read it; its name ends in `_total`.
   */
  readonly type: 'gauge' | 'info' | 'counter';
  /** The base unit that the name ends in. */
  readonly unit?: 'seconds' | 'bytes' | undefined;
  /** Names of the labels beyond the target's. */
  readonly labels: readonly string[];
  /** The samples of a reading; nothing for what the API did not give. */
  samples(reading: Reading, target: TargetContext<Settings>): number | undefined | readonly Sample[];
  /** Of a counter: the days that a reading has; nothing for what the API did not give. */
  days?(reading: Reading, target: TargetContext<Settings>): readonly CounterSample[] | undefined;
}

/** One thing that a listing has. */
export interface Listed {
  readonly ids: Ids;
  readonly name?: string | undefined;
  /** The id of what it is called after, in the listing's `names`. */
  readonly namedBy?: string | undefined;
  /** What is switched on of it, where kinds of their own read that. */
  readonly features?: readonly string[] | undefined;
}

/** The same with what comes with it and is not kept beside it: its reading, and the key that opens it. */
export interface Found<Reading = unknown> extends Listed {
  readonly reading?: Reading;
  /** A function, so that nothing that writes objects out shows the key. */
  readonly key?: (() => string) | undefined;
}

/** How a request or a reading failed, as far as a kind needs to know. */
export interface FailureOf {
  /** The value of the label `result`. */
  readonly result: string;
  /** The API's own name of the error (reference 2.3). */
  readonly errorKey: string | undefined;
}

/** An operation that finds targets: of a credential or, with a parent, of each thing that the parent lists. */
export interface Listing<Reading = unknown> {
  /** The kind that it is named after; it finds targets for others of the same ids, too. */
  readonly kind: string;
  readonly api: ApiName;
  /** What it lists, for people: `Shield Zones`. */
  readonly nouns: string;
  readonly parent?: Listing | undefined;
  /** The listing that has the names, by the ids of `namedBy`. */
  readonly names?: Listing | undefined;
  /** Whether a failure means that there is nothing to list. */
  isEmpty?(failure: FailureOf): boolean;
  /** The outermost fields of its answers that are read. */
  readonly fields: readonly string[];
  /** Those of them whose values the reference lists. Default: none. */
  readonly enumeratedFields?: readonly string[];
  /** Rejects unless the listing is complete; gone through once, in slices. parent: the ids of what the parent lists. */
  discover(get: Get, parent: Ids | undefined, diagnostics: Diagnostics): Promise<Iterable<Found<Reading>>>;
}

/** How bad a state is, for colours and order. */
export type Tone = 'bad' | 'warn' | 'idle' | 'ok';

/** The state that the API reports of a target, whether or not polls of it succeed. */
export interface Condition<Reading = unknown> {
  /** Every state there is, the worst first. */
  readonly states: Readonly<Record<string, Tone>>;
  of(reading: Reading): string | undefined;
}

/** What every kind states; `defineResource` supplies what is usual. */
interface Declaration<Reading, Settings> {
  /** The value of the label `kind`. */
  readonly kind: string;
  readonly api: ApiName;
  /** The section of the API reference that describes the operation. */
  readonly reference: string;
  /** What one target is, for people: `application`. */
  readonly noun: string;
  /** The key of its section in the configuration. */
  readonly section: string;
  /**
   * The environment variable that lists targets where there is no configuration file; parts of an id are joined by `/`.
   * Default: `BUNNYNET_` and the section.
   */
  readonly environment?: string;
  /** The first part of its metric names, up to `_up`. Default: `bunnynet_` and the kind. */
  readonly metricPrefix?: string;
  readonly ids: readonly IdField[];
  readonly defaultIntervalSeconds: number;
  /** True where it takes a request for each of very many targets: it is off until it is asked for. Default: false. */
  readonly isCostly?: boolean;
  /** Settings of the section beyond those that every section has. Default: none. */
  readonly settings?: z.ZodRawShape;
  /** The outermost fields of an answer that are read: what `schema_mismatches_total` can name. */
  readonly fields: readonly string[];
  /** Those of them whose values the reference lists. Default: none. */
  readonly enumeratedFields?: readonly string[];
  /** Shown on the status page. Default: the API reports no state. */
  readonly condition?: Condition<Reading> | undefined;
  /** Its families, less `_up` and `_last_success_timestamp_seconds`, which every kind has. */
  readonly families: readonly Family<Reading, Settings>[];
}

/** A kind of which one read gives one target's reading. */
interface ReadsOne<Reading> {
  /** What `targets: all` stands for: what this listing has. Without it, targets are named one by one. */
  readonly listing?: Listing | undefined;
  /** Of what the listing has, `targets: all` is that with this feature. */
  readonly feature?: string;
  /** True where there is one target a credential: its account. It has one label, and is found without a listing. */
  readonly ofAccount?: true | undefined;
  /** Lists the parts of one target, its parent, with their names; their last id is what the reading calls them. */
  readonly partNames?: Listing | undefined;
  /** For days that are counted, see `days.ts`. */
  read(get: Get, ids: Ids, diagnostics: Diagnostics, context: ReadContext): Promise<Reading>;
  /** The reading where the API answers with one of these keys: there is nothing to read, which is no failure. */
  readonly empty?: { readonly on: readonly string[]; reading(): Reading };
}

/** A kind whose readings come with the listing of its targets. */
interface ReadsMany<Reading> {
  readonly listing: Listing<Reading>;
}

type Common<Reading, Settings> = Required<Omit<Declaration<Reading, Settings>, 'condition'>> &
  Pick<Declaration<Reading, Settings>, 'condition'>;

export type ReadResource<Reading = unknown, Settings = unknown> = Common<Reading, Settings> &
  ReadsOne<Reading>;
export type ListedResource<Reading = unknown, Settings = unknown> = Common<Reading, Settings> &
  ReadsMany<Reading>;
export type Resource<Reading = unknown, Settings = unknown> =
  | ReadResource<Reading, Settings>
  | ListedResource<Reading, Settings>;

export function isReadAlone(resource: Resource): resource is ReadResource {
  return 'read' in resource;
}

/** Declares a kind: what it does not state is as usual. */
export function defineResource<Reading, Settings, Reads extends ReadsOne<Reading> | ReadsMany<Reading>>(
  declaration: Declaration<Reading, Settings> & Reads,
): Common<Reading, Settings> & Reads {
  return {
    environment: `BUNNYNET_${declaration.section.toUpperCase()}`,
    metricPrefix: `bunnynet_${declaration.kind}`,
    isCostly: false,
    settings: {},
    enumeratedFields: [],
    ...declaration,
  } as Common<Reading, Settings> & Reads;
}

type SampleSource<Reading, Settings> = Family<Reading, Settings>['samples'];

/** Declares families of one prefix: the unit follows from the name. */
export function familiesOf<Reading, Settings = unknown>(prefix: string) {
  function gauge(
    name: string,
    help: string,
    samples: SampleSource<Reading, Settings>,
    labels: readonly string[] = [],
  ): Family<Reading, Settings> {
    const unit = /_(seconds|bytes)$/.exec(name)?.[1] as 'seconds' | 'bytes' | undefined;
    return { name: `${prefix}_${name}`, help, type: 'gauge', unit, labels, samples };
  }
  /** Text about the target in labels. Without a single text there is no series. */
  function info(
    help: string,
    labels: readonly string[],
    texts: (
      reading: Reading,
      target: TargetContext<Settings>,
    ) => Readonly<Record<string, string | null | undefined>>,
  ): Family<Reading, Settings> {
    // What JSON makes has room for these labels and no more, and so have its copies: every target has such an object.
    const noTexts = JSON.stringify(Object.fromEntries(labels.map((label) => [label, ''])));
    const blank = JSON.parse(noTexts) as Record<string, string>;
    return {
      name: `${prefix}_info`,
      help,
      type: 'info',
      labels,
      samples(reading, target) {
        const given = texts(reading, target);
        if (!labels.some((label) => given[label])) return undefined;
        const known = { ...blank };
        for (const label of labels) known[label] = given[label] ?? '';
        return [{ labels: known, value: 1 }];
      },
    };
  }
  /** What the API counts by days: its name ends in `_total`. */
  function counter(
    name: string,
    help: string,
    days: (reading: Reading, target: TargetContext<Settings>) => readonly CounterSample[] | undefined,
    labels: readonly string[] = [],
  ): Family<Reading, Settings> {
    return {
      name: `${prefix}_${name}`,
      help,
      type: 'counter',
      unit: /_(seconds|bytes)_total$/.exec(name)?.[1] as 'seconds' | 'bytes' | undefined,
      labels,
      samples: () => undefined,
      days,
    };
  }
  return { gauge, info, counter };
}
