/** Every way in which the simulated API can fail, as a closed list. */
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  type Applies,
  anyRejection,
  changed,
  type FaultDeclaration,
  failing,
  instead,
  onWire,
  paged,
  refused,
  rejection,
  rewritten,
  type Situation,
  spoilt,
} from './fault.ts';
import { shieldEnvelope } from './forms.ts';
import { isPaged, type Traits } from './kind.ts';
import { dataFaults, invented, mutateReading } from './mutations.ts';
import { bytesOf, type Reply, replyOf, textReply } from './reply.ts';

const having =
  (trait: keyof Traits): Applies =>
  ({ traits }) =>
    traits[trait] !== undefined;
const isShieldList: Applies = ({ form, traits }) =>
  form === shieldEnvelope && traits.list === true && traits.field === 'data';

function withRetryAfter(reply: Reply, value: string): Reply {
  return { ...reply, headers: { ...reply.headers, 'retry-after': value } };
}

function retrySeconds({ parameters }: Situation): number {
  return parameters.retryAfterSeconds ?? 2;
}

const page502 =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';
const page200 =
  '<!DOCTYPE html><html><head><title>Just a moment</title></head><body>Checking your browser.</body></html>';

const catalogue = {
  latency: changed('The answer is right and late'),
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
  'status-401': refused('HTTP 401, as for a missing or wrong key', (form) => form.unauthorized),
  'status-403': instead('HTTP 403 without a body, as for a key without the right', () => bare(403)),
  'status-404': refused('HTTP 404 in the form of the operation', (form) => form.notFound),
  'status-408': instead('HTTP 408 without a body', () => bare(408)),
  'status-429': instead('HTTP 429 without a body and without Retry-After', () => bare(429)),
  'status-429-retry-seconds': instead('HTTP 429 with Retry-After in seconds', (situation) =>
    withRetryAfter(bare(429), String(retrySeconds(situation))),
  ),
  'status-429-retry-date': instead(
    'HTTP 429 with Retry-After as an HTTP date, by the clock of the Date header',
    (situation) =>
      withRetryAfter(bare(429), new Date(Date.now() + retrySeconds(situation) * 1_000).toUTCString()),
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
  'status-503-retry-seconds': instead('HTTP 503 with Retry-After in seconds', (situation) =>
    withRetryAfter(bare(503), String(retrySeconds(situation))),
  ),
  'status-504': instead('HTTP 504 without a body', () => bare(504)),
  redirect: instead('A redirect to another host, with a body', ({ origin, parameters }) => {
    const location = parameters.location ?? `${origin.replace('127.0.0.1', 'localhost')}/elsewhere`;
    const reply = textReply(parameters.redirectStatus ?? 302, 'text/html', '<a href="/">Moved</a>');
    return { ...reply, headers: { ...reply.headers, location } };
  }),

  'rejected-200': anyRejection('HTTP 200 with `data: null` and an error object', 200),
  'rejected-202': anyRejection('HTTP 202 with `data: null` and an error object', 202),
  'zone-not-found': rejection('HTTP 202 with the error for an unknown zone', 202, 'unknownZone'),
  'no-rate-limits': rejection(
    'HTTP 202 with the error for a zone without rate limits, which is no failure',
    202,
    'noRateLimits',
  ),
  'feature-not-on-plan': rejection(
    'HTTP 200 with the error for a feature that the plan lacks',
    200,
    'notOnPlan',
  ),
  'data-null': spoilt(
    'A good status and envelope with `data: null` and no error',
    (reply, { operation: { traits } }) => ({
      ...reply,
      json: { ...(reply.json as object), [traits.field?.split('.')[0] ?? '']: null },
    }),
    having('field'),
  ),

  'nothing-listed': instead(
    'HTTP 200 with `data: null` and an empty default envelope: there is nothing, which is no failure',
    () =>
      replyOf({
        status: 200,
        body: { data: null, error: { statusCode: 0, success: false, message: null, errorKey: null } },
      }),
    isShieldList,
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
  ),
  'deep-nesting': rewritten(
    'A field of lists in lists, too deep for a parser that recurses',
    (text, { parameters }) => {
      const depth = parameters.depth ?? 100_000;
      return text.replace('{', `{"nested":${'['.repeat(depth)}${']'.repeat(depth)},`);
    },
  ),
  'duplicate-keys': rewritten(
    'A field that occurs twice in its object',
    (text, { operation }) => {
      const field = `"${operation.traits.number}":`;
      return text.replace(field, `${field}-1,${field}`);
    },
    having('number'),
  ),

  ...dataFaults,

  'page-repeats': paged('Every page is the first one', (pages) => pages.answer(1)),
  'page-shrinks': paged('Half of the entries are gone from the second page on', (pages, right) =>
    pages.page > 1 ? pages.answer(pages.page, { share: 0.5 }) : right,
  ),
  'page-never-ends': paged('There is always one page more, with entries of earlier ones', (pages) => {
    const { page, totalPages } = pages;
    return pages.answer(((page - 1) % totalPages) + 1, { as: { page, totalPages: page + 1 } });
  }),
  'page-fails': spoilt(
    'HTTP 500 from a page in the middle on',
    (reply, { pages, parameters }) => ((pages?.page ?? 1) >= (parameters.page ?? 2) ? bare(500) : reply),
    isPaged,
  ),
  'page-missing': paged('Entries without a word on the listing, less the cursor', (pages) =>
    pages.answer(pages.page, { about: 'nothing' }),
  ),
  'page-without-fields': paged('Entries beside an empty object that should tell of the listing', (pages) =>
    pages.answer(pages.page, { about: 'no fields' }),
  ),
  'page-zeros': paged('Entries beside counts of zero', (pages) =>
    pages.answer(pages.page, { about: 'zeros' }),
  ),
  'page-entries-move': paged(
    'From the second page on every entry has moved up by one, so that one is on no page',
    (pages, right) => (pages.page > 1 ? pages.answer(pages.page, { moved: 1 }) : right),
  ),
  'page-counts-too-many': paged('The total is one more than there are', (pages) =>
    pages.answer(pages.page, { miscounted: 1 }),
  ),
  'page-counts-too-few': paged('The total is one less than there are', (pages) =>
    pages.answer(pages.page, { miscounted: -1 }),
  ),
  'page-announced': paged('The last page announces one more, which is empty', (pages, right) => {
    const { page, totalPages } = pages;
    if (page > totalPages) return right;
    return pages.answer(page, { as: { page, totalPages: totalPages + 1 } });
  }),
  'page-says-last': paged('Every page says that it is the last, and counts all entries', (pages) =>
    pages.answer(pages.page, { as: { page: pages.page, totalPages: pages.page } }),
  ),
  'page-invents': spoilt(
    'There is always one page more, with entries that were on none before',
    (reply, { pages, operation: { traits } }) => {
      if (!pages || pages.totalPages === 0) return reply;
      const { page, totalPages } = pages;
      const as = { page, totalPages: page + 1 };
      const { body } = pages.answer(((page - 1) % totalPages) + 1, { as, about: 'nothing' });
      return { ...reply, json: mutateReading(traits, body, invented(page)) };
    },
    isPaged,
  ),

  'secret-echo': instead(
    'An error that repeats the key of the request in its body and a header',
    ({ operation, sentKey }) => {
      const reply = replyOf(operation.form.echoed(sentKey));
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
  return response.writeHead(reply.status, { ...reply.headers, 'content-length': bytesOf(reply).byteLength });
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
