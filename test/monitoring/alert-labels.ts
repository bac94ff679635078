/** The labels of an alert as Prometheus expands their templates: in the two forms that the rules have, and in no other. */

export type Labels = Readonly<Record<string, string>>;

/** `{{ or $labels.severity "critical" }}` */
const ofTheSeries = /^\{\{ or \$labels\.(\w+) "([^"\\]*)" \}\}$/;

/** `{{ with query (printf "a{b=%q}" $labels.b) | sortByLabel "c" }}{{ . | first | label "c" }}{{ end }}` */
const ofAQuery =
  /^\{\{ with query \(printf "([^"\\]*)"((?: \$labels\.\w+)*)\) \| sortByLabel "(\w+)" \}\}\{\{ \. \| first \| label "\3" \}\}\{\{ end \}\}$/;

/** `labels` are those of the series that the alert is about; `query` answers with the labels of each series found. */
async function expand(
  template: string,
  labels: Labels,
  query: (expr: string) => Promise<readonly Labels[]>,
): Promise<string> {
  if (!template.includes('{{')) return template;
  const [, own, otherwise = ''] = ofTheSeries.exec(template) ?? [];
  if (own !== undefined) return labels[own] || otherwise;
  const [, format, values = '', sortedBy = ''] = ofAQuery.exec(template) ?? [];
  if (format === undefined) throw new Error(`a template of another form: ${template}`);
  const names = [...values.matchAll(/\$labels\.(\w+)/g)].map(([, name = '']) => name);
  const expr = format.replaceAll('%q', () => JSON.stringify(labels[names.shift() ?? ''] ?? ''));
  const found = await query(expr);
  return found.map((each) => each[sortedBy] ?? '').toSorted()[0] ?? '';
}

/** Those of the series, and over them those of the rule. What becomes empty is no label. */
export async function expandLabels(
  ofRule: Labels,
  labels: Labels,
  query: (expr: string) => Promise<readonly Labels[]>,
): Promise<Labels> {
  const own = Object.entries(ofRule).map(
    async ([name, template]) => [name, await expand(template, labels, query)] as const,
  );
  const all = { ...labels, ...Object.fromEntries(await Promise.all(own)) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
