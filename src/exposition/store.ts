/** The series of the page: the rendered rows of each target, the cap on series, and the page in each format. */
import type { Sample } from '../resources/resource.ts';
import { Turns } from '../turns.ts';
import { type FamilyHeader, type Format, type Labels, renderLabels, renderRows } from './format.ts';
import type { Piece } from './gzip.ts';
import { type Group, Kind, type Rows } from './kind.ts';

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

interface Target extends Rows {
  readonly kind: Kind;
  readonly group: Group;
  /** Its own labels, rendered. */
  readonly labels: string;
  series: number;
  /** How many series are left out because of the cap. */
  dropped: number;
}

export class Store {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #targets = new Map<string, Target>();
  #maxSeries: number;
  #series = 0;
  #revision = 0;

  constructor(families: readonly FamilyHeader[], { maxSeries }: StoreOptions = {}) {
    const kinds = new Map<string, Kind>();
    for (const [firstFamily, { kind }] of families.entries()) {
      if (kinds.has(kind)) continue;
      const headers = families.filter((header) => header.kind === kind);
      kinds.set(kind, new Kind(firstFamily, headers));
    }
    this.#kinds = kinds;
    this.#maxSeries = maxSeries ?? Number.POSITIVE_INFINITY;
  }

  /** Another number once the page has changed. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Replaces everything that a target has. A target that would exceed the cap is left out entirely until it is set again.
   *
   * @param labels the target's own, first on each row; always the same for a key
   * @param families each at most once; of two samples with the same labels the later one is used
   */
  set(key: string, kind: string, labels: Labels, families: readonly FamilySamples[]): void {
    const target = this.#targets.get(key) ?? this.#begin(key, kind, labels);
    this.#replace(
      target,
      target.kind.headers.map(() => ''),
      0,
      families,
    );
  }

  /** Replaces the rows that a target has of one family. Does nothing for a target that is left out because of the cap. */
  setFamily(key: string, family: FamilySamples): void {
    const target = this.#targets.get(key);
    if (!target || target.texts.length === 0) return;
    const { kind, texts, series } = target;
    const replaced = texts[family.family - kind.firstFamily] ?? '';
    this.#replace(target, [...texts], series - rowsIn(replaced), [family]);
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
   * The page of the current series, kind by kind, without the exporter's own metrics and the end mark.
   *
   * @param kinds limits it to the families of these kinds
   */
  page(format: Format, kinds?: ReadonlySet<string>): readonly Buffer[] {
    return this.#wanted(kinds).flatMap((kind) => kind.page(format));
  }

  /** The same page compressed. Yields to the event loop between two kinds. */
  async compressed(format: Format, kinds?: ReadonlySet<string>): Promise<readonly Piece[]> {
    const all: Piece[] = [];
    const turns = new Turns();
    for (const kind of this.#wanted(kinds)) {
      if (turns.isOver) await turns.next();
      all.push(...kind.pieces(format));
    }
    return all;
  }

  #wanted(kinds: ReadonlySet<string> | undefined): readonly Kind[] {
    return [...this.#kinds].flatMap(([name, kind]) => (kinds?.has(name) === false ? [] : [kind]));
  }

  #begin(key: string, kindName: string, labels: Labels): Target {
    const kind = this.#kinds.get(kindName);
    if (!kind) throw new RangeError(`there is no kind ${kindName}`);
    const target = {
      kind,
      group: kind.groupOf(key),
      labels: renderLabels(labels),
      texts: [],
      series: 0,
      dropped: 0,
    };
    this.#targets.set(key, target);
    return target;
  }

  /** Shows a target with these texts and families, if the cap allows it. series: how many the texts have. */
  #replace(target: Target, texts: string[], series: number, families: readonly FamilySamples[]): void {
    const { kind, labels } = target;
    let after = series;
    for (const { family, samples } of families) {
      const at = family - kind.firstFamily;
      const header = kind.headers[at];
      if (header === undefined) throw new RangeError(`the target's kind has no family ${family}`);
      const { text, rows } = renderRows(header.name, labels, samples);
      texts[at] = text;
      after += rows;
    }
    if (this.#series - target.series + after > this.#maxSeries) {
      this.#leaveOut(target, after);
      return;
    }
    this.#show(target, texts);
    this.#count(target, after, 0);
  }

  #leaveOut(target: Target, dropped: number): void {
    this.#show(target, []);
    this.#count(target, 0, dropped);
  }

  #show(target: Target, texts: readonly string[]): void {
    if (target.group.set(target, texts)) this.#revision++;
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
