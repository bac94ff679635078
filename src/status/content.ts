/** What the status page shows, before it is HTML. */
import type { ApiCapacity } from '../polling/capacity.ts';
import type { Cause } from './causes.ts';
import type { StatusQuery } from './query.ts';
import type { ListingQueryResult } from './query-listings.ts';
import type { KindNames, NextPoll, TargetQueryResult } from './query-targets.ts';
import type { MismatchRecord } from './schema-drift.ts';

/** Times are Unix times. */
export interface BuildInfo {
  readonly version: string;
  readonly revision: string;
  readonly startedAtMs: number;
  /** `1/3`; undefined without sharding. */
  readonly shard: string | undefined;
}

/** Times are Unix times. */
export interface ExporterStatus {
  readonly series: (kind: string) => number;
  readonly droppedSeries: number;
  readonly maxSeries: number;
  readonly configuration: {
    /** When the current one was loaded. */
    readonly loadedAtMs: number;
    /** Set when a reload failed: when, and why. */
    readonly refused: { readonly atMs: number; readonly message: string } | undefined;
  };
  /** The APIs that answered 429. */
  readonly pauses: readonly { readonly api: string; readonly untilMs: number }[];
  /** What the polls of each API need, and whether its pace suffices. */
  readonly capacities: readonly ApiCapacity[];
  readonly schemaDrift: readonly MismatchRecord[];
}

export interface StatusPage {
  readonly kinds: readonly KindNames[];
  readonly build: BuildInfo;
  readonly exporter: ExporterStatus;
  readonly result: TargetQueryResult;
  readonly listings: ListingQueryResult;
  /** Of all that fails, whatever the query. */
  readonly causes: readonly Cause[];
  readonly query: StatusQuery;
  readonly nextPollInMs: NextPoll;
  /** The metrics, relative to this page. */
  readonly metricsHref: string;
  /** The other pages, relative to this one. */
  readonly links: readonly { readonly href: string; readonly text: string }[];
  readonly nowMs: number;
}
