import { expect, it } from 'vitest';
import { causesOf } from '../../src/status/causes.ts';
import { failing, kinds, nowMs, status } from './fixtures.ts';

const causes = (...statuses: readonly ReturnType<typeof status>[]) => causesOf(statuses, [], kinds, nowMs);

it('groups failures with one reason, whatever the kind and the number of targets', () => {
  const all = causes(
    failing({ app_id: 'a' }),
    failing({ app_id: 'b' }, { message: 'HTTP 500' }),
    failing({ app_id: 'c' }),
    status({ app_id: 'd' }),
  );
  expect(all.map(({ title, affected }) => [title, affected])).toEqual([
    ['HTTP 503 from the application API', '2 targets (application)'],
    ['HTTP 500 from the application API', '1 target (application)'],
  ]);
});

it('names the API once', () => {
  const message = '127.0.0.1:1 refuses connections (ECONNREFUSED): check apis.application.base_url';
  expect(causes(failing({ app_id: 'a' }, { result: 'network', message }))[0]?.title).toBe(message);
});

it('lists the worst first: a refused key before an outage, and deleted targets last', () => {
  const all = causes(
    failing(
      { app_id: 'a' },
      { state: 'absent', result: 'not_found', message: 'the complete listing does not have it' },
    ),
    failing({ app_id: 'b' }),
    failing({ app_id: 'c' }, { result: 'auth', message: 'refused', credential: 'main' }),
  );
  expect(all.map(({ title, tone }) => [title, tone])).toEqual([
    ['The key of main is refused', 'bad'],
    ['HTTP 503 from the application API', 'bad'],
    ['the complete listing does not have it', 'warn'],
  ]);
});

it('says since when, what it means for the values, and what to do', () => {
  const failure = { result: 'server_error', message: 'HTTP 503', atMs: nowMs - 1000 };
  const [cause] = causes(
    failing(
      { app_id: 'a' },
      { lastSuccessMs: nowMs - 60_000, lastFailure: { ...failure, sinceMs: nowMs - 50_000 } },
    ),
    failing(
      { app_id: 'b' },
      { lastSuccessMs: nowMs - 240_000, stale: true, lastFailure: { ...failure, sinceMs: nowMs - 230_000 } },
    ),
    failing({ app_id: 'c' }, { lastSuccessMs: undefined }),
  );
  expect(cause?.sinceMs).toBe(nowMs - 230_000);
  expect(cause?.meaning).toBe(
    'the values of 1 have left the page; the values of 1 were never read; the values of 1 stay until they are stale; the first leave in 2 m',
  );
  expect(cause?.advice).toContain('status page of bunny.net');
  expect(cause?.runbook).toMatch(/docs\/runbooks\/BunnynetKindUnreadable\.md$/);
});

it('never says that values have left which there never were', () => {
  const lastSuccessMs = undefined;
  const [failed] = causes(failing({ app_id: 'a' }, { stale: true, lastSuccessMs }));
  expect(failed?.meaning).toBe('the values of all were never read');
  const [gone] = causes(
    failing({ app_id: 'b' }, { state: 'absent', stale: true }),
    failing({ app_id: 'c' }, { state: 'absent', lastSuccessMs }),
  );
  expect(gone?.meaning).toBe('the values of 1 have left the page; the values of 1 were never read');
});

it('names what a key may not read once, not for each zone', () => {
  const refused = { result: 'auth', isKeyRefused: false, atMs: nowMs };
  const all = causes(
    failing(
      { shield_zone_id: '1' },
      { kind: 'shield_zone', lastFailure: { ...refused, message: 'not allowed: zone 1' } },
    ),
    failing(
      { shield_zone_id: '2' },
      { kind: 'shield_zone', lastFailure: { ...refused, message: 'not allowed: zone 2' } },
    ),
  );
  expect(all.map(({ title, affected }) => [title, affected])).toEqual([
    ['Not allowed to read: Shield Zone', '2 targets (Shield Zone)'],
  ]);
});

it('is empty if all is well', () => {
  expect(causes(status({ app_id: 'a' }), status({ app_id: 'b' }, { state: 'pending' }))).toEqual([]);
});
