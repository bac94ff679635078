/**
 * Memory of rows that no page shows any more, for rows that are rendered next: memory that is taken anew each time makes
 * the garbage collector run, and stop everything, at nearly every scrape. It knows lengths, not what the bytes are.
 */

/** What is kept at most; the rest is left to the garbage collector. */
const maxSpares = 64;
const maxSpareBytes = 16 * 1024 * 1024;

const spares: ArrayBufferLike[] = [];
let spareBytes = 0;

/** A Buffer of this length with any content: it is a new object, whatever memory it has. */
export function takeBuffer(length: number): Buffer {
  const index = spares.findIndex(({ byteLength }) => byteLength >= length && byteLength / 2 <= length);
  const [memory] = index < 0 ? [] : spares.splice(index, 1);
  if (memory === undefined) return Buffer.from(newMemory(length), 0, length);
  spareBytes -= memory.byteLength;
  return Buffer.from(memory, 0, length);
}

/** Gives back what `takeBuffer` gave. Nothing may read it any more. */
export function giveBuffer({ buffer }: Buffer): void {
  if (spares.length >= maxSpares || spareBytes + buffer.byteLength > maxSpareBytes) return;
  spares.push(buffer);
  spareBytes += buffer.byteLength;
}

/** Somewhat longer than asked for, so that rows whose numbers grow fit again. */
function newMemory(length: number): ArrayBufferLike {
  return Buffer.allocUnsafeSlow(length + Math.ceil(length / 64)).buffer;
}
