/**
 * A block of rows of one family and their rendered bytes, which all formats share or are made from. It decides when rows are rendered.
 *
 * The text of a row before its number exists only in the bytes rendered last: the next rendering copies it from there,
 * together with every row that did not change.
 */

import { giveBuffer, takeBuffer } from './buffer-pool.ts';
import { maxNumberBytes, writeNumber } from './number.ts';

/** The state of a row's slot: free, as rendered, with a new number since, or not rendered yet. */
const hole = 0;
const rendered = 1;
const changed = 2;
const fresh = 3;

/** New rows are rendered when there are more than this: until then their prefixes are strings, which take more memory. */
const minFresh = 256;
const firstRows = 16;
const newline = 10;
const space = 32;
const firstScratchBytes = 512 * 1024;
const maxScratchBytes = 4 * 1024 * 1024;

const nothing = Buffer.alloc(0);
const numberBytes = new Uint8Array(maxNumberBytes);
let scratch = Buffer.allocUnsafeSlow(firstScratchBytes);

/** One version of a block's rows, for one page. Its bytes exist once it is rendered, and never change until it is released. */
export interface Rendition {
  readonly bytes: Buffer | undefined;
  /** Renders it if that was not done yet. */
  render(): Buffer;
  /** Begins the use by one more page. */
  hold(): void;
  /** Ends a page's use of the bytes; to be called once for each `hold`. */
  release(): void;
}

class Version implements Rendition {
  bytes: Buffer | undefined;
  /** Pages that use it: it must be rendered before the rows change, and its memory cannot be reused. */
  pages = 0;
  /** Whether the block needs its bytes for the next rendering. */
  #inUse = true;
  readonly #block: Block;

  constructor(block: Block) {
    this.#block = block;
  }

  render(): Buffer {
    return this.bytes ?? this.#block.render();
  }

  hold(): void {
    this.pages++;
  }

  release(): void {
    this.pages--;
    this.#recycle();
  }

  retire(): void {
    this.#inUse = false;
    this.#recycle();
  }

  #recycle(): void {
    if (this.#inUse || this.pages > 0 || this.bytes === undefined) return;
    giveBuffer(this.bytes);
    this.bytes = undefined;
  }
}

export class Block {
  readonly #maxRows: number;
  #values = new Float64Array(firstRows);
  #states = new Uint8Array(firstRows);
  /** Where each row starts in the bytes; it ends where the next one starts. */
  #starts = new Uint32Array(firstRows + 1);
  /** With each row a number that whoever has the block keeps there. */
  #links = new Uint32Array(firstRows);
  /** The number of slots that were ever used. */
  #slots = 0;
  readonly #holes: number[] = [];
  readonly #fresh = new Map<number, string>();
  /** The version rendered last, and that of the current rows: the same one while nothing changes. */
  #last: Version | undefined;
  #version = new Version(this);

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  get rows(): number {
    return this.#slots - this.#holes.length;
  }

  get full(): boolean {
    return this.rows === this.#maxRows;
  }

  /** Adds a row and returns its slot. The prefix ends with the space before the number. */
  add(prefix: string, value: number): number {
    this.#beforeChange();
    const slot = this.#holes.pop() ?? this.#append();
    this.#values[slot] = value;
    this.#states[slot] = fresh;
    this.#fresh.set(slot, prefix);
    const maxFresh = this.full ? this.#maxRows / 32 : Math.max(minFresh, this.rows / 2);
    if (this.#fresh.size > maxFresh) this.render();
    return slot;
  }

  /** Returns whether that changes anything. */
  set(slot: number, value: number): boolean {
    const old = this.#values[slot];
    if (old === value || (Number.isNaN(old) && Number.isNaN(value))) return false;
    this.#beforeChange();
    this.#values[slot] = value;
    if (this.#states[slot] === rendered) this.#states[slot] = changed;
    return true;
  }

  remove(slot: number): void {
    this.#beforeChange();
    this.#states[slot] = hole;
    this.#fresh.delete(slot);
    this.#holes.push(slot);
  }

  linkOf(slot: number): number {
    return this.#links[slot] ?? 0;
  }

  link(slot: number, to: number): void {
    this.#links[slot] = to;
  }

  /** The current rows, for a page: later changes do not affect it. */
  hold(): Rendition {
    this.#version.hold();
    return this.#version;
  }

  render(): Buffer {
    const version = this.#version;
    if (version.bytes !== undefined) return version.bytes;
    // The old bytes go behind the new ones: for short pieces, copying within one array is the fastest.
    const oldBytes = this.#last?.bytes ?? nothing;
    const old = this.#sizeLimit(oldBytes);
    reserve(old + oldBytes.length);
    scratch.set(oldBytes, old);
    let at = 0;
    /** Where the old bytes start that are kept but not copied yet. */
    let keptFrom = 0;
    let oldStart = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      const oldEnd = this.#starts[slot + 1] ?? 0;
      const state = this.#states[slot];
      this.#starts[slot] = at + oldStart - keptFrom;
      if (state === changed) {
        const numberEnd = writeNumber(numberBytes, 0, this.#values[slot] ?? Number.NaN);
        const oldNumber = numberStart(oldBytes, oldEnd);
        this.#states[slot] = rendered;
        if (numberEnd === oldEnd - 1 - oldNumber) {
          // As long as the old one: it is copied together with what is around it.
          for (let i = 0; i < numberEnd; i++) scratch[old + oldNumber + i] = numberBytes[i] ?? 0;
        } else {
          scratch.copyWithin(at, old + keptFrom, old + oldNumber);
          at += oldNumber - keptFrom;
          for (let i = 0; i < numberEnd; i++) scratch[at++] = numberBytes[i] ?? 0;
          keptFrom = oldEnd - 1;
        }
      } else if (state !== rendered) {
        scratch.copyWithin(at, old + keptFrom, old + oldStart);
        at += oldStart - keptFrom;
        keptFrom = oldEnd;
        if (state === fresh) {
          at += scratch.write(this.#fresh.get(slot) ?? '', at);
          at = writeNumber(scratch, at, this.#values[slot] ?? Number.NaN);
          scratch[at++] = newline;
          this.#states[slot] = rendered;
        }
      }
      oldStart = oldEnd;
    }
    scratch.copyWithin(at, old + keptFrom, old + oldStart);
    at += oldStart - keptFrom;
    this.#starts[this.#slots] = at;
    this.#fresh.clear();
    this.#last?.retire();
    this.#last = version;
    const bytes = takeBuffer(at);
    bytes.set(scratch.subarray(0, at));
    if (scratch.length > maxScratchBytes) scratch = Buffer.allocUnsafeSlow(firstScratchBytes);
    version.bytes = bytes;
    return bytes;
  }

  /** An upper bound on the length of the new bytes. */
  #sizeLimit(oldBytes: Buffer): number {
    let size = oldBytes.length + this.#slots * (maxNumberBytes + 1);
    for (const prefix of this.#fresh.values()) size += prefix.length * 3;
    return size;
  }

  #beforeChange(): void {
    if (this.#version.pages > 0) this.render();
    if (this.#version.bytes !== undefined) this.#version = new Version(this);
  }

  /** A new slot at the end, without bytes so far. */
  #append(): number {
    const slot = this.#slots++;
    if (slot === this.#values.length) this.#grow();
    this.#starts[slot + 1] = this.#starts[slot] ?? 0;
    return slot;
  }

  #grow(): void {
    const rows = Math.min(this.#values.length * 2, this.#maxRows);
    this.#values = grown(this.#values, new Float64Array(rows));
    this.#states = grown(this.#states, new Uint8Array(rows));
    this.#starts = grown(this.#starts, new Uint32Array(rows + 1));
    this.#links = grown(this.#links, new Uint32Array(rows));
  }
}

/** Where the number of a row starts: behind its last space. rowEnd: behind its newline. */
function numberStart(bytes: Buffer, rowEnd: number): number {
  let start = rowEnd - 1;
  while (start > 0 && bytes[start - 1] !== space) start--;
  return start;
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function reserve(bytes: number): void {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(bytes);
}
