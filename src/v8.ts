/** What V8 is told, so that an exporter with little to do takes little memory, and one with much to do little time. */
import { setFlagsFromString } from 'node:v8';

/** The share of a core from which on time is dearer than memory. */
const busyShare = 0.1;

/** To be called before anything else is loaded. */
export function startSmall(): void {
  // undici parses HTTP in WebAssembly. Optimizing that code takes 25 MB for a moment: more than this process ever needs else.
  // Set so late, the first flag no longer brings the others with it.
  setFlags('--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering');
  // The space for new objects would double until it takes 16 MB, within a minute of any use.
  setFlags('--semi-space-growth-factor=1');
  // V8's compilers, and what they make, take 5 MB with Node 20 and 12 MB with Node 26.
  setFlags('--no-opt', '--no-maglev', '--no-sparkplug');
  // With Node 26 it is 64 KB. Such a piece of memory outlives the space for new objects, so that it is not soon collected.
  Buffer.poolSize = 8 * 1024;
}

/**
 * Lets V8 compile, and the space for new objects grow: a small one is collected so often that it takes a third of the time.
 * Maglev stays off, for not every Node is meant to have it.
 */
export function letGrow(): void {
  grows = true;
  setFlags('--opt', '--sparkplug', '--semi-space-growth-factor=2');
}

let looked: { readonly atMs: number; readonly cpu: NodeJS.CpuUsage } | undefined;
let grows = false;

/** Lets V8 grow once the process was busy since the last call. Before the first one it started, which does not count. */
export function letGrowIfBusy(): void {
  if (grows) return;
  const now = { atMs: performance.now(), cpu: process.cpuUsage() };
  if (looked) {
    const usedMs = (now.cpu.user - looked.cpu.user + now.cpu.system - looked.cpu.system) / 1000;
    if (usedMs > busyShare * (now.atMs - looked.atMs)) letGrow();
  }
  looked = now;
}

function setFlags(...flags: readonly string[]): void {
  for (const flag of flags) setFlagsFromString(flag);
}
