/** What each dashboard says of the alerts: a count, a list with runbooks, and marks in its charts; and the record behind them. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { linkTo, runbookOf } from './links.ts';
import { dataSource, numbers, severityColors, tableOf } from './panels.ts';
import { selector } from './promql.ts';
import type { Recording } from './rules.ts';

const overview = 'bunnynet-overview';
const exporter = 'bunnynet-exporter';

/** Alert rules need not keep the labels of a scrape: an alert that lacks one is not left out. */
const scope = ['cluster', 'namespace', 'job', 'account'].map((label) => `${label}=~"$${label}|"`);

const since = 'bunnynet:firing_alerts:since_seconds';
const count = 'bunnynet:firing_alerts:count';

/** Whose alerts a dashboard shows: those on values, by their names, and the exporter's on a kind. */
const dashboards = [
  { uid: 'bunnynet-application', names: 'Application', kinds: 'application(_overview|_volume)?' },
  { uid: 'bunnynet-cdn', names: 'PullZone', kinds: 'pull_zone.*' },
  { uid: 'bunnynet-shield', names: 'Shield', kinds: 'shield_.+|api_guardian|rate_limit' },
  { uid: 'bunnynet-stream', names: 'VideoLibrary', kinds: 'video_library.*' },
  { uid: 'bunnynet-video-storage', names: 'VideoStorage', kinds: 'video_storage' },
  { uid: 'bunnynet-account', names: 'Account|EdgeScript', kinds: 'billing|edge_script|application_limits' },
  { uid: 'bunnynet-storage-dns', kinds: 'storage_zone|dns_zone' },
] as const;

/** The names of the alerts that the exporter's own rules have. */
const exportersOwn = 'Api[A-Z]|Discovery|Exporter|Key|Kind|Nothing|Readings|Reload|Sch|Series|Target';

/** The entities that alerts are about: their ids tell whose name to look up. */
const subjects = [
  'application',
  'pull_zone',
  'shield_zone',
  'shield_api_guardian',
  'video_library',
  'edge_script',
];
const subjectIds = ['app_id', 'pull_zone_id', 'shield_zone_id', 'endpoint_id', 'library_id', 'script_id'];

const firing =
  '(ALERTS_FOR_STATE{alertname=~"Bunnynet.+"} and ignoring (alertstate) ALERTS{alertstate="firing"})';

const named = `
        ${firing} * on (${subjectIds.join(', ')}) group_left (display) {__name__=~"bunnynet:(${subjects.join('|')})_display"}
        or ignoring (display) ${firing}`;

/** Calls of label_replace() around an expression, the last one outermost. */
const withDashboard = [
  `"dashboard", "${exporter}", "", ""`,
  ...dashboards.flatMap((each) => [
    ...('names' in each ? [`"dashboard", "${each.uid}", "alertname", "Bunnynet(${each.names}).+"`] : []),
    `"dashboard", "${each.uid}", "kind", "${each.kinds}"`,
  ]),
  '"about", "$1", "about", " *(.*?) *"',
].reduce(
  (expr, replacement) => `label_replace(${expr},\n${replacement})`,
  `label_join(${named},\n"about", " ", "display", "credential", "kind", "api", "field", "instance")`,
);

/** The alerts that fire, with what the dashboards show of them. */
export const alertRecords: readonly Recording[] = [
  {
    record: since,
    forDashboards: true,
    comment: `
      For the dashboards: when each alert that fires began to be pending; with the name of what it is about, and the dashboard that
      shows it.`,
    expr: withDashboard,
  },
  {
    record: count,
    forDashboards: true,
    comment:
      'How many fire. It is there whenever the rules are: a dashboard tells by it that they are missing.',
    expr: `count(ALERTS{alertname=~"Bunnynet.+", alertstate="firing"}) or vector(0)`,
  },
];

/** The alerts that a dashboard shows. picked: matchers on its variables. */
export function alertPanels(uid: string, picked: readonly string[]): readonly Builder<Panel>[] {
  const own = uid === exporter ? `alertname=~"Bunnynet(${exportersOwn}).+"` : `dashboard="${uid}"`;
  const shown = selector(since, [...(uid === overview ? [] : [own]), ...picked, ...scope]);
  return [
    numbers({
      title: 'Alerts firing',
      description:
        'Alerts on what this dashboard shows that are firing now (by the rules; no API field). Without the recording rules there are no names, no alerts and no rankings.',
      unit: 'short',
      span: 4,
      height: 5,
      steps: ['green', [1, 'red']],
      queries: [{ expr: `count(${shown}) or ${count} * 0`, legend: 'firing' }],
      nothing: 'rules not loaded',
      link: linkTo(overview, 'Overview'),
    }),
    tableOf({
      title: 'Firing alerts',
      description:
        'What is firing now, since when, and about what; a name leads to its runbook, and what it is about to the dashboard that shows it (by the rules; no API field).',
      unit: 's',
      span: 20,
      height: 5,
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

/** A mark in the charts where an alert fires. */
export function alertAnnotation(uid: string): Builder<AnnotationQuery> {
  const own = dashboards.find((each) => each.uid === uid);
  const names =
    own === undefined
      ? uid === overview
        ? ''
        : `(${exportersOwn})`
      : 'names' in own
        ? `(${own.names})`
        : '';
  const kinds = own === undefined || 'names' in own ? [] : [`kind=~"${own.kinds}"`];
  const matchers = [`alertname=~"Bunnynet${names}.+"`, 'alertstate="firing"', ...kinds, ...scope];
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
