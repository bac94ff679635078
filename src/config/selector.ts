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
    // The engine's message quotes the whole pattern, with our flag in front.
    const part = error.getPattern() ?? pattern;
    return `${error.getDescription()}${part.endsWith(pattern) ? '' : `: ${quote(part)}`}`;
  }
}

function compile(pattern: string): RE2JS {
  const { RE2JS } = loaded();
  return RE2JS.compile(pattern, RE2JS.DOTALL);
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
