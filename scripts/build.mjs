// Bundles the exporter into one file, and its worker thread into another, each with a source map: what `npm start`, the
// image and the npm package run.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
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

await build({
  absWorkingDir: root,
  entryPoints: { 'bunnynet-exporter': 'src/main.ts', 'bcrypt-worker': 'src/web/bcrypt-worker.js' },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.18',
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: true,
  legalComments: 'eof',
  logLevel: 'warning',
  // CommonJS packages in the bundle call require() for Node's own modules.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  },
  define: { BUILD_VERSION: JSON.stringify(version), BUILD_REVISION: JSON.stringify(revision()) },
});
