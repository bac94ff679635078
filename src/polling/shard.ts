/** Which of several exporters a target belongs to: rendezvous hashing, so that few targets move when their number changes. */

export interface Shard {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/** FNV-1a over the UTF-16 units of a text: 32 bits. */
export function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return state >>> 0;
}

/** The finalizer of MurmurHash3: every bit of the result depends on every bit of the input. */
export function mix(bits: number): number {
  let state = bits;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
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
