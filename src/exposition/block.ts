/** A block of targets of one kind: it joins their texts into the bytes of each family, and keeps the bytes while no text changes. */

const nothing = Buffer.alloc(0);

/** What a target has on the page: the text of its rows in each family of its kind; empty if it has none. */
export type Texts = string[];

/** The rows of a block at one instant. Its bytes never change. */
export class BlockRendition {
  readonly #block: Block;
  #parts: readonly Buffer[] | undefined;

  constructor(block: Block) {
    this.#block = block;
  }

  /** The bytes of each family. */
  render(): readonly Buffer[] {
    this.#parts ??= this.#block.render();
    return this.#parts;
  }
}

export class Block {
  readonly #targets = new Set<Texts>();
  /** The bytes of each family; undefined where a text has changed since. */
  readonly #parts: (Buffer | undefined)[];
  /** The current rows, if a page has requested them. */
  #rendition: BlockRendition | undefined;

  constructor(families: number) {
    this.#parts = Array.from({ length: families }, () => nothing);
  }

  get targets(): number {
    return this.#targets.size;
  }

  /** The current rows: later changes of the block do not affect them. */
  rendition(): BlockRendition {
    this.#rendition ??= new BlockRendition(this);
    return this.#rendition;
  }

  /** Adds a target without rows. */
  add(target: Texts): void {
    this.#targets.add(target);
  }

  /** Removes a target, whose rows must have been removed before. */
  delete(target: Texts): void {
    this.#targets.delete(target);
  }

  /** Changes a target's text in a family. */
  set(target: Texts, at: number, text: string): void {
    this.#beforeChange(at);
    target[at] = text;
  }

  render(): readonly Buffer[] {
    return this.#parts.map((known, at) => {
      const part = known ?? this.#join(at);
      this.#parts[at] = part;
      return part;
    });
  }

  #join(at: number): Buffer {
    const texts: string[] = [];
    for (const target of this.#targets) texts.push(target[at] ?? '');
    return Buffer.from(texts.join(''));
  }

  /** Renders the old texts first if a page still needs them. */
  #beforeChange(at: number): void {
    this.#rendition?.render();
    this.#rendition = undefined;
    this.#parts[at] = undefined;
  }
}
