/** What zod finds wrong with a document, in the words of this program. */
import type * as z from 'zod';
import { didYouMean, oneOf, quote, suggest } from '../text.ts';
import type { Path } from './problems.ts';

/** What is wrong, and with what. */
export interface Issue {
  readonly path: Path;
  readonly message: string;
  /** Of a misspelt setting: the path of the one that was probably meant. */
  readonly meant?: Path | undefined;
  /** What is missing: the value itself, or one of these settings in it. */
  readonly missing?: 'itself' | readonly string[] | undefined;
}

/** The issues without those that a misspelt setting explains: what it was meant for is missing. */
export function withoutExplained(issues: readonly Issue[]): readonly Issue[] {
  const missing = ({ path, missing: what = [] }: Issue) =>
    what === 'itself' ? [keyOf(path)] : what.map((setting) => keyOf([...path, setting]));
  const meant = new Set(issues.flatMap((issue) => (issue.meant ? [keyOf(issue.meant)] : [])));
  return issues.filter((issue) => !missing(issue).some((key) => meant.has(key)));
}

export function keyOf(path: Path): string {
  return path.join('\n');
}

/** The issue in the words of this program; of a union, the issues of the one form that was meant. */
export function toIssues(issue: z.core.$ZodIssue, above: Path = []): readonly Issue[] {
  const path = [...above, ...(issue.path as Path)];
  if (issue.code === 'invalid_union') {
    const [meant, ...others] = issue.errors.filter((form) => !form.some(isOfOtherForm));
    if (meant !== undefined && others.length === 0) return meant.flatMap((inner) => toIssues(inner, path));
  }
  if (issue.code !== 'unrecognized_keys') {
    const needs = issue.code === 'custom' ? (issue.params?.['needs'] as readonly string[]) : undefined;
    const missing = issue.input === undefined ? 'itself' : needs;
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

/** A text is never quoted where a key may have been put by mistake. */
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
