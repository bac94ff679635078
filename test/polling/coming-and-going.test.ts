/** Targets that come and go leave nothing in memory, and the key of a library is kept as long as an account lists it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { Pacer } from '../../src/api/pacer.ts';
import { Store } from '../../src/exposition/store.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { FoundKeys } from '../../src/secrets/found-keys.ts';
import { Redactor } from '../../src/secrets/redactor.ts';
import { runs } from '../runs.ts';
import { configOf, engineWith, sectionConfig } from './fixtures.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const dayMs = 86_400_000;
const listingsMs = 10_000;

interface Sent {
  readonly path: string;
  readonly credential: string;
  /** The found key of the request. */
  readonly key: string | undefined;
}

/** An engine and its parts; `answer` is the API. */
function setUp(answer: (sent: Sent) => unknown) {
  const foundKeys = new FoundKeys(new Redactor());
  const pacer = new Pacer({ requestsPerSecond: 10_000, maxConcurrency: 8 });
  const store = new Store(catalogue);
  const sent: Sent[] = [];
  const engine = engineWith(
    async (asked, signal) => {
      const { path, credential, permit } = asked;
      // Every further page needs its own permit.
      const held = permit ?? (await pacer.permit(asked, {}, signal));
      held.release();
      const request = { path, credential, key: foundKeys.get(credential)?.reveal() };
      sent.push(request);
      return answer(request);
    },
    {
      store,
      paceOf: () => pacer,
      foundKeys,
    },
  );
  return { engine, foundKeys, pacer, store, sent };
}

const settle = async () => await vi.advanceTimersByTimeAsync(500);

const refused = () => new ApiError('auth', 'HTTP 401', { status: 401 });
const library = (id: number, key: string) => ({
  Id: id,
  Name: `library ${id}`,
  ApiKey: key,
  EnableDRM: true,
});
const core = (...items: readonly object[]) => ({
  Items: items,
  TotalItems: items.length,
  HasMoreItems: false,
});

/** An account in which every id changes each round, and videos are refused in every other round. */
function answerIn(turn: number, path: string): unknown {
  const id = 1000 + turn;
  if (path.startsWith('/apps?')) return { items: [{ id: `app${turn}`, name: 'shop' }], cursor: null };
  if (path.startsWith('/pullzone')) return core({ Id: id, Name: `zone ${turn}` });
  if (path.startsWith('/videolibrary?')) return core(library(id, `the-key-of-library-${id}`));
  if (path.startsWith('/shield/shield-zones')) return { data: [{ shieldZoneId: id, pullZoneId: id }] };
  if (path.startsWith('/shield/shield-zone/'))
    return { data: { endpoints: [{ apiGuardianEndpointId: id }] } };
  if (path.includes('/rate-limits/')) return { data: [] };
  if (path.includes('/videos?')) return { items: [{ guid: `video${turn}`, title: 'a' }], totalItems: 1 };
  if (path.endsWith('/storage') && turn % 2 === 1) throw refused();
  return path.startsWith('/apps/') ? { monthlyCost: 1 } : { data: { originals: 1, totalBlockedRequests: 1 } };
}

const kinds = [
  'application',
  'pull_zone',
  'video_library',
  'video_storage',
  'shield_zone',
  'api_guardian_zone',
  'api_guardian',
  'rate_limit',
];
const rounds = runs(8, 1000);

describe('targets that come and go', () => {
  it(`leave nothing in memory after ${rounds} rounds`, async () => {
    let turn = 0;
    const { engine, foundKeys, pacer, store } = setUp(({ path }) => answerIn(turn, path));
    const libraries = (until: number) => Array.from({ length: until + 10 }, (_, n) => `library/${1000 + n}`);
    const sections = kinds.map((kind) => sectionConfig(kind, 'all', { intervalMs: dayMs }));
    engine.apply({ ...configOf(sections), discovery: { intervalMs: listingsMs } });
    const sizes = (): Readonly<Record<string, number>> => ({
      targets: engine.overview().targets.length,
      listings: engine.overview().listings.length,
      shown: Buffer.concat(store.page('text')).toString().match(/_up\{/g)?.length ?? 0,
      lanesOfPacer: pacer.size,
    });
    const play = async (until: number) => {
      // Each round reads every listing and polls the found targets at once.
      for (; turn < until; turn++) await vi.advanceTimersByTimeAsync(1.1 * listingsMs);
      await vi.advanceTimersByTimeAsync(3 * listingsMs);
      return sizes();
    };
    await settle();
    const first = sizes();
    expect(first['targets']).toBe(kinds.length);
    const early = await play(runs(4, 20));
    const late = await play(rounds);
    expect([early, late]).toEqual([first, first]);
    expect(libraries(rounds).filter((library) => foundKeys.has(library))).toHaveLength(1);
    expect(engine.overview().targets.map(({ target }) => target.key)).toContain(`pull_zone/${1000 + rounds}`);
    await engine.stop();
  });
});

it('nothing is asked any more about a video of a library that is gone', async () => {
  let libraries = [library(7, 'the-key')];
  let isRefused = false;
  const hanging: AbortSignal[] = [];
  const foundKeys = new FoundKeys(new Redactor());
  const engine = engineWith(
    async ({ path, permit }, signal) => {
      permit?.release();
      if (path.startsWith('/videolibrary')) return core(...libraries);
      if (path.endsWith('/storage')) {
        if (isRefused) throw refused();
        return { data: { originals: 1 } };
      }
      if (!isRefused) return { items: [{ guid: 'a' }], totalItems: 1 };
      hanging.push(signal);
      return await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    },
    { foundKeys },
  );
  engine.apply({ ...configOf([sectionConfig('video_storage', 'all')]), discovery: { intervalMs: dayMs } });
  await settle();
  isRefused = true;
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  // Whether the key opens the list of its videos.
  expect(hanging.map(({ aborted }) => aborted)).toEqual([false]);
  libraries = [];
  await vi.advanceTimersByTimeAsync(1.2 * dayMs);
  expect(engine.overview().targets).toEqual([]);
  expect(hanging[0]?.aborted).toBe(true);
  await engine.stop();
});

describe("a library's key", () => {
  const videos = (account: string) => sectionConfig('video_storage', 'all', { accounts: [account] });
  const answerWith =
    (libraries: Readonly<Record<string, readonly object[]>>, accepts: (key: string | undefined) => boolean) =>
    ({ path, credential, key }: Sent) => {
      if (path.startsWith('/videolibrary')) return core(...(libraries[credential] ?? []));
      if (!accepts(key)) throw refused();
      return path.includes('/videos?')
        ? { items: [{ guid: 'a' }], totalItems: 1 }
        : { data: { originals: 1 } };
    };

  it('that has changed is used from the next request on, and targets that refused the old one are polled at once', async () => {
    const libraries: Record<string, readonly object[]> = { account: [library(7, 'the-old-key')] };
    let right = 'the-old-key';
    const config = configOf([videos('account')]);
    const { engine, sent } = setUp(answerWith(libraries, (key) => key === right));
    // Videos are polled every minute, libraries every ten minutes.
    engine.apply(config);
    await settle();
    const state = () => engine.overview().targets.map((status) => status.state);
    right = 'the-new-key';
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(state()).toEqual(['failing']);
    libraries['account'] = [library(7, right)];
    const listings = () => sent.filter(({ path }) => path.startsWith('/videolibrary')).length;
    while (listings() < 2) await vi.advanceTimersByTimeAsync(1000);
    await settle();
    expect(state()).toEqual(['ok']);
    const keys = sent.filter(({ path }) => path.startsWith('/library/')).map(({ key }) => key);
    expect(new Set(keys.slice(keys.indexOf('the-new-key')))).toEqual(new Set(['the-new-key']));
    await engine.stop();
  });
});
