import { describe, expect, it } from 'vitest';
import type { Discovered } from '../../src/discovery/discovered.ts';
import { emptyPlan, type Plan, plan, plannedSections } from '../../src/polling/plan.ts';
import { reconcile } from '../../src/polling/reconcile.ts';
import { isSameListing, isSameTarget, type ListingPoll, mustReread } from '../../src/polling/target.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { applicationTarget, configOf, planOf, sectionConfig, zonesFound, zonesKey } from './fixtures.ts';

const target = applicationTarget('a');

it('tells what is new, what has changed and what leaves', () => {
  const map = (...items: readonly (readonly [string, number])[]) =>
    new Map(items.map(([key, value]) => [key, { key, value }]));
  const before = map(['same', 1], ['updated', 1], ['replaced', 1], ['leaves', 1]);
  const after = map(['new', 1], ['replaced', 2], ['updated', 2]);
  const [same] = before.values();
  if (same) after.set(same.key, same);
  const compared = reconcile(before, after, (one) => one.key === 'replaced');
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
    ['another address', { baseUrl: 'http://127.0.0.1:2' }, false],
    ['another key', { keyId: 'new' }, true],
    ['other settings', { settings: { latency_unit: 'seconds' } }, true],
  ])('with %s is not the same', (_, change, isReread) => {
    const after = { ...target, ...change };
    expect([isSameTarget(target, after), mustReread(target, after)]).toEqual([false, isReread]);
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
  ])('with %s is not the same', (_, change) => {
    expect(isSameListing(listing, { ...listing, ...change })).toBe(false);
  });
});

it('takes over what a section has of a listing that is the same, and plans it anew with another key', () => {
  const config = configOf([sectionConfig('shield_zone', 'all')]);
  const sections = plannedSections(config, resources);
  const planned = (previous: Plan, keyId: string, ids: readonly Discovered[]) => {
    const zones = { entries: ids, keyId, hasEnded: true, sinceMs: 0 };
    const snapshots = new Map([[zonesKey(), zones]]);
    const nowMs = Number.POSITIVE_INFINITY;
    return plan({ config, sections, keyIdOf: () => keyId, snapshots, owns: () => true, previous, nowMs });
  };
  const zones = zonesFound('7', '8');
  const first = planned(emptyPlan, 'k', zones);
  const second = planned(first, 'k', zones);
  expect([...second.targets]).toEqual([...first.targets]);
  expect(second.selections).toEqual(first.selections);
  const third = planned(second, 'new', zones);
  expect(Array.from(third.targets.values(), ({ keyId }) => keyId)).toEqual(['new', 'new']);
  expect([...planned(third, 'new', zonesFound('8')).targets.keys()]).toEqual(['shield_zone/8']);
});

it('keeps the object of what is planned anew without a difference', () => {
  const config = () => configOf([sectionConfig('application', 'all'), sectionConfig('api_guardian', 'all')]);
  const had = {
    [zonesKey()]: zonesFound('7'),
    ['application applications#account@http://127.0.0.1:1']: [{ ids: { app_id: 'a' } }],
  };
  const before = planOf(config(), { had });
  const after = planOf(config(), { had, previous: before });
  expect([before.targets.size, before.listings.size]).toEqual([1, 4]);
  for (const of of ['targets', 'listings'] as const)
    for (const [key, item] of before[of]) expect(after[of].get(key)).toBe(item);
});
