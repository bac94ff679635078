import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { Store } from '../../src/exposition/store.ts';
import { createMetricsRoute, type MetricsRouteOptions } from '../../src/http/metrics-route.ts';
import type { Route } from '../../src/http/route.ts';
import { runs } from '../runs.ts';
import { serve as serveRoutes } from './serve.ts';

function filled() {
  const store = new Store([
    { name: 'app_up', help: 'Up.', type: 'gauge', kind: 'app' },
    { name: 'zone_up', help: 'Up.', type: 'gauge', kind: 'zone' },
  ]);
  const app = store.add('app', { app_id: 'a' });
  const zone = store.add('zone', { zone_id: '1' });
  app.set([{ family: 0, samples: [{ value: 1 }] }]);
  zone.set([{ family: 1, samples: [{ value: 0 }] }]);
  return { store, app, zone };
}

const appPart = '# HELP app_up Up.\n# TYPE app_up gauge\napp_up{app_id="a"} 1\n';
const zonePart = '# HELP zone_up Up.\n# TYPE zone_up gauge\nzone_up{zone_id="1"} 0\n';
const ownPart = '# TYPE own gauge\nown 1\n';
const openMetrics = 'application/openmetrics-text; version=1.0.0';

async function serve(changes: Partial<MetricsRouteOptions> = {}) {
  const answerTo = createMetricsRoute({
    store: filled().store,
    kinds: ['app', 'zone'],
    ownMetrics: () => Promise.resolve([Buffer.from(ownPart)]),
    ...changes,
  });
  const answers: Promise<void>[] = [];
  const responses: ServerResponse[] = [];
  const handle: Route['handle'] = (incoming, response, query) => {
    responses.push(response);
    const answer = Promise.resolve(answerTo(incoming, response, query));
    answers.push(answer);
    return answer;
  };
  const { port } = await serveRoutes({ routes: [{ path: '/metrics', methods: ['GET'], handle }] });
  return { port, answers, responses };
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function get(
  port: number,
  path = '/metrics',
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  const outgoing = request({ host: '127.0.0.1', port, path, headers, method, agent: false }).end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return { status: incoming.statusCode, headers: incoming.headers, body: Buffer.concat(chunks) };
}

describe('the metrics handler', () => {
  it('answers with text, the store first and then the own metrics', async () => {
    const { port } = await serve();
    const { status, headers, body } = await get(port);
    expect(status).toBe(200);
    expect(body.toString()).toBe(appPart + zonePart + ownPart);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-length': `${body.length}`,
      vary: 'Accept, Accept-Encoding',
    });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('answers with OpenMetrics with a single EOF', async () => {
    const { port } = await serve();
    const { headers, body } = await get(port, '/metrics', { accept: openMetrics });
    expect(headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(body.toString()).toBe(
      `# TYPE app_up gauge\n# UNIT app_up \n# HELP app_up Up.\napp_up{app_id="a"} 1\n# TYPE zone_up gauge\n# UNIT zone_up \n# HELP zone_up Up.\nzone_up{zone_id="1"} 0\n${ownPart}# EOF\n`,
    );
  });

  it.each(['*/*', openMetrics])('compresses to the same bytes for %s', async (accept) => {
    const { port } = await serve();
    const plain = await get(port, '/metrics', { accept });
    const { headers, body } = await get(port, '/metrics', { accept, 'accept-encoding': 'br, gzip' });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': `${body.length}` });
    expect(gunzipSync(body).equals(plain.body)).toBe(true);
  });

  it.each([
    ['?kind=app', appPart],
    ['?kind=zone&kind=app', appPart + zonePart],
    ['?kind=zone,app', appPart + zonePart],
    ['?kind=exporter', ownPart],
    ['?kind=exporter&kind=zone', zonePart + ownPart],
    ['?other=1', appPart + zonePart + ownPart],
  ])('narrows to %s', async (query, expected) => {
    const { port } = await serve();
    expect((await get(port, `/metrics${query}`)).body.toString()).toBe(expected);
    const zipped = await get(port, `/metrics${query}`, { 'accept-encoding': 'gzip' });
    expect(gunzipSync(zipped.body).toString()).toBe(expected);
  });

  it('does not render the own metrics if the page does not include them', async () => {
    const ownMetrics = vi.fn(() => Promise.resolve([Buffer.from(ownPart)]));
    const { port } = await serve({ ownMetrics });
    expect((await get(port, '/metrics?kind=app', { accept: openMetrics })).body.toString()).toMatch(
      / 1\n# EOF\n$/,
    );
    expect(ownMetrics).not.toHaveBeenCalled();
  });

  it.each(['?kind=', '?kind=app&kind=b%0A', '?kind=__proto__'])(
    'refuses %s and says which kinds there are',
    async (query) => {
      const { port } = await serve();
      const { status, body } = await get(port, `/metrics${query}`);
      expect(status).toBe(400);
      expect(body.toString()).toMatch(/^unknown kind ".*": expected app, zone or exporter\n$/);
    },
  );

  it.each(['identity', 'gzip'])('answers HEAD with the headers of GET, %s', async (coding) => {
    const { port } = await serve();
    const headers = { 'accept-encoding': coding };
    const full = await get(port, '/metrics', headers);
    const head = await get(port, '/metrics', headers, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    for (const name of ['content-type', 'content-length', 'content-encoding', 'vary']) {
      expect(head.headers[name]).toBe(full.headers[name]);
    }
    expect(full.body.length).toBeGreaterThan(0);
  });

  it.each([
    ['', appPart, zonePart],
    ['?kind=app', appPart, ''],
    ['?kind=zone', '', zonePart],
  ])('compresses the page as it is now, of %s too, whatever was asked before', async (query, app, zone) => {
    const { store, app: shownApp, zone: shownZone } = filled();
    let own = Buffer.from(ownPart);
    const { port } = await serve({ store, ownMetrics: () => Promise.resolve([own]) });
    const unzipped = async (asked = '') => {
      const { body } = await get(port, `/metrics${asked}`, { 'accept-encoding': 'gzip' });
      return gunzipSync(body).toString();
    };
    const ownNow = () => (query === '' ? own.toString() : '');
    for (const before of ['', '?kind=app', '?kind=zone']) {
      expect(await unzipped(query)).toBe(app + zone + ownNow());
      expect(await unzipped(before)).not.toBe('');
    }
    // The last family of what is compressed together.
    shownZone.set([{ family: 1, samples: [{ value: 7 }] }]);
    expect(await unzipped(query)).toBe(app + zone.replace(/0\n$/, '7\n') + ownNow());
    shownApp.set([{ family: 0, samples: [{ value: 7 }] }]);
    own = Buffer.from('# TYPE own gauge\nown 2\n');
    expect(await unzipped(query)).toBe(app.replace(/1\n$/, '7\n') + zone.replace(/0\n$/, '7\n') + ownNow());
  });

  it('answers 406 if neither gzip nor identity is accepted', async () => {
    const { port } = await serve();
    const { status, headers } = await get(port, '/metrics', { 'accept-encoding': 'br, identity;q=0' });
    expect([status, headers.vary]).toEqual([406, 'Accept, Accept-Encoding']);
  });

  it('refuses scrapes beyond the limit with 503, and answers again when one is done', async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ownMetrics = vi.fn(() => held.then(() => [Buffer.from(ownPart)]));
    const { port } = await serve({ ownMetrics, limits: { maxInFlight: 2 } });
    const first = [get(port), get(port)];
    await expect.poll(() => ownMetrics).toHaveBeenCalledTimes(2);
    const { status, headers, body } = await get(port);
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(body.toString()).toBe('2 scrapes are being answered, which is the limit\n');
    release?.();
    for (const answer of first) expect((await answer).status).toBe(200);
    expect((await get(port)).status).toBe(200);
  });

  it('fails if the own metrics cannot be rendered, and answers the next scrape', async () => {
    const ownMetrics = vi.fn(() => Promise.resolve([Buffer.from(ownPart)]));
    ownMetrics.mockRejectedValueOnce(new Error('a collector failed'));
    const { port } = await serve({ ownMetrics, limits: { maxInFlight: 1 } });
    expect(await get(port)).toMatchObject({ status: 500, body: Buffer.from('Internal Server Error\n') });
    expect((await get(port)).status).toBe(200);
  });

  describe('with readers that do not read', () => {
    const block = Buffer.alloc(200_000, 'x');
    const parts = Array.from({ length: runs(100, 200) }, () => block);
    const bigStore: MetricsRouteOptions['store'] = {
      families: (kind) =>
        kind
          ? []
          : [{ version: 0, length: () => parts.length * block.length, bytes: () => parts, copy: () => 0 }],
    };
    const small = '/metrics?kind=exporter';

    function stalled(port: number): Socket {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => socket.destroy());
      socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
      return socket.pause();
    }

    it('cuts them off at the deadline, and answers scrapes again', async () => {
      const { port, responses } = await serve({
        store: bigStore,
        limits: { maxInFlight: 2, sendTimeoutMs: 500 },
      });
      const readers = [stalled(port), stalled(port)];
      await expect.poll(() => responses).toHaveLength(2);
      for (const response of responses)
        await expect.poll(() => response.socket?.writableLength).toBeGreaterThan(0);
      await expect.poll(async () => (await get(port, small)).status, { interval: 20 }).toBe(200);
      for (const reader of readers) {
        let received = 0;
        reader.on('data', (chunk: Buffer) => {
          received += chunk.length;
        });
        const closed = once(reader, 'close');
        reader.resume();
        await closed;
        expect(received).toBeLessThan(parts.length * block.length);
      }
    });

    it('counts none that has gone, even if its page waited behind another on the same connection', async () => {
      const { port, answers } = await serve({
        store: bigStore,
        limits: { maxInFlight: 2, sendTimeoutMs: 500 },
      });
      const pipelining = stalled(port);
      pipelining.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
      await expect.poll(() => answers).toHaveLength(2);
      pipelining.resetAndDestroy();
      await Promise.all(answers);
      expect((await get(port, small)).status).toBe(200);
    });

    it('ends with a reader that goes away', async () => {
      const { port, answers, responses } = await serve({ store: bigStore, limits: { maxInFlight: 1 } });
      const reader = stalled(port);
      await expect.poll(() => responses[0]?.socket?.writableLength).toBeGreaterThan(0);
      reader.destroy();
      await answers[0];
      const { status, body } = await get(port);
      expect([status, body.length]).toEqual([200, parts.length * block.length + ownPart.length]);
    });
  });
});
