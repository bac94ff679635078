/**
 * Which of what a listing finds is wanted. Names are written by others, so patterns run on a linear-time engine: no name can
 * keep the exporter busy.
 */
import { RE2JS } from 're2js';
import type { Listed } from '../resources/resource.ts';

/** Patterns in RE2's syntax, anchored at both ends, over the name or the id. */
export interface Selection {
  /** Without any, everything is included. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export interface Selector {
  selects(listed: Listed): boolean;
}

/** What is wrong with a pattern; undefined where it can be used. */
export function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^error parsing regexp: /, '');
  }
}

const compiled = new WeakMap<Selection, Selector>();

export function selectorOf(selection: Selection): Selector {
  const known = compiled.get(selection);
  if (known) return known;
  const include = selection.include.map((pattern) => RE2JS.compile(pattern));
  const exclude = selection.exclude.map((pattern) => RE2JS.compile(pattern));
  const selector: Selector = {
    selects({ ids, name }) {
      const parts = Object.values(ids);
      const texts = [parts.join('/'), parts.at(-1) ?? '', ...(name === undefined ? [] : [name])];
      const matches = (pattern: RE2JS) => texts.some((text) => pattern.matches(text));
      return (include.length === 0 || include.some(matches)) && !exclude.some(matches);
    },
  };
  compiled.set(selection, selector);
  return selector;
}
