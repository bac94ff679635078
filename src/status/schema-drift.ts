/** What answers had lately that the API reference does not describe: fields of the wrong type, and values. */
import type { DriftedField } from '../causes/cause.ts';

/** How long an entry stays in the list after it was last seen. */
const rememberedMs = 24 * 3_600_000;

/** Some fields are found inside maps, with keys that the API chooses. */
const maxFields = 200;

/** lastAtMs: Unix time. */
type Entry = DriftedField & { readonly lastAtMs: number };

export class SchemaDrift {
  /** The one that drifted last comes last. */
  readonly #entries = new Map<string, Entry>();

  /** value: where the type is right, but the reference does not list it. nowMs: Unix time. */
  note(kind: string, field: string, value: string | undefined, nowMs: number): void {
    const key = JSON.stringify([kind, field, value]);
    const known = this.#entries.get(key);
    const { count, sinceMs } = known && isRecent(known, nowMs) ? known : { count: 0, sinceMs: nowMs };
    this.#entries.delete(key);
    this.#entries.set(key, { kind, field, value, count: count + 1, sinceMs, lastAtMs: nowMs });
    const [oldest = ''] = this.#entries.keys();
    if (this.#entries.size > maxFields) this.#entries.delete(oldest);
  }

  /** The most frequent first. */
  fields(nowMs: number): readonly DriftedField[] {
    return [...this.#entries.values()]
      .filter((entry) => isRecent(entry, nowMs))
      .toSorted((a, b) => b.count - a.count);
  }
}

function isRecent({ lastAtMs }: Entry, nowMs: number): boolean {
  return lastAtMs >= nowMs - rememberedMs;
}
