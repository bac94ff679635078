import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { type Listings, type Plan, plan } from '../../src/polling/plan.ts';
import { resources } from '../../src/resources/index.ts';
import { configOf, sectionConfig, targetConfig } from './fixtures.ts';

const all = (_key: string) => true;

function planOf(config: Config, listings: Listings = new Map(), owns = all, previous?: Plan): Plan {
  return plan(config, resources, listings, owns, previous);
}

const zone = (id: string, more = {}) => targetConfig({ shield_zone_id: id }, more);

describe('plan', () => {
  it('makes one poll of each target that is read alone', () => {
    const { targets, polls } = planOf(
      configOf([
        sectionConfig('application', [targetConfig({ app_id: 'a' }), targetConfig({ app_id: 'b' })]),
        sectionConfig('video_storage', [
          targetConfig({ library_id: '1', video_id: 'v' }, { credential: 'lib' }),
        ]),
      ]),
    );
    expect([...targets.keys()]).toEqual(['application/a', 'application/b', 'video_storage/1/v']);
    expect(polls.map(({ key, credential }) => [key, credential])).toEqual([
      ['application/a', 'account'],
      ['application/b', 'account'],
      ['video_storage/1/v', 'lib'],
    ]);
  });

  it('makes one poll a credential of all the zones, at the shortest interval of theirs', () => {
    const { polls } = planOf(
      configOf([
        sectionConfig('shield_zone', [
          zone('1'),
          zone('2', { intervalMs: 20_000 }),
          zone('3', { credential: 'other' }),
        ]),
      ]),
    );
    expect(polls.map(({ key, intervalMs, targets }) => [key, intervalMs, targets.map((t) => t.key)])).toEqual(
      [
        ['shield_zone#account', 20_000, ['shield_zone/1', 'shield_zone/2']],
        ['shield_zone#other', 60_000, ['shield_zone/3']],
      ],
    );
  });

  it('follows the listing for `all`, and polls it though no zone is known yet', () => {
    const config = configOf([sectionConfig('shield_zone', 'all'), sectionConfig('rate_limit', 'all')]);
    expect(planOf(config).polls.map(({ key }) => key)).toEqual(['shield_zone#account']);
    const { targets, polls } = planOf(config, new Map([['account', ['7', '8']]]));
    expect([...targets.keys()]).toEqual(['shield_zone/7', 'shield_zone/8', 'rate_limit/7', 'rate_limit/8']);
    expect(polls.map(({ key }) => key)).toEqual(['rate_limit/7', 'rate_limit/8', 'shield_zone#account']);
  });

  it('polls the listing for `rate_limits: all` alone, without any zone of its own', () => {
    const config = configOf([sectionConfig('rate_limit', 'all')]);
    const { targets, polls } = planOf(config, new Map([['account', ['7']]]));
    expect([...targets.keys()]).toEqual(['rate_limit/7']);
    expect(polls.map(({ key, intervalMs }) => [key, intervalMs])).toEqual([
      ['rate_limit/7', 60_000],
      ['shield_zone#account', 600_000],
    ]);
  });

  it('keeps the objects of unchanged targets, and makes new ones of what changed', () => {
    const before = planOf(
      configOf([
        sectionConfig('application', [targetConfig({ app_id: 'a' }), targetConfig({ app_id: 'b' })]),
      ]),
    );
    const after = planOf(
      configOf([
        sectionConfig('application', [
          targetConfig({ app_id: 'a' }),
          targetConfig({ app_id: 'b' }, { name: 'new' }),
        ]),
      ]),
      new Map(),
      all,
      before,
    );
    expect(after.targets.get('application/a')).toBe(before.targets.get('application/a'));
    expect(after.targets.get('application/b')).not.toBe(before.targets.get('application/b'));
  });

  it('leaves out the targets of other shards, and polls the listing all the same', () => {
    const config = configOf([sectionConfig('shield_zone', 'all'), sectionConfig('rate_limit', 'all')]);
    const listings = new Map([['account', ['7', '8']]]);
    const { targets, polls } = planOf(config, listings, (key) => key.endsWith('7'));
    expect([...targets.keys()]).toEqual(['shield_zone/7', 'rate_limit/7']);
    expect(polls.map(({ key }) => key)).toEqual(['rate_limit/7', 'shield_zone#account']);
  });
});
