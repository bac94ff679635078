/** The fields of answers that had the wrong type lately, for the status page. */

export interface DriftedField {
  readonly kind: string;
  readonly field: string;
  readonly count: number;
  /** Unix time. */
  readonly lastAtMs: number;
}

/** How long a field stays in the list after it last had the wrong type. */
const rememberedMs = 24 * 3_600_000;

/** Some fields are found inside maps, with keys that the API chooses. */
const maxFields = 200;

export class SchemaDrift {
  /** The one that drifted last comes last. */
  readonly #fields = new Map<string, DriftedField>();

  note(kind: string, field: string, nowMs = Date.now()): void {
    const key = `${kind} ${field}`;
    const before = this.#fields.get(key);
    const count = before && isRecent(before, nowMs) ? before.count + 1 : 1;
    this.#fields.delete(key);
    this.#fields.set(key, { kind, field, count, lastAtMs: nowMs });
    const [oldest = ''] = this.#fields.keys();
    if (this.#fields.size > maxFields) this.#fields.delete(oldest);
  }

  /** The most frequent first. */
  fields(nowMs = Date.now()): readonly DriftedField[] {
    return [...this.#fields.values()]
      .filter((field) => isRecent(field, nowMs))
      .toSorted((a, b) => b.count - a.count);
  }
}

function isRecent({ lastAtMs }: DriftedField, nowMs: number): boolean {
  return lastAtMs >= nowMs - rememberedMs;
}
