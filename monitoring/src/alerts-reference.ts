/** What the documentation says about each alert, generated from the rules. */
import { defaultsOf, ruleSets } from './rule-settings.ts';
import { fill } from './rule-text.ts';
import { type Alert, alertsIn, sortOf } from './rules.ts';

/** An alert's text with its default settings; what Prometheus fills in is in italics. */
function legible(text: string, alert: Alert): string {
  return (
    fill(text, defaultsOf(alert))
      // What a query finds, the first ones of several, or one.
      .replaceAll(
        /\{\{ with query (?:(?!\}\}).)*\}\}[^{]*\{\{ \. \| first \| label "(\w+)" \}\}(?: in \{\{.*?\}\})?.*?\{\{ end \}\}/g,
        '*$1*',
      )
      .replaceAll(
        /\{\{ with query .*? \| sortByLabel "(\w+)" \}\}.*? and \{\{ \.Value \}\} more\{\{ end \}\}/g,
        '*$1*',
      )
      .replaceAll(
        /\{\{ range \$at, (?:(?!\}\}).)* \| sortByLabel "(\w+)" \}\}.*?\{\{ else \}\}.*?\{\{ end \}\}/g,
        '*$1*',
      )
      .replaceAll(
        /\{\{ range \$at, .*? \| sortByLabel "(\w+)" \}\}.*?\{\{ end \}\}\{\{ \$one.*?\{\{ end \}\}/g,
        '*$1*',
      )
      .replaceAll(/\{\{ (?:or \$name )?\$labels\.(\w+) \}\}/g, '*$1*')
      .replaceAll(
        /\{\{ with \$labels\.(\w+) \}\}([^{]*)\{\{ \. \}\}([^{]*)\{\{ else \}\}([^{]*)\{\{ end \}\}/g,
        (_, label: string, before: string, after: string, other: string) =>
          `${before}*${label}*${after}${after.endsWith('.') ? ' Or:' : ' or'} ${other}`,
      )
      .replaceAll(/\{\{ with \$labels\.(\w+) \}\}(.*?)\{\{ \. \}\}(.*?)\{\{ end \}\}/g, '$2*$1*$3')
      // One of two texts, or one or none, by a label.
      .replaceAll(
        /\{\{ if (?:eq )?\$labels\.\w+ (?:"\w+" )?\}\}([^{]*)\{\{ else \}\}([^{]*)\{\{ end \}\}/g,
        (_, one: string, other: string) =>
          `${one}${/^ ?[A-Z]/.test(one) ? ' Or:' : ' or'} ${other.trimStart()}`,
      )
      .replaceAll(/\{\{ if eq \$labels\.\w+ "\w+" \}\}([^{]*)\{\{ end \}\}/g, '$1')
      .replaceAll(/\{\{ if \$labels\.\w+ \}\}(.*?)\{\{ end \}\}/g, '$1')
      .replaceAll(/\{\{ \$value.*?\}\}/g, '*value*')
      .replaceAll(
        /\{\{ with \$(?:name|parent) \}\}.*?\{\{ else \}\}\{\{ \$labels\.(\w+) \}\}\{\{ end \}\}/g,
        '*$1*',
      )
      // One of two texts, by the value of a query.
      .replaceAll(
        /\{\{ range query .*? \}\}\{\{ if \.Value \}\} (.*?)\{\{ else \}\} (.*?)\{\{ end \}\}\{\{ end \}\}/g,
        ' $1 Or: $2',
      )
      // One entry for each sample of a query, whose own text is in the rule.
      .replaceAll(/\{\{ range .*? \}\}.*?\{\{ end \}\}/g, ' …')
      .replaceAll(
        /\{\{ humanizePercentage "(.*?)" \}\}/g,
        (_, share: string) => `${Number((Number(share) * 100).toPrecision(4))}%`,
      )
  );
}

/** As the expression gives them, and the one otherwise. */
function severities({ severity, expr }: Alert): string {
  const [, otherwise] = /^\{\{ or \$labels\.severity "(\w+)" \}\}$/.exec(severity) ?? [];
  if (otherwise === undefined) return severity;
  const given = [...expr.matchAll(/"severity", "(\w+)"/g)].map(([, one]) => one);
  return [...new Set([...given, otherwise])].join(' or ');
}

const about = { thing: 'a thing', account: 'an account', field: 'a field', process: 'the process' } as const;

function entry(rule: Alert): string {
  const { alert, keepFiringFor, thresholds = {}, description } = rule;
  const settings = [
    severities(rule),
    `about ${about[sortOf(rule)]}`,
    `for ${rule.for}`,
    ...(keepFiringFor === undefined ? [] : [`keepFiringFor ${keepFiringFor}`]),
    ...Object.entries(thresholds).map(([name, value]) => `${name}: ${value}`),
  ];
  return `- [${alert}](runbooks/${alert}.md) (${settings.join(', ')}): ${legible(description, rule)}`;
}

/** The lists of docs/alerts.md: the alerts of each rule file. Names are too long for the cells of a table on a phone. */
export function alertLists(): string {
  const files = [...ruleSets].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const withAlerts = files.filter(([, rules]) => alertsIn(rules).length > 0);
  const lists = withAlerts.map(([file, rules]) =>
    [
      `## ${file}`,
      '',
      ...alertsIn(rules).map(entry),
      ...alertsIn(rules).flatMap(({ alert, note }) =>
        note === undefined ? [] : ['', `\`${alert}\`: ${note}`],
      ),
      '',
    ].join('\n'),
  );
  return lists.join('\n');
}
