/** What each dashboard says of the alerts: a count, a list with runbooks, and marks in its charts. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { linkTo, runbookOf } from './links.ts';
import { dataSource, numbers, severityColors } from './panels.ts';
import { oneOf, selector } from './promql.ts';
import { tableOf } from './tables.ts';

const overview = 'bunnynet-overview';

/** The records of the alerts that fire, from alert-records.ts. */
export const firingSince = 'bunnynet:firing_alerts:since_seconds';
export const firingCount = 'bunnynet:firing_alerts:count';

/** The alerts that a dashboard is about. */
export interface Concern {
  /** Those of its own rules. */
  readonly alerts: readonly string[];
  /** The kinds that it shows: the exporter's alerts on them are listed, too. */
  readonly kinds: readonly string[];
}

/** Alert rules need not keep the labels of a scrape: an alert that lacks one is not left out. */
const scope = ['cluster', 'namespace', 'job', 'account'].map((label) => `${label}=~"$${label}|"`);

/** concern: undefined for all alerts. picked: matchers on the dashboard's variables. */
export function alertPanels(
  uid: string,
  concern: Concern | undefined,
  picked: readonly string[],
): readonly Builder<Panel>[] {
  const own: string[] = [];
  // The record names one dashboard for each: of the exporter's alerts on a kind, that of the kind.
  if (concern) own.push(concern.kinds.length > 0 ? `dashboard="${uid}"` : nameIn(concern.alerts));
  // Where all are listed there is more than one to read.
  const height = concern ? 5 : 8;
  const shown = selector(firingSince, [...own, ...picked, ...scope]);
  return [
    numbers({
      title: 'Alerts firing',
      description:
        'Alerts on what this dashboard shows that are firing now (by the rules; no API field). Without the recording rules there are no names, no alerts and no rankings.',
      unit: 'short',
      span: 4,
      height,
      steps: ['green', [1, 'red']],
      queries: [{ expr: `count(${shown}) or ${firingCount} * 0`, legend: 'firing' }],
      nothing: 'rules not loaded',
      link: linkTo(overview, 'Overview'),
    }),
    tableOf({
      title: 'Firing alerts',
      description:
        'What is firing now, since when, and about what; a name leads to its runbook, and what it is about to the dashboard that shows it (by the rules; no API field).',
      unit: 's',
      span: 20,
      height,
      queries: [`time() - ${shown}`],
      columns: [
        {
          source: 'severity',
          title: 'Severity',
          width: 110,
          mappings: [severityColors],
        },
        { source: 'alertname', title: 'Alert', link: { ...runbookOf('${__value.text}'), title: 'Runbook' } },
        {
          source: 'about',
          title: 'About',
          link: linkTo('${__data.fields.dashboard}', 'Open its dashboard'),
        },
        { source: 'dashboard', title: 'dashboard', hidden: true },
        { source: 'Value', title: 'For', width: 130 },
      ],
      sort: { title: 'Severity', descending: false },
      nothing: 'No alert is firing.',
    }),
  ];
}

function nameIn(alerts: readonly string[]): string {
  return `alertname=~"${oneOf(alerts)}"`;
}

/** A mark in the charts where an alert fires. */
export function alertAnnotation(concern: Concern | undefined): Builder<AnnotationQuery> {
  const own = concern?.alerts.length ? [nameIn(concern.alerts)] : ['alertname=~"Bunnynet.+"'];
  if (concern?.alerts.length === 0) own.push(`kind=~"${oneOf(concern.kinds)}"`);
  const matchers = [...own, 'alertstate="firing"', ...scope];
  const builder = new AnnotationQueryBuilder()
    .name('Alerts')
    .datasource(dataSource)
    .enable(true)
    .iconColor('red')
    .expr(selector('ALERTS', matchers));
  // What Grafana's Prometheus data source reads of an annotation, and its types do not know.
  const read = { step: '60s', titleFormat: '{{alertname}}', textFormat: '{{kind}}', tagKeys: 'severity' };
  return { build: () => ({ ...builder.build(), ...read }) };
}
