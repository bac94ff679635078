/**
 * Takes a body to the page as a poll does, and checks what must hold for any body: it becomes a reading or one of the known
 * errors, the page is valid, and every sample on it comes from the body.
 */
import { parseJson } from '../../src/api/body.ts';
import { ApiError } from '../../src/api/errors.ts';
import { Store } from '../../src/exposition/store.ts';
import type { Target } from '../../src/polling/target.ts';
import { rowsOf } from '../../src/polling/target-states.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { isReadAlone, ReadingError } from '../../src/resources/resource.ts';
import { createDataset, type KindName, scales } from '../../src/simulator/dataset.ts';
import { configOf, planOf, resourceOf, sectionConfig, targetConfig } from '../polling/fixtures.ts';
import { idsOf } from '../simulator/targets.ts';
import { type ParsedSample, parsePage } from './text-format.ts';

const dataset = createDataset(1, scales.small);

export interface Outcome {
  /** `reading`, or the result of the error. */
  readonly result: string;
  readonly page: string;
  readonly samples: readonly ParsedSample[];
}

/** Reads bodies of a kind one after the other into the same store, like the polls of a target. */
export function createReader(kind: KindName, settings?: unknown) {
  const section = sectionConfig(kind, [targetConfig(idsOf(dataset, kind)[0] ?? {}, { name: 'a "name"' })]);
  const config = configOf([settings === undefined ? section : { ...section, settings }]);
  const { targets } = planOf(config);
  const target = [...targets.values()][0] as Target;
  const resource = resourceOf(kind);
  const store = new Store(catalogue);
  const notes = { mismatch: () => undefined, unrecognized: () => undefined };

  /** Each body is a page of a listing; the last one repeats for all further pages. */
  async function readingOf(bodies: readonly string[]): Promise<readonly unknown[]> {
    const get = async (path: string): Promise<unknown> => {
      const page = Number(/page=(\d+)/.exec(path)?.[1] ?? 1);
      return await Promise.resolve(parseJson(bodies[page - 1] ?? bodies.at(-1) ?? '', { status: 200 }));
    };
    if (isReadAlone(resource)) return [await resource.read(get, target.ids, notes, { nowMs: Date.now() })];
    const found = [...(await resource.listing.discover(get, undefined, notes))];
    return found.map(({ reading }) => reading);
  }

  return async (bodies: readonly string[]): Promise<Outcome> => {
    let readings: readonly unknown[];
    try {
      readings = await readingOf(bodies);
    } catch (error) {
      if (error instanceof ReadingError || error instanceof ApiError) {
        return { result: error.result, page: '', samples: [] };
      }
      throw error;
    }
    let page = '';
    const samples: ParsedSample[] = [];
    for (const reading of readings) {
      store.set(target.key, kind, target.ids, rowsOf(target, reading));
      const parts = (await store.page('text')).flat();
      page = Buffer.concat(parts).toString();
      samples.push(...parsePage(page));
    }
    return { result: 'reading', page, samples };
  };
}

/** Everything that a value of a body may become on the page: itself, or a documented conversion of it. */
interface Sources {
  readonly numbers: Set<number>;
  /** The maximum of any sum: the absolute values of its numbers plus the lengths of its lists. */
  most: number;
  /** Texts and keys that are instants or days, in seconds since 1970. */
  readonly instants: number[];
}

const instantText = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}/;

function addText(text: string, { instants }: Sources): void {
  const day = /^(\d{2})-(\d{2})-(\d{4})$/.exec(text);
  if (day) instants.push(Date.parse(`${day[3]}-${day[2]}-${day[1]}T00:00:00Z`) / 1000);
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) instants.push(Date.parse(`${text.slice(0, 10)}T00:00:00Z`) / 1000);
  if (!instantText.test(text)) return;
  const iso = text
    .replace(' ', 'T')
    .replace(/\s/g, '')
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2')
    .toUpperCase();
  instants.push(Date.parse(/(Z|[+-]\d{2}:\d{2})$/.test(iso) ? iso : `${iso}Z`) / 1000);
}

function addAll(value: unknown, sources: Sources): void {
  const { numbers } = sources;
  if (typeof value === 'number') {
    sources.most += Math.abs(value);
    numbers
      .add(value)
      .add(Number((value / 100).toPrecision(15)))
      .add(Number((value / 1000).toPrecision(15)))
      .add(Math.round(value * 1e9));
  } else if (typeof value === 'boolean') numbers.add(Number(value));
  else if (typeof value === 'string') addText(value, sources);
  else if (Array.isArray(value)) {
    sources.most += value.length;
    numbers.add(value.length);
    for (const held of value) addAll(held, sources);
  } else if (typeof value === 'object' && value !== null) {
    const held = Object.values(value);
    numbers.add(held.filter(Number.isFinite).length);
    // A copy of the object does not have this key, because it would be its prototype.
    const { ['__proto__']: _, ...others } = value as Record<string, unknown>;
    numbers.add(Object.values(others).filter(Number.isFinite).length);
    const sizes = held.map((one) => (one as { size?: unknown } | null)?.size);
    numbers.add(sizes.reduce((sum: number, size) => sum + (typeof size === 'number' ? size : 0), 0));
    for (const [key, one] of Object.entries(value)) {
      addText(key, sources);
      addAll(one, sources);
    }
  }
}

/** The values of every field by its name, at any depth. */
function addFields(body: unknown, fields: Map<string, unknown[]>): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [key, held] of Object.entries(body)) {
    const known = fields.get(key);
    if (known) known.push(held);
    else fields.set(key, [held]);
    addFields(held, fields);
  }
}

/** The API fields in a family's HELP: its value must come from one of them. */
const fieldNames = new Map(
  catalogue.map(({ name, help }) => [
    name,
    [...help.matchAll(/API fields? ([\w]+(?:, (?!converted|times)\w+)*)/g)].flatMap(([, names = '']) =>
      names.split(', '),
    ),
  ]),
);

/** Families that count by a label, or add up pods or what one day is said to have under several names. */
const sums = new Set(
  catalogue
    .filter(({ help }) => /^Number of .* by |added up over|in the newest UTC day\b/.test(help))
    .map(({ name }) => name),
);

/** Undefined for a body that is not JSON, such as a page that was never requested. */
function parsedOf(body: string): unknown {
  try {
    return JSON.parse(body.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** The samples that cannot come from the bodies. */
export function unfounded(
  bodies: readonly string[],
  samples: readonly ParsedSample[],
): readonly ParsedSample[] {
  if (samples.length === 0) return [];
  const fields = new Map<string, unknown[]>();
  for (const body of bodies) addFields(parsedOf(body), fields);
  const found = new Map<string, Sources>();
  const sourcesOf = (field: string): Sources => {
    const known = found.get(field);
    if (known) return known;
    const sources: Sources = { numbers: new Set(), instants: [], most: 0 };
    for (const value of fields.get(field) ?? []) addAll(value, sources);
    found.set(field, sources);
    return sources;
  };
  return samples.filter(({ name, labels, value }) => {
    if (name.endsWith('_info')) return value !== 1;
    if ('status' in labels) {
      const isGiven = fields.get('status')?.some((state) => typeof state === 'string');
      return !isGiven || (value !== 0 && value !== 1);
    }
    return !fieldNames.get(name)?.some((field) => {
      const { numbers, instants, most } = sourcesOf(field);
      if (sums.has(name)) return Math.abs(value) <= most;
      // Texts have more digits than a parsed time.
      return numbers.has(value) || instants.some((instant) => Math.abs(instant - value) < 0.0011);
    });
  });
}
