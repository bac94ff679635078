/**
 * Reads YAML as text: every scalar arrives as the user wrote it, so that no id loses a digit, and every value can be
 * traced to its line. Problems never quote the document.
 */
import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';
import type { Path } from './problems.ts';

/** What a YAML document is made of here: null is a value that was left empty. */
export type Raw = string | null | readonly Raw[] | { readonly [key: string]: Raw };

export interface YamlProblem {
  readonly path: Path;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface YamlDocument {
  readonly raw: Raw;
  /** What is wrong with it as YAML; `raw` holds the rest. */
  readonly problems: readonly YamlProblem[];
  /** Where the value of a path starts: the key of a mapping's entry, the item of a list; the nearest one above if there is none. */
  readonly position: (path: Path) => { line: number; column: number };
}

/** What is wrong on one line and noticed on the next: a key without its colon, a bracket or quote that is not closed. */
const isNoticedLate = /multiline key|deficient indentation/;

/** The end of the last line with content before the line of an offset. */
function endOfLineBefore(text: string, offset: number): number {
  let end = text.lastIndexOf('\n', offset - 1);
  while (end > 0) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text
      .slice(start, end)
      .replace(/^\s*#.*/, '')
      .trimEnd();
    if (line !== '') return start + line.length - 1;
    end = start - 1;
  }
  return offset;
}

/** More values than this once aliases are followed is an attack or a mistake: the largest file holds fewer. */
const maxValues = 8_000_000;
const tooManyValues = `expected at most ${maxValues} values once aliases are followed`;

/** Reads one document. Syntax errors are problems too; after the first of them nothing is read. */
export function parseYaml(text: string): YamlDocument {
  const linesAt = lineFinder(text);
  let events: Event[];
  try {
    events = parseEvents(text, {});
  } catch (error) {
    // Some reasons end in a word of the document.
    const reason =
      error instanceof YAMLException ? error.reason.replace(/[:"].*$/s, '').trim() : 'it cannot be read';
    const noticedAt = error instanceof YAMLException ? (error.mark?.position ?? 0) : 0;
    const offset = isNoticedLate.test(reason) ? endOfLineBefore(text, noticedAt) : noticedAt;
    return {
      raw: null,
      problems: [{ path: [], ...linesAt(offset), message: `expected YAML: ${reason}` }],
      position: () => ({ line: 1, column: 1 }),
    };
  }
  const builder = new Builder(text, events, linesAt);
  const root = builder.document();
  return {
    raw: root.raw,
    problems: builder.problems,
    position: (path) => {
      let { raw, offset } = root;
      for (const step of path) {
        const found = builder.offsets.get(raw)?.get(step);
        if (found === undefined) break;
        raw = (raw as Readonly<Record<string | number, Raw>>)[step] ?? null;
        offset = found;
      }
      return linesAt(offset);
    },
  };
}

interface Value {
  readonly raw: Raw;
  readonly offset: number;
}

/**
 * Follows the events of the parser and makes values of them. An alias becomes the very value that it stands for, so the
 * result is never larger than the file.
 */
class Builder {
  readonly problems: YamlProblem[] = [];
  /** Where each entry of a list or mapping begins. */
  readonly offsets = new Map<Raw, ReadonlyMap<string | number, number>>();
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #linesAt: LineFinder;
  /** By name: the value, and how many values it holds, itself included. */
  readonly #anchors = new Map<string, { readonly raw: Raw; readonly size: number }>();
  #next = 1;
  #values = 0;
  /** Where the latest scalar ends. */
  #lastEnd = 0;

  constructor(text: string, events: readonly Event[], linesAt: LineFinder) {
    this.#text = text;
    this.#events = events;
    this.#linesAt = linesAt;
  }

  document(): Value {
    const root = this.#isAtEnd() ? { raw: null, offset: 0 } : this.#value([]);
    const following = this.#events[this.#next + 2];
    if (this.#events.length > this.#next + 1) {
      this.#report([], following ? startOf(following) : 0, 'expected one document; a second begins here');
    }
    return root;
  }

  #isAtEnd(): boolean {
    return (this.#events[this.#next]?.type ?? EVENT_ID.POP) === EVENT_ID.POP;
  }

  #report(path: Path, offset: number, message: string): void {
    this.problems.push({ path, ...this.#linesAt(Math.max(0, offset)), message });
  }

  #value(path: Path): Value {
    const event = this.#events[this.#next++];
    if (event === undefined) throw new Error('the events of a YAML document end early');
    const valuesBefore = this.#values++;
    if (event.type === EVENT_ID.ALIAS) return this.#alias(path, event.anchorStart, event.anchorEnd);
    const value = this.#content(path, event);
    if ('anchorStart' in event && event.anchorStart >= 0) {
      const name = this.#text.slice(event.anchorStart, event.anchorEnd);
      this.#anchors.set(name, { raw: value.raw, size: this.#values - valuesBefore });
    }
    return value;
  }

  /** An anchor is known once its value is complete, so no value can contain itself. */
  #alias(path: Path, start: number, end: number): Value {
    const offset = start - 1;
    const anchor = this.#anchors.get(this.#text.slice(start, end));
    if (anchor === undefined) {
      const message = 'expected an alias of an anchor that ends before it; there is none of this name';
      this.#report(path, offset, message);
    }
    this.#values += anchor?.size ?? 0;
    if (this.#values <= maxValues) return { raw: anchor?.raw ?? null, offset };
    if (this.problems.at(-1)?.message !== tooManyValues) this.#report(path, offset, tooManyValues);
    return { raw: null, offset };
  }

  #content(path: Path, event: Event): Value {
    if ('tagStart' in event && event.tagStart >= 0) {
      const tag = this.#text.slice(event.tagStart, event.tagEnd);
      const message = 'expected a value without a tag: remove the word that begins with !';
      if (!['!', '!!str', '!!seq', '!!map'].includes(tag)) this.#report(path, event.tagStart, message);
    }
    if (event.type === EVENT_ID.SEQUENCE) return { raw: this.#list(path), offset: event.start };
    if (event.type === EVENT_ID.MAPPING) return { raw: this.#mapping(path), offset: event.start };
    if (event.type !== EVENT_ID.SCALAR) throw new Error('a YAML document holds something unknown');
    const text = event.valueStart < 0 ? '' : getScalarValue(this.#text, event);
    const offset = event.valueStart < 0 ? this.#afterLast() : event.valueStart;
    this.#lastEnd = Math.max(this.#lastEnd, offset, event.valueEnd);
    const isPlain = event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0;
    return { raw: isPlain && /^(?:~|null|Null|NULL|)$/.test(text) ? null : text, offset };
  }

  #list(path: Path): Raw {
    const list: Raw[] = [];
    const offsets = new Map<number, number>();
    while (!this.#isAtEnd()) {
      const { raw, offset } = this.#value([...path, list.length]);
      offsets.set(list.length, offset);
      list.push(raw);
    }
    this.#next++;
    this.offsets.set(list, offsets);
    return list;
  }

  #mapping(path: Path): Raw {
    // Without a prototype, so that no key of the document means anything to the language.
    const mapping = Object.create(null) as Record<string, Raw>;
    const offsets = new Map<string, number>();
    while (!this.#isAtEnd()) {
      const key = this.#value(path);
      const isText = key.raw === null || typeof key.raw === 'string';
      const name = isText ? String(key.raw ?? '') : '';
      const { raw } = this.#value(isText ? [...path, name] : path);
      const first = offsets.get(name);
      if (!isText) {
        this.#report(path, key.offset, 'expected plain text as a key');
      } else if (first !== undefined) {
        const message = `expected each key once; it is already on line ${this.#linesAt(first).line}`;
        this.#report([...path, name], key.offset, message);
      } else {
        offsets.set(name, key.offset);
        mapping[name] = raw;
      }
    }
    this.#next++;
    this.offsets.set(mapping, offsets);
    return mapping;
  }

  /** Where a value without any text stands: the parser gives it no place of its own. */
  #afterLast(): number {
    const blank = /["']?(?:\s|#.*|:(?=\s))*/y;
    blank.lastIndex = this.#lastEnd;
    return this.#lastEnd + (blank.exec(this.#text)?.[0].length ?? 0);
  }
}

function startOf(event: Event): number {
  if ('valueStart' in event) return event.valueStart;
  if ('start' in event) return event.start;
  return 'anchorStart' in event ? event.anchorStart : 0;
}

type LineFinder = (offset: number) => { line: number; column: number };

/** Finds line and column, both from 1, of an offset. */
function lineFinder(text: string): LineFinder {
  let starts: number[] | undefined;
  return (offset) => {
    if (starts === undefined) {
      starts = [0];
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    }
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
