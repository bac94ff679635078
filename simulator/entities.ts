/**
 * What entities and their figures are made from: numbers, texts and ids that look random, but are pure functions of their
 * arguments, so that requests in any order see the same dataset.
 */

/** An unsigned 32-bit hash of up to four integers (the finalizer of MurmurHash3 between them). */
export function hash(a: number, b = 0, c = 0, d = 0): number {
  let h = mix(a ^ 0x9e3779b9);
  h = mix(h ^ Math.imul(b, 0x85ebca6b));
  h = mix(h ^ Math.imul(c, 0xc2b2ae35));
  return mix(h ^ Math.imul(d, 0x27d4eb2f)) >>> 0;
}

function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** From 0 up to, and without, 1. */
export function unit(a: number, b = 0, c = 0): number {
  return hash(a, b, c) / 0x1_0000_0000;
}

/** A number between the two, spread evenly over their orders of magnitude: most things are small. */
export function magnitude(low: number, high: number, at: number): number {
  return low * (high / low) ** at;
}

/** From 0 to 1, changing smoothly with time, to another random value in each period. */
export function drift(seed: number, nowMs: number, periodMs: number): number {
  const position = nowMs / periodMs;
  const cell = Math.floor(position);
  const part = position - cell;
  const from = unit(seed, cell, 0x6d);
  const to = unit(seed, cell + 1, 0x6d);
  return from + (to - from) * part * part * (3 - 2 * part);
}

export function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

/** Random characters of the alphabet. */
export function text(seed: number, length: number, alphabet = '0123456789abcdef'): string {
  let made = '';
  for (let index = 0; index < length; index++) made += alphabet[hash(seed, index, 0x7e) % alphabet.length];
  return made;
}

export function guid(seed: number): string {
  const made = text(seed, 32);
  const part = (from: number, to: number) => made.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`;
}

/** A key that is unlike all other text, so that tests can find it on a page or in a log. */
export function secret(name: string, seed: number): string {
  return `sim-${name}-key-${text(seed, 32)}`;
}

/** How many ids apart accounts are: more than any sort of thing takes. */
const idsOfAccount = 5_000_000;

/** Which account a seed makes: nothing of it has the id or the name of a thing of another one. The first is that of seed 1. */
function accountOf(datasetSeed: number): number {
  const accounts = 1_000_000;
  return (((datasetSeed - 1) % accounts) + accounts) % accounts;
}

/** An id of the account that the seed makes, from one of the first account. */
export function numberedId(datasetSeed: number, id: number): string {
  return String(id + idsOfAccount * accountOf(datasetSeed));
}

/** The same for an id that needs more than the 53 bits of a double. */
export function wideId(datasetSeed: number, index: number): string {
  return String(9_007_199_254_740_993n + BigInt(index + idsOfAccount * accountOf(datasetSeed)));
}

/** A name of a thing that the account that the seed makes lists, from one of the first account. */
export function ownName(datasetSeed: number, name: string): string {
  const account = accountOf(datasetSeed);
  return account === 0 ? name : `${nth(['north', 'south', 'east', 'west'], account - 1)}-${name}`;
}

/** A suffix for names that are used again. */
export function city(turn: number): string {
  return nth('ams fra lju waw lon nyc lax sao sin syd tyo jnb'.split(' '), turn);
}

/** The name at the index. From the second round through the list on, a suffix or a number tells it apart. */
export function nth(names: readonly string[], index: number, suffix?: (round: number) => string): string {
  const name = names[index % names.length] as string;
  const turn = Math.floor(index / names.length);
  if (turn === 0) return name;
  return suffix === undefined ? `${name}-${turn + 1}` : `${name}${suffix(turn - 1)}`;
}

export function count<T>(length: number, make: (index: number) => T): T[] {
  // A loop takes half the time of Array.from, and answers are made of thousands of these.
  const made: T[] = [];
  for (let index = 0; index < length; index++) made.push(make(index));
  return made;
}

/** Something that the account has. */
export interface Entity {
  readonly id: string;
  readonly name: string;
  readonly index: number;
  /** Its figures are drawn from this. */
  readonly seed: number;
}

/**
 * Makes entities.
 *
 * @param stream a number that no other sort of entity has, so that their seeds differ. If it is taken, a test in
 *   test/simulator/simulator.test.ts says which is free
 */
export function entities<Made extends Pick<Entity, 'id' | 'name'>>(
  seed: number,
  stream: number,
  length: number,
  make: (seed: number, index: number) => Made,
): (Made & Entity)[] {
  return count(length, (index) => {
    const own = hash(seed, stream, index);
    return { ...make(own, index), seed: own, index };
  });
}
