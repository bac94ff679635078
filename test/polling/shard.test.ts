import { describe, expect, it } from 'vitest';
import { ownedBy, shardOf } from '../../src/polling/shard.ts';

const keys = Array.from({ length: 10_000 }, (_, i) => `application/app${i}`);

describe('sharding', () => {
  it('puts every target on exactly one shard', () => {
    const shards = [0, 1, 2, 3].map((index) => ownedBy({ index, count: 4 }));
    expect(keys.every((key) => shards.filter((owns) => owns(key)).length === 1)).toBe(true);
  });

  it('spreads the targets evenly', () => {
    const sizes = [0, 1, 2, 3, 4].map((shard) => keys.filter((key) => shardOf(key, 5) === shard).length);
    for (const size of sizes) expect(Math.abs(size - 2000)).toBeLessThan(200);
  });

  it('moves about one in N targets when a shard is added, and only to the new one', () => {
    const moved = keys.filter((key) => shardOf(key, 4) !== shardOf(key, 5));
    expect(moved.every((key) => shardOf(key, 5) === 4)).toBe(true);
    expect(Math.abs(moved.length - keys.length / 5)).toBeLessThan(200);
  });

  it('gives everything to a single exporter', () => {
    expect(keys.every(ownedBy(undefined))).toBe(true);
    expect(keys.every(ownedBy({ index: 0, count: 1 }))).toBe(true);
  });

  it('never changes its assignment, because that would move every target at an upgrade', () => {
    expect(
      ['application/a', 'shield_zone/501', 'video_storage/4711/v'].map((key) => shardOf(key, 7)),
    ).toMatchInlineSnapshot(`
      [
        6,
        1,
        3,
      ]
    `);
  });
});
