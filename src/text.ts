/** Parts of messages: quotations, suggestions, durations, counts, reasons. */

/** The text in double quotes, with control characters escaped, shortened to fit a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}

/** `a, b or c` */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** `a, b and c` */
export function andList(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** `20,000`, or with decimals `20,000.5`. Without Intl, whose tables take 7 MB of memory. */
export function count(n: number, maxDecimals = 0): string {
  const [whole = '', decimals] = String(Number(n.toFixed(maxDecimals))).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** `1 target`, `3 targets` */
export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** Why a file cannot be opened or read, after `expected …; `. */
export function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is none';
  if (code === 'EACCES' || code === 'EPERM') return 'this process may not read it';
  if (code === 'EISDIR') return 'it is a directory';
  return `it cannot be read (${code})`;
}

/** The known word that was probably meant, if any is close enough. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  const [best] = nearest(word, known, 1);
  const maxDistance = Math.max(1, Math.floor(plain(word).length / 3));
  return best !== undefined && distance(word, best) <= maxDistance ? best : undefined;
}

/** The known words most like it, the nearest first. */
export function nearest(word: string, known: Iterable<string>, count: number): readonly string[] {
  const rated = Array.from(known, (candidate) => ({ candidate, distance: distance(word, candidate) }));
  const sorted = rated.toSorted((a, b) => a.distance - b.distance);
  return sorted.slice(0, count).map(({ candidate }) => candidate);
}

/** The most words that a message lists. */
const maxListed = 5;

/** `a, b or c`: all known words, or if a message cannot list so many, the three that are most similar. */
export function expectedOf(word: string, known: readonly string[]): string {
  return known.length <= maxListed ? orList(known) : `one such as ${orList(nearest(word, known, 3))}`;
}

function distance(a: string, b: string): number {
  return editDistance(plain(a), plain(b));
}

/** The beginning is enough to compare: nothing that is known is longer. */
function plain(text: string): string {
  return text.slice(0, 64).toLowerCase().replace(/[-_.]/g, '');
}

/** ` (did you mean x?)`, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = suggest(word, known);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

/** Counts insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  const at = (i: number, j: number) => table[i]?.[j] ?? j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const replaced = isSwap
        ? Math.min(at(i - 1, j - 1) + same, at(i - 2, j - 2) + 1)
        : at(i - 1, j - 1) + same;
      table[i]?.push(Math.min(replaced, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(a.length, b.length);
}

const durationUnits = [
  ['y', 31_536_000_000],
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** Also for editors; it matches the empty text, too, because not every reader of a schema knows look-ahead. */
export const durationPattern = String.raw`^(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$`;

/** In milliseconds; undefined if the text is not a duration as Prometheus writes it. */
export function parseDuration(text: string): number | undefined {
  const parts = new RegExp(durationPattern).exec(text);
  if (parts === null || text === '') return undefined;
  // Not 0 times a unit that is not given: 0 years are a double, and every target has its durations.
  const ms = durationUnits.reduce((sum, [, unitMs], i) => {
    const given = parts[i + 1];
    return given === undefined ? sum : sum + Number.parseInt(given, 10) * unitMs;
  }, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The inverse of `parseDuration`, as short as possible. Years and weeks only if they divide it. */
export function formatDuration(durationMs: number): string {
  let rest = Math.round(durationMs);
  if (rest <= 0) return '0s';
  let text = '';
  for (const [unit, unitMs] of durationUnits) {
    if ((unit === 'y' || unit === 'w') && rest % unitMs !== 0) continue;
    const n = Math.floor(rest / unitMs);
    if (n > 0) text += `${n}${unit}`;
    rest -= n * unitMs;
  }
  return text;
}

const booleans = new Map([
  ...['true', 'yes', 'on', 'y', '1', 'enabled'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', 'n', '0', 'disabled'].map((word) => [word, false] as const),
]);

/** In the words of YAML, Helm and shells; undefined for other text. */
export function parseBoolean(text: string): boolean | undefined {
  return booleans.get(text.toLowerCase());
}

/** The two largest units: `12 s`, `3 m 12 s`, `2 h 5 m`, `4 d 3 h`. */
export function durationInWords(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return first < 0 ? '0 s' : shown.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}

/** `184 ms`, `1.52 s` */
export function pollDuration(seconds: number): string {
  return seconds < 0.9995 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}

/** How much of a text from an answer is passed on. */
const maxPassedOn = 300;

/** One line of bounded length: what answers say is not to be trusted. */
export function safeLine(text: string): string {
  // Not all of a text of megabytes is looked at.
  return text
    .slice(0, 10 * maxPassedOn)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .slice(0, maxPassedOn);
}

export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `09:43:12 UTC`, with the day if it is not that of `nowMs`. Both are Unix times. */
export function clockText(atMs: number, nowMs: number): string {
  const [day = '', time = ''] = new Date(atMs).toISOString().split('T');
  const clock = `${time.slice(0, 8)} UTC`;
  return new Date(nowMs).toISOString().startsWith(day) ? clock : `${day} ${clock}`;
}
