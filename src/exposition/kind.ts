/** The rows of one kind, and its part of a page: each family's header, then the rows of its targets. */
import { type FamilyHeader, type Format, renderHeader } from './format.ts';
import { deflatePiece, type Piece } from './gzip.ts';
import { Rows } from './rows.ts';

export class Kind {
  /** The index of its first family among all headers. */
  readonly firstFamily: number;
  readonly families: readonly Family[];
  /** How many series are held; `dropped`: how many are left out because of the cap. */
  series = 0;
  dropped = 0;
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

  page(format: Format): readonly Buffer[] {
    return this.families.flatMap((family) => family.page(format));
  }

  /** The same compressed. */
  pieces(format: Format): readonly Promise<Piece>[] {
    return this.families.flatMap((family) => family.pieces(format));
  }
}

/** A family's header and rows. */
class Family {
  readonly name: string;
  readonly rows = new Rows();
  readonly #header: FamilyHeader;
  readonly #headers: Partial<Record<Format, Header>> = {};

  constructor(header: FamilyHeader) {
    this.name = header.name;
    this.#header = header;
  }

  page(format: Format): readonly Buffer[] {
    const { bytes } = this.rows;
    return bytes.length > 0 ? [this.#headerIn(format).bytes, bytes] : [];
  }

  pieces(format: Format): readonly Promise<Piece>[] {
    if (this.rows.length === 0) return [];
    const header = this.#headerIn(format);
    header.piece ??= deflatePiece(header.bytes);
    return [header.piece, this.rows.piece()];
  }

  #headerIn(format: Format): Header {
    this.#headers[format] ??= { bytes: Buffer.from(renderHeader(this.#header, format)) };
    return this.#headers[format];
  }
}

interface Header {
  readonly bytes: Buffer;
  piece?: Promise<Piece>;
}
