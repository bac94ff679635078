/** The first section of the status page: what is wrong, the worst first, what it means and what to do. */

import type { Cause } from '../causes/cause.ts';
import { nameOf } from '../polling/listed-things.ts';
import type { ListingStatus } from '../polling/listing-status.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import { clockText, count, plural } from '../text.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { ofParent, time } from './parts.ts';
import { linkTo } from './query.ts';
import type { View } from './view.ts';

const shownCauses = 8;
const shownTargets = 10;

function detailsOf({ targets, listings }: Cause): Html | undefined {
  const nameOfEach = (status: TargetStatus | ListingStatus) =>
    'target' in status
      ? html`${status.target.kind} <bdi>${nameOf(status.target)}</bdi>`
      : html`${status.poll.listing.nouns}${ofParent(status.poll)} (listing)`;
  const affected = [...targets, ...listings];
  if (affected.length === 0) return undefined;
  const names = affected.slice(0, shownTargets).map((one) => html`<li>${nameOfEach(one)}</li>`);
  const hidden = affected.length - shownTargets;
  return html`<ul>${names}${hidden > 0 && html`<li>and ${count(hidden)} more</li>`}</ul>`;
}

const statusPage = 'https://status.bunny.net';

/** The advice, in which bunny.net's status page is a link. */
function adviceText(advice: string): HtmlValue {
  const [before = '', after] = advice.split(statusPage);
  return after === undefined ? advice : html`${before}<a href="${statusPage}">${statusPage}</a>${after}`;
}

function row(cause: Cause, nowMs: number): Html {
  const { tone, title, affected, meaning, advice, runbook, sinceMs, filter, targets } = cause;
  const since = sinceMs !== undefined && html` since ${time(sinceMs, clockText(sinceMs, nowMs))}`;
  const link = html` <a href="${linkTo(filter)}">show the targets</a>`;
  const [sentence = '', ...lines] = meaning.split('\n');
  const head = html`<strong><bdi>${title}</bdi></strong>${affected !== '' && html`: ${affected}${since && ','}`}${since}${targets.length > 0 && link}
<div class="meaning">${sentence} ${adviceText(advice)} <a href="${runbook}">Runbook</a>${lines.length > 0 && html`<pre tabindex="0">${lines.join('\n')}</pre>`}</div>`;
  const details = detailsOf(cause);
  if (details === undefined) return html`<div class="problem ${tone}">${head}</div>`;
  return html`<details id="problem ${cause.id}" class="problem ${tone}">
<summary>${head}</summary>
${details}
</details>`;
}

/** The section with the causes; undefined where all is well. */
export function problemsSection({ causes, nowMs }: View): HtmlValue {
  if (causes.length === 0) return undefined;
  const rest = causes.slice(shownCauses);
  const more = html`<p class="more">${plural(rest.length, 'more cause')}: see the lists below.</p>`;
  return html`<section class="panel"><h2 class="title">What is wrong</h2>
${causes.slice(0, shownCauses).map((cause) => row(cause, nowMs))}${rest.length > 0 && more}</section>
`;
}
