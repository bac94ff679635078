/** Which targets are asked for and in which order: parsed from the query of a URL, and written as links. */

/** The states of a target, and `stale`, which goes with any of them. */
export const stateFilters = ['failing', 'absent', 'pending', 'ok', 'stale'] as const;
const listingFilters = ['all', 'failing'] as const;
const sortColumns = ['state', 'name', 'kind', 'last_success', 'duration', 'next_poll'] as const;
export type SortColumn = (typeof sortColumns)[number];

/** The query cannot be understood; the message says what was expected. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

function choice<Value extends string>(name: string, text: string, known: readonly Value[]): Value {
  const value = known.find((one) => one === text);
  if (value !== undefined) return value;
  throw new QueryError(`${name}: expected ${known.join(', ')}; got ${JSON.stringify(text)}`);
}

/** Throws a {@link QueryError}. Unknown parameters are ignored. */
export function parseQuery(params: URLSearchParams, kinds: readonly string[], conditions: readonly string[]) {
  /** Given several times, or separated by commas. */
  const choices = <Value extends string>(name: string, known: readonly Value[]): readonly Value[] => {
    const given = params.getAll(name).flatMap((text) => text.split(','));
    return [...new Set(given)].filter(Boolean).map((text) => choice(name, text, known));
  };
  const sort = params.get('sort') || 'state';
  const page = params.get('page') || undefined;
  if (page !== undefined && !/^[1-9]\d{0,8}$/.test(page)) {
    throw new QueryError(`page: expected a number from 1; got ${JSON.stringify(page)}`);
  }
  return {
    // Any of these; all when empty.
    kinds: choices('kind', kinds),
    states: choices('state', stateFilters),
    conditions: choices('condition', conditions),
    listings: choice('listings', params.get('listings') || 'all', listingFilters),
    // Every word of it must occur in the target, whatever the case.
    text: (params.get('q') ?? '').trim(),
    sort: choice('sort', sort.replace(/^-/, ''), sortColumns),
    descending: sort.startsWith('-'),
    // Undefined where none was asked for.
    page: page === undefined ? undefined : Number(page),
    // Whether the page refreshes itself.
    refresh: params.get('refresh') !== 'off',
  };
}

export type StatusQuery = Readonly<ReturnType<typeof parseQuery>>;

export const everything: StatusQuery = parseQuery(new URLSearchParams(), [], []);

/** The parameters that are not at their defaults. */
export function parametersOf(query: StatusQuery): URLSearchParams {
  const order = `${query.descending ? '-' : ''}${query.sort}`;
  const params = {
    kind: query.kinds.join(),
    state: query.states.join(),
    condition: query.conditions.join(),
    listings: query.listings === 'all' ? '' : query.listings,
    q: query.text,
    sort: order === 'state' ? '' : order,
    page: query.page === undefined || query.page === 1 ? '' : String(query.page),
    refresh: query.refresh ? '' : 'off',
  };
  return new URLSearchParams(Object.entries(params).filter(([, value]) => value !== ''));
}

/** A link relative to the page. */
export function linkTo(query: StatusQuery): string {
  const text = parametersOf(query).toString().replaceAll('%2C', ',');
  return text === '' ? './' : `./?${text}`;
}
