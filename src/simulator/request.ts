/** A request as a kind sees it: routed, and with the right key. */
export interface Request {
  /** In the order of the operation's path. */
  readonly ids: readonly string[];
  /** Without the question mark. */
  readonly query: string;
  readonly nowMs: number;
  /** Items on a page at most, whatever the query asks for. */
  readonly maxPageSize: number;
  /** True for an entity that was removed after the dataset was made. */
  readonly isRemoved: (id: string) => boolean;
  /** The name of an entity by now: what it was called when the dataset was made, unless it was renamed. */
  readonly nameOf: (id: string, name: string) => string;
}
