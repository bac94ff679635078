/** Takes an answer of the API to the page as the exporter does: parses, reads, stores and renders it. */
import * as z from 'zod';
import { parseJson } from '../../src/api/body.ts';
import { Counters } from '../../src/counting/counters.ts';
import { Store } from '../../src/exposition/store.ts';
import type { Target } from '../../src/polling/spec.ts';
import { rowsOf } from '../../src/polling/target-rows.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type {
  Diagnostics,
  Ids,
  ListedResource,
  ListingRun,
  ReadContext,
  Readings,
  ReadResource,
  Resource,
} from '../../src/resources/resource.ts';

/** The target's settings in the configuration. */
export interface About {
  readonly name?: string;
  readonly ids?: Ids;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The time of the reading. Default: now, and nothing of yesterday may have grown since the poll before. */
  readonly context?: ReadContext;
}

export interface Exposed {
  /** The rows of the page without HELP and TYPE. */
  readonly rows: string;
  /** The page as a scrape sees it. */
  readonly page: string;
  /** Fields noted for a wrong type, one entry per note. */
  readonly mismatched: readonly string[];
  /** Fields noted for a value that the API reference does not list, each with the value. */
  readonly unrecognized: readonly string[];
  /** The requested paths. */
  readonly asked: readonly string[];
}

/** For readings whose notes do not matter. */
export const unnoted: Diagnostics = { mismatch: () => undefined, unrecognized: () => undefined };

/** A JSON text, or a value that is sent as JSON. */
export type Body = string | object | null;

function parsed(body: Body): unknown {
  return parseJson(typeof body === 'string' ? body : JSON.stringify(body), {});
}

function recordDiagnostics(): { diagnostics: Diagnostics; mismatched: string[]; unrecognized: string[] } {
  const mismatched: string[] = [];
  const unrecognized: string[] = [];
  const diagnostics: Diagnostics = {
    mismatch: (field) => mismatched.push(field),
    unrecognized: (field, value) => unrecognized.push(`${field}: ${value}`),
  };
  return { diagnostics, mismatched, unrecognized };
}

/** Made once, as is the store: to make them takes longer than a reading. */
const settingsOf = new Map(resources.map(({ kind, settings }) => [kind, z.object(settings)]));

function targetOf(resource: Resource, ids: Ids, { name, settings }: About): Target {
  return {
    type: 'target',
    key: Object.values(ids).join('/'),
    kind: resource.kind,
    api: resource.api,
    resource,
    fedBy: undefined,
    namesKey: undefined,
    ids,
    name,
    settings: settingsOf.get(resource.kind)?.parse(settings ?? {}),
    baseUrl: '',
    keyId: '',
    credential: '',
    account: 'account',
    intervalMs: 60_000,
    staleAfterMs: 180_000,
  };
}

/** Empty between two calls of `render`. */
const store = new Store(catalogue);

function render(targets: readonly Target[], readings: readonly Readings[]) {
  const rowsOfEach = targets.map((target, at) => {
    const counters = Counters.of(target.kind);
    counters?.add(target, readings[at]?.counted ?? [], { nowMs: Date.now(), uptimeMs: 0 });
    const rows = [...rowsOf(target, readings[at]?.shown), ...(counters?.rows ?? [])];
    for (const { family, samples } of rows) {
      const declared = catalogue[family]?.labels.join();
      for (const { labels = {} } of samples) {
        const given = Object.keys(labels).join();
        if (given !== declared) {
          throw new Error(`${catalogue[family]?.name} declares the labels ${declared} and has ${given}`);
        }
      }
    }
    return rows;
  });
  const stored = targets.map(({ kind, ids }) => store.add(kind, ids));
  try {
    for (const [at, added] of stored.entries()) added.set(rowsOfEach[at] ?? []);
    const page = Buffer.concat(store.page('text')).toString();
    return { page, rows: page.replaceAll(/^#.*\n/gm, '') };
  } finally {
    // The last first, so that the next ones are on the page in their order.
    for (const added of stored.toReversed()) added.remove();
  }
}

/** Reads one target of a kind from this answer. Rejects like the poll. */
export async function expose(
  resource: ReadResource,
  answer: Body,
  about: About & { readonly ids: Ids },
): Promise<Exposed> {
  const { diagnostics, ...noted } = recordDiagnostics();
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    return Promise.resolve(parsed(answer));
  };
  const nowMs = about.context?.nowMs ?? Date.now();
  const context = { nowMs, caughtUpMs: nowMs, ...about.context };
  const readings = await resource.read(get, about.ids, diagnostics, context);
  return { ...render([targetOf(resource, about.ids, about)], [readings]), ...noted, asked };
}

/** Reads a listing of which every element is a target, below the parent 1 if it has one. page: the answer for each path, or the error of the request. */
export async function exposeListing(
  resource: ListedResource,
  page: (path: string) => Body | Error,
  about: About = {},
): Promise<Exposed & Pick<ListingRun, 'moved'>> {
  const { diagnostics, ...noted } = recordDiagnostics();
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    const answer = page(path);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(parsed(answer));
  };
  const { parent } = resource.listing;
  const below = parent && Object.fromEntries((parent.ids ?? []).map(({ label }) => [label, '1']));
  const run = await resource.listing.discover(get, below, diagnostics, about.context?.nowMs ?? Date.now());
  const found = [...run.found];
  const targets = found.map(({ ids }) => targetOf(resource, ids, about));
  const readings = found.map(({ reading }) => ({ shown: reading, counted: [{ reading }] }));
  return { ...render(targets, readings), ...noted, asked, moved: run.moved };
}
