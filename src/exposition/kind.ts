/** The rows of one kind, and its part of a page: each family's header, then the rows of its targets. */
import { offsetOf } from '../hash.ts';
import { type FamilyHeader, type Format, renderHeader } from './format.ts';
import { deflatePiece, type Piece } from './gzip.ts';

/** Into how many groups the targets are split. Each family of a group is one piece: of smaller ones each would cost more than it saves. */
const groupCount = 4;

/** The rows of a target as text, in each family of its kind; none while it is not on the page. */
export interface Rows {
  texts: readonly string[];
}

/** Targets that are polled in the same quarter of their interval, so that most groups stay as they are between two scrapes. */
export class Group {
  readonly #targets = new Set<Rows>();
  /** Each family as it was last compressed; undefined where a row has changed since. */
  readonly #pieces: (Piece | undefined)[] = [];

  /** Replaces the rows of a target. Returns whether any of them changed. */
  set(target: Rows, texts: readonly string[]): boolean {
    const before = target.texts;
    let hasChanged = false;
    for (let at = 0; at < Math.max(before.length, texts.length); at++) {
      if ((before[at] ?? '') === (texts[at] ?? '')) continue;
      this.#pieces[at] = undefined;
      hasChanged = true;
    }
    target.texts = texts;
    if (texts.length > 0) this.#targets.add(target);
    else this.#targets.delete(target);
    return hasChanged;
  }

  /** The rows of a family. */
  rows(at: number): Buffer {
    const texts: string[] = [];
    for (const target of this.#targets) if (target.texts[at]) texts.push(target.texts[at]);
    return Buffer.from(texts.join(''));
  }

  piece(at: number): Piece {
    const piece = this.#pieces[at] ?? deflatePiece(this.rows(at));
    this.#pieces[at] = piece;
    return piece;
  }
}

export class Kind {
  /** The index of its first family among all headers. */
  readonly firstFamily: number;
  readonly headers: readonly FamilyHeader[];
  /** How many series are held; `dropped`: how many are left out because of the cap. */
  series = 0;
  dropped = 0;
  readonly #groups = Array.from({ length: groupCount }, () => new Group());
  readonly #headerPieces: Record<Format, Piece[]> = { text: [], openmetrics: [] };

  /** headers: its families, which stand together on the page. */
  constructor(firstFamily: number, headers: readonly FamilyHeader[]) {
    this.firstFamily = firstFamily;
    this.headers = headers;
  }

  /** Always the same for a key. */
  groupOf(key: string): Group {
    return this.#groups[Math.floor(offsetOf(key) * groupCount)] as Group;
  }

  page(format: Format): readonly Buffer[] {
    return this.headers.flatMap((header, at) => {
      const rows = this.#groups.map((group) => group.rows(at)).filter(({ length }) => length > 0);
      return rows.length > 0 ? [Buffer.from(renderHeader(header, format)), ...rows] : [];
    });
  }

  /** The same compressed. */
  pieces(format: Format): readonly Piece[] {
    const headers = this.#headerPieces[format];
    return this.headers.flatMap((header, at) => {
      const rows = this.#groups.map((group) => group.piece(at)).filter(({ length }) => length > 0);
      if (rows.length === 0) return [];
      headers[at] ??= deflatePiece(Buffer.from(renderHeader(header, format)));
      return [headers[at], ...rows];
    });
  }
}
