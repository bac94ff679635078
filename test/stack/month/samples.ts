/** What a Prometheus has of its scrapes, one a minute, written as promtool reads it. */

/** The names of families that rules read, and patterns of such. */
export function familiesIn(rules: string): (name: string) => boolean {
  const names = new Set(rules.match(/\b(?:bunnynet_\w+|up|process_start_time_seconds)\b/g));
  const patterns = [...rules.matchAll(/__name__=~"([^"]+)"/g)].map(
    ([, pattern]) => new RegExp(`^(?:${pattern})$`),
  );
  const known = new Map<string, boolean>();
  return (name) => {
    let isRead = known.get(name);
    if (isRead === undefined) {
      isRead = names.has(name) || patterns.some((one) => one.test(name));
      known.set(name, isRead);
    }
    return isRead;
  };
}

/** A value and how many times in a row. */
type Run = [value: string, times: number];

const nothing = '_';
/** The mark that Prometheus writes where a series ends. */
const stale = 'stale';

interface Row {
  readonly runs: Run[];
  /** In how many scrapes it has a value, or none. */
  length: number;
  isThere: boolean;
}

export type Labels = Readonly<Record<string, string>>;

export const written = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');

export class Samples {
  readonly #rows = new Map<string, Row>();
  readonly #isRead: (name: string) => boolean;
  readonly #startSeconds: number;
  /** How many minutes have been scraped. */
  minutes: number;

  /**
   * @param startSeconds Unix time that becomes 0, where promtool's time begins
   * @param minutes how many have passed then
   */
  constructor(isRead: (name: string) => boolean, startSeconds: number, minutes = 0) {
    this.#isRead = isRead;
    this.#startSeconds = startSeconds;
    this.minutes = minutes;
  }

  /** Adds the samples of a minute: pages, by the labels of their targets. No page: the target cannot be scraped. */
  scrape(targets: readonly { readonly labels: Labels; readonly page: string | undefined }[]): void {
    for (const { labels, page } of targets) {
      const own = written(labels);
      this.#add(`up{${own}}`, page === undefined ? '0' : '1');
      for (const [, name = '', given = '', value = ''] of (page ?? '').matchAll(
        /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm,
      ))
        if (this.#isRead(name)) this.#add(`${name}{${own}${given && `,${given}`}}`, this.#moved(name, value));
    }
    this.minutes++;
    for (const row of this.#rows.values()) {
      if (row.length === this.minutes || !row.isThere) continue;
      fill(row, this.minutes - 1);
      push(row, stale);
      row.isThere = false;
    }
  }

  /** A minute in which Prometheus does not run. */
  miss(): void {
    this.minutes++;
  }

  /** For `input_series`. */
  written(): readonly { readonly series: string; readonly values: string }[] {
    return [...this.#rows].map(([series, { runs }]) => ({
      series,
      values: runs.map(([value, times]) => (times === 1 ? value : runOf(value, times))).join(' '),
    }));
  }

  #moved(name: string, value: string): string {
    const isTime = /_timestamp_seconds|_start_time_seconds$/.test(name) && Number(value) > 0;
    return isTime ? String(Number(value) - this.#startSeconds) : value;
  }

  #add(series: string, value: string): void {
    const row = this.#rows.get(series) ?? { runs: [], length: 0, isThere: true };
    this.#rows.set(series, row);
    fill(row, this.minutes);
    // What a page has twice counts once.
    if (row.length > this.minutes) return;
    row.isThere = true;
    push(row, value);
  }
}

/** Adds nothing up to a minute. */
function fill(row: Row, minutes: number): void {
  if (row.length < minutes) push(row, nothing, minutes - row.length);
}

function push(row: Row, value: string, times = 1): void {
  const last = row.runs.at(-1);
  if (last?.[0] === value && value !== stale) last[1] += times;
  else row.runs.push([value, times]);
  row.length += times;
}

/** `1x3` is four times 1, `_x3` three times nothing. */
const runOf = (value: string, times: number) => `${value}x${value === nothing ? times : times - 1}`;
