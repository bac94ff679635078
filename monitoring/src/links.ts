/** Addresses in Grafana and in the documentation. */

/** The address may use `${__field.labels.<label>}` or `${__data.fields.<column>}`. */
export interface Link {
  readonly title: string;
  readonly url: string;
}

const kept = [
  ...['datasource', 'cluster', 'namespace', 'job', 'account'].map((name) => `\${${name}:queryparam}`),
  '${__url_time_range}',
].join('&');

/** To a dashboard with variables set, keeping the data source, the scope and the time range. */
export function linkTo(uid: string, title: string, variables: Readonly<Record<string, string>> = {}): Link {
  const set = Object.entries(variables).map(([variable, value]) => `var-${variable}=${value}`);
  return { title, url: `/d/${uid}?${[...set, kept].join('&')}` };
}

export const toOverview = linkTo('bunnynet-overview', 'Overview');
export const toExporter = linkTo('bunnynet-exporter', 'Open the exporter');

const runbooks = 'https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks/{alert}.md';

/** address: that of a runbook, with `{alert}` in place of the alert's name. */
export function runbookUrl(alert: string, address = runbooks): string {
  return address.replaceAll('{alert}', alert);
}
