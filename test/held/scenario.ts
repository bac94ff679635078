/** The run of a test under way, as far as its wholes are concerned. */
import type { Whole } from './whole.ts';

export interface Run {
  /** Whether the pages of the exporters are read between any two requests to the API. */
  readonly isRead: boolean;
  /** Those that were started, in order. */
  readonly wholes: Whole[];
}

let current: Run = { isRead: false, wholes: [] };

export function currentRun(): Run {
  return current;
}

export function beginRun(isRead: boolean): Run {
  current = { isRead, wholes: [] };
  return current;
}
