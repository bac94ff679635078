/** The section of the status page that shows the listings, the failing first. */
import type { ListingStatus } from '../polling/listings.ts';
import type { Listed } from '../resources/resource.ts';
import { capitalised, count, plural } from '../text.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { ago, failureText, firstOf, nameOf, ofParent, stateMark, took } from './parts.ts';
import { linkTo } from './query.ts';
import { type Column, table } from './table.ts';
import type { View } from './view.ts';

const shownListings = 100;
const shownExcluded = 10;

function excludedOf({ selections }: ListingStatus): readonly Listed[] {
  return selections.flatMap(({ excluded }) => excluded);
}

function remarks(status: ListingStatus, nowMs: number): HtmlValue {
  if (status.lastFailure) return failureText(status.lastFailure, nowMs);
  const names = excludedOf(status).map((one) => html`<bdi>${nameOf(one)}</bdi>`);
  return names.length > 0 ? html`left out: ${firstOf(names, shownExcluded)}` : undefined;
}

function columnsOf(nowMs: number): readonly Column<ListingStatus>[] {
  const ifRead = (n: number, { lastSuccessMs }: ListingStatus) =>
    lastSuccessMs === undefined ? '–' : count(n);
  const name = ({ poll }: ListingStatus) =>
    html`<span class="name">${capitalised(poll.listing.nouns)}${ofParent(poll)}</span>`;
  return [
    ['State', 's', ({ state }) => stateMark(state)],
    ['What is listed', 't', name],
    ['Credential', 'cred', ({ poll }) => html`<bdi>${poll.credential}</bdi>`],
    ['Found', 'n', (status) => ifRead(status.found, status)],
    ['Left out', 'n', (status) => ifRead(excludedOf(status).length, status)],
    ['Complete', 'n', ({ lastSuccessMs }) => ago(lastSuccessMs, nowMs)],
    ['Took', 'n took', ({ lastDurationSeconds }) => took(lastDurationSeconds)],
    ['Remarks', 'why', (status) => remarks(status, nowMs)],
  ];
}

/** A link to the failing listings only, or back to all. */
function filterLink({ query, listingCounts }: View): HtmlValue {
  const { listings, failing } = listingCounts;
  if (query.listings === 'failing')
    return html`<a href="${linkTo({ ...query, listings: 'all' })}">all ${count(listings)}</a>`;
  const href = linkTo({ ...query, listings: 'failing' });
  return failing > 0 && html`<a class="t-bad" href="${href}">${count(failing)} failing</a>`;
}

/** Undefined where nothing is listed, because the configuration names every target. */
export function listingsSection(view: View): HtmlValue {
  const { query, nowMs, listingCounts, matchingListings } = view;
  if (listingCounts.listings === 0) return undefined;
  const shown = matchingListings.slice(0, shownListings);
  const hidden = matchingListings.length - shown.length;
  const json = html`<a href="./api/v1/targets">the JSON</a>`;
  const more = html`<p class="more">${plural(hidden, 'more listing')}: see ${json}.</p>`;
  const list = table('listings', columnsOf(nowMs), shown, query);
  const open = query.listings !== 'all' && new Html(' open');
  return html`<section class="panel"><details id="all-listings"${open}>
<summary class="title"><h2 id="listings-heading">Listings</h2>
<span>${plural(listingCounts.listings, 'listing')}</span> ${filterLink(view)}</summary>
${shown.length > 0 ? list : html`<p class="none">No listing matches.</p>`}
${hidden > 0 && more}
</details></section>
`;
}
