/** The series of one target: which rows they have, and what of the rows changes with its samples. */
import type { Sample } from '../resources/resource.ts';
import type { Family } from './family.ts';
import { type Labels, renderLabels } from './format.ts';

/** Some samples of one family. */
export interface FamilySamples {
  /** The family's index among the headers that the store was made with. */
  readonly family: number;
  readonly samples: readonly Sample[];
}

/** What all targets of a store share. */
export interface StoreState {
  readonly families: readonly Family[];
  /** The most series held at once. */
  maxSeries: number;
  series: number;
}

/** A target's samples in a family. */
interface Shape {
  /** Of no other shape. */
  readonly id: number;
  readonly family: Family;
  readonly count: number;
  /** Of each, beyond the target's; undefined where each target has other ones, which is what an info is for. */
  readonly labels: readonly (Labels | undefined)[] | undefined;
}

/** The order of a target's samples. */
interface Layout {
  readonly shapes: readonly Shape[];
  /** How many samples that are. */
  readonly series: number;
}

interface Placed {
  readonly family: Family;
  readonly sample: Sample;
}

const noLayout: Layout = { shapes: [], series: 0 };
/** How many characters the keys of what is shared may have: of samples with many labels, little is kept. */
const maxKeyCharacters = 250_000;

/** The layouts of a kind: targets with the same samples share one, and layouts share what is the same in them. */
class Layouts {
  readonly #layouts = new Map<string, Layout>();
  readonly #shapes = new Map<string, Shape>();
  readonly #labels = new Map<string, Labels>();
  #characters = 0;
  #lastId = 0;

  /** Of these samples; those of a family stand together. */
  of(placed: readonly Placed[]): Layout {
    // Much of it may be in use no more. What is asked for again is made again.
    if (this.#characters > maxKeyCharacters) this.#drop();
    const shapes: Shape[] = [];
    let from = 0;
    for (const [at, { family }] of placed.entries()) {
      if (placed[at + 1]?.family === family) continue;
      shapes.push(this.#shapeOf(family, placed.slice(from, at + 1)));
      from = at + 1;
    }
    const key = shapes.map(({ id }) => id).join();
    return this.#shared(this.#layouts, key, () => ({ shapes: shapes.slice(), series: placed.length }));
  }

  #shapeOf(family: Family, placed: readonly Placed[]): Shape {
    const { name, type } = family.header;
    const count = placed.length;
    const labels = type === 'info' ? undefined : placed.map(({ sample }) => sample.labels);
    return this.#shared(this.#shapes, `${name} ${JSON.stringify(labels ?? count)}`, () => {
      return { id: ++this.#lastId, family, count, labels: labels?.map((given) => this.#copyOf(given)) };
    });
  }

  /** A copy of labels, unless they never change. */
  #copyOf(labels: Labels | undefined): Labels | undefined {
    if (labels === undefined || Object.isFrozen(labels)) return labels;
    return this.#shared(this.#labels, JSON.stringify(labels), () => ({ ...labels }));
  }

  /** What has this key, made where it is missing. */
  #shared<Thing>(things: Map<string, Thing>, key: string, make: () => Thing): Thing {
    let thing = things.get(key);
    if (thing === undefined) {
      thing = make();
      things.set(key, thing);
      this.#characters += key.length;
    }
    return thing;
  }

  #drop(): void {
    for (const things of [this.#layouts, this.#shapes, this.#labels]) things.clear();
    this.#characters = 0;
  }
}

/** What the targets of one kind share. */
export class Kind {
  readonly store: StoreState;
  /** How many series are held. */
  series = 0;
  /** How many are left out because of the cap. */
  dropped = 0;
  readonly layouts = new Layouts();

  constructor(store: StoreState) {
    this.store = store;
  }

  /** Counts so many series more. */
  add(series: number): void {
    this.series += series;
    this.store.series += series;
  }
}

export class TargetRows {
  readonly #kind: Kind;
  readonly #labels: Labels;
  #layout = noLayout;
  /** The number of its first row; that one is linked to the second, and so on, in the order of the layout. */
  #first = 0;
  /** How many series are left out because of the cap. */
  #dropped = 0;

  /** labels: the target's own, first on each row; in the same order for all targets of a kind. */
  constructor(kind: Kind, labels: Labels) {
    this.#kind = kind;
    this.#labels = labels;
  }

  /**
   * Replaces all of them; what did not change costs nothing. Of two samples with the same labels the later one is used. If
   * they would exceed the cap, the target is left out entirely until its next replacement.
   */
  replace(rows: readonly FamilySamples[]): void {
    if (this.#dropped > 0 || !this.#update(rows)) this.#reshape(rows);
  }

  /** Sets the first value in a family; does nothing if there is none or the target is left out. */
  set(family: number, value: number): void {
    const wanted = this.#family(family);
    for (const [row, of] of this.#rows()) {
      if (of === wanted) return void of.set(row, value);
    }
  }

  remove(): void {
    this.#count(0, 0);
    for (const [row, family] of this.#rows()) family.remove(row);
    this.#layout = noLayout;
  }

  /** Removes them, and counts them as left out because of the cap. */
  drop(): void {
    this.#leaveOut(this.#layout.series + this.#dropped);
  }

  /**
   * Updates the values in place; returns false if families or labels have changed. Some of the values are new then:
   * `#reshape` sets them all.
   */
  #update(rows: readonly FamilySamples[]): boolean {
    const { shapes } = this.#layout;
    let shapesSeen = 0;
    let row = this.#first;
    for (const { family: index, samples } of rows) {
      if (samples.length === 0) continue;
      const shape = shapes[shapesSeen++];
      if (shape?.count !== samples.length || shape.family !== this.#family(index)) return false;
      const { family, labels: known } = shape;
      let seen = 0;
      for (const { labels, value } of samples) {
        if (!sameLabels(known ? known[seen++] : family.labelsOf(row), labels)) return false;
        row = family.set(row, value);
      }
    }
    return shapesSeen === shapes.length;
  }

  /** Replaces rows whose families or labels have changed; those that are still wanted stay where they are. */
  #reshape(rows: readonly FamilySamples[]): void {
    const targetLabels = renderLabels(this.#labels);
    const wanted = this.#layOut(targetLabels, rows);
    const { series, maxSeries } = this.#kind.store;
    if (series - this.#layout.series + wanted.size > maxSeries) {
      this.#leaveOut(wanted.size);
      return;
    }
    const held = this.#rowsByPrefix(targetLabels);
    let last: { readonly family: Family; readonly row: number } | undefined;
    for (const [prefix, { family, sample }] of wanted) {
      const known = held.get(prefix);
      held.delete(prefix);
      if (known) family.set(known.row, sample.value);
      const row = known?.row ?? family.add(prefix, sample);
      // A copy, in case they change; mostly its texts are those of the target, which has them anyway.
      if (family.header.type === 'info') family.setLabels(row, sample.labels && { ...sample.labels });
      if (last) last.family.link(last.row, row);
      else this.#first = row;
      last = { family, row };
    }
    for (const { family, row } of held.values()) family.remove(row);
    this.#count(wanted.size, 0);
    this.#layout = this.#kind.layouts.of([...wanted.values()]);
  }

  /** Each row, in the order of the layout. */
  *#rows(): Generator<readonly [row: number, family: Family, labels: Labels | undefined]> {
    let next = this.#first;
    for (const { family, count, labels } of this.#layout.shapes) {
      for (let i = 0; i < count; i++) {
        const row = next;
        next = family.linkOf(row);
        yield [row, family, labels ? labels[i] : family.labelsOf(row)];
      }
    }
  }

  #rowsByPrefix(targetLabels: string): Map<string, { readonly family: Family; readonly row: number }> {
    const byPrefix = new Map<string, { readonly family: Family; readonly row: number }>();
    for (const [row, family, labels] of this.#rows()) {
      byPrefix.set(family.prefixOf(targetLabels, labels), { family, row });
    }
    return byPrefix;
  }

  /** The samples by the text of their rows; the last one of equals. */
  #layOut(targetLabels: string, rows: readonly FamilySamples[]): Map<string, Placed> {
    const placed = new Map<string, Placed>();
    for (const { family: index, samples } of rows) {
      const family = this.#family(index);
      for (const sample of samples)
        placed.set(family.prefixOf(targetLabels, sample.labels), { family, sample });
    }
    return placed;
  }

  #family(index: number): Family {
    const family = this.#kind.store.families[index];
    if (family === undefined) throw new RangeError(`there is no family ${index}`);
    return family;
  }

  #leaveOut(series: number): void {
    this.remove();
    this.#count(0, series);
  }

  /** From now on so many are held, and so many left out. */
  #count(series: number, dropped: number): void {
    this.#kind.add(series - this.#layout.series);
    this.#kind.dropped += dropped - this.#dropped;
    this.#dropped = dropped;
  }
}

function sameLabels(a: Labels | undefined, b: Labels | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  let names = 0;
  for (const name in a) {
    if (a[name] !== b[name]) return false;
    names++;
  }
  for (const _ in b) names--;
  return names === 0;
}
