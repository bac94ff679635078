import { getEventListeners } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Permit, QueueAddress } from '../../src/api/pacer.ts';
import { Secret } from '../../src/secrets/credentials.ts';
import { ownTurn } from '../../src/turns.ts';
import { version } from '../../src/version.ts';
import { expectDeclaredRequests, mockApi } from '../mock-api.ts';
import { runs } from '../runs.ts';
import {
  address,
  config,
  createClient,
  drawTheLeast,
  key,
  keys,
  origin,
  sendForever,
  serve,
  serveBytes,
} from './ask.ts';

expectDeclaredRequests();

/** How many signals made from this one by `AbortSignal.any` Node still holds. */
function dependantsOf(signal: AbortSignal): number {
  const name = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  return name === undefined ? 0 : ((Reflect.get(signal, name) as Set<unknown> | null)?.size ?? 0);
}

describe('a request', () => {
  it('goes to the path below the base URL, with the key, Accept and User-Agent', async () => {
    const { get, codes } = createClient({ baseUrl: `${origin}/mc` });
    mockApi(origin, {
      AccessKey: key,
      accept: 'application/json',
      'user-agent': `bunnynet-exporter/${version}`,
    })
      .get('/mc/shield/shield-zones?page=1&perPage=100')
      .reply(200, { data: [] });
    expect(await get('/shield/shield-zones?page=1&perPage=100')).toEqual({ data: [] });
    expect(codes).toEqual(['shield 200']);
  });

  it('releases its permit in every case', async () => {
    drawTheLeast();
    const { client, pacer, get, failure } = createClient({ maxRetries: 1 });
    const released: string[] = [];
    const permit = (name: string): Permit => ({ release: () => released.push(name) });
    const further = vi.spyOn(pacer, 'permit').mockImplementation(() => Promise.resolve(permit('further')));
    mockApi(origin).get('/a').reply(200, {});
    await get('/a', { permit: permit('of a success') });
    mockApi(origin).get('/a').reply(404);
    await failure('/a', { permit: permit('of a failure') });
    mockApi(origin).get('/a', 2).reply(500);
    await failure('/a', { permit: permit('of a first try') });
    expect(released).toEqual(['of a success', 'of a failure', 'of a first try', 'further']);
    expect(further).toHaveBeenCalledOnce();
    await client.close();
    await failure('/a', { permit: permit('of a closed client') });
    expect(released).toContain('of a closed client');
  });

  it('waits while as many answers as may be in flight have no turn of the event loop yet', async () => {
    let asked = 0;
    const baseUrl = await serve((_request, response) => {
      asked++;
      response.end('{}');
    });
    const { get } = createClient({ baseUrl, maxConcurrency: 2 });
    const turns = Array.from({ length: 200 }, () => ownTurn());
    const answers = Array.from({ length: 10 }, () => get('/a'));
    await Promise.all(turns);
    expect(asked).toBeLessThanOrEqual(2);
    await Promise.all(answers);
    expect(asked).toBe(10);
  });
});

describe('a 401', () => {
  it.each([
    ['{"errorResponse":{"errorKey":"invalid_datetime_window.too_old","message":"too old"}}', 'rejected'],
    ['{"errorResponse":{"errorKey":"authentication.failed","message":"no"}}', 'auth'],
    ['{"error":{"code":"unauthorized"}}', 'auth'],
    ['{"error":{"errorKey":"not_found_or_unauthorised_access.shieldzone"},"data":null}', 'not_found'],
    ['{"errorKey":"feature_not_available_on_plan","message":"no"}', 'rejected'],
    ['{"errorKey":"invalid_author.id","message":"no"}', 'rejected'],
    ['{"Message":"Authorization has been denied for this request."}', 'auth'],
    ['', 'auth'],
  ])('of %j is a failure: %s', async (body, result) => {
    const { failure } = createClient();
    mockApi(origin).get('/a').reply(401, body);
    expect((await failure('/a')).result).toBe(result);
  });
});

describe('a status', () => {
  it.each([
    [429, 'rate_limited'],
    [500, 'server_error'],
    [404, 'not_found'],
    [400, 'not_found'],
  ])('of %d with an error that says that nothing was found is %s', async (status, result) => {
    const { failure } = createClient();
    mockApi(origin).get('/a').reply(status, '{"errorKey":"not_found.waf_rule"}');
    expect((await failure('/a')).result).toBe(result);
  });

  it.each([
    [400, 'rejected'],
    [403, 'auth'],
    [404, 'not_found'],
    [408, 'timeout'],
    [429, 'rate_limited'],
    [500, 'server_error'],
    ...runs<[number, string][]>(
      [],
      [
        [401, 'auth'],
        [503, 'server_error'],
      ],
    ),
  ])('of %d is a failure: %s', async (status, result) => {
    const { failure, codes } = createClient();
    mockApi(origin).get('/a').reply(status);
    const error = await failure('/a');
    expect([error.result, error.message, error.answer.status]).toEqual([result, `HTTP ${status}`, status]);
    expect(codes).toEqual([`shield ${status}`]);
  });

  it.each([200, 202, ...runs<number[]>([], [201, 203])])('of %d is read as a good answer', async (status) => {
    const { get } = createClient();
    mockApi(origin).get('/a').reply(status, { data: null });
    expect(await get('/a')).toEqual({ data: null });
  });

  it.each([301, 308, ...runs<number[]>([], [302, 303, 307])])(
    'of %d is not followed, so the key goes nowhere else',
    async (status) => {
      const { failure, codes } = createClient({ maxRetries: 2 });
      mockApi(origin).get('/a').reply(status, '', { location: 'https://elsewhere.test/a' });
      const error = await failure('/a');
      expect([error.result, error.message]).toEqual([
        'rejected',
        `HTTP ${status}: a redirect, which is not followed`,
      ]);
      expect(codes).toEqual([`shield ${status}`]);
    },
  );

  it('decides the failure even if the body is badly encoded, too long, cut off or endless', async () => {
    const drops = await serveBytes('HTTP/1.1 401 x\r\ncontent-length: 99\r\n\r\n{', (socket) => socket.end());
    expect(await createClient({ baseUrl: drops }).failure('/a')).toMatchObject({ result: 'auth' });
    const hangs = await serveBytes('HTTP/1.1 404 x\r\ncontent-length: 99\r\n\r\n{', () => undefined);
    expect(await createClient({ baseUrl: hangs, timeoutMs: 1000 }).failure('/a')).toMatchObject({
      result: 'not_found',
    });
    const codes = await serve((_, response) => {
      response.writeHead(403, { 'content-encoding': 'gzip' }).end('no gzip');
    });
    expect(await createClient({ baseUrl: codes }).failure('/a')).toMatchObject({ result: 'auth' });
    const endless = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '30' });
      sendForever(response);
    });
    const { failure, pauses } = createClient({ baseUrl: endless });
    expect(await failure('/a')).toMatchObject({
      result: 'rate_limited',
      answer: { retryAfterMs: 30_000 },
    });
    expect(pauses).toHaveLength(1);
  });
});

describe('the message of a failure', () => {
  const wordsOf = async (body: string | object) => {
    const { failure } = createClient();
    mockApi(origin).get('/a').reply(404, body);
    return await failure('/a');
  };

  it('comes from problem details', async () => {
    const error = await wordsOf({
      title: 'Not Found',
      status: 404,
      detail: 'Application x does not exist.',
      instance: null,
      errors: null,
    });
    expect(error.message).toBe('HTTP 404: Not Found: Application x does not exist.');
    expect((await wordsOf({ title: 'Not Found' })).message).toBe('HTTP 404: Not Found');
  });

  it('is only the status if it is in a body that is too long to be read for it', async () => {
    const long = `{"errors":{${Array.from({ length: 5000 }, (_, at) => `"f${at}":["x"]`).join()}}}`;
    expect((await wordsOf(long)).message).toBe('HTTP 404');
    expect((await wordsOf(`${' '.repeat(70_000)}<title>Blocked</title>`)).message).toContain('"Blocked"');
    expect((await wordsOf('<title'.repeat(15_000))).message).toContain('an HTML page without text');
  });

  const wordless = ['{ "title": 7 }', '[[]]', 'null', '{"title":', '{"errors":{"a":[]}}', ''];
  it.each([...wordless, ...runs<string[]>([], ['[]', '7', '""', ' \n'])])(
    'is only the status if the body is %j',
    async (body) => {
      expect((await wordsOf(body)).message).toBe('HTTP 404');
    },
  );

  it.each([
    ['["No such application."]', 'No such application.'],
    ['No such application.\n', 'No such application.'],
    ['{"Message":"Authorization has been denied."}', 'Authorization has been denied.'],
    [
      '{"errors":{"fromDate":["is no date","b"],"toDate":"is no date"}}',
      'fromDate: is no date: toDate: is no date',
    ],
    ['{"errors":["a","b","c","d"]}', 'a: b: c'],
    ['{"message":"\\u0061\\ud800 b"}', 'a\ud800 b'],
    ['{"__proto__":{"message":"inherited"},"message":"own"}', 'own'],
    [`${'['.repeat(60)}{"message":"deep"}${']'.repeat(60)}`, 'deep'],
  ])('of %s is %s', async (body, words) => {
    expect((await wordsOf(body)).message).toBe(`HTTP 404: ${words}`);
  });

  it.each([
    [429, 'rate_limited', '<title> Web Page\n Blocked </title>', {}, 'an HTML page, "Web Page Blocked"'],
    [503, 'server_error', '<h1>Blocked</h1><script>let a</script>', {}, 'an HTML page, "Blocked"'],
    [400, 'schema', '', { 'content-type': 'text/html' }, 'an HTML page without text'],
  ] as const)(
    'says of an HTML page with %d that no API answered: %s',
    async (status, result, body, headers, looks) => {
      const { failure } = createClient();
      mockApi(origin).get('/a').reply(status, body, headers);
      const message = `HTTP ${status}: what answered is no API, but ${looks}`;
      expect(await failure('/a')).toMatchObject({ result, message, answer: { status } });
    },
  );

  it("is the API's own if an error in JSON has the type of a page", async () => {
    const { failure } = createClient();
    mockApi(origin).get('/a').reply(403, '{"Message":"denied"}', { 'content-type': 'text/html' });
    expect(await failure('/a')).toMatchObject({ result: 'auth', message: 'HTTP 403: denied' });
  });

  it('comes with the id by which the vendor finds the request', async () => {
    const { failure } = createClient();
    mockApi(origin).get('/a').reply(500, '', { 'CDN-RequestId': 'e1b2c3' });
    expect((await failure('/a')).answer).toMatchObject({ status: 500, requestId: 'e1b2c3' });
    mockApi(origin).get('/a').reply(200, 'no JSON', { 'cdn-requestid': 'f4' });
    expect((await failure('/a')).answer).toMatchObject({ status: 200, requestId: 'f4' });
  });

  it('never contains the key, even if the answer repeats it', async () => {
    const error = await wordsOf({ title: `the key ${key} is unknown`, detail: key });
    expect(error.message).toBe('HTTP 404: the key [redacted] is unknown: [redacted]');
    expect(JSON.stringify(error)).not.toContain(key);
    const { get } = createClient();
    mockApi(origin)
      .get('/a')
      .reply(200, { latencyChart: { [key]: 1 } });
    expect(await get('/a')).toEqual({ latencyChart: { '[redacted]': 1 } });
  });

  it('never hold a key that cannot be a header', async () => {
    const baseUrl = await serve((_, response) => response.end('{}'));
    const { failure } = createClient({ baseUrl }, { ...keys, get: () => new Secret('k-1\nX: y') });
    const error = await failure('/a');
    expect(error.result).toBe('network');
    expect(`${error.message} ${String(error.cause)}`).not.toContain('k-1');
  });
});

describe('retries', () => {
  const answers = (statuses: readonly number[], headers: Record<string, string> = {}) => {
    for (const status of statuses) mockApi(origin).get('/a').reply(status, '{}', headers);
  };

  it.each([408, 500, ...runs<number[]>([], [502, 503, 504])])(
    'follow %d until one succeeds',
    async (status) => {
      drawTheLeast();
      const { get, codes } = createClient({ maxRetries: 2 });
      answers([status, status, 200]);
      expect(await get('/a')).toEqual({});
      expect(codes).toEqual([`shield ${status}`, `shield ${status}`, 'shield 200']);
    },
  );

  it('follow a network error', async () => {
    drawTheLeast();
    const { get, codes } = createClient({ maxRetries: 1 });
    mockApi(origin).get('/a').replyWithError('reset');
    answers([200]);
    expect(await get('/a')).toEqual({});
    expect(codes).toEqual(['shield network', 'shield 200']);
  });

  it('follow a 429 once its pause is over', async () => {
    drawTheLeast();
    const { get, pacer, codes } = createClient({ maxRetries: 1 });
    const pause = vi.spyOn(pacer, 'refused').mockImplementation(() => false);
    answers([429, 200]);
    expect(await get('/a')).toEqual({});
    expect(pause).toHaveBeenCalledOnce();
    expect(codes).toEqual(['shield 429', 'shield 200']);
  });

  it('stop after max_retries with the last failure', async () => {
    drawTheLeast();
    const { failure, codes } = createClient({ maxRetries: 2 });
    answers([500, 503, 502]);
    expect(await failure('/a')).toMatchObject({ result: 'server_error', message: 'HTTP 502' });
    expect(codes).toHaveLength(3);
  });

  it.each([302, 404, ...runs<number[]>([], [400, 401, 403, 410])])('do not follow %d', async (status) => {
    drawTheLeast();
    const { failure, codes } = createClient({ maxRetries: 2 });
    answers([status]);
    await failure('/a');
    expect(codes).toEqual([`shield ${status}`]);
  });

  it('do not follow an unreadable body, and there are none with max_retries 0', async () => {
    drawTheLeast();
    const patient = createClient({ maxRetries: 2 });
    mockApi(origin).get('/a').reply(200, '<html>');
    await patient.failure('/a');
    expect(patient.codes).toHaveLength(1);
    const hasty = createClient({ maxRetries: 0 });
    answers([500]);
    await hasty.failure('/a');
    expect(hasty.codes).toHaveLength(1);
  });

  it('do not begin once the time of the poll is used up', async () => {
    drawTheLeast();
    const { failure, codes } = createClient({ maxRetries: 2 });
    answers([500]);
    await failure('/a', { budgetMs: 0 });
    expect(codes).toHaveLength(1);
  });

  it('wait for Retry-After, and are not made if the poll would take too long', async () => {
    drawTheLeast();
    const { get, failure, codes } = createClient({ maxRetries: 2 });
    answers([503], { 'Retry-After': '61' });
    expect(await failure('/a')).toMatchObject({ answer: { retryAfterMs: 61_000 } });
    expect(codes).toHaveLength(1);
    answers([503], { 'Retry-After': new Date(Date.now() + 120_000).toUTCString() });
    await failure('/a');
    expect(codes).toHaveLength(2);
    answers([503], { 'Retry-After': '1' });
    answers([200]);
    expect(await get('/a')).toEqual({});
    expect(codes).toHaveLength(4);
  });

  it('do not delay the failure if the API is paused for longer than the poll may take', async () => {
    drawTheLeast();
    const { failure, pacer, codes } = createClient({ maxRetries: 2 });
    const permit = await pacer.permit(address, {}, new AbortController().signal);
    pacer.refused(address, `${new Secret(key).id} ${origin}`, 3_600_000);
    answers([500]);
    expect(await failure('/a', { permit, budgetMs: 3_600_000 })).toMatchObject({ result: 'server_error' });
    expect(codes).toHaveLength(1);
  });
});

describe('a 429', () => {
  const freeze = () => {
    drawTheLeast();
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-20T09:30:00Z') });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const made = createClient();
    /** How long the pause after each 429 was, in ms. */
    const durations: number[] = [];
    const refuse = async (headers: Record<string, string> = {}) => {
      mockApi(origin).get('/a').reply(429, '', headers);
      const permit: Permit = { release: () => undefined };
      expect((await made.failure('/a', { permit })).result).toBe('rate_limited');
      durations.push(made.pacer.pauseOf(address)?.forMs ?? 0);
    };
    return { ...made, durations, refuse };
  };

  it('pauses its kind and the listings of that at its key, for as long as Retry-After says', async () => {
    const { pacer, refuse, durations, pauses } = freeze();
    await refuse({ 'Retry-After': '7' });
    expect(durations).toEqual([7000]);
    expect(pauses).toEqual([Date.parse('2026-11-20T09:30:07Z')]);
    const served: string[] = [];
    const ask = (one: QueueAddress, name: string) =>
      void pacer.permit(one, {}, new AbortController().signal).then(() => served.push(name));
    ask({ ...address, queue: 'a listing' }, 'same kind');
    ask({ ...address, kind: 'b', queue: 'b' }, 'another kind');
    await new Promise(setImmediate);
    expect(served).toEqual(['another kind']);
  });

  it('measures the date of Retry-After by the clock of the API', async () => {
    const { refuse, durations } = freeze();
    await refuse({ 'Retry-After': 'Fri, 20 Nov 2026 12:00:30 GMT', Date: 'Fri, 20 Nov 2026 12:00:00 GMT' });
    await refuse({ 'Retry-After': 'Fri, 20 Nov 2026 09:31:00 GMT', Date: 'no time' });
    expect(durations).toEqual([30_000, 60_000]);
  });

  it.each([
    {},
    { 'Retry-After': 'Fri, 20 Nov 2026 09:00:00 GMT' },
    ...runs<Record<string, string>[]>([], [{ 'Retry-After': '0' }, { 'Retry-After': 'later' }]),
  ])('pauses longer each time until a request succeeds, with %j', async (headers: Record<string, string>) => {
    const { refuse, get, durations } = freeze();
    for (let refusals = 0; refusals < 3; refusals++) {
      await refuse(headers);
      vi.advanceTimersByTime(60_000);
    }
    mockApi(origin).get('/a').reply(200, {});
    await get('/a');
    await refuse(headers);
    expect(durations).toEqual([1000, 2000, 4000, 1000]);
  });

  it('pauses no longer than at first after any other answer', async () => {
    const { refuse, failure, durations } = freeze();
    const permit: Permit = { release: () => undefined };
    for (const answer of [undefined, 404, undefined, 500]) {
      await refuse();
      vi.advanceTimersByTime(60_000);
      if (answer === undefined) continue;
      mockApi(origin).get('/a').reply(answer);
      await failure('/a', { permit });
    }
    await refuse();
    expect(durations).toEqual([1000, 2000, 1000, 2000, 1000]);
  });

  it('counts once for requests that were under way together', async () => {
    const { refuse, durations, pauses } = freeze();
    await Promise.all([refuse(), refuse(), refuse()]);
    expect(durations.splice(1)).toEqual([1000, 1000]);
    vi.advanceTimersByTime(1000);
    await refuse();
    expect(durations).toEqual([1000, 2000]);
    expect(pauses).toHaveLength(2);
  });

  it('prolongs the current pause if it says how long', async () => {
    const { refuse, durations, pauses } = freeze();
    await refuse();
    await refuse({ 'Retry-After': '30' });
    await refuse({ 'Retry-After': '5' });
    expect(durations).toEqual([1000, 30_000, 30_000]);
    const ends = ['09:30:01', '09:30:30'];
    expect(pauses).toEqual(ends.map((end) => Date.parse(`2026-11-20T${end}Z`)));
  });
});

describe('a body', () => {
  const json = JSON.stringify({ data: { note: 'ä'.repeat(50) } });
  const serveBody = (bytes: string | Buffer, headers: Record<string, string> = {}) =>
    serve((_, response) => {
      response.writeHead(200, headers).end(bytes);
    });
  const answer = async (bytes: string | Buffer, headers?: Record<string, string>) =>
    createClient({ baseUrl: await serveBody(bytes, headers) }).get('/a');
  const failureOf = async (bytes: string | Buffer, headers?: Record<string, string>) => {
    const { failure, codes } = createClient({ baseUrl: await serveBody(bytes, headers) });
    const error = await failure('/a');
    return { result: error.result, message: error.message, codes };
  };

  const long = '1'.repeat(runs(1_000_000, 10_000_000));

  it.each([
    ['identity', Buffer.from(json)],
    ['gzip', gzipSync(json)],
    ['br', brotliCompressSync(json)],
    ['deflate', deflateSync(json)],
  ])('is decoded from %s', async (coding, bytes) => {
    expect(await answer(bytes, { 'content-encoding': coding })).toEqual(JSON.parse(json));
  });

  it.each([
    ['gzip', Buffer.from(json), 'the body is not the gzip that its header says'],
    ['gzip', gzipSync(json).subarray(0, 40), 'the body is not the gzip that its header says'],
    ['br', gzipSync(json), 'the body is not the br that its header says'],
    ['zstd', Buffer.from(json), 'the body has the unknown coding "zstd"'],
    ['gzip, br', Buffer.from(json), 'the body has the unknown coding "gzip, br"'],
    ['gzip', gzipSync(long), 'the body is longer than max_response_bytes (100000)'],
    ['br', brotliCompressSync(long), 'the body is longer than max_response_bytes (100000)'],
  ])('that claims the coding %s but is not is refused: case %#', async (coding, bytes, message) => {
    expect(await failureOf(bytes, { 'content-encoding': coding })).toEqual({
      result: 'schema',
      message,
      codes: ['shield 200'],
    });
  });

  it.each([
    ['', 'the body is empty'],
    ['\uFEFF', 'the body is empty'],
    ['OK', 'the body is not JSON'],
    ['{"data": {"planType": 1', 'the body is not JSON'],
    [`${'['.repeat(65)}${']'.repeat(65)}`, 'the body is nested too deeply'],
    [`${'{"a":'.repeat(9000)}`, 'the body is nested too deeply'],
  ])('%j is refused', async (body, message) => {
    expect(await failureOf(body)).toEqual({ result: 'schema', message, codes: ['shield 200'] });
  });

  it('keeps the digits of integers up to 64 bits', async () => {
    expect(await answer('{"a":9007199254740993,"b":18446744073709551615,"c":-9223372036854775808}')).toEqual({
      a: 9007199254740993n,
      b: 18446744073709551615n,
      c: -9223372036854775808n,
    });
    expect(await answer('[9007199254740991, 3.0, 1e3, 0.1234567890123456]')).toEqual([
      9007199254740991, 3, 1000, 0.1234567890123456,
    ]);
  });

  it('reads integers beyond 64 bits as plain numbers, in no extra time', async () => {
    expect(await answer(`[1${'0'.repeat(30)}, ${'9'.repeat(90_000)}]`)).toEqual([
      1e30,
      Number.POSITIVE_INFINITY,
    ]);
  });

  it('uses the later of two values of a key, also beside a long number', async () => {
    expect(await answer('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(await answer('{"a":1,"a":2,"id":12345678901234567890}')).toMatchObject({ a: 2 });
  });

  it('longer than max_response_bytes is refused before all of it has arrived', async () => {
    const closed = vi.fn();
    const url = await serve((_, response) => {
      response.on('close', closed);
      response.writeHead(200);
      sendForever(response);
    });
    const { failure, codes } = createClient({ baseUrl: url });
    expect(await failure('/a')).toMatchObject({
      result: 'schema',
      message: 'the body is longer than max_response_bytes (100000)',
    });
    expect(codes).toEqual(['shield schema']);
    await expect.poll(() => closed).toHaveBeenCalled();
  });
});

describe('an API that does not answer', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const stay = () => undefined;

  it.each([
    ['before the head', ''],
    ['in the body', `${head}content-length: 20\r\n\r\n{"data":`],
    ...runs<[string, string][]>(
      [],
      [
        ['in the head', head],
        ['before the body', `${head}content-length: 20\r\n\r\n`],
        ['between chunks', `${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`],
      ],
    ),
  ])('%s is cut off at the deadline', async (_, bytes) => {
    const { failure, codes } = createClient({ baseUrl: await serveBytes(bytes, stay), timeoutMs: 100 });
    expect(await failure('/a')).toMatchObject({
      result: 'timeout',
      message: 'no whole answer within 100ms',
      retryable: true,
    });
    expect(codes).toEqual(['shield timeout']);
  });

  it('but keeps sending a few bytes is cut off at the deadline', async () => {
    const url = await serve((_, response) => {
      const drop = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drop));
    });
    const { failure } = createClient({ baseUrl: url, timeoutMs: 200 });
    expect((await failure('/a')).result).toBe('timeout');
  });

  const closed = /^connection closed before the answer was complete \(\w+\)$/;
  const other = /^the answer is not HTTP(?: \(\w+\))?$/;

  it.each([
    ['resets before the head', '', 'reset', closed],
    ['resets in the body', `${head}content-length: 20\r\n\r\n{"data":`, 'reset', closed],
    ['closes before the head', '', 'end', closed],
    ['closes in the body', `${head}content-length: 20\r\n\r\n{"data":`, 'end', closed],
    ['closes between chunks', `${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`, 'end', closed],
    ['speaks another protocol', '220 mail ready\r\n', 'end', other],
    [
      'sends a head without end',
      `${head}${`x: ${'y'.repeat(1000)}\r\n`.repeat(20)}`,
      'end',
      /^UND_ERR_HEADERS_OVERFLOW: Headers Overflow Error$/,
    ],
  ])('but %s is a network error that says so', async (_, bytes, how, words) => {
    const url = await serveBytes(bytes, (socket) => {
      if (how === 'reset') socket.resetAndDestroy();
      else socket.end();
    });
    const { failure, codes } = createClient({ baseUrl: url, maxRetries: 0 });
    const error = await failure('/a');
    expect(error).toMatchObject({ result: 'network', retryable: true });
    expect(error.message).toMatch(words);
    expect(codes).toEqual(['shield network']);
  });
});

describe('an abort', () => {
  const stopped = new Error('stopped');

  it.each([
    ['a request', '', 'aborted'],
    ['a body', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{', 'aborted'],
    ['the body of a failure', 'HTTP/1.1 500 x\r\ncontent-length: 20\r\n\r\n{', '(500|aborted)'],
  ])('ends %s, with its reason, and the request counts, since it was sent', async (_, bytes, code) => {
    const abort = new AbortController();
    const closed = vi.fn();
    const url = await serveBytes(bytes, (socket) => {
      socket.on('close', closed);
      setImmediate(() => abort.abort(stopped));
    });
    const { get, codes } = createClient({ baseUrl: url, maxRetries: 2 });
    await expect(get('/a', { signal: abort.signal })).rejects.toBe(stopped);
    expect(codes).toEqual([expect.stringMatching(`^shield ${code}$`)]);
    await expect.poll(() => closed).toHaveBeenCalled();
  });

  it('ends the wait before a retry', async () => {
    const abort = new AbortController();
    const { get, codes } = createClient({ maxRetries: 2 });
    mockApi(origin).get('/a').reply(503, '', { 'Retry-After': '5' });
    const asked = get('/a', { signal: abort.signal });
    await expect.poll(() => codes).toEqual(['shield 503']);
    setImmediate(() => abort.abort(stopped));
    await expect(asked).rejects.toBe(stopped);
  });

  it('ends the wait for a permit, for the first try and for a retry', async () => {
    drawTheLeast();
    const { get, pacer, codes } = createClient({ maxRetries: 2 });
    const permit = await pacer.permit(address, {}, new AbortController().signal);
    pacer.refused(address, `${new Secret(key).id} ${origin}`, 5000);
    const first = new AbortController();
    const asked = get('/a', { signal: first.signal });
    first.abort(stopped);
    await expect(asked).rejects.toBe(stopped);

    mockApi(origin).get('/a').reply(500);
    const second = new AbortController();
    const further = vi.spyOn(pacer, 'permit');
    const retried = get('/a', { signal: second.signal, permit });
    await expect.poll(() => further).toHaveBeenCalled();
    second.abort(stopped);
    await expect(retried).rejects.toBe(stopped);
    expect(codes).toEqual(['shield 500']);
  });

  it('before the start sends no request', async () => {
    const { get, codes } = createClient({ maxRetries: 2 });
    const release = vi.fn();
    const permit: Permit = { release };
    await expect(get('/a', { signal: AbortSignal.abort(stopped), permit })).rejects.toBe(stopped);
    expect(release).toHaveBeenCalled();
    expect(codes).toEqual([]);
  });

  it('leaves nothing on the signal after requests and retries have ended', async () => {
    drawTheLeast();
    const { signal } = new AbortController();
    const { get } = createClient({ maxRetries: 1 });
    for (let i = 0; i < runs(3, 20); i++) {
      mockApi(origin).get('/a').reply(500);
      mockApi(origin).get('/a').reply(200, {});
      await get('/a', { signal });
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(dependantsOf(signal)).toBe(0);
  });
});

it('uses new settings for new requests while those under way end with the old ones', async () => {
  let answerOld = () => undefined as unknown;
  const asked = vi.fn();
  const old = await serve((_, response) => {
    asked();
    answerOld = () => response.end('"old"');
  });
  const { client, get } = createClient({ baseUrl: old });
  const before = get('/a');
  await expect.poll(() => asked).toHaveBeenCalled();
  const replaced = client.reconfigure({ ...config, baseUrl: `${origin}/new` });
  mockApi(origin).get('/new/a').reply(200, '"new"');
  expect(await get('/a')).toBe('new');
  answerOld();
  expect(await before).toBe('old');
  await replaced;
});

it('aborts the requests under way when it is closed', async () => {
  const asked = vi.fn();
  const { client, failure } = createClient({ baseUrl: await serve(asked) });
  const failed = failure('/a');
  await expect.poll(() => asked).toHaveBeenCalled();
  await client.close();
  expect((await failed).result).toBe('network');
});
