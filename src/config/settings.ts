/**
 * Parses a document with the schema. Whatever is wrong is reported and removed, so that the rest can still be checked: one
 * problem hides no other.
 */
import type * as z from 'zod';
import type { Resource } from '../resources/resource.ts';
import { didYouMean, oneOf, quote, suggest } from '../text.ts';
import type { Document } from './document.ts';
import type { Path } from './problems.ts';
import { documentSchema, oneCredential, type Settings } from './schema.ts';
import { isMapping, type Mapping, type Raw } from './yaml.ts';

/** Each round removes what is wrong or, if it is missing, its parent, so settings this deep would be enough. */
const maxRounds = 10;

interface Issue {
  readonly path: Path;
  readonly message: string;
  /** Of a misspelt setting: the path of the one that was probably meant. */
  readonly meant?: Path | undefined;
  /** If something is missing: the settings of which any one would be enough. */
  readonly missing?: readonly Path[] | undefined;
}

/**
 * Undefined if the document is not a mapping. Removes what is wrong from `raw`; a list of targets keeps a hole.
 *
 * @param names the names of the credentials
 */
export function readSettings(
  { raw, withLongForm, report }: Document,
  resources: readonly Resource[],
  names: readonly string[],
): Settings | undefined {
  const schema = documentSchema(resources, withLongForm);
  const parse = () => {
    const { data, error } = schema.safeParse(raw, { reportInput: true });
    return { data, issues: error?.issues.flatMap((issue) => toIssues(issue)) ?? [] };
  };
  let { data, issues } = parse();
  const all = isMapping(raw) ? [...issues, ...emptiness(raw, resources, issues)] : issues;
  const meant = new Set(all.flatMap((issue) => (issue.meant ? [keyOf(issue.meant)] : [])));
  for (const { path, message, missing = [] } of all) {
    // The setting that a misspelt one was meant for is missing as well: one problem is enough.
    if (!missing.some((one) => meant.has(keyOf(one)))) report(path, message);
  }
  // Other settings depend on these, so they are replaced instead of removed.
  const standIns = new Map<string | number, Raw>([
    ['credentials', {}],
    ['credential', names[0] ?? null],
    ['interval', '1s'],
    // A list with one hole.
    ['targets', Array.from<Raw>({ length: 1 })],
    ['kinds', 'all'],
  ]);
  for (let round = 0; issues.length > 0 && isMapping(raw) && round < maxRounds; round++) {
    const wrong = new Map(issues.map(({ path }) => [keyOf(wholeOf(path)), wholeOf(path)]));
    // All places first: an alias may be in several of them.
    const places = Array.from(wrong.values(), (path) => placeOf(raw, path, standIns));
    for (const [holder, key] of places) {
      const standIn = standIns.get(key);
      if (standIn === undefined) Reflect.deleteProperty(holder, key);
      else holder[key] = standIn;
    }
    standIns.clear();
    // For the kinds that take no list.
    standIns.set('targets', 'all');
    ({ data, issues } = parse());
  }
  return data as Settings | undefined;
}

/** Problems that the schema does not see: no credential, nothing to poll. */
function emptiness(raw: Mapping, resources: readonly Resource[], issues: readonly Issue[]): readonly Issue[] {
  const { credentials } = raw;
  const sections = resources.map(({ section }) => section);
  const found: Issue[] = [];
  if (isMapping(credentials) && Object.keys(credentials).length === 0) {
    found.push({ path: ['credentials'], message: `${oneCredential}; it is empty` });
  }
  if (!issues.some(({ path }) => path[0] === 'discovery') && !sections.some((section) => section in raw)) {
    const message = `expected \`discovery: { kinds: all }\`, or a section that says what to poll: ${oneOf(sections)}`;
    found.push({ path: [], message, missing: ['discovery', ...sections].map((setting) => [setting]) });
  }
  return found;
}

function keyOf(path: Path): string {
  return path.join('\n');
}

/** In our own words. For a union, the issues of the form that was meant. */
function toIssues(issue: z.core.$ZodIssue, above: Path = []): readonly Issue[] {
  const path = [...above, ...(issue.path as Path)];
  if (issue.code === 'invalid_union') {
    const [meant, ...others] = issue.errors.filter((form) => !form.some(isOfOtherForm));
    if (meant !== undefined && others.length === 0) return meant.flatMap((inner) => toIssues(inner, path));
  }
  if (issue.code !== 'unrecognized_keys') {
    const needs = issue.code === 'custom' ? (issue.params?.['needs'] as readonly string[]) : undefined;
    const missing = issue.input === undefined ? [path] : needs?.map((setting) => [...path, setting]);
    return [{ path, message: messageOf(issue, path), missing }];
  }
  // The schema lists the keys that it knows.
  const known = issue.message.split(',');
  return issue.keys.map((key) => {
    const meant = suggest(key, known);
    return {
      path: [...path, key],
      message: `unknown setting${didYouMean(key, known) || `; expected ${oneOf(known)}`}`,
      meant: meant === undefined ? undefined : [...path, meant],
    };
  });
}

function isOfOtherForm({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** Never quotes text where someone may have put a key by mistake. */
function messageOf(issue: z.core.$ZodIssue, path: Path): string {
  const { message, input } = issue;
  if (issue.code === 'custom' && issue.params?.['quiet'] === true) return message;
  if (typeof input === 'string' && path[0] === 'credentials') return message;
  if (issue.code !== 'invalid_value') return `${message}; ${found(input)}`;
  const values = issue.values.map(String);
  const meant = typeof input === 'string' ? didYouMean(input, values) : '';
  return `expected ${oneOf(values)}; ${found(input)}${meant}`;
}

function found(input: unknown): string {
  if (input === undefined) return 'it is missing';
  if (input === null) return 'got nothing';
  if (typeof input === 'string') return `got ${quote(input)}`;
  return Array.isArray(input) ? 'got a list' : 'got a mapping';
}

/** For something in a target, the path of the whole target. */
function wholeOf(path: Path): Path {
  const index = path.findIndex((step) => typeof step === 'number');
  return index < 0 ? path : path.slice(0, index + 1);
}

/** The mapping or list with the value at a path, and the key there. If there is no value, those of its parent. */
function placeOf(
  root: Mapping,
  path: Path,
  standIns: ReadonlyMap<string | number, Raw>,
): [holder: Mapping, key: string | number] {
  const key = path.at(-1) ?? '';
  let holder = root;
  for (const step of path.slice(0, -1)) holder = holder[step] as Mapping;
  const isThere = holder[key] !== undefined || standIns.has(key) || path.length === 1;
  return isThere ? [holder, key] : placeOf(root, path.slice(0, -1), standIns);
}
