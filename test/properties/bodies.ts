/**
 * Bodies that an API might send: those of the simulator with a few random edits, and random text. Failures shrink to the
 * one edit that matters.
 */
import fc from 'fast-check';
import {
  type AnyOperation,
  createDataset,
  createKeys,
  type KindName,
  type OperationName,
  scales,
} from '../../simulator/dataset.ts';
import { rejected } from '../../simulator/forms.ts';
import { rawJson, writeJson } from '../../simulator/json.ts';
import { anyText } from '../any-text.ts';
import { resourceOf } from '../polling/fixtures.ts';
import { operationOf } from '../simulator/addresses.ts';
import { idsOf } from '../simulator/targets.ts';

const dataset = createDataset(7, {
  ...scales.small,
  applications: 30,
  zones: 60,
  endpoints: 35,
  rateLimitZones: 20,
  rulesPerZone: 3,
  libraries: 1,
  videosPerLibrary: 45,
});
const keys = createKeys(7, dataset.libraryIds);
const nameOf = (_id: string, name: string) => name;
/** On the day that is read. */
const times = [1, 8, 15, 22].map((hour) => Date.parse('2026-08-15') + hour * 3_600_000);
const maxPages = 3;
const maxTargets = 8;
/** Entries per page of a listing: few, so that an edit often hits something that is read. */
const pageSize = 2;

/** An answer, with all its pages. Most are never asked for. */
type Answer = () => readonly unknown[];

function madeOnce(make: Answer): Answer {
  let made: readonly unknown[] | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Good answers and refusals. */
function answersOf(kind: KindName): readonly Answer[] {
  const operation = operationOf(kind);
  const targets = idsOf(dataset, kind).map((ids) => Object.values(ids));
  const good = times.flatMap((nowMs) =>
    'pages' in operation
      ? listingsOf(operation, ...entriesOf(operation, targets, nowMs), nowMs)
      : targets.slice(0, maxTargets).map((ids) => () => [bodyOf(kind, operation, ids, nowMs)]),
  );
  const refusals = (operation.rejections ?? []).map((reason) => () => [rejected(reason, '0').body]);
  return [...good, ...refusals].map(madeOnce);
}

type Single = Extract<AnyOperation, { answers: unknown }>;
type Paged = Extract<AnyOperation, { pages: unknown }>;

const answering = new Map<OperationName, ReturnType<Single['answers']>>();

function requestFor(ids: readonly string[], nowMs: number) {
  const query = new URLSearchParams();
  return { ids, query, nowMs, maxPageSize: pageSize, keys, isRemoved: (_id: string) => false, nameOf };
}

/** The answer for one day, with all charts that the exporter asks for. */
function bodyOf(kind: KindName, operation: Single, ids: readonly string[], nowMs: number): unknown {
  const answers = answering.get(operation.name) ?? operation.answers(dataset);
  answering.set(operation.name, answers);
  const request = requestFor(ids, nowMs);
  const query = new URLSearchParams(resourceOf(kind).path.split('?')[1]);
  const day = new Date(nowMs).toISOString().slice(0, 10);
  for (const from of ['dateFrom', 'fromDate', 'StartDate', 'from']) query.set(from, `${day}T00:00:00Z`);
  for (const to of ['dateTo', 'toDate', 'EndDate', 'to']) query.set(to, `${day}T23:59:59Z`);
  return answers({ ...request, query })?.body;
}

/** For a listing of the account, its entries; for others, the part of the first target. */
function entriesOf(
  { path, pages, traits: { field = '', ids: [id = ''] = [] } }: Paged,
  targets: readonly (readonly string[])[],
  nowMs: number,
): readonly [parent: readonly string[], ids: readonly string[]] {
  const [parent = []] = targets;
  if (!path.includes('{')) return [[], targets.flat()];
  const query = new URLSearchParams('limit=1000&perPage=1000&itemsPerPage=1000');
  const request = { ...requestFor(parent, nowMs), query, maxPageSize: 1000 };
  const { body } = pages(dataset)(request).answer(1);
  const entries = (body as Record<string, readonly Record<string, unknown>[]>)[field] ?? [];
  return [parent, entries.map((entry) => String(entry[id]))];
}

/** Listings of one, two and three pages, from the middle, where an id has more than 53 bits. */
function listingsOf(
  operation: Paged,
  parent: readonly string[],
  ids: readonly string[],
  nowMs: number,
): readonly Answer[] {
  const open = operation.pages(dataset);
  return Array.from({ length: maxPages }, (_, more) => () => {
    const entries = (more + 1) * pageSize;
    const from = Math.max(0, Math.min(49, ids.length - entries));
    const gone = new Set([...ids.slice(0, from), ...ids.slice(from + entries)]);
    const isRemoved = (id: string) => gone.has(id);
    const pages = open({ ...requestFor(parent, nowMs), isRemoved });
    return Array.from({ length: pages.totalPages }, (_page, index) => pages.answer(index + 1).body);
  });
}

const texts = [
  '',
  ' ',
  '0',
  'NaN',
  '-1',
  '1e400',
  'null',
  '__proto__',
  'constructor',
  'a"b\\c\nd',
  '\u0000\u001f\u007f',
  'ünïcödé ∑ 🐇',
  '\ud800',
  '\u2028\u202e\ufeff',
  '#raw:',
  'active',
  'Suspended',
  'hibernating',
  '2026-08-15',
  '15-08-2026',
  '31-02-2026',
  '2026-08-15T12:00:00.1234567Z',
  '2026-08-15T12:00:00+05:30',
  '0001-01-01T00:00:00',
  '9999-12-31T23:59:59Z',
  'x'.repeat(3000),
];

const numbers = [
  '0',
  '-0',
  '-1',
  '3.0',
  '1e2',
  '0.1',
  '1e308',
  '-1.7976931348623157e308',
  '5e-324',
  '1e400',
  '-1e400',
  '9007199254740993',
  '9223372036854775807',
  '18446744073709551615',
  '99999999999999999999999999999999',
  `1${'0'.repeat(400)}`,
];

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, [null], { size: 1 }, [[[[]]]]),
  fc.constantFrom(...texts),
  fc.constantFrom(...numbers.map(rawJson)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.jsonValue({ maxDepth: 2 }),
);

type Holder = Record<string | number, unknown>;

interface Slot {
  readonly holder: Holder;
  readonly key: string | number;
}

function slotsOf(root: Holder): Slot[] {
  const slots: Slot[] = [];
  const walk = (holder: Holder) => {
    for (const key of Object.keys(holder)) {
      slots.push({ holder, key });
      const held = holder[key];
      if (typeof held === 'object' && held !== null) walk(held as Holder);
    }
  };
  walk(root);
  return slots;
}

/** An edit at one place of a body. */
type Edit = (slot: Slot, given: unknown, place: number) => void;

const edits: Readonly<Record<string, Edit>> = {
  delete: ({ holder, key }) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  null: ({ holder, key }) => put(holder, key, null),
  replace: ({ holder, key }, given) => put(holder, key, given),
  wrap: ({ holder, key }) => put(holder, key, [holder[key]]),
  nest: ({ holder, key }) => put(holder, key, { [key]: holder[key] }),
  text: ({ holder, key }) => put(holder, key, JSON.stringify(holder[key]) ?? ''),
  deepen: ({ holder, key }, _, place) => {
    for (let depth = place % 80; depth > 0; depth--) put(holder, key, [holder[key]]);
  },
  add: ({ holder, key }, given, place) => {
    if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
    else put(holder, texts[place % texts.length] ?? '', given);
  },
  rename: ({ holder, key }, _, place) => {
    const held = holder[key];
    if (Array.isArray(holder)) return;
    delete holder[key];
    put(holder, texts[place % texts.length] ?? '', held);
  },
  reorder: ({ holder }) => {
    if (Array.isArray(holder)) {
      holder.reverse();
      return;
    }
    for (const [key, held] of Object.entries(holder).reverse()) {
      delete holder[key];
      put(holder, key, held);
    }
  },
  swap: ({ holder, key }, _, place) => {
    const keys = Object.keys(holder);
    const other = keys[place % keys.length] ?? key;
    const held = holder[key];
    put(holder, key, holder[other]);
    put(holder, other, held);
  },
};

/** `__proto__` is a key like any other, too. */
function put(holder: Holder, key: string | number, held: unknown): void {
  Object.defineProperty(holder, key, { value: held, configurable: true, enumerable: true, writable: true });
}

const edit = fc.record({
  what: fc.constantFrom(...Object.keys(edits)),
  at: fc.nat(),
  given: value,
  place: fc.nat(1000),
});

/** Damage to the text of a body on its way. */
const rewriting = fc.oneof(
  { weight: 12, arbitrary: fc.constant((text: string) => text) },
  {
    weight: 1,
    arbitrary: fc.nat().map((at) => (text: string) => text.slice(0, at % (text.length + 1))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), anyText(3)).map(
      ([at, more]) =>
        (text: string) =>
          text.slice(0, at % (text.length + 1)) + more + text.slice(at % (text.length + 1)),
    ),
  },
  // A duplicate key.
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.constantFrom(...numbers)).map(([at, written]) => (text: string) => {
      const keys = [...text.matchAll(/"\w+":/g)];
      const key = keys[at % Math.max(1, keys.length)];
      return key ? `${text.slice(0, key.index)}${key[0]}${written},${text.slice(key.index)}` : text;
    }),
  },
);

const noAnswer = fc.oneof(fc.json({ maxDepth: 3 }), anyText(40));

/** The bodies of an answer for this kind: one per page of a listing, else one. */
export function bodiesOf(kind: KindName): fc.Arbitrary<readonly string[]> {
  const good = answersOf(kind);
  const spoiling = fc.oneof(
    { weight: 20, arbitrary: fc.tuple(fc.array(edit, { maxLength: 4 }), rewriting) },
    { weight: 1, arbitrary: noAnswer },
  );
  const count = 'pages' in operationOf(kind) ? maxPages : 1;
  return fc
    .tuple(fc.nat(good.length - 1), fc.array(spoiling, { minLength: count, maxLength: count }))
    .map(([which, spoilings]) =>
      (good[which]?.() ?? []).map((body, page) => {
        const how = spoilings[page];
        return how === undefined || typeof how === 'string' ? (how ?? '') : spoil(body, ...how);
      }),
    );
}

/** Bodies of an answer as it is, and a body that is no answer. */
export function examplesOf(kind: KindName): readonly (readonly string[])[] {
  const [good] = answersOf(kind);
  return [good?.().map((body) => writeJson(body)) ?? [], ['"no answer"']];
}

function spoil(
  body: unknown,
  changes: readonly { what: string; at: number; given: unknown; place: number }[],
  rewrite: (text: string) => string,
): string {
  const root: Holder = { body: structuredClone(body) };
  for (const { what, at, given, place } of changes) {
    const slots = slotsOf(root);
    const slot = slots[at % slots.length];
    if (slot) edits[what]?.(slot, structuredClone(given), place);
  }
  return rewrite(writeJson(root['body'] ?? null));
}
