/** What kinds make their entities from: streams of seeds, names and ids. */
import { text } from './random.ts';

/** Each sort of entity draws from a stream of its own. */
export const streams = {
  application: 1,
  zone: 2,
  endpoint: 3,
  rule: 4,
  video: 5,
  key: 6,
  pullZone: 7,
  library: 8,
  script: 9,
  billing: 10,
  storageZone: 20,
  dnsZone: 21,
} as const;

/** Suffixes for names that are used a second time. */
export const cities = 'ams fra lju waw lon nyc lax sao sin syd tyo jnb'.split(' ');

const wideIdBase = 9_007_199_254_740_993n;

/** An id that needs more than the 53 bits of a double. */
export function wideId(index: number): string {
  return String(wideIdBase + BigInt(index));
}

/** The name at the index. From the second round through the list on, a suffix or a number tells it apart. */
export function nth(names: readonly string[], index: number, suffix?: (round: number) => string): string {
  const name = names[index % names.length] as string;
  const round = Math.floor(index / names.length);
  if (round === 0) return name;
  return suffix === undefined ? `${name}-${round + 1}` : `${name}${suffix(round - 1)}`;
}

export const hexadecimal = '0123456789abcdef';

export function guid(seed: number): string {
  const digits = text(seed, 32, hexadecimal);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join('-');
}

export function count<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

/** The entities by what they belong to, in their order. */
export function grouped<T>(entities: readonly T[], ownerOf: (entity: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entity of entities) {
    const group = groups.get(ownerOf(entity));
    if (group) group.push(entity);
    else groups.set(ownerOf(entity), [entity]);
  }
  return groups;
}

export function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

export function without<T extends object, Field extends keyof T>(value: T, field: Field): Omit<T, Field> {
  const { [field]: _, ...rest } = value;
  return rest;
}
