/** The fields of answers that had the wrong type lately, for the status page. */

export interface Mismatch {
  readonly kind: string;
  readonly field: string;
  /** The type that was expected, and the one that came, where they are known. */
  readonly expected?: string | undefined;
  readonly received?: string | undefined;
}

export interface MismatchRecord extends Mismatch {
  readonly count: number;
  /** Unix time of the latest. */
  readonly lastAtMs: number;
}

/** How long a field that is well again stays in the list. */
const rememberedMs = 24 * 3_600_000;

/** Fields have known names, but some are found inside maps with keys that the API chooses. */
const maxRecords = 200;

export class SchemaDrift {
  readonly #records = new Map<string, MismatchRecord>();
  readonly #now: () => number;

  /** now: Unix time. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note({ kind, field, expected, received }: Mismatch): void {
    const key = `${kind} ${field}`;
    const known = this.#records.get(key);
    if (!known && this.#records.size >= maxRecords) this.#forgetOld();
    if (!known && this.#records.size >= maxRecords) return;
    const count = (known?.count ?? 0) + 1;
    this.#records.set(key, { kind, field, expected, received, count, lastAtMs: this.#now() });
  }

  /** The most frequent first. */
  records(): readonly MismatchRecord[] {
    this.#forgetOld();
    return [...this.#records.values()].toSorted((a, b) => b.count - a.count);
  }

  #forgetOld(): void {
    const sinceMs = this.#now() - rememberedMs;
    for (const [key, { lastAtMs }] of this.#records) if (lastAtMs < sinceMs) this.#records.delete(key);
  }
}
