/** What a kind adds to the dashboards and the rules. A new kind is one file in kinds/ and a line in its index. */
import { resources } from '../../src/resources/kinds/index.ts';
import type { Row } from './dashboard.ts';
import { type Entity, upOf } from './promql.ts';
import {
  alertsOf,
  type Declared,
  displayRecord,
  presence,
  type Recording,
  type RuleGroup,
  type Rules,
} from './rules.ts';

interface KindRules {
  /** The comment at the head of the file. */
  readonly about: string;
  /** A selector of a series that a target has as long as its reading is fresh. Needed for alerts on targets. */
  readonly reading?: string;
  /** The labels by which its alerts tell targets apart. Default: all that a target has. */
  readonly ids?: readonly string[];
  /** The entity whose names its rules record for the dashboards. */
  readonly names?: Entity;
  /** The entity whose name the alerts have as `$name`. Default: the same. */
  readonly subject?: Entity;
  /** What that belongs to, whose name they have as `$parent`. */
  readonly parent?: Entity;
  /** Default: 2m. */
  readonly interval?: string;
  readonly records?: readonly Recording[];
  readonly alerts?: Readonly<Record<string, Declared>>;
  /** Another group of rules. */
  readonly more?: {
    /** What its name adds to that of the first group. */
    readonly suffix: string;
    readonly records: readonly Recording[];
    readonly alerts: Readonly<Record<string, Declared>>;
  };
}

export interface KindMonitoring {
  readonly kind: string;
  /** Its rows, on one dashboard or several. */
  readonly rows: readonly Row[];
  readonly rules?: KindRules;
}

/** The rules of a kind. Its alerts keep firing for targets without a reading, unless declared otherwise. */
export function rulesOfKind(kind: string, rules: KindRules): Rules {
  const { about, reading, names, subject = names, interval = '2m', records = [], alerts = {}, more } = rules;
  const resource = resources.find((each) => each.kind === kind);
  if (!resource) throw new Error(`there is no kind ${kind}`);
  const name = resource.metricPrefix.replace('bunnynet_', '');
  const ids = rules.ids ?? resource.ids.map(({ label }) => label);
  const readable = reading === undefined ? undefined : presence(kind, name, ids, upOf(resource), reading);
  const subjects = { presence: readable, named: subject, parent: rules.parent };
  const group = `bunnynet-${name.replaceAll('_', '-')}`;
  const groups: RuleGroup[] = [
    {
      name: group,
      interval,
      records: [...(readable?.records ?? []), ...(names ? [displayRecord(names)] : []), ...records],
      alerts: alertsOf(alerts, subjects),
    },
  ];
  if (more) {
    groups.push({
      name: `${group}-${more.suffix}`,
      interval: '2m',
      records: more.records,
      alerts: alertsOf(more.alerts, subjects),
    });
  }
  return { about, groups };
}
