// Bundles the exporter, with what is seldom needed in files of their own, and its worker thread, each with a source map:
// what `npm start`, the image and the npm package run.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Where it goes: another folder leaves alone what runs from `dist`. */
const outdir = process.env.BUILD_FOLDER ?? 'dist';
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

/**
 * What undici's index exports and src/api uses; the rest (fetch, WebSocket, caches, mocks) is a third of the bundle and of
 * its start-up.
 */
const slimUndici = `
const Dispatcher = require('undici/lib/dispatcher/dispatcher');
exports.Agent = require('undici/lib/dispatcher/agent');
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

/**
 * Node's modules, as `require` gives them, for what imports them as `node:…`. An import runs each getter of the module, wanted
 * or not, and with Node 26 one of `node:http` loads fetch and WebSocket: 32 ms and 15 MB.
 */
const builtins = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'builtins' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'builtins' }, ({ path }) => ({
      contents: Object.keys(process.getBuiltinModule(path))
        .map(
          (name) =>
            `export const ${name} = /* @__PURE__ */ (() => process.getBuiltinModule('${path}').${name})();`,
        )
        .join('\n'),
    }));
  },
};

const { metafile } = await build({
  metafile: true,
  absWorkingDir: root,
  splitting: true,
  chunkNames: '[name]-[hash]',
  entryPoints: { 'bunnynet-exporter': 'src/bin.ts', 'bcrypt-worker': 'src/http/bcrypt-worker.js' },
  outdir,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.18',
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'eof',
  logLevel: 'warning',
  plugins: [slim, builtins],
  // CommonJS packages in the bundle call require() for Node's own modules.
  banner: {
    js: "#!/usr/bin/env node\nconst require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  },
  define: { BUILD_VERSION: JSON.stringify(version), BUILD_REVISION: JSON.stringify(revision()) },
});

// The names of files change with what is in them: those of earlier builds go.
for (const name of readdirSync(`${root}/${outdir}`))
  if (/\.js(\.map)?$/.test(name) && !(`${outdir}/${name}` in metafile.outputs))
    rmSync(`${root}/${outdir}/${name}`);
