// Bundles the exporter and its worker thread, each with a source map, to read the stack traces of reports with: what
// `npm start`, the image and the npm package run.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Where it goes: another folder leaves alone what runs from `dist`. */
const outdir = resolve(root, process.env.BUILD_FOLDER ?? 'dist');
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));

/** The commit that is built: from the environment where there is no git (an image build), else from git. */
function revision() {
  if (process.env.BUILD_REVISION) return process.env.BUILD_REVISION;
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

mkdirSync(outdir, { recursive: true });
// Of earlier builds.
for (const name of readdirSync(outdir)) if (/\.js(\.map)?$/.test(name)) rmSync(`${outdir}/${name}`);
await build({
  absWorkingDir: root,
  entryPoints: { 'bunnynet-exporter': 'src/main.ts', 'bcrypt-worker': 'src/http/bcrypt-worker.js' },
  outdir,
  bundle: true,
  platform: 'node',
  // As some of the packages are.
  format: 'cjs',
  target: 'node20.18',
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'eof',
  logLevel: 'warning',
  banner: { js: "const FILE_URL = require('node:url').pathToFileURL(__filename).href;" },
  define: {
    'import.meta.url': 'FILE_URL',
    BUILD_VERSION: JSON.stringify(version),
    BUILD_REVISION: JSON.stringify(revision()),
  },
});
writeFileSync(`${outdir}/package.json`, '{ "type": "commonjs" }\n');
