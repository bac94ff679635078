/** Runs Debian's promtool. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
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

/** Whether a text reads a rule: by its name, or by a pattern of names. All alerts are read where none is named. */
function isReadIn(text: string, rule: Rule): boolean {
  const name = nameOf(rule);
  if (text.includes(name)) return true;
  const patterns =
    'alert' in rule
      ? [...text.matchAll(/\bALERTS(?:_FOR_STATE)?\b(?:\{[^}]*?\balertname=~?"([^"]*)")?/g)]
      : [...text.matchAll(/\b__name__=~"([^"]*)"/g)];
  return patterns.some(([, names = '.*']) => new RegExp(`^(?:${names})$`).test(name));
}

/** The rules that a case reads, and what these read: in their annotations where the case has those. */
function readBy(text: string, all: readonly Rule[]): ReadonlySet<Rule> {
  const texts = [text];
  const wanted = new Set<Rule>();
  const areAnnotationsRead = text.includes('exp_annotations');
  for (const one of texts)
    for (const rule of all) {
      if (wanted.has(rule) || !isReadIn(one, rule)) continue;
      wanted.add(rule);
      texts.push(rule.expr, ...('alert' in rule ? Object.values(rule.labels) : []));
      if ('alert' in rule && areAnnotationsRead && text.includes(rule.alert))
        texts.push(...Object.values(rule.annotations));
    }
  return wanted;
}

interface Cases {
  readonly rule_files: readonly string[];
  readonly tests: readonly object[];
}

/**
 * `promtool test rules`, each case with only the rules that it reads: the others would be two thirds of the work. Rejects, with promtool's
 * findings, unless every case succeeds.
 */
export async function testRules(file: string): Promise<void> {
  const { rule_files, tests, ...settings } = parse(readFileSync(file, 'utf8')) as Cases;
  const all = rule_files.flatMap((name) => {
    const path = resolve(dirname(file), name);
    const found = dirname(path) === resolve(rulesFolder) ? ruleFiles.get(basename(path)) : undefined;
    if (!found) throw new Error(`${file}: there is no file ${path} of rules`);
    return found.groups;
  });
  const rules = all.flatMap((group) => group.rules);
  const folder = mkdtempSync(join(tmpdir(), 'cases-'));
  try {
    const files = tests.map((one, at) => {
      const wanted = readBy(stringify(one), rules);
      const groups = all
        .map((group) => ({ ...group, rules: group.rules.filter((rule) => wanted.has(rule)) }))
        .filter((group) => group.rules.length > 0);
      const ruleFile = join(folder, `${at}.yml`);
      const path = join(folder, `${at}.test.yml`);
      writeFileSync(ruleFile, stringify({ groups }));
      writeFileSync(path, stringify({ ...settings, rule_files: [ruleFile], tests: [one] }));
      return path;
    });
    const told = await promtool('test', 'rules', ...files);
    if (told.match(/SUCCESS/g)?.length !== files.length) throw new Error(told);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
