import { describe, expect, it } from 'vitest';
import { compareListings, compareTargets, mustReread, reconcile } from '../../src/polling/reconcile.ts';
import type { ListingPoll } from '../../src/polling/target.ts';
import { applicationTarget, configOf, planOf, sectionConfig, zonesFound, zonesKey } from './fixtures.ts';

const target = applicationTarget('a');

it('tells what is new, what has changed and what leaves, and keeps the old object of what stays the same', () => {
  const map = (...items: readonly (readonly [string, number])[]) =>
    new Map(items.map(([key, value]) => [key, { key, value }]));
  const before = map(['same', 1], ['updated', 1], ['replaced', 1], ['leaves', 1]);
  const after = map(['new', 1], ['replaced', 2], ['updated', 2], ['same', 1]);
  const compared = reconcile(before, after, (one, other) => {
    if (one.value === other.value) return 'same';
    return one.key === 'replaced' ? 'replaced' : 'updated';
  });
  expect([...compared.items.keys()]).toEqual(['new', 'replaced', 'updated', 'same']);
  expect(compared.items.get('same')).toBe(before.get('same'));
  for (const key of ['new', 'replaced', 'updated']) expect(compared.items.get(key)).toBe(after.get(key));
  expect(compared.added).toEqual([after.get('new'), after.get('replaced')]);
  expect(compared.updated).toEqual([{ before: before.get('updated'), after: after.get('updated') }]);
  expect(compared.removed).toEqual([before.get('leaves')]);
});

describe('a target', () => {
  it.each<[string, object, boolean]>([
    ['another name', { name: 'shop' }, false],
    ['another name in its listing', { listedName: 'www' }, false],
    ['other parts', { parts: [] }, false],
    ['another credential with the same key', { credential: 'main' }, false],
    ['another interval', { intervalMs: 1000 }, false],
    ['another age of stale values', { staleAfterMs: 1000 }, false],
    ['another poll', { pollKey: 'listing' }, false],
    ['another key', { keyId: 'new' }, true],
    ['other settings', { settings: { latency_unit: 'seconds' } }, true],
  ])('with %s is updated', (_, change, isReread) => {
    const after = { ...target, ...change };
    expect([compareTargets(target, after), mustReread(target, after)]).toEqual(['updated', isReread]);
  });

  it('that is planned anew with equal settings is the same', () => {
    expect(compareTargets(target, { ...target, settings: { ...(target.settings as object) } })).toBe('same');
  });

  it('at another address is another target', () => {
    expect(compareTargets(target, { ...target, baseUrl: 'http://127.0.0.1:2' })).toBe('replaced');
  });
});

describe('a listing', () => {
  const plan = planOf(configOf([sectionConfig('api_guardian', 'all')]), {
    had: { [zonesKey()]: zonesFound('7') },
  });
  const listing = [...plan.listings.values()].at(-1) as ListingPoll;

  it.each<[string, Partial<ListingPoll>]>([
    ['another interval', { intervalMs: 1 }],
    ['readings that are wanted', { isRead: true }],
    ['another key', { keyId: 'new' }],
    ['another account', { account: 'main' }],
    ['names from another listing', { namesKey: 'names' }],
    ['another name of its parent', { parent: { ids: { shield_zone_id: '7' }, name: 'www' } }],
  ])('with %s is updated', (_, change) => {
    expect(compareListings(listing, { ...listing, ...change })).toBe('updated');
  });

  it('that is planned anew is the same', () => {
    expect(compareListings(listing, { ...listing, parent: { ids: { shield_zone_id: '7' } } })).toBe('same');
  });
});
