/**
 * Listings against every fault: a failed one reports a reason and changes nothing else, a successful one has everything.
 * The next good one restores everything.
 */
import { afterAll, describe, expect, it } from 'vitest';
import type { OperationName } from '../../src/simulator/dataset.ts';
import { type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import { type Outcome, outcomeOf } from './expectations.ts';
import { listings, observeListings, struckBy } from './listings.ts';

interface Expected extends Outcome {
  /** All results, if the polls of one listing fail in several ways. */
  readonly results?: readonly string[];
}

/** What differs from the polls of a kind, or looks like a good answer. */
const differing: Partial<Record<FaultType, Partial<Record<OperationName, Partial<Expected>>>>> = {
  // A zone without the feature has no endpoints.
  'status-404': { api_guardian_listing: { result: 'success', loses: true } },
  'feature-not-on-plan': { api_guardian_listing: { result: 'success', loses: true } },
  // The answers of its zones have an empty error envelope, or none.
  'data-null': { api_guardian_listing: { results: ['rejected', 'schema'] } },
  // The endpoint is unknown, so the listing is incomplete.
  'entry-without-id': { api_guardian_listing: { result: 'schema' } },
  // Only a total marks the end of a list of videos.
  'page-never-ends': { video_storage_listing: { result: 'success' } },
  'page-says-last': { video_storage_listing: { result: 'success' } },
};

function expected(type: FaultType, name: OperationName): Expected {
  return { ...outcomeOf(type, name), ...differing[type]?.[name] };
}

const observing = observeListings();
afterAll(async () => {
  await Promise.allSettled([observing]);
});

describe('a listing with a fault', () => {
  const types = (Object.keys(faultTypes) as FaultType[]).filter((type) => struckBy(type).length > 0);

  it('is played on every listing that finds targets', () => {
    expect(listings.length).toBeGreaterThanOrEqual(4);
    expect(new Set(types.flatMap(struckBy))).toEqual(new Set(listings));
  });

  it.each(types)('fails with a reason or has everything: %s', { timeout: 300_000 }, async (type) => {
    const seen = (await observing).get(type);
    if (!seen) throw new Error('the fault was not played');
    const { struck, before, during, after, leaked } = seen;
    const outcomes = struck.map((name) => [name, expected(type, name)] as const);
    expect(Object.fromEntries(struck.map((name) => [name, during.listings[name]?.failures]))).toEqual(
      Object.fromEntries(
        outcomes.map(([name, { result, results = [result] }]) => [name, result === 'success' ? [] : results]),
      ),
    );
    for (const name of struck)
      for (const reason of during.listings[name]?.reasons ?? []) expect(reason).toMatch(/\w/);
    expect(during.allHealthy).toBe(outcomes.every(([, { result }]) => result === 'success'));

    // Neither a failed nor a complete listing loses anything.
    const losing = outcomes
      .filter(([, { result, loses }]) => result === 'success' && loses)
      .map(([name]) => name);
    const canLose = (key: string) =>
      losing.some((name) => key.startsWith(`${name.replace(/_listing$/, '')}/`)) && !keepsIds(type);
    const lost = Object.keys(before.names).filter((key) => !(key in during.names));
    expect(lost.filter((key) => !canLose(key))).toEqual([]);
    expect(Object.keys(during.names).filter((key) => !(key in before.names))).toEqual([]);
    if (outcomes.every(([, { result }]) => result !== 'success')) {
      expect(during.names).toEqual(before.names);
      expect(during.series).toEqual(before.series);
    }

    expect(after.names).toEqual(before.names);
    expect(after.allHealthy).toBe(true);
    expect(leaked).toBe(false);
  });
});

/** Faults that spoil everything except the ids: every target is still there. */
function keepsIds(type: FaultType): boolean {
  return [
    'wrong-types',
    'all-null',
    'all-missing',
    'huge-numbers',
    'number-strings',
    'unreadable-times',
  ].includes(type);
}
