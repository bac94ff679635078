/** The first panel of the status page: what is wrong, what it means, what to do. */
import { clockText, count } from '../text.ts';
import type { Cause } from './causes.ts';
import type { StatusPage } from './content.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { linkToTargets, time } from './parts.ts';
import { everything } from './query.ts';

/** How many causes are shown, and how many targets of each. */
const shownCauses = 8;
const shownTargets = 10;

function what({ targets, listings, credential }: Cause): Html {
  const names = [
    ...targets.map(({ target: { kind, name, ids } }) => `${kind} ${name ?? Object.values(ids).join('/')}`),
    ...listings.map(({ poll: { listing, parent } }) => {
      const of = parent && ` of ${parent.name ?? Object.values(parent.ids).join('/')}`;
      return `${listing.nouns}${of ?? ''} (listing)`;
    }),
  ];
  const shown = names.slice(0, shownTargets);
  const more = names.length - shown.length;
  const all = credential === undefined ? 'failing' : `auth ${credential}`;
  const query =
    credential === undefined ? { ...everything, states: ['failing' as const] } : { ...everything, text: all };
  return html`<ul>${shown.map((name) => html`<li><bdi>${name}</bdi></li>`)}${more > 0 && html`<li>and ${count(more)} more: <a href="${linkToTargets(query)}">all that fail</a></li>`}</ul>`;
}

function row(cause: Cause, nowMs: number): Html {
  const id = `cause ${cause.title}`;
  const { tone, title, affected, sinceMs, meaning, advice, runbook } = cause;
  return html`<details id="${id}" class="cause t-${tone}"><summary><strong><bdi>${title}</bdi></strong>: ${affected}, since ${time(sinceMs, clockText(sinceMs, nowMs))}
<span class="meaning">${meaning}. <a href="${runbook}">${advice}</a></span></summary>
${what(cause)}</details>
`;
}

/** Nothing where all is well. */
export function causesPanel({ causes, nowMs }: StatusPage): HtmlValue {
  if (causes.length === 0) return undefined;
  const more = causes.slice(shownCauses);
  const hidden = more.reduce((sum, { targets, listings }) => sum + targets.length + listings.length, 0);
  return html`<section class="panel causes"><h2>What is wrong</h2>
${causes.slice(0, shownCauses).map((cause) => row(cause, nowMs))}${
  more.length > 0 &&
  html`<p class="more">${count(more.length)} more causes, of ${count(hidden)} targets and listings: see the list below.</p>
`
}</section>
`;
}
