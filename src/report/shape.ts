/**
 * The shape of JSON values without any of them: field names, types, lengths of lists, and the form of keys and dates. It
 * prints a name only where the API documents it, or where it stands among documented ones and looks like one of them.
 */
import type { Documented } from '../resources/documented.ts';

/** Whether a text may not be shown: it has a name, an id, a host or a key of the account in it. */
export type IsPrivate = (text: string) => boolean;

const maxForms = 12;

/** A text with each digit as 9, each letter as x, and each sign that dates and keys do not have as `?`. */
export function formOf(text: string): string {
  const form = text
    .slice(0, 40)
    .replace(/\p{N}/gu, '9')
    .replace(/[\p{L}\p{M}]/gu, 'x')
    .replace(/[^9x\-_:.,/+ ]/gu, '?');
  return text.length > 40 ? `${form}…` : form;
}

/** Whether the text is a date-time, or like one consists of digits with separators. */
function isDate(text: string): boolean {
  return text.length <= 40 && /^\d+[-/:.][\d\-/:.]*(?:[T ][\d:.]+)?(?:Z|[+-][\d:]+)?$/.test(text);
}

/** What a body that is not JSON is. Symbols, because no JSON value is one. */
export const notJson = {
  none: Symbol('no body'),
  markup: Symbol('HTML or XML'),
  text: Symbol('text that is no JSON'),
} as const;

export function typeOf(value: unknown): string {
  if (typeof value === 'symbol') return value.description ?? '';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number with a fraction';
  if (typeof value !== 'string') return typeof value;
  if (value === '') return 'empty text';
  return isDate(value) ? `text ${formOf(value)}` : 'text';
}

/** The values at one place in the answers. */
export class Shape {
  readonly #types = new Map<string, number>();
  /** Fields by name. Those whose names are data, such as ids, are in `#forms`, by the form of the name. */
  readonly #fields = new Map<string, Shape>();
  readonly #forms = new Map<string, Shape>();
  #elements: Shape | undefined;
  #lengths: readonly [shortest: number, longest: number] | undefined;
  readonly #documented: Documented;

  constructor(documented: Documented | undefined) {
    this.#documented = documented ?? {};
  }

  note(value: unknown): void {
    const type = typeOf(value);
    this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
    if (Array.isArray(value)) this.#noteList(value);
    else if (typeof value === 'object' && value !== null) this.#noteObject(value);
  }

  #noteList(list: readonly unknown[]): void {
    const [shortest, longest] = this.#lengths ?? [list.length, list.length];
    this.#lengths = [Math.min(shortest, list.length), Math.max(longest, list.length)];
    // A page of the core API may also be a bare list.
    const page = this.#documented.fields?.get('Items');
    this.#elements ??= new Shape(this.#documented.elements ?? page?.elements);
    for (const element of list) this.#elements.note(element);
  }

  #noteObject(object: object): void {
    const { fields, values } = this.#documented;
    const entries = Object.entries(object);
    const isKnown = (key: string) => fields?.has(key) ?? false;
    // An object without the documented fields may have data for keys.
    const known = entries.filter(([key]) => isKnown(key)).length;
    const areNames = fields !== undefined && known > 0 && known >= Math.min(3, fields.size);
    for (const [key, value] of entries) {
      const isName = isKnown(key) || (areNames && /^[a-z]{2,40}$/i.test(key));
      const [shapes, name] = isName ? [this.#fields, key] : [this.#forms, formOf(key)];
      let shape = shapes.get(name);
      if (!shape) {
        if (shapes === this.#forms && shapes.size >= maxForms) continue;
        shape = new Shape(isName ? fields?.get(key) : values);
        shapes.set(name, shape);
      }
      shape.note(value);
    }
  }

  /** The type of the values, and indented the shape of what they contain. isPrivate: called with names that are not documented. */
  lines(label: string, isPrivate: IsPrivate): readonly string[] {
    return [`${label}: ${this.#typesText()}`, ...this.#innerLines(isPrivate).map((line) => `  ${line}`)];
  }

  #typesText(): string {
    const [shortest, longest] = this.#lengths ?? [0, 0];
    const length = shortest === longest ? String(longest) : `${shortest} to ${longest}`;
    return [...this.#types.keys()].map((type) => (type === 'list' ? `list of ${length}` : type)).join(' | ');
  }

  #innerLines(isPrivate: IsPrivate): readonly string[] {
    const objects = this.#types.get('object') ?? 0;
    const { fields, hasForms = false } = this.#documented;
    const names = [...this.#fields].flatMap(([name, shape]) => {
      const often = shape.#count < objects ? ` (in ${shape.#count} of ${objects})` : '';
      if (fields?.has(name)) return shape.lines(`${name}${often}`, isPrivate);
      return shape.lines(`${isPrivate(name) ? formOf(name) : name} (not documented)${often}`, isPrivate);
    });
    const forms = [...this.#forms].flatMap(([form, shape]) =>
      shape.lines(`{${form}} × ${shape.#count}`, isPrivate),
    );
    const elements = this.#elements?.lines('[]', isPrivate) ?? [];
    const missing =
      objects === 0 || hasForms ? [] : [...(fields?.keys() ?? [])].filter((name) => !this.#fields.has(name));
    return [
      ...names,
      ...forms,
      ...(this.#lengths?.[1] ? elements : []),
      ...(missing.length > 0 ? [`documented, but missing: ${missing.join(', ')}`] : []),
    ];
  }

  get #count(): number {
    return [...this.#types.values()].reduce((a, b) => a + b, 0);
  }
}
