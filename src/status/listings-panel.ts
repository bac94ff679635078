/** The panel of the listings: those that fail first, many of one sort in one row. */
import type { ListingStatus } from '../polling/listings.ts';
import type { Listed } from '../resources/resource.ts';
import { capitalised, count, plural, pollDuration } from '../text.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { ago, stateMark } from './parts.ts';
import { linkTo, type StatusQuery } from './query.ts';
import { isGroup, type ListingGroup, type ListingQueryResult } from './query-listings.ts';

/** How many listings that fail have a row. */
const shownFailingListings = 50;

/** How many of the excluded targets are named. */
const shownExcluded = 10;

function leftOut(excluded: readonly Listed[]): HtmlValue {
  if (excluded.length === 0) return undefined;
  const named = excluded.slice(0, shownExcluded).map(({ ids, name }) => name ?? Object.values(ids).join('/'));
  const more = excluded.length - named.length;
  return html`left out: ${named.map((name, at) => [at > 0 && ', ', html`<bdi>${name}</bdi>`])}${more > 0 && ` and ${count(more)} more`}`;
}

interface Row {
  readonly state: 'ok' | 'failing' | 'pending';
  readonly name: HtmlValue;
  readonly credential: string;
  readonly found: number;
  readonly excluded: readonly Listed[];
  readonly lastSuccessMs: number | undefined;
  readonly took: string;
  readonly why: HtmlValue;
}

function excludedOf({ selections }: ListingStatus): readonly Listed[] {
  return selections.flatMap(({ excluded }) => excluded);
}

function oneRow(status: ListingStatus, nowMs: number): Row {
  const { poll, state, found, lastSuccessMs, lastDurationSeconds, lastFailure } = status;
  const { listing, parent, credential } = poll;
  const of = parent && html` of <bdi>${parent.name ?? Object.values(parent.ids).join('/')}</bdi>`;
  const excluded = excludedOf(status);
  return {
    state,
    name: html`<span class="name">${capitalised(listing.nouns)}${of}</span>`,
    credential,
    found,
    excluded,
    lastSuccessMs,
    took: lastDurationSeconds === undefined ? '–' : pollDuration(lastDurationSeconds),
    // The causes at the top of the page say why.
    why: lastFailure
      ? html`<span class="result">${lastFailure.result}</span> <small>${ago(lastFailure.atMs, nowMs)}</small>`
      : leftOut(excluded),
  };
}

function groupRow({ nouns, parents, account, listings }: ListingGroup): Row {
  const pending = listings.filter(({ state }) => state === 'pending').length;
  const successes = listings.flatMap(({ lastSuccessMs }) => lastSuccessMs ?? []);
  const excluded = listings.flatMap(excludedOf);
  return {
    state: pending > 0 ? 'pending' : 'ok',
    name: html`<span class="name">${capitalised(nouns)} of ${count(listings.length)} ${parents}</span>`,
    credential: account,
    found: listings.reduce((sum, { found }) => sum + found, 0),
    excluded,
    lastSuccessMs: successes.reduce<number | undefined>(
      (oldest, at) => Math.min(at, oldest ?? at),
      undefined,
    ),
    took: '–',
    why: pending > 0 ? `${count(pending)} not read yet` : leftOut(excluded),
  };
}

function rowText(row: Row, isWhyShown: boolean, nowMs: number): Html {
  const { state, name, credential, found, excluded, lastSuccessMs, took, why } = row;
  const success = lastSuccessMs === undefined ? 'never' : ago(lastSuccessMs, nowMs);
  const isKnown = lastSuccessMs !== undefined;
  return html`<tr role="row">
<td role="cell" class="s">${stateMark(state)}</td>
<td role="cell" class="t">${name}</td>
<td role="cell" class="cred" data-label="Credential"><bdi>${credential}</bdi></td>
<td role="cell" class="n" data-label="Found">${isKnown ? count(found) : '–'}</td>
<td role="cell" class="n" data-label="Left out">${isKnown ? count(excluded.length) : '–'}</td>
<td role="cell" class="n" data-label="Complete">${success}</td>
<td role="cell" class="n took" data-label="Took">${took}</td>${
    isWhyShown &&
    html`
<td role="cell" class="why">${why}</td>`
  }</tr>
`;
}

function filter({ counts }: ListingQueryResult, query: StatusQuery): HtmlValue {
  if (query.listings === 'failing') {
    return html`<a href="${linkTo({ ...query, listings: 'all' })}">all ${count(counts.listings)}</a>`;
  }
  return (
    counts.failing > 0 &&
    html`<a class="t-bad" href="${linkTo({ ...query, listings: 'failing' })}">${count(counts.failing)} failing</a>`
  );
}

/** Nothing where nothing is listed: targets are named one by one. */
export function listingsPanel(result: ListingQueryResult, query: StatusQuery, nowMs: number): HtmlValue {
  const { counts, failing, others } = result;
  if (counts.listings === 0) return undefined;
  const rows = [
    ...failing.slice(0, shownFailingListings).map((status) => oneRow(status, nowMs)),
    ...others.map((row) => (isGroup(row) ? groupRow(row) : oneRow(row, nowMs))),
  ];
  const isWhyShown = rows.some(({ why }) => why !== undefined);
  const hidden = failing.length - shownFailingListings;
  return html`<section class="panel"><details id="all-listings"${query.listings !== 'all' && new Html(' open')}>
<summary class="head"><h2 id="listings-heading">Listings</h2><span>${plural(counts.listings, 'listing')}</span>${filter(result, query)}</summary>
${
  rows.length === 0
    ? html`<p class="none">No listing matches.</p>`
    : html`<table class="targets listings" role="table" aria-labelledby="listings-heading">
<thead role="rowgroup"><tr role="row"><th scope="col" class="s">State</th><th scope="col" class="t">What is listed</th><th scope="col" class="cred">Credential</th><th scope="col" class="n">Found</th><th scope="col" class="n">Left out</th><th scope="col" class="n">Last complete</th><th scope="col" class="n took">Took</th>${isWhyShown && html`<th scope="col" class="why">Remarks</th>`}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) => rowText(row, isWhyShown, nowMs))}</tbody>
</table>`
}${hidden > 0 && html`<p class="more">${plural(hidden, 'more listing')} fail: see <a href="./api/v1/targets?listings=failing">the JSON</a>.</p>`}
</details></section>
`;
}
