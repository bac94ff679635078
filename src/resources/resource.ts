/**
 * What a kind is: one read operation of the API, declared as data, and what a listing is: an operation that finds targets.
 * It owns the words that the rest of the house uses for any kind.
 *
 * A kind's file is a table of the answer's fields, each declared once: its name in the API, its type, and what it becomes on
 * the page. The order of the table is that of the page.
 *
 *     const zone = object({
 *       Id: id,                                           // read, and not on the page
 *       Name: label('name', text),                        // a label of …_info
 *       ZoneTier: label('tier', codeName(['standard', 'edge'])),
 *       FilesStored: count('files', 'Number of files'),   // a gauge, and how its HELP begins
 *       Cpu: gauge('cpu_seconds', milliseconds, 'CPU time (%s, divided by 1000)'),
 *     });
 *
 *     export const storageZone = defineListedResource({ …, answer: zone, info: 'The name and the tier of the zone' });
 *
 * A kind that is asked for each target says by which path, `defineResource({ …, answer, path: ({ zone_id }) => … })`, and
 * what of the body is the answer, where that is not all of it. One that needs more than one answer has a `read` of its own.
 *
 * `fields.ts` has the types, which turn the API's values into ours; `families.ts` has what a field can become. Fields that
 * declare a family of the same name make one family (`labels` tell them apart), an object inside a list has series of its own
 * with `each`, and whatever else a value is on the page is said with `shown`. A family that comes from several fields at once
 * stands in `families`, after the table's. From the table follow the HELP, the fields that can be of the wrong type, the
 * documentation, and which field a value that cannot be used came from.
 */
import type * as z from 'zod';
import { type Family, familiesOf, finished, type Ids, infoOf, type Shown } from './families.ts';
import { type Diagnostics, enumeratedFieldsOf, type ObjectType, readFields } from './fields.ts';

export type {
  CounterBound,
  CounterSample,
  DayFigure,
  Family,
  Ids,
  NamedPart,
  Sample,
  TargetContext,
} from './families.ts';
export { type Diagnostics, ReadingError } from './fields.ts';

/** The hosts of the API; each has its own address, key, pace and pool of connections. */
export const apiNames = ['application', 'shield', 'core', 'video'] as const;
export type ApiName = (typeof apiNames)[number];

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
  /** What identifies a thing that it lists: what identifies the parent's comes first. */
  readonly ids?: readonly IdField[];
  readonly parent?: Listing | undefined;
  /** The listing that has the names, by the ids of `namedBy`. */
  readonly names?: Listing | undefined;
  /** Whether a failure means that there is nothing to list. */
  isEmpty?(failure: FailureOf): boolean;
  /** The outermost fields of its answers that are read. */
  readonly fields: readonly string[];
  /** Those of them whose values the reference lists. Default: none. */
  readonly enumeratedFields?: readonly string[];
  /** Rejects unless the listing is complete; gone through once, a few milliseconds at a time. parent: the ids of what the parent lists. */
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

/** In the order in which people see them. */
export const products = [
  'Magic Containers',
  'Shield',
  'CDN',
  'Storage',
  'DNS',
  'Stream',
  'Scripts',
  'Account',
] as const;
export type Product = (typeof products)[number];

/** What every kind has. In brackets what `defineResource` takes where its file does not say. */
interface Kind<Reading> {
  /** The value of the label `kind`. */
  readonly kind: string;
  /** (That of the listing, or core.) */
  readonly api: ApiName;
  /** The product of bunny.net that it belongs to. */
  readonly product: Product;
  /** The section of the API reference that describes the operation. */
  readonly reference: string;
  /** What one target is, for people: `application`. */
  readonly noun: string;
  /** The key of its section in the configuration. (The kind.) */
  readonly section: string;
  /** The environment variable that lists targets where there is no configuration file; parts of an id are joined by `/`. (`BUNNYNET_` and the section.) */
  readonly environment: string;
  /** The first part of its metric names, up to `_up`. (`bunnynet_` and the kind.) */
  readonly metricPrefix: string;
  /** (Those of the listing, or the account.) */
  readonly ids: readonly IdField[];
  readonly defaultIntervalSeconds: number;
  /** True where it takes a request for each of very many targets: it is off until it is asked for. (False.) */
  readonly isCostly: boolean;
  /** Settings of the section beyond those that every section has. (None.) */
  readonly settings: z.ZodRawShape;
  /** The outermost fields of an answer that are read: what `schema_mismatches_total` can name. (Those of `answer`.) */
  readonly fields: readonly string[];
  /** Those of them whose values the reference lists. (Those of `answer`.) */
  readonly enumeratedFields: readonly string[];
  /** Shown on the status page. Without it the API reports no state. */
  readonly condition?: Condition<Reading> | undefined;
  /** Its families, less `_up` and `_last_success_timestamp_seconds`, which every kind has. */
  readonly families: readonly Family<Reading>[];
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
  /** The reading where a failure means that there is nothing to read. */
  readonly empty?: { is(failure: FailureOf): boolean; reading(): Reading };
}

/** A kind whose readings come with the listing of its targets. */
interface ReadsMany<Reading> {
  readonly listing: Listing<Reading>;
}

export interface ReadResource<Reading = unknown> extends Kind<Reading>, ReadsOne<Reading> {}
export interface ListedResource<Reading = unknown> extends Kind<Reading>, ReadsMany<Reading> {}
export type Resource<Reading = unknown> = ReadResource<Reading> | ListedResource<Reading>;

export function isReadAlone(resource: Resource): resource is ReadResource {
  return 'read' in resource;
}

type Stated = 'kind' | 'product' | 'reference' | 'noun' | 'defaultIntervalSeconds' | 'condition';
type Usual = Exclude<keyof Kind<unknown>, Stated | 'families'>;

/** What the file of a kind states. It may leave out what is as usual, and what follows from its listing or its answer. */
interface Declaration<Reading> extends Pick<Kind<Reading>, Stated>, Partial<Pick<Kind<Reading>, Usual>> {
  readonly listing?: Listing | undefined;
  /** The fields of an answer, each with what it becomes on the page. */
  readonly answer?: ObjectType<Reading>;
  /** The words of the kind's `_info`, which has the target's name and the labels that the answer declares. */
  readonly info?: string;
  /** Families that come from no single field. They stand after the others. */
  readonly families?: readonly Shown<Reading>[];
  /** What the names of its families begin with. Default: the metric prefix. */
  readonly familyPrefix?: string;
}

/** How a target is read by one request. */
interface Asks<Reading> {
  readonly answer: ObjectType<Reading>;
  /** With its query. */
  readonly path: (ids: Ids, context: ReadContext) => string;
  /** What of the body is the answer; throws a `ReadingError` where there is none. Default: all of it. */
  readonly unwrap?: (body: unknown) => unknown;
}

/** Declares a kind whose targets are read one by one. What it does not state is as usual. */
export function defineResource<Reading>(
  declaration: Declaration<Reading> &
    Omit<ReadsOne<Reading>, 'read'> &
    (Pick<ReadsOne<Reading>, 'read'> | Asks<Reading>),
): ReadResource<Reading> {
  const read = 'read' in declaration ? declaration.read : readerOf(declaration);
  return { ...declaration, ...completed(declaration), read };
}

function readerOf<Reading>({
  answer,
  path,
  unwrap = (body) => body,
}: Asks<Reading>): ReadsOne<Reading>['read'] {
  return async (get, ids, diagnostics, context) =>
    readFields(answer, unwrap(await get(path(ids, context))), diagnostics);
}

/** Declares a kind whose readings come with the listing of its targets. What it does not state is as usual. */
export function defineListedResource<Reading>(
  declaration: Declaration<Reading> & ReadsMany<Reading>,
): ListedResource<Reading> {
  return { ...declaration, ...completed(declaration) };
}

const account: readonly IdField[] = [{ label: 'account', setting: 'account', form: 'opaque' }];

function completed<Reading>(declaration: Declaration<Reading>): Kind<Reading> {
  const { kind, listing, answer, info, families = [] } = declaration;
  const { section = kind, metricPrefix = `bunnynet_${kind}`, familyPrefix = metricPrefix } = declaration;
  const all = [
    ...(info === undefined ? [] : [infoOf(info, answer)]),
    ...(answer ? familiesOf(answer) : []),
    ...families,
  ];
  return {
    api: listing?.api ?? 'core',
    ids: listing?.ids ?? account,
    section,
    environment: `BUNNYNET_${section.toUpperCase()}`,
    metricPrefix,
    isCostly: false,
    settings: {},
    fields: answer?.names ?? [],
    enumeratedFields: answer ? enumeratedFieldsOf(answer) : [],
    ...declaration,
    families: all.map((family) => finished(familyPrefix, family)),
  };
}
