/**
 * Parses a document with the schema. Whatever is wrong is reported and left out, so that the rest can still be checked: one
 * problem hides no other.
 */
import * as z from 'zod';
import type { Resource } from '../resources/resource.ts';
import { didYouMean, oneOf, suggest } from '../text.ts';
import type { Path, Report } from './problems.ts';
import { documentSchema, type Settings } from './schema.ts';
import { found, unknownSetting } from './values.ts';
import { isMapping, type Mapping, type Raw } from './yaml.ts';

interface Issue {
  readonly path: Path;
  readonly message: string;
  /** Of a misspelt setting: the path of the one that was probably meant. */
  readonly meant?: Path | undefined;
  /** If something is missing: the settings of which any one would be enough. */
  readonly missing?: readonly Path[] | undefined;
}

/**
 * A wrong item of a list becomes undefined.
 *
 * @param names the names of the credentials
 */
export function readSettings(
  raw: Mapping,
  resources: readonly Resource[],
  names: readonly string[],
  report: Report,
): Settings {
  const schema = documentSchema(resources);
  const { data, error } = schema.safeParse(raw, { reportInput: true });
  const issues = error?.issues.flatMap((issue) => toIssues(issue)) ?? [];
  const all = [...issues, ...emptiness(raw, resources, issues)];
  const meant = new Set(all.flatMap((issue) => (issue.meant ? [keyOf(issue.meant)] : [])));
  for (const { path, message, missing = [] } of all) {
    // The setting that a misspelt one was meant for is missing as well: one problem is enough.
    if (!missing.some((one) => meant.has(keyOf(one)))) report(path, message);
  }
  // In place of wrong settings that others are checked against; so small an interval fits every `stale_after`.
  const standIns = { credentials: {}, credential: names[0], interval: 1000, targets: [] };
  return (data ?? salvage(schema, raw, standIns)) as Settings;
}

/** What is right in a wrong value: the good settings of a mapping, the good items of a list. */
function salvage(
  schema: z.core.$ZodType,
  raw: Raw | undefined,
  standIns: Readonly<Record<string, unknown>>,
): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault) {
    return salvage(schema.unwrap(), raw, standIns);
  }
  if (schema instanceof z.ZodUnion) {
    return schema.options.map((option) => salvage(option, raw, standIns)).find((data) => data !== undefined);
  }
  if (schema instanceof z.ZodArray && Array.isArray(raw)) {
    return raw.map((item) => z.safeParse(schema.element, item).data);
  }
  if (schema instanceof z.ZodRecord && isMapping(raw)) {
    const items = Object.entries(raw).map(([name, item]) => [name, z.safeParse(schema.valueType, item).data]);
    return Object.fromEntries(items.filter(([, data]) => data !== undefined));
  }
  if (!(schema instanceof z.ZodObject) || !isMapping(raw)) return undefined;
  const shape: z.core.$ZodShape = schema.shape;
  const settings = Object.entries(shape).map(([name, inner]) => {
    const { success, data } = z.safeParse(inner, raw[name]);
    if (success) return [name, data];
    const standIn = standIns[name] ?? z.safeParse(inner, undefined).data;
    return [name, salvage(inner, raw[name], standIns) ?? standIn];
  });
  return Object.fromEntries(settings);
}

/** That there is nothing to poll, which the schema does not see. */
function emptiness(raw: Mapping, resources: readonly Resource[], issues: readonly Issue[]): readonly Issue[] {
  const sections = resources.map(({ section }) => section);
  if (issues.some(({ path }) => path[0] === 'discovery') || sections.some((section) => section in raw)) {
    return [];
  }
  const message = `expected \`discovery: { kinds: all }\`, or a section that says what to poll: ${oneOf(sections)}`;
  return [{ path: [], message, missing: ['discovery', ...sections].map((setting) => [setting]) }];
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
      message: unknownSetting(key, known),
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
