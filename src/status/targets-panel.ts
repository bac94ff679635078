/** The panel of the status page that lists targets: how to search and sort them, and a row for each. */
import type { TargetStatus } from '../polling/target-states.ts';
import { capitalised, count, durationInWords, plural, pollDuration } from '../text.ts';
import type { StatusPage } from './content.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { ago, failureText, linkToTargets, stateMark, stateTitles } from './parts.ts';
import { everything, linkTo, type SortColumn, type StatusQuery, sortText, stateFilters } from './query.ts';
import { type KindNames, pageOf } from './query-targets.ts';

/** How many targets one page shows. */
export const targetsPerPage = 100;

const columns: readonly {
  readonly sort?: SortColumn;
  readonly title: string;
  readonly className: string;
}[] = [
  { sort: 'state', title: 'Polls', className: 's' },
  { sort: 'name', title: 'Target', className: 't' },
  { title: 'API says', className: 'c' },
  { sort: 'kind', title: 'Kind', className: 'kind' },
  { title: 'Credential', className: 'cred' },
  { sort: 'last_success', title: 'Last success', className: 'n' },
  { sort: 'duration', title: 'Took', className: 'n' },
  { sort: 'next_poll', title: 'Next poll', className: 'n' },
  { title: 'Last failure', className: 'why' },
];

const orders: readonly { readonly value: string; readonly text: string }[] = [
  { value: 'state', text: 'worst first' },
  { value: 'name', text: 'by name' },
  { value: 'kind', text: 'by kind' },
  { value: 'last_success', text: 'oldest success first' },
  { value: '-duration', text: 'slowest first' },
  { value: 'next_poll', text: 'next poll first' },
];

/** Columns whose largest values come first at the first click. */
const descendsFirst: ReadonlySet<SortColumn> = new Set(['duration']);

function option(value: string, text: string, isSelected: boolean): Html {
  return html`<option value="${value}"${isSelected && new Html(' selected')}>${text}</option>`;
}

function options(
  chosen: readonly string[],
  all: string,
  choices: readonly { readonly value: string; readonly text: string }[],
): HtmlValue {
  return [
    option('', all, false),
    chosen.length > 1 && option(chosen.join(), chosen.join(', '), true),
    choices.map(({ value, text }) => option(value, text, chosen.join() === value)),
  ];
}

function reset(query: StatusQuery): HtmlValue {
  const { kinds, states, conditions: chosen, text } = query;
  const isFiltered = kinds.length + states.length + chosen.length > 0 || text !== '';
  return (
    isFiltered &&
    html`<a href="${linkTo({ ...everything, listings: query.listings, refresh: query.refresh })}">Show all</a>`
  );
}

export function toolbar({ kinds, query }: StatusPage): Html {
  const known = new Set(kinds.flatMap(({ condition }) => Object.keys(condition?.states ?? {})));
  const order = sortText(query);
  const isUsual = orders.some(({ value }) => value === order);
  return html`<form method="get" action="./" role="search">
<h2 id="targets-heading">Targets</h2>
<input type="search" name="q" value="${query.text}" placeholder="Name, id, reason &hellip;" aria-label="Search" maxlength="200">
<select name="kind" aria-label="Kind">${options(
    query.kinds,
    'All kinds',
    kinds.map(({ kind, noun }) => ({ value: kind, text: capitalised(noun) })),
  )}</select>
<select name="state" aria-label="State">${options(
    query.states,
    'Any state',
    stateFilters.map((state) => ({ value: state, text: stateTitles[state] })),
  )}</select>
${
  known.size > 0 &&
  html`<select name="condition" aria-label="API says">${options(
    query.conditions,
    'API says anything',
    [...known].map((state) => ({ value: state, text: capitalised(state) })),
  )}</select>
`
}<select name="sort" aria-label="Order">${!isUsual && option(order, `by ${query.sort.replace('_', ' ')}${query.descending ? ', reversed' : ''}`, true)}${orders.map(
    ({ value, text }) => option(value, text, value === order),
  )}</select>
${query.listings !== 'all' && html`<input type="hidden" name="listings" value="${query.listings}">`}
${!query.refresh && html`<input type="hidden" name="refresh" value="off">`}
<noscript><button>Show</button></noscript>
<span id="reset" data-live>${reset(query)}</span>
</form>`;
}

function columnHead({ sort, title, className }: (typeof columns)[number], query: StatusQuery): Html {
  if (!sort) return html`<th scope="col" class="${className}">${title}</th>`;
  const isActive = query.sort === sort;
  const descending = isActive ? !query.descending : descendsFirst.has(sort);
  const href = linkToTargets({ ...query, sort, descending, page: undefined });
  if (!isActive) return html`<th scope="col" class="${className}"><a href="${href}">${title}</a></th>`;
  const direction = query.descending ? 'descending' : 'ascending';
  const arrow = query.descending ? '↓' : '↑';
  return html`<th scope="col" class="${className}" aria-sort="${direction}"><a href="${href}">${title}&nbsp;<span aria-hidden="true">${arrow}</span></a></th>`;
}

function nextPoll(inMs: number | undefined): string {
  if (inMs === undefined) return '–';
  return inMs < 500 ? 'now' : `in ${durationInWords(inMs)}`;
}

/** The metrics of the kind, at the target: browsers look for the text after `#:~:text=`. */
function metricsLink({ metricsHref }: StatusPage, kind: string, labels: string): string {
  const text = encodeURIComponent(labels).replaceAll('-', '%2D');
  return `${metricsHref}?kind=${encodeURIComponent(kind)}#:~:text=${text}`;
}

/** kinds: by their names. isShown: whether there is anything to show in a column. */
function targetRow(
  status: TargetStatus,
  kinds: ReadonlyMap<string, KindNames>,
  isShown: (className: string) => boolean,
  page: StatusPage,
): Html {
  const { nextPollInMs, nowMs } = page;
  const { target, state, stale, lastSuccessMs, lastDurationSeconds, lastFailure, condition } = status;
  const kind = kinds.get(target.kind);
  const ids = Object.entries(target.ids);
  const plainIds = ids.map(([, id]) => id).join(' / ');
  const labels = ids.map(([label, id]) => `${label}="${id}"`).join(',');
  // A target without a name shows its ids in place of it, and beside them what these are.
  const beside = target.name === undefined ? ids.map(([label]) => label).join(' / ') : plainIds;
  const success = lastSuccessMs === undefined ? 'never' : ago(lastSuccessMs, nowMs);
  const took = lastDurationSeconds === undefined ? '–' : pollDuration(lastDurationSeconds);
  const chip =
    condition !== undefined &&
    html`<span class="chip t-${kind?.condition?.states[condition] ?? 'warn'}">${condition}</span>`;
  return html`<tr role="row">
<td role="cell" class="s">${stateMark(state)}${stale && html` <span class="tag">stale</span>`}</td>
<td role="cell" class="t"><bdi class="name">${target.name ?? plainIds}</bdi> <a class="ids" href="${metricsLink(page, target.kind, labels)}" title="Its metrics: look for ${labels}"><bdi>${beside}</bdi></a></td>
${
  isShown('c') &&
  html`<td role="cell" class="c">${chip}</td>
`
}<td role="cell" class="kind">${capitalised(kind?.noun ?? target.kind)}</td>
<td role="cell" class="cred"><bdi>${target.credential}</bdi></td>
<td role="cell" class="n" data-label="Last success">${success}</td>
<td role="cell" class="n" data-label="Took">${took}</td>
<td role="cell" class="n" data-label="Next poll">${nextPoll(nextPollInMs(status))}</td>${
    isShown('why') &&
    html`
<td role="cell" class="why">${failureText(lastFailure, nowMs)}</td>`
  }</tr>
`;
}

export function targetsTable(page: StatusPage): Html {
  const { kinds, result, query } = page;
  const { items, page: at, pages } = pageOf(result.matching, query.page ?? 1, targetsPerPage);
  const byKind = new Map(kinds.map((each) => [each.kind, each]));
  if (items.length === 0) {
    const why = result.total.targets === 0 ? 'There are no targets.' : 'No target matches.';
    return html`<p class="none">${why}</p>`;
  }
  // Columns with nothing to show leave their room to the others.
  const hasFailures = items.some(({ lastFailure }) => lastFailure);
  const hasConditions = items.some(({ condition }) => condition !== undefined);
  const isShown = (className: string) =>
    className === 'why' ? hasFailures : className !== 'c' || hasConditions;
  const shownColumns = columns.filter(({ className }) => isShown(className));
  const from = (at - 1) * targetsPerPage;
  const isAll = result.matching.length === result.total.targets;
  const range = pages > 1 && html`${count(from + 1)}&ndash;${count(from + items.length)} of `;
  const others = !isAll && ` of ${count(result.total.targets)}`;
  const to = (number: number, text: string, rel?: string) =>
    html`<a href="${linkToTargets({ ...query, page: number })}"${rel !== undefined && html` rel="${rel}"`}>${text}</a>`;
  return html`<table class="targets" role="table" aria-labelledby="targets-heading">
<thead role="rowgroup"><tr role="row">${shownColumns.map((column) => columnHead(column, query))}</tr></thead>
<tbody role="rowgroup">
${items.map((status) => targetRow(status, byKind, isShown, page))}</tbody>
</table>
<nav class="pager" aria-label="Pages of targets"><span>${range}${plural(result.matching.length, 'target')}${others}</span>${
    pages > 1 &&
    html`<span class="push"><span>page ${count(at)} of ${count(pages)}</span>${at > 1 && [to(1, 'First'), to(at - 1, 'Previous', 'prev')]}${at < pages && [to(at + 1, 'Next', 'next'), to(pages, 'Last')]}</span>`
  }</nav>`;
}
