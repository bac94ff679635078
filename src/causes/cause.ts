/** What a cause is, and what it is derived from. */

import type { Moment } from '../clock.ts';
import type { StateProblem } from '../counting/state-keeper.ts';
import type { ApiCapacity } from '../polling/capacity.ts';
import type { Health } from '../polling/health.ts';
import type { ListingStatus } from '../polling/listing-status.ts';
import type { SharedTargets } from '../polling/plan.ts';
import type { Failure } from '../polling/record.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import type { ApiName, Resource } from '../resources/resource.ts';
import type { Reason } from './advice.ts';

/** What people call a kind, and where it is read. */
export type CauseKind = Pick<Resource, 'kind' | 'section' | 'api' | 'noun' | 'isCostly'>;

/** A field that was not as documented. */
export interface DriftedField {
  readonly kind: string;
  readonly field: string;
  /** A value that the API does not document; undefined where the type of the field is wrong. */
  readonly value?: string | undefined;
  readonly count: number;
  /** When it came first, without a day in between. Unix time. */
  readonly sinceMs: number;
}

/** What is wrong with the exporter itself. Times are Unix times. */
export interface ExporterState {
  /** The last reload that failed. */
  readonly refusedReload: { readonly atMs: number; readonly message: string } | undefined;
  /** What an API has paused with a 429: a kind with a key; without a kind the key; without a credential the API as a whole. */
  readonly pauses: readonly {
    readonly api: ApiName;
    readonly credential: string;
    readonly kind: string;
    readonly untilMs: number;
  }[];
  readonly capacities: readonly ApiCapacity[];
  readonly schemaDrift: readonly DriftedField[];
  /** Why the state is not written; undefined if it is, or need not be. */
  readonly state: StateProblem | undefined;
  /** The keys of the configuration that can no longer be read, and why: the last readable one stays in use. */
  readonly formerKeys: readonly { readonly credential: string; readonly problem: string }[];
  /** The accounts that are not read, because they have the key of another one. */
  readonly sameKeys: readonly { readonly account: string; readonly other: string }[];
  /** What two accounts list. */
  readonly shared: readonly SharedTargets[];
}

export interface CauseInput extends Moment {
  readonly health: Health;
  readonly targets: readonly TargetStatus[];
  readonly listings: readonly ListingStatus[];
  readonly kinds: readonly CauseKind[];
  readonly baseUrlOf: (api: ApiName) => string;
  /** What the setting of that address is called; undefined where nobody set it. */
  readonly addressNameOf: (api: ApiName) => string | undefined;
  /** Where the key of a credential comes from: `from $VARIABLE`. */
  readonly keySource: (credential: string) => string;
  /** Why a listing has no key for a credential that comes with it; undefined where it has one. */
  readonly noKeyReason: (credential: string) => 'no_key' | 'read_only_key' | undefined;
  readonly exporter: ExporterState;
}

/** Which targets of the status page a cause affects. */
export interface CauseFilter {
  readonly kinds: readonly string[];
  readonly states: readonly ('failing' | 'absent' | 'stale')[];
  readonly text: string;
}

export interface Cause {
  /** A cause has the same id from one list to the next, as long as its reason is the same. */
  readonly id: string;
  readonly reason: Reason;
  /** The failure that most of what the cause affects has; undefined where no poll failed. */
  readonly failure?: Failure | undefined;
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  /** What it affects: `13 targets (application), 2 listings`; empty if it is the exporter's own. */
  readonly affected: string;
  /** What it means for the values on the metrics page: sentences. */
  readonly meaning: string;
  /** Whether it is an API that is down. */
  readonly isDown?: boolean | undefined;
  readonly advice: string;
  readonly runbook: string;
  /** When the first of the failures was. Unix time; undefined where nothing says when it began. */
  readonly sinceMs: number | undefined;
  readonly targets: readonly TargetStatus[];
  readonly listings: readonly ListingStatus[];
  readonly filter: CauseFilter;
}
