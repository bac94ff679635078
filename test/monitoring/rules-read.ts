/** The rules as Prometheus reads them, from the files that the code builds. */
import { parse } from 'yaml';
import { buildRuleFiles } from '../../monitoring/src/rule-files.ts';

interface AlertingRule {
  readonly alert: string;
  readonly for: string;
  readonly keep_firing_for?: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

export type Rule = AlertingRule | RecordingRule;

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

/** By the names of the files. */
export const ruleFiles = new Map(
  [...buildRuleFiles()].map(([file, text]) => [file, parse(text) as RuleFile]),
);
export const rules = [...ruleFiles.values()].flatMap(({ groups }) => groups.flatMap((group) => group.rules));
export const alerts = rules.filter((rule) => 'alert' in rule);
export const records = rules.filter((rule) => 'record' in rule);

export function nameOf(rule: Rule): string {
  return 'alert' in rule ? rule.alert : rule.record;
}
