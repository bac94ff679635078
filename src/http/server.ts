/** The web server: listens on every address, answers by its routes under the web configuration, and stops in order. */
import { createBasicAuth } from './basic-auth.ts';
import { Connections } from './connections.ts';
import { defaultWebLimits, type WebLimits } from './limits.ts';
import { createListener, type ListenAddress, type Listener, listen, urlOf } from './listener.ts';
import { createPasswordCheck } from './password-check.ts';
import { createRefusalLog } from './refusal-log.ts';
import { createRequestListener } from './requests.ts';
import type { Route, WebLog } from './route.ts';
import { createRouter } from './router.ts';
import type { WebConfig } from './web-config.ts';
import type { WebConfigSource } from './web-config-source.ts';

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
  /** Accepts no more connections, lets responses under way end for `graceMs`, then cuts the rest. */
  stop(graceMs: number): Promise<void>;
  /** Reads the web configuration again. Rejects with a `WebConfigError`, keeping the previous one, where it is not valid. */
  reload(): Promise<void>;
}

const nothingConfigured: WebConfig = {
  tls: undefined,
  headers: new Map(),
  users: new Map(),
  rateLimit: undefined,
  keyFile: undefined,
  files: [],
};

/** Plain HTTP for everybody. */
const noWebConfig: WebConfigSource = {
  current: () => nothingConfigured,
  tls: undefined,
  reload: () => Promise.resolve(),
};

/** Its code, YAML and TLS are loaded where a file is given alone. */
async function openWebConfig(file: string | undefined, log: WebLog): Promise<WebConfigSource> {
  return file === undefined ? noWebConfig : (await import('./web-config-source.ts')).openWebConfig(file, log);
}

export function createWebServer({
  addresses,
  routes,
  webConfigFile,
  log,
  ...options
}: WebServerOptions): WebServer {
  const limits = { ...defaultWebLimits, ...options.limits };
  const connections = new Connections(limits);
  const passwords = createPasswordCheck();
  const logRefusal = createRefusalLog(log);
  let listeners: readonly Listener[] = [];
  let source: WebConfigSource | undefined;

  function openListeners(config: WebConfigSource): readonly Listener[] {
    const answer = createRequestListener({
      config: () => config.current(),
      connections,
      auth: createBasicAuth(passwords),
      router: createRouter(routes, log),
      limits,
      log,
      logRefusal,
    });
    return addresses.map(() => {
      const listener = createListener({ tls: config.tls, connections, limits, logRefusal });
      listener.on('request', answer);
      listener.on('checkExpectation', answer);
      return listener;
    });
  }

  async function stop(graceMs: number): Promise<void> {
    const closed = listeners.map(
      (listener) => new Promise<void>((resolve) => void listener.close(() => resolve())),
    );
    connections.closeAll();
    const cut = setTimeout(() => connections.destroyAll(), graceMs);
    await Promise.all(closed);
    clearTimeout(cut);
    passwords.stop();
  }

  return {
    async start() {
      source = await openWebConfig(webConfigFile, log);
      listeners = openListeners(source);
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
        listener.on('error', ({ code }: NodeJS.ErrnoException) =>
          logRefusal(undefined, `accepting: ${code}`),
        );
      }
      const scheme = source.tls ? 'https' : 'http';
      return listeners.map((listener) => urlOf(listener, scheme));
    },

    stop,

    async reload() {
      await source?.reload();
    },
  };
}
