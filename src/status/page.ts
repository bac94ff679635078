/** The status page as HTML. */
import { rateText } from '../polling/capacity.ts';
import type { Tone } from '../resources/resource.ts';
import { clockText, count, durationInWords, plural } from '../text.ts';
import { revision, version } from '../version.ts';
import { script, style } from './assets.ts';
import { Html, html } from './html.ts';
import { listingsSection } from './listings.ts';
import { overviewSection } from './overview.ts';
import { ago, time } from './parts.ts';
import { problemsSection } from './problems.ts';
import { targetsSection } from './targets.ts';
import type { View } from './view.ts';

/** The state of everything in one line. */
function headline(view: View): readonly [tone: Tone, text: string] {
  const { counts, listingCounts, nothingReadSinceMs, nowMs } = view;
  if (nothingReadSinceMs !== undefined)
    return ['bad', `Nothing can be read since ${clockText(nothingReadSinceMs, nowMs)}`];
  const { targets, failing, absent, stale, pending, lacking } = counts;
  const all = plural(targets, 'target');
  const wrong = Object.entries({ failing, absent, stale }).filter(([, n]) => n > 0);
  const parts: string[] = [];
  if (wrong.length > 0)
    parts.push(`${wrong.map(([state, n]) => `${count(n)} ${state}`).join(', ')} of ${all}`);
  if (listingCounts.failing > 0)
    parts.push(`${count(listingCounts.failing)} of ${plural(listingCounts.listings, 'listing')} failing`);
  if (parts.length > 0) return [failing + listingCounts.failing > 0 ? 'bad' : 'warn', parts.join('; ')];
  if (targets === 0)
    return listingCounts.pending > 0 ? ['idle', 'Looking for targets'] : ['warn', 'No targets found'];
  if (pending > 0) return ['idle', `${all} known, ${count(pending)} not polled yet`];
  if (lacking > 0)
    return ['ok', `${count(targets - lacking)} of ${all} are being read; the plan lacks ${count(lacking)}`];
  return ['ok', targets === 1 ? 'The target is being read' : `All ${all} are being read`];
}

/** The icon of the tab is a dot in the colour of the state. */
function icon(tone: Tone): string {
  const colours = { ok: 'seagreen', bad: 'crimson', warn: 'orange', idle: 'gray' };
  const circle = `<circle cx="1" cy="1" r="1" fill="${colours[tone]}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2">${circle}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function factsOf({ exporter, kinds, nowMs }: View): Html {
  const { upMs, capacities, configuration } = exporter;
  const series = kinds.reduce((sum, { kind }) => sum + exporter.series(kind), 0);
  const known = {
    up: durationInWords(upMs),
    series: count(series),
    'request rate (planned / allowed)': capacities
      .map((one) => `${one.api} ${rateText(one.neededPerSecond)} / ${rateText(one.allowedPerSecond)}`)
      .join(', '),
    'configuration loaded': ago(configuration.loadedAtMs, nowMs),
    'as of': time(nowMs, clockText(nowMs, nowMs)),
  };
  const facts = Object.entries(known).filter(([, fact]) => fact);
  return html`<dl class="facts">${facts.map(
    ([name, fact]) => html`<div><dt>${name}</dt><dd>${fact}</dd></div>
`,
  )}</dl>`;
}

/** Links are relative, so that they hold behind a proxy that serves the pages under a path of its own. */
function pageLinks(telemetryPath: string): Html {
  return html`<nav class="pages" aria-label="Pages">
<a href=".${telemetryPath}">Metrics</a>
<a href="./api/v1/targets">JSON</a>
<a href="./config">Config</a>
<a href="./sd/hostnames">Hostnames</a>
<a href="./-/healthy">Health</a>
<a href="./-/ready">Ready</a>
<a href="https://github.com/bunnynet-exporter/bunnynet-exporter/tree/main/docs">Docs</a>
</nav>`;
}

/** Everything that comes from the API or the configuration is escaped. */
export function renderStatusPage(view: View): string {
  const { counts, listingCounts } = view;
  const [tone, text] = headline(view);
  const problems = counts.failing + counts.absent + listingCounts.failing;
  const title = `${problems > 0 ? `(${count(problems)}) failing · ` : ''}bunnynet-exporter`;
  return html`<!doctype html>
<html lang="en" data-build="${version} ${revision}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon(tone)}">
<noscript><meta http-equiv="refresh" content="30"></noscript>
<style>${new Html(style)}</style>
</head>
<body>
<a class="skip" href="#targets">To the targets</a>
<header class="top"><div class="wrap">
<div class="brand">bunnynet-exporter <small>${version}</small></div>
${pageLinks(view.telemetryPath)}
</div></header>
<main class="wrap">
<div class="lead" id="lead" data-live>
<h1 class="${tone}">${text}</h1>
${factsOf(view)}
</div>
<p class="lost" id="lost" role="status" hidden>
<strong>The exporter does not answer.</strong> This is the last state that it reported.</p>
<div id="problems" data-live>
${problemsSection(view)}</div>
<section class="panel scroll" id="overview" data-live>
${overviewSection(view)}
</section>
<div id="listings" data-live>
${listingsSection(view)}</div>
${targetsSection(view)}
</main>
<footer class="wrap"><span>bunnynet-exporter ${version}, revision ${revision}</span>
<span>Times are UTC. This page shows the state of the polls; the values are on the metrics page.</span></footer>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}
