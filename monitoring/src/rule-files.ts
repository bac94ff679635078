/** The rule files as data. It owns where they are and what is in them, and evaluates nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const rulesFolder = 'monitoring/rules';

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
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

/** Reads from the folder of the rules, relative to the root of the project. */
export function readRuleFiles(): readonly RuleFile[] {
  return readdirSync(rulesFolder)
    .filter((file) => file.endsWith('.yml'))
    .map((file) => ({
      ...(parse(readFileSync(`${rulesFolder}/${file}`, 'utf8')) as Omit<RuleFile, 'file'>),
      file,
    }));
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
