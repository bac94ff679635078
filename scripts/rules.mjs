// `npm run rules -- SETTINGS FOLDER`: writes the rule files with the settings that the chart takes as `prometheusRule`, and with the
// address of the reader's own runbooks, if there is one.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

function refuse(problem) {
  console.error(`${problem}\nusage: npm run rules -- [--runbook-url=URL] SETTINGS.yaml FOLDER`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { 'runbook-url': { type: 'string' } } });
  } catch (error) {
    return refuse(error.message);
  }
}

const {
  values: { 'runbook-url': runbookUrl },
  positionals: [settings, folder, ...rest],
} = readArguments();
if (folder === undefined || rest.length > 0) refuse('expected the settings and a folder');
if (runbookUrl !== undefined && !/^https?:\/\/[^\s"\\]+$/.test(runbookUrl))
  refuse('--runbook-url: expected an address, such as https://wiki.example/runbooks/{alert}');
const root = fileURLToPath(new URL('..', import.meta.url));
const outfile = `${root}/dist/rules.mjs`;
// Node 20 does not run TypeScript.
await build({
  absWorkingDir: root,
  entryPoints: ['monitoring/src/rule-files.ts'],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.18',
  logLevel: 'warning',
});
const { buildRuleFiles, readSettings } = await import(outfile);
try {
  const files = buildRuleFiles({ ...readSettings(readFileSync(settings, 'utf8'), settings), runbookUrl });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  console.log(`${files.size} files in ${folder}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
