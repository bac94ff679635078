/** Arithmetic on the CRC-32 of gzip: it knows numbers, not bytes. */

/** The polynomial, its highest power in the lowest bit. */
const polynomial = 0xedb88320;
const one = 0x80000000;

/** The CRC-32 of two pieces put together, from that of each and the length of the second in bytes. */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  return (multiply(powerOfX(secondLength), first) ^ second) >>> 0;
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

/** x to the power of the bits in so many bytes. */
function powerOfX(bytes: number): number {
  let power = one;
  for (let i = 0, rest = bytes; rest > 0; i++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(byteShift(i), power);
  }
  return power;
}

/** x to the power of 8 · 2^i, each the square of the one before. */
const byteShifts = [0x00800000];

function byteShift(i: number): number {
  let shift = byteShifts.at(-1) ?? one;
  while (byteShifts.length <= i) {
    shift = multiply(shift, shift);
    byteShifts.push(shift);
  }
  return byteShifts[i] ?? one;
}
