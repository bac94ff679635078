/**
 * Takes a body to the page as a poll does, and checks what must hold for any body: it becomes a reading or one of the known
 * errors, and the page is valid.
 */

import { createDataset, type KindName, scales } from '../../simulator/dataset.ts';
import { parseJson } from '../../src/api/body.ts';
import { ApiError } from '../../src/api/errors.ts';
import { Store } from '../../src/exposition/store.ts';
import type { Target } from '../../src/polling/spec.ts';
import { rowsOf } from '../../src/polling/target-rows.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { isReadAlone, ReadingError } from '../../src/resources/resource.ts';
import { configOf, planOf, resourceOf, sectionConfig, targetConfig } from '../polling/fixtures.ts';
import { unnoted } from '../resources/expose.ts';
import { idsOf } from '../simulator/targets.ts';
import { parsePage } from './text-format.ts';

const dataset = createDataset(1, scales.small);
/** At the end of the day that the bodies are of. */
const nowMs = Date.parse('2026-08-15T23:00:00Z');

export interface Outcome {
  /** `reading`, or the result of the error. */
  readonly result: string;
  readonly page: string;
  /** How many are on the page. */
  readonly samples: number;
}

/** Reads bodies of a kind one after the other into the same store, like the polls of a target. */
export function createReader(kind: KindName, settings?: unknown) {
  const section = sectionConfig(kind, [targetConfig(idsOf(dataset, kind)[0] ?? {}, { name: 'a "name"' })]);
  const config = configOf([settings === undefined ? section : { ...section, settings }]);
  const { targets } = planOf(config);
  const target = [...targets.values()][0] as Target;
  const resource = resourceOf(kind);
  const store = new Store(catalogue);
  const stored = store.add(kind, target.ids);

  /** Each body is a page of a listing; the last one repeats for all further pages. */
  async function readingOf(bodies: readonly string[]): Promise<readonly unknown[]> {
    const get = async (path: string): Promise<unknown> => {
      const page = Number(/page=(\d+)/.exec(path)?.[1] ?? 1);
      return await Promise.resolve(parseJson(bodies[page - 1] ?? bodies.at(-1) ?? '', { status: 200 }));
    };
    if (isReadAlone(resource)) {
      const { shown } = await resource.read(get, target.ids, unnoted, { nowMs });
      return [shown];
    }
    if (resource.readBy) return [(await resource.readBy.discover(get, target.ids, unnoted, nowMs)).about];
    const found = [...(await resource.listing.discover(get, undefined, unnoted, nowMs)).found];
    return found.map(({ reading }) => reading);
  }

  return async (bodies: readonly string[]): Promise<Outcome> => {
    let readings: readonly unknown[];
    try {
      readings = await readingOf(bodies);
    } catch (error) {
      if (error instanceof ReadingError || error instanceof ApiError) {
        return { result: error.result, page: '', samples: 0 };
      }
      throw error;
    }
    let page = '';
    let samples = 0;
    for (const reading of readings) {
      stored.set(rowsOf(target, reading));
      const parts = store.page('text');
      page = Buffer.concat(parts).toString();
      samples += parsePage(page);
    }
    return { result: 'reading', page, samples };
  };
}
