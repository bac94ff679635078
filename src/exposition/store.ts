/** The series of the page: the rendered rows of each target, the cap on series, and the page in each format. */
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

interface Target {
  readonly kind: Kind;
  /** Its place among the rows of each family. */
  readonly place: number;
  /** Its own labels, rendered. */
  readonly labels: string;
  series: number;
  /** How many series are left out because of the cap. */
  dropped: number;
}

export class Store {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #families: readonly PageFamily[];
  readonly #targets = new Map<string, Target>();
  #maxSeries: number;
  #series = 0;

  constructor(families: readonly FamilyHeader[], { maxSeries }: StoreOptions = {}) {
    const kinds = new Map<string, Kind>();
    for (const [firstFamily, { kind }] of families.entries()) {
      if (kinds.has(kind)) continue;
      const headers = families.filter((header) => header.kind === kind);
      kinds.set(kind, new Kind(firstFamily, headers));
    }
    this.#kinds = kinds;
    this.#families = [...kinds.values()].flatMap((kind) => kind.families);
    this.#maxSeries = maxSeries ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Replaces everything that a target has. A target that would exceed the cap is left out entirely until it is set again.
   *
   * @param labels the target's own, first on each row; always the same for a key
   * @param families each at most once; of two samples with the same labels the later one is used
   */
  set(key: string, kind: string, labels: Labels, families: readonly FamilySamples[]): void {
    const target = this.#targets.get(key) ?? this.#begin(key, kind, labels);
    const texts = target.kind.families.map(() => '');
    let series = 0;
    for (const { family, samples } of families) {
      const { text, rows } = this.#render(target, family, samples);
      texts[family - target.kind.firstFamily] = text;
      series += rows;
    }
    this.#show(target, series, texts.entries());
  }

  /** Replaces the rows that a target has of one family. Does nothing for a target that is left out because of the cap. */
  setFamily(key: string, { family, samples }: FamilySamples): void {
    const target = this.#targets.get(key);
    if (!target || target.dropped > 0) return;
    const { text, rows } = this.#render(target, family, samples);
    const at = family - target.kind.firstFamily;
    const series = target.series - (target.kind.families[at]?.rows.count(target.place) ?? 0) + rows;
    this.#show(target, series, [[at, text]]);
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
    target.kind.freePlace(target.place);
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
   * Every family in the order of the page, without the exporter's own metrics.
   *
   * @param kind limits it to the families of a kind
   */
  families(kind?: string): readonly PageFamily[] {
    return kind === undefined ? this.#families : this.#kindOf(kind).families;
  }

  /** The page without the exporter's own metrics and the end mark. */
  page(format: Format): readonly Buffer[] {
    return this.families().flatMap((family) => family.bytes(format));
  }

  #kindOf(name: string): Kind {
    const kind = this.#kinds.get(name);
    if (!kind) throw new RangeError(`there is no kind ${name}`);
    return kind;
  }

  #begin(key: string, kindName: string, labels: Labels): Target {
    const kind = this.#kindOf(kindName);
    const target = { kind, place: kind.takePlace(), labels: renderLabels(labels), series: 0, dropped: 0 };
    this.#targets.set(key, target);
    return target;
  }

  #render({ kind, labels }: Target, family: number, samples: readonly Sample[]) {
    const name = kind.families[family - kind.firstFamily]?.name;
    if (name === undefined) throw new RangeError(`the target's kind has no family ${family}`);
    return renderRows(name, labels, samples);
  }

  /** Replaces these families' rows, if the cap allows it. series: how many the target then has. */
  #show(target: Target, series: number, texts: Iterable<readonly [at: number, text: string]>): void {
    if (this.#series - target.series + series > this.#maxSeries) {
      this.#leaveOut(target, series);
      return;
    }
    for (const [at, text] of texts) this.#setRows(target, at, text);
    this.#count(target, series, 0);
  }

  #leaveOut(target: Target, dropped: number): void {
    for (let at = 0; at < target.kind.families.length; at++) this.#setRows(target, at, '');
    this.#count(target, 0, dropped);
  }

  #setRows({ kind, place }: Target, at: number, text: string): void {
    kind.families[at]?.rows.set(place, text);
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
