/** Numbers that follow from a key alone, the same in every process. */

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

/** A number in [0, 1) for a key: when in its interval it is polled, and where it stands on the page. */
export function offsetOf(key: string): number {
  return mix(hash(key)) / 2 ** 32;
}
