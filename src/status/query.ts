/** Which targets are asked for and in which order: parsed from the query of a URL, and written as links. */

/** The states of a target, and `stale`, which goes with any of them. */
export const stateFilters = ['failing', 'absent', 'pending', 'ok', 'stale'] as const;
export type StateFilter = (typeof stateFilters)[number];

export const listingFilters = ['all', 'failing'] as const;
export type ListingFilter = (typeof listingFilters)[number];

export const sortColumns = ['state', 'name', 'kind', 'last_success', 'duration', 'next_poll'] as const;
export type SortColumn = (typeof sortColumns)[number];

export interface StatusQuery {
  /** Any of these; all when empty. */
  readonly kinds: readonly string[];
  /** Any of these; all when empty. */
  readonly states: readonly StateFilter[];
  /** Any of the states that the API reports of a target; all when empty. */
  readonly conditions: readonly string[];
  /** Which listings. */
  readonly listings: ListingFilter;
  /** Every word of it must occur in the target, whatever the case. */
  readonly text: string;
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** From 1; undefined where none was asked for. */
  readonly page: number | undefined;
  /** Whether the page refreshes itself. */
  readonly refresh: boolean;
}

export const everything: StatusQuery = {
  kinds: [],
  states: [],
  conditions: [],
  listings: 'all',
  text: '',
  sort: 'state',
  descending: false,
  page: undefined,
  refresh: true,
};

/** The query cannot be understood; the message says what was expected. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

/** Values given several times, or separated by commas. */
function choices<Value extends string>(
  params: URLSearchParams,
  name: string,
  known: readonly Value[],
): readonly Value[] {
  const given = params.getAll(name).flatMap((text) => text.split(','));
  return [...new Set(given.filter((text) => text !== ''))].map((text) => choice(name, text, known));
}

function choice<Value extends string>(name: string, text: string, known: readonly Value[]): Value {
  const value = known.find((one) => one === text);
  if (value === undefined) {
    throw new QueryError(`${name}: expected ${known.join(', ')}; got ${JSON.stringify(text)}`);
  }
  return value;
}

/** Throws a {@link QueryError}. Unknown parameters are ignored. */
export function parseQuery(
  params: URLSearchParams,
  kinds: readonly string[],
  conditions: readonly string[],
): StatusQuery {
  const sort = params.get('sort') || 'state';
  const page = params.get('page') || undefined;
  if (page !== undefined && !/^[1-9]\d{0,8}$/.test(page)) {
    throw new QueryError(`page: expected a number from 1; got ${JSON.stringify(page)}`);
  }
  return {
    kinds: choices(params, 'kind', kinds),
    states: choices(params, 'state', stateFilters),
    conditions: choices(params, 'condition', conditions),
    listings: choice('listings', params.get('listings') || 'all', listingFilters),
    text: (params.get('q') ?? '').trim(),
    sort: choice('sort', sort.replace(/^-/, ''), sortColumns),
    descending: sort.startsWith('-'),
    page: page === undefined ? undefined : Number(page),
    refresh: params.get('refresh') !== 'off',
  };
}

/** The value of `sort`. */
export function sortText({ sort, descending }: Pick<StatusQuery, 'sort' | 'descending'>): string {
  return `${descending ? '-' : ''}${sort}`;
}

/** A link relative to the page, without the parameters that have their default. */
export function linkTo(query: StatusQuery): string {
  const params = new URLSearchParams();
  if (query.kinds.length > 0) params.set('kind', query.kinds.join());
  if (query.states.length > 0) params.set('state', query.states.join());
  if (query.conditions.length > 0) params.set('condition', query.conditions.join());
  if (query.listings !== 'all') params.set('listings', query.listings);
  if (query.text !== '') params.set('q', query.text);
  if (sortText(query) !== sortText(everything)) params.set('sort', sortText(query));
  if (query.page !== undefined && query.page > 1) params.set('page', String(query.page));
  if (!query.refresh) params.set('refresh', 'off');
  const text = params.toString().replaceAll('%2C', ',');
  return text === '' ? './' : `./?${text}`;
}
