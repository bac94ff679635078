/**
 * Reads YAML as text: every scalar arrives as the user wrote it, so that no id loses a digit, and every value can be
 * traced to its line. Problems never quote the document: it may hold a key by mistake.
 */
import {
  Composer,
  type Document,
  type ErrorCode,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
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

/** With aliases followed, more values than this are an attack or a mistake: the largest file has fewer. */
const maxValues = 8_000_000;
const maxDepth = 100;

const problemWords: { readonly [code in ErrorCode]?: string } = {
  BAD_DQ_ESCAPE: 'no such escape sequence; text in single quotes is taken as it is',
  BAD_INDENT: 'this line is not indented as the ones beside it',
  BAD_SCALAR_START: 'text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second key on one line; text that holds a colon needs quotes',
  MISSING_CHAR: 'a colon, comma or space is missing here',
  MULTILINE_IMPLICIT_KEY: 'a key without its colon',
  TAG_RESOLVE_FAILED: 'a value has a tag; remove the word that begins with !',
  TAB_AS_INDENT: 'a tab indents this line; use spaces',
};

/** Reads one document. Syntax errors are problems too; with one of them nothing is read. */
export function parseYaml(text: string): YamlDocument {
  const lines = new LineCounter();
  const linesAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const refuse = (offset: number, message: string): YamlDocument => ({
    raw: null,
    problems: [{ path: [], ...linesAt(offset), message }],
    position: () => ({ line: 1, column: 1 }),
  });
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false });
  const [document, second] = composer.compose(tokensOf(text, parser), true, text.length);
  if (parser.stack.length > maxDepth) return refuse(parser.offset, 'expected YAML: it is nested too deeply');
  if (second) {
    const offset = second.range[0];
    return refuse(offset, 'expected one document; a second begins here');
  }
  const error = document?.errors[0] ?? document?.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
  if (document && error) return refuse(...explain(error, document));
  const reader = new Reader(linesAt);
  const root = reader.read(document?.contents, []);
  const rootOffset = document?.contents?.range?.[0] ?? 0;
  return {
    raw: root,
    problems: reader.problems,
    position(path) {
      let raw = root;
      let offset = rootOffset;
      for (const step of path) {
        const found = reader.offsets.get(raw)?.get(step);
        if (found === undefined) break;
        raw = (raw as Readonly<Record<string | number, Raw>>)[step] ?? null;
        offset = found;
      }
      return linesAt(offset);
    },
  };
}

/** Ends early where values are nested so deeply that composing them, which is recursive, could exhaust the stack. */
function* tokensOf(text: string, parser: Parser) {
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > maxDepth) return;
  }
  yield* parser.end();
}

/** Where the error is, and in words. A bracket or quote that is not closed is noticed late: it is reported where it opens. */
function explain(error: YAMLError, document: Document): [offset: number, message: string] {
  const [offset] = error.pos;
  let open: { offset: number; what: string } | undefined;
  visit(document, {
    Node(_, node) {
      const [start = 0, , end = 0] = node.range ?? [];
      const isFlow = isCollection(node) && node.flow === true;
      const isQuoted = isScalar(node) && node.type?.startsWith('QUOTE') === true;
      if (start < offset && offset <= end && (isFlow || isQuoted))
        open = { offset: start, what: isFlow ? 'bracket' : 'quote' };
    },
  });
  if (open && ['BAD_INDENT', 'MISSING_CHAR'].includes(error.code))
    return [open.offset, `expected YAML: the ${open.what} that opens here is not closed`];
  return [offset, `expected YAML: ${problemWords[error.code] ?? 'this cannot be read'}`];
}

/** An alias becomes the very value that it stands for, so the result is never larger than the file. */
class Reader {
  readonly problems: YamlProblem[] = [];
  /** Where each entry of a list or mapping begins. */
  readonly offsets = new Map<Raw, ReadonlyMap<string | number, number>>();
  readonly #linesAt: (offset: number) => { line: number; column: number };
  /**
   * By anchor, once its value is complete, so that no value can contain itself; size: how many values it contains, itself
   * included.
   */
  readonly #anchors = new Map<string, { readonly raw: Raw; readonly size: number }>();
  #values = 0;

  constructor(linesAt: (offset: number) => { line: number; column: number }) {
    this.#linesAt = linesAt;
  }

  read(node: Node | null | undefined, path: Path): Raw {
    const before = this.#values++;
    if (!node) return null;
    if (isAlias(node)) return this.#alias(node.source, node.range?.[0] ?? 0, path);
    const raw = this.#content(node, path);
    if ('anchor' in node && node.anchor) this.#anchors.set(node.anchor, { raw, size: this.#values - before });
    return raw;
  }

  #content(node: Node, path: Path): Raw {
    if (isMap(node)) return this.#mapping(node as YAMLMap<Node | null, Node | null>, path);
    if (isSeq(node)) return this.#list(node as YAMLSeq<Node | null>, path);
    const { type, value, tag } = node as { type?: string; value?: unknown; tag?: string };
    const text = typeof value === 'string' ? value : '';
    return type === 'PLAIN' && !tag && /^(?:~|null|Null|NULL|)$/.test(text) ? null : text;
  }

  #list(node: YAMLSeq<Node | null>, path: Path): Raw {
    const offsets = new Map<number, number>();
    const list = node.items.map((item, index) => {
      offsets.set(index, item?.range?.[0] ?? node.range?.[0] ?? 0);
      return this.read(item, [...path, index]);
    });
    this.offsets.set(list, offsets);
    return list;
  }

  #mapping(node: YAMLMap<Node | null, Node | null>, path: Path): Raw {
    // Without a prototype, so that no key of the document means anything to the language.
    const mapping = Object.create(null) as Record<string, Raw>;
    const offsets = new Map<string, number>();
    for (const { key, value } of node.items) {
      const name = this.read(key, path) ?? '';
      if (typeof name !== 'string') {
        this.#report(path, key, 'expected plain text as a key');
        continue;
      }
      const raw = this.read(value, [...path, name]);
      const first = offsets.get(name);
      if (first !== undefined) {
        const message = `expected each key once; it is already on line ${this.#linesAt(first).line}`;
        this.#report([...path, name], key, message);
        continue;
      }
      offsets.set(name, key?.range?.[0] ?? 0);
      mapping[name] = raw;
    }
    this.offsets.set(mapping, offsets);
    return mapping;
  }

  #alias(name: string, offset: number, path: Path): Raw {
    const anchor = this.#anchors.get(name);
    const refuse = (message: string) => {
      if (this.problems.at(-1)?.message !== message)
        this.problems.push({ path, ...this.#linesAt(offset), message });
      return null;
    };
    if (!anchor)
      return refuse('expected an alias of an anchor that ends before it; there is none of this name');
    this.#values += anchor.size;
    if (this.#values > maxValues)
      return refuse(`expected at most ${maxValues} values once aliases are followed`);
    return anchor.raw;
  }

  #report(path: Path, node: Node | null, message: string): void {
    this.problems.push({ path, ...this.#linesAt(node?.range?.[0] ?? 0), message });
  }
}
