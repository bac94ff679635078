/** Parses a document with the schema. Reports every violation, in our own words. */
import type * as z from 'zod';
import type { Resource } from '../resources/resource.ts';
import { didYouMean, expectedOf, suggest } from '../text.ts';
import { nextTurn } from '../turns.ts';
import type { AddProblem, Path } from './problems.ts';
import { documentSchema, type Settings } from './schema.ts';
import { gotText, unknownSetting } from './values.ts';
import type { Mapping } from './yaml.ts';

/** Undefined if anything was reported. */
export async function readSettings(
  raw: Mapping,
  resources: readonly Resource[],
  report: AddProblem,
): Promise<Settings | undefined> {
  const schema = documentSchema(resources, (section) => section in raw);
  await nextTurn();
  const { data, error } = schema.safeParse(raw, { reportInput: true });
  const issues = error?.issues.flatMap((issue) => withoutUnions(issue)) ?? [];
  const misspelt = issues.flatMap(meantSettings);
  for (const issue of issues) {
    const path = issue.path as Path;
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) report([...path, key], unknownSetting(key, knownSettings(issue)));
    } else if (!misspelt.some((meant) => isMissing(issue, meant))) {
      // The setting that a misspelt one was meant for is missing as well: one problem is enough.
      report(path, messageOf(issue));
    }
  }
  return data as Settings | undefined;
}

/** The schema lists the settings that it knows in its message. */
function knownSettings({ message }: z.core.$ZodIssue): readonly string[] {
  return message.split(',');
}

/** The paths of the settings that unknown ones were probably meant for. */
function meantSettings(issue: z.core.$ZodIssue): readonly Path[] {
  if (issue.code !== 'unrecognized_keys') return [];
  return issue.keys.flatMap((key) => {
    const meant = suggest(key, knownSettings(issue));
    return meant === undefined ? [] : [[...(issue.path as Path), meant]];
  });
}

/** Whether the issue says that this setting is missing, or that its mapping lacks one of several, which it is one of. */
function isMissing({ code, input, path }: z.core.$ZodIssue, setting: Path): boolean {
  const isAt = (place: Path) => path.join('\n') === place.join('\n');
  return input === undefined ? isAt(setting) : code === 'custom' && isAt(setting.slice(0, -1));
}

/** Replaces the issue of a union by those of the alternative of the input's type, of which there is at most one. */
function withoutUnions(issue: z.core.$ZodIssue, above: Path = []): readonly z.core.$ZodIssue[] {
  const path = [...above, ...(issue.path as Path)];
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((form) => !form.some(isOfOtherType));
    if (meant !== undefined) return meant.flatMap((inner) => withoutUnions(inner, path));
  }
  return [{ ...issue, path }];
}

/** Whether the issue says that the input is of another type than the alternative. */
function isOfOtherType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** Never quotes text where someone may have put a key by mistake. */
function messageOf(issue: z.core.$ZodIssue): string {
  const { message, input, path } = issue;
  if (issue.code === 'custom' && issue.params?.['quiet'] === true) return message;
  if (typeof input === 'string' && path[0] === 'credentials') return message;
  const word = typeof input === 'string' ? input : '';
  const values = wordsOf(issue);
  const expected = issue.code === 'invalid_value' ? `expected ${expectedOf(word, values)}` : message;
  return `${expected}; ${gotText(input)}${didYouMean(word, values)}`;
}

/** The words that the setting, or an alternative of it, can be. */
function wordsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(wordsOf) : [];
}
