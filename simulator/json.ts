/**
 * Writes the JSON of an answer, in which an id may have 64 bits and a fault may send numbers that no JavaScript number can
 * hold.
 */
const rawMark = '#raw:';
const rawText = /"#raw:([^"\\]*)"/g;

/** A placeholder for JSON text that is written unchanged and without quotes. The text must contain no quotes. */
export function rawJson(written: string): string {
  return rawMark + written;
}

/** An id as the value of a field: a number, also where it is larger than JavaScript's safe integers. */
export function jsonInteger(digits: string): number | string {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : rawJson(digits);
}

export function writeJson(value: unknown): string {
  const written = JSON.stringify(value);
  return written.includes(rawMark) ? written.replace(rawText, '$1') : written;
}
