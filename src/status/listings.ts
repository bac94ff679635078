/** The section of the status page that shows the listings, the failing first. */
import { excludedBy, type ListingStatus } from '../polling/listing-status.ts';
import { capitalised, count, plural } from '../text.ts';
import { type HtmlValue, html } from './html.ts';
import { ago, failureText, keyText, ofParent, stateMark } from './parts.ts';
import { type Column, table } from './table.ts';
import type { View } from './view.ts';

const shownListings = 100;

function columnsOf(view: View): readonly Column<ListingStatus>[] {
  const { nowMs } = view;
  const name = ({ poll }: ListingStatus) =>
    html`<span class="name">${capitalised(poll.listing.nouns)}${ofParent(poll)}</span>
<div class="of">${keyText(poll, view)}</div>`;
  const ifRead = ({ lastSuccessMs }: ListingStatus, n: number) =>
    lastSuccessMs === undefined ? '–' : count(n);
  const withOrphans = (status: ListingStatus) => {
    const { orphans = 0, poll } = status;
    const why = html`<div class="of">and ${count(orphans)} whose ${poll.listing.names?.nouns ?? ''} are gone</div>`;
    return html`${ifRead(status, excludedBy(status.selections).length)}${orphans > 0 && why}`;
  };
  return [
    ['State', 's', (status) => stateMark(status, nowMs)],
    ['What is listed', 't', name],
    ['Found', 'n', (status) => ifRead(status, status.found)],
    ['Left out', 'n', withOrphans],
    ['Complete', 'n', ({ lastSuccessMs }) => ago(lastSuccessMs, nowMs)],
    ['Last failure', 'why', ({ lastFailure }) => lastFailure && failureText(lastFailure, nowMs)],
  ];
}

/** The section; undefined where nothing is listed, because the configuration names every target. */
export function listingsSection(view: View): HtmlValue {
  const { listings, listingCounts } = view;
  if (listings.length === 0) return undefined;
  const { failing } = listingCounts;
  const hidden = listings.length - shownListings;
  const json = html`<a href="./api/v1/targets">the JSON</a>`;
  const more = html`<p class="more">${plural(hidden, 'more listing')}: see ${json}.</p>`;
  return html`<section class="panel"><details id="all-listings">
<summary class="title"><h2 id="listings-heading">Listings</h2>
<span>${plural(listings.length, 'listing')}</span>
${failing > 0 && html`<span class="t-bad">${count(failing)} failing</span>`}</summary>
${table('listings', columnsOf(view), listings.slice(0, shownListings))}
${hidden > 0 && more}
</details></section>
`;
}
