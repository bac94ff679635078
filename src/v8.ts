/** What V8 is told, so that a small exporter takes little memory and a large one little time. */
import { setFlagsFromString } from 'node:v8';

/** To be called before anything else is loaded. */
export function startSmall(): void {
  // undici parses HTTP in WebAssembly. Optimizing that code takes 25 MB for a moment: more than this process ever needs else.
  // Set so late, the first flag no longer brings the others with it.
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'])
    setFlagsFromString(flag);
  // The space for new objects would double until it takes 16 MB, within a minute of any use.
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Requests a second from which on time is dearer than memory. */
const manyPerSecond = 20;

/** Lets the space for new objects grow where much is asked: a small one is collected so often that it takes a third of the time. */
export function letGrowFor(requestsPerSecond: number): void {
  if (requestsPerSecond > manyPerSecond) setFlagsFromString('--semi-space-growth-factor=2');
}
