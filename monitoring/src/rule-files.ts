/** The rule files, built from the rules of the kinds and of the exporter. */

import { hasPast } from '../../src/backfill/history.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { buildDashboards } from './dashboards.ts';
import { exporterRules } from './exporter-rules.ts';
import { defaultSettings, type RuleSettings, ruleSets } from './rule-settings.ts';
import { ruleFileText } from './rule-text.ts';
import type { Recording, Rules } from './rules.ts';

export { readSettings } from './rule-settings.ts';

/** Where the rule files are, relative to the root of the project. */
export const rulesFolder = 'monitoring/rules';

const aboutValues = `
  Each expression takes the last value that a query found within three minutes, so that a missed scrape or a restart is not taken
  for a change. A query itself looks back five minutes, so there may be as many between two scrapes. While there is no reading,
  an alert that fires is held by its own ALERTS series.`;

function build(settings: RuleSettings | undefined): ReadonlyMap<string, string> {
  const textOf = (rules: Rules) =>
    ruleFileText(rules, settings, rules === exporterRules ? undefined : aboutValues);
  return new Map([...ruleSets].map(([file, rules]) => [file, textOf(rules)]));
}

/** The texts of the rule files by their names: one for each kind with rules, and the exporter's own. */
export function buildRuleFiles(settings = defaultSettings): ReadonlyMap<string, string> {
  return build(settings);
}

/** The same for the chart, whose template fills in its values. */
export function buildChartRules(): ReadonlyMap<string, string> {
  return build(undefined);
}

/** Where the rules for a history are, relative to the root of the project. */
export const historyRulesFile = 'monitoring/history-rules.yml';

const aboutHistory = `
  The records with which the dashboards find names and ratios in a history, see docs/backfill.md. For promtool, which evaluates a
  whole file for each moment of the past, alerts included. Prometheus has them with the other rules: do not load them twice.`;

/** The names in an expression. What follows after `or on` helps while the rest is missing. */
function namesRead(expr: string): readonly string[] {
  const [main = ''] = expr.split(/\bor on\b/);
  return main.match(/\bbunnynet[:_][\w:]+/g) ?? [];
}

/** The text of one file with the records that a dashboard reads and a history can give. */
export function buildHistoryRules(): string {
  const families = new Set(catalogue.filter(hasPast).map(({ name }) => name));
  const all = new Map(
    [...ruleSets.values()].flatMap(({ groups }) =>
      groups.flatMap(({ records }) => records.map((one) => [one.record, one] as const)),
    ),
  );
  const isGiven = ({ expr }: Recording): boolean => {
    const read = namesRead(expr);
    return (
      read.length > 0 &&
      read.every((name) => {
        const record = all.get(name);
        return record ? isGiven(record) : families.has(name);
      })
    );
  };
  const shown = new Set<string>();
  const show = (text: string) => {
    for (const name of text.match(/\bbunnynet:[\w:]+/g) ?? []) {
      if (shown.has(name)) continue;
      shown.add(name);
      show(all.get(name)?.expr ?? '');
    }
  };
  show(JSON.stringify([...buildDashboards().values()]));
  const groups = [...ruleSets.values()].flatMap((rules) =>
    rules.groups.flatMap(({ name, interval, records }) => {
      const own = records.filter((one) => shown.has(one.record) && isGiven(one));
      return own.length > 0 ? [{ name, interval, records: own, alerts: [] }] : [];
    }),
  );
  return ruleFileText({ about: aboutHistory, groups }, defaultSettings);
}
