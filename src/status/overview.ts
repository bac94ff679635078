/** The section of the status page that counts targets: by product, and by kind where something is wrong. */
import type { Counts } from '../polling/tally.ts';
import { products } from '../resources/resource.ts';
import { capitalised, count, plural } from '../text.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { type State, stateTitle, stateTones } from './parts.ts';
import { linkTo, type StatusQuery } from './query.ts';
import { type KindView, sumOf, type View } from './view.ts';

const states = Object.keys(stateTones) as readonly State[];

/** A column of zeros says nothing. */
function columnsOf({ counts }: View): readonly State[] {
  return states.filter((state) => state === 'ok' || counts[state] > 0);
}

/** The share of each state, the worst first. */
function bar(counts: Counts): Html {
  let x = 0;
  const { targets, failing, absent, pending, lacking, ok } = counts;
  // Stale targets whose polls fail are among the failing.
  const stale = targets - failing - absent - pending - lacking - ok;
  const shares = { failing, absent, stale, pending, lacking, ok };
  const parts = (Object.keys(shares) as (keyof typeof shares)[]).map((state) => {
    if (shares[state] === 0) return undefined;
    // A rare state stays visible.
    const width = Math.max(1, (shares[state] / targets) * 100);
    const part = html`<rect class="f-${stateTones[state]}" x="${x}" width="${width}" height="1"/>`;
    x += width;
    return part;
  });
  return html`<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

function row(view: View, of: readonly KindView[], title: string, remark?: Html): Html {
  const kinds = of === view.kinds ? [] : of.map(({ kind }) => kind);
  const series = of.reduce((sum, { kind }) => sum + view.exporter.series(kind), 0);
  return countRow(view, sumOf(of), { kinds }, title, remark, series);
}

/** A row of counts, each a link to what it counts. query: what the row counts. series: undefined where they are not counted. */
function countRow(
  view: View,
  counts: Counts,
  query: Pick<Partial<StatusQuery>, 'kinds' | 'accounts'>,
  title: string,
  remark: Html | undefined,
  series?: number,
): Html {
  const cells = columnsOf(view).map((state) => {
    if (counts[state] === 0) return html`<td class="n zero ${state}">0</td>`;
    const href = linkTo({ ...query, states: [state] });
    const link = html`<a class="t-${stateTones[state]}" href="${href}">${count(counts[state])}</a>`;
    return html`<td class="n ${state}">${link}</td>`;
  });
  return html`<tr>
<th scope="row"><a href="${linkTo(query)}">${title}</a>${remark}</th>
<td class="share">${counts.targets > 0 && bar(counts)}</td>
<td class="n">${count(counts.targets)}</td>
${cells}
<td class="n series">${series !== undefined && count(series)}</td>
</tr>
`;
}

/** A name that may go on in the next line after each `_`: on a phone it is wider than its column. */
function breakable(name: string): HtmlValue {
  return name.split('_').map((word, at) => (at === 0 ? word : html`_<wbr>${word}`));
}

/** A row for the product, and one for each of its kinds that has a problem. */
function productRows(view: View, product: string): HtmlValue {
  const kinds = view.kinds.filter((one) => one.product === product && one.counts.targets > 0);
  if (kinds.length === 0) return undefined;
  const troubled = kinds.filter(({ counts }) => counts.ok < counts.targets || counts.stale > 0);
  const remark = html` <small>${plural(kinds.length, 'kind')}</small>`;
  return html`<tbody>
${row(view, kinds, product, remark)}
${troubled.map((each) => row(view, [each], capitalised(each.noun), html` <small>${breakable(each.kind)}</small>`))}
</tbody>
`;
}

/** A row for each account, where there are several. */
function accountRows(view: View): HtmlValue {
  const remark = html` <small>account</small>`;
  const rows = view.accounts.map(({ account, counts }) => {
    const row = countRow(view, counts, { accounts: [account] }, account, remark);
    // Each account is a group of its own: further rows of a group are indented, as the kinds of a product are.
    return html`<tbody>${row}</tbody>`;
  });
  return view.hasSeveralAccounts && rows;
}

/** What the API says of the targets of each kind, each number a link to them. */
function reports(view: View): HtmlValue {
  return view.kinds.map(({ kind, noun, condition, reported }) => {
    const chips = [...reported].map(([state, targets]) => {
      const href = linkTo({ kinds: [kind], conditions: [state] });
      const tone = condition?.states[state] ?? 'warn';
      return html` <a class="chip t-${tone}" href="${href}">${count(targets)} ${state}</a>`;
    });
    const line = html`<p class="conditions">${capitalised(noun)} status:${chips}</p>`;
    return chips.length > 0 && line;
  });
}

export function overviewSection(view: View): Html {
  const heads = columnsOf(view).map(
    (state) => html`<th scope="col" class="n ${state}">${stateTitle(state)}</th>`,
  );
  return html`<table class="overview" aria-label="By kind">
<thead><tr>
<th scope="col">Kind</th>
<td class="share"></td>
<th scope="col" class="n">Targets</th>
${heads}
<th scope="col" class="n series">Series</th>
</tr></thead>
${products.map((product) => productRows(view, product))}
${accountRows(view)}
<tfoot>${row(view, view.kinds, 'All')}</tfoot>
</table>
${reports(view)}`;
}
