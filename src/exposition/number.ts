/** Writes numbers as bytes without a string in between. */

/** The length of -0.0000012345678901234567. */
export const maxNumberBytes = 25;

const minus = 45;
const point = 46;
const zero = 48;
/** Values with up to 3, 6 or 9 decimals are written digit by digit. */
const scales = [1e3, 1e6, 1e9];
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
    if (Math.floor(size) === size) return writeDigits(bytes, writeSign(bytes, at, value), size);
    if (size >= plainLimit) {
      for (const scale of scales) {
        const scaled = Math.round(size * scale);
        // The decimal scaled / scale has at most 15 digits and is this very double: it is its shortest form.
        if (scaled < exactLimit && scaled / scale === size) {
          return writeDecimal(bytes, writeSign(bytes, at, value), scaled, scale);
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

function writeDigits(bytes: Uint8Array, at: number, integer: number): number {
  let digits = 1;
  for (let limit = 10; integer >= limit; limit *= 10) digits++;
  const end = at + digits;
  let rest = integer;
  for (let i = end - 1; i >= at; i--) {
    const next = Math.floor(rest / 10);
    bytes[i] = zero + rest - next * 10;
    rest = next;
  }
  return end;
}

function writeDecimal(bytes: Uint8Array, at: number, scaled: number, scale: number): number {
  const whole = Math.floor(scaled / scale);
  let end = writeDigits(bytes, at, whole);
  bytes[end++] = point;
  let rest = scaled - whole * scale;
  for (let unit = scale / 10; rest > 0; unit /= 10) {
    const digit = Math.floor(rest / unit);
    bytes[end++] = zero + digit;
    rest -= digit * unit;
  }
  return end;
}
