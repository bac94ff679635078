/**
 * A pool of memory for rendered rows. Without it, nearly every scrape would allocate enough to trigger a garbage
 * collection that stops the process.
 */

/** The most that the pool keeps; the rest is left to the garbage collector. */
const maxBuffers = 64;
const maxBytes = 8 * 1024 * 1024;

const pool: ArrayBufferLike[] = [];
let poolBytes = 0;

/** A Buffer of this length with arbitrary content. It is always a new object, even if its memory is reused. */
export function takeBuffer(length: number): Buffer {
  const index = pool.findIndex(({ byteLength }) => byteLength >= length && byteLength / 2 <= length);
  const [memory] = index < 0 ? [] : pool.splice(index, 1);
  if (memory === undefined) return Buffer.from(newMemory(length), 0, length);
  poolBytes -= memory.byteLength;
  return Buffer.from(memory, 0, length);
}

/** Returns a Buffer of `takeBuffer` to the pool. Nothing may read it any more. */
export function giveBuffer({ buffer }: Buffer): void {
  if (pool.length >= maxBuffers || poolBytes + buffer.byteLength > maxBytes) return;
  pool.push(buffer);
  poolBytes += buffer.byteLength;
}

/** Slightly longer than asked for, so that it still fits when numbers get longer. */
function newMemory(length: number): ArrayBufferLike {
  return Buffer.allocUnsafeSlow(length + Math.ceil(length / 64)).buffer;
}
