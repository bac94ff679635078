/** A configuration as it was written, before it is checked: from a file, from plain data or from the environment. */
import { isUtf8 } from 'node:buffer';
import { dirname, resolve } from 'node:path';
import { readStart } from '../files.ts';
import { unreadable } from '../text.ts';
import { ConfigError, formatPath, type Path, type Place, type Problem } from './problems.ts';
import { gotText } from './values.ts';
import { isMapping, type Mapping, parseYaml } from './yaml.ts';

export interface Document {
  readonly raw: Mapping;
  readonly place: (path: Path) => Place;
  /** The directory to which paths of files are relative. */
  readonly directory: string;
  /** Problems found before the schema is applied, such as those of the YAML syntax. */
  readonly problems: readonly Problem[];
}

export type Plain =
  | string
  | number
  | boolean
  | null
  | readonly Plain[]
  | { readonly [key: string]: Plain | undefined };

/** Plain data of the same form as the file. Numbers and booleans become text, as in a file. */
export function fromPlain(document: { readonly [section: string]: Plain | undefined }): Document {
  const toText = (_: string, value: unknown) =>
    typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return {
    raw: JSON.parse(JSON.stringify(document), toText) as Mapping,
    place: (path) => ({ path: formatPath(path) }),
    directory: '.',
    problems: [],
  };
}

/** Rejects with a `ConfigError` if the file cannot be read or does not hold settings. */
export async function fromFile(file: string): Promise<Document> {
  const content = await readBytes(file);
  if (typeof content === 'string') throw new ConfigError([{ file, path: '', message: content }]);
  // UTF-16 can pass for UTF-8, but has zero bytes.
  if (!isUtf8(content) || content.includes(0)) {
    const message = 'expected text in UTF-8; save the file in this encoding';
    throw new ConfigError([{ file, path: '', message }]);
  }
  const { raw, problems, place } = parseYaml(content.toString(), file);
  if (isMapping(raw)) return { raw, place, directory: dirname(resolve(file)), problems };
  const message = `expected a mapping of settings; ${gotText(raw)}`;
  throw new ConfigError(problems.length > 0 ? problems : [{ ...place([]), message }]);
}

const maxFileBytes = 10 * 2 ** 20;

/** The content of the file, or as text why it cannot be used. what: what it should be, for that text. */
export async function readBytes(file: string, what = 'a configuration file'): Promise<Buffer | string> {
  try {
    const content = await readStart(file, maxFileBytes + 1);
    if (content.length <= maxFileBytes) return content;
    return `expected ${what} of at most 10MiB; it is larger`;
  } catch (error) {
    return `expected ${what}; ${unreadable(error)}`;
  }
}
