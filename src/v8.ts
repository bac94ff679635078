/** What V8 is told, so that an exporter with little to do takes little memory, and one with much to do little time. */
import type { EventLoopUtilization } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';

/** The share of the time in which the event loop is busy from which on time is dearer than memory. */
const busyShare = 0.1;
const lookEveryMs = 1000;
/**
 * Once the space for new objects is so large, it grows no more: 4 or 8 MB. V8 would let it take 32. From 16 MB on, a third more
 * polls are made a second where an API answers at once, which none does; it would take 14 MB more at 600,000 series, and 50 MB
 * more with all of them polled.
 */
const maxYoungBytes = 4 * 2 ** 20;
/**
 * Once the space for old objects has grown so large, garbage included, garbage may take two fifths of what is in use. V8 would
 * let it take up to three times as much as is in use.
 */
const largeOldBytes = 96 * 2 ** 20;
/** Where the heap may not grow beyond this, V8 collects as soon by itself. */
const roomyHeapBytes = 640 * 2 ** 20;

/** To be called before anything else is loaded. */
export function startSmall(): void {
  // Node has a cache of its own modules' code, which V8 refuses once a flag is set. Whoever serves needs these.
  for (const name of ['cluster', 'dns', 'http']) process.getBuiltinModule(name);
  // undici parses HTTP in WebAssembly. Optimizing that code takes 25 MB for a moment: more than this process ever needs else.
  // Set so late, the first flag no longer brings the others with it.
  setFlags('--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering');
  // After a thousand calls V8 would optimize the way into it, too. Node 20 does not, and does not know the flag.
  if (!process.version.startsWith('v20.')) setFlags('--wasm-wrapper-tiering-budget=1000000000');
  // The space for new objects would double until it takes 32 MB, within a minute of any use.
  setFlags('--semi-space-growth-factor=1');
  // V8's compilers, and what they make, take 5 MB with Node 20 and 12 MB with Node 26.
  setFlags('--no-opt', '--no-maglev', '--no-sparkplug');
  // What is no longer used is collected when it takes 2 MB, not 8.
  setFlags('--optimize-for-size');
  // Node 26 cuts small Buffers from pieces of 64 KB, which grow old before they are full, and are not soon collected then.
  Buffer.poolSize = 8 * 1024;
  state = 'small';
}

let state: 'as Node sets it' | 'small' | 'grown' = 'as Node sets it';
/** Whether the space for new objects may grow. */
let youngGrows = false;
let before: EventLoopUtilization | undefined;
let nextLookMs = 0;
/** How many want it compiled meanwhile. */
let compiling = 0;

/**
 * To be called with each request, of the exporter or to it: an idle process need not wake up for it. Once the process was busy
 * for a second, V8 compiles, and the space for new objects grows: a small one is collected so often that it takes a third of
 * the time. At rest V8 makes that space small again, so it grows after each rest. Maglev stays off, for not every Node is
 * built with it.
 */
export function letGrowIfBusy(): void {
  if (state === 'as Node sets it' || performance.now() < nextLookMs) return;
  nextLookMs = performance.now() + lookEveryMs;
  const now = performance.eventLoopUtilization();
  const isBusy = before && performance.eventLoopUtilization(now, before).utilization > busyShare;
  before = now;
  if (!isBusy) return;
  if (state === 'small') grow();
  if (!youngGrows && sizeOf('new_space') < maxYoungBytes) growYoung();
}

function grow(): void {
  state = 'grown';
  setFlags('--opt', '--sparkplug', '--no-optimize-for-size');
  // It counts from the next full collection on.
  if (getHeapStatistics().heap_size_limit > roomyHeapBytes)
    whenCollectedAt('old_space', largeOldBytes, () => setFlags('--heap-growing-percent=40'));
}

/** No flag sets a limit for the space for new objects once V8 runs: its growth is what can be held back. */
function growYoung(): void {
  youngGrows = true;
  setFlags('--semi-space-growth-factor=2');
  whenCollectedAt('new_space', maxYoungBytes, () => {
    youngGrows = false;
    setFlags('--semi-space-growth-factor=1');
  });
}

/** Calls back soon after a collection that leaves the space so large. */
function whenCollectedAt(space: string, bytes: number, then: () => void): void {
  const collections = new PerformanceObserver(() => {
    if (sizeOf(space) < bytes) return;
    collections.disconnect();
    then();
  });
  collections.observe({ type: 'gc' });
}

/** In bytes, free ones included. */
function sizeOf(space: string): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === space)?.space_size ?? 0;
}

/** Lets V8 compile until the function that is returned is called: in the whole process, threads included. */
export function compile(): () => void {
  compiling++;
  if (state === 'small') setFlags('--opt', '--sparkplug');
  return () => {
    compiling--;
    if (state === 'small' && compiling === 0) setFlags('--no-opt', '--no-sparkplug');
  };
}

function setFlags(...flags: readonly string[]): void {
  for (const flag of flags) setFlagsFromString(flag);
}
