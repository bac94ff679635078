import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { metrics, rawClient, serve } from '../http/serve.ts';
import { runs } from '../runs.ts';
import { failing, listing, many, nowMs, pagesOver, refusedListing, status } from './fixtures.ts';

interface TargetsPage {
  readonly counts: Readonly<Record<string, unknown>>;
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
  readonly targets: readonly Readonly<Record<string, unknown>>[];
  readonly listings: readonly Readonly<Record<string, unknown>>[];
  readonly listing_counts: Readonly<Record<string, number>>;
}

async function targetsPage(url: string, query = ''): Promise<TargetsPage> {
  const response = await fetch(`${url}/api/v1/targets${query}`);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await response.json()) as TargetsPage;
}

/** The answer of a route, without a server. */
function recorder() {
  const body: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      body.push(chunk);
      done();
    },
  });
  const headers = new Map<string, unknown>();
  return Object.assign(stream, {
    req: Object.assign(new EventEmitter(), { socket: { destroy: () => undefined } }),
    statusCode: 200,
    headersSent: false,
    setHeader: (name: string, value: unknown) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
    headers,
    text: () => Buffer.concat(body).toString(),
  });
}

describe('the pages', () => {
  it('serve the status page with its own policy', async () => {
    const { url } = await serve({
      routes: pagesOver(() => [status({ app_id: 'a' }, { name: 'storefront' })]),
    });
    const response = await fetch(`${url}/`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("style-src 'sha256-");
    expect(await response.text()).toContain('storefront');
    const config = await fetch(`${url}/config`);
    expect(config.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  it('answer an invalid query with 400 and what was expected', async () => {
    const { url } = await serve({ routes: pagesOver(() => []) });
    for (const path of ['/', '/api/v1/targets']) {
      const response = await fetch(`${url}${path}?state=%3Cb%3E`);
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(await response.text()).toBe('state: expected one such as ok, absent or stale; got "<b>"\n');
    }
  });

  it('have the same about every target in JSON as the status page', async () => {
    const one = failing({ library_id: '4711', video_id: '0f8c' }, { kind: 'video_storage', name: 'trailer' });
    const two = status(
      { app_id: 'a' },
      {
        state: 'pending',
        condition: 'active',
        lastSuccessMs: undefined,
        lastDurationSeconds: undefined,
      },
    );
    const { url } = await serve({ routes: pagesOver(() => [one, two], { nextPollInMs: () => undefined }) });
    const page = await targetsPage(url);
    expect(page.counts).toEqual({
      targets: 2,
      ok: 0,
      failing: 1,
      absent: 0,
      lacking: 0,
      pending: 1,
      stale: 0,
      by_kind: {
        application: { targets: 1, ok: 0, failing: 0, absent: 0, pending: 1, lacking: 0, stale: 0 },
        video_storage: { targets: 1, ok: 0, failing: 1, absent: 0, pending: 0, lacking: 0, stale: 0 },
      },
      by_account: {
        account: { targets: 2, ok: 0, failing: 1, absent: 0, pending: 1, lacking: 0, stale: 0 },
      },
      conditions: { application: { active: 1 } },
    });
    expect(page.targets).toEqual([
      {
        kind: 'video_storage',
        ids: { library_id: '4711', video_id: '0f8c' },
        name: 'trailer',
        account: 'account',
        credential: 'account',
        state: 'failing',
        stale: false,
        interval_seconds: 60,
        stale_after_seconds: 180,
        last_success: new Date(nowMs - 12_000).toISOString(),
        last_duration_seconds: 0.184,
        next_poll: null,
        condition: null,
        last_failure: {
          result: 'server_error',
          reason: 'HTTP 503',
          at: new Date(nowMs - 3000).toISOString(),
        },
        lacking_since: null,
      },
      {
        kind: 'application',
        ids: { app_id: 'a' },
        name: null,
        account: 'account',
        credential: 'account',
        state: 'pending',
        stale: false,
        interval_seconds: 60,
        stale_after_seconds: 180,
        last_success: null,
        last_duration_seconds: null,
        next_poll: null,
        condition: 'active',
        last_failure: null,
        lacking_since: null,
      },
    ]);
  });

  it('have the same about every listing in JSON as the status page, the failing ones first', async () => {
    const excluded = [{ ids: { app_id: 'x' }, name: 'preview' }, { ids: { app_id: 'y' } }];
    // A second kind selects from the same listing.
    const statistics = { kind: 'application_statistics', targets: 4, excluded: [{ ids: { app_id: 'y' } }] };
    const selections = [{ kind: 'application', targets: 3, excluded }, statistics];
    const parent = { ids: { shield_zone_id: '501' }, name: 'shop' };
    const listings = [
      listing('applications', { found: 5, selections }),
      listing('endpoints', {
        ...refusedListing,
        kind: 'api_guardian',
        parent,
        credential: 'other',
        account: 'account',
      }),
    ];
    const { url } = await serve({ routes: pagesOver(() => [], { listings: () => listings }) });
    const page = await targetsPage(url);
    expect(page.listing_counts).toEqual({ listings: 2, ok: 1, lacking: 0, failing: 1, pending: 0 });
    expect(page.listings).toEqual([
      {
        listing: 'endpoints',
        kind: 'api_guardian',
        credential: 'other',
        account: 'account',
        parent,
        state: 'failing',
        interval_seconds: 600,
        found: 0,
        targets: {},
        excluded: 0,
        orphans: 0,
        excluded_names: [],
        last_success: null,
        last_duration_seconds: 0.3,
        last_failure: { result: 'auth', reason: 'HTTP 401', at: new Date(nowMs - 3000).toISOString() },
        lacking_since: null,
      },
      {
        listing: 'applications',
        kind: 'application',
        credential: 'account',
        account: 'account',
        parent: null,
        state: 'ok',
        interval_seconds: 600,
        found: 5,
        targets: { application: 3, application_statistics: 4 },
        excluded: 2,
        orphans: 0,
        excluded_names: ['preview', 'y'],
        last_success: new Date(nowMs - 30_000).toISOString(),
        last_duration_seconds: 0.3,
        last_failure: null,
        lacking_since: null,
      },
    ]);
  });

  it('are strictly ready once anything could be read', async () => {
    let hasRead = false;
    const { url } = await serve({ routes: pagesOver(() => [], { hasRead: () => hasRead }) });
    const ready = async () => (await fetch(`${url}/-/ready?strict`)).status;
    expect(await ready()).toBe(503);
    expect((await fetch(`${url}/-/ready`)).status).toBe(200);
    hasRead = true;
    expect(await ready()).toBe(200);
    expect(await (await fetch(`${url}/-/ready?strict`)).text()).toContain('something could be read');
  });

  it('filter and page the JSON like the status page, and include all targets without a page', async () => {
    const { url } = await serve({ routes: pagesOver(() => many(250)) });
    const all = await targetsPage(url);
    expect([all.targets.length, all.matching, all.page, all.pages]).toEqual([250, 250, 1, 1]);
    const some = await targetsPage(url, '?state=failing');
    expect(some.targets).toHaveLength(3);
    expect(some.targets[1]).toMatchObject({ name: 'service 150', state: 'failing' });
    const last = await targetsPage(url, '?page=3');
    expect([last.targets.length, last.matching, last.page, last.pages]).toEqual([50, 250, 3, 3]);
    expect((await targetsPage(url, '?q=nothing')).targets).toEqual([]);
  });

  it('send a long list of targets as JSON at the pace of the reader, while others are answered', async () => {
    // Too much for one write to a socket.
    const name = 'n'.repeat(2000);
    const crowd = many(runs(1500, 20_000)).map((one) => ({ ...one, target: { ...one.target, name } }));
    const { url, port } = await serve({ routes: [metrics, ...pagesOver(() => crowd)] });
    const slow = rawClient(port, 'GET /api/v1/targets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await slow.until('"targets"');
    slow.socket.pause();
    expect(await (await fetch(`${url}/metrics`)).text()).toBe('up 1\n');
    slow.socket.resume();
    const rows = (await slow.closed).match(/\{"kind":/g);
    expect(rows).toHaveLength(crowd.length);
  });

  it('stop looking for targets when the reader goes away', async () => {
    let looked = 0;
    let leave = () => {};
    const statuses = many(50).map((one) =>
      Object.defineProperty({ ...one }, 'condition', {
        get() {
          if (looked++ === 0) leave();
          // Takes a turn of the event loop, however fast the machine is.
          const endsAtMs = performance.now() + 5;
          while (performance.now() < endsAtMs);
          return undefined;
        },
      }),
    );
    const { port, log } = await serve({ routes: pagesOver(() => statuses, { tallies: () => [] }) });
    const gone = rawClient(port, 'GET /?q=a+b+c HTTP/1.1\r\nHost: a\r\n\r\n');
    leave = () => gone.socket.destroy();
    await gone.closed;
    // Until it looks at no more of them.
    for (let before = -1; before < looked; ) {
      before = looked;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(looked).toBeLessThan(statuses.length);
    expect(log.lines).toEqual([]);
  });

  it('answer 16 readers of the targets at the same time, and the next with 503', async () => {
    const some = many(runs(20, 2000));
    const route = pagesOver(() => some).find(({ path }) => path === '/');
    const read = async (response: ReturnType<typeof recorder>) => {
      const request = { method: 'GET', headers: {} } as IncomingMessage;
      await route?.handle(request, response as unknown as ServerResponse, new URLSearchParams());
      return response.statusCode;
    };
    const first = Array.from({ length: 16 }, () => read(recorder()));
    const refused = recorder();
    expect(await read(refused)).toBe(503);
    expect(refused.headers.get('Retry-After')).toBe(1);
    expect(new Set(await Promise.all(first))).toEqual(new Set([200]));
    const later = recorder();
    expect(await read(later)).toBe(200);
    expect(later.text()).toContain(runs('1 failing of 20 targets', '20 failing of 2,000 targets'));
  });

  it('answer HEAD with only the headers', async () => {
    const { url } = await serve({ routes: pagesOver(() => many(10)) });
    for (const path of ['/', '/api/v1/targets']) {
      const response = await fetch(`${url}${path}`, { method: 'HEAD' });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('');
    }
  });

  it('report whether every target was polled, and that the process is healthy', async () => {
    let ready = false;
    const { url } = await serve({ routes: pagesOver(() => [], { isReady: () => ready }) });
    expect((await fetch(`${url}/-/ready`)).status).toBe(503);
    ready = true;
    expect((await fetch(`${url}/-/ready`)).status).toBe(200);
    expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
  });

  it('reload if that is allowed, and report problems', async () => {
    const reload = (path: string) => fetch(path, { method: 'POST' });
    const off = await serve({ routes: pagesOver(() => []) });
    expect((await reload(`${off.url}/-/reload`)).status).toBe(403);
    const good = await serve({ routes: pagesOver(() => [], { reload: () => Promise.resolve() }) });
    expect((await reload(`${good.url}/-/reload`)).status).toBe(200);
    const wrong = () => Promise.reject(new Error('config.yml:3: wrong'));
    const bad = await serve({ routes: pagesOver(() => [], { reload: wrong }) });
    const response = await reload(`${bad.url}/-/reload`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('config.yml:3: wrong');
    expect((await fetch(`${bad.url}/-/reload`)).status).toBe(405);
  });
});

it('no page but /metrics has a key that the exporter knows, whatever a name or a reason says', async () => {
  const key = 'the-key-of-library-7';
  const hide = (text: string) => text.replaceAll(key, '[redacted]');
  const { url } = await serve({
    routes: pagesOver(() => [failing({ app_id: 'a' }, { message: `HTTP 500: ${key}` })], {
      hide,
      config: () => ({ credentials: { account: { file: key } } }),
      reload: () => Promise.reject(new Error(`expected no ${key}`)),
    }),
  });
  const asked: readonly (readonly [string, RequestInit])[] = [
    ['/', {}],
    ['/api/v1/targets', {}],
    ['/config', {}],
    ['/-/reload', { method: 'POST' }],
  ];
  for (const [path, init] of asked) {
    const text = await (await fetch(`${url}${path}`, init)).text();
    expect([text.includes('[redacted]'), text.includes(key)], path).toEqual([true, false]);
  }
});
