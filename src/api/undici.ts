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

/** Throws if undici can read no answer in this process: its parser is WebAssembly. */
export function checkParser(): void {
  try {
    new WebAssembly.Memory({ initial: 1 });
  } catch (error) {
    throw new Error(
      `This process cannot use WebAssembly, which reading answers needs: ${(error as Error).message}. ` +
        'Start Node without --jitless and --lite-mode, and without a limit on its address space (ulimit -v).',
    );
  }
}
