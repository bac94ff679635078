/** The series of the page: the rendered texts of each target, the cap on series, and the page in each format. */
import type { Sample } from '../resources/resource.ts';
import { Turns } from '../turns.ts';
import type { Block } from './block.ts';
import { type FamilyHeader, type Format, type Labels, renderLabels, renderRows } from './format.ts';
import { Kind } from './kind.ts';

/** Samples of one family. */
export interface FamilySamples {
  /** The family's index among the headers that the store was made with. */
  readonly family: number;
  readonly samples: readonly Sample[];
}

/**
 * A page at one instant, without the exporter's own metrics and the end mark: the parts of each kind, the same array as long as
 * nothing in the kind changes. Its bytes never change.
 */
export type Page = readonly (readonly Buffer[])[];

export interface StoreOptions {
  /** The most series held at once; a target that would exceed it is left out entirely. */
  readonly maxSeries?: number;
  /** The most targets in a block: when one of them changes, the texts of all are joined again. */
  readonly blockTargets?: number;
}

interface Target {
  readonly kind: Kind;
  /** Its own labels, rendered. */
  readonly labels: string;
  /** Its rows in each family of its kind. */
  readonly texts: string[];
  /** Undefined while the target is not on the page. */
  block: Block | undefined;
  series: number;
  /** How many series are left out because of the cap. */
  dropped: number;
}

export class Store {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #targets = new Map<string, Target>();
  #maxSeries: number;
  #series = 0;

  /** families: those of a kind stand together. */
  constructor(families: readonly FamilyHeader[], { maxSeries, blockTargets = 500 }: StoreOptions = {}) {
    const kinds = new Map<string, Kind>();
    for (const [index, { kind }] of families.entries()) {
      if (kinds.has(kind)) continue;
      const headers = families.filter((header) => header.kind === kind);
      kinds.set(kind, new Kind(index, headers, blockTargets));
    }
    this.#kinds = kinds;
    this.#maxSeries = maxSeries ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Replaces everything that a target has. Values that did not change cost the next scrape nothing. A target that would exceed
   * the cap is left out entirely until it is set again.
   *
   * @param labels the target's own, first on each row; always the same for a key
   * @param families each at most once; of two samples with the same labels the later one is used
   */
  set(key: string, kind: string, labels: Labels, families: readonly FamilySamples[]): void {
    const target = this.#targets.get(key) ?? this.#begin(key, kind, labels);
    const { headers, firstFamily } = target.kind;
    const texts = headers.map(() => '');
    let series = 0;
    for (const { family, samples } of families) {
      const at = family - firstFamily;
      const header = headers[at];
      if (header === undefined) throw new RangeError(`there is no family ${family} of the kind ${kind}`);
      const { text, rows } = renderRows(header.name, target.labels, samples);
      texts[at] = text;
      series += rows;
    }
    if (this.#series - target.series + series > this.#maxSeries) this.#leaveOut(target, series);
    else this.#show(target, texts, series);
  }

  /** Replaces the rows that a target has of one family. Does nothing for a target that is left out because of the cap. */
  setFamily(key: string, { family, samples }: FamilySamples): void {
    const target = this.#targets.get(key);
    if (!target?.block) return;
    const { kind, labels, texts, block, series } = target;
    const at = family - kind.firstFamily;
    const header = kind.headers[at];
    if (header === undefined) throw new RangeError(`there is no family ${family} here`);
    const { text, rows } = renderRows(header.name, labels, samples);
    const after = series - rowsIn(texts[at] ?? '') + rows;
    if (this.#series - series + after > this.#maxSeries) {
      this.#leaveOut(target, after);
      return;
    }
    kind.set(texts, block, at, text);
    this.#count(target, after, 0);
  }

  /** Takes a target off the page, and counts its series as left out because of the cap. */
  leaveOut(key: string): void {
    const target = this.#targets.get(key);
    if (target) this.#leaveOut(target, target.series + target.dropped);
  }

  delete(key: string): void {
    const target = this.#targets.get(key);
    if (!target) return;
    this.#leaveOut(target, 0);
    this.#targets.delete(key);
  }

  /** The number of series held of a kind. */
  series(kind: string): number {
    return this.#kinds.get(kind)?.series ?? 0;
  }

  /** The number of series of a kind that are left out because of the cap. */
  dropped(kind: string): number {
    return this.#kinds.get(kind)?.dropped ?? 0;
  }

  /** A target that is left out is shown again when it is next set, if the cap then allows it. */
  setMaxSeries(maxSeries: number): void {
    this.#maxSeries = maxSeries;
  }

  /** Whether the cap was lowered below the number of series held. */
  get isOverfull(): boolean {
    return this.#series > this.#maxSeries;
  }

  /**
   * The page of the current series, in the order of the families. Later changes do not affect it. Yields to the event loop
   * between blocks.
   *
   * @param kinds limits it to the families of these kinds
   */
  async page(format: Format, kinds?: ReadonlySet<string>): Promise<Page> {
    const wanted = [...this.#kinds].filter(([name]) => kinds?.has(name) ?? true);
    const renditions = wanted.map(([, kind]) => kind.rendition());
    const turns = new Turns();
    for (const block of renditions.flatMap(({ blocks }) => blocks)) {
      block.render();
      if (turns.isOver) await turns.next();
    }
    return renditions.map((rendition) => rendition.parts(format));
  }

  #begin(key: string, kindName: string, labels: Labels): Target {
    const kind = this.#kinds.get(kindName);
    if (!kind) throw new RangeError(`there is no kind ${kindName}`);
    const texts = kind.headers.map(() => '');
    const target = { kind, labels: renderLabels(labels), texts, block: undefined, series: 0, dropped: 0 };
    this.#targets.set(key, target);
    return target;
  }

  #show(target: Target, texts: readonly string[], series: number): void {
    const { kind } = target;
    const block = target.block ?? kind.add(target.texts);
    target.block = block;
    for (const [at, text] of texts.entries()) kind.set(target.texts, block, at, text);
    this.#count(target, series, 0);
  }

  #leaveOut(target: Target, dropped: number): void {
    if (target.block) target.kind.delete(target.texts, target.block);
    target.block = undefined;
    this.#count(target, 0, dropped);
  }

  /** Records how many series of a target are held and left out. */
  #count(target: Target, series: number, dropped: number): void {
    const { kind } = target;
    this.#series += series - target.series;
    kind.series += series - target.series;
    kind.dropped += dropped - target.dropped;
    target.series = series;
    target.dropped = dropped;
  }
}

/** Each row ends in a line break. */
function rowsIn(text: string): number {
  return text.split('\n').length - 1;
}
