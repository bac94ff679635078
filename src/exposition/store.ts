/** The series of the page: the rows of each target, and how many there may be. */
import type { Sample } from '../resources/resource.ts';
import { type FamilyHeader, type Format, type Labels, renderLabels, renderRows } from './format.ts';
import { Kind } from './kind.ts';
import type { PageFamily } from './pieces.ts';

/** Samples of one family. */
export interface FamilySamples {
  /** The family's index among the headers that the store was made with. */
  readonly family: number;
  readonly samples: readonly Sample[];
}

export interface StoreOptions {
  /** The most series held at once; a target that would exceed it is left out entirely. */
  readonly maxSeries?: number;
}

/** How many series are held, and the most there may be. */
interface Cap {
  held: number;
  max: number;
}

/**
 * What the page shows of every target. Polls add targets and set their series; a scrape reads the families. It renders a target's
 * rows when they are set, and only then.
 */
export class Store {
  readonly #kinds = new Map<string, Kind>();
  readonly #families: readonly PageFamily[];
  readonly #cap: Cap;

  /** families: those of a kind stand together. */
  constructor(
    families: readonly FamilyHeader[],
    { maxSeries = Number.POSITIVE_INFINITY }: StoreOptions = {},
  ) {
    for (const [firstFamily, { kind }] of families.entries()) {
      if (this.#kinds.has(kind)) continue;
      const headers = families.filter((header) => header.kind === kind);
      this.#kinds.set(kind, new Kind(firstFamily, headers));
    }
    this.#families = [...this.#kinds.values()].flatMap((kind) => kind.families);
    this.#cap = { held: 0, max: maxSeries };
  }

  /**
   * A target, which has no series until they are set.
   *
   * @param labels its own, first on each row
   */
  add(kind: string, labels: Labels): StoredTarget {
    return new StoredTarget(this.#kindOf(kind), renderLabels(labels), this.#cap);
  }

  /** The number of series held of a kind. */
  series(kind: string): number {
    return this.#kindOf(kind).series;
  }

  /** The number of series of a kind that are left out because of the cap. */
  dropped(kind: string): number {
    return this.#kindOf(kind).dropped;
  }

  /** A target that is left out is shown again when it is next set, if the cap then allows it. */
  setMaxSeries(maxSeries: number): void {
    this.#cap.max = maxSeries;
  }

  /** Whether the cap was lowered below the number of series held. */
  get isOverfull(): boolean {
    return this.#cap.held > this.#cap.max;
  }

  /**
   * Every family in the order of the page, without the exporter's own metrics.
   *
   * @param kind limits it to the families of a kind
   */
  families(kind?: string): readonly PageFamily[] {
    return kind === undefined ? this.#families : this.#kindOf(kind).families;
  }

  /** The page without the exporter's own metrics and the end mark. */
  page(format: Format): readonly Buffer[] {
    return this.#families.flatMap((family) => family.bytes(format));
  }

  #kindOf(name: string): Kind {
    const kind = this.#kinds.get(name);
    if (!kind) throw new RangeError(`there is no kind ${name}`);
    return kind;
  }
}

/** A target of the store. One that would exceed the cap is left out entirely until it is set again. */
export class StoredTarget {
  readonly #kind: Kind;
  /** Its own, rendered. */
  readonly #labels: string;
  readonly #cap: Cap;
  /** Among the rows of each family, while it has any. */
  #place: number | undefined;
  #series = 0;
  #dropped = 0;

  constructor(kind: Kind, labels: string, cap: Cap) {
    this.#kind = kind;
    this.#labels = labels;
    this.#cap = cap;
  }

  /**
   * Replaces everything that it has.
   *
   * @param families each at most once; of two samples with the same labels the later one is used
   */
  set(families: readonly FamilySamples[]): void {
    const texts = this.#kind.families.map(() => '');
    let series = 0;
    for (const { family, samples } of families) {
      const { text, rows } = this.#render(family, samples);
      texts[family - this.#kind.firstFamily] = text;
      series += rows;
    }
    this.#show(series, texts.entries());
  }

  /** Replaces the rows of one family. Does nothing for a target that is left out because of the cap. */
  setFamily({ family, samples }: FamilySamples): void {
    if (this.#dropped > 0) return;
    const { text, rows } = this.#render(family, samples);
    const at = family - this.#kind.firstFamily;
    const before = this.#place === undefined ? 0 : this.#kind.families[at]?.rows.count(this.#place);
    this.#show(this.#series - (before ?? 0) + rows, [[at, text]]);
  }

  /** Takes it off the page, and counts its series as left out because of the cap. */
  leaveOut(): void {
    this.#clear(this.#series + this.#dropped);
  }

  /** Takes it off the page. */
  remove(): void {
    this.#clear(0);
  }

  #render(family: number, samples: readonly Sample[]) {
    const name = this.#kind.families[family - this.#kind.firstFamily]?.name;
    if (name === undefined) throw new RangeError(`the target's kind has no family ${family}`);
    return renderRows(name, this.#labels, samples);
  }

  /** Replaces these families' rows, if the cap allows it. series: how many the target then has. */
  #show(series: number, texts: Iterable<readonly [at: number, text: string]>): void {
    if (this.#cap.held - this.#series + series > this.#cap.max) {
      this.#clear(series);
      return;
    }
    this.#place ??= this.#kind.takePlace();
    for (const [at, text] of texts) this.#kind.families[at]?.rows.set(this.#place, text);
    this.#count(series, 0);
  }

  #clear(dropped: number): void {
    const place = this.#place;
    this.#place = undefined;
    this.#count(0, dropped);
    if (place === undefined) return;
    for (const { rows } of this.#kind.families) rows.set(place, '');
    this.#kind.freePlace(place);
  }

  /** Records how many series are held and left out. */
  #count(series: number, dropped: number): void {
    this.#cap.held += series - this.#series;
    this.#kind.series += series - this.#series;
    this.#kind.dropped += dropped - this.#dropped;
    this.#series = series;
    this.#dropped = dropped;
  }
}
