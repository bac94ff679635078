/** Writes numbers as bytes without a string in between. */

/** The length of -0.0000012345678901234567. */
export const maxNumberBytes = 25;

const minus = 45;
const point = 46;
const zero = 48;
/** Values with up to so many decimals are written digit by digit. */
const scales = [
  { decimals: 3, scale: 1e3 },
  { decimals: 6, scale: 1e6 },
  { decimals: 9, scale: 1e9 },
];
/** Up to this size, two different decimals are never the same double. */
const exactLimit = 1e15;
/** Smaller numbers are written with an exponent by JavaScript. */
const plainLimit = 1e-6;

/** A value as both formats write it. */
export function renderNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/** Writes a value as `renderNumber` does and returns where it ends. */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const size = Math.abs(value);
  if (size < exactLimit) {
    if (Math.floor(size) === size) return writeInteger(bytes, writeSign(bytes, at, value), size);
    if (size >= plainLimit) {
      for (const { decimals, scale } of scales) {
        const scaled = Math.round(size * scale);
        // The decimal scaled / scale has at most 15 digits and is this very double: it is its shortest form.
        if (scaled < exactLimit && scaled / scale === size) {
          const whole = Math.floor(scaled / scale);
          const end = writeInteger(bytes, writeSign(bytes, at, value), whole);
          return writeFraction(bytes, end, scaled - whole * scale, decimals);
        }
      }
    }
  }
  const text = renderNumber(value);
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}

function writeSign(bytes: Uint8Array, at: number, value: number): number {
  if (value >= 0) return at;
  bytes[at] = minus;
  return at + 1;
}

function writeInteger(bytes: Uint8Array, at: number, integer: number): number {
  if (integer >= 1e9) {
    const high = Math.floor(integer / 1e9);
    return writeDigits(bytes, writeInteger(bytes, at, high), integer - high * 1e9, 9);
  }
  let digits = 1;
  for (let limit = 10; integer >= limit; limit *= 10) digits++;
  return writeDigits(bytes, at, integer, digits);
}

/** Without zeros at its end. */
function writeFraction(bytes: Uint8Array, at: number, fraction: number, decimals: number): number {
  bytes[at] = point;
  let end = writeDigits(bytes, at + 1, fraction, decimals);
  while (bytes[end - 1] === zero) end--;
  return end;
}

/** Writes the last digits of an integer below 1e9, in 32-bit arithmetic: it is faster. */
function writeDigits(bytes: Uint8Array, at: number, integer: number, digits: number): number {
  let rest = integer | 0;
  for (let i = at + digits - 1; i >= at; i--) {
    const next = (rest / 10) | 0;
    bytes[i] = zero + rest - next * 10;
    rest = next;
  }
  return at + digits;
}
