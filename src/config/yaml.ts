/**
 * Reads YAML as text: every scalar arrives as the user wrote it, so that no id loses a digit, and every value can be
 * traced to its line. It knows nothing of what the document says, and its errors never quote the document.
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

interface Scalar {
  readonly offset: number;
  readonly raw: string | null;
}
interface List {
  readonly offset: number;
  readonly items: readonly Node[];
}
interface Mapping {
  readonly offset: number;
  readonly entries: ReadonlyMap<string, { readonly keyOffset: number; readonly value: Node }>;
}
type Node = Scalar | List | Mapping;

type LineFinder = (offset: number) => { line: number; column: number };

/** More values than this once aliases are followed is an attack or a mistake: the largest file holds fewer. */
const maxValues = 8_000_000;

/** Reads one document. Syntax errors are problems too; after the first of them nothing is read. */
export function parseYaml(text: string): YamlDocument {
  const lines = lineFinder(text);
  let events: Event[];
  try {
    events = parseEvents(text, {});
  } catch (error) {
    // Some reasons end in a word of the document.
    const reason =
      error instanceof YAMLException ? error.reason.replace(/[:"].*$/s, '').trim() : 'it cannot be read';
    const message = `expected YAML: ${reason}`;
    const offset = error instanceof YAMLException ? (error.mark?.position ?? 0) : 0;
    return {
      raw: null,
      problems: [{ path: [], ...lines(offset), message }],
      position: () => ({ line: 1, column: 1 }),
    };
  }
  const builder = new Builder(text, events, lines);
  const root = builder.document();
  return {
    raw: root === undefined ? null : toRaw(root, new Map()),
    problems: builder.problems,
    position: (path) => lines(root === undefined ? 0 : offsetOf(root, path)),
  };
}

/** Follows the events of the parser and makes nodes of them, aliases resolved to the nodes that they stand for. */
class Builder {
  readonly problems: YamlProblem[] = [];
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #lines: LineFinder;
  readonly #anchors = new Map<string, Node>();
  readonly #sizes = new Map<Node, number>();
  #next = 0;
  #values = 0;
  /** Where the latest scalar ends. */
  #last = 0;

  constructor(text: string, events: readonly Event[], lines: LineFinder) {
    this.#text = text;
    this.#events = events;
    this.#lines = lines;
  }

  document(): Node | undefined {
    if (this.#events.length === 0) return undefined;
    this.#next = 1;
    const root = this.#events[1]?.type === EVENT_ID.POP ? undefined : this.#node([]);
    this.#next++;
    if (this.#next < this.#events.length) {
      const following = this.#events[this.#next + 1];
      this.#report(
        [],
        following === undefined ? 0 : startOf(following),
        'expected one document; a second begins here',
      );
    }
    return root;
  }

  #report(path: Path, offset: number, message: string): void {
    this.problems.push({ path, ...this.#lines(Math.max(0, offset)), message });
  }

  #take(): Event {
    const event = this.#events[this.#next++];
    if (event === undefined) throw new Error('the events of a YAML document end early');
    return event;
  }

  #node(path: Path): Node {
    const event = this.#take();
    const valuesBefore = this.#values++;
    if (event.type === EVENT_ID.ALIAS) return this.#alias(path, event.anchorStart, event.anchorEnd);
    const node = this.#content(path, event);
    if ('anchorStart' in event && event.anchorStart >= 0) {
      this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), node);
      this.#sizes.set(node, this.#values - valuesBefore);
    }
    return node;
  }

  /** An anchor is known once its node is complete, so no node can contain itself. */
  #alias(path: Path, start: number, end: number): Node {
    const nothing: Node = { offset: start - 1, raw: null };
    const node = this.#anchors.get(this.#text.slice(start, end));
    if (node === undefined) {
      this.#report(
        path,
        start - 1,
        'expected an alias of an anchor that ends before it; there is none of this name',
      );
      return nothing;
    }
    this.#values += this.#sizes.get(node) ?? 0;
    if (this.#values <= maxValues) return node;
    if (this.problems.at(-1)?.message !== tooManyValues) this.#report(path, start - 1, tooManyValues);
    return nothing;
  }

  #content(path: Path, event: Event): Node {
    this.#checkTag(path, event);
    if (event.type === EVENT_ID.SEQUENCE) {
      const items: Node[] = [];
      while (this.#events[this.#next]?.type !== EVENT_ID.POP) items.push(this.#node([...path, items.length]));
      this.#next++;
      return { offset: event.start, items };
    }
    if (event.type === EVENT_ID.MAPPING) {
      const entries = new Map<string, { keyOffset: number; value: Node }>();
      while (this.#events[this.#next]?.type !== EVENT_ID.POP) this.#entry(path, entries);
      this.#next++;
      return { offset: event.start, entries };
    }
    if (event.type !== EVENT_ID.SCALAR) throw new Error('a YAML document holds something unknown');
    const text = event.valueStart < 0 ? '' : getScalarValue(this.#text, event);
    const offset = event.valueStart < 0 ? this.#afterLast() : event.valueStart;
    this.#last = Math.max(this.#last, offset, event.valueEnd);
    const empty =
      event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0 && /^(?:~|null|Null|NULL|)$/.test(text);
    return { offset, raw: empty ? null : text };
  }

  #entry(path: Path, entries: Map<string, { keyOffset: number; value: Node }>): void {
    const key = this.#node(path);
    if (!('raw' in key)) {
      this.#report(path, key.offset, 'expected plain text as a key');
      this.#node(path);
      return;
    }
    const name = key.raw ?? '';
    const value = this.#node([...path, name]);
    const first = entries.get(name);
    if (first === undefined) {
      entries.set(name, { keyOffset: key.offset, value });
    } else {
      const message = `expected each key once; it is already on line ${this.#lines(first.keyOffset).line}`;
      this.#report([...path, name], key.offset, message);
    }
  }

  /** Where a value without any text stands: the parser gives it no place of its own. */
  #afterLast(): number {
    const blank = /["']?(?:\s|#.*)*/y;
    blank.lastIndex = this.#last;
    return this.#last + (blank.exec(this.#text)?.[0].length ?? 0);
  }

  #checkTag(path: Path, event: Event): void {
    if (!('tagStart' in event) || event.tagStart < 0) return;
    if (!['!', '!!str', '!!seq', '!!map'].includes(this.#text.slice(event.tagStart, event.tagEnd))) {
      this.#report(
        path,
        event.tagStart,
        'expected a value without a tag: remove the word that begins with !',
      );
    }
  }
}

const tooManyValues = `expected at most ${maxValues} values once aliases are followed`;

function startOf(event: Event): number {
  if ('valueStart' in event) return event.valueStart;
  if ('start' in event) return event.start;
  return 'anchorStart' in event ? event.anchorStart : 0;
}

/** Aliased nodes become the same object, so that the result is never larger than the file. */
function toRaw(node: Node, known: Map<Node, Raw>): Raw {
  if ('raw' in node) return node.raw;
  const before = known.get(node);
  if (before !== undefined) return before;
  let raw: Raw;
  if ('items' in node) {
    raw = node.items.map((item) => toRaw(item, known));
  } else {
    // Without a prototype, so that no key of the document means anything to the language.
    const mapping: Record<string, Raw> = { __proto__: null } as unknown as Record<string, Raw>;
    for (const [key, { value }] of node.entries) mapping[key] = toRaw(value, known);
    raw = mapping;
  }
  known.set(node, raw);
  return raw;
}

function offsetOf(root: Node, path: Path): number {
  let { offset } = root;
  let node = root;
  for (const step of path) {
    if ('items' in node && typeof step === 'number') {
      const item = node.items[step];
      if (item === undefined) return offset;
      node = item;
      offset = item.offset;
    } else if ('entries' in node && typeof step === 'string') {
      const entry = node.entries.get(step);
      if (entry === undefined) return offset;
      node = entry.value;
      offset = entry.keyOffset;
    } else return offset;
  }
  return offset;
}

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
