/**
 * Numbers that look random and are a pure function of what they are asked for, so that requests in any order see the same
 * dataset.
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

/** From 0 to 1, moving smoothly; it turns about once in a period. */
export function drift(seed: number, nowMs: number, periodMs: number): number {
  const position = nowMs / periodMs;
  const cell = Math.floor(position);
  const part = position - cell;
  const from = unit(seed, cell, 0x6d);
  const to = unit(seed, cell + 1, 0x6d);
  return from + (to - from) * part * part * (3 - 2 * part);
}

/** So many characters of the alphabet. */
export function text(seed: number, length: number, alphabet: string): string {
  let result = '';
  for (let index = 0; index < length; index += 1) {
    result += alphabet[hash(seed, index, 0x7e) % alphabet.length];
  }
  return result;
}
