/** The page of the documentation that lists the alerts, made from the rules. */
import type { AlertingRule, RuleFile } from './rule-files.ts';

const introduction = `# Alerts

The rules in [monitoring/rules](../monitoring/rules) watch the applications, Shield zones and video libraries, and the
exporter itself. Each alert has a severity, says what is the matter by name, and leads to a [runbook](runbooks).

## Install

Prometheus 2.42 or later:

\`\`\`yaml
rule_files:
  - bunnynet/*.yml      # the files of monitoring/rules
\`\`\`

With the Prometheus Operator put each file's \`groups\` under the \`spec\` of a PrometheusRule. The rules need no label
\`job\` of a certain name: they know an exporter by its page. \`critical\` is meant to wake somebody, \`warning\` to be
read the same day, \`info\` to be read some day.

## What they do not do

- **No reading is no recovery.** While the API is out the values leave the page. An alert on a value that fires stays until
  the next reading decides; \`BunnynetReadingsStale\` or \`BunnynetKindUnreadable\` tells of the outage itself.
- **No reading is no alarm either.** Nothing fires because a value is missing, but the alerts of the exporter that say so.
- A missed scrape, a restart of the exporter or the start of a new day at midnight UTC neither fires nor ends an alert.
- A target that is taken out of the configuration takes its alerts with it, within about ten minutes.
- What is compared with the day before says nothing during the first day (the cost: two days).

## Tune

Thresholds and times are the numbers in the rules: edit them where they stand. The names of the targets are looked up for the
text alone, so that a rename is no new alert. An application that is stopped on purpose is best taken out of the
configuration, or silenced by its \`app_id\`.

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
