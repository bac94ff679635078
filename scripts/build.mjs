// Bundles the exporter, its worker thread, and what it loads only where that is needed, for `npm start`, the image and the npm
// package, with source maps for reading reported stack traces.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The output folder; another one does not disturb what runs from `dist`. */
const outdir = resolve(root, process.env.BUILD_FOLDER ?? 'dist');
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));

/** The commit: from the environment if set (an image build has no git), else from git. */
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

const command = `${outdir}/bunnynet-exporter.js`;
try {
  mkdirSync(outdir, { recursive: true });
  // Left from earlier builds.
  for (const name of readdirSync(outdir)) if (/\.js(\.map)?$/.test(name)) rmSync(`${outdir}/${name}`);
  copyFileSync(`${root}/src/bunnynet-exporter.cjs`, command);
  chmodSync(command, 0o755);
} catch (error) {
  const why = `the program is built there, and it cannot be written (${error.code})`;
  process.stderr.write(`${outdir}: ${why}; use a copy of this folder that you may write\n`);
  process.exit(1);
}
const entryPoints = {
  main: 'src/main.ts',
  'bcrypt-worker': 'src/http/bcrypt-worker.js',
  demo: 'simulator/demo.ts',
  re2js: 're2js',
};
/** What is imported only where it is needed is a file of its own, which takes no memory elsewhere. */
const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) => {
      const name = basename(path, '.ts');
      return kind === 'dynamic-import' && name in entryPoints
        ? { path: `./${name}.js`, external: true }
        : undefined;
    });
  },
};
await build({
  absWorkingDir: root,
  entryPoints,
  plugins: process.env.BUILD_WHOLE ? [] : [apart],
  outdir,
  bundle: true,
  platform: 'node',
  // Some of the packages are CommonJS.
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
