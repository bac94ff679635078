import pino from 'pino';
import { expect, it } from 'vitest';
import { planLog, roundText } from '../src/log-lines.ts';
import { failing, listing, refusedListing, status } from './status/fixtures.ts';

it('sums up the first round, with what all accounts have together', () => {
  const zone = { key: 'zone', ids: { shield_zone_id: '7' }, name: 'shop' };
  const listings = [
    listing('pull zones', { found: 1000 }),
    listing('pull zones', { found: 250, credential: 'second' }),
    listing('applications', { found: 1 }),
    listing('DNS zones'),
    // Those below something, and those that fail, are not counted.
    listing('API Guardian endpoints', { found: 9, parent: zone }),
    listing('storage zones', { ...refusedListing, found: 9 }),
  ];
  expect(roundText([status({ app_id: 'a' }), failing({ app_id: 'b' })], listings, 12_000)).toBe(
    'the first round of polls took 12 s: 1 ok, 1 failing; it found 1,250 pull zones, 1 application; 1 listing failed',
  );
});

it('says of the first round only how the polls went if nothing is listed', () => {
  expect(roundText([status({ app_id: 'a' })], [], 900)).toMatch(
    /^the first round of polls took [^:]+: 1 ok, 0 failing$/,
  );
});

it('names once what two listings of an account have in common', () => {
  const ids = [{ label: 'dns_zone_id', setting: 'id', form: 'integer' }] as const;
  const zones = (nouns: string, credential = 'account') => {
    const { poll, ...rest } = listing(nouns, { found: 3, credential });
    return { ...rest, poll: { ...poll, listing: { ...poll.listing, ids } } };
  };
  const listings = [zones('DNS zones'), zones('DNS zones with their records'), zones('DNS zones', 'second')];
  expect(roundText([], listings, 0)).toMatch(/; it found 6 DNS zones$/);
});

it('logs the plan once everything is listed, and again when an API needs a tenth more or less', () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  let isListed = false;
  const planned = planLog(() => isListed, log);
  const needs = (neededPerSecond: number) => [
    { api: 'shield', polls: 60, neededPerSecond, allowedPerSecond: 10, shortfall: undefined } as const,
  ];
  planned(needs(1));
  expect(lines).toEqual([]);
  isListed = true;
  for (const neededPerSecond of [1, 1, 1.05, 1.2]) planned(needs(neededPerSecond));
  expect(lines.map((line) => /planned requests\/s: [^"]*/.exec(line)?.[0])).toEqual([
    'planned requests/s: shield 1 of 10',
    'planned requests/s: shield 1.2 of 10',
  ]);
});
