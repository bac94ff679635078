/** For each API its client, and the pacer that every request to it waits for. */
import type { ApiConfig } from '../config/config.ts';
import { type ApiName, apiNames } from '../resources/resource.ts';
import { ApiClient, type ClientObserver, type ReadKey } from './client.ts';
import { Pacer } from './pacer.ts';
import type { ForwardProxy } from './proxy.ts';

type ApiConfigs = Readonly<Record<ApiName, ApiConfig>>;

interface Access {
  readonly client: ApiClient;
  readonly pacer: Pacer;
}

export interface ApiPause {
  readonly api: ApiName;
  /** Unix time. */
  readonly untilMs: number;
}

export class ApiAccess {
  readonly #byApi: ReadonlyMap<ApiName, Access>;
  #configs: ApiConfigs;

  /** proxy: undefined for direct connections. */
  constructor(
    configs: ApiConfigs,
    readKey: (api: ApiName, credential: string) => ReturnType<ReadKey>,
    observer: ClientObserver,
    proxy: ForwardProxy | undefined,
  ) {
    this.#configs = configs;
    this.#byApi = new Map(
      apiNames.map((api) => {
        const pacer = new Pacer(configs[api]);
        return [
          api,
          {
            pacer,
            client: new ApiClient(api, configs[api], pacer, (name) => readKey(api, name), observer, proxy),
          },
        ];
      }),
    );
  }

  client(api: ApiName): ApiClient {
    return this.#of(api).client;
  }

  pacer(api: ApiName): Pacer {
    return this.#of(api).pacer;
  }

  /** The APIs that asked for a pause. */
  get pauses(): readonly ApiPause[] {
    return [...this.#byApi].flatMap(([api, { pacer }]) => {
      const { pausedForMs } = pacer;
      // A closed pacer pauses forever.
      const isPaused = pausedForMs > 0 && Number.isFinite(pausedForMs);
      return isPaused ? [{ api, untilMs: Date.now() + pausedForMs }] : [];
    });
  }

  /** Applies new settings; requests under way finish with the old ones. onError: called for an API that keeps the old ones. */
  reconfigure(configs: ApiConfigs, onError: (api: ApiName, error: unknown) => void): void {
    const before = this.#configs;
    this.#configs = configs;
    for (const [api, { client, pacer }] of this.#byApi) {
      if (JSON.stringify(before[api]) === JSON.stringify(configs[api])) continue;
      pacer.setPace(configs[api]);
      client.reconfigure(configs[api]).catch((error: unknown) => onError(api, error));
    }
  }

  /** Starts no more requests. */
  closePacers(): void {
    for (const { pacer } of this.#byApi.values()) pacer.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byApi.values()].map(({ client }) => client.close()));
  }

  #of(api: ApiName): Access {
    const access = this.#byApi.get(api);
    if (!access) throw new Error(`there is no API ${api}`);
    return access;
  }
}
