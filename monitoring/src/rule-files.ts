/** The rule files, built from the rules of the kinds and of the exporter. */
import { exporterRules } from './exporter-rules.ts';
import { defaultSettings, type RuleSettings, ruleSets } from './rule-settings.ts';
import { ruleFileText } from './rule-text.ts';
import type { Rules } from './rules.ts';

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
