/** What answers had lately that the API reference does not describe: fields of the wrong type, and values. */
import type { DriftedField } from '../causes/cause.ts';

/** How long an entry stays in the list after it was last seen. */
const rememberedMs = 24 * 3_600_000;

/** Some fields are found inside maps, with keys that the API chooses. */
const maxFields = 200;

export class SchemaDrift {
  /** The one that drifted last comes last. */
  readonly #fields = new Map<string, DriftedField>();

  note(kind: string, field: string, value?: string, nowMs = Date.now()): void {
    const key = JSON.stringify([kind, field, value]);
    const before = this.#fields.get(key);
    const count = before && isRecent(before, nowMs) ? before.count + 1 : 1;
    this.#fields.delete(key);
    this.#fields.set(key, { kind, field, ...(value !== undefined && { value }), count, lastAtMs: nowMs });
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
