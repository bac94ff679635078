/**
 * Every way in which the simulated API can fail, as a closed list: what it does, to which operations it can happen and how
 * it is played. It knows replies and sockets; when a fault strikes is decided beside it.
 */
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  type Answer,
  applicationUnauthorized,
  rejected,
  shieldUnauthorized,
  videoNotFound,
  videoUnauthorized,
} from './answers.ts';
import {
  capitalised,
  doubled,
  type Edit,
  editReading,
  emptied,
  extended,
  huge,
  misshapen,
  mistyped,
  mixedDays,
  negative,
  nulled,
  repeated,
  stringly,
  timeless,
  unrecognized,
} from './mutations.ts';
import { bytesOf, jsonReply, type Reply, replyOf, textReply } from './reply.ts';
import { type Operation, operations } from './request.ts';

/** What a fault may be told beyond its type; each type lists those it heeds. */
export interface FaultParameters {
  /** Of `latency`. Default 1000. */
  readonly latencyMs?: number;
  /** Of the statuses with Retry-After, whole. Default 2. */
  readonly retryAfterSeconds?: number;
  /** Of `redirect`. Default: the simulator itself under another host name, at `/elsewhere`. */
  readonly location?: string;
  /** Of `redirect`. Default 302. */
  readonly redirectStatus?: 301 | 302 | 303 | 307 | 308;
  /** Of `page-fails`: the first page that fails. Default 2. */
  readonly page?: number;
  /** Of `gzip-bomb`: its size when decoded. Default 64 MiB. */
  readonly decodedBytes?: number;
  /** Of `deep-nesting`: lists in lists. Default 100,000. */
  readonly depth?: number;
}

/** The request that a fault strikes, and what it needs to play. */
export interface Situation {
  readonly operation: Operation;
  readonly parameters: FaultParameters;
  /** The key that came with the request, as it came. */
  readonly sentKey: string;
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** The page asked for, where the operation is the listing. */
  readonly listing?: Listing;
}

export interface Listing {
  readonly page: number;
  readonly totalPages: number;
  /** The answer for another page, of all zones or of the first share of them. */
  answer(page: number, share?: number): Answer;
}

type Play =
  /** Waits, then goes on as if nothing was. */
  | { readonly stage: 'delay' }
  /** Puts another reply in the place of the right one. */
  | { readonly stage: 'reply'; change(reply: Reply, situation: Situation): Reply }
  /** Sends the right reply wrongly. */
  | {
      readonly stage: 'wire';
      /** False where not even a status line is sent. */
      readonly sendsHead: boolean;
      send(response: ServerResponse, reply: Reply): void;
    };

interface FaultDeclaration {
  /** One line, for people. */
  readonly description: string;
  /** Operations to which it can happen. */
  readonly appliesTo: readonly Operation[];
  /** The parameters that it heeds. */
  readonly parameters: readonly (keyof FaultParameters)[];
  readonly play: Play;
}

const shield = ['shield_zone', 'api_guardian', 'rate_limit'] as const satisfies readonly Operation[];
const envelopes = [...shield, 'video_storage'] as const satisfies readonly Operation[];
const listing = ['shield_zone'] as const satisfies readonly Operation[];

interface Scope {
  readonly appliesTo?: readonly Operation[];
  readonly parameters?: readonly (keyof FaultParameters)[];
}

function declared(description: string, play: Play, scope: Scope): FaultDeclaration {
  return {
    description,
    appliesTo: scope.appliesTo ?? operations,
    parameters: scope.parameters ?? [],
    play,
  };
}

/** Answers with this in place of whatever the answer was. */
function instead(
  description: string,
  reply: (situation: Situation) => Reply,
  scope: Scope = {},
): FaultDeclaration {
  return declared(description, { stage: 'reply', change: (_reply, situation) => reply(situation) }, scope);
}

/** Changes a good answer; what the API refuses, it refuses as before. */
function spoilt(
  description: string,
  change: (reply: Reply, situation: Situation) => Reply,
  scope: Scope = {},
): FaultDeclaration {
  return declared(
    description,
    {
      stage: 'reply',
      change: (reply, situation) => (reply.status === 200 ? change(reply, situation) : reply),
    },
    scope,
  );
}

/** Changes the data in a good answer. */
function edited(description: string, edit: Edit, appliesTo?: readonly Operation[]): FaultDeclaration {
  return spoilt(
    description,
    (reply, { operation }) => ({ ...reply, json: editReading(operation, reply.json, edit) }),
    appliesTo ? { appliesTo } : {},
  );
}

/** Changes the text of a good answer. */
function rewritten(
  description: string,
  rewrite: (text: string, situation: Situation) => string,
  scope?: Scope,
) {
  return spoilt(
    description,
    (reply, situation) => ({
      status: reply.status,
      headers: reply.headers,
      bytes: Buffer.from(rewrite(bytesOf(reply).toString('utf8'), situation)),
    }),
    scope,
  );
}

function onWire(
  description: string,
  sendsHead: boolean,
  send: (response: ServerResponse, reply: Reply) => void,
): FaultDeclaration {
  return declared(description, { stage: 'wire', sendsHead, send }, {});
}

/** An error of the operation's own form: problem details, or an object with `statusCode` (reference 2.2, 4.6). */
function errorReply(operation: Operation, status: number, title: string): Reply {
  if (operation === 'application') {
    return jsonReply(status, { title, status, detail: null, instance: null, errors: null });
  }
  if (operation === 'video_storage') {
    return jsonReply(status, { success: false, message: title, statusCode: status });
  }
  const error = { statusCode: status, success: false, message: title, errorKey: null };
  return jsonReply(status, { statusCode: status, error, data: null });
}

function failing(status: number, title: string): FaultDeclaration {
  return instead(`HTTP ${status} with an error object`, ({ operation }) =>
    errorReply(operation, status, title),
  );
}

function withRetryAfter(reply: Reply, value: string): Reply {
  return { ...reply, headers: { ...reply.headers, 'retry-after': value } };
}

function retrySeconds({ parameters }: Situation): number {
  return parameters.retryAfterSeconds ?? 2;
}

function rejectedReply(operation: Operation, status: 200 | 202, errorKey: string): Reply {
  const message = `Request rejected: ${errorKey}`;
  if (operation === 'video_storage') {
    return jsonReply(status, { success: false, message, statusCode: 500, data: null });
  }
  return jsonReply(status, { error: { statusCode: 500, success: false, message, errorKey }, data: null });
}

const page502 =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';
const page200 =
  '<!DOCTYPE html><html><head><title>Just a moment</title></head><body>Checking your browser.</body></html>';

/** A field of each operation that is sent twice by `duplicate-keys`. */
const doubledFields = {
  application: 'averageLatency',
  shield_zone: 'planType',
  api_guardian: 'totalBlockedRequests',
  rate_limit: 'totalBreaches',
  video_storage: 'originals',
} as const satisfies Record<Operation, string>;

const catalogue = {
  latency: declared('The answer is right and late', { stage: 'delay' }, { parameters: ['latencyMs'] }),
  hang: onWire('The request is taken and never answered', false, () => {}),
  'hang-before-body': onWire('The headers come, the body never does', true, (response, reply) => {
    writeHead(response, reply).flushHeaders();
  }),
  'hang-in-body': onWire('Half of the body comes, the rest never does', true, (response, reply) => {
    writeHead(response, reply).write(firstHalf(reply));
  }),
  trickle: onWire('The body comes a byte every 50 ms', true, (response, reply) => {
    const body = bytesOf(reply);
    writeHead(response, reply).flushHeaders();
    let sent = 0;
    const timer = setInterval(() => {
      response.write(body.subarray(sent, sent + 1));
      sent += 1;
      if (sent < body.byteLength) return;
      clearInterval(timer);
      response.end();
    }, 50);
    response.once('close', () => clearInterval(timer));
  }),
  reset: onWire('The connection is reset before an answer', false, (response) => {
    response.socket?.resetAndDestroy();
  }),
  'early-close': onWire('The connection ends in the middle of the body', true, (response, reply) => {
    writeHead(response, reply).write(firstHalf(reply), () => response.socket?.destroy());
  }),
  'endless-body': onWire('The body goes on until the client leaves', true, (response, reply) => {
    response.writeHead(reply.status, { ...reply.headers, 'transfer-encoding': 'chunked' });
    response.write('{"padding":"');
    const chunk = Buffer.alloc(65_536, 'x');
    const pump = () => {
      if (response.destroyed || response.closed) return;
      if (response.write(chunk)) setImmediate(pump);
      else response.once('drain', () => setImmediate(pump));
    };
    pump();
  }),
  'tls-error': onWire(
    'A fatal TLS alert comes in place of an answer, as it always does to a client that speaks TLS to this port',
    false,
    ({ socket }) => socket?.end(tlsAlert, () => socket.destroy()),
  ),

  'status-400': failing(400, 'Bad Request'),
  'status-401': instead('HTTP 401, as for a missing or wrong key', ({ operation }) => {
    if (operation === 'application') return replyOf(applicationUnauthorized);
    return replyOf(operation === 'video_storage' ? videoUnauthorized : shieldUnauthorized);
  }),
  'status-403': instead('HTTP 403 without a body, as for a key without the right', () => bare(403)),
  'status-404': instead('HTTP 404 in the form of the operation', ({ operation }) =>
    operation === 'video_storage' ? replyOf(videoNotFound) : errorReply(operation, 404, 'Not Found'),
  ),
  'status-408': instead('HTTP 408 without a body', () => bare(408)),
  'status-429': instead('HTTP 429 without a body and without Retry-After', () => bare(429)),
  'status-429-retry-seconds': instead(
    'HTTP 429 with Retry-After in seconds',
    (situation) => withRetryAfter(bare(429), String(retrySeconds(situation))),
    { parameters: ['retryAfterSeconds'] },
  ),
  'status-429-retry-date': instead(
    'HTTP 429 with Retry-After as an HTTP date, by the clock of the Date header',
    (situation) =>
      withRetryAfter(bare(429), new Date(Date.now() + retrySeconds(situation) * 1_000).toUTCString()),
    { parameters: ['retryAfterSeconds'] },
  ),
  'status-429-retry-unreadable': instead('HTTP 429 with a Retry-After that says nothing', () =>
    withRetryAfter(bare(429), 'in a while'),
  ),
  'status-500': failing(500, 'Internal Server Error'),
  'status-500-empty': instead('HTTP 500 without a body', () => bare(500)),
  'status-502-html': instead('HTTP 502 with an HTML page', () => textReply(502, 'text/html', page502)),
  'status-503': instead('HTTP 503 with plain text', () =>
    textReply(503, 'text/plain', 'Service Unavailable'),
  ),
  'status-503-retry-seconds': instead(
    'HTTP 503 with Retry-After in seconds',
    (situation) => withRetryAfter(bare(503), String(retrySeconds(situation))),
    { parameters: ['retryAfterSeconds'] },
  ),
  'status-504': instead('HTTP 504 without a body', () => bare(504)),
  redirect: instead(
    'A redirect to another host, with a body',
    ({ origin, parameters }) => {
      const location = parameters.location ?? `${origin.replace('127.0.0.1', 'localhost')}/elsewhere`;
      const reply = textReply(parameters.redirectStatus ?? 302, 'text/html', '<a href="/">Moved</a>');
      return { ...reply, headers: { ...reply.headers, location } };
    },
    { parameters: ['location', 'redirectStatus'] },
  ),

  'rejected-200': instead(
    'HTTP 200 with `data: null` and an error object',
    ({ operation }) => rejectedReply(operation, 200, 'internal_failure.metrics'),
    { appliesTo: envelopes },
  ),
  'rejected-202': instead(
    'HTTP 202 with `data: null` and an error object',
    ({ operation }) => rejectedReply(operation, 202, 'internal_failure.metrics'),
    { appliesTo: envelopes },
  ),
  'zone-not-found': instead(
    'HTTP 202 with the error for an unknown zone',
    () => replyOf(rejected('unknownZone', 202)),
    { appliesTo: ['api_guardian', 'rate_limit'] },
  ),
  'no-rate-limits': instead(
    'HTTP 202 with the error for a zone without rate limits, which is no failure',
    () => replyOf(rejected('noRateLimits', 202)),
    { appliesTo: ['rate_limit'] },
  ),
  'feature-not-on-plan': instead(
    'HTTP 200 with the error for a feature that the plan lacks',
    () => replyOf(rejected('notOnPlan', 200)),
    { appliesTo: ['api_guardian', 'rate_limit'] },
  ),
  'data-null': spoilt(
    'A good status and envelope with `data: null` and no error',
    (reply) => ({ ...reply, json: { ...(reply.json as object), data: null } }),
    { appliesTo: envelopes },
  ),

  'empty-body': instead('HTTP 200 without a body', () => bare(200)),
  html: instead('HTTP 200 with an HTML page', () => textReply(200, 'text/html', page200)),
  'plain-text': instead('HTTP 200 with plain text', () => textReply(200, 'text/plain', 'OK')),
  'json-null': instead('HTTP 200 with the JSON value null', () => textReply(200, 'application/json', 'null')),
  'truncated-json': rewritten('A complete body that is the first half of the JSON', (text) =>
    text.slice(0, Math.floor(text.length / 2)),
  ),
  'json-as-text': spoilt('The right body labelled text/plain', (reply) => ({
    ...reply,
    headers: { 'content-type': 'text/plain' },
  })),
  gzip: spoilt('The right body, gzip-coded without being asked', (reply) =>
    coded(reply, 'gzip', gzipSync(bytesOf(reply))),
  ),
  brotli: spoilt('The right body, brotli-coded without being asked', (reply) =>
    coded(reply, 'br', brotliCompressSync(bytesOf(reply))),
  ),
  'wrong-coding': spoilt('The right body, plain, labelled as gzip', (reply) =>
    coded(reply, 'gzip', bytesOf(reply)),
  ),
  'gzip-bomb': spoilt(
    'A small gzip-coded body that is large when decoded: spaces, then the right JSON',
    (reply, { parameters }) =>
      coded(
        reply,
        'gzip',
        Buffer.concat([gzippedSpaces(parameters.decodedBytes ?? 67_108_864), gzipSync(bytesOf(reply))]),
      ),
    { parameters: ['decodedBytes'] },
  ),
  'deep-nesting': rewritten(
    'A field of lists in lists, too deep for a parser that recurses',
    (text, { parameters }) => {
      const depth = parameters.depth ?? 100_000;
      return text.replace('{', `{"nested":${'['.repeat(depth)}${']'.repeat(depth)},`);
    },
    { parameters: ['depth'] },
  ),
  'duplicate-keys': rewritten('A field that occurs twice in its object', (text, { operation }) => {
    const field = `"${doubledFields[operation]}":`;
    return text.replace(field, `${field}-1,${field}`);
  }),

  'wrong-types': edited('Every value of a wrong type, ids apart', mistyped),
  'wrong-shapes': edited('A list in the place of the object, or the other way round', misshapen),
  'all-null': edited('Every field null, ids apart', nulled),
  'all-missing': edited('No fields but ids', emptied),
  'huge-numbers': edited('Numbers at and beyond the range of doubles and 64 bits', huge),
  'negative-numbers': edited('Every number negative', negative),
  'integers-as-doubles': edited('Whole numbers written as 3.0, which is right', doubled, envelopes),
  'number-strings': edited('Text such as "NaN" in the place of every number', stringly),
  'duplicate-ids': edited('The first of the listing again, with other numbers', repeated, [
    'shield_zone',
    'rate_limit',
  ]),
  'unknown-values': edited('A state or codes that nobody documents', unrecognized, [
    'application',
    'shield_zone',
  ]),
  'capitalised-status': edited('The state with a capital letter, which is right', capitalised, [
    'application',
  ]),
  'mixed-day-keys': edited('Days in no order, half of them ISO dates, which is right', mixedDays, [
    'api_guardian',
    'rate_limit',
  ]),
  'unreadable-times': edited('Days and instants that cannot be read', timeless),
  'extra-fields': edited('Fields that the reference does not have, which is right', extended),

  'page-repeats': spoilt(
    'Every page is the first one',
    (reply, { listing: asked }) => (asked ? replyOf(asked.answer(1)) : reply),
    { appliesTo: listing },
  ),
  'page-shrinks': spoilt(
    'Half of the zones are gone from the second page on',
    (reply, { listing: asked }) => (asked && asked.page > 1 ? replyOf(asked.answer(asked.page, 0.5)) : reply),
    { appliesTo: listing },
  ),
  'page-never-ends': spoilt(
    'There is always one page more, with zones of earlier ones',
    (reply, { listing: asked }) => {
      if (!asked || asked.totalPages === 0) return reply;
      const again = asked.answer(((asked.page - 1) % asked.totalPages) + 1).body as { page: object };
      const page = {
        ...again.page,
        totalPages: asked.page + 1,
        currentPage: asked.page,
        nextPage: asked.page + 1,
      };
      return { ...reply, json: { ...again, page } };
    },
    { appliesTo: listing },
  ),
  'page-fails': spoilt(
    'HTTP 500 from a page in the middle on',
    (reply, { listing: asked, parameters }) =>
      (asked?.page ?? 1) >= (parameters.page ?? 2) ? bare(500) : reply,
    { appliesTo: listing, parameters: ['page'] },
  ),
  'page-missing': spoilt(
    'Zones without a page object',
    (reply) => ({ ...reply, json: { data: (reply.json as { data: unknown }).data } }),
    { appliesTo: listing },
  ),

  'secret-echo': instead(
    'An error that repeats the key of the request in its body and a header',
    ({ operation, sentKey }) => {
      const message = `The key ${sentKey} is not welcome.`;
      const reply =
        operation === 'application'
          ? jsonReply(500, { title: message, status: 500, detail: message, instance: `/?key=${sentKey}` })
          : operation === 'video_storage'
            ? jsonReply(403, { success: false, message, statusCode: 403 })
            : jsonReply(200, {
                error: { statusCode: 500, success: false, message, errorKey: `refused.${sentKey}` },
                data: null,
              });
      return { ...reply, headers: { ...reply.headers, 'x-debug-key': sentKey } };
    },
  ),
  'set-cookie': spoilt('The right answer with cookies, which nobody should send back', (reply) => ({
    ...reply,
    headers: { ...reply.headers, 'set-cookie': ['session=simulated; Path=/', 'tracking=1; Max-Age=9999'] },
  })),
} as const satisfies Record<string, FaultDeclaration>;

export type FaultType = keyof typeof catalogue;

/** Every fault there is, by type. */
export const faultTypes: Readonly<Record<FaultType, FaultDeclaration>> = catalogue;

/** TLS record of a fatal alert, handshake_failure. */
export const tlsAlert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);

function bare(status: number): Reply {
  return { status, headers: {} };
}

function coded(reply: Reply, coding: string, bytes: Buffer): Reply {
  return { status: reply.status, headers: { ...reply.headers, 'content-encoding': coding }, bytes };
}

function writeHead(response: ServerResponse, reply: Reply): ServerResponse {
  return response.writeHead(reply.status, {
    ...reply.headers,
    'content-length': bytesOf(reply).byteLength,
  });
}

function firstHalf(reply: Reply): Buffer {
  const body = bytesOf(reply);
  return body.subarray(0, Math.ceil(body.byteLength / 2));
}

// Compressing this much takes a while: done once for each size.
const spaces = new Map<number, Buffer>();

function gzippedSpaces(bytes: number): Buffer {
  const known = spaces.get(bytes);
  if (known) return known;
  const made = gzipSync(Buffer.alloc(bytes, ' '));
  spaces.set(bytes, made);
  return made;
}
