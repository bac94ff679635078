// `npm run bench`: bundles the benchmark, because Node 20 does not run TypeScript, and starts it. Builds the revision of --against
// once, in a folder of its own.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const outdir = `${root}/dist/bench`;

// The benchmark measures the exporter as it is shipped.
execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
await build({
  absWorkingDir: root,
  entryPoints: [
    'bench/main.ts',
    ...readdirSync(`${root}/bench/children`).map((name) => `bench/children/${name}`),
  ],
  outdir,
  entryNames: '[name]',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.18',
  sourcemap: true,
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
  },
  define: { BUILD_VERSION: '"bench"', BUILD_REVISION: '"bench"' },
});

/** Resolves with the folder where it is built. @param {string} name */
function buildOther(name) {
  const git = (/** @type {string[]} */ ...words) =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  const revision = git('rev-parse', '--verify', `${name}^{commit}`);
  const folder = `${root}/.cache/bench/${revision}`;
  // What the build writes last.
  if (existsSync(`${folder}/dist/package.json`)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const run = (/** @type {string} */ command, /** @type {string[]} */ words, env = {}) =>
    execFileSync(command, words, { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } });
  run('sh', ['-c', `git -C '${root}' archive ${revision} | tar -x`]);
  run('npm', ['ci', '--no-audit', '--no-fund']);
  run(process.execPath, ['scripts/build.mjs'], { BUILD_REVISION: revision.slice(0, 12) });
  return folder;
}

const words = process.argv.slice(2);
const { against } = parseArgs({
  args: words,
  strict: false,
  options: { against: { type: 'string' } },
}).values;
if (typeof against === 'string') words.push(`--other=${buildOther(against)}`);
const { status, signal } = spawnSync(process.execPath, [`${outdir}/main.mjs`, ...words], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = signal ? 1 : (status ?? 1);
