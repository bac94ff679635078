/** Combines the CRC-32 of two pieces, as gzip needs it when pieces are compressed separately. */

/** The polynomial, with its highest power in the lowest bit. */
const polynomial = 0xedb88320;
const one = 0x80000000;

/** The CRC-32 of two pieces joined, from that of each and the shift for the length of the second. */
export function combineCrc32(first: number, second: number, shift: number): number {
  return (multiply(shift, first) ^ second) >>> 0;
}

/** The factor that shifts a CRC-32 by so many bytes: x to the power of their number of bits. */
export function crc32Shift(bytes: number): number {
  let shift = one;
  for (let i = 0, rest = bytes; rest > 0; i++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(byteShift(i), shift);
  }
  return shift;
}

/** The product of two polynomials over GF(2), modulo the CRC's. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1;
  }
  return product >>> 0;
}

/** x to the power of 8 · 2^i, each the square of the previous one. */
const byteShifts = [0x00800000];

function byteShift(i: number): number {
  let shift = byteShifts.at(-1) ?? one;
  while (byteShifts.length <= i) {
    shift = multiply(shift, shift);
    byteShifts.push(shift);
  }
  return byteShifts[i] ?? one;
}
