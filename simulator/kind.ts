/**
 * What a kind of the simulated API declares: its part of the dataset, its operations, and the targets that the exporter
 * can read of it.
 */

/** Path prefixes of the APIs under the simulator's origin. */
export const prefixes = {
  application: '/mc',
  shield: '',
  core: '',
  video: '/video',
  origin_errors: '/origin-errors',
} as const;
export type ApiName = keyof typeof prefixes;
export const apiNames = [
  'application',
  'shield',
  'core',
  'video',
  'origin_errors',
] as const satisfies readonly ApiName[];

/** Sizes of the account. Full is twice as large as the largest that is expected: some 10,000 targets. */
export const scaleNames = ['small', 'medium', 'full'] as const;
export type Scale = (typeof scaleNames)[number];

/** What a good answer contains, for the faults that change it. */
export interface Traits {
  /** Where in the body the reading is, `data` or `data.endpoints`; absent where the whole body is the reading. */
  readonly field?: string;
  /** Where the reading is a list of objects: their fields that hold ids, which faults leave as they are. */
  readonly ids?: readonly string[];
  /** The field with the name that a user chose. */
  readonly name?: string;
  /** True if readings change only when a user changes something, not with time. */
  readonly isStill?: boolean;
  /** A field that always holds a number; undefined if the reading has none. */
  readonly number?: string;
  /** Likewise, a field that always holds a whole number. */
  readonly integer?: string;
  /** True where the field `status` holds one of the states that the reference lists. */
  readonly status?: boolean;
  /** Fields that hold codes whose meaning the reference leaves open. */
  readonly codes?: readonly string[];
  /** True where there are maps by day, `dd-MM-yyyy`. */
  readonly days?: boolean;
  /** True where there are maps by instant. */
  readonly charts?: boolean;
  /** True where fields hold instants. */
  readonly instants?: boolean;
}

/** A request as a kind sees it: routed, and with the right key. */
export interface Request {
  /** In the order of the operation's path. */
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly nowMs: number;
  /** The most items on a page, even if the query requests more. */
  readonly maxPageSize: number;
  readonly keys: LibraryKeys;
  /** Whether the entity was removed. */
  readonly isRemoved: (id: string) => boolean;
  /** The name of an entity, which may have been renamed. */
  readonly nameOf: (id: string, name: string) => string;
}

/** The keys of the video libraries, by library. */
export interface LibraryKeys {
  readonly libraries: Readonly<Record<string, string>>;
  /** Keys that the simulator refuses with 403. */
  readonly readOnlyLibraries: Readonly<Record<string, string>>;
}

/** What a kind answers. */
export interface Answer {
  readonly status: number;
  /** Absent where the API sends none. */
  readonly body?: unknown;
}

/** A good answer. */
export function ok(body: unknown): Answer {
  return { status: 200, body };
}

/** How an API reports errors. */
export interface Form {
  /** For a missing or wrong key. */
  readonly unauthorized: Answer;
  /** For an unknown id. */
  missing(id: string): Answer;
  error(status: number, message: string): Answer;
  /** A failure that arrives with a good status; absent where the API has none. */
  rejected?(status: 200 | 202, error: RejectionError): Answer;
}

/** Why the Shield API answers a well-formed request with `data: null`. */
export type Rejection = 'unknownZone' | 'noRateLimits' | 'notOnPlan';

export interface RejectionError {
  readonly errorKey: string;
  readonly statusCode: number;
  /** Default: one that names the key. */
  readonly message?: string;
}

/** The listing behind one request. */
export interface Pages {
  /** The requested page, from 1. */
  readonly page: number;
  readonly totalPages: number;
  readonly answer: (page: number, change?: PageChange) => Answer;
}

/** How a fault changes a page. */
export interface PageChange {
  /** The share of the items that is left, the first of them. */
  readonly share?: number;
  /** How many items later the page begins and ends. */
  readonly moved?: number;
  /** The page number and the number of pages that its fields state. */
  readonly as?: { readonly page: number; readonly totalPages: number };
  /** By how many items the stated total is too large; negative if it is too small. */
  readonly miscounted?: number;
  /** The fields beside the items: without objects and numbers, without numbers, or with 0 for each. Text such as cursors stays. */
  readonly about?: 'nothing' | 'no numbers' | 'zeros';
}

/** How old the days of a query may be. */
export interface Reach {
  /** The query parameters of the first and of the last day. */
  readonly from: string;
  readonly to: string;
  /** How long ago the first day may begin. */
  readonly days: number;
  /** The same with `hourly=true`. */
  readonly hourlyDays?: number;
  /** How many days one request may ask for. */
  readonly mostDays?: number;
}

interface OperationBase {
  readonly api: ApiName;
  /** Below the API's prefix. `{…}` stands for an id: a whole part of the path, or the value of a query parameter. Any other parameter must have its value. */
  readonly path: string;
  /** library: the key of the library that is the first id. */
  readonly key: 'account' | 'library';
  readonly form: Form;
  /** Query parameters that are date-times: any other text is refused, a date too. */
  readonly instants?: readonly string[];
  /** How far back its statistics go. What is beyond is refused. */
  readonly reach?: Reach;
  readonly traits: Traits;
  /** Errors inside a good status that it can answer with. */
  readonly rejections?: readonly Rejection[];
}

/** One answer; undefined for an unknown id. */
interface SingleOperation<Dataset> extends OperationBase {
  readonly answers: (dataset: Dataset) => (request: Request) => Answer | undefined;
}

/** Lists entities page by page. */
interface PagedOperation<Dataset> extends OperationBase {
  readonly pages: (dataset: Dataset) => (request: Request) => Pages;
}

export type Operation<Dataset = never> = SingleOperation<Dataset> | PagedOperation<Dataset>;

export function isPaged(operation: Operation): boolean {
  return 'pages' in operation;
}

/** Something that the exporter can poll: an entity of the account, or the account itself. */
export interface Target {
  /**
   * By the settings that name them in the exporter's configuration, in the order of the path. None where an operation is
   * for the whole account.
   */
  readonly ids: Readonly<Record<string, string>>;
  readonly name?: string;
  /** The library whose key opens it; absent: the account's key does. */
  readonly library?: string;
}

/** A kind, which is the operation that gives the readings of its targets. */
export type Kind<Dataset = never> = Operation<Dataset> & {
  readonly kind: string;
  /** Its section in the exporter's configuration. */
  readonly section: string;
  /** How many entities it has, at each scale. */
  readonly sizes?: Readonly<Record<string, readonly [small: number, medium: number, full: number]>>;
  /** Makes its part of the dataset. May use what the kinds before it in the index have made. */
  readonly create?: (seed: number, sizes: never, dataset: never) => object;
  /** The operation that lists its targets, if there is another one. */
  readonly listing?: Operation<Dataset>;
  readonly targets: (dataset: Dataset) => readonly Target[];
  /** The targets in its listing, if these are more than `targets`. */
  readonly listed?: (dataset: Dataset) => readonly Target[];
};
