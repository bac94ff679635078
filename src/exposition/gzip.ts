/**
 * Compresses pages piece by piece: each piece is deflated only once, off the event loop unless it is tiny, and the pieces
 * are joined into one gzip member.
 */
import { combineCrc32, crc32Shift } from './crc.ts';

/** Loaded at its first use: with Node 26 that takes 5 ms of a start. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** Neighbours are deflated together up to this length; a part that is as long by itself is deflated alone. */
const runBytes = 64 * 1024;
/** Handing a run as short as this to a thread takes longer than deflating it: some 30 µs. */
const tinyBytes = 16 * 1024;
/** How many runs that start with the same Buffer are kept: formats and pages by kind have different neighbours. */
const keptRuns = 4;

/** Magic number, deflate, no flags, no time, no hint, no system: RFC 1952. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** A last, empty block of deflate. */
const lastBlock = [3, 0];

/** The CRC-32 of what was deflated, the shift for its length (see crc.ts), and the length. */
interface Checked {
  readonly crc: number;
  readonly crcShift: number;
  readonly length: number;
}

interface Piece extends Checked {
  /** Complete deflate blocks, none of them marked as the last, ending on a byte boundary. */
  readonly deflated: Buffer;
}

interface Section extends Checked {
  readonly deflated: readonly Buffer[];
}

/** Of the parts, one after the other. */
function joined(parts: readonly Checked[]): Checked {
  let crc = 0;
  let length = 0;
  for (const part of parts) {
    crc = combineCrc32(crc, part.crc, part.crcShift);
    length += part.length;
  }
  return { crc, crcShift: crc32Shift(length), length };
}

export interface GzipOptions {
  /** How many pieces are deflated at the same time: each takes a thread of the pool. */
  readonly maxConcurrent?: number;
  /** 1 (fast) to 9 (small): on rows, 3 takes a third of the time of 6 and gives 3 % more bytes. */
  readonly level?: number;
}

export class Gzip {
  readonly #maxConcurrent: number;
  readonly #level: number;
  #busy = 0;
  readonly #idle: Deflater[] = [];
  readonly #waiting: (() => void)[] = [];
  /** What sections that come again were compressed to. */
  readonly #sections = new WeakMap<readonly Buffer[], Promise<Section>>();
  /** The latest runs by their key, for each first Buffer of a run: the pieces are collected with that Buffer. */
  readonly #pieces = new WeakMap<Buffer, Map<string, Promise<Piece>>>();
  readonly #numbers = new WeakMap<Buffer, number>();
  #lastNumber = 0;

  constructor({ maxConcurrent = 2, level = 3 }: GzipOptions = {}) {
    this.#maxConcurrent = maxConcurrent;
    this.#level = level;
  }

  /**
   * The sections, one after the other, as one gzip member. Neither they nor their Buffers must ever change. Neighbours are
   * joined only within a section, so that a section that always changes does not cause others to be deflated again.
   */
  async compress(...sections: readonly (readonly Buffer[])[]): Promise<Buffer[]> {
    const compressed = await Promise.all(sections.map((section) => this.#section(section)));
    const { crc, length } = joined(compressed);
    const end = Buffer.from([...lastBlock, 0, 0, 0, 0, 0, 0, 0, 0]);
    end.writeUInt32LE(crc, lastBlock.length);
    end.writeUInt32LE(length % 2 ** 32, lastBlock.length + 4);
    return [gzipHeader, ...compressed.flatMap(({ deflated }) => deflated), end];
  }

  #section(parts: readonly Buffer[]): Promise<Section> {
    const known = this.#sections.get(parts);
    if (known) return known;
    const compressed = Promise.all(runsOf(parts).map((run) => this.#piece(run))).then((pieces) => ({
      deflated: pieces.map(({ deflated }) => deflated),
      ...joined(pieces),
    }));
    this.#sections.set(parts, compressed);
    compressed.catch(() => this.#sections.delete(parts));
    return compressed;
  }

  #piece(run: Run): Promise<Piece> {
    const [first] = run;
    let kept = this.#pieces.get(first);
    if (kept === undefined) {
      kept = new Map();
      this.#pieces.set(first, kept);
    }
    const key = run.length === 1 ? '' : run.map((part) => this.#number(part)).join();
    return kept.get(key) ?? this.#keep(kept, key, this.#deflate(run));
  }

  #keep(kept: Map<string, Promise<Piece>>, key: string, piece: Promise<Piece>): Promise<Piece> {
    for (const oldest of kept.keys()) {
      if (kept.size < keptRuns) break;
      kept.delete(oldest);
    }
    kept.set(key, piece);
    piece.catch(() => kept.delete(key));
    return piece;
  }

  /** Keys hold numbers instead of Buffers, so that a kept piece does not keep its Buffers in memory. */
  #number(part: Buffer): number {
    const known = this.#numbers.get(part);
    if (known !== undefined) return known;
    this.#numbers.set(part, ++this.#lastNumber);
    return this.#lastNumber;
  }

  async #deflate(run: Run): Promise<Piece> {
    const length = run.reduce((sum, part) => sum + part.length, 0);
    const deflated = length <= tinyBytes ? deflateNow(run, this.#level) : await this.#deflateQueued(run);
    const { crc32 } = zlib();
    const crc = run.reduce((before, part) => crc32(part, before), 0);
    return { deflated, crc, crcShift: crc32Shift(length), length };
  }

  async #deflateQueued(run: Run): Promise<Buffer> {
    if (this.#busy >= this.#maxConcurrent) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy++;
    try {
      const deflater = this.#idle.pop() ?? new Deflater(this.#level);
      const deflated = await deflater.deflate(run);
      this.#idle.push(deflater);
      return deflated;
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy--;
    }
  }
}

function deflateNow(run: Run, level: number): Buffer {
  const { constants, deflateRawSync } = zlib();
  return deflateRawSync(Buffer.concat(run), { level, finishFlush: constants.Z_FULL_FLUSH });
}

/** Deflates one run after the other, independently. It is reused, because each takes a quarter of a megabyte. */
class Deflater {
  readonly #stream;
  #chunks: Buffer[] = [];

  constructor(level: number) {
    this.#stream = zlib().createDeflateRaw({ level });
    this.#stream.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
  }

  /** Rejects when the stream broke; the deflater must not be used again then. */
  deflate(run: Run): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#stream.once('error', reject);
      this.#stream.write(run.length === 1 ? run[0] : Buffer.concat(run));
      // A full flush ends on a byte boundary and resets the state, so that the next run is independent.
      this.#stream.flush(zlib().constants.Z_FULL_FLUSH, () => {
        this.#stream.off('error', reject);
        const deflated = Buffer.concat(this.#chunks);
        this.#chunks = [];
        resolve(deflated);
      });
    });
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
