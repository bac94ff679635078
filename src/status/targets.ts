/** The section of the status page that lists targets: how to search them, and a row for each. */
import type { Target } from '../polling/spec.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import { capitalised, count, durationInWords, plural } from '../text.ts';
import { Html, html } from './html.ts';
import { ago, failureText, keyText, stateMark, stateTitle, took } from './parts.ts';
import { linkTo, maxTextLength, orderOf, stateFilters } from './query.ts';
import { type Column, table } from './table.ts';
import type { View } from './view.ts';

/** A list to choose from. titles: the texts by the values that can be chosen; '' chooses all. */
function select(
  name: string,
  label: string,
  chosen: readonly string[],
  titles: readonly (readonly [value: string, title: string])[],
): Html {
  const value = chosen.join();
  // Several values can only come from a link.
  const several = chosen.length > 1 ? [[value, chosen.join(', ')] as const] : [];
  const options = [...titles, ...several].map(([each, title]) => {
    const selected = each === value && new Html(' selected');
    return html`<option value="${each}"${selected}>${title}</option>`;
  });
  return html`<select name="${name}" aria-label="${label}">${options}</select>`;
}

function searchForm({ kinds, accounts, hasSeveralAccounts, query }: View): Html {
  const kindTitles = kinds.map(({ kind, noun }) => [kind, `${capitalised(noun)} (${kind})`] as const);
  const stateTitles = stateFilters.map((state) => [state, stateTitle(state)] as const);
  const accountTitles = accounts.map(({ account }) => [account, account] as const);
  const order = orderOf(query);
  return html`<form method="get" action="./" role="search">
<h2 id="targets-heading">Targets</h2>
<input type="search" name="q" value="${query.text}" maxlength="${maxTextLength}"
placeholder="Name, id, reason &hellip;" aria-label="Search">
${select('kind', 'Kind', query.kinds, [['', 'All kinds'], ...kindTitles])}
${hasSeveralAccounts && select('account', 'Account', query.accounts, [['', 'All accounts'], ...accountTitles])}
${select('state', 'State', query.states, [['', 'Any state'], ...stateTitles])}
${order !== '' && html`<input type="hidden" name="sort" value="${order}">`}
<noscript><button>Show</button></noscript>
<a href="./">Show all</a>
</form>`;
}

function nextPoll(inMs: number | undefined): string {
  if (inMs === undefined) return '–';
  return inMs < 500 ? 'now' : `in ${durationInWords(inMs)}`;
}

/** The kind with a link to its metrics; browsers scroll to the text after `#:~:text=`. */
function targetName(target: Target, view: View, noun: string): Html {
  const { kind, name, ids, credential } = target;
  const plainIds = Object.values(ids).join(' / ');
  const labels = Object.entries(ids)
    .map(([label, id]) => `${label}="${id}"`)
    .join(',');
  const text = encodeURIComponent(labels).replaceAll('-', '%2D');
  const href = `.${view.telemetryPath}?kind=${encodeURIComponent(kind)}#:~:text=${text}`;
  // A target without a name shows its ids as its name, followed by what they are.
  const beside = name === undefined ? Object.keys(ids).join(' / ') : plainIds;
  // A target that is the account has the name of its credential.
  const of =
    plainIds === credential ? capitalised(noun) : html`${capitalised(noun)} · ${keyText(target, view)}`;
  return html`<bdi class="name">${name ?? plainIds}</bdi>
<a class="ids" href="${href}" title="Its metrics: look for ${labels}"><bdi>${beside}</bdi></a>
<div class="of">${of}</div>`;
}

function columnsOf(view: View): readonly Column<TargetStatus>[] {
  const { nowMs } = view;
  const kinds = new Map(view.kinds.map((each) => [each.kind, each]));
  const chip = ({ condition = '', target }: TargetStatus) => {
    const tone = kinds.get(target.kind)?.condition?.states[condition] ?? 'warn';
    return condition === '' ? undefined : html`<span class="chip t-${tone}">${condition}</span>`;
  };
  const name = ({ target }: TargetStatus) =>
    targetName(target, view, kinds.get(target.kind)?.noun ?? target.kind);
  const stale = html` <span class="tag">stale</span>`;
  return [
    [
      'Polls',
      's',
      (status) => html`${stateMark(status, nowMs)}${status.stale && status.state !== 'stale' && stale}`,
      'state',
    ],
    ['Target', 't', name, 'name'],
    ['API says', 'c', chip],
    ['Last success', 'n', ({ lastSuccessMs }) => ago(lastSuccessMs, nowMs), 'last_success'],
    ['Took', 'n', ({ lastDurationSeconds }) => took(lastDurationSeconds), 'duration'],
    ['Next poll', 'n', (status) => nextPoll(view.nextPollInMs(status)), 'next_poll'],
    ['Last failure', 'why', ({ lastFailure }) => lastFailure && failureText(lastFailure, nowMs)],
  ];
}

function pager({ query, matching, page, pages, counts }: View): Html {
  const others = matching.length < counts.targets && ` of ${count(counts.targets)}`;
  const to = (other: number, text: string) =>
    html`<a href="${linkTo({ ...query, page: other })}">${text}</a>`;
  return html`<nav class="pager" aria-label="Pages of targets">
<span>${plural(matching.length, 'target')}${others}</span>
${pages > 1 && html`<span class="push">page ${count(page)} of ${count(pages)}</span>`}
${page > 1 && [to(1, 'First'), to(page - 1, 'Previous')]}
${page < pages && [to(page + 1, 'Next'), to(pages, 'Last')]}
</nav>`;
}

export function targetsSection(view: View): Html {
  const { shown, counts } = view;
  const why = counts.targets === 0 ? 'There are no targets.' : 'No target matches.';
  const list = [table('targets', columnsOf(view), shown, view.query), pager(view)];
  return html`<section class="panel">
${searchForm(view)}
<div id="targets" data-live>
${shown.length > 0 ? list : html`<p class="none">${why}</p>`}
</div>
</section>`;
}
