/**
 * The whole exporter against the test's own API. A test says what the API answers and what the configuration is, changes both
 * as it goes, and looks at the page, the status and the log. It knows nothing about the parts inside.
 */
import { Agent, createServer, get as httpGet, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import pino from 'pino';
import { expect, onTestFinished, vi } from 'vitest';
import { type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { createExporter, type Exporter, type ExporterOptions } from '../../src/exporter.ts';
import { WebServer } from '../../src/http/server.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { Credentials } from '../../src/secrets/credentials.ts';
import { limitMs, runs } from '../runs.ts';
import { answerInProcess, createSender } from './api-in-process.ts';
import { type Clock, currentClock, stopTime } from './clock.ts';
import { currentRun } from './scenario.ts';

export interface Request {
  readonly path: string;
  readonly query: URLSearchParams;
  /** When it was sent, as `performance.now()` counts since the start of the whole. */
  readonly atMs: number;
  /** From the header AccessKey. */
  readonly key: string | undefined;
}

/** What a route answers: JSON with status 200, or a function that writes the answer (`reply`), which may be slow. */
export type Route = (request: Request) => unknown;

/** An answer that is not JSON with status 200. */
export const reply =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, headers).end(body);
  };

export interface WholeOptions {
  /**
   * By path, as in the API reference (`/pullzone`, `/mc/apps`); `*` is any other path. A path without a route answers 404 with an
   * error key.
   */
  readonly routes: Record<string, Route>;
  /**
   * True: the API listens on loopback, and requests take real time. Default: it is in this process, without sockets, and time
   * stands still but for `pass` and `poll`; hours take as long as what is done in them.
   */
  readonly overSockets?: boolean;
  /** The address of the API in this process, for an exporter that is started anew. */
  readonly apiUrl?: string;
  /** How long the API in this process takes for an answer. Default 0. */
  readonly latencyMs?: number;
  /** The configuration as in the file: its sections, and `credentials` if it needs more than `account`. */
  readonly document: NonNullable<LoadOptions['document']>;
  /** Default: the key of `account` in `KEY`. */
  readonly env?: Record<string, string>;
  /** Settings of every API beside its address. */
  readonly api?: Readonly<Record<string, unknown>>;
  readonly proxy?: ExporterOptions['proxy'];
  readonly web?: Pick<ExporterOptions, 'probeAddress' | 'webConfigFile'>;
  readonly pollsOnce?: ExporterOptions['pollsOnce'];
  readonly maxKeyReadMs?: number;
  readonly onExchange?: ExporterOptions['onExchange'];
  /** Default: info. */
  readonly logLevel?: 'debug';
  /** Called with every line of the log, as text. */
  readonly onLine?: (line: string) => void;
  /** Unix time of the exporter's clocks, which stand still until the test moves them. Default: a noon in August 2026. */
  readonly nowMs?: number;
}

const sweepIntervalMs = 10_000;

/** What people and Prometheus read. */
const pages: readonly (readonly [path: string, coding?: string])[] = [
  ['/metrics', 'gzip'],
  ['/'],
  ['/-/ready?strict'],
  ['/metrics'],
  ['/api/v1/targets'],
];

export type Whole = Awaited<ReturnType<typeof startWhole>>;

/** Waits until this no longer throws: 15 seconds of the test's own clock, or as long as a busy machine needs. */
export async function eventually(check: () => unknown): Promise<unknown> {
  const clock = currentClock();
  if (!clock) return await vi.waitFor(check, { timeout: limitMs, interval: 20 });
  for (let passedMs = 0; ; passedMs += 20) {
    try {
      return await check();
    } catch (error) {
      if (passedMs > 15_000) throw error;
      await clock.pass(20);
    }
  }
}

interface Api {
  readonly url: string;
  readonly close: () => void;
}

/** Answers the request of a key for a path with its query. */
type Answer = (url: string, key: string | undefined, response: ServerResponse) => void;

async function listen(answer: Answer): Promise<Api> {
  const server = createServer(({ url = '/', headers }, response) => {
    response.setHeader('date', new Date(Date.now()).toUTCString());
    answer(url, headers['accesskey']?.toString(), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The same in each run: when something is polled follows from it. */
function nextUrl(): string {
  return `https://api-${currentRun().wholes.length}.test`;
}

function answerHere(answer: Answer, url: string): Api {
  const close = answerInProcess(url, (request, response) =>
    answer(request.url, request.headers['accesskey'], response as unknown as ServerResponse),
  );
  return { url, close };
}

/** A page of the exporter. */
export interface OwnPage {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Decoded, if it was compressed. */
  readonly body: string;
}

function getPage(url: URL, agent: Agent, headers: Readonly<Record<string, string>>): Promise<OwnPage> {
  return new Promise((resolve, reject) => {
    httpGet(url, { agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const isCompressed = response.headers['content-encoding'] === 'gzip';
        const body = (isCompressed ? gunzipSync(bytes) : bytes).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    }).on('error', reject);
  });
}

/** Has the exporter serve its pages, whether or not it has begun to poll. Resolves with its URL. */
async function serve(exporter: Exporter): Promise<string> {
  const start = vi.spyOn(WebServer.prototype, 'start');
  start.mockRejectedValueOnce(new Error('only the server is started'));
  await exporter.start().catch(() => undefined);
  const [server] = start.mock.contexts as readonly WebServer[];
  start.mockRestore();
  const [url = ''] = (await server?.start()) ?? [];
  return url;
}

/** The same random numbers in each run. Those that a read takes, for the quantiles of its page, are no part of the sequence. */
function repeatRandom(isReading: () => boolean): void {
  let state = 1;
  const random = vi.spyOn(Math, 'random').mockImplementation(() => {
    if (isReading()) return 0.5;
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  });
  onTestFinished(() => random.mockRestore());
}

/** Starts both, and stops them after the test. Nothing is polled yet. */
export async function startWhole(options: WholeOptions) {
  const { routes, env = { KEY: 'the-key-of-the-account' }, latencyMs = 0 } = options;
  const noonMs = options.nowMs ?? Date.parse('2026-08-15T12:00:00Z');
  const clock: Clock | undefined = options.overSockets ? undefined : stopTime(noonMs);
  // What happens every ten seconds happens when the test says so.
  if (!vi.isFakeTimers()) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
  }
  const begunMs = performance.now();
  const requests: Request[] = [];
  let reading = 0;
  repeatRandom(() => reading > 0);
  const { isRead, wholes } = currentRun();
  let answered = 0;
  let readAt = '';
  let reads = 0;
  /** Reads what people and Prometheus read, if something may have changed: by night all of it, by day one after the other. */
  const readPages = async () => {
    const at = `${answered} ${clock ? performance.now() : requests.length}`;
    if (at === readAt) return;
    readAt = at;
    const from = reads++ % pages.length;
    for (const [path, coding] of runs(pages.slice(from, from + 1), pages))
      await whole.get(path, coding === undefined ? {} : { 'accept-encoding': coding });
  };
  let lastTurn: Promise<void> = Promise.resolve();
  /** One after another: lets the exporter finish what it is at, and reads its pages, if this run is to be read. */
  const nextTurn = async () => {
    const rest = async () => {
      await clock?.rest();
      if (isRead) await readPages();
    };
    lastTurn = lastTurn.then(rest);
    await lastTurn;
  };
  const unanswered: string[] = [];
  // To answer nothing, a route returns a function that does nothing.
  onTestFinished(() => expect(unanswered, 'routes that returned nothing').toEqual([]));
  const missing = reply(404, '{"ErrorKey":"not_found","Message":"the test has no route for it"}');
  const answer = async (request: Request, response: ServerResponse) => {
    requests.push(request);
    await nextTurn();
    const route = routes[request.path] ?? routes['*'] ?? (() => missing);
    const given = await route(request);
    if (given === undefined) unanswered.push(request.path);
    if (latencyMs > 0) await sleep(latencyMs);
    await nextTurn();
    const write = typeof given === 'function' ? (given as typeof missing) : reply(200, JSON.stringify(given));
    answered++;
    write(response);
  };
  const take: Answer = (asked, key, response) => {
    const { pathname: path, searchParams: query } = new URL(asked, 'http://api');
    const request = { path, query, key, atMs: performance.now() - begunMs };
    answer(request, response).catch((error: Error) => response.destroy(error));
  };
  const { url, close } = await (clock ? answerHere(take, options.apiUrl ?? nextUrl()) : listen(take));

  const api = {
    timeout: clock ? '10s' : '60s',
    max_concurrency: 8,
    requests_per_second: 500,
    max_retries: 0,
    ...options.api,
  };
  const lines: string[] = [];
  const toLog = (line: string) => {
    lines.push(line);
    options.onLine?.(line);
  };
  /** Without a clock of the test. */
  let nowMs = noonMs;
  if (!clock) {
    const now = vi.spyOn(Date, 'now').mockImplementation(() => nowMs);
    onTestFinished(() => now.mockRestore());
  }
  /** How far the clock that goes on while the machine sleeps is ahead of `performance.now()`; without a clock of the test, all of it. */
  let sleptMs = 0;
  let served: Promise<string> | undefined;
  let isStopped = false;
  const agent = new Agent({ keepAlive: true });
  const ofApiInProcess = () => {
    if (!clock) throw new Error('time passes only with an API in this process');
    return clock;
  };
  const whole = {
    /** The address of the API, for a configuration with its own `apis`. */
    apiUrl: url,
    /** Whether everything happens in the same order in each run. */
    isInOrder: clock !== undefined,
    /** What the API answers. A route set here is used from the next request on. */
    routes,
    /** Every request to the API, in order. */
    requests,
    /** The configuration and the environment for the next `reload`. */
    document: options.document,
    /** Settings of every API, for the next `reload`. */
    api,
    env,
    exporter: undefined as unknown as Exporter,
    /** Every line that was logged. */
    get log() {
      return lines.map(
        (line) => JSON.parse(line) as Readonly<Record<string, unknown>> & { readonly msg: string },
      );
    },
    /** The lines whose message contains these words. */
    said: (words: string) => whole.log.filter(({ msg }) => msg.includes(words)),
    /** Since the start, as `atMs` of the requests. */
    get passedMs() {
      return performance.now() - begunMs;
    },
    /** Lets time pass: everything that is due happens. Only with an API in this process. */
    async pass(ms: number): Promise<void> {
      await ofApiInProcess().pass(ms);
    },
    /** Lets time pass for the exporter, but not for its timers, as while the machine sleeps. */
    advance(ms: number) {
      whole.setClock(ms);
      sleptMs += ms;
    },
    /** Does what the exporter does every ten seconds: values become stale, and the log tells what is wrong. */
    async sweep(): Promise<void> {
      const inMs = clock ? sweepIntervalMs - (whole.passedMs % sweepIntervalMs) : sweepIntervalMs;
      // For the exporter, no time passes.
      if (clock) whole.advance(-inMs);
      vi.advanceTimersByTime(inMs);
      // The log is written in the next turn.
      await nextTurn();
      await turn();
    },
    /** Moves the exporter's wall clock ahead or back, while no time passes. */
    setClock(laterMs: number) {
      if (clock) clock.setDate(laterMs);
      else nowMs += laterMs;
    },
    /** Polls everything once, whatever its interval, including what is found by it. Resolves with whether all of it succeeded. */
    async poll(): Promise<boolean> {
      const { exporter } = whole;
      const isPending = ({ state }: { readonly state: string }) => state === 'pending';
      const polled = async () => {
        const isGood = await exporter.pollOnce();
        while (exporter.listings().some(isPending) || exporter.targets().some(isPending)) await sleep(5);
        return isGood;
      };
      return await (clock ? clock.passUntil(polled()) : polled());
    },
    /** What one of the exporter's own pages answers; `/metrics?kind=application`. */
    async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<OwnPage> {
      if (isStopped) throw new Error('the exporter has stopped');
      served ??= serve(whole.exporter);
      reading++;
      const answered = served.then((base) => getPage(new URL(path, base), agent, headers));
      return await (clock ? clock.hold(answered) : answered).finally(() => reading--);
    },
    reload: () => whole.exporter.reload(),
    /** The kind and the state of each target, sorted. */
    states: () =>
      whole.exporter
        .targets()
        .map(({ target, state }) => `${target.kind} ${state}`)
        .toSorted(),
    page: () => whole.exporter.page(),
    /** The series of a family by their labels, written as on the page: `{a="1",b="2"}`. */
    async series(name: string) {
      const isOfAccount = /^bunnynet_(?!exporter_)/.test(name);
      const page = await whole.exporter.page({ withOwn: !isOfAccount });
      const rows = page.matchAll(new RegExp(`^${name}(|\\{.*\\}) (.*)$`, 'gm'));
      return Object.fromEntries([...rows].map(([, labels = '', value]) => [labels, Number(value)]));
    },
    /** The value of the only series of a family that has these labels; undefined if there is none. */
    async value(name: string, labels: Readonly<Record<string, string>> = {}) {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const rows = Object.entries(await whole.series(name));
      const found = rows.filter(([text]) =>
        wanted.every((label) => text.includes(`{${label}`) || text.includes(`,${label}`)),
      );
      if (found.length > 1) throw new Error(`${found.length} series of ${name} have ${wanted.join()}`);
      return found[0]?.[1];
    },
    /** Stops both, as the end of the test does. */
    async stop() {
      isStopped = true;
      agent.destroy();
      await whole.exporter.stop();
      close();
    },
  };
  whole.exporter = await createExporter({
    async load() {
      const bases = {
        application: `${url}/mc`,
        shield: url,
        core: url,
        video: url,
        origin_errors: `${url}/origin-errors`,
      };
      const { config } = await loadConfig({
        document: {
          credentials: { account: { env: 'KEY' } },
          apis: Object.fromEntries(
            Object.entries(bases).map(([name, base]) => [name, { ...whole.api, base_url: base }]),
          ),
          ...whole.document,
        },
        env: whole.env,
        resources,
      });
      return {
        config,
        credentials: new Credentials(config.credentials, whole.env, {
          maxReadMs: options.maxKeyReadMs,
        }),
      };
    },
    addresses: [{ host: '127.0.0.1', port: 0 }],
    telemetryPath: '/metrics',
    ...options.web,
    enableLifecycle: true,
    log: pino({ base: null, timestamp: false, level: options.logLevel ?? 'info' }, { write: toLog }),
    now: () => (clock ? Date.now() : nowMs),
    onExchange: options.onExchange,
    createSender: clock && createSender,
    proxy: options.proxy,
    pollsOnce: options.pollsOnce,
    // No time passes while the state is written, which takes real time.
    state: { file: undefined, during: clock && ((write) => clock.hold(write)) },
    uptimeMs: () => (clock ? performance.now() : 0) + sleptMs,
  });
  // A write of the state takes as long as the disk does.
  clock?.holdFor(() => whole.exporter.stateWritten());
  const start = whole.exporter.start.bind(whole.exporter);
  whole.exporter.start = async () => {
    const urls = await start();
    const [url = ''] = urls;
    served ??= Promise.resolve(url);
    return urls;
  };
  onTestFinished(() => whole.stop());
  if (isRead) await whole.get('/-/healthy');
  wholes.push(whole);
  return whole;
}
