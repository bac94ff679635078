/** The fields of answers that had the wrong type lately, for the status page. */

export interface DriftedField {
  readonly kind: string;
  readonly field: string;
  readonly count: number;
  /** Unix time. */
  readonly lastAtMs: number;
}

/** How long a field that is well again stays in the list. */
const rememberedMs = 24 * 3_600_000;

/** Some fields are found inside maps, with keys that the API chooses. */
const maxFields = 200;

export class SchemaDrift {
  /** The one that drifted last comes last. */
  readonly #fields = new Map<string, DriftedField>();

  note(kind: string, field: string, nowMs = Date.now()): void {
    const key = `${kind} ${field}`;
    const count = (this.#fields.get(key)?.count ?? 0) + 1;
    this.#fields.delete(key);
    this.#fields.set(key, { kind, field, count, lastAtMs: nowMs });
    const [oldest = ''] = this.#fields.keys();
    if (this.#fields.size > maxFields) this.#fields.delete(oldest);
  }

  /** The most frequent first. */
  fields(nowMs = Date.now()): readonly DriftedField[] {
    return [...this.#fields.values()]
      .filter(({ lastAtMs }) => lastAtMs >= nowMs - rememberedMs)
      .toSorted((a, b) => b.count - a.count);
  }
}
