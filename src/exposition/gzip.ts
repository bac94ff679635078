/**
 * Compresses pages part by part: each part is deflated only once, off the event loop unless it is tiny, and the deflated
 * parts are joined into one gzip member.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib';
import { Fifo } from '../fifo.ts';
import { combineCrc32, crc32Shift } from './crc.ts';

/** For a part this short, handing it to a thread takes longer than deflating it (30 µs). */
const tinyBytes = 8 * 1024;

/** Magic number, deflate, no flags, no time, no hint, no system: RFC 1952. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** A last, empty block of deflate. */
const lastBlock = [3, 0];

/**
 * On rows, level 3 takes a third of the time of 6 and gives 3 % more bytes. A full flush ends on a byte boundary, and what
 * follows does not refer to what is before it: so the parts can be joined.
 */
const options: ZlibOptions = { level: 3, finishFlush: constants.Z_FULL_FLUSH };

/** What the end of a gzip member says about the original bytes. */
interface Trailer {
  readonly crc: number;
  /** The length as `combineCrc32` needs it. */
  readonly crcShift: number;
  readonly length: number;
}

interface Piece extends Trailer {
  /** Complete deflate blocks, none of them marked as the last, ending on a byte boundary. */
  readonly deflated: Buffer;
}

export class Gzip {
  readonly #maxConcurrent: number;
  #busy = 0;
  readonly #waiting = new Fifo<() => void>();
  /** What was compressed for earlier pages, by part and by section: later pages reuse it. */
  readonly #parts = new WeakMap<Buffer, Promise<Piece>>();
  readonly #sections = new WeakMap<readonly Buffer[], Promise<Piece>>();

  /** maxConcurrent: how many parts are deflated at the same time; each takes a thread of the pool and a quarter of a megabyte. */
  constructor(maxConcurrent = 2) {
    this.#maxConcurrent = maxConcurrent;
  }

  /** The sections, one after the other, as one gzip member. Neither they nor their Buffers must ever change. */
  async compress(sections: readonly (readonly Buffer[])[]): Promise<Buffer[]> {
    const pieces = await Promise.all(sections.map((section) => this.#section(section)));
    const { crc, length } = trailerOf(pieces);
    const end = Buffer.from([...lastBlock, 0, 0, 0, 0, 0, 0, 0, 0]);
    end.writeUInt32LE(crc, lastBlock.length);
    end.writeUInt32LE(length % 2 ** 32, lastBlock.length + 4);
    return [gzipHeader, ...pieces.map(({ deflated }) => deflated), end];
  }

  #section(parts: readonly Buffer[]): Promise<Piece> {
    return memoized(this.#sections, parts, async () => {
      const pieces = await Promise.all(parts.map((part) => this.#part(part)));
      return { deflated: Buffer.concat(pieces.map(({ deflated }) => deflated)), ...trailerOf(pieces) };
    });
  }

  #part(part: Buffer): Promise<Piece> {
    return memoized(this.#parts, part, async () => {
      const { length } = part;
      const deflated = length <= tinyBytes ? deflateRawSync(part, options) : await this.#deflate(part);
      return { deflated, crc: crc32(part), crcShift: crc32Shift(length), length };
    });
  }

  async #deflate(part: Buffer): Promise<Buffer> {
    if (this.#busy >= this.#maxConcurrent) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy++;
    try {
      return await promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)(part, options);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy--;
    }
  }
}

/** The map's value for a key, made if it is missing. A failure is not memoized. */
function memoized<Thing extends WeakKey>(
  pieces: WeakMap<Thing, Promise<Piece>>,
  thing: Thing,
  make: () => Promise<Piece>,
): Promise<Piece> {
  const known = pieces.get(thing);
  if (known) return known;
  const made = make();
  pieces.set(thing, made);
  made.catch(() => pieces.delete(thing));
  return made;
}

/** The checksum and length of the joined pieces. */
function trailerOf(pieces: readonly Piece[]): Trailer {
  let crc = 0;
  let length = 0;
  for (const piece of pieces) {
    crc = combineCrc32(crc, piece.crc, piece.crcShift);
    length += piece.length;
  }
  return { crc, crcShift: crc32Shift(length), length };
}
