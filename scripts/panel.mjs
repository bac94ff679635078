/**
 * `npm run panel -- PART OF A TITLE`: the queries of panels, each with the address of Prometheus' own page that draws it. It needs no
 * Grafana: the lines and numbers are the same, colours and units are not.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../monitoring/dashboards', import.meta.url));
const prometheus = process.env['PROMETHEUS_URL'] ?? 'http://localhost:9090';

/**
 * @typedef {{ readonly title: string, readonly panels?: readonly Panel[],
 *   readonly targets?: readonly { readonly expr: string, readonly legendFormat?: string, readonly instant?: boolean }[] }} Panel
 * @typedef {{ readonly title: string, readonly panels: readonly Panel[] }} Dashboard
 */

const title = process.argv.slice(2).join(' ').toLowerCase();
if (title === '') {
  console.error('usage: npm run panel -- PART OF A TITLE');
  process.exit(2);
}

/**
 * As Grafana replaces the variables for an hour on a screen, with everything selected.
 * @param {string} expr
 */
function replaced(expr) {
  return expr
    .replaceAll('$__range', '1h')
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__interval', '15s')
    .replaceAll(/\$[a-z]+\b/g, '.*');
}

const found = readdirSync(folder).flatMap((file) => {
  /** @type {Dashboard} */
  const dashboard = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const panels = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
  return panels.flatMap((panel) =>
    panel.targets && panel.title.toLowerCase().includes(title) ? [{ dashboard, panel }] : [],
  );
});
for (const { dashboard, panel } of found) {
  console.log(`${dashboard.title}: ${panel.title}`);
  for (const { expr, legendFormat, instant } of panel.targets ?? []) {
    const query = replaced(expr);
    const address = `${prometheus}/graph?g0.expr=${encodeURIComponent(query)}&g0.tab=${instant ? 1 : 0}&g0.range_input=1h`;
    console.log(`  ${legendFormat?.trim() ?? ''}\n    ${query}\n    ${address}\n`);
  }
}
if (found.length === 0) {
  console.error(`no panel has "${title}" in its title`);
  process.exitCode = 1;
}
