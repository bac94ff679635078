#!/usr/bin/env node
/** The command: runs the program, with V8's cache of its code where there is one for this Node (`scripts/code-cache.mjs`). */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

/** What the names of the program's caches begin with: they hold for one build of it. */
declare const CODE_CACHE: string;

const folder = import.meta.dirname;
const program = `${folder}/exporter.js`;
/** Where the cache for this Node is looked for. */
export const cacheFile = `${folder}/${CODE_CACHE}-${process.version}-${process.arch}`;

/** Without it, V8 compiles the program anew at each start: a third of the time until it answers. */
function readCache(): Buffer | undefined {
  try {
    return readFileSync(cacheFile);
  } catch {
    return undefined;
  }
}

const cachedData = readCache();
/** A function, as CommonJS has around each module, in ASCII. */
const code = readFileSync(program, 'latin1');
/** V8 refuses a cache that another V8 made, or one with other flags. Damage it does not notice: the cache is code, as the program is. */
export const script = new Script(code, { filename: program, ...(cachedData && { cachedData }) });
const run = script.runInThisContext() as (...names: readonly unknown[]) => void;
const module = { exports: {} };
run(module.exports, createRequire(program), module, program, folder);
