/** promtool's test cases of the rules, as data. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const casesFolder = 'test/monitoring/rules';

export interface CaseFile {
  readonly file: string;
  readonly rule_files: readonly string[];
  readonly tests: readonly {
    readonly alert_rule_test?: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly { readonly exp_labels: object }[];
    }[];
    readonly promql_expr_test?: readonly { readonly expr: string; readonly exp_samples: readonly object[] }[];
  }[];
}

/** The series and the texts of the alerts, which the cases have and nobody reads here. To parse them takes longer than all the rest. */
const unread = /^( +)(?:input_series|exp_annotations):\n(?:\1 .*\n)+/gm;

export function readCaseFiles(): readonly CaseFile[] {
  return readdirSync(casesFolder)
    .filter((file) => file.endsWith('.yml'))
    .map((file) => {
      const text = readFileSync(`${casesFolder}/${file}`, 'utf8').replaceAll(unread, '');
      return { ...(parse(text) as Omit<CaseFile, 'file'>), file };
    });
}
