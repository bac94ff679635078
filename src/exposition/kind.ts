/** The rows of one kind, and its part of a page: each family's header, then the rows of its targets. */
import { type FamilyHeader, type Format, renderHeader } from './format.ts';
import type { PageFamily } from './pieces.ts';
import { Rows } from './rows.ts';

export class Kind {
  /** The index of its first family among all headers. */
  readonly firstFamily: number;
  readonly families: readonly Family[];
  /** How many series its targets have. */
  series = 0;
  #places = 0;
  readonly #freePlaces: number[] = [];

  /** headers: its families, which stand together on the page. */
  constructor(firstFamily: number, headers: readonly FamilyHeader[]) {
    this.firstFamily = firstFamily;
    this.families = headers.map((header) => new Family(header));
  }

  /** A place among the rows for a target. */
  takePlace(): number {
    return this.#freePlaces.pop() ?? this.#places++;
  }

  /** The place of a target that has no rows any more. */
  freePlace(place: number): void {
    this.#freePlaces.push(place);
  }
}

/** A family's header and rows. */
class Family implements PageFamily {
  readonly name: string;
  readonly rows = new Rows();
  readonly #header: FamilyHeader;
  readonly #headers: Partial<Record<Format, Buffer>> = {};

  constructor(header: FamilyHeader) {
    this.name = header.name;
    this.#header = header;
  }

  get version(): number {
    return this.rows.version;
  }

  length(format: Format): number {
    return this.rows.length === 0 ? 0 : this.#headerIn(format).length + this.rows.length;
  }

  bytes(format: Format): readonly Buffer[] {
    return this.rows.length === 0 ? [] : [this.#headerIn(format), this.rows.bytes];
  }

  copy(format: Format, bytes: Buffer): number {
    if (this.rows.length === 0) return 0;
    const written = this.#headerIn(format).copy(bytes);
    return written + this.rows.copy(bytes.subarray(written));
  }

  #headerIn(format: Format): Buffer {
    this.#headers[format] ??= Buffer.from(renderHeader(this.#header, format));
    return this.#headers[format];
  }
}
