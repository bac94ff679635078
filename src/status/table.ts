/** A table of targets or listings: its columns are data. On a narrow screen each row is a grid of labelled cells. */
import { type Html, type HtmlValue, html } from './html.ts';
import { linkTo, type SortColumn, type StatusQuery } from './query.ts';

/** A cell is undefined where there is nothing to show; a column of such cells is left out. */
export type Column<Item> = readonly [
  title: string,
  css: string,
  cell: (item: Item) => HtmlValue,
  /** What a click on the title sorts by. */
  sort?: SortColumn,
];

export function table<Item>(
  name: string,
  columns: readonly Column<Item>[],
  items: readonly Item[],
  query: Partial<StatusQuery> = {},
): Html {
  const shown = columns
    .map(([title, css, cell, sort]) => ({ title, css, sort, cells: items.map(cell) }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined));
  const heads = shown.map(({ title, css, sort }) => {
    const order =
      sort !== undefined && sort === query.sort && (query.descending ? 'descending' : 'ascending');
    const aria = order && html` aria-sort="${order}"`;
    const head = sort === undefined ? title : sortLink(title, sort, query);
    return html`<th role="columnheader" class="${css}"${aria}>${head}</th>`;
  });
  const rows = items.map((_, at) => {
    const row = shown.map(
      ({ title, css, cells }) =>
        html`<td role="cell" class="${css}" data-label="${title}">${cells[at]}</td>
`,
    );
    return html`<tr role="row">
${row}</tr>
`;
  });
  return html`<table class="rows ${name}" role="table" aria-labelledby="${name}-heading">
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">
${rows}</tbody>
</table>`;
}

/** A second click reverses the order. The first click on durations puts the slowest first. */
function sortLink(title: string, sort: SortColumn, query: Partial<StatusQuery>): Html {
  const isActive = sort === query.sort;
  const descending = isActive ? !query.descending : sort === 'duration';
  const arrow = html`&nbsp;<span aria-hidden="true">${query.descending ? '↓' : '↑'}</span>`;
  return html`<a href="${linkTo({ ...query, sort, descending, page: 1 })}">${title}${isActive && arrow}</a>`;
}
