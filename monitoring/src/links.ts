/** Addresses in Grafana and in the documentation. */

/** Where a click leads; the address may use `${__field.labels.<label>}` or `${__data.fields.<column>}`. */
export interface Link {
  readonly title: string;
  readonly url: string;
}

const kept = [
  ...['datasource', 'cluster', 'namespace', 'job', 'account'].map((name) => `\${${name}:queryparam}`),
  '${__url_time_range}',
].join('&');

/** A dashboard with variables set, at the same data source, scope and time range. */
export function linkTo(uid: string, title: string, variables: Readonly<Record<string, string>> = {}): Link {
  const set = Object.entries(variables).map(([variable, value]) => `var-${variable}=${value}`);
  return { title, url: `/d/${uid}?${[...set, kept].join('&')}` };
}

const runbooks = 'https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks';

/** What to do when the alert fires. */
export function runbookOf(alert: string): Link {
  return { title: `Runbook: ${alert}`, url: `${runbooks}/${alert}.md` };
}
