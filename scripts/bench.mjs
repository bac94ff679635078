// `npm run bench`: bundles the benchmark, because Node 20 does not run TypeScript, and starts it.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
const { status, signal } = spawnSync(process.execPath, [`${outdir}/main.mjs`, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = signal ? 1 : (status ?? 1);
