/** What each dashboard says of the alerts: a count, a list with runbooks, and marks in its charts. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { MappingType } from '@grafana/grafana-foundation-sdk/dashboard';
import { annotation } from './annotations.ts';
import { linkTo, runbookUrl, toOverview } from './links.ts';
import { numbers, withoutRules } from './panels.ts';
import { scope as everywhere, firingCount, ofAccounts, oneOf, selector, unlessOfOthers } from './promql.ts';
import { tableOf } from './tables.ts';

/** The record of the alerts that fire, from alert-records.ts. */
export const firingSince = 'bunnynet:firing_alerts:since_seconds';

/** The alerts that a dashboard is about. */
export interface Concern {
  /** The alerts of its own kinds. */
  readonly alerts: readonly string[];
  /** The kinds that it shows. It also lists the exporter's alerts on these kinds. */
  readonly kinds: readonly string[];
}

/** Alerts may lack these labels: such an alert is not left out. */
const scope = ['cluster', 'namespace', 'job', 'account'].map((label) => `${label}=~"$${label}|"`);

/** What the list has for info: a table sorts texts by the alphabet, and a warning comes first. */
const rankedInfo = 'x info';

const severityColors = {
  type: MappingType.ValueToText as const,
  options: {
    critical: { color: 'red', index: 0 },
    warning: { color: 'orange', index: 1 },
    [rankedInfo]: { text: 'info', color: 'blue', index: 2 },
  },
};

function nameIn(alerts: readonly string[]): string {
  return `alertname=~"${oneOf(alerts)}"`;
}

/** concern: undefined for all alerts. picked: matchers on the dashboard's variables. */
export function alertPanels(
  uid: string,
  concern: Concern | undefined,
  picked: readonly string[],
): readonly Builder<Panel>[] {
  const own: string[] = [];
  // The record names one dashboard for each alert; an exporter's alert on a kind has the kind's dashboard.
  if (concern) own.push(concern.kinds.length > 0 ? `dashboard="${uid}"` : nameIn(concern.alerts));
  // A list of all alerts is longer.
  const height = concern ? 5 : 8;
  const shown = `${selector(firingSince, [...own, ...picked, ...scope])}${unlessOfOthers(concern?.kinds)}`;
  return [
    numbers('Alerts firing', 'short', 4, {
      description:
        'Alerts on what this dashboard shows that are firing now (by the rules; no API field). Without the recording rules there are no names, no alerts and no rankings.',
      height,
      steps: ['green', [1, 'red']],
      queries: { firing: `count(${shown}) or ${firingCount} * 0` },
      nothing: withoutRules,
      link: toOverview,
    }),
    tableOf('Firing alerts', 's', 20, {
      description:
        'What is firing now, since when, and about what. The name links to the runbook, the subject to the dashboard that shows it (by the rules; no API field).',
      height,
      queries: [`label_replace(time() - (${shown}), "severity", "${rankedInfo}", "severity", "info")`],
      columns: [
        { source: 'severity', title: 'Severity', width: 110, text: severityColors },
        {
          source: 'alertname',
          title: 'Alert',
          link: { title: 'Runbook', url: runbookUrl('${__value.text}') },
        },
        {
          source: 'about',
          title: 'About',
          link: linkTo('${__data.fields.dashboard}', 'Open its dashboard'),
        },
        { source: 'dashboard', title: 'dashboard', hidden: true },
        { source: 'Value', title: 'For', width: 180 },
      ],
      sort: 'Severity',
      ascending: true,
      nothing: 'No alert is firing.',
    }),
  ];
}

/** A mark in the charts where an alert fires. */
export function alertAnnotation(concern: Concern | undefined): Builder<AnnotationQuery> {
  const own = concern?.alerts.length ? [nameIn(concern.alerts)] : ['alertname=~"Bunnynet.+"'];
  if (concern?.alerts.length === 0) own.push(`kind=~"${oneOf(concern.kinds)}"`);
  const matchers = [...own, 'alertstate="firing"', ...scope];
  return annotation('Alerts', 'red', `${selector('ALERTS', matchers)}${unlessOfOthers(concern?.kinds)}`, {
    titleFormat: '{{alertname}}',
    textFormat: '{{kind}}',
    tagKeys: 'severity',
  });
}

const changes = 'bunnynet_audit_log_changes_total';

/**
 * A mark where something was changed in the account. A sort of change that is new begins at 0, so its first is a series that was not
 * there before, while the log could be read.
 */
export function changeAnnotation(): Builder<AnnotationQuery> {
  const grown = `${changes}{action!="other"} > ${changes} offset 5m`;
  const begun = `(${changes} unless ${changes} offset 5m) * 0 + 1`;
  const readBefore = `${selector('bunnynet_audit_log_up', [...everywhere, ofAccounts])} offset 5m == 1`;
  const by = 'product, resource_type, action, actor_type';
  return annotation(
    'Changes',
    'blue',
    `max by (${by}) ((${grown} or ${begun}) and on (job, account) ${readBefore})`,
    { titleFormat: '{{product}}: {{action}}', textFormat: '{{resource_type}}', tagKeys: 'actor_type' },
  );
}
