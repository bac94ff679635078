/**
 * The bunny.net read API on loopback: an HTTP server that speaks the five operations of the reference with answers that
 * depend on the seed, the entity and the time alone. It shares nothing with the exporter, not even a type.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Answer,
  applicationNotFound,
  applicationSummary,
  applicationUnauthorized,
  guardianMetrics,
  malformedId,
  rateLimitMetrics,
  rejected,
  shieldUnauthorized,
  videoForbidden,
  videoNotFound,
  videoStorage,
  videoUnauthorized,
  zonePage,
} from './answers.ts';
import {
  type Application,
  createKeys,
  createWorld,
  type Endpoint,
  guardianPlan,
  type Keys,
  type RateLimitZone,
  type Scale,
  type Shape,
  scales,
  type Video,
  type Zone,
} from './dataset.ts';
import { faultTypes, type Listing, type Situation, tlsAlert } from './fault-types.ts';
import { createFaults, type Fault, type Strike } from './faults.ts';
import { hash } from './random.ts';
import { type Reply, replyOf, sendReply } from './reply.ts';
import { type KeyKind, type Operation, prefixes, type Question, questionOf } from './request.ts';

export interface SimulatorOptions {
  /** The same seed gives the same world and, at the same time, the same answers. Default 1. */
  readonly seed?: number;
  /** Default small: about 600 series; medium 60,000; full 600,000. */
  readonly scale?: Scale;
  /** Sizes that replace those of the scale, one by one. */
  readonly shape?: Partial<Shape>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Keys that replace the generated ones, one by one. */
  readonly keys?: Partial<Keys>;
  /** Zones on a page at most, whatever `perPage` asks for. Default 1000. */
  readonly maxPageSize?: number;
  /** Keep every request in `requests`, the newest 100,000. Default false; `counters` always count. */
  readonly logRequests?: boolean;
}

/** One request, as the server saw it. */
export interface SeenRequest {
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly atMs: number;
  readonly operation: Operation | 'other';
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly key: KeyKind;
  /** Of the answer; 0 while there is none, and for ever where a fault sends none. */
  readonly status: number;
}

export interface Counter {
  /** Requests that arrived, answered or not. */
  readonly requests: number;
  /** Answers by HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
}

export interface Simulator {
  /** Listens on a free port of 127.0.0.1; after a `stop`, on the same one again. */
  start(): Promise<{ readonly origin: string }>;
  /** Ends every connection, also those that a fault keeps open. From then on the address refuses connections. */
  stop(): Promise<void>;
  /**
   * `http://127.0.0.1:port`; throws before `start`. Asked with `https:` instead, the same port breaks every TLS handshake.
   */
  readonly origin: string;
  /** The base URL of each API; throws before `start`. */
  readonly baseUrls: { readonly application: string; readonly shield: string; readonly video: string };
  readonly keys: Keys;
  readonly applications: readonly Application[];
  readonly zones: readonly Zone[];
  readonly endpoints: readonly Endpoint[];
  readonly rateLimitZones: readonly RateLimitZone[];
  readonly libraryIds: readonly string[];
  readonly videos: readonly Video[];
  readonly counters: Readonly<Record<Operation | 'other', Counter>>;
  readonly requests: readonly SeenRequest[];
  /** From now on another key is the right one: of the account, or of the library with this id. */
  replaceKey(owner: string, key: string): void;
  /**
   * Puts in a fault, which strikes from the next request on; the returned function removes it. Latencies add up; of other
   * faults that strike the same request the newest plays. Throws a RangeError for a fault that can never strike.
   */
  inject(fault: Fault): () => void;
  clearFaults(): void;
  /** Deletes an application, zone, endpoint or video by its id; the returned function brings it back. */
  remove(id: string): () => void;
}

const maxSeenRequests = 100_000;
const defaultPageSize = 10;

export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const seed = options.seed ?? 1;
  const now = options.now ?? Date.now;
  const maxPageSize = options.maxPageSize ?? 1_000;
  const world = createWorld(seed, { ...scales[options.scale ?? 'small'], ...options.shape });
  const generated = createKeys(seed, world.libraryIds);
  const libraryKeys: Record<string, string> = { ...generated.libraries, ...options.keys?.libraries };
  const readOnlyKeys = { ...generated.readOnlyLibraries, ...options.keys?.readOnlyLibraries };
  const keys = {
    account: options.keys?.account ?? generated.account,
    libraries: libraryKeys,
    readOnlyLibraries: readOnlyKeys,
  };

  const applications = new Map(world.applications.map((application) => [application.id, application]));
  const zones = new Map(world.zones.map((zone) => [zone.shieldZoneId, zone]));
  const endpoints = new Map(world.endpoints.map((endpoint) => [guardianId(endpoint), endpoint]));
  const rateLimitZones = new Map(world.rateLimitZones.map((zone) => [zone.shieldZoneId, zone]));
  const videos = new Map(world.videos.map((video) => [videoKey(video.libraryId, video.videoId), video]));
  const removed = new Set<string>();

  const faults = createFaults(seed, now);
  const counters = emptyCounters();
  const requests: Writable<SeenRequest>[] = [];
  let requestCount = 0;
  /** 0 before the first start; kept, so that a second start is at the same address. */
  let port = 0;

  const server = createServer({ keepAlive: true, keepAliveTimeout: 60_000 }, handle);
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(tlsAlert, () => socket.destroy());
    else socket.destroy();
  });

  function handle(request: IncomingMessage, response: ServerResponse): void {
    requestCount += 1;
    const url = request.url ?? '/';
    const queryAt = url.indexOf('?');
    const path = queryAt < 0 ? url : url.slice(0, queryAt);
    const query = queryAt < 0 ? '' : url.slice(queryAt + 1);
    const question = questionOf(path);
    const key = keyKind(request.headers['accesskey'], question);
    const seen = {
      atMs: performance.now(),
      operation: question?.operation ?? ('other' as const),
      method: request.method ?? '',
      path: url,
      key,
      status: 0,
    };
    counters[seen.operation].requests += 1;
    if (options.logRequests) {
      if (requests.length >= maxSeenRequests) requests.splice(0, maxSeenRequests / 2);
      requests.push(seen);
    }
    request.resume();
    response.setHeader('cdn-requestid', requestId());
    const reply = replyOf(answerTo(request.method, question, key, query));
    const strike = question && faults.strike(question, path);
    if (question === undefined || strike === undefined) {
      note(seen, reply.status);
      sendReply(response, reply);
      return;
    }
    const situation = {
      operation: question.operation,
      parameters: strike.fault ?? {},
      sentKey: String(request.headers['accesskey'] ?? ''),
      origin: originOf(),
      ...(question.operation === 'shield_zone' && { listing: listingOf(query) }),
    };
    if (strike.latencyMs === 0) {
      play(strike, situation, reply, response, seen);
      return;
    }
    const timer = setTimeout(() => play(strike, situation, reply, response, seen), strike.latencyMs);
    response.once('close', () => clearTimeout(timer));
  }

  function play(
    { fault }: Strike,
    situation: Situation,
    right: Reply,
    response: ServerResponse,
    seen: Writable<SeenRequest>,
  ): void {
    const how = fault && faultTypes[fault.type].play;
    if (how?.stage === 'wire') {
      if (how.sendsHead) note(seen, right.status);
      how.send(response, right);
      return;
    }
    const reply = how?.stage === 'reply' ? how.change(right, situation) : right;
    note(seen, reply.status);
    sendReply(response, reply);
  }

  /** An answer goes out. */
  function note(seen: Writable<SeenRequest>, status: number): void {
    seen.status = status;
    const { statuses } = counters[seen.operation];
    statuses[status] = (statuses[status] ?? 0) + 1;
  }

  function requestId(): string {
    const part = (figure: number) => hash(seed, requestCount, figure).toString(16).padStart(8, '0');
    return part(1) + part(2) + part(3) + part(4);
  }

  function keyKind(header: string | string[] | undefined, question: Question | undefined): KeyKind {
    if (typeof header !== 'string' || header === '') return 'none';
    if (question?.operation === 'video_storage' && header === libraryKeys[question.ids[0] ?? ''])
      return 'library';
    if (header === keys.account) return 'account';
    if (question?.operation === 'video_storage' && header === readOnlyKeys[question.ids[0] ?? '']) {
      return 'read-only';
    }
    return Object.values(libraryKeys).includes(header) ? 'other-library' : 'unknown';
  }

  function answerTo(
    method: string | undefined,
    question: Question | undefined,
    key: KeyKind,
    query: string,
  ): Answer {
    if (question === undefined) return { status: 404 };
    if (method !== 'GET') return { status: 405 };
    const [first = '', second = ''] = question.ids;
    const nowMs = now();
    switch (question.operation) {
      case 'application': {
        if (key !== 'account') return applicationUnauthorized;
        const application = removed.has(first) ? undefined : applications.get(first);
        return application ? applicationSummary(application, nowMs) : applicationNotFound(first);
      }
      case 'shield_zone': {
        if (key !== 'account') return shieldUnauthorized;
        const listing = listingOf(query);
        return listing.answer(listing.page);
      }
      case 'api_guardian': {
        if (key !== 'account') return shieldUnauthorized;
        if (!isInteger(first)) return malformedId('shieldZoneId');
        const zone = existingZone(first);
        if (!zone) return rejected('unknownZone', rejectionStatus(first));
        if (zone.planType < guardianPlan) return rejected('notOnPlan', rejectionStatus(first));
        const endpoint = removed.has(second) ? undefined : endpoints.get(`${first}/${second}`);
        return endpoint
          ? guardianMetrics(endpoint, nowMs)
          : rejected('unknownEndpoint', rejectionStatus(second));
      }
      case 'rate_limit': {
        if (key !== 'account') return shieldUnauthorized;
        if (!isInteger(first)) return malformedId('shieldZoneId');
        if (!existingZone(first)) return rejected('unknownZone', rejectionStatus(first));
        const zone = rateLimitZones.get(first);
        return zone ? rateLimitMetrics(zone, nowMs) : rejected('noRateLimits', rejectionStatus(first));
      }
      case 'video_storage': {
        if (key === 'read-only') return videoForbidden;
        if (key !== 'library') return videoUnauthorized;
        const video = removed.has(second) ? undefined : videos.get(videoKey(first, second));
        return video ? videoStorage(video, nowMs) : videoNotFound;
      }
    }
  }

  function existingZone(id: string): Zone | undefined {
    return removed.has(id) ? undefined : zones.get(id);
  }

  function listingOf(query: string): Listing {
    const asked = new URLSearchParams(query);
    const pageSize = Math.min(maxPageSize, positive(asked.get('perPage')) ?? defaultPageSize);
    const listed =
      removed.size === 0 ? world.zones : world.zones.filter((zone) => !removed.has(zone.shieldZoneId));
    return {
      page: positive(asked.get('page')) ?? 1,
      totalPages: Math.ceil(listed.length / pageSize),
      answer: (page, share = 1) => {
        const some = listed.slice(0, Math.ceil(listed.length * share));
        return zonePage(some, page, pageSize, now());
      },
    };
  }

  function originOf(): string {
    if (port === 0) throw new Error('The simulator was never started.');
    return `http://127.0.0.1:${port}`;
  }

  return {
    async start() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => {
          server.removeListener('error', reject);
          resolve();
        });
      });
      port = (server.address() as AddressInfo).port;
      return { origin: originOf() };
    },
    async stop() {
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
    get origin() {
      return originOf();
    },
    get baseUrls() {
      const origin = originOf();
      return {
        application: origin + prefixes.application,
        shield: origin + prefixes.shield,
        video: origin + prefixes.video,
      };
    },
    keys,
    applications: world.applications,
    zones: world.zones,
    endpoints: world.endpoints,
    rateLimitZones: world.rateLimitZones,
    libraryIds: world.libraryIds,
    videos: world.videos,
    counters,
    requests,
    inject(fault) {
      return faults.inject(fault);
    },
    clearFaults() {
      faults.clear();
    },
    replaceKey(owner, key) {
      if (owner === 'account') keys.account = key;
      else libraryKeys[owner] = key;
    },
    remove(id) {
      removed.add(id);
      return () => removed.delete(id);
    },
  };
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

function emptyCounters(): Record<
  Operation | 'other',
  { requests: number; statuses: Record<string, number> }
> {
  const empty = () => ({ requests: 0, statuses: {} });
  return {
    application: empty(),
    shield_zone: empty(),
    api_guardian: empty(),
    rate_limit: empty(),
    video_storage: empty(),
    other: empty(),
  };
}

function guardianId({ shieldZoneId, endpointId }: Endpoint): string {
  return `${shieldZoneId}/${endpointId}`;
}

function videoKey(libraryId: string, videoId: string): string {
  return `${libraryId}/${videoId.toLowerCase()}`;
}

function isInteger(id: string): boolean {
  return /^\d{1,19}$/.test(id);
}

/** Rejections arrive with either status: which one depends on what was asked for. */
function rejectionStatus(id: string): 200 | 202 {
  return Number(id.at(-1) ?? 0) % 2 === 0 ? 202 : 200;
}

function positive(written: string | null): number | undefined {
  const value = Number(written ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
