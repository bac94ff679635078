/** The panel of the status page that counts targets by product and state, and by kind where something is wrong. */
import { products, type Tone } from '../resources/resource.ts';
import { capitalised, count, plural } from '../text.ts';
import type { StatusPage } from './content.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { linkToTargets, stateTitles } from './parts.ts';
import type { StatusQuery } from './query.ts';
import type { Counts, KindNames } from './query-targets.ts';

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

function isTroubled(counts: Counts | undefined): boolean {
  return counts !== undefined && counts.ok < counts.targets;
}

function sumOf(all: readonly Counts[]): Counts {
  const sum = { targets: 0, ok: 0, failing: 0, absent: 0, pending: 0, stale: 0 };
  for (const counts of all) for (const [name, n] of Object.entries(counts)) sum[name as keyof Counts] += n;
  return sum;
}

export function overviewPanel(page: StatusPage): Html {
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
  const kindRow = ({ kind, noun }: KindNames, counts: Counts) => {
    const name = html`<a href="${link([kind], [])}">${capitalised(noun)}</a>`;
    return row([kind], name, counts, exporter.series(kind));
  };
  // A row for each product, and one for each of its kinds that has a problem.
  const shown = products.map((product) => {
    const of = kinds.filter((one) => one.product === product && (byKind.get(one.kind)?.targets ?? 0) > 0);
    const troubled = of.filter(({ kind }) => isTroubled(byKind.get(kind)));
    if (of.length === 0) return undefined;
    const names = of.map(({ kind }) => kind);
    const series = of.reduce((sum, { kind }) => sum + exporter.series(kind), 0);
    const sum = sumOf(of.flatMap(({ kind }) => byKind.get(kind) ?? []));
    const title = html`<a href="${link(names, [])}">${product}</a> <small>${plural(of.length, 'kind')}</small>`;
    const rows = troubled.flatMap((one) => {
      const counts = byKind.get(one.kind);
      return counts ? [kindRow(one, counts)] : [];
    });
    return html`<tbody>${row(names, title, sum, series)}${rows}</tbody>
`;
  });
  const allSeries = kinds.reduce((sum, { kind }) => sum + exporter.series(kind), 0);
  return html`<h2 class="hidden">By kind</h2>
<table class="overview">
<thead><tr><th scope="col">Kind</th><td class="share"></td><th scope="col" class="n">Targets</th>${stateColumns.map(
    ({ state }) => html`<th scope="col" class="n${nil(state)}">${stateTitles[state]}</th>`,
  )}<th scope="col" class="n series">Series</th></tr></thead>
${shown}<tfoot>
${row([], 'All', total, allSeries)}</tfoot>
</table>
${conditions(page)}`;
}
