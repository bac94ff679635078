// Writes V8's cache of the program's code, for the Node that runs this: `node scripts/code-cache.mjs dist`. What is in it is what
// a start needs: an exporter of two applications starts, is scraped, and polls an address where nothing answers.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';

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

function answers(url) {
  return new Promise((done) => {
    get(url, { agent: false, headers: { 'accept-encoding': 'gzip' } }, (response) =>
      response.resume().on('end', () => done(response.statusCode === 200)),
    ).on('error', () => done(false));
  });
}

const [port, nobody] = [await freePort(), await freePort()];
const work = mkdtempSync(join(tmpdir(), 'code-cache-'));
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
for (let tries = 0; !(await answers(`http://127.0.0.1:${port}/-/healthy`)); tries++) {
  if (tries === 500) throw new Error('the program does not start');
  await sleep(20);
}
// Time for a poll to fail.
await sleep(1000);
await answers(`http://127.0.0.1:${port}/metrics`);
const written = `${cacheFile}.new`;
writeFileSync(written, script.createCachedData(), { mode: 0o644 });
renameSync(written, cacheFile);
rmSync(work, { recursive: true });
process.exit();
