/** Which of several exporters a target belongs to: rendezvous hashing, so that few targets move when their number changes. */
import { hash, mix } from '../hash.ts';

export interface Shard {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/** The shard with the highest score for the key: the same in every process. */
export function shardOf(key: string, count: number): number {
  const base = hash(key);
  let best = 0;
  let bestScore = -1;
  for (let index = 0; index < count; index++) {
    const score = mix(base ^ mix(index + 1));
    if (score > bestScore) {
      best = index;
      bestScore = score;
    }
  }
  return best;
}

/** Whether the target of a key belongs to the shard. Without shards all do. */
export function ownedBy(shard: Shard | undefined): (key: string) => boolean {
  return shard ? (key) => shardOf(key, shard.count) === shard.index : () => true;
}
