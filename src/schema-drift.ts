/** What answers had lately that the API reference does not describe: fields of the wrong type, and values. Each is logged once. */
import type { Logger } from 'pino';
import type { DriftedField } from './causes/cause.ts';
import type { PollObserver } from './polling/poll.ts';
import { safeLine } from './text.ts';

/** How long an entry stays in the list after it was last seen. */
const rememberedMs = 24 * 3_600_000;

/** Some fields are found inside maps, with keys that the API chooses, and a value may be any text. What is more is only counted. */
const maxEntries = 200;

/** How much of a value tells it from others. */
const maxCompared = 2000;

export interface SchemaDriftOptions {
  readonly telemetry: {
    mismatched(kind: string, field: string): void;
    unrecognized(kind: string, field: string): void;
  };
  readonly log: Logger;
  /** Unix time. */
  readonly now: () => number;
  /** By the machine's uptime. */
  readonly uptimeMs: () => number;
}

/** lastAtMs: by the machine's uptime. */
type SeenField = DriftedField & { readonly lastAtMs: number };

type Drift = Pick<PollObserver, 'mismatched' | 'unrecognized'>;

export class SchemaDrift implements Drift {
  readonly #options: SchemaDriftOptions;
  /** The one that was seen last comes last. */
  readonly #entries = new Map<string, SeenField>();

  constructor(options: SchemaDriftOptions) {
    this.#options = options;
  }

  mismatched(...[about, field, expected, received]: Parameters<Drift['mismatched']>): void {
    const { telemetry, log } = this.#options;
    telemetry.mismatched(about.kind, field);
    if (!this.#note(about.kind, field)) return;
    const how = expected === undefined ? '' : `: expected ${expected}, received ${received}`;
    log.warn(
      { ...about, field, expected, received },
      `the field ${field} is not as documented${how}; its series are left out, here and wherever it is so`,
    );
  }

  unrecognized(...[about, field, given]: Parameters<Drift['unrecognized']>): void {
    const { telemetry, log } = this.#options;
    telemetry.unrecognized(about.kind, field);
    const value = this.#note(about.kind, field, given)?.value;
    if (value === undefined) return;
    log.warn({ ...about, field, value }, `the API reference does not list this value of ${field}: ${value}`);
  }

  /** Those of the last day, the most frequent first. */
  fields(): readonly DriftedField[] {
    const nowMs = this.#options.uptimeMs();
    return [...this.#entries.values()]
      .filter((entry) => isRecent(entry, nowMs))
      .toSorted((a, b) => b.count - a.count);
  }

  /** Counts it. Returns it if it is new, and there is room for it. */
  #note(kind: string, field: string, given?: string): DriftedField | undefined {
    const nowMs = this.#options.uptimeMs();
    const [oldest] = this.#entries;
    if (oldest && !isRecent(oldest[1], nowMs)) this.#entries.delete(oldest[0]);
    const key = JSON.stringify([kind, field, given?.slice(0, maxCompared)]);
    const known = this.#entries.get(key);
    if (!known && this.#entries.size >= maxEntries) return undefined;
    const { value, count, sinceMs } =
      known && isRecent(known, nowMs)
        ? known
        : { value: given && safeLine(given), count: 0, sinceMs: this.#options.now() };
    const entry = { kind, field, value, count: count + 1, sinceMs, lastAtMs: nowMs };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return count === 0 ? entry : undefined;
  }
}

function isRecent({ lastAtMs }: SeenField, nowMs: number): boolean {
  return lastAtMs >= nowMs - rememberedMs;
}
