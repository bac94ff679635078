/** Every way in which the simulated API can fail, as a closed list. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  type Applies,
  edited,
  type FaultDeclaration,
  fault,
  instead,
  paged,
  type Situation,
} from './fault.ts';
import { noError, rejections, shieldEnvelope, videoEnvelope } from './forms.ts';
import { isPaged, type Rejection, type RejectionError, type Traits } from './kind.ts';
import { dataFaults, invented, mutateReading } from './mutations.ts';
import { bytesOf, type Reply, replyOf, sendHead, textReply } from './reply.ts';

const catalogue = {
  latency: fault('The answer is right and late', {}),
  hang: fault('The request is taken and never answered', { isSilent: true, send: () => {} }),
  'hang-before-body': fault('The headers come, the body never does', {
    send: (response, reply) => sendHead(response, reply).flushHeaders(),
  }),
  'hang-in-body': fault('Half of the body comes, the rest never does', {
    send: (response, reply) => sendHead(response, reply).write(firstHalf(reply)),
  }),
  trickle: fault('The body comes a byte every 50 ms', {
    send: (response, reply) => {
      sendHead(response, reply).flushHeaders();
      const left = [...bytesOf(reply)];
      const timer = setInterval(() => {
        response.write(Buffer.from(left.splice(0, 1)));
        if (left.length === 0) response.end();
      }, 50);
      response.once('close', () => clearInterval(timer));
    },
  }),
  reset: fault('The connection is reset before an answer', {
    isSilent: true,
    send: ({ socket }) => socket?.resetAndDestroy(),
  }),
  'early-close': fault('The connection ends in the middle of the body', {
    send: (response, reply) =>
      sendHead(response, reply).write(firstHalf(reply), () => response.socket?.destroy()),
  }),
  'endless-body': fault('The body goes on until the client leaves', {
    send: (response, { status, headers }) => {
      response.writeHead(status, { ...headers, 'transfer-encoding': 'chunked' });
      response.write('{"padding":"');
      const chunk = Buffer.alloc(65_536, 'x');
      const pump = () => {
        if (response.destroyed || response.closed) return;
        if (response.write(chunk)) setImmediate(pump);
        else response.once('drain', () => setImmediate(pump));
      };
      pump();
    },
  }),
  'tls-error': fault(
    'A fatal TLS alert comes in place of an answer, as it always does to a client that speaks TLS to this port',
    { isSilent: true, send: ({ socket }) => socket?.end(tlsAlert, () => socket.destroy()) },
  ),

  'status-400': failing(400, 'Bad Request'),
  'status-401': instead('HTTP 401, as for a missing or wrong key', ({ operation: { form } }) =>
    replyOf(form.unauthorized),
  ),
  'status-403': instead('HTTP 403 without a body, as for a key without the right', () => bare(403)),
  'status-404': instead('HTTP 404 in the form of the operation', ({ operation: { form } }) =>
    replyOf(form.error(404, 'Not Found')),
  ),
  'status-408': instead('HTTP 408 without a body', () => bare(408)),
  'status-429': instead('HTTP 429 without a body and without Retry-After', () => bare(429)),
  'status-429-retry-seconds': instead('HTTP 429 with Retry-After in seconds', (situation) =>
    bare(429, { 'retry-after': String(retrySeconds(situation)) }),
  ),
  'status-429-retry-date': instead(
    'HTTP 429 with Retry-After as an HTTP date, by the clock of the Date header',
    (situation) => {
      const at = new Date(Date.now() + retrySeconds(situation) * 1_000);
      return bare(429, { 'retry-after': at.toUTCString() });
    },
  ),
  'status-429-retry-unreadable': instead('HTTP 429 with a Retry-After that cannot be read', () =>
    bare(429, { 'retry-after': 'in a while' }),
  ),
  'status-500': failing(500, 'Internal Server Error'),
  'status-500-empty': instead('HTTP 500 without a body', () => bare(500)),
  'status-502-html': instead('HTTP 502 with an HTML page', () =>
    textReply(
      502,
      'text/html',
      '<html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>',
    ),
  ),
  'status-503': instead('HTTP 503 with plain text', () =>
    textReply(503, 'text/plain', 'Service Unavailable'),
  ),
  'status-503-retry-seconds': instead('HTTP 503 with Retry-After in seconds', (situation) =>
    bare(503, { 'retry-after': String(retrySeconds(situation)) }),
  ),
  'status-504': instead('HTTP 504 without a body', () => bare(504)),
  redirect: instead('A redirect to another host, with a body', ({ origin, parameters }) => {
    const location = parameters.location ?? `${origin.replace('127.0.0.1', 'localhost')}/elsewhere`;
    const reply = textReply(parameters.redirectStatus ?? 302, 'text/html', '<a href="/">Moved</a>');
    return withHeaders(reply, { location });
  }),

  'rejected-200': rejected('HTTP 200 with `data: null` and an error object', 200),
  'rejected-202': rejected('HTTP 202 with `data: null` and an error object', 202),
  'zone-not-found': rejected('HTTP 202 with the error for an unknown zone', 202, 'unknownZone'),
  'no-rate-limits': rejected(
    'HTTP 202 with the error for a zone without rate limits, which is no failure',
    202,
    'noRateLimits',
  ),
  'feature-not-on-plan': rejected(
    'HTTP 202 with the error for a feature that the plan lacks, which is no failure',
    202,
    'notOnPlan',
  ),
  'data-null': edited(
    'A good status and envelope with `data: null` and no error',
    (reply, { operation: { traits } }) => {
      const [field = ''] = traits.field?.split('.') ?? [];
      return { ...reply, body: { ...(reply.body as object), [field]: null } };
    },
    having('field'),
  ),
  'nothing-listed': instead(
    'HTTP 200 with `data: null` and an empty default envelope: there is nothing, which is no failure',
    () => replyOf({ status: 200, body: { data: null, error: noError } }),
    ({ form, traits }) => form === shieldEnvelope && traits.ids !== undefined && traits.field === 'data',
  ),

  'empty-body': instead('HTTP 200 without a body', () => bare(200)),
  html: instead('HTTP 200 with an HTML page', () =>
    textReply(200, 'text/html', '<!DOCTYPE html><html><body>Checking your browser.</body></html>'),
  ),
  'plain-text': instead('HTTP 200 with plain text', () => textReply(200, 'text/plain', 'OK')),
  'json-null': instead('HTTP 200 with the JSON value null', () => textReply(200, 'application/json', 'null')),
  'truncated-json': edited('A complete body that is the first half of the JSON', (reply) =>
    rewritten(reply, (text) => text.slice(0, Math.floor(text.length / 2))),
  ),
  'json-as-text': edited('The right body labelled text/plain', (reply) =>
    withHeaders(reply, { 'content-type': 'text/plain' }),
  ),
  gzip: edited('The right body, gzip-coded without being asked', (reply) =>
    coded(reply, 'gzip', gzipSync(bytesOf(reply))),
  ),
  brotli: edited('The right body, brotli-coded without being asked', (reply) =>
    coded(reply, 'br', brotliCompressSync(bytesOf(reply))),
  ),
  'wrong-coding': edited('The right body, plain, labelled as gzip', (reply) =>
    coded(reply, 'gzip', bytesOf(reply)),
  ),
  'gzip-bomb': edited(
    'A small gzip-coded body that is large when decoded: spaces, then the right JSON',
    (reply, { parameters: { decodedBytes = 67_108_864 } }) =>
      coded(reply, 'gzip', Buffer.concat([gzippedSpaces(decodedBytes), gzipSync(bytesOf(reply))])),
  ),
  'deep-nesting': edited(
    'A field of lists in lists, too deep for a parser that recurses',
    (reply, { parameters: { depth = 100_000 } }) =>
      rewritten(reply, (text) => text.replace('{', `{"nested":${'['.repeat(depth)}${']'.repeat(depth)},`)),
  ),
  'duplicate-keys': edited(
    'A field that occurs twice in its object',
    (reply, { operation: { traits } }) => {
      const field = `"${traits.number ?? traits.integer}":`;
      return rewritten(reply, (text) => text.replace(field, `${field}-1,${field}`));
    },
    having('number', 'integer'),
  ),

  ...dataFaults,

  'page-repeats': paged('Every page is the first one', (pages) => pages.answer(1)),
  'page-shrinks': paged('Half of the entries are gone from the second page on', ({ page, answer }) =>
    answer(page, { share: page > 1 ? 0.5 : 1 }),
  ),
  'page-never-ends': paged(
    'There is always one page more, with entries of earlier ones',
    ({ page, totalPages, answer }) =>
      answer(((page - 1) % totalPages) + 1, { as: { page, totalPages: page + 1 } }),
  ),
  'page-fails': edited(
    'HTTP 500 from a page in the middle on',
    (reply, { pages, parameters }) => ((pages?.page ?? 1) >= (parameters.page ?? 2) ? bare(500) : reply),
    isPaged,
  ),
  'page-missing': paged('Entries and no field about the listing but the cursor', ({ page, answer }) =>
    answer(page, { about: 'nothing' }),
  ),
  'page-without-fields': paged(
    'Entries beside an empty object that should hold the fields about the listing',
    ({ page, answer }) => answer(page, { about: 'no numbers' }),
  ),
  'page-zeros': paged('Entries beside counts of zero', ({ page, answer }) =>
    answer(page, { about: 'zeros' }),
  ),
  'page-entries-move': paged(
    'From the second page on every entry has moved up by one, so that one is on no page',
    ({ page, answer }) => answer(page, { moved: page > 1 ? 1 : 0 }),
  ),
  'page-counts-too-many': paged('The total is one more than there are', ({ page, answer }) =>
    answer(page, { miscounted: 1 }),
  ),
  'page-counts-too-few': paged('The total is one less than there are', ({ page, answer }) =>
    answer(page, { miscounted: -1 }),
  ),
  'page-announced': paged(
    'The last page announces one more, which is empty',
    ({ page, totalPages, answer }) =>
      answer(page, page > totalPages ? {} : { as: { page, totalPages: totalPages + 1 } }),
  ),
  'page-says-last': paged('Every page says that it is the last, and counts all entries', ({ page, answer }) =>
    answer(page, { as: { page, totalPages: page } }),
  ),
  'page-invents': edited(
    'There is always one page more, with entries that were on none before',
    (reply, { pages, operation: { traits } }) => {
      if (!pages || pages.totalPages === 0) return reply;
      const { page, totalPages } = pages;
      const as = { page, totalPages: page + 1 };
      const { body } = pages.answer(((page - 1) % totalPages) + 1, { as, about: 'nothing' });
      return { ...reply, body: mutateReading(traits, body, invented(page)) };
    },
    isPaged,
  ),

  'secret-echo': instead(
    'An error that repeats the key of the request in its body and a header',
    ({ operation: { form }, sentKey }) => {
      const error = { errorKey: `refused.${sentKey}`, statusCode: 500 };
      const answer =
        form === shieldEnvelope
          ? shieldEnvelope.rejected(200, error)
          : form.error(form === videoEnvelope ? 403 : 500, `The key ${sentKey} is not welcome.`);
      return withHeaders(replyOf(answer), { 'x-debug-key': sentKey });
    },
  ),
  'set-cookie': edited('The right answer with cookies, which nobody should send back', (reply) =>
    withHeaders(reply, { 'set-cookie': ['session=simulated; Path=/', 'tracking=1; Max-Age=9999'] }),
  ),
} as const satisfies Record<string, FaultDeclaration>;

export type FaultType = keyof typeof catalogue;

/** Every fault there is, by type. */
export const faultTypes: Readonly<Record<FaultType, FaultDeclaration>> = catalogue;

/** TLS record of a fatal alert, handshake_failure. */
export const tlsAlert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);

/** Operations that have one of these traits. */
function having(...wanted: readonly (keyof Traits)[]): Applies {
  return ({ traits }) => wanted.some((trait) => trait in traits);
}

function failing(status: number, title: string) {
  return instead(`HTTP ${status} with an error object`, ({ operation: { form } }) =>
    replyOf(form.error(status, title)),
  );
}

/** A failure that comes with a good status: one that the Shield API has a name for, or any. */
function rejected(description: string, status: 200 | 202, reason?: Rejection) {
  const error: RejectionError = reason
    ? rejections[reason]
    : { errorKey: 'internal_failure.metrics', statusCode: 500 };
  return instead(
    description,
    ({ operation: { form } }) =>
      replyOf(form.rejected?.(status, error) ?? form.error(error.statusCode, error.errorKey)),
    ({ form, rejections: named }) => (reason ? named?.includes(reason) === true : 'rejected' in form),
  );
}

function retrySeconds({ parameters }: Situation): number {
  return parameters.retryAfterSeconds ?? 2;
}

function bare(status: number, headers: Reply['headers'] = {}): Reply {
  return { status, headers };
}

function withHeaders(reply: Reply, headers: Reply['headers']): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

function rewritten(reply: Reply, rewrite: (text: string) => string): Reply {
  return { ...reply, body: Buffer.from(rewrite(bytesOf(reply).toString())) };
}

function coded(reply: Reply, coding: string, body: Buffer): Reply {
  return withHeaders({ ...reply, body }, { 'content-encoding': coding });
}

function firstHalf(reply: Reply): Buffer {
  const body = bytesOf(reply);
  return body.subarray(0, Math.ceil(body.byteLength / 2));
}

// Compressing this much takes a while, so each size is compressed once.
const spaces = new Map<number, Buffer>();

function gzippedSpaces(bytes: number): Buffer {
  const made = spaces.get(bytes) ?? gzipSync(Buffer.alloc(bytes, ' '));
  spaces.set(bytes, made);
  return made;
}
