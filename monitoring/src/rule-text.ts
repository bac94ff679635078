/** Rules as the text of a file that Prometheus loads. */
import { stringify } from 'yaml';
import { runbookUrl } from './links.ts';
import type { Entity } from './promql.ts';
import { type AlertSettings, defaultsOf, type RuleSettings } from './rule-settings.ts';
import { type Alert, type Presence, type Recording, type Rules, sameAs, tenant } from './rules.ts';

/** Template text that sets a variable to the newest name. The name is not a label, so a rename does not start a new alert. */
function lookUpName(variable: string, { info, ids }: Entity): string {
  const matchers = ids.map((label) => `${label}=%q`).join(',');
  const labels = ids.map((label) => `$labels.${label}`).join(' ');
  return `{{ ${variable} := "" }}{{ range query (printf "sort(max_over_time(timestamp(${info}{${matchers}})[6h:1m]))" ${labels}) }}{{ ${variable} = .Labels.name }}{{ end -}}\n`;
}

/** A text after the look-up of the names that it uses; its ids have their names before them. */
function withNames(text: string, { named, parent }: Alert): string {
  const lookUps: string[] = [];
  let whole = text;
  for (const [variable, entity] of [
    ['$name', named],
    ['$parent', parent],
  ] as const) {
    if (!entity) continue;
    const id = `{{ $labels.${entity.ids.at(-1)} }}`;
    whole = whole.replaceAll(id, `{{ with ${variable} }}{{ . }} (${id}){{ else }}${id}{{ end }}`);
    if (whole.includes(variable)) lookUps.push(lookUpName(variable, entity));
  }
  return lookUps.join('') + whole;
}

/**
 * Template text with the account of a target: of two exporters that call it otherwise, the first by name. It is no label of the
 * expression, so that one target is one alert, whoever reads it.
 */
function accountOf({ ids, configured }: Presence, text: (account: string) => string): string {
  const { matchers, values } = sameAs(ids);
  return `{{ with query (printf "${configured}{${matchers}}" ${values}) | sortByLabel "account" }}${text('. | first | label "account"')}{{ end }}`;
}

/** The default name of an account, which says nothing. */
const onlyAccount = 'account';

/** What a summary begins with, where there is more than one account. */
function whose({ presence, isOfAccount }: Alert): string {
  const begin = (account: string) =>
    `{{ with ${account} }}{{ if ne . "${onlyAccount}" }}{{ . }}: {{ end }}{{ end }}`;
  if (isOfAccount) return begin('$labels.account');
  return presence && !presence.ids.includes('account') ? accountOf(presence, begin) : '';
}

/** Removes the indentation that all lines share. */
function dedent(text: string): string {
  const lines = text.replace(/^\n/, '').split('\n');
  const shared = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(shared)).join('\n');
}

function indent(text: string, by: number): string {
  return dedent(text).replaceAll(/^/gm, ' '.repeat(by));
}

/** Wraps a text at 92 characters without splitting templates. */
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
 * Adds `cluster` and `namespace` to every grouping and match: those of two tenants are two, the dashboards choose by them, and the
 * Prometheus Operator's Alertmanager routes use the latter. Without the labels, nothing changes.
 */
function keepTenant(expr: string): string {
  return expr.replaceAll(/\b(by|on) \((?=\w)(?!cluster, )/g, `$1 (${tenant.join(', ')}, `);
}

/** Replaces the placeholders by the settings of an alert. An alert that fires at once says nothing of how long it has waited. */
export function fill(text: string, { for: wait, thresholds }: AlertSettings): string {
  const values: Readonly<Record<string, number | string>> = { ...thresholds, for: wait };
  const said = /[1-9]/.test(wait) ? text : text.replaceAll(/\s+for\s+\[\[for\]\](\s+or\s+more)?/g, '');
  return said.replaceAll(/\[\[(\w+)\]\]/g, (open, name: string) => String(values[name] ?? open));
}

/** Label matchers for excluded targets. */
function matchersOf(exclude: AlertSettings['exclude'] = {}): string {
  const matchers = Object.entries(exclude).map(
    ([label, ids]) => `${label}=~"${ids.join('|').replaceAll('.', '[.]')}"`,
  );
  return matchers.toSorted().join(',');
}

/** Throws for a label that the expression groups or matches by, or that the alert has: it would change which alerts there are. */
function addedLabels(
  settings: RuleSettings | undefined,
  alert: string,
  expr: string,
): Readonly<Record<string, string>> {
  const labels = { ...settings?.alertLabels, ...settings?.alerts[alert]?.labels };
  for (const label of Object.keys(labels)) {
    if (label === 'account' || new RegExp(`\\b(by|on) \\([^)]*\\b${label}\\b`).test(expr)) {
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

/** With settings, as Prometheus reads it; without, as the chart's template does: with placeholders, their `defaults` and `excluded`. */
function alertText(rule: Alert, settings: RuleSettings | undefined): string {
  const own = settings?.alerts[rule.alert];
  const { presence, alsoBy = [] } = rule;
  const hasSeverity = rule.severity.startsWith('{{');
  const further = hasSeverity ? [...alsoBy, 'severity'] : alsoBy;
  // What it holds has the severity as a label, and what the expression gives meanwhile may have none.
  const or = hasSeverity ? `or on (${[...(presence?.ids ?? []), ...alsoBy].join(', ')})` : 'or';
  const held =
    presence && rule.held !== false ? `\n${or} ${presence.held(rule.alert, further, rule.window)}` : '';
  const excluded = keepTenant(presence?.excluded ?? '');
  const matchers = matchersOf(own?.exclude);
  const whole = keepTenant(`${dedent(rule.expr)}${held}`);
  const expr = matchers === '' ? whole : `(\n${indent(whole, 2)}\n) unless ${excluded}{${matchers}}`;
  const labels = {
    severity: rule.severity.startsWith('{{') ? `'${rule.severity}'` : rule.severity,
    ...(rule.isAbsence && !settings && { namespace: `'{{ or $labels.namespace "[[namespace]]" }}'` }),
    ...(presence &&
      !presence.ids.includes('account') && {
        account: `'${accountOf(presence, (account) => `{{ ${account} }}`)}'`,
      }),
    ...addedLabels(settings, rule.alert, whole),
  };
  const folded = (text: string) => `>-\n${indent(text, 2)}`;
  const annotations = {
    summary: folded(keepTenant(withNames(`${whose(rule)}${dedent(rule.summary)}`, rule))),
    description: folded(withNames(keepTenant(rule.description), rule).replace(/[^\n]*$/, wrap)),
    runbook_url: runbookUrl(rule.alert, settings?.runbookUrl),
    ...quoted(settings?.alertAnnotations),
    ...quoted(own?.annotations),
  };
  const fields = {
    alert: rule.alert,
    ...(!settings && excluded && { excluded }),
    expr: `|\n${indent(expr, 2)}`,
    ...(own ? { for: own.for } : { defaults: `\n${indent(stringify(defaultsOf(rule)).trimEnd(), 2)}` }),
    ...(own?.keepFiringFor && { keep_firing_for: own.keepFiringFor }),
    labels: `\n${indent(mapping(labels).trimEnd(), 2)}`,
    annotations: `\n${indent(mapping(annotations).trimEnd(), 2)}`,
  };
  const text = mapping(fields);
  return own ? fill(text, own) : text;
}

function recordText({ record, expr, forDashboards }: Recording): string {
  return mapping({ record, expr: `|\n${indent(forDashboards ? expr : keepTenant(expr), 2)}` });
}

function listed(rule: Alert | Recording, text: string): string {
  return `${comment(rule.comment, 6)}      - ${indent(text.trimEnd(), 8).trimStart()}\n`;
}

/**
 * The text of a rule file; without settings, for the chart's template.
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
