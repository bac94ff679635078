/** The targets of one kind in blocks, and their part of a page: each family's header, then its rows, block after block. */
import { Block, type BlockRendition, type Texts } from './block.ts';
import { type FamilyHeader, type Format, renderHeader } from './format.ts';

/** Adjacent parts below this size are joined to parts of about this size: a part costs more to handle than to copy. */
const smallBytes = 16 * 1024;

/** The part of a page for one kind, at one instant. Its bytes never change. */
export class KindRendition {
  readonly blocks: readonly BlockRendition[];
  readonly #headers: readonly FamilyHeader[];
  readonly #parts = new Map<Format, readonly Buffer[]>();

  constructor(headers: readonly FamilyHeader[], blocks: readonly BlockRendition[]) {
    this.#headers = headers;
    this.blocks = blocks;
  }

  /** Renders what is not rendered yet. Returns the same array each time. */
  parts(format: Format): readonly Buffer[] {
    const parts = this.#parts.get(format) ?? joinSmall(this.#render(format));
    this.#parts.set(format, parts);
    return parts;
  }

  #render(format: Format): readonly Buffer[] {
    const blocks = this.blocks.map((block) => block.render());
    return this.#headers.flatMap((header, at) => {
      const rows = blocks.flatMap((parts) => parts[at] ?? []).filter(({ length }) => length > 0);
      return rows.length > 0 ? [Buffer.from(renderHeader(header, format)), ...rows] : [];
    });
  }
}

export class Kind {
  /** The index of its first family among all headers. */
  readonly firstFamily: number;
  readonly headers: readonly FamilyHeader[];
  /** How many series are held; `dropped`: how many are left out because of the cap. */
  series = 0;
  dropped = 0;
  readonly #blockTargets: number;
  readonly #blocks = new Set<Block>();
  /** Those to which a target can be added. */
  readonly #notFull = new Set<Block>();
  /** The current rows, if a page has requested them. */
  #rendition: KindRendition | undefined;

  /** headers: its families, which stand together on the page. */
  constructor(firstFamily: number, headers: readonly FamilyHeader[], blockTargets: number) {
    this.firstFamily = firstFamily;
    this.headers = headers;
    this.#blockTargets = blockTargets;
  }

  /** The current rows: later changes of the kind do not affect them. */
  rendition(): KindRendition {
    this.#rendition ??= new KindRendition(
      this.headers,
      Array.from(this.#blocks, (block) => block.rendition()),
    );
    return this.#rendition;
  }

  /** Adds a target without rows; returns its block. */
  add(target: Texts): Block {
    const [block = new Block(this.headers.length)] = this.#notFull;
    block.add(target);
    this.#blocks.add(block);
    if (block.targets < this.#blockTargets) this.#notFull.add(block);
    else this.#notFull.delete(block);
    return block;
  }

  delete(target: Texts, block: Block): void {
    for (const at of target.keys()) this.set(target, block, at, '');
    block.delete(target);
    this.#notFull.add(block);
    if (block.targets > 0) return;
    this.#notFull.delete(block);
    this.#blocks.delete(block);
  }

  /** Changes a target's text in a family. The same text again changes nothing. */
  set(target: Texts, block: Block, at: number, text: string): void {
    if (target[at] === text) return;
    this.#rendition = undefined;
    block.set(target, at, text);
  }
}

function joinSmall(parts: readonly Buffer[]): readonly Buffer[] {
  const joined: Buffer[] = [];
  let small: Buffer[] = [];
  let bytes = 0;
  const flush = () => {
    if (small.length > 0) joined.push(Buffer.concat(small));
    small = [];
    bytes = 0;
  };
  for (const part of parts) {
    if (part.length >= smallBytes || bytes >= smallBytes) flush();
    if (part.length >= smallBytes) {
      joined.push(part);
    } else {
      small.push(part);
      bytes += part.length;
    }
  }
  flush();
  return joined;
}
