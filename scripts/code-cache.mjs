// Writes V8's cache of the program's code, for the Node that runs this: `node scripts/code-cache.mjs dist`. What is in it is what
// a start needs: an exporter of two applications starts, polls an address where nothing answers, and is scraped.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import { gunzipSync } from 'node:zlib';

/** Long enough for a machine that is emulated. */
const deadlineMs = 120_000;
const [folder = 'dist'] = process.argv.slice(2);
const bundle = resolve(folder, 'bunnynet-exporter.js');

/** A port where nobody listens. */
function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** The page, compressed as Prometheus asks for it; empty where there is none. */
function scrape(port) {
  return new Promise((done) => {
    const headers = { 'accept-encoding': 'gzip' };
    get({ port, host: '127.0.0.1', path: '/metrics', agent: false, headers }, async (response) =>
      done(gunzipSync(Buffer.concat(await response.toArray())).toString()),
    ).on('error', () => done(''));
  });
}

const [port, nobody] = [await freePort(), await freePort()];
const work = mkdtempSync(join(tmpdir(), 'code-cache-'));
process.on('exit', () => rmSync(work, { recursive: true }));
const config = join(work, 'config.yml');
writeFileSync(
  config,
  `
credentials:
  account:
    env: BUNNYNET_ACCESS_KEY
apis:
  application:
    base_url: http://127.0.0.1:${nobody}
applications:
  targets: [1, 2]
`,
);
process.env.BUNNYNET_ACCESS_KEY = '00000000-0000-0000-0000-000000000000';
process.argv = [
  process.execPath,
  bundle,
  `--config.file=${config}`,
  `--web.listen-address=127.0.0.1:${port}`,
  '--log.level=error',
];
// The program sets flags of V8. A cache holds for the flags at the time when it is made, and it is looked at before they are set.
v8.setFlagsFromString = () => {};
const { script, cacheFile } = createRequire(import.meta.url)(bundle);
while (!/^bunnynet_application_up\{.*\} 0$/m.test(await scrape(port))) {
  if (performance.now() > deadlineMs) throw new Error('no poll has ended');
  await sleep(20);
}
writeFileSync(`${cacheFile}.new`, script.createCachedData(), { mode: 0o644 });
renameSync(`${cacheFile}.new`, cacheFile);
const program = `process.argv.push('', '--version'); process.exit(require(${JSON.stringify(bundle)}).script.cachedDataRejected ? 1 : 0)`;
execFileSync(process.execPath, ['--eval', program]);
process.exit();
