// `npm run rules -- SETTINGS FOLDER`: writes the rule files with the settings that the chart takes as `prometheusRule`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const [settings, folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: npm run rules -- SETTINGS.yaml FOLDER');
  process.exit(2);
}
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
  const files = buildRuleFiles(readSettings(readFileSync(settings, 'utf8'), settings));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  console.log(`${files.size} files in ${folder}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
