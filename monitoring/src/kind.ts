/** What a kind adds to the dashboards and the rules. A new kind is one file in kinds/ and a line in its index. */
import type { Row } from './dashboard.ts';
import type { Rules } from './rules.ts';

export interface KindMonitoring {
  readonly kind: string;
  /** Its rows, on whichever dashboards it belongs to. Building a panel changes it, so each call makes new ones. */
  panels(): readonly Row[];
  readonly rules?: Rules;
}
