// Makes a single executable from the bundle and the Node that runs this script, for machines without Node, and packs it with
// its man page, completions, unit, rules and dashboards, laid out as in /usr/local:
// dist/bunnynet-exporter-linux-<architecture>.tar.gz
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { inject } from 'postject';
import { licenceOfNode } from './licence-of-node.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const architecture = { x64: 'amd64' }[process.arch] ?? process.arch;
const name = `bunnynet-exporter-${process.platform}-${architecture}`;
const licence = licenceOfNode(process.execPath);
const work = 'dist/executable';
const bundle = `${work}/bundle`;
const blob = `${work}/blob`;
const executable = `${work}/bunnynet-exporter`;
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
process.env.BUILD_FOLDER = bundle;
process.env.BUILD_WHOLE = 'true';
await import('./build.mjs');
await import('./share.mjs');

// It is a single file, so the worker thread is embedded as text.
const program = readFileSync(`${bundle}/main.js`, 'utf8');
const worker = readFileSync(`${bundle}/bcrypt-worker.js`, 'utf8');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const [, options] = / exec node (.+) dist\//.exec(scripts.start);
const { code } = await transform(program.replace(/^#!.*\n/, ''), {
  define: { BCRYPT_WORKER: JSON.stringify(worker) },
  minifySyntax: true,
  minifyWhitespace: true,
});
writeFileSync(`${work}/main.cjs`, code);
writeFileSync(
  `${work}/sea.json`,
  JSON.stringify({
    main: `${work}/main.cjs`,
    output: blob,
    disableExperimentalSEAWarning: true,
    // Older lines of Node ignore this setting.
    execArgv: options.split(' '),
  }),
);
const quiet = { stdio: ['ignore', 'ignore', 'inherit'] };
execFileSync(process.execPath, ['--experimental-sea-config', `${work}/sea.json`], quiet);
copyFileSync(process.execPath, executable);
chmodSync(executable, 0o755);
// Each note gets a section without a name, which the library warns about. Nobody needs it: Node finds notes by their segments.
const { warn } = console;
console.warn = (line) => {
  if (!line.startsWith("warning: Can't find string offset for section name '.note")) warn(line);
};
// Every Node binary has this mark.
await inject(executable, 'NODE_SEA_BLOB', readFileSync(blob), {
  sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
});
console.warn = warn;

/** Each file: its path below /usr/local, and its source. */
const shared = execFileSync('find', ['share', '-type', 'f'], { encoding: 'utf8' }).trim().split('\n');
const documents = 'share/doc/bunnynet-exporter';
const files = {
  'bin/bunnynet-exporter': executable,
  'lib/systemd/system/bunnynet-exporter.service': 'deploy/systemd/bunnynet-exporter.service',
  'lib/systemd/system/bunnynet-exporter@.service': 'deploy/systemd/bunnynet-exporter.service',
  ...Object.fromEntries(shared.map((file) => [file, file])),
  [`${documents}/bunnynet-exporter.example.yml`]: 'config/bunnynet-exporter.example.yml',
  [`${documents}/LICENSE`]: 'LICENSE',
  [`${documents}/licences.md`]: 'docs/licences.md',
  [`${documents}/LICENSE-node`]: licence,
};
for (const [path, source] of Object.entries(files)) {
  const target = join(work, name, path);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(source, target);
  chmodSync(target, path.startsWith('bin/') ? 0o755 : 0o644);
}
// The archive has no folders, so unpacking does not change the owners and modes of those in /usr/local.
const paths = Object.keys(files).map((path) => join(name, path));
execFileSync('tar', ['-czf', `dist/${name}.tar.gz`, '-C', work, '--owner=0', '--group=0', ...paths]);
process.stdout.write(`dist/${name}.tar.gz\n`);
