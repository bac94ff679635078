/** What the documentation and the chart's values say of each alert, made from the rules. */
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

The dashboards need these rules too: what is recorded as \`bunnynet:…_display\` are the names that they show, and
\`bunnynet:firing_alerts:…\` is their list of alerts. The labels \`cluster\`, \`namespace\`, \`job\` and \`account\`, by which a dashboard
can be narrowed, are those of your scrape configuration.

## What to expect

- **No reading is no recovery.** During an API outage the values leave the page. An alert on a value that is firing keeps
  firing until the next reading; \`BunnynetReadingsStale\` or \`BunnynetKindUnreadable\` reports the outage itself.
- **No reading is no alarm either.** Only the alerts about the exporter fire because something is missing.
- A missed scrape, a restart of the exporter or midnight UTC neither starts nor ends an alert.
- When you remove a target from the configuration, its alerts end within about ten minutes, and those with \`keepFiringFor\` that
  much later.
- An alert that comes and goes is one alert: it goes on for \`keepFiringFor\` after its condition has ended.
- Every alert has the label \`namespace\` if your samples have it, as those of the Prometheus Operator do. Where there are no
  samples, for \`BunnynetExporterAbsent\`, the chart sets it.
- Alerts that compare with the previous day are silent on the first day (cost alerts: on the first two days). The forecast of
  an account's charges begins on the second day of a month.

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

For plain files write the same into a file, and in a clone of this repository run
\`npm ci && npm run rules -- settings.yaml /etc/prometheus/bunnynet\`. Names that there are not, and thresholds that are not
numbers, are refused. The tables below have the defaults.

An application that you stopped on purpose is left out of one alert by \`exclude\`, or silenced in Alertmanager:
\`amtool silence add alertname=BunnynetApplicationNotActive app_id=HbqFNk0KZjzYOcp\`. Its other alerts, and the same alert of other
applications, go on. Names are looked up only for the text of an alert, so renaming a target does not start a new alert.

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
    // Some files have recording rules alone.
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
