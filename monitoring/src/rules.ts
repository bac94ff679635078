/** Recording and alerting rules as data, and the records that most kinds need. */
import { anywhere, type Entity, knownSeries } from './promql.ts';

/**
 * An alert as it is declared. `[[for]]` and `[[THRESHOLD]]` in its texts are replaced by its settings, and ` for [[for]] or more` is left
 * out if it fires at once. A number is not followed by what it counts, because it may be one.
 */
export interface Declared {
  readonly expr: string;
  /** The numbers in the expression that users can set, with their defaults. */
  readonly thresholds?: Readonly<Record<string, number>>;
  readonly for: string;
  /** How long it keeps firing after its expression ends. */
  readonly keepFiringFor?: string;
  /** Default: warning. A template takes it from the expression. */
  readonly severity?: 'critical' | 'info' | `{{ ${string} }}`;
  /** May use `$name` and `$parent`: the name of what the alert is about, and of what that belongs to. */
  readonly summary: string;
  /** An id in it is shown with its name before it. */
  readonly description: string;
  /** False: it ends for a target that has no reading. */
  readonly held?: false;
  /** Labels of its expression besides the ids of the target. */
  readonly alsoBy?: readonly string[];
  /** How far it looks back at a counter. Where a target is read less often, the alert is held until the next reading. */
  readonly window?: string;
  /** Its series have the label `account`, and its summary does not say whose it is. */
  readonly isOfAccount?: true;
  /** It fires because there are no series: where these had no namespace, it takes that of the chart. */
  readonly isAbsence?: true;
  /** What it is about, unless its target says so: only one about the process has `job` and `instance`. */
  readonly sort?: 'account' | 'field' | 'process';
  readonly comment?: string;
  /** What docs/alerts.md says below the list: when it says nothing. */
  readonly note?: string;
}

export interface Alert extends Omit<Declared, 'severity'> {
  readonly alert: string;
  readonly severity: 'critical' | 'warning' | 'info' | `{{ ${string} }}`;
  /** What its texts name. */
  readonly named?: Entity | undefined;
  /** What that belongs to. */
  readonly parent?: Entity | undefined;
  /** The targets that it can be about; some of them can be excluded. */
  readonly presence?: Presence | undefined;
}

export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly comment?: string;
  /** For the dashboards, which match by ids alone: no `namespace` in its groupings and matches. */
  readonly forDashboards?: true;
}

export interface RuleGroup {
  readonly name: string;
  readonly interval: string;
  readonly records: readonly Recording[];
  readonly alerts: readonly Alert[];
}

export interface Rules {
  /** The comment at the head of the file. */
  readonly about: string;
  readonly groups: readonly RuleGroup[];
}

/** presence: the targets that the alerts are about. named: the entity that has their names. parent: what that belongs to. */
export function alertsOf(
  declared: Readonly<Record<string, Declared>>,
  about: Pick<Alert, 'presence' | 'named' | 'parent'> = {},
): readonly Alert[] {
  return Object.entries(declared).map(([alert, each]) => ({
    alert,
    severity: 'warning',
    ...about,
    ...each,
  }));
}

/** The labels of a tenant: the same account in two of them is two accounts. Samples may lack both. */
export const tenant = ['cluster', 'namespace'] as const;

/** Matchers in a printf() template, and the values that it puts there: the alert's own tenant and ids. */
export function sameAs(ids: readonly string[]): { readonly matchers: string; readonly values: string } {
  const labels = [...tenant, ...ids];
  return {
    matchers: labels.map((label) => `${label}=%q`).join(','),
    values: labels.map((label) => `$labels.${label}`).join(' '),
  };
}

/**
 * Template text: the value of a label of the first series that a query finds; `otherwise`, if there is none.
 *
 * @param expr with `%s` for the matchers, once
 */
export function firstOf(label: string, expr: string, ids: readonly string[], otherwise: string): string {
  const { matchers, values } = sameAs(ids);
  return `{{ with query (printf \`${expr.replace('%s', matchers)}\` ${values}) }}{{ . | first | label "${label}" }}{{ else }}${otherwise}{{ end }}`;
}

/**
 * Template text: the first three values of a label, by name, and how many more there are; `otherwise`, if there is no series.
 *
 * @param expr a query of one series for each value, with `%s` for the matchers on the tenant and on `ids`, once
 */
export function upToThree(label: string, expr: string, ids: readonly string[], otherwise: string): string {
  const { matchers, values } = sameAs(ids);
  const asked = (query: string) => `query (printf \`${query.replace('%s', matchers)}\` ${values})`;
  const first = `{{ if lt $at 3 }}{{ if $at }}, {{ end }}{{ $one.Labels.${label} }}{{ end }}`;
  return `{{ with ${asked(expr)} | sortByLabel "${label}" }}{{ range $at, $one := . }}${first}{{ end }}{{ else }}${otherwise}{{ end }}{{ range ${asked(`count(${expr}) - 3 > 0`)} }} and {{ .Value }} more{{ end }}`;
}

/**
 * Template text: one of two texts, by whether the value of a query is 0; none, if there is no value.
 *
 * @param expr with `%s` for the matchers on the tenant and on `ids`, any number of times
 */
export function eitherOr(
  expr: string,
  ids: readonly string[],
  texts: Readonly<Record<'yes' | 'no', string>>,
): string {
  const { matchers, values } = sameAs(ids);
  const times = expr.split('%s').length - 1;
  const asked = `query (printf \`${expr.replaceAll('%s', matchers)}\` ${Array.from({ length: times }, () => values).join(' ')})`;
  return `{{ range ${asked} }}{{ if .Value }}${texts.yes}{{ else }}${texts.no}{{ end }}{{ end }}`;
}

/** What an alert is about: a thing, such as a pull zone; an account or a key of it; a field of a kind; or the process of an exporter. */
export function sortOf({
  sort,
  presence,
}: Pick<Alert, 'sort' | 'presence'>): 'thing' | NonNullable<typeof sort> {
  return sort ?? (presence?.ids.includes('account') ? 'account' : 'thing');
}

export function alertsIn({ groups }: Rules): readonly Alert[] {
  return groups.flatMap(({ alerts }) => alerts);
}

/** Which targets the exporter is configured to read, and which of them have no reading now. */
export interface Presence {
  readonly ids: readonly string[];
  /** The record of the targets, which says whose each of them is. */
  readonly configured: string;
  readonly records: readonly Recording[];
  /**
   * The alert's own series, for the targets without a reading.
   *
   * @param more further labels that the expression gives
   * @param window also for those whose newest reading is older
   */
  held(alert: string, more: readonly string[], window?: string): string;
  /** The targets that exclusions remove, as the right side of `unless`, without the matchers. */
  readonly excluded: string;
}

/**
 * An alert's own series. After a restart of Prometheus it is missing until the second evaluation, so it is also looked for where it
 * was two minutes ago. One that ended since had a reading, which still counts for as long.
 */
export function itself(alert: string, ...matchers: readonly string[]): string {
  const series = `ALERTS{${[`alertname="${alert}"`, ...matchers].join(', ')}}`;
  return `(${series} or ${series} offset 2m)`;
}

/**
 * The targets whose newest reading is older than a window.
 *
 * @param window in minutes or hours, as `30m`
 * @param lastSuccess the family with the times of readings
 */
export function notReadFor(window: string, lastSuccess: string, ids: readonly string[]): string {
  const seconds = Number.parseInt(window, 10) * (window.endsWith('h') ? 3600 : 60);
  return `max by (${ids.join(', ')}) (last_over_time(${lastSuccess}[3m:1m])) < time() - ${seconds}`;
}

/**
 * kind: the kind of its targets. name: part of the names of the records. ids: the labels that identify a target. up: the family with a series for every target.
 * value: a selector of a series that a target has as long as its reading is fresh.
 */
export function presence(
  kind: string,
  name: string,
  ids: readonly string[],
  up: string,
  value: string,
): Presence {
  const configured = `bunnynet:${name}_configured`;
  const unread = `bunnynet:${name}_unread`;
  const by = ids.join(', ');
  const withAccount = [...new Set([...ids, 'account'])].join(', ');
  // What was renamed is that of its newest account.
  const or = `or on (job, instance, ${by})`;
  const lastSuccess = up.replace(/_up$/, '_last_success_timestamp_seconds');
  return {
    ids,
    configured,
    excluded: `on (${by}) ${configured}`,
    records: [
      {
        record: configured,
        comment: `
          The targets that the exporter is told to read, and whose they are: those on its page, or on the page that was scraped last.
          A target that leaves the page of an exporter that has had time to read it has been removed, unless its listing fails since the start.`,
        expr: `
          max by (job, instance, ${withAccount}) (last_over_time(${up}[3m:1m]) >= bool 0)
          ${or} ${configured} and on (job, instance) last_over_time(up[3m:1m]) == 0
          ${or} ${configured} unless on (job) bunnynet_exporter_build_info
          ${or} ${configured} and on (job) (time() - process_start_time_seconds < 600 and on (job, instance) bunnynet_exporter_build_info)
          ${or} ${configured} and on (account) (
            max by (account) (last_over_time(bunnynet_exporter_discovery_up{kind="${kind}"}[3m:1m])) == 0
            unless on (account) last_over_time(bunnynet_exporter_discovery_found_targets{kind="${kind}"}[3m:1m])
          )`,
      },
      {
        record: unread,
        comment:
          'Those without a reading now. An alert on a value keeps firing for them: no reading is no recovery.',
        expr: `
          max by (${by}) (
            ${configured}
            unless on (${by}) last_over_time(${up}[3m:1m]) == 1
            unless on (${by}) last_over_time(${value}[3m:1m])
          )`,
      },
    ],
    held: (alert, more, window) => {
      const old =
        window === undefined ? unread : `(${unread} or on (${by}) ${notReadFor(window, lastSuccess, ids)})`;
      return `max by (${[...ids, ...more].join(', ')}) ${itself(alert, 'alertstate="firing"')} and on (${by}) ${old}`;
    },
  };
}

/**
 * The names of entities for the dashboards, in the label `display`; the id if there is no name. While a target cannot be
 * read, its info series is gone with its other values; the last name is kept as long as the target is known. That is in the record
 * itself, which promtool cannot see while it makes records of the past: there it is the last name of the info series, for longer than
 * the target is known after its last sample.
 */
export function displayRecord(entity: Entity): Recording {
  const { ids, info, display } = entity;
  if (display === undefined) throw new Error(`nothing names ${ids.join(', ')}`);
  const by = ids.join(', ');
  const targets = `group by (${by}) (last_over_time(${knownSeries(anywhere(entity))}[15m]))`;
  const named = (series: string) =>
    `max by (${by}, display) (topk by (${by}) (1, label_replace(${series}, "display", "$1", "name", "(.+)")))`;
  return {
    record: display,
    forDashboards: true,
    comment:
      'For the dashboards: names, and ids where there are none. The last name stays while there is no reading.',
    expr: `
      ${named(`${info}{name!=""}`)}
      or on (${by}) ${display} and on (${by}) ${targets}
      or on (${by}) ${named(`last_over_time(${info}{name!=""}[20m])`)} and on (${by}) ${targets}
      or on (${by}) label_join(${targets}, "display", "/", ${ids.map((label) => `"${label}"`).join(', ')})`,
  };
}
