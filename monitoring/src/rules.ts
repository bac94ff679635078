/** Recording and alerting rules as data, and the files that Prometheus loads, made from them. */
import { runbookUrl } from './links.ts';
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
  /** What it is about. */
  readonly subject?: Entity | undefined;
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

/** What can be set of an alert. */
export interface AlertSettings {
  readonly for: string;
  /** Empty: not at all. */
  readonly keepFiringFor: string;
  readonly thresholds?: Readonly<Record<string, number>>;
  /** Ids of targets that it leaves out, by their label; with several labels all have to fit. */
  readonly exclude?: Readonly<Record<string, readonly string[]>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What can be set of the rules. */
export interface RuleSettings {
  /** The alerts to leave out, by name. */
  readonly disabled: readonly string[];
  /** Added to every alert. */
  readonly alertLabels: Readonly<Record<string, string>>;
  readonly alertAnnotations: Readonly<Record<string, string>>;
  /** Of every alert. */
  readonly alerts: Readonly<Record<string, AlertSettings>>;
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

/** Alerts by their names. about: what all of them are about. */
export function alertsOf(
  declared: Readonly<Record<string, Declared>>,
  about: Pick<Alert, 'subject' | 'presence'> = {},
): readonly Alert[] {
  return Object.entries(declared).map(([alert, each]) => ({ alert, severity: 'warning', ...about, ...each }));
}

export function alertsIn({ groups }: Rules): readonly Alert[] {
  return groups.flatMap(({ alerts }) => alerts);
}

/** Whether the summary uses the name of what the alert is about, which then has to be looked up. */
export function usesName({ summary }: Alert): boolean {
  return summary.includes('$name');
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

/** Template text that sets `$name`. The name is looked up for the text alone, so a rename does not start a new alert. */
function lookUpName({ info, ids }: Entity): string {
  const matchers = ids.map((label) => `${label}=%q`).join(',');
  const labels = ids.map((label) => `$labels.${label}`).join(' ');
  return `{{ $name := "" }}{{ range query (printf "last_over_time(${info}{${matchers}}[6h])" ${labels}) }}{{ $name = .Labels.name }}{{ end -}}`;
}

/** A text without the indentation that all its lines share. */
function dedent(text: string): string {
  const lines = text.replace(/^\n/, '').split('\n');
  const shared = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(shared)).join('\n');
}

function indent(text: string, by: number): string {
  return dedent(text).replaceAll(/^/gm, ' '.repeat(by));
}

/** Wraps a text at 92 characters; templates are not split. */
function wrap(text: string): string {
  const words = text.match(/(?:\{\{.*?\}\}|\S)+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined || line.length + word.length >= 92) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join('\n');
}

function comment(text: string | undefined, by: number): string {
  return text === undefined ? '' : `${dedent(text).replaceAll(/^/gm, `${' '.repeat(by)}# `)}\n`;
}

/**
 * Every grouping and every match keeps `namespace`: Alertmanager's routes of the Prometheus Operator go by it. Where samples
 * have none, nothing changes.
 */
function keepNamespace(expr: string): string {
  return expr.replaceAll(/\b(by|on) \((?=\w)/g, '$1 (namespace, ');
}

/** What the chart fills in by its values. */
const openSettings: AlertSettings = { for: '"[[for]]"', keepFiringFor: '"[[keepFiringFor]]"' };

/** Fills in what is set. */
export function fill(text: string, { for: wait, thresholds }: AlertSettings): string {
  const values: Readonly<Record<string, number | string>> = { ...thresholds, for: wait };
  return text.replaceAll(/\[\[(\w+)\]\]/g, (open, name: string) => String(values[name] ?? open));
}

/** Label matchers for the targets that are left out. */
function matchersOf(exclude: AlertSettings['exclude'] = {}): string {
  const matchers = Object.entries(exclude).map(
    ([label, ids]) => `${label}=~"${ids.join('|').replaceAll('.', '[.]')}"`,
  );
  return matchers.toSorted().join(',');
}

/** Labels that are added. One that the expression goes by would change which alerts there are, or keep them from being held. */
function addedLabels(
  settings: RuleSettings | undefined,
  alert: string,
  expr: string,
): Readonly<Record<string, string>> {
  const labels = { ...settings?.alertLabels, ...settings?.alerts[alert]?.labels };
  for (const label of Object.keys(labels)) {
    if (new RegExp(`\\b(by|on) \\([^)]*\\b${label}\\b`).test(expr)) {
      throw new Error(`the label ${label} cannot be added to ${alert}: its expression goes by it`);
    }
  }
  return quoted(labels);
}

function mapping(entries: Readonly<Record<string, string>>): string {
  return Object.entries(entries)
    .map(([key, value]) => `${key}:${value.startsWith('\n') ? '' : ' '}${value}\n`)
    .join('');
}

function quoted(entries: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, JSON.stringify(value)]));
}

/** With settings as Prometheus reads it; without, as the chart does: open, and with what exclusions are taken from. */
function alertText(rule: Alert, settings: RuleSettings | undefined): string {
  const own = settings?.alerts[rule.alert] ?? openSettings;
  const { presence } = rule;
  const held = presence && rule.held !== false ? `\nor ${presence.held(rule.alert)}` : '';
  const excluded = keepNamespace(presence?.excluded ?? '');
  const matchers = matchersOf(own.exclude);
  const whole = keepNamespace(`${dedent(rule.expr)}${held}`);
  const expr = matchers === '' ? whole : `(\n${indent(whole, 2)}\n) unless ${excluded}{${matchers}}`;
  const labels = {
    severity: rule.severity,
    ...(rule.isAbsence && !settings && { namespace: '"[[namespace]]"' }),
    ...addedLabels(settings, rule.alert, whole),
  };
  const folded = (text: string) => `>-\n${indent(text, 2)}`;
  const annotations = {
    summary: folded(
      (rule.subject && usesName(rule) ? `${lookUpName(rule.subject)}\n` : '') + dedent(rule.summary),
    ),
    description: folded(wrap(rule.description)),
    runbook_url: runbookUrl(rule.alert),
    ...quoted(settings?.alertAnnotations),
    ...quoted(own.annotations),
  };
  const fields = {
    alert: rule.alert,
    ...(!settings && excluded && { excluded }),
    expr: `|\n${indent(expr, 2)}`,
    for: own.for,
    ...(own.keepFiringFor && { keep_firing_for: own.keepFiringFor }),
    labels: `\n${indent(mapping(labels).trimEnd(), 2)}`,
    annotations: `\n${indent(mapping(annotations).trimEnd(), 2)}`,
  };
  const text = mapping(fields);
  return settings ? fill(text, own) : text;
}

function recordText({ record, expr, forDashboards }: Recording): string {
  return mapping({ record, expr: `|\n${indent(forDashboards ? expr : keepNamespace(expr), 2)}` });
}

function listed(rule: Alert | Recording, text: string): string {
  return `${comment(rule.comment, 6)}      - ${indent(text.trimEnd(), 8).trimStart()}\n`;
}

/**
 * The text of a rule file, as it is set; without settings, as the chart has it, which sets it by its values.
 * more: further lines for the comment at its head.
 */
export function ruleFileText(
  { about, groups }: Rules,
  settings: RuleSettings | undefined,
  more?: string,
): string {
  const parts = groups.map(({ name, interval, records, alerts }) => {
    const enabled = alerts.filter(({ alert }) => !settings?.disabled.includes(alert));
    const texts = [
      ...records.map((each) => listed(each, recordText(each))),
      ...enabled.map((each) => listed(each, alertText(each, settings))),
    ];
    return `  - name: ${name}\n    interval: ${interval}\n    rules:\n${texts.join('')}`;
  });
  return `${comment(about, 0)}${comment(more, 0)}# Generated from monitoring/src by npm run generate.\ngroups:\n${parts.join('')}`;
}
