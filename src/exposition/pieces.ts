/** Which families of a page are compressed together, and what stays compressed from one scrape to the next. */
import type { Format } from './format.ts';
import { deflatePiece, type Piece } from './gzip.ts';

/**
 * A call of zlib costs as much as 7 KiB of rows, and a family alone takes twice the bytes that it takes among others. A family
 * that is larger than this is a piece of its own: it should not be compressed again because a small one beside it has changed.
 */
const pieceBytes = 64 * 1024;

/** A family as it stands on a page. */
export interface PageFamily {
  /** Another value once its rows have changed. */
  readonly version: unknown;
  /** How many bytes its header and rows have; none if it has no rows. */
  length(format: Format): number;
  /** Its header and rows. */
  bytes(format: Format): readonly Buffer[];
  /** Copies its header and rows to where `bytes` starts, and returns their length. */
  copy(format: Format, bytes: Buffer): number;
}

/** A piece ends at the same family until it has half or twice its bytes: else one family that grows would change all later pieces. */
interface End {
  /** The place of the family after the last one. */
  readonly until: number;
  /** How many bytes the piece had when its end was chosen. */
  readonly chosenBytes: number;
}

interface LastPiece extends Piece, End {
  /** Of its families. Not their Buffers: those would keep replaced rows in memory until the next scrape. */
  readonly versions: readonly unknown[];
}

/** The pieces of one page, which always has the same families in the same order and format. */
export class Pieces {
  /** By the place of their first family. */
  #last: ReadonlyMap<number, LastPiece> = new Map();

  of(families: readonly PageFamily[], format: Format): readonly Piece[] {
    const pieces = new Map<number, LastPiece>();
    for (let from = 0; from < families.length; ) {
      const known = this.#last.get(from);
      const piece =
        known && isCurrent(known, families, from) ? known : makePiece(from, families, format, known);
      pieces.set(from, piece);
      from = piece.until;
    }
    this.#last = pieces;
    return [...pieces.values()];
  }
}

/** from: the place of its first family. */
function isCurrent({ versions }: LastPiece, families: readonly PageFamily[], from: number): boolean {
  for (let at = 0; at < versions.length; at++)
    if (families[from + at]?.version !== versions[at]) return false;
  return true;
}

function versionOf({ version }: PageFamily): unknown {
  return version;
}

/** before: the end of the piece that began here at the scrape before. */
function makePiece(
  from: number,
  families: readonly PageFamily[],
  format: Format,
  before: End | undefined,
): LastPiece {
  const { until, chosenBytes } = endOf(from, families, format, before);
  const own = families.slice(from, until);
  return {
    ...deflatePiece(lengthOf(own, format), (bytes) => {
      let written = 0;
      for (const family of own) written += family.copy(format, bytes.subarray(written));
    }),
    until,
    chosenBytes,
    versions: own.map(versionOf),
  };
}

function endOf(from: number, families: readonly PageFamily[], format: Format, before: End | undefined): End {
  if (before) {
    const bytes = lengthOf(families.slice(from, before.until), format);
    if (bytes > before.chosenBytes / 2 && bytes < before.chosenBytes * 2) return before;
  }
  let until = from;
  let chosenBytes = 0;
  for (; until < families.length; until++) {
    const bytes = families[until]?.length(format) ?? 0;
    if (chosenBytes > 0 && chosenBytes + bytes > pieceBytes) break;
    chosenBytes += bytes;
  }
  return { until, chosenBytes };
}

function lengthOf(families: readonly PageFamily[], format: Format): number {
  let bytes = 0;
  for (const family of families) bytes += family.length(format);
  return bytes;
}
