/** The simulated API without its server: finds the operation that a request is for, judges the key and answers. */
import { type AnyOperation, type Dataset, type Keys, operations } from './dataset.ts';
import { dayMs } from './days.ts';
import { type Answer, type Pages, prefixes, type Reach, type Request } from './kind.ts';

/** Which key a request has: `library` and `read-only` are keys of the library in its path. */
export type KeyKind = 'none' | 'account' | 'library' | 'read-only' | 'unknown';

/** What the simulated API needs of an HTTP request. */
export interface ApiRequest {
  readonly method: string;
  /** The path with its query. */
  readonly url: string;
  /** The header `AccessKey`. */
  readonly key: string | undefined;
}

export interface Exchange {
  /** Undefined for an unknown path. */
  readonly operation: AnyOperation | undefined;
  readonly key: KeyKind;
  readonly answer: Answer;
  /** The listing that the answer is a page of. */
  readonly pages?: Pages;
}

interface ApiOptions {
  readonly dataset: Dataset;
  /** May change between requests. */
  readonly keys: Keys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly maxPageSize: number;
}

export function createApi({ dataset, keys, now, maxPageSize }: ApiOptions) {
  const removed = new Set<string>();
  const isRemoved = (id: string) => removed.has(id);
  const renamed = new Map<string, string>();
  const nameOf = (id: string, name: string) => renamed.get(id) ?? name;
  const routes = operations.map((operation) => routeOf(operation, dataset));

  function keyKind(sent: string | undefined, library: string): KeyKind {
    if (sent === undefined || sent === '') return 'none';
    if (sent === keys.account) return 'account';
    if (sent === keys.libraries[library]) return 'library';
    return sent === keys.readOnlyLibraries[library] ? 'read-only' : 'unknown';
  }

  return {
    /** Whether a key is of this account. */
    knows(sent: string | undefined): boolean {
      const { account, libraries, readOnlyLibraries } = keys;
      const own = [account, ...Object.values(libraries), ...Object.values(readOnlyLibraries)];
      return sent !== undefined && own.includes(sent);
    },
    handle({ method, url, key: sent }: ApiRequest): Exchange {
      const [path = '', queryText = ''] = url.split('?', 2);
      const query = new URLSearchParams(queryText);
      for (const { operation, idsOf, serve } of routes) {
        const ids = idsOf(path, query);
        if (ids === undefined) continue;
        const key = keyKind(sent, ids[0] ?? '');
        const exchange = { operation, key };
        if (method !== 'GET') return { ...exchange, answer: { status: 405 } };
        if (key === 'read-only') return { ...exchange, answer: { status: 403 } };
        if (key !== operation.key) return { ...exchange, answer: operation.form.unauthorized };
        const wrong = operation.instants?.find((name) => !isInstant(query.get(name)));
        if (wrong !== undefined)
          return { ...exchange, answer: operation.form.error(400, `${wrong} must be a date-time`) };
        const tooFar = operation.reach && beyond(operation.reach, query, now());
        if (tooFar !== undefined) return { ...exchange, answer: operation.form.error(400, tooFar) };
        const request = { ids, query, nowMs: now(), maxPageSize, keys, isRemoved, nameOf };
        return { ...exchange, ...serve(request) };
      }
      return { operation: undefined, key: keyKind(sent, ''), answer: { status: 404 } };
    },
    /** Removes the entity with this id; the returned function brings it back. */
    remove(id: string): () => void {
      removed.add(id);
      return () => removed.delete(id);
    },
    /** Renames the entity with this id in listings. */
    rename(id: string, name: string): void {
      renamed.set(id, name);
    },
  };
}

/** Why a query asks for more of the past than there is. The text about hours is the vendor's; the others are made up. */
function beyond({ from, to, days, hourlyDays, mostDays }: Reach, query: URLSearchParams, nowMs: number) {
  const [fromMs, toMs] = [from, to].map((name) => Date.parse(query.get(name) ?? ''));
  if (fromMs === undefined || Number.isNaN(fromMs)) return undefined;
  const age = (nowMs - fromMs) / dayMs;
  if (hourlyDays !== undefined && query.get('hourly') === 'true' && age > hourlyDays)
    return `Cannot request hourly statistics older than ${hourlyDays} days`;
  // A day that ends within the time is given as a whole.
  if (age > days + 1) return `Cannot request statistics older than ${days} days`;
  const length = ((toMs || nowMs) - fromMs) / dayMs;
  return mostDays !== undefined && length > mostDays
    ? `Cannot request statistics of more than ${mostDays} days`
    : undefined;
}

/** Whether a query parameter is a date-time or absent. */
function isInstant(text: string | null): boolean {
  if (text === null) return true;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Which requests an operation answers, and how. */
function routeOf(operation: AnyOperation, dataset: Dataset) {
  const [path = '', query = ''] = `${prefixes[operation.api]}${operation.path}`.split('?');
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
  const parameters = [...new URLSearchParams(query)];
  const isId = (wanted: string) => wanted.startsWith('{');
  return {
    operation,
    /** The ids in the path and in the query; undefined for a request to another operation. */
    idsOf: (requested: string, given: URLSearchParams): readonly string[] | undefined => {
      const inPath = pattern.exec(requested)?.slice(1);
      const fits = parameters.every(([name, wanted]) =>
        isId(wanted) ? given.get(name) : given.get(name) === wanted,
      );
      if (!inPath || !fits) return undefined;
      const inQuery = parameters.filter(([, wanted]) => isId(wanted)).map(([name]) => given.get(name) ?? '');
      return [...inPath, ...inQuery];
    },
    serve: serverOf(operation, dataset),
  };
}

function serverOf(operation: AnyOperation, dataset: Dataset) {
  if ('answers' in operation) {
    const answers = operation.answers(dataset);
    return (request: Request) => ({
      answer: answers(request) ?? operation.form.missing(request.ids[0] ?? ''),
    });
  }
  const open = operation.pages(dataset);
  return (request: Request) => {
    const pages = open(request);
    return { answer: pages.answer(pages.page), pages };
  };
}
