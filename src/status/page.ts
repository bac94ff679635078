/** The status page as HTML. */
import { type ApiCapacity, rateText } from '../polling/capacity.ts';
import type { Tone } from '../resources/resource.ts';
import { clockText, count, durationInWords, plural } from '../text.ts';
import {
  contentSecurityPolicy,
  refreshSeconds,
  refreshSecondsWithoutScript,
  script,
  style,
} from './assets.ts';
import { causesPanel } from './causes-panel.ts';
import type { StatusPage } from './content.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { listingsPanel } from './listings-panel.ts';
import { notices } from './notices.ts';
import { overviewPanel } from './overview-panel.ts';
import { ago, time } from './parts.ts';
import { linkTo, type StatusQuery } from './query.ts';
import { targetsTable, toolbar } from './targets-panel.ts';

/** The header that lets a browser show it. */
export const statusPageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
};

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
<div id="causes" data-live>
${causesPanel(page)}</div>
<div id="notices" data-live>
${notices(page)}</div>
<section class="panel scroll" id="overview" data-live>
${overviewPanel(page)}
</section>
<div id="listings" data-live>
${listingsPanel(page.listings, query, page.nowMs)}</div>
<section class="panel">
${toolbar(page)}
<div id="targets" data-live>
${targetsTable(page)}
</div>
</section>
</main>
<footer class="wrap"><span>bunnynet-exporter ${build.version}, revision ${build.revision}</span><span>Times are UTC. This page shows the state of the polls; the values are on the metrics page.</span></footer>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}
