/**
 * Writes the dashboards in the form for Grafana's catalogue: with the data source as an input, and with what they require.
 *
 *   node scripts/catalogue.mjs FOLDER
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = fileURLToPath(new URL('../monitoring/dashboards', import.meta.url));

/** The oldest Grafana with every option that the panels use. */
const grafana = '10.4.0';

const input = 'DS_PROMETHEUS';

/** @type {Readonly<Record<string, string>>} */
const panelNames = {
  bargauge: 'Bar gauge',
  stat: 'Stat',
  'state-timeline': 'State timeline',
  table: 'Table',
  timeseries: 'Time series',
};

/**
 * @typedef {{ readonly type: string, readonly panels?: readonly Panel[] }} Panel
 * @typedef {{
 *   readonly panels: readonly Panel[],
 *   readonly templating: { readonly list: readonly { readonly name: string }[] },
 * }} Dashboard
 */

/** @param {readonly Panel[]} panels @returns {readonly string[]} */
function typesOf(panels) {
  const types = panels.flatMap(({ type, panels: inner = [] }) => (type === 'row' ? typesOf(inner) : [type]));
  return [...new Set(types)].toSorted();
}

/** @param {Dashboard} dashboard */
export function forCatalogue(dashboard) {
  const picked = { selected: true, text: `\${${input}}`, value: `\${${input}}` };
  const panels = typesOf(dashboard.panels).map((id) => {
    const name = panelNames[id];
    if (name === undefined) throw new Error(`Grafana's name of a panel of type ${id} is not known here`);
    return { type: 'panel', id, name, version: '' };
  });
  return {
    __inputs: [
      {
        name: input,
        label: 'Prometheus',
        description: 'Where the metrics of bunnynet-exporter and its recording rules are',
        type: 'datasource',
        pluginId: 'prometheus',
        pluginName: 'Prometheus',
      },
    ],
    __elements: {},
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: grafana },
      { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
      ...panels,
    ],
    id: null,
    ...dashboard,
    templating: {
      // The dashboard's variable starts with the data source chosen at import.
      list: dashboard.templating.list.map((each) =>
        each.name === 'datasource' ? { ...each, current: picked } : each,
      ),
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , folder] = process.argv;
  if (folder === undefined) {
    console.error('usage: node scripts/catalogue.mjs FOLDER');
    process.exit(2);
  }
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(source)) {
    const dashboard = forCatalogue(JSON.parse(readFileSync(join(source, file), 'utf8')));
    writeFileSync(join(folder, file), `${JSON.stringify(dashboard, undefined, 2)}\n`);
  }
}
