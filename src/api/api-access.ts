/** The clients of all APIs. */
import type { ApiConfig } from '../config/config.ts';
import { type ApiName, apiNames } from '../resources/resource.ts';
import { ApiClient, type ClientObserver, type ReadKey } from './client.ts';
import type { Pacer } from './pacer.ts';
import type { ForwardProxy } from './proxy.ts';

type ApiConfigs = Readonly<Record<ApiName, ApiConfig>>;

export class ApiAccess {
  readonly #clients: ReadonlyMap<ApiName, ApiClient>;

  /** proxy: undefined for direct connections. */
  constructor(
    configs: ApiConfigs,
    readKey: ReadKey,
    observer: ClientObserver,
    proxy: ForwardProxy | undefined,
  ) {
    const create = (api: ApiName) => new ApiClient(api, configs[api], readKey, observer, proxy);
    this.#clients = new Map(apiNames.map((api) => [api, create(api)]));
  }

  client(api: ApiName): ApiClient {
    const client = this.#clients.get(api);
    if (!client) throw new Error(`there is no API ${api}`);
    return client;
  }

  pacer(api: ApiName): Pacer {
    return this.client(api).pacer;
  }

  /** The APIs that asked for a pause, and until when (Unix time). */
  get pauses(): readonly { readonly api: ApiName; readonly untilMs: number }[] {
    const pauses = Array.from(this.#clients, ([api, { pacer }]) => ({ api, forMs: pacer.pausedForMs }));
    return pauses
      .filter(({ forMs }) => forMs > 0)
      .map(({ api, forMs }) => ({ api, untilMs: Date.now() + forMs }));
  }

  /** Applies new settings. onError: called for an API that keeps the old ones. */
  reconfigure(configs: ApiConfigs, onError: (api: ApiName, error: unknown) => void): void {
    for (const [api, client] of this.#clients) {
      client.reconfigure(configs[api]).catch((error: unknown) => onError(api, error));
    }
  }

  /** Starts no more requests. */
  closePacers(): void {
    for (const { pacer } of this.#clients.values()) pacer.close();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#clients.values(), (client) => client.close()));
  }
}
