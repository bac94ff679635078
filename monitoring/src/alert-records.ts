/** Records of the firing alerts for the dashboards: the name of what each is about, and the dashboard that shows it. */
import { type Concern, firingSince } from './alert-list.ts';
import type { Dashboard } from './dashboard.ts';
import { exporterDashboard } from './exporter-health.ts';
import { rulesOfKind } from './kind.ts';
import { kinds } from './kinds/index.ts';
import { overviewDashboard } from './overview.ts';
import { firingCount, oneOf } from './promql.ts';
import { alertsIn, type Recording } from './rules.ts';

/** A kind's alerts are on the dashboard of its rows; the overview, which shows something of every kind, does not count. */
const placed = kinds.map(({ kind, rows, rules }) => {
  const shownOn = rows.map(({ dashboard }) => dashboard);
  const dashboard = shownOn.find((one) => one !== overviewDashboard) ?? overviewDashboard;
  return { kind, dashboard, alerts: rules ? alertsIn(rulesOfKind(kind, rules)) : [] };
});

/** The alerts of the dashboards that kinds have. */
export const concerns: ReadonlyMap<Dashboard, Concern> = new Map(
  placed.map(({ dashboard }) => {
    const own = placed.filter((each) => each.dashboard === dashboard);
    const alerts = own.flatMap((each) => each.alerts.map(({ alert }) => alert));
    return [dashboard, { alerts, kinds: own.map(({ kind }) => kind) }];
  }),
);

/** The entities whose names the alerts use. */
const subjects = placed.flatMap(({ alerts }) => alerts.flatMap(({ named }) => named ?? []));
const subjectIds = new Set(subjects.flatMap(({ ids }) => ids));
const names = oneOf([...new Set(subjects.flatMap(({ display }) => display ?? []))]);

const firing =
  '(ALERTS_FOR_STATE{alertname=~"Bunnynet.+"} and ignoring (alertstate) ALERTS{alertstate="firing"})';

const withNames = `
        ${firing} * on (${[...subjectIds].join(', ')}) group_left (display) {__name__=~"${names}"}
        or ignoring (display) ${firing}`;

/** Calls of label_replace() around an expression, the last one outermost. */
const withDashboard = [
  `"dashboard", "${exporterDashboard.uid}", "", ""`,
  ...[...concerns].flatMap(([{ uid }, { alerts, kinds: shown }]) => [
    ...(alerts.length > 0 ? [`"dashboard", "${uid}", "alertname", "${oneOf(alerts)}"`] : []),
    `"dashboard", "${uid}", "kind", "${oneOf(shown)}"`,
  ]),
  '"about", "$1", "about", " *(.*?) *"',
].reduce(
  (expr, replacement) => `label_replace(${expr},\n${replacement})`,
  `label_join(label_replace(label_replace(${withNames},\n"whose", "$1", "account", "(.*)"),\n"whose", "", "account", "account"),\n"about", " ", "whose", "display", "kind", "api", "field", "instance")`,
);

export const alertRecords: readonly Recording[] = [
  {
    record: firingSince,
    forDashboards: true,
    comment: `
      For the dashboards: when each firing alert became pending, with the name of what it is about and the dashboard that shows it.`,
    expr: withDashboard,
  },
  {
    record: firingCount,
    forDashboards: true,
    comment:
      'How many alerts fire. It exists whenever the rules are loaded, so dashboards can tell if they are missing.',
    expr: `count(ALERTS{alertname=~"Bunnynet.+", alertstate="firing"}) or vector(0)`,
  },
];
