/**
 * Compression of pages piece by piece: every piece is deflated once, off the event loop, and the pieces are joined into
 * one gzip member. It knows Buffers that never change, not what is in them.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { combineCrc32 } from './crc.ts';

const deflate = promisify<Buffer, Parameters<typeof deflateRaw>[1], Buffer>(deflateRaw);

/** Neighbours are deflated together until they are as long as this; what is as long by itself stands alone. */
const runBytes = 64 * 1024;
/** Versions of a run that are kept: the formats and narrowed pages put different neighbours together. */
const keptRuns = 4;

/** Magic number, deflate, no flags, no time, no hint, no system: RFC 1952. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** A last, empty block of deflate. */
const lastBlock = [3, 0];

interface Piece {
  /** Whole blocks of deflate, none of them the last, that end on a byte. */
  readonly deflated: Buffer;
  readonly crc: number;
  readonly length: number;
}

export interface GzipOptions {
  /** Pieces that are deflated at the same time: each takes a thread of the pool. */
  readonly maxConcurrent?: number;
  /** 1 (fast) to 9 (small). */
  readonly level?: number;
}

export class Gzip {
  readonly #maxConcurrent: number;
  readonly #level: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** By the first Buffer of a run, the latest runs by their key: pieces go when that Buffer goes. */
  readonly #pieces = new WeakMap<Buffer, Map<string, Promise<Piece>>>();
  readonly #numbers = new WeakMap<Buffer, number>();
  #lastNumber = 0;

  constructor({ maxConcurrent = 2, level = 6 }: GzipOptions = {}) {
    this.#maxConcurrent = maxConcurrent;
    this.#level = level;
  }

  /** The parts as one gzip member, in parts again. They must never change. */
  async compress(parts: readonly Buffer[]): Promise<Buffer[]> {
    const pieces = await Promise.all(runsOf(parts).map((run) => this.#piece(run)));
    let crc = 0;
    let length = 0;
    for (const piece of pieces) {
      crc = combineCrc32(crc, piece.crc, piece.length);
      length += piece.length;
    }
    const end = Buffer.from([...lastBlock, 0, 0, 0, 0, 0, 0, 0, 0]);
    end.writeUInt32LE(crc, lastBlock.length);
    end.writeUInt32LE(length % 2 ** 32, lastBlock.length + 4);
    return [gzipHeader, ...pieces.map(({ deflated }) => deflated), end];
  }

  #piece(run: Run): Promise<Piece> {
    const [first] = run;
    const kept = this.#pieces.get(first) ?? new Map<string, Promise<Piece>>();
    this.#pieces.set(first, kept);
    const key = run.map((part) => this.#number(part)).join();
    const piece = kept.get(key) ?? this.#deflate(run);
    kept.delete(key);
    kept.set(key, piece);
    for (const oldest of kept.keys()) {
      if (kept.size <= keptRuns) break;
      kept.delete(oldest);
    }
    piece.catch(() => kept.delete(key));
    return piece;
  }

  /** Numbers stand for Buffers in the keys, so that a kept piece does not keep them. */
  #number(part: Buffer): number {
    const number = this.#numbers.get(part) ?? ++this.#lastNumber;
    this.#numbers.set(part, number);
    return number;
  }

  async #deflate(run: Run): Promise<Piece> {
    if (this.#running >= this.#maxConcurrent)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      const bytes = run.length === 1 ? run[0] : Buffer.concat(run);
      const deflated = await deflate(bytes, { level: this.#level, finishFlush: constants.Z_SYNC_FLUSH });
      return { deflated, crc: crc32(bytes), length: bytes.length };
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

type Run = readonly [Buffer, ...Buffer[]];

function runsOf(parts: readonly Buffer[]): Run[] {
  const runs: Run[] = [];
  let run: Buffer[] = [];
  let length = 0;
  const close = () => {
    const [first, ...rest] = run;
    if (first) runs.push([first, ...rest]);
    run = [];
    length = 0;
  };
  for (const part of parts) {
    if (part.length === 0) continue;
    if (part.length >= runBytes) close();
    run.push(part);
    length += part.length;
    if (length >= runBytes) close();
  }
  close();
  return runs;
}
