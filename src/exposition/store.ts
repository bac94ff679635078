/** The series of the page: the rows of each target. */
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

/**
 * What the page shows of every target. Polls add targets and set their series; a scrape reads the families. It renders a target's
 * rows when they are set, and only then.
 */
export class Store {
  readonly #kinds = new Map<string, Kind>();
  readonly #families: readonly PageFamily[];

  /** families: those of a kind stand together. */
  constructor(families: readonly FamilyHeader[]) {
    for (const [firstFamily, { kind }] of families.entries()) {
      if (this.#kinds.has(kind)) continue;
      const headers = families.filter((header) => header.kind === kind);
      this.#kinds.set(kind, new Kind(firstFamily, headers));
    }
    this.#families = [...this.#kinds.values()].flatMap((kind) => kind.families);
  }

  /**
   * A target, which has no series until they are set.
   *
   * @param labels its own, first on each row
   */
  add(kind: string, labels: Labels): StoredTarget {
    return new StoredTarget(this.#kindOf(kind), renderLabels(labels));
  }

  /** The number of series held of a kind. */
  series(kind: string): number {
    return this.#kindOf(kind).series;
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

/** A target of the store. */
export class StoredTarget {
  readonly #kind: Kind;
  /** Its own, rendered. */
  readonly #labels: string;
  /** Among the rows of each family, while it has any. */
  #place: number | undefined;
  #series = 0;

  constructor(kind: Kind, labels: string) {
    this.#kind = kind;
    this.#labels = labels;
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

  /** Replaces the rows of one family. */
  setFamily({ family, samples }: FamilySamples): void {
    const { text, rows } = this.#render(family, samples);
    const at = family - this.#kind.firstFamily;
    const before = this.#place === undefined ? 0 : this.#kind.families[at]?.rows.count(this.#place);
    this.#show(this.#series - (before ?? 0) + rows, [[at, text]]);
  }

  /** Takes it off the page. */
  remove(): void {
    const place = this.#place;
    this.#place = undefined;
    this.#count(0);
    if (place === undefined) return;
    for (const { rows } of this.#kind.families) rows.set(place, '');
    this.#kind.freePlace(place);
  }

  #render(family: number, samples: readonly Sample[]) {
    const name = this.#kind.families[family - this.#kind.firstFamily]?.name;
    if (name === undefined) throw new RangeError(`the target's kind has no family ${family}`);
    return renderRows(name, this.#labels, samples);
  }

  /** Replaces these families' rows. series: how many the target then has. */
  #show(series: number, texts: Iterable<readonly [at: number, text: string]>): void {
    this.#place ??= this.#kind.takePlace();
    for (const [at, text] of texts) this.#kind.families[at]?.rows.set(this.#place, text);
    this.#count(series);
  }

  #count(series: number): void {
    this.#kind.series += series - this.#series;
    this.#series = series;
  }
}
