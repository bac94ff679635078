// Bundles the exporter, the command that starts it, and its worker thread, each with a source map, to read the
// stack traces of reports with: what `npm start`, the image and the npm package run.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
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

/**
 * What undici's index exports and src/api uses; the rest (fetch, WebSocket, caches, mocks) is a third of the bundle and of
 * its start-up.
 */
const slimUndici = `
const Dispatcher = require('undici/lib/dispatcher/dispatcher');
exports.Pool = require('undici/lib/dispatcher/pool');
exports.errors = require('undici/lib/core/errors');
Object.defineProperty(exports, 'EnvHttpProxyAgent', {
  get() {
    Dispatcher.prototype.connect = require('undici/lib/api/api-connect');
    return require('undici/lib/dispatcher/env-http-proxy-agent');
  },
});
`;

const slimAssert = `
module.exports = (value, message) => {
  if (!value) throw new Error(message ?? 'a package found itself in a state that it holds impossible');
};
`;

/** Packages less what the exporter never runs: it starts sooner and holds less. */
const slim = {
  name: 'slim',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'slim' }));
    onLoad({ filter: /^undici$/, namespace: 'slim' }, () => ({ contents: slimUndici, resolveDir: root }));
    // What undici has for bodies of requests, HTTP/2 and SOCKS: nothing here asks for it.
    onLoad(
      { filter: /undici\/lib\/(web\/fetch\/body|dispatcher\/(client-h2|socks5-proxy-agent))\.js$/ },
      () => ({
        contents: 'module.exports = {};',
      }),
    );
    // pino's threads, which write logs elsewhere.
    onLoad({ filter: /pino\/lib\/transport\.js$/ }, () => ({ contents: 'module.exports = undefined;' }));
    onResolve({ filter: /^worker_threads$/, namespace: 'file' }, ({ importer }) =>
      importer.endsWith('pino/lib/tools.js') ? { path: 'worker_threads', namespace: 'slim' } : undefined,
    );
    onLoad({ filter: /^worker_threads$/, namespace: 'slim' }, () => ({
      contents: 'exports.isMainThread = true;',
    }));
    // Node's own loads what draws the difference of two objects.
    onResolve({ filter: /^(node:)?assert$/ }, () => ({ path: 'assert', namespace: 'slim' }));
    onLoad({ filter: /^assert$/, namespace: 'slim' }, () => ({ contents: slimAssert }));
    // zod's messages in fifty languages.
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** esbuild leaves regular expressions and tagged templates as they are; one such character, and V8 keeps all in twice the memory. */
function asAscii(code) {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Built as CommonJS, which Node loads sooner than an ES module, and V8 from a cache. */
const options = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.18',
  // Code from a cache can import nothing later: what is imported at its first use is in the same file, and run then.
  supported: { 'dynamic-import': false },
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'eof',
  logLevel: 'warning',
  plugins: [slim],
};

mkdirSync(outdir, { recursive: true });
// Of earlier builds, caches of their code among it.
for (const name of readdirSync(outdir))
  if (/\.js(\.map)?$|^code-cache-/.test(name)) rmSync(`${outdir}/${name}`);
const { outputFiles } = await build({
  ...options,
  write: false,
  entryPoints: { exporter: 'src/start.ts' },
  // A function, as src/bin.ts calls it: it need not copy the code to make it one.
  banner: {
    js: "(function (exports, require, module, __filename, __dirname) {'use strict';const FILE_URL = require('node:url').pathToFileURL(__filename).href;",
  },
  footer: { js: '})' },
  define: {
    'import.meta.url': 'FILE_URL',
    BUILD_VERSION: JSON.stringify(version),
    BUILD_REVISION: JSON.stringify(revision()),
  },
});
for (const { path, text } of outputFiles) writeFileSync(path, asAscii(text));
const hash = createHash('sha256')
  .update(readFileSync(`${outdir}/exporter.js`))
  .digest('hex');
await build({
  ...options,
  entryPoints: { 'bunnynet-exporter': 'src/bin.ts', 'bcrypt-worker': 'src/http/bcrypt-worker.js' },
  define: {
    'import.meta.dirname': '__dirname',
    CODE_CACHE: JSON.stringify(`code-cache-${hash.slice(0, 8)}`),
  },
});
writeFileSync(`${outdir}/package.json`, '{ "type": "commonjs" }\n');
