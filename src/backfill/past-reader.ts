/** Reads the past with clients and keys of its own, at half of the pace of each API, because an exporter may run at the same time. */
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { createClients } from '../api/client.ts';
import type { PausedPart } from '../api/pacer.ts';
import type { CreateSender } from '../api/pool.ts';
import type { ForwardProxy } from '../api/proxy.ts';
import type { Config } from '../config/config.ts';
import { type FoundTargets, findTargets, RefusalRule, type Target } from '../polling/past.ts';
import type { Exchange } from '../report/report.ts';
import { counterFamiliesOf } from '../resources/catalogue.ts';
import { isNotInPlan } from '../resources/envelope.ts';
import { queryOfPast } from '../resources/queries.ts';
import {
  type ApiName,
  apiNames,
  isReadAlone,
  type Labels,
  type ReadResource,
  type Resource,
  silent,
} from '../resources/resource.ts';
import type { Range } from '../resources/times.ts';
import type { Credentials } from '../secrets/credentials.ts';
import { Keys } from '../secrets/keys.ts';
import { Redactor } from '../secrets/redactor.ts';
import { timeText } from './ranges.ts';
import { failureOf, getFor, type Reader, readListing, reasonText } from './requests.ts';

export interface PastOptions {
  readonly config: Config;
  readonly credentials: Credentials;
  readonly resources: readonly Resource[];
  readonly proxy?: ForwardProxy | undefined;
  readonly log: Logger;
  /** Learns the keys, so that the log hides them. Default: one of its own. */
  readonly redactor?: Redactor | undefined;
  readonly signal: AbortSignal;
  /** How long a request may take, with its turn, retries and the pauses that the API asks for. Default: half an hour. */
  readonly budgetMs?: number | undefined;
  /** Creates what sends requests to an API. Default: connections. */
  readonly createSender?: CreateSender | undefined;
  /** Receives each request but those of the listings. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

/** An answer, with the time that it was asked for: undefined where it is about no range. */
export type Answered =
  | { readonly reading: unknown; readonly answered: Range | undefined }
  | { readonly failure: string; readonly result: string };

export class PastReader {
  readonly #options: PastOptions;
  readonly #keys: Keys;
  readonly #reader: Reader;
  readonly #refusals = new RefusalRule((spec) => getFor(this.#reader, spec));
  requests = 0;
  #isListing = false;

  constructor(options: PastOptions) {
    const {
      config,
      proxy,
      log,
      redactor = new Redactor(),
      signal,
      budgetMs = 1_800_000,
      createSender,
      onExchange,
    } = options;
    this.#options = options;
    // Every request under way listens to it.
    setMaxListeners(0, signal);
    this.#keys = new Keys({
      redactor,
      onChanged: () => undefined,
      onProblem: (credential, problem) =>
        problem !== undefined && log.warn({ credential }, `${problem}; the last readable key stays in use`),
    });
    const keys = {
      // A key that came with a listing is only for the video API.
      get: (api: ApiName, credential: string) =>
        (api === 'video' ? this.#keys.found.get(credential) : undefined) ?? this.#keys.get(credential),
      check: () => this.#keys.check(),
    };
    const observer = {
      requested: (...[api, code, seconds, path, answer]: Requested) => {
        this.requests++;
        if (!this.#isListing) onExchange?.({ api, path, code, durationMs: seconds * 1000, answer });
        log.debug({ api, path, code }, 'asked the API');
      },
      paused: (api: ApiName, { credential, kind, forMs }: PausedPart) =>
        log.warn(
          { api, ...(kind !== '' && { kind }), ...(credential !== '' && { credential }) },
          `the ${api} API answered 429 to ${pausedText(credential, kind)} until ${timeText(Date.now() + forMs)}`,
        ),
    };
    this.#reader = {
      clients: createClients(halved(config.apis), keys, observer, { proxy, createSender }),
      signal,
      budgetMs,
      describeKey: (credential) => this.#keys.describe(credential),
    };
  }

  /** Reads the keys. */
  async open(): Promise<void> {
    const { credentials } = this.#options;
    this.#keys.use(credentials, await credentials.readAll());
  }

  async close(): Promise<void> {
    await Promise.all(apiNames.map((api) => this.#reader.clients[api].close()));
  }

  /** Finds the targets of some kinds of the configuration. nowMs: Unix time. */
  async discover(isWanted: (kind: string) => boolean, nowMs: number): Promise<FoundTargets> {
    const { config, resources } = this.#options;
    this.#isListing = true;
    const found = await findTargets({
      config: { ...config, sections: config.sections.filter(({ kind }) => isWanted(kind)) },
      resources,
      foundKeys: this.#keys.found,
      list: (spec) => readListing(this.#reader, spec, nowMs),
    });
    this.#isListing = false;
    return found;
  }

  /**
   * @param piece the time that is asked for; undefined where the answer is about no range
   * @param nowMs Unix time
   */
  async read(
    resource: ReadResource,
    target: Target,
    piece: Range | undefined,
    nowMs: number,
  ): Promise<Answered> {
    const { signal } = this.#reader;
    const query = piece && resource.query && queryOfPast(resource.query, piece, nowMs);
    const answered = piece && (query?.requestsFor(piece)[0]?.range ?? piece);
    try {
      const { shown: reading } = await resource.read(getFor(this.#reader, target), target.ids, silent, {
        nowMs,
        past: piece,
      });
      const isCutOff = resource.cutOff !== undefined && (reading as Labels)[resource.cutOff];
      return isCutOff
        ? { failure: 'the API has more of that day than it gives', result: 'cut off' }
        : { reading, answered };
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      if (resource.isEmpty?.(failure) || isNotInPlan(resource, failure))
        return { reading: resource.nothing, answered };
      const { result, message } = failure;
      const isOfId = await this.#refusals.isAboutId(target, failure, nowMs);
      const reason = isOfId
        ? `${message} for its id, although the API accepts the key: correct the id`
        : `${message} for its id, or to the key: check both`;
      return {
        failure: isOfId === false ? reasonText(failure, target.credential, this.#reader) : reason,
        result: isOfId === true ? 'not_found' : result,
      };
    }
  }
}

type Requested = Parameters<Parameters<typeof createClients>[2]['requested']>;

/** Whether a kind counts something by hours or days. */
export function hasHistory(resource: Resource): resource is ReadResource {
  return isReadAlone(resource) && counterFamiliesOf(resource.kind).length > 0;
}

function halved(apis: Config['apis']): Config['apis'] {
  const half = Object.entries(apis).map(([name, api]) => [
    name,
    {
      ...api,
      requestsPerSecond: api.requestsPerSecond / 2,
      maxConcurrency: Math.max(1, Math.floor(api.maxConcurrency / 2)),
    },
  ]);
  return Object.fromEntries(half) as Config['apis'];
}

/** What got 429, and what it gets no more: of a kind with a key, with a key, or at all. */
function pausedText(credential: string, kind: string): string {
  if (credential === '') return 'several keys: it gets no requests';
  if (kind === '') return `the key of ${credential}: it gets no requests with it`;
  return `requests for the kind ${kind} with the key of ${credential}: it gets none of these`;
}
