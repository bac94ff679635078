/** The current configuration: checked, complete, with durations in milliseconds and every default filled in. */

import type { ApiName, Ids } from '../resources/resource.ts';
import type { CredentialSource } from '../secrets/credentials.ts';
import type { Selection } from './selector.ts';

/** The names of an API's settings, for messages: their paths in the file, or the variables that set them. */
export interface ApiSettingNames {
  /** The setting of its address; undefined where nobody set it. */
  readonly address?: string | undefined;
  /** The settings that set its host, of each API in use that has the same host. None if it is the default. */
  readonly host: readonly string[];
  /** The settings that say which certificates of this host are trusted. */
  readonly authorities: readonly string[];
}

export interface ApiConfig {
  /** The address has no slash at its end. */
  readonly baseUrl: string;
  /** How long a request may take, from its start to the last byte of its body. */
  readonly timeoutMs: number;
  readonly maxConcurrency: number;
  readonly requestsPerSecond: number;
  /** How often a failed request is repeated. */
  readonly maxRetries: number;
  readonly maxResponseBytes: number;
  readonly caFile?: string | undefined;
  /** Certificates in PEM, from `caFile`, to trust in addition to the public ones. */
  readonly authorities?: string | undefined;
  readonly names: ApiSettingNames;
}

export interface TargetConfig {
  readonly ids: Ids;
  readonly name: string | undefined;
  readonly credential: string;
  /** The account that it belongs to, by the name of its credential. */
  readonly account: string;
  readonly intervalMs: number;
  /** The age of a reading from which its values are no longer exported. */
  readonly staleAfterMs: number;
}

/** Settings for one of the targets that the listing of a section finds. */
export interface OverrideConfig {
  readonly name?: string | undefined;
  readonly intervalMs?: number | undefined;
  readonly staleAfterMs?: number | undefined;
}

/** How to poll a kind that is on. */
export interface SectionConfig {
  readonly kind: string;
  /** The accounts whose listings `all` stands for, in the order of the configuration's `accounts`. */
  readonly accounts: readonly string[];
  /** The credential that opens the libraries, if the section names one. Without it, each library is read with the key that its listing has. */
  readonly libraryCredential?: string | undefined;
  /** Which targets of the listing to poll. */
  readonly selection?: Selection | undefined;
  /** Which things of the parent listing to list targets of, such as some video libraries. */
  readonly parents?: Selection | undefined;
  /** Overrides by the ids of the target, joined by `/`. */
  readonly overrides?: ReadonlyMap<string, OverrideConfig> | undefined;
  readonly intervalMs: number;
  readonly staleAfterMs: number;
  /** The settings that only this kind has. */
  readonly settings: unknown;
  readonly targets: 'all' | readonly TargetConfig[];
}

export interface Config {
  readonly credentials: Readonly<Record<string, CredentialSource>>;
  /** The credentials that are an account's key. Where two accounts have the same thing, it is that of the first. */
  readonly accounts: readonly string[];
  readonly apis: Readonly<Record<ApiName, ApiConfig>>;
  readonly sections: readonly SectionConfig[];
  /** What the intervals that are not set by hand were multiplied by. Default 1. */
  readonly intervalFactor?: number | undefined;
  readonly discovery: {
    /** The time between two polls of a listing that is not a kind of its own. */
    readonly intervalMs: number;
    /** The accounts of which kinds without a section, and sections without `credential`, are read. Default: all. */
    readonly accounts?: readonly string[] | undefined;
    /** Patterns of what is left out of every kind. */
    readonly exclude?: readonly string[] | undefined;
  };
  /** Where counters are kept over a restart; undefined where they begin anew. */
  readonly state: { readonly file: string | undefined };
}

const usualPace = { maxConcurrency: 8, requestsPerSecond: 10 };
const slowPace = { maxConcurrency: 2, requestsPerSecond: 2 };

/** The default address and pace of each API. */
export const apiDefaults = {
  application: { baseUrl: 'https://api.bunny.net/mc', ...usualPace },
  shield: { baseUrl: 'https://api.bunny.net', ...usualPace },
  core: { baseUrl: 'https://api.bunny.net', ...usualPace },
  video: { baseUrl: 'https://video.bunnycdn.com', ...slowPace },
  origin_errors: { baseUrl: 'https://cdn-origin-logging.bunny.net', ...slowPace },
} satisfies Record<ApiName, object>;

/** Data in the form of the file. */
export type Plain =
  | string
  | number
  | boolean
  | null
  | readonly Plain[]
  | { readonly [key: string]: Plain | undefined };
