/** The section of the status page that shows the listings: those that fail first, many of one sort in one row. */
import type { ListingStatus } from '../polling/listings.ts';
import type { Listed } from '../resources/resource.ts';
import { capitalised, count, plural } from '../text.ts';
import { earliest } from './causes.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { ago, failureText, firstOf, nameOf, ofParent, stateMark, took } from './parts.ts';
import { linkTo } from './query.ts';
import { type Column, table } from './table.ts';
import type { View } from './view.ts';

/** How many listings that fail have a row, how many of one sort, and how many of the excluded targets are named. */
const shownFailing = 50;
const shownOfSort = 5;
const shownExcluded = 10;

/** One listing, or many of one sort: the endpoints of each zone. */
type Row = readonly [ListingStatus, ...ListingStatus[]];

function rowsOf(listings: readonly ListingStatus[]): readonly Row[] {
  const sorts = new Map<string, [ListingStatus, ...ListingStatus[]]>();
  for (const status of listings) {
    const { key, listing, account, parent } = status.poll;
    const isAlone = !parent || status.state === 'failing';
    const sort = isAlone ? key : `${listing.nouns}\n${account}`;
    const known = sorts.get(sort);
    if (known) known.push(status);
    else sorts.set(sort, [status]);
  }
  return [...sorts.values()].flatMap((row): readonly Row[] =>
    row.length > shownOfSort ? [row] : row.map((status) => [status]),
  );
}

function rowName(row: Row): Html {
  const [{ poll }] = row;
  const { nouns, parent } = poll.listing;
  const of = row.length === 1 ? ofParent(poll) : ` of ${count(row.length)} ${parent?.nouns ?? 'targets'}`;
  return html`<span class="name">${capitalised(nouns)}${of}</span>`;
}

function excludedOf(row: Row): readonly Listed[] {
  return row.flatMap(({ selections }) => selections.flatMap(({ excluded }) => excluded));
}

function remarks(row: Row, nowMs: number): HtmlValue {
  const [{ lastFailure }] = row;
  if (lastFailure) return failureText(lastFailure, nowMs);
  const pending = row.filter(({ state }) => state === 'pending').length;
  if (pending > 0 && row.length > 1) return `${count(pending)} not read yet`;
  const names = excludedOf(row).map((one) => html`<bdi>${nameOf(one)}</bdi>`);
  return names.length > 0 ? html`left out: ${firstOf(names, shownExcluded)}` : undefined;
}

function columnsOf(nowMs: number): readonly Column<Row>[] {
  const readMs = (row: Row) => earliest(row.map(({ lastSuccessMs }) => lastSuccessMs));
  const ifRead = (row: Row, n: number) => (readMs(row) === undefined ? '–' : count(n));
  const state = (row: Row) => row.find((status) => status.state !== 'ok')?.state ?? 'ok';
  const credential = ([{ poll }, ...others]: Row) => (others.length > 0 ? poll.account : poll.credential);
  const found = (row: Row) => row.reduce((sum, status) => sum + status.found, 0);
  return [
    ['State', 's', (row) => stateMark(state(row))],
    ['What is listed', 't', rowName],
    ['Credential', 'cred', (row) => html`<bdi>${credential(row)}</bdi>`],
    ['Found', 'n', (row) => ifRead(row, found(row))],
    ['Left out', 'n', (row) => ifRead(row, excludedOf(row).length)],
    ['Complete', 'n', (row) => ago(readMs(row), nowMs)],
    ['Took', 'n took', (row) => (row.length > 1 ? '–' : took(row[0].lastDurationSeconds))],
    ['Remarks', 'why', (row) => remarks(row, nowMs)],
  ];
}

/** Leads to the failing alone, and back to all. */
function filterLink({ query, listingCounts }: View): HtmlValue {
  const { listings, failing } = listingCounts;
  if (query.listings === 'failing')
    return html`<a href="${linkTo({ ...query, listings: 'all' })}">all ${count(listings)}</a>`;
  const href = linkTo({ ...query, listings: 'failing' });
  return failing > 0 && html`<a class="t-bad" href="${href}">${count(failing)} failing</a>`;
}

/** Nothing where nothing is listed: targets are named one by one. */
export function listingsSection(view: View): HtmlValue {
  const { query, nowMs, listingCounts, matchingListings } = view;
  if (listingCounts.listings === 0) return undefined;
  const isShown = ({ state }: ListingStatus, at: number) => state !== 'failing' || at < shownFailing;
  const shown = matchingListings.filter(isShown);
  const hidden = matchingListings.length - shown.length;
  const link = html`<a href="./api/v1/targets?listings=failing">the JSON</a>`;
  const list = table('listings', columnsOf(nowMs), rowsOf(shown), query);
  return html`<section class="panel"><details id="all-listings"${query.listings !== 'all' && new Html(' open')}>
<summary class="title"><h2 id="listings-heading">Listings</h2> <span>${plural(listingCounts.listings, 'listing')}</span> ${filterLink(view)}</summary>
${shown.length > 0 ? list : html`<p class="none">No listing matches.</p>`}${hidden > 0 && html`<p class="more">${plural(hidden, 'more listing')} fail: see ${link}.</p>`}
</details></section>
`;
}
