/** promtool's test cases of the rules, as data. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const casesFolder = 'test/monitoring/rules';

export interface CaseFile {
  readonly file: string;
  readonly rule_files: readonly string[];
  readonly tests: readonly {
    readonly name: string;
    readonly input_series: readonly { readonly series: string }[];
    readonly alert_rule_test?: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly { readonly exp_labels: object }[];
    }[];
    readonly promql_expr_test?: readonly { readonly expr: string; readonly exp_samples: readonly object[] }[];
  }[];
}

export function readCaseFiles(): readonly CaseFile[] {
  return readdirSync(casesFolder)
    .filter((file) => file.endsWith('.yml'))
    .map((file) => ({
      ...(parse(readFileSync(`${casesFolder}/${file}`, 'utf8')) as Omit<CaseFile, 'file'>),
      file,
    }));
}
