/** Recording and alerting rules as data, and the records that most kinds need. */
import { anywhere, type Entity, knownSeries } from './promql.ts';

/** An alert as it is declared. In its texts, `[[for]]` and `[[NAME]]` stand for what is set of the alert. */
export interface Declared {
  readonly expr: string;
  /** The numbers in the expression that can be set, with their defaults. */
  readonly thresholds?: Readonly<Record<string, number>>;
  readonly for: string;
  /** For an alert that comes and goes: how long it keeps firing after its expression ends. */
  readonly keepFiringFor?: string;
  /** Default: warning. */
  readonly severity?: 'critical' | 'info';
  /** Can use the name of what the alert is about as `$name`. */
  readonly summary: string;
  readonly description: string;
  /** False: it ends for a target that has no reading. */
  readonly held?: false;
  /** True where no series can lend it its namespace, since it fires because there are none. */
  readonly isAbsence?: true;
  readonly comment?: string;
}

export interface Alert extends Omit<Declared, 'severity'> {
  readonly alert: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** What its summary names, if it uses `$name`. */
  readonly named?: Entity | undefined;
  /** The targets that it can be about; some of them can be excluded. */
  readonly presence?: Presence | undefined;
}

export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly comment?: string;
  /** For the dashboards, which go by ids alone: its groupings and matches do not keep `namespace`. */
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

/** presence, subject: the targets that the alerts are about, and what they are called after. */
export function alertsOf(
  declared: Readonly<Record<string, Declared>>,
  presence?: Presence,
  subject?: Entity,
): readonly Alert[] {
  return Object.entries(declared).map(([alert, each]) => {
    const named = each.summary.includes('$name') ? subject : undefined;
    return { alert, severity: 'warning', presence, named, ...each };
  });
}

export function alertsIn({ groups }: Rules): readonly Alert[] {
  return groups.flatMap(({ alerts }) => alerts);
}

/** Which targets the exporter is told to read, and which of them have no reading now. */
export interface Presence {
  readonly ids: readonly string[];
  readonly records: readonly Recording[];
  /** The alert's own series, for the targets without a reading. */
  held(alert: string): string;
  /** The targets that exclusions remove, as the right side of `unless`, without the matchers. */
  readonly excluded: string;
}

/**
 * name: of the records. ids: what tells the targets apart. up: the family that has a series for every target.
 * value: a selector of a series that a target has as long as its reading is fresh.
 */
export function presence(name: string, ids: readonly string[], up: string, value: string): Presence {
  const configured = `bunnynet:${name}_configured`;
  const unread = `bunnynet:${name}_unread`;
  const by = ids.join(', ');
  return {
    ids,
    excluded: `on (${by}) ${configured}`,
    records: [
      {
        record: configured,
        comment: `
          The targets that the exporter is told to read: those on its page, or on the page that was scraped last.
          A target that leaves the page of an exporter that has had time to read it has been removed.`,
        expr: `
          max by (job, instance, ${by}) (last_over_time(${up}[3m]) >= bool 0)
          or ${configured} and on (job, instance) up == 0
          or ${configured} unless on (job) bunnynet_exporter_build_info
          or ${configured} and on (job) (time() - process_start_time_seconds < 600 and on (job, instance) bunnynet_exporter_build_info)`,
      },
      {
        record: unread,
        comment:
          'Those of them without a reading now. An alert on a value keeps firing for them: no reading is no recovery.',
        expr: `
          max by (${by}) (${configured})
          unless on (${by}) last_over_time(${up}[3m]) == 1
          unless on (${by}) last_over_time(${value}[3m])`,
      },
    ],
    held: (alert) => `max by (${by}) (ALERTS{alertname="${alert}", alertstate="firing"}) and ${unread}`,
  };
}

/**
 * The names of entities for the dashboards: the label `display` is the name, or the id where there is none. The info series leave
 * the page with the other values while a target cannot be read: the last name stays for as long as the target is known.
 */
export function displayRecord(entity: Entity): Recording {
  const { ids, info, display } = entity;
  if (display === undefined) throw new Error(`nothing names ${ids.join(', ')}`);
  const by = ids.join(', ');
  const targets = `group by (${by}) (last_over_time(${knownSeries(anywhere(entity))}[15m]))`;
  return {
    record: display,
    forDashboards: true,
    comment:
      'For the dashboards: names, and ids where there are none. The last name stays while there is no reading.',
    expr: `
      max by (${by}, display) (topk by (${by}) (1, label_replace(last_over_time(${info}{name!=""}[3m]), "display", "$1", "name", "(.+)")))
      or on (${by}) ${display} and on (${by}) ${targets}
      or on (${by}) label_join(${targets}, "display", "/", ${ids.map((label) => `"${label}"`).join(', ')})`,
  };
}
