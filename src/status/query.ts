/** Which targets are requested and in which order: parsed from the query of a URL, and written as links. */

import { expectedOf, quote } from '../text.ts';

/** The states of a target, and `stale`, which goes with any of them. */
export const stateFilters = ['failing', 'absent', 'pending', 'lacking', 'ok', 'stale'] as const;
const sortColumns = ['state', 'name', 'kind', 'last_success', 'duration', 'next_poll'] as const;
export type SortColumn = (typeof sortColumns)[number];

/** The longest text to search for: that of a link from a cause is shorter. */
export const maxTextLength = 400;

/** The most words of a text: each is looked for in every target. */
const maxWords = 12;

/** What must occur in a target, in lower case: the first twelve words of a text. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().split(/\s+/))].filter(Boolean).slice(0, maxWords);
}

/** The query cannot be understood; the message says what was expected. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

function choice<Value extends string>(name: string, text: string, known: readonly Value[]): Value {
  const value = known.find((one) => one === text);
  if (value !== undefined) return value;
  throw new QueryError(`${name}: expected ${expectedOf(text, known)}; got ${quote(text)}`);
}

/** The values of a parameter, which may be given several times, or hold several separated by commas. */
function choices<Value extends string>(
  params: URLSearchParams,
  name: string,
  known: readonly Value[],
): readonly Value[] {
  const given = params.getAll(name).flatMap((text) => text.split(','));
  return [...new Set(given)].filter(Boolean).map((text) => choice(name, text, known));
}

/** Reads the parameters of a URL. Throws a {@link QueryError}. Unknown parameters are ignored. */
export function parseQuery(
  params: URLSearchParams,
  kinds: readonly string[],
  conditions: readonly string[],
  accounts: readonly string[],
) {
  const page = params.get('page') || undefined;
  if (page !== undefined && !/^[1-9]\d{0,8}$/.test(page)) {
    throw new QueryError(`page: expected a number from 1; got ${quote(page)}`);
  }
  const text = (params.get('q') ?? '').trim();
  if (text.length > maxTextLength)
    throw new QueryError(`q: expected at most ${maxTextLength} characters; got ${text.length}`);
  const sort = params.get('sort') || 'state';
  return {
    // A target matches if it is of any of these kinds; of none, all match.
    kinds: choices(params, 'kind', kinds),
    accounts: choices(params, 'account', accounts),
    states: choices(params, 'state', stateFilters),
    conditions: choices(params, 'condition', conditions),
    // The words of the text must occur in the target, whatever the case.
    text,
    sort: choice('sort', sort.replace(/^-/, ''), sortColumns),
    descending: sort.startsWith('-'),
    // The page is undefined where none was requested.
    page: page === undefined ? undefined : Number(page),
  };
}

export type StatusQuery = Readonly<ReturnType<typeof parseQuery>>;

/** The value of the parameter `sort`; empty for the default order. */
export function orderOf({ sort = 'state', descending = false }: Partial<StatusQuery>): string {
  const order = `${descending ? '-' : ''}${sort}`;
  return order === 'state' ? '' : order;
}

/** A link from the status page to these targets. */
export function linkTo(query: Partial<StatusQuery>): string {
  const { kinds = [], accounts = [], states = [], conditions = [], text = '', page = 1 } = query;
  const params = {
    kind: kinds.join(),
    account: accounts.join(),
    state: states.join(),
    condition: conditions.join(),
    q: text,
    sort: orderOf(query),
    page: page === 1 ? '' : String(page),
  };
  const given = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== ''));
  return `./?${given.toString().replaceAll('%2C', ',')}#targets`;
}
