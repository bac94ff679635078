/** The page of the documentation that lists the alerts, made from the rules. */
import type { AlertingRule, RuleFile } from './rule-files.ts';

const introduction = `# Alerts

The rules in [monitoring/rules](../monitoring/rules) watch applications, Shield zones, pull zones, edge scripts, video
libraries, the account and the exporter itself. Each alert has a severity, names what is affected and links to a [runbook](runbooks).

## Install

Prometheus 2.42 or later:

\`\`\`yaml
rule_files:
  - bunnynet/*.yml      # the files of monitoring/rules
\`\`\`

With the Prometheus Operator, put the \`groups\` of each file under the \`spec\` of a PrometheusRule. The \`job\` label can have
any value: the rules recognize an exporter by its metrics. \`critical\` should wake somebody, \`warning\` should be read the
same day, and \`info\` can wait.

## What to expect

- **No reading is no recovery.** During an API outage the values leave the page. An alert on a value that is firing keeps
  firing until the next reading; \`BunnynetReadingsStale\` or \`BunnynetKindUnreadable\` reports the outage itself.
- **No reading is no alarm either.** Only the alerts about the exporter fire because something is missing.
- A missed scrape, a restart of the exporter or midnight UTC neither starts nor ends an alert.
- When you remove a target from the configuration, its alerts end within about ten minutes.
- Alerts that compare with the previous day are silent on the first day (cost alerts: on the first two days). The forecast of
  an account's charges begins on the second day of a month.

## Tuning

Edit the thresholds and times in your copy of the rules. Names are looked up only for the text of an alert, so renaming a target
does not start a new alert. If you stop an application on purpose, remove it from the configuration or silence its \`app_id\`.

`;

/** A template's text with what it will be filled with in italics. */
function legible(template: string): string {
  return template
    .replaceAll(/\{\{ \$name := .*? end -\}\}\s*/g, '')
    .replaceAll(/\{\{ (?:or \$name )?\$labels\.(\w+) \}\}/g, '*$1*')
    .replaceAll(/\{\{ \$value.*?\}\}/g, '*value*')
    .replaceAll('|', '\\|');
}

function row({ alert, labels, annotations, for: wait }: AlertingRule): string {
  const cells = [
    `[${alert}](runbooks/${alert}.md)`,
    labels['severity'] ?? '',
    wait ?? '0s',
    legible(annotations['description'] ?? ''),
  ];
  return `| ${cells.join(' | ')} |`;
}

export function alertsReference(files: readonly RuleFile[]): string {
  const tables = files.map(({ file, groups }) => {
    const alerts = groups.flatMap(({ rules }) => rules.filter((rule) => 'alert' in rule));
    return [
      `## ${file}`,
      '',
      '| alert | severity | after | what it says |',
      '|---|---|---|---|',
      ...alerts.map(row),
      '',
    ].join('\n');
  });
  return introduction + tables.join('\n');
}
