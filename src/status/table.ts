/** A table of targets or listings: its columns are data. On a narrow screen each row is a grid of labelled cells. */
import { type Html, type HtmlValue, html } from './html.ts';

/** A cell is undefined where there is nothing to show; a column of such cells is left out. */
export type Column<Item> = readonly [title: string, css: string, cell: (item: Item) => HtmlValue];

export function table<Item>(name: string, columns: readonly Column<Item>[], items: readonly Item[]): Html {
  const shown = columns
    .map(([title, css, cell]) => ({ title, css, cells: items.map(cell) }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined));
  const heads = shown.map(({ title, css }) => html`<th role="columnheader" class="${css}">${title}</th>`);
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
