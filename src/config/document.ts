/** A configuration as it was written, before it is checked: from a file, from plain data or from the environment. */
import { isUtf8 } from 'node:buffer';
import { dirname, resolve } from 'node:path';
import { readStart } from '../files.ts';
import { unreadable } from '../text.ts';
import { ConfigError, formatPath, type Path, type Place, type Problem } from './problems.ts';
import { parseYaml, type Raw } from './yaml.ts';

export interface Document {
  readonly raw: Raw;
  readonly place: (path: Path) => Place;
  /** Where relative paths of files begin. */
  readonly directory: string;
  /** What was reported so far. */
  readonly problems: readonly Problem[];
  readonly report: (path: Path, message: string) => void;
}

export function toDocument(
  source: Omit<Document, 'problems' | 'report'>,
  problems: Problem[] = [],
): Document {
  return {
    ...source,
    problems,
    report: (path, message) => void problems.push({ ...source.place(path), message }),
  };
}

export type Plain =
  | string
  | number
  | boolean
  | null
  | readonly Plain[]
  | { readonly [key: string]: Plain | undefined };

/** Plain data of the same form as the file. Numbers and booleans become text, as in a file. */
export function fromPlain(document: Plain): Document {
  const toText = (_: string, value: unknown) =>
    typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return toDocument({
    raw: JSON.parse(JSON.stringify(document), toText) as Raw,
    place: (path) => ({ path: formatPath(path) }),
    directory: '.',
  });
}

/** Rejects with a `ConfigError` where the file cannot be read. */
export async function fromFile(file: string): Promise<Document> {
  const refuse = (message: string) => new ConfigError([{ file, path: '', message }]);
  const content = await readBytes(file);
  if (typeof content === 'string') throw refuse(content);
  // UTF-16 can pass for UTF-8, but has zero bytes.
  if (!isUtf8(content) || content.includes(0)) {
    throw refuse('expected text in UTF-8; save the file in this encoding');
  }
  const { raw, problems, position } = parseYaml(content.toString());
  const located = problems.map((problem) => ({ ...problem, file, path: formatPath(problem.path) }));
  if (raw === null) {
    throw located.length > 0 ? new ConfigError(located) : refuse('expected settings; the file holds none');
  }
  return toDocument(
    {
      raw,
      place: (path) => ({ file, path: formatPath(path), ...position(path) }),
      directory: dirname(resolve(file)),
    },
    located,
  );
}

const maxFileBytes = 10 * 2 ** 20;

/** The content of the file, or why there is none. */
export async function readBytes(file: string): Promise<Buffer | string> {
  try {
    const content = await readStart(file, maxFileBytes + 1);
    if (content.length <= maxFileBytes) return content;
    return 'expected a configuration file of at most 10MiB; it is larger';
  } catch (error) {
    return `expected a configuration file; ${unreadable(error)}`;
  }
}
