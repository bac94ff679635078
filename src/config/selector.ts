/** Which of the found things are wanted. Patterns run in linear time, so that no name can keep the exporter busy. */
import type { RE2JS } from 're2js';
import type { Listed } from '../resources/resource.ts';
import { quote } from '../text.ts';

/** Patterns in RE2's syntax, anchored at both ends, over the name or the id. `.` is any character, line breaks too. */
export interface Selection {
  /** Without any, everything is included. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Bounds the time for a name: it is at most proportional to this times the length of the name. */
const maxProgramSize = 1000;
const maxPatternLength = 1000;

let engine: typeof import('re2js') | undefined;

/** Must be awaited before the first pattern. The engine is large, and most configurations need none. */
export async function loadPatternEngine(): Promise<void> {
  engine ??= await import('re2js');
}

function loaded(): typeof import('re2js') {
  if (!engine) throw new Error('the engine of patterns is not loaded');
  return engine;
}

/** What is wrong with a pattern; undefined if it can be used. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern === '') return 'it is empty';
  if (pattern.length > maxPatternLength) return `it is longer than ${maxPatternLength} characters`;
  const { RE2JSSyntaxException } = loaded();
  try {
    return compile(pattern).programSize() > maxProgramSize ? 'it repeats too much' : undefined;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) return 'it cannot be compiled';
    if (/\(\?<?[=!]/.test(pattern))
      return 'RE2 has no look-ahead and no look-behind: use include and exclude';
    // The engine's message quotes the whole pattern, with our flag in front.
    const part = error.getPattern() ?? pattern;
    const meant = meantByGlob(pattern);
    const hint = meant === undefined ? '' : ` (did you mean ${quote(meant)}?)`;
    return `${error.getDescription()}${part.endsWith(pattern) ? '' : `: ${quote(part)}`}${hint}`;
  }
}

function compile(pattern: string): RE2JS {
  const { RE2JS } = loaded();
  return RE2JS.compile(pattern, RE2JS.DOTALL);
}

/** A pattern of ids, `pull_zone_id=501`, in its parts. Undefined for one of names. */
export function idPatternOf(pattern: string): { readonly label: string; readonly ids: string } | undefined {
  const [, label, ids] = /^(\w+_id)=(.*)$/s.exec(pattern) ?? [];
  return label === undefined || ids === undefined ? undefined : { label, ids };
}

/**
 * Whether `discovery.exclude` leaves out a thing: by its name, or by its id. Undefined without a pattern. Throws if one has a problem.
 */
export function leftOutOf(exclude: readonly string[] = []): IsLeftOut | undefined {
  if (exclude.length === 0) return undefined;
  const patterns = exclude.map((pattern) => {
    const ofIds = idPatternOf(pattern);
    return { label: ofIds?.label, compiled: compile(ofIds?.ids ?? pattern) };
  });
  return (label, id, name) =>
    patterns.some(({ label: ofLabel, compiled }) => {
      const text = ofLabel === undefined ? name : ofLabel === label && id;
      return typeof text === 'string' && compiled.testExact(text);
    });
}

/** Whether a thing is left out everywhere, by the label and the value of its id, and its name. */
export type IsLeftOut = (label: string, id: string, name: string | undefined) => boolean;

/** What a pattern would be if it was meant as one of a shell: `test-.*` for `test-*`. Undefined where it looks like one in RE2 syntax. */
export function meantByGlob(pattern: string): string | undefined {
  if (!pattern.includes('*') || /[()[\]{}|\\^$+?]|\.\*/.test(pattern)) return undefined;
  return pattern.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*');
}

/** Without a selection, everything is wanted. Throws if a pattern has a problem. */
export function selectorOf(selection: Selection | undefined): (listed: Listed) => boolean {
  if (!selection) return () => true;
  const include = selection.include.map(compile);
  const exclude = selection.exclude.map(compile);
  return ({ ids, name }) => {
    const parts = Object.values(ids);
    const texts = [parts.join('/'), parts.at(-1) ?? '', ...(name === undefined ? [] : [name])];
    const matches = (pattern: RE2JS) => texts.some((text) => pattern.testExact(text));
    return (include.length === 0 || include.some(matches)) && !exclude.some(matches);
  };
}
