/**
 * What we use of undici. Its index also loads fetch, WebSockets and caches, and with them the copy of undici within Node: 4 MB of
 * memory, and a fifth of the time of a start.
 */
import connect from 'undici/lib/api/api-connect.js';
import buildConnector from 'undici/lib/core/connect.js';
import errors from 'undici/lib/core/errors.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

export type { Dispatcher } from 'undici';
export { buildConnector, connect, errors, Pool, ProxyAgent };

/** A module with nothing but a memory. */
const smallestModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 3, 1, 0, 1);

/** Throws if undici can read no answer in this process: its parser is WebAssembly. */
export function checkParser(): void {
  try {
    new WebAssembly.Instance(new WebAssembly.Module(smallestModule));
  } catch (error) {
    throw new Error(
      `This process cannot use WebAssembly, which reading answers needs: ${(error as Error).message}. ` +
        'Start Node without --jitless and --lite-mode, and without a limit on its address space (ulimit -v).',
    );
  }
}
