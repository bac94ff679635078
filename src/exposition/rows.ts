/** The rows of one family as bytes, target by target. */
const noBytes = Buffer.alloc(0);
const noOffsets = new Uint32Array(0);
const lineBreak = 10;
const shrinkFromBytes = 64 * 1024;

/**
 * Each target has a place of its own. New rows are written after all others, and what they replace is left behind until the
 * rows are read as they stand, the room is used up, or most of it is left behind; then they are copied. What was written once is
 * never written again, because it may be on its way to a client.
 */
export class Rows {
  #bytes = noBytes;
  /** How much of the bytes is written. */
  #written = 0;
  /** Where the rows of each place start and end. */
  #starts = noOffsets;
  #ends = noOffsets;
  #length = 0;
  /** Whether the rows stand by place. */
  #isInOrder = true;
  #version = 0;

  /** Another number once a row has changed. */
  get version(): number {
    return this.#version;
  }

  /** Replaces the rows in a place. */
  set(place: number, text: string): void {
    if (text === '' && this.#starts[place] === this.#ends[place]) return;
    this.#makeRoom(place, text);
    const bytes = this.#bytes;
    const from = this.#starts[place] ?? 0;
    const until = this.#ends[place] ?? 0;
    const start = this.#written;
    const end = start + bytes.write(text, start);
    if (end - start === until - from && bytes.compare(bytes, start, end, from, until) === 0) return;
    this.#starts[place] = start;
    this.#ends[place] = end;
    this.#written = end;
    this.#length += end - start - (until - from);
    this.#isInOrder = false;
    this.#version++;
    // A family that has shrunk gives its memory back also if nobody reads its rows as they stand.
    if (this.#bytes.length > shrinkFromBytes + 4 * this.#length) this.#order(this.#length >> 1);
  }

  /** How many rows are in a place. */
  count(place: number): number {
    const until = this.#ends[place] ?? 0;
    let count = 0;
    for (let at = this.#starts[place] ?? 0; at < until; at = this.#bytes.indexOf(lineBreak, at) + 1) count++;
    return count;
  }

  /** How many bytes all rows have. */
  get length(): number {
    return this.#length;
  }

  /** Copies all rows, by place, to where `target` starts, and returns their length. */
  copy(target: Buffer): number {
    let copied = 0;
    // Rows that stand one after the other are copied at once.
    let from = 0;
    let until = 0;
    for (const [place, start] of this.#starts.entries()) {
      const end = this.#ends[place] ?? 0;
      if (start === end) continue;
      if (start !== until) {
        copied += this.#bytes.copy(target, copied, from, until);
        from = start;
      }
      until = end;
    }
    return copied + this.#bytes.copy(target, copied, from, until);
  }

  /** All rows, by place. What is returned never changes. */
  get bytes(): Buffer {
    if (!this.#isInOrder) this.#order(this.#length >> 3);
    return this.#bytes.subarray(0, this.#written);
  }

  #makeRoom(place: number, text: string): void {
    if (place >= this.#starts.length) {
      this.#starts = grown(this.#starts, place + 1);
      this.#ends = grown(this.#ends, place + 1);
    }
    const left = this.#bytes.length - this.#written;
    // A character takes three bytes at most: they are counted only where that might be too many.
    if (text.length * 3 <= left) return;
    const needed = Buffer.byteLength(text);
    if (needed > left) this.#order(needed + (this.#length >> 1));
  }

  /** Copies the rows to the start of new memory. room: how many bytes can be written after them. */
  #order(room: number): void {
    const bytes = Buffer.allocUnsafeSlow(this.#length + room);
    this.#written = this.copy(bytes);
    this.#bytes = bytes;
    let end = 0;
    for (const [place, start] of this.#starts.entries()) {
      const length = (this.#ends[place] ?? 0) - start;
      this.#starts[place] = end;
      end += length;
      this.#ends[place] = end;
    }
    this.#isInOrder = true;
  }
}

function grown(offsets: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(Math.max(length, offsets.length + (offsets.length >> 1)));
  longer.set(offsets);
  return longer;
}
