/** A family of the page: its rows in blocks, and how each format shows them. */
import type { Sample } from '../resources/resource.ts';
import { Block, type Rendition } from './block.ts';
import {
  type FamilyHeader,
  type Format,
  type Labels,
  renderCreated,
  renderHeader,
  renderLabels,
  renderPrefix,
  withoutCreated,
} from './format.ts';

/** A row's number is its block's index times `blockRows` plus its slot. */
export class Family {
  readonly header: FamilyHeader;
  readonly #blockRows: number;
  readonly #onChange: () => void;
  /** Made when a page first has them: most families of an installation have no rows. */
  readonly #headers: Partial<Record<Format, Rendition>> = {};
  /** An emptied block leaves its index free. */
  readonly #blocks: (Block | undefined)[] = [];
  /** The indexes of blocks with free rows, and of emptied blocks. */
  readonly #roomy = new Set<number>();
  /** The labels of each row of an info, beyond the target's. */
  readonly #labels: (Labels | undefined)[] = [];

  /** onChange: called before rows are added or removed, and when a value has become another. */
  constructor(header: FamilyHeader, blockRows: number, onChange: () => void) {
    this.header = header;
    this.#blockRows = blockRows;
    this.#onChange = onChange;
  }

  /** What a row of a target says before its number. */
  prefixOf(targetLabels: string, labels: Labels | undefined): string {
    return renderPrefix(this.header.name, targetLabels, labels === undefined ? '' : renderLabels(labels));
  }

  /** Adds a row and returns its number. */
  add(prefix: string, { value, createdSeconds }: Sample): number {
    const [index = this.#blocks.length] = this.#roomy;
    let block = this.#blocks[index];
    if (block === undefined) {
      block = new Block(this.#blockRows);
      this.#blocks[index] = block;
      this.#roomy.add(index);
    }
    // It never changes, so the bytes before the number can have it.
    const created = createdSeconds === undefined ? '' : renderCreated(prefix, createdSeconds);
    this.#onChange();
    const slot = block.add(`${created}${prefix}`, value);
    if (block.full) this.#roomy.delete(index);
    return index * this.#blockRows + slot;
  }

  /** Sets the value of a row; returns what it is linked to. */
  set(row: number, value: number): number {
    // In whole numbers: with the quotient's fraction and the remainder it takes twice as long.
    const index = (row / this.#blockRows) | 0;
    const block = this.#blocks[index];
    if (block === undefined) return 0;
    const slot = row - index * this.#blockRows;
    if (block.set(slot, value)) this.#onChange();
    return block.linkOf(slot);
  }

  remove(row: number): void {
    const index = Math.floor(row / this.#blockRows);
    const block = this.#blocks[index];
    if (block === undefined) return;
    this.#onChange();
    block.remove(row % this.#blockRows);
    if (block.rows === 0) this.#blocks[index] = undefined;
    this.#roomy.add(index);
    if (row < this.#labels.length) this.#labels[row] = undefined;
  }

  /** What a row is linked to: the number of the target's next row, of this family or of another. */
  linkOf(row: number): number {
    return this.#blockOf(row)?.linkOf(row % this.#blockRows) ?? 0;
  }

  link(row: number, to: number): void {
    this.#blockOf(row)?.link(row % this.#blockRows, to);
  }

  labelsOf(row: number): Labels | undefined {
    return this.#labels[row];
  }

  /** Keeps the labels of a row of an info. */
  setLabels(row: number, labels: Labels | undefined): void {
    while (this.#labels.length < row) this.#labels.push(undefined);
    this.#labels[row] = labels;
  }

  /** Adds to a page what it has of the family, held for that page: the header and the rows, or nothing. */
  hold(format: Format, page: Rendition[]): void {
    let hasRows = false;
    for (const block of this.#blocks) {
      if (block === undefined) continue;
      if (!hasRows) page.push(this.#headerFor(format));
      hasRows = true;
      page.push(this.#holdRows(block, format));
    }
  }

  #headerFor(format: Format): Rendition {
    this.#headers[format] ??= done(Buffer.from(renderHeader(this.header, format)));
    return this.#headers[format];
  }

  #blockOf(row: number): Block | undefined {
    return this.#blocks[Math.floor(row / this.#blockRows)];
  }

  #holdRows(block: Block, format: Format): Rendition {
    const rows = block.hold();
    if (this.header.type !== 'counter' || format !== 'text') return rows;
    const text = textsOfCounters.get(rows) ?? new TextOfCounter(rows, this.header);
    textsOfCounters.set(rows, text);
    return text;
  }
}

/** Rows of a counter for the text format, made from those for OpenMetrics. */
class TextOfCounter implements Rendition {
  bytes: Buffer | undefined;
  readonly #rows: Rendition;
  readonly #header: FamilyHeader;

  constructor(rows: Rendition, header: FamilyHeader) {
    this.#rows = rows;
    this.#header = header;
  }

  render(): Buffer {
    this.bytes ??= withoutCreated(this.#rows.render(), this.#header);
    return this.bytes;
  }

  hold(): void {
    this.#rows.hold();
  }

  release(): void {
    this.#rows.release();
  }
}

/** What was made of the rows that are held, so that rows that do not change keep their bytes. */
const textsOfCounters = new WeakMap<Rendition, TextOfCounter>();

function done(bytes: Buffer): Rendition {
  return { bytes, render: () => bytes, hold: () => undefined, release: () => undefined };
}
