/** The status page as HTML. */
import { type ApiCapacity, rateText } from '../polling/capacity.ts';
import type { TargetStatus } from '../polling/target-states.ts';
import type { Tone } from '../resources/resource.ts';
import { capitalised, clockText, count, durationInWords, plural, pollDuration } from '../text.ts';
import {
  contentSecurityPolicy,
  refreshSeconds,
  refreshSecondsWithoutScript,
  script,
  style,
} from './assets.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { listingsPanel } from './listings-panel.ts';
import { ago, failureText, stateMark, time } from './parts.ts';
import {
  everything,
  linkTo,
  type SortColumn,
  type StateFilter,
  type StatusQuery,
  sortText,
  stateFilters,
} from './query.ts';
import type { ListingQueryResult } from './query-listings.ts';
import {
  type Counts,
  type KindNames,
  type NextPoll,
  pageOf,
  type TargetQueryResult,
} from './query-targets.ts';
import type { MismatchRecord } from './schema-drift.ts';

/** Times are Unix times. */
export interface BuildInfo {
  readonly version: string;
  readonly revision: string;
  readonly startedAtMs: number;
  /** `1/3`; undefined without sharding. */
  readonly shard: string | undefined;
}

/** Times are Unix times. */
export interface ExporterStatus {
  readonly series: (kind: string) => number;
  readonly droppedSeries: number;
  readonly maxSeries: number;
  readonly configuration: {
    /** When the current one was loaded. */
    readonly loadedAtMs: number;
    /** Set when a reload failed: when, and why. */
    readonly refused: { readonly atMs: number; readonly message: string } | undefined;
  };
  /** The APIs that answered 429. */
  readonly pauses: readonly { readonly api: string; readonly untilMs: number }[];
  /** What the polls of each API need, and whether its pace suffices. */
  readonly capacities: readonly ApiCapacity[];
  readonly schemaDrift: readonly MismatchRecord[];
}

export interface StatusPage {
  readonly kinds: readonly KindNames[];
  readonly build: BuildInfo;
  readonly exporter: ExporterStatus;
  readonly result: TargetQueryResult;
  readonly listings: ListingQueryResult;
  readonly query: StatusQuery;
  readonly nextPollInMs: NextPoll;
  /** The metrics, relative to this page. */
  readonly metricsHref: string;
  /** The other pages, relative to this one. */
  readonly links: readonly { readonly href: string; readonly text: string }[];
  readonly nowMs: number;
}

/** How many targets one page shows. */
export const targetsPerPage = 100;

/** The header that lets a browser show it. */
export const statusPageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
};

const stateTitles: Readonly<Record<StateFilter, string>> = {
  ok: 'OK',
  failing: 'Failing',
  absent: 'Absent',
  pending: 'Pending',
  stale: 'Stale',
};

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

function headline({ result: { total }, listings: { counts } }: StatusPage): {
  readonly tone: Tone;
  readonly text: string;
} {
  const all = plural(total.targets, 'target');
  const failingListings =
    counts.failing > 0 && `${count(counts.failing)} of ${plural(counts.listings, 'listing')} failing`;
  if (total.failing + total.absent > 0) {
    const words = [
      total.failing > 0 ? `${count(total.failing)} failing` : '',
      total.absent > 0 ? `${count(total.absent)} absent` : '',
    ];
    const stale = total.stale > 0 ? `, ${count(total.stale)} stale` : '';
    const text = `${words.filter(Boolean).join(', ')} of ${all}${stale}`;
    return {
      tone: total.failing + counts.failing > 0 ? 'bad' : 'warn',
      text: failingListings ? `${text}; ${failingListings}` : text,
    };
  }
  if (failingListings) {
    const known = total.targets === 0 ? 'no targets are known' : `${all} known`;
    return { tone: 'bad', text: `${failingListings}, ${known}` };
  }
  if (total.targets === 0) {
    if (counts.pending > 0) return { tone: 'idle', text: 'Looking for targets' };
    return counts.listings > 0
      ? { tone: 'warn', text: 'No targets found' }
      : { tone: 'idle', text: 'No targets' };
  }
  if (total.pending > 0)
    return { tone: 'idle', text: `${all} known, ${count(total.pending)} not polled yet` };
  if (total.stale > 0) return { tone: 'warn', text: `${plural(total.stale, 'target')} with stale values` };
  const text = total.targets === 1 ? 'The target is being read' : `All ${all} are being read`;
  return { tone: 'ok', text };
}

const iconColours: Readonly<Record<Tone, string>> = {
  ok: '#43b375',
  bad: '#df5146',
  warn: '#dd9a2f',
  idle: '#94a0b0',
};

function icon(tone: Tone): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${iconColours[tone]}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** `application 0.4 of 10, shield 1.2 of 10` */
function planText(capacities: readonly ApiCapacity[]): string {
  return capacities
    .map(
      ({ api, neededPerSecond, allowedPerSecond }) =>
        `${api} ${rateText(neededPerSecond)} of ${rateText(allowedPerSecond)}`,
    )
    .join(', ');
}

function facts({ build, exporter, kinds, nowMs, query }: StatusPage): Html {
  const series = kinds.reduce((sum, { kind }) => sum + exporter.series(kind), 0);
  const { loadedAtMs } = exporter.configuration;
  const fact = (name: string, value: HtmlValue) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`<dl class="facts">
${fact('up', durationInWords(nowMs - build.startedAtMs))}
${fact('series', count(series))}
${build.shard !== undefined && fact('shard', build.shard)}
${exporter.capacities.length > 0 && fact('requests/s planned', planText(exporter.capacities))}
${fact('configuration loaded', ago(loadedAtMs, nowMs))}
${fact('as of', html`${time(nowMs, clockText(nowMs, nowMs))} · ${refreshLink(query)}`)}
</dl>`;
}

function refreshLink(query: StatusQuery): Html {
  const href = linkTo({ ...query, refresh: !query.refresh });
  return query.refresh
    ? html`<a href="${href}" title="The page refreshes every ${refreshSeconds} s while it is visible">pause</a>`
    : html`<a href="${href}">refresh automatically</a>`;
}

function notice(tone: Tone, content: HtmlValue): Html {
  return html`<p class="notice ${tone}">${content}</p>
`;
}

/** How many refused keys have a notice of their own. */
const shownCredentials = 5;

/** How many fields of the wrong type are named. */
const shownMismatches = 5;

function mismatchNotice(records: readonly MismatchRecord[], nowMs: number): HtmlValue {
  if (records.length === 0) return undefined;
  const named = records
    .slice(0, shownMismatches)
    .map(({ kind, field, expected, received, count: n, lastAtMs }) => {
      const types =
        expected !== undefined && received !== undefined && html` (expected ${expected}, got ${received})`;
      return html`<li>${kind} <code>${field}</code>${types}: ${n === 1 ? 'once' : `${count(n)} times`}, last ${ago(lastAtMs, nowMs)}</li>`;
    });
  const more = records.length - named.length;
  return html`<div class="notice warn"><strong>The API sends fields of another type than expected.</strong> Their series are left out, and sums over them are too small.
<ul>${named}${more > 0 && html`<li>and ${plural(more, 'more field')}</li>`}</ul></div>
`;
}

/** For how many targets and listings each key is refused, as words. */
function refusals({
  result,
  listings,
}: StatusPage): readonly (readonly [credential: string, what: string])[] {
  const credentials = [...new Set([...result.refused.keys(), ...listings.refused.keys()])];
  return credentials.map((credential) => {
    const targets = result.refused.get(credential);
    const refusedListings = listings.refused.get(credential);
    const what = [
      targets && plural(targets, 'target'),
      refusedListings && plural(refusedListings, 'listing'),
    ];
    return [credential, what.filter(Boolean).join(' and ')];
  });
}

function notices(page: StatusPage): HtmlValue {
  const { result, listings, exporter, nowMs } = page;
  const { total } = result;
  const { configuration, pauses, droppedSeries, maxSeries, capacities, schemaDrift } = exporter;
  const refused = refusals(page);
  const isFirstRound = total.pending > 0 || listings.counts.pending > 0;
  return [
    configuration.refused &&
      html`<div class="notice bad"><strong>The reload failed</strong> ${ago(configuration.refused.atMs, nowMs)}; the previous configuration is still in use.
<pre tabindex="0">${configuration.refused.message}</pre></div>
`,
    refused
      .slice(0, shownCredentials)
      .map(([credential, what]) =>
        notice(
          'bad',
          html`<strong>The key of <code>${credential}</code> is refused</strong> for ${what}; they are polled less and less often until the key changes. <a href="${linkToTargets({ ...everything, text: `auth ${credential}` })}">Show</a>`,
        ),
      ),
    refused.length > shownCredentials &&
      notice(
        'bad',
        html`<strong>${plural(refused.length - shownCredentials, 'more key')} refused.</strong> <a href="${linkToTargets({ ...everything, text: 'auth' })}">Show</a>`,
      ),
    pauses.map(({ api, untilMs }) =>
      notice(
        'warn',
        html`<strong>The ${api} API asked for a pause</strong>: it gets no requests for ${durationInWords(untilMs - nowMs)}, until ${time(untilMs, clockText(untilMs, nowMs))}.`,
      ),
    ),
    droppedSeries > 0 &&
      notice(
        'warn',
        html`<strong>${count(droppedSeries)} series are left out</strong>: <code>limits.max_series</code> is ${count(maxSeries)}.`,
      ),
    capacities.map(
      ({ shortfall }) =>
        shortfall !== undefined &&
        notice('warn', html`<strong>The request rate is too low for the targets.</strong> ${shortfall}`),
    ),
    mismatchNotice(schemaDrift, nowMs),
    isFirstRound &&
      notice(
        'idle',
        html`<strong>The first round of polls is running</strong>: ${count(total.targets - total.pending)} of ${plural(total.targets, 'target')} polled${listings.counts.pending > 0 && `, ${plural(listings.counts.pending, 'listing')} not read yet`}.`,
      ),
  ];
}

/** The share of each state as a bar; the numbers are beside it. */
function bar({ targets, ok, failing, absent, pending }: Counts): Html {
  let x = 0;
  const part = (tone: Tone, n: number) => {
    if (n === 0) return undefined;
    // A rare state stays visible.
    const width = Math.max(1, (n / targets) * 100);
    const rect = html`<rect class="f-${tone}" x="${x.toFixed(2)}" width="${width.toFixed(2)}" height="1"/>`;
    x += width;
    return rect;
  };
  return html`<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">${[
    part('bad', failing),
    part('warn', absent),
    part('idle', pending),
    part('ok', ok),
  ]}</svg>`;
}

/** The list of targets is far down the page where there are many kinds. */
function linkToTargets(query: StatusQuery): string {
  return `${linkTo(query)}#targets`;
}

/** What the API says of the targets of each kind, each number a link to them. */
function conditions({ kinds, result, query }: StatusPage): HtmlValue {
  return kinds.map(({ kind, noun, condition }) => {
    const counts = result.conditions.get(kind);
    if (!counts) return undefined;
    const chips = [...counts].map(([state, targets]) => {
      const href = linkToTargets({
        ...query,
        kinds: [kind],
        states: [],
        conditions: [state],
        text: '',
        page: undefined,
      });
      return html` <a class="chip t-${condition?.states[state] ?? 'warn'}" href="${href}">${count(targets)} ${state}</a>`;
    });
    return html`<p class="conditions">The API says of each ${noun}:${chips}</p>
`;
  });
}

function overview(page: StatusPage): Html {
  const { kinds, result, exporter, query } = page;
  const { byKind, total } = result;
  const link = (of: readonly string[], states: StatusQuery['states']) =>
    linkToTargets({ ...query, kinds: of, states, conditions: [], text: '', page: undefined });
  const stateColumns = [
    { state: 'ok', tone: 'ok' },
    { state: 'failing', tone: 'bad' },
    { state: 'absent', tone: 'warn' },
    { state: 'pending', tone: 'idle' },
    { state: 'stale', tone: 'warn' },
  ] as const;
  // A phone has no room for it when it is all zeros, as it is most of the time.
  const nil = (state: keyof Counts) => (total[state] === 0 && state === 'pending' ? ' nil' : '');
  const row = (
    of: readonly string[],
    name: HtmlValue,
    counts: Counts,
    series: number,
  ) => html`<tr><th scope="row">${name}</th><td class="share">${counts.targets > 0 && bar(counts)}</td><td class="n">${count(counts.targets)}</td>${stateColumns.map(
    ({ state, tone }) =>
      counts[state] === 0
        ? html`<td class="n zero${nil(state)}">0</td>`
        : html`<td class="n${nil(state)}"><a class="t-${tone}" href="${link(of, [state])}">${count(counts[state])}</a></td>`,
  )}<td class="n series">${count(series)}</td></tr>
`;
  const shown = kinds.flatMap(({ kind, noun }) => {
    const counts = byKind.get(kind);
    if (!counts || counts.targets === 0) return [];
    const name = html`<a href="${link([kind], [])}">${capitalised(noun)}</a>`;
    return [row([kind], name, counts, exporter.series(kind))];
  });
  const allSeries = kinds.reduce((sum, { kind }) => sum + exporter.series(kind), 0);
  return html`<h2 class="hidden">By kind</h2>
<table class="overview">
<thead><tr><th scope="col">Kind</th><td class="share"></td><th scope="col" class="n">Targets</th>${stateColumns.map(
    ({ state }) => html`<th scope="col" class="n${nil(state)}">${stateTitles[state]}</th>`,
  )}<th scope="col" class="n series">Series</th></tr></thead>
<tbody>
${shown}</tbody>
<tfoot>
${row([], 'All', total, allSeries)}</tfoot>
</table>
${conditions(page)}`;
}

function options(
  chosen: readonly string[],
  all: string,
  choices: readonly { readonly value: string; readonly text: string }[],
): HtmlValue {
  const several =
    chosen.length > 1 && html`<option value="${chosen.join()}" selected>${chosen.join(', ')}</option>`;
  return [
    html`<option value="">${all}</option>`,
    several,
    choices.map(({ value, text }) =>
      chosen.length === 1 && chosen[0] === value
        ? html`<option value="${value}" selected>${text}</option>`
        : html`<option value="${value}">${text}</option>`,
    ),
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

function toolbar({ kinds, query }: StatusPage): Html {
  const known = new Set(kinds.flatMap(({ condition }) => Object.keys(condition?.states ?? {})));
  const order = sortText(query);
  const isUsual = orders.some(({ value }) => value === order);
  return html`<form method="get" action="./" role="search">
<h2 id="targets-heading">Targets</h2>
<input type="search" name="q" value="${query.text}" placeholder="Name, id, reason …" aria-label="Search" maxlength="200">
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
}<select name="sort" aria-label="Order">${!isUsual && html`<option value="${order}" selected>by ${query.sort.replace('_', ' ')}${query.descending && ', reversed'}</option>`}${orders.map(
    ({ value, text }) =>
      value === order
        ? html`<option value="${value}" selected>${text}</option>`
        : html`<option value="${value}">${text}</option>`,
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

function targets(page: StatusPage): Html {
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
  const range = pages > 1 && html`${count(from + 1)}–${count(from + items.length)} of `;
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

/** Everything that comes from the API or the configuration is escaped. */
export function renderStatusPage(page: StatusPage): string {
  const { build, query, links } = page;
  const { tone, text } = headline(page);
  const { failing, absent } = page.result.total;
  const problems = failing + absent + page.listings.counts.failing;
  const title = `${problems > 0 ? `(${count(problems)}) failing · ` : ''}bunnynet-exporter`;
  const refresh = html`<noscript><meta http-equiv="refresh" content="${refreshSecondsWithoutScript}"></noscript>
`;
  return html`<!doctype html>
<html lang="en" data-build="${build.version} ${build.revision}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon(tone)}">
${query.refresh && refresh}<style>${new Html(style)}</style>
</head>
<body>
<a class="skip" href="#targets">To the targets</a>
<header class="top"><div class="wrap">
<div class="brand">bunnynet-exporter <small>${build.version}</small></div>
<nav class="pages" aria-label="Pages">${links.map(({ href, text: name }) => html`<a href="${href}">${name}</a>`)}</nav>
</div></header>
<main class="wrap">
<div class="lead" id="lead" data-live><h1 class="${tone}">${text}</h1>${facts(page)}</div>
<p class="notice bad" id="lost" role="status" hidden><strong>The exporter does not answer.</strong> This is the last state that it reported.</p>
<div id="notices" data-live>
${notices(page)}</div>
<section class="panel scroll" id="overview" data-live>
${overview(page)}
</section>
<div id="listings" data-live>
${listingsPanel(page.listings, query, page.nowMs)}</div>
<section class="panel">
${toolbar(page)}
<div id="targets" data-live>
${targets(page)}
</div>
</section>
</main>
<footer class="wrap"><span>bunnynet-exporter ${build.version}, revision ${build.revision}</span><span>Times are UTC. This page shows the state of the polls; the values are on the metrics page.</span></footer>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}
