/** What the documentation and the chart's values say about each alert, generated from the rules. */
import { stringify } from 'yaml';
import type { AlertingRule, RuleFile } from './rule-files.ts';
import { alerts, defaultSettings } from './rule-settings.ts';

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

The dashboards need these rules too: they read the names of targets from \`bunnynet:…_display\` and their list of alerts from
\`bunnynet:firing_alerts:…\`. You can filter a dashboard by \`cluster\`, \`namespace\`, \`job\` and \`account\`, if your scrape
configuration sets these labels.

## What to expect

- **A missing reading is not a recovery.** During an API outage, values leave the page. An alert that is firing keeps firing
  until the next reading; \`BunnynetReadingsStale\` or \`BunnynetKindUnreadable\` reports the outage itself.
- **A missing reading is not a problem either.** Only alerts about the exporter itself fire because something is missing.
- Missed scrapes, restarts of the exporter and midnight UTC neither start nor end an alert.
- When you remove a target from the configuration, its alerts end within about ten minutes, or that much later if they have
  \`keepFiringFor\`.
- A condition that comes and goes is one alert: it keeps firing for \`keepFiringFor\` after the condition ends.
- Alerts have the label \`namespace\` if your samples do, as with the Prometheus Operator. \`BunnynetExporterAbsent\` has no samples
  to take it from, so the chart sets it.
- Alerts that compare with the previous day are silent on the first day, cost alerts on the first two. The charges of an account
  are forecast from the second day of the month on.

## Tuning

In the chart these are values under \`prometheusRule\`:

\`\`\`yaml
disabled: [BunnynetShieldWafLogOnly]
alertLabels: { team: edge } # of every alert
alertAnnotations: { dashboard: "https://grafana.example/d/bunnynet-overview" }
alerts:
  BunnynetApplicationLatencyLeap:
    for: 20m
    keepFiringFor: 30m
    thresholds: { ratio: 5 }
    labels: { severity: info } # of this alert
  BunnynetApplicationNotActive:
    exclude: { app_id: [HbqFNk0KZjzYOcp] } # stopped on purpose
\`\`\`

For plain rule files, put the same settings into a file and, in a clone of this repository, run
\`npm ci && npm run rules -- settings.yaml /etc/prometheus/bunnynet\`. Unknown names are rejected, and so are thresholds that are
not numbers. The tables below show the defaults.

If you stopped an application on purpose, take it out of an alert with \`exclude\`, or silence that alert in Alertmanager:
\`amtool silence add alertname=BunnynetApplicationNotActive app_id=HbqFNk0KZjzYOcp\`. Its other alerts stay on, and so does this
alert for other applications. Names appear only in the text of an alert, so renaming a target does not start a new one.

`;

/** A template's text with what it will be filled with in italics. */
function legible(template: string): string {
  return template
    .replaceAll(/\{\{ \$name := .*? end -\}\}\s*/g, '')
    .replaceAll(/\{\{ (?:or \$name )?\$labels\.(\w+) \}\}/g, '*$1*')
    .replaceAll(/\{\{ with \$labels\.(\w+) \}\}(.*?)\{\{ \. \}\}(.*?)\{\{ end \}\}/g, '$2*$1*$3')
    .replaceAll(/\{\{ \$value.*?\}\}/g, '*value*')
    .replaceAll(
      /\{\{ humanizePercentage "(.*?)" \}\}/g,
      (_, share: string) => `${Number((Number(share) * 100).toPrecision(4))}%`,
    )
    .replaceAll('|', '\\|');
}

function row({ alert, labels, annotations, ...rule }: AlertingRule): string {
  const thresholds = Object.entries(defaultSettings.alerts[alert]?.thresholds ?? {});
  const cells = [
    `[${alert}](runbooks/${alert}.md)`,
    labels['severity'] ?? '',
    rule.for ?? '0s',
    rule.keep_firing_for ?? '',
    thresholds.map(([name, value]) => `${name}: ${value}`).join(', '),
    legible(annotations['description'] ?? ''),
  ];
  return `| ${cells.join(' | ')} |`;
}

export function alertsReference(files: readonly RuleFile[]): string {
  const tables = files.flatMap(({ file, groups }) => {
    const rules = groups.flatMap((group) => group.rules.filter((rule) => 'alert' in rule));
    // Some files have only recording rules.
    if (rules.length === 0) return [];
    return [
      [
        `## ${file}`,
        '',
        '| alert | severity | for | keepFiringFor | thresholds | what it says |',
        '|---|---|---|---|---|---|',
        ...rules.map(row),
        '',
      ].join('\n'),
    ];
  });
  return introduction + tables.join('\n');
}

/** The settings of the alerts as values of the chart: the defaults of each, under what it says. */
export function alertValues(): string {
  const values = alerts.map(({ alert, summary }) => {
    const preset = defaultSettings.alerts[alert];
    const says = legible(summary).replaceAll('[[for]]', preset?.for ?? '');
    return `# -- ${says}\n${stringify({ [alert]: preset })}`.replaceAll(/^(?=.)/gm, '    ');
  });
  return values.join('');
}
