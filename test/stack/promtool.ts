/** Runs Debian's promtool. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { nameOf, type Rule, ruleFiles } from '../monitoring/rules-read.ts';
import { toolPath } from './processes.ts';

const run = promisify(execFile);

/** Resolves with the output of promtool; rejects with its findings. */
export async function promtool(...args: readonly string[]): Promise<string> {
  // A sixth of its CPU time goes into collecting garbage, of which it has little.
  const env = { ...process.env, GOGC: '400' };
  const { stdout } = await run(toolPath('promtool'), args, { env }).catch(
    (error: { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`);
    },
  );
  return stdout;
}

/** Whether a text reads a rule: by its name, or all alerts at once. */
function isReadIn(text: string, rule: Rule): boolean {
  const readsAllAlerts = /\bALERTS\b(?!\{[^}]*alertname=")/.test(text);
  return text.includes(nameOf(rule)) || ('alert' in rule && readsAllAlerts);
}

/**
 * The rules that cases read, and what these read, in their annotations where a case has those. The others, mostly records of a panel, would
 * be half of the work of promtool.
 */
function readBy(text: string, all: readonly Rule[]): ReadonlySet<Rule> {
  const texts = [text];
  const wanted = new Set<Rule>();
  const areAnnotationsRead = text.includes('exp_annotations');
  for (const one of texts)
    for (const rule of all) {
      if (wanted.has(rule) || !isReadIn(one, rule)) continue;
      wanted.add(rule);
      texts.push(rule.expr);
      if ('alert' in rule && areAnnotationsRead && text.includes(rule.alert))
        texts.push(...Object.values(rule.annotations));
    }
  return wanted;
}

const exporterRules = 'exporter.yml';

/**
 * `promtool test rules`. Of exporter.yml, which has the most rules and those that are about all kinds, it evaluates what the file of cases
 * reads.
 */
export async function testRules(file: string): Promise<string> {
  const text = readFileSync(file, 'utf8');
  const cases = parse(text) as { rule_files: readonly string[] };
  const groupsOf = (name: string) => ruleFiles.get(basename(name))?.groups ?? [];
  const wanted = readBy(
    text,
    cases.rule_files.flatMap((name) => groupsOf(name).flatMap(({ rules }) => rules)),
  );
  const groups = groupsOf(exporterRules).flatMap((group) => {
    const rules = group.rules.filter((rule) => wanted.has(rule));
    return rules.length > 0 ? [{ ...group, rules }] : [];
  });
  const folder = mkdtempSync(join(tmpdir(), 'read-rules-'));
  try {
    const read = join(folder, exporterRules);
    writeFileSync(read, stringify({ groups }));
    const rule_files = cases.rule_files.map((name) =>
      basename(name) === exporterRules ? read : resolve(dirname(file), name),
    );
    const path = join(folder, 'cases.test.yml');
    writeFileSync(path, stringify({ ...cases, rule_files }));
    return await promtool('test', 'rules', path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
