/** The web server: listens on every address, answers by its routes under the web configuration, and stops in order. */
import { createBasicAuth } from './basic-auth.ts';
import { Connections } from './connections.ts';
import { defaultWebLimits, type WebLimits } from './limits.ts';
import { createListener, type ListenAddress, type Listener, listen, urlOf } from './listener.ts';
import { createPasswordCheck } from './password-check.ts';
import { createRefusalLog } from './refusal-log.ts';
import { createRequestListener } from './requests.ts';
import type { Route, WebLog } from './route.ts';
import { openWebConfig, type WebConfigSource } from './web-config-source.ts';

export type { ListenAddress } from './listener.ts';

export interface WebServerOptions {
  readonly addresses: readonly ListenAddress[];
  readonly routes: readonly Route[];
  /** TLS, users, headers and rate limit, in the format of Prometheus' exporter-toolkit. */
  readonly webConfigFile?: string | undefined;
  readonly log: WebLog;
  readonly limits?: Partial<WebLimits>;
}

export interface WebServer {
  /**
   * Resolves with the URLs it listens on. Rejects, with nothing left open, where it cannot listen on one of the addresses
   * or the web configuration is not valid (`WebConfigError`).
   */
  start(): Promise<readonly string[]>;
  /** Accepts no more connections, gives responses `graceMs` to finish, then cuts the rest. */
  stop(graceMs: number): Promise<void>;
  /** Reads the web configuration again. Rejects with a `WebConfigError`, keeping the previous one, where it is not valid. */
  reload(): Promise<void>;
}

export function createWebServer(options: WebServerOptions): WebServer {
  const { addresses, routes, log } = options;
  const limits = { ...defaultWebLimits, ...options.limits };
  const connections = new Connections(limits);
  const passwords = createPasswordCheck();
  const logRefusal = createRefusalLog(log);
  let listeners: readonly Listener[] = [];
  let source: WebConfigSource | undefined;

  async function stop(graceMs: number): Promise<void> {
    const closed = listeners.map((listener) => new Promise((resolve) => listener.close(resolve)));
    connections.closeAll();
    const cut = setTimeout(() => connections.destroyAll(), graceMs);
    await Promise.all(closed);
    clearTimeout(cut);
    passwords.stop();
  }

  return {
    async start() {
      source = await openWebConfig(options.webConfigFile, log);
      const shared = { config: source.current, connections, logRefusal };
      const auth = createBasicAuth(passwords);
      const { maxBodyBytes } = limits;
      const answer = createRequestListener({ ...shared, auth, routes, maxBodyBytes, log });
      listeners = addresses.map(() => createListener({ ...shared, limits }).on('request', answer));
      const results = await Promise.allSettled(
        listeners.map((listener, index) => listen(listener, addresses[index] ?? { port: 0 })),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) {
        await stop(0);
        throw failed.reason;
      }
      for (const listener of listeners) {
        // The system could not give what a connection needs, such as one more open file.
        listener.on('error', (error: NodeJS.ErrnoException) =>
          logRefusal(undefined, `accepting: ${error.code}`),
        );
      }
      return listeners.map(urlOf);
    },

    stop,

    async reload() {
      await source?.reload();
    },
  };
}
