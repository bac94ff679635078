/**
 * Reads YAML as text: every scalar arrives as the user wrote it, so that no id loses a digit, and every value can be
 * traced to its line. Problems never quote the document: it may hold a key by mistake.
 */
import {
  type Alias,
  Composer,
  type ErrorCode,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Document as ParsedYaml,
  Parser,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { formatPath, type Path, type Place, type Problem } from './problems.ts';

/** A YAML document; null is an empty value. */
export type Raw = string | null | Raw[] | { [key: string]: Raw };

export type Mapping = Record<string, Raw>;

export function isMapping(raw: Raw | undefined): raw is Mapping {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

export interface YamlDocument {
  readonly raw: Raw;
  /** Errors of the YAML; `raw` has what is valid. */
  readonly problems: readonly Problem[];
  /** Where the entry or item at a path starts, or the nearest one above it. */
  readonly place: (path: Path) => Place;
}

/** A configuration as it was written, before it is checked: from a file, from plain data or from the environment. */
export interface Document extends YamlDocument {
  readonly raw: Mapping;
  /** The directory to which paths of files are relative. */
  readonly directory: string;
}

/** The place of an offset in the text. */
type Locate = (offset: number, path: Path) => Place;

/** The most values of a document, with those that aliases repeat. More are an attack or a mistake. */
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

/** Reads the text of a file: one document. A syntax error is reported alone, and then `raw` is null. */
export function parseYaml(text: string, file: string): YamlDocument {
  const lines = new LineCounter();
  const locate: Locate = (offset, path) => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col), path: formatPath(path) };
  };
  const refuse = (offset: number, message: string): YamlDocument => ({
    raw: null,
    problems: [{ ...locate(offset, []), message }],
    place: (path) => locate(0, path),
  });
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const composer = new Composer({
    schema: 'failsafe',
    customTags: ['null'],
    resolveKnownTags: false,
    uniqueKeys: false,
  });
  const [document, second] = composer.compose(tokensOf(text, parser), true, text.length);
  if (parser.stack.length > maxDepth) return refuse(parser.offset, 'expected YAML: it is nested too deeply');
  if (second) return refuse(second.range[0], 'expected one document; a second begins here');
  const error = document?.errors[0] ?? document?.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
  if (document && error) return refuse(...explain(error, document));
  const root = document?.contents ?? null;
  return { ...readValues(root, locate), place: (path) => locate(offsetOf(path, root), path) };
}

/** Stops at too deep a nesting: composing is recursive, and at the end of its stack Node aborts the process. */
function* tokensOf(text: string, parser: Parser) {
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > maxDepth) return;
  }
  yield* parser.end();
}

/** The problem of a syntax error. The parser notices an open bracket or quote late; it is reported where it opens. */
function explain(error: YAMLError, document: ParsedYaml): [offset: number, message: string] {
  const [offset] = error.pos;
  let open: [offset: number, message: string] | undefined;
  visit(document, {
    Node(_, node) {
      // To the end of the value, without what follows: one that is closed ends before the line that is wrong.
      const [start = 0, end = 0] = node.range ?? [];
      const isFlow = isCollection(node) && node.flow === true;
      const isQuoted = isScalar(node) && node.type?.startsWith('QUOTE') === true;
      if (start < offset && offset <= end && (isFlow || isQuoted)) {
        const what = isFlow ? 'bracket' : 'quote';
        open = [start, `expected YAML: the ${what} that opens here is not closed`];
      }
    },
  });
  if (open && ['BAD_INDENT', 'MISSING_CHAR'].includes(error.code)) return open;
  return [offset, `expected YAML: ${problemWords[error.code] ?? 'this cannot be read'}`];
}

/** The plain values. An alias becomes the same object as its anchor, so the result is never larger than the file. */
function readValues(root: Node | null, locate: Locate) {
  const problems: Problem[] = [];
  /** The values that are read completely: an alias may only repeat one of these, so that none contains itself. size: how many values it has. */
  const anchors = new Map<string, { readonly raw: Raw; readonly size: number }>();
  let size = 0;

  const report = (path: Path, node: Node | null, message: string): null => {
    problems.push({ ...locate(node?.range?.[0] ?? 0, path), message });
    return null;
  };

  function read(node: Node | null, path: Path): Raw {
    if (isAlias(node)) return resolveAlias(node, path);
    const sizeBefore = size++;
    const raw = contentOf(node, path);
    if (node?.anchor) anchors.set(node.anchor, { raw, size: size - sizeBefore });
    return raw;
  }

  function contentOf(node: Node | null, path: Path): Raw {
    if (isMap<Node, Node | null>(node)) return mappingOf(node, path);
    if (isSeq<Node | null>(node)) return node.items.map((item, index) => read(item, [...path, index]));
    return isScalar(node) ? (node.value as string | null) : null;
  }

  function mappingOf({ items }: YAMLMap<Node, Node | null>, path: Path): Raw {
    // Without a prototype, so that a key such as `__proto__` is only a key.
    const mapping = Object.create(null) as Record<string, Raw>;
    const firstKeys = new Map<string, Node>();
    for (const { key, value } of items) {
      if (!isScalar(key)) {
        report(path, key, 'expected plain text as a key');
        continue;
      }
      const name = (key.value ?? '') as string;
      const first = firstKeys.get(name);
      if (first === undefined) {
        firstKeys.set(name, key);
        mapping[name] = read(value, [...path, name]);
      } else {
        const { line } = locate(first.range?.[0] ?? 0, []);
        report([...path, name], key, `expected each key once; it is already on line ${line}`);
      }
    }
    return mapping;
  }

  function resolveAlias(alias: Alias, path: Path): Raw {
    const anchor = anchors.get(alias.source);
    if (!anchor) {
      const message = 'expected an alias of an anchor that ends before it; there is none of this name';
      return report(path, alias, message);
    }
    size += anchor.size;
    if (size <= maxValues) return anchor.raw;
    const message = `expected at most ${maxValues} values once aliases are followed`;
    return problems.at(-1)?.message === message ? null : report(path, alias, message);
  }

  return { raw: read(root, []), problems };
}

function offsetOf(path: Path, root: Node | null): number {
  let node: unknown = root;
  let start = root;
  for (const step of path) {
    if (isMap<Node, Node | null>(node)) {
      const entry = node.items.find(({ key }) => isScalar(key) && (key.value ?? '') === step);
      [start, node] = [entry?.key ?? start, entry?.value];
    } else {
      node = isSeq<Node>(node) ? node.items[Number(step)] : undefined;
      if (isNode(node)) start = node;
    }
  }
  return start?.range?.[0] ?? 0;
}
