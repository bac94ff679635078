/** The simulated API without its server: finds the operation that a request is for, judges the key and answers. */
import { type AnyOperation, type Dataset, type Keys, type OperationName, operations } from './dataset.ts';
import { type Answer, type Pages, prefixes, type Request } from './kind.ts';

/** Whose key came with a request: `library` and `read-only` are keys of the library asked for. */
export type KeyKind = 'none' | 'account' | 'library' | 'read-only' | 'other-library' | 'unknown';

export interface Asked {
  readonly method: string;
  /** The path with its query. */
  readonly url: string;
  /** The header, as it came. */
  readonly key: string | undefined;
}

export interface Exchange {
  /** Nothing for a path that no operation has. */
  readonly operation: AnyOperation | undefined;
  /** The parts of the path, and the ids that stand in the query. */
  readonly parts: readonly string[];
  readonly key: KeyKind;
  readonly answer: Answer;
  /** The listing that the answer is a page of. */
  readonly pages: Pages | undefined;
}

interface ApiOptions {
  readonly dataset: Dataset;
  /** Looked at again at each request. */
  readonly keys: Keys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly maxPageSize: number;
}

type Serve = (request: Request) => { readonly answer: Answer; readonly pages?: Pages };

export function createApi({ dataset, keys, now, maxPageSize }: ApiOptions) {
  const removed = new Set<string>();
  const isRemoved = (id: string) => removed.has(id);
  const renamed = new Map<string, string>();
  const nameOf = (id: string, name: string) => renamed.get(id) ?? name;
  const served = new Map<OperationName, Serve>(
    operations.map((operation) => [operation.name, serverOf(operation, dataset, keys)]),
  );

  function keyKind(sent: string | undefined, operation: AnyOperation | undefined, library: string): KeyKind {
    if (sent === undefined || sent === '') return 'none';
    const ofLibrary = operation?.key === 'library';
    if (ofLibrary && sent === keys.libraries[library]) return 'library';
    if (sent === keys.account) return 'account';
    if (ofLibrary && sent === keys.readOnlyLibraries[library]) return 'read-only';
    return Object.values(keys.libraries).includes(sent) ? 'other-library' : 'unknown';
  }

  return {
    ask({ method, url, key: sent }: Asked): Exchange {
      const [path = '', query = ''] = url.split('?', 2);
      const parts = path.split('/');
      const found = findRoute(parts, query);
      const operation = found?.operation;
      const ids = found?.ids ?? [];
      const key = keyKind(sent, operation, ids[0] ?? '');
      const exchange = { operation, parts: found?.parts ?? parts, key, pages: undefined };
      if (operation === undefined) return { ...exchange, answer: { status: 404 } };
      if (method !== 'GET') return { ...exchange, answer: { status: 405 } };
      // A library's read-only key opens nothing here.
      if (key === 'read-only') return { ...exchange, answer: { status: 403 } };
      if (key !== operation.key) return { ...exchange, answer: operation.form.unauthorized };
      const request = { ids, query, nowMs: now(), maxPageSize, isRemoved, nameOf };
      return { ...exchange, ...served.get(operation.name)?.(request) } as Exchange;
    },
    /** The entity with this id does not exist until the returned function is called. */
    remove(id: string): () => void {
      removed.add(id);
      return () => removed.delete(id);
    },
    /** Listings call the entity with this id so from now on. */
    rename(id: string, name: string): void {
      renamed.set(id, name);
    },
  };
}

function serverOf(operation: AnyOperation, dataset: Dataset, keys: Keys): Serve {
  if ('answers' in operation) {
    const answers = operation.answers(dataset, keys);
    return (request) => ({ answer: answers(request) });
  }
  const open = operation.pages(dataset, keys);
  return (request) => {
    const pages = open(request);
    return { answer: pages.answer(pages.page), pages };
  };
}

interface Route {
  readonly operation: AnyOperation;
  readonly parts: readonly string[];
  /** The query parameters that it must have: an id, or this value. */
  readonly parameters: readonly (readonly [name: string, wanted: string])[];
}

const routes: readonly Route[] = operations.map((operation) => {
  const [path = '', query = ''] = `${prefixes[operation.api]}${operation.path}`.split('?');
  const parameters = [...new URLSearchParams(query)];
  return { operation, parts: path.split('/'), parameters };
});

const isId = (part: string) => part.startsWith('{');

function findRoute(parts: readonly string[], query: string) {
  for (const { operation, parts: wanted, parameters } of routes) {
    const matches =
      wanted.length === parts.length &&
      wanted.every((part, index) => (isId(part) ? parts[index] !== '' : part === parts[index]));
    if (!matches) continue;
    const ids = parts.filter((_part, index) => isId(wanted[index] ?? ''));
    const given = new URLSearchParams(query);
    const values: string[] = [];
    const hasAll = parameters.every(([name, expected]) => {
      const value = given.get(name) ?? '';
      if (!isId(expected)) return value === expected;
      values.push(value);
      return value !== '';
    });
    if (hasAll) return { operation, ids: [...ids, ...values], parts: [...parts, ...values] };
  }
  return undefined;
}

/** The URL below the origin at which an operation answers for these ids. */
export function urlOf({ api, path }: AnyOperation, ids: readonly string[]): string {
  const left = [...ids];
  return prefixes[api] + path.replaceAll(/\{\w+\}/g, () => left.shift() ?? '');
}
