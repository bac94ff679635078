/** The rule files: built from the rules of the kinds, and read back as Prometheus sees them. */
import { parse } from 'yaml';
import { exporterRules } from './exporter-rules.ts';
import { defaultSettings, ruleSets } from './rule-settings.ts';
import { type RuleSettings, type Rules, ruleFileText } from './rules.ts';

export { readSettings } from './rule-settings.ts';

/** Where the rule files are, relative to the root of the project. */
export const rulesFolder = 'monitoring/rules';

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

export interface RuleFile {
  readonly file: string;
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly (AlertingRule | RecordingRule)[];
  }[];
}

const aboutValues = `
  Each expression looks back three minutes, so that a missed scrape or a restart is not taken for a change. While there is
  no reading, an alert that fires is held by its own ALERTS series.`;

function build(settings: RuleSettings | undefined): ReadonlyMap<string, string> {
  const textOf = (rules: Rules) =>
    ruleFileText(rules, settings, rules === exporterRules ? undefined : aboutValues);
  return new Map([...ruleSets].map(([file, rules]) => [file, textOf(rules)]));
}

/** The texts of the rule files by their names: one for each kind with rules, and the exporter's own. */
export function buildRuleFiles(settings = defaultSettings): ReadonlyMap<string, string> {
  return build(settings);
}

/** The same for the chart, whose template sets them by its values. */
export function buildChartRules(): ReadonlyMap<string, string> {
  return build(undefined);
}

/** The same files as data, as Prometheus reads them. */
export function readRuleFiles(): readonly RuleFile[] {
  return [...buildRuleFiles()]
    .map(([file, text]) => ({ ...(parse(text) as Omit<RuleFile, 'file'>), file }))
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

export function rulesOf(files: readonly RuleFile[]): readonly (AlertingRule | RecordingRule)[] {
  return files.flatMap(({ groups }) => groups.flatMap(({ rules }) => rules));
}

export function alertsOf(files: readonly RuleFile[]): readonly AlertingRule[] {
  return rulesOf(files).filter((rule) => 'alert' in rule);
}

export function recordsOf(files: readonly RuleFile[]): readonly RecordingRule[] {
  return rulesOf(files).filter((rule) => 'record' in rule);
}
