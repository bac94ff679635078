/** Recording and alerting rules as data, and the files that Prometheus loads, made from them. */
import type { Entity } from './promql.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** What it is about: its name is looked up and can be used in the summary as `$name`. */
  readonly named?: Pick<Entity, 'ids' | 'info'>;
  readonly summary: string;
  readonly description: string;
  /** Keeps the alert firing for targets that have no reading: no reading is no recovery. */
  readonly held?: Presence;
  readonly comment?: string;
}

interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly comment?: string;
}

export interface RuleGroup {
  readonly name: string;
  readonly interval: string;
  readonly rules: readonly (Alert | Recording)[];
}

export interface Rules {
  /** The comment at the head of the file. */
  readonly about: string;
  readonly groups: readonly RuleGroup[];
}

/** Which targets the exporter is told to read, and which of them have no reading now. */
export interface Presence {
  readonly records: readonly Recording[];
  /** The alert's own series, for the targets without a reading. */
  held(alert: string): string;
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

/** Template text that sets `$name`. The name is looked up for the text alone, so a rename does not start a new alert. */
function lookUpName({ info, ids }: Pick<Entity, 'ids' | 'info'>): string {
  const matchers = ids.map((label) => `${label}=%q`).join(',');
  const labels = ids.map((label) => `$labels.${label}`).join(' ');
  return `{{ $name := "" }}{{ range query (printf "last_over_time(${info}{${matchers}}[6h])" ${labels}) }}{{ $name = .Labels.name }}{{ end -}}`;
}

const runbooks = 'https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks';

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

function ruleText(rule: Alert | Recording): string {
  const expr = `        expr: |\n${indent(rule.expr, 10)}\n`;
  if ('record' in rule) return `${comment(rule.comment, 6)}      - record: ${rule.record}\n${expr}`;
  const held = rule.held ? `          or ${rule.held.held(rule.alert)}\n` : '';
  const name = rule.named ? `            ${lookUpName(rule.named)}\n` : '';
  return `${comment(rule.comment, 6)}      - alert: ${rule.alert}
${expr}${held}        for: ${rule.for}
        labels:
          severity: ${rule.severity}
        annotations:
          summary: >-
${name}${indent(rule.summary, 12)}
          description: >-
${indent(wrap(rule.description), 12)}
          runbook_url: ${runbooks}/${rule.alert}.md
`;
}

/** The text of a rule file. more: further lines for the comment at its head. */
export function ruleFileText({ about, groups }: Rules, more?: string): string {
  const parts = groups.map(
    ({ name, interval, rules }) =>
      `  - name: ${name}\n    interval: ${interval}\n    rules:\n${rules.map(ruleText).join('')}`,
  );
  return `${comment(about, 0)}${comment(more, 0)}# Generated from monitoring/src by npm run generate.\ngroups:\n${parts.join('')}`;
}
