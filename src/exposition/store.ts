/** The series of the page, as rows in blocks by family: which row belongs to which target, and the cap on series. */
import type { Sample } from '../resources/resource.ts';
import { Slices } from '../slices.ts';
import { Block, type Rendition } from './block.ts';
import {
  type FamilyHeader,
  type Format,
  type Labels,
  renderCreated,
  renderHeader,
  renderLabels,
  renderPrefix,
  withoutCreated,
} from './format.ts';

/** Some samples of one family. */
export interface FamilySamples {
  /** The family's index among the headers that the store was made with. */
  readonly family: number;
  readonly samples: readonly Sample[];
}

/** A page at one instant, without the exporter's own metrics and its end. Its parts do not change. */
export interface Page {
  readonly format: Format;
  readonly parts: readonly Buffer[];
  /** The parts as one, where the page is small. Not to be asked for after `release`. */
  readonly whole?: Buffer | undefined;
  /** Tells that nobody reads the parts any more, so that their memory can be reused. Calling it is optional. */
  release(): void;
}

export interface StoreOptions {
  /** The most series held at once; a target that would exceed it is left out entirely. */
  readonly maxSeries?: number;
  readonly blockRows?: number;
}

interface Family {
  readonly header: FamilyHeader;
  /** Made when a page first has them: most families of an installation have no rows. */
  readonly headers: Partial<Record<Format, Rendition>>;
  /** A row's number is its block's index times `blockRows` plus its slot. An emptied block leaves its index free. */
  readonly blocks: (Block | undefined)[];
  /** The indexes of blocks with free rows, and of emptied blocks. */
  readonly roomy: Set<number>;
  /** The latest shape, which targets share. */
  lastShape: Shape | undefined;
}

/** A target's samples in a family. */
interface Shape {
  readonly family: Family;
  readonly count: number;
  /** Of each, beyond the target's; undefined where each target has other ones, which is what an info is for. */
  readonly labels: readonly (Labels | undefined)[] | undefined;
}

/** What a page is made of. */
interface PageParts {
  readonly renditions: readonly Rendition[];
  readonly parts: readonly Buffer[];
  /** Made when it is first asked for: a compressed page does without. */
  whole?: Buffer | undefined;
}

interface Target {
  readonly kind: string;
  readonly labels: Labels;
  readonly shapes: readonly Shape[];
  /** Of its samples in infos, one after the other. */
  readonly infoLabels: readonly (Labels | undefined)[];
  /** The number of each sample's row, shape after shape. */
  readonly rows: readonly number[];
}

/** A page of up to this size is copied sooner than it is sent in parts. */
const smallPageBytes = 256 * 1024;
/** How long a page renders before it yields to the event loop. */
const sliceMs = 1;

export class Store {
  readonly #families: readonly Family[];
  readonly #blockRows: number;
  readonly #targets = new Map<string, Target>();
  readonly #series = new Map<string, number>();
  /** Targets that are left out because of the cap, and their number of series. */
  readonly #dropped = new Map<string, { readonly kind: string; readonly series: number }>();
  #lastShapes: readonly Shape[] = [];
  /** The page of each format, while nothing changes: looking through the families takes longer than sending a small page. */
  readonly #pages = new Map<Format, PageParts>();
  #maxSeries: number;
  #total = 0;

  constructor(families: readonly FamilyHeader[], options: StoreOptions = {}) {
    this.#maxSeries = options.maxSeries ?? Number.POSITIVE_INFINITY;
    this.#blockRows = options.blockRows ?? 4000;
    this.#families = families.map(createFamily);
  }

  /**
   * Replaces all series of a target; what did not change costs nothing. Of two samples with the same labels the later one
   * is used. If the series would exceed the cap, the target is left out entirely until its next replacement.
   *
   * @param target a key that is unique across all kinds
   * @param labels the target's own labels, first on each row; always in the same order for a family
   */
  replace(target: string, kind: string, labels: Labels, rows: readonly FamilySamples[]): void {
    const known = this.#targets.get(target);
    if (known?.kind === kind && sameLabels(known.labels, labels) && this.#update(known, rows)) return;
    this.#reshape(target, known, kind, labels, rows);
  }

  /** Sets the first value of a target in a family; does nothing if it has none or is left out. */
  set(target: string, familyIndex: number, value: number): void {
    const known = this.#targets.get(target);
    const wanted = this.#family(familyIndex);
    let at = 0;
    for (const { family, count } of known?.shapes ?? []) {
      if (family === wanted) {
        this.#setRow(family, known?.rows[at] ?? 0, value);
        return;
      }
      at += count;
    }
  }

  remove(target: string): void {
    this.#dropped.delete(target);
    const known = this.#targets.get(target);
    if (known === undefined) return;
    this.#targets.delete(target);
    this.#count(known.kind, -known.rows.length);
    let at = 0;
    for (const { family, count } of known.shapes) {
      for (let i = 0; i < count; i++) this.#removeRow(family, known.rows[at++] ?? 0);
    }
  }

  /** The number of series held of a kind. */
  series(kind: string): number {
    return this.#series.get(kind) ?? 0;
  }

  /** The number of series of a kind that are left out because of the cap. */
  dropped(kind: string): number {
    let series = 0;
    for (const target of this.#dropped.values()) if (target.kind === kind) series += target.series;
    return series;
  }

  /** Lowering the cap drops the targets added last; raising it admits a dropped target at its next replacement. */
  setMaxSeries(maxSeries: number): void {
    this.#maxSeries = maxSeries;
    if (this.#total <= maxSeries) return;
    for (const [target, { kind, rows }] of [...this.#targets].reverse()) {
      if (this.#total <= maxSeries) return;
      this.#drop(target, kind, rows.length);
    }
  }

  /**
   * The page of the current series, in the order of the families; changes while it is rendered do not affect it. Returned
   * at once if nothing changed since the last page; otherwise a promise that yields between blocks.
   *
   * @param kinds limits it to the families of these kinds
   */
  page(format: Format, kinds?: ReadonlySet<string>): Page | Promise<Page> {
    const known = kinds ? undefined : this.#pages.get(format);
    if (known) {
      for (const rendition of known.renditions) rendition.hold();
      return pageOf(format, known);
    }
    const renditions: Rendition[] = [];
    for (const { header, headers, blocks } of this.#families) {
      if (kinds !== undefined && !kinds.has(header.kind)) continue;
      const rows = blocks.filter((block) => block !== undefined).map((block) => hold(block, header, format));
      if (rows.length === 0) continue;
      headers[format] ??= done(Buffer.from(renderHeader(header, format)));
      renditions.push(headers[format], ...rows);
    }
    if (renditions.some(({ bytes }) => bytes === undefined)) return renderPage(format, renditions);
    const page = partsOf(renditions);
    if (!kinds) this.#pages.set(format, page);
    return pageOf(format, page);
  }

  /**
   * Updates the values of a target in place; returns false if its families or labels have changed. Some of its values are
   * new then: `#reshape` sets them all.
   */
  #update({ shapes, infoLabels, rows: numbers }: Target, rows: readonly FamilySamples[]): boolean {
    let shapesSeen = 0;
    let infosSeen = 0;
    let at = 0;
    for (const { family: index, samples } of rows) {
      if (samples.length === 0) continue;
      const shape = shapes[shapesSeen++];
      if (shape?.family !== this.#family(index) || shape.count !== samples.length) return false;
      const known = shape.labels ?? infoLabels;
      let labelsSeen = shape.labels ? 0 : infosSeen;
      for (const { labels, value } of samples) {
        if (!sameLabels(known[labelsSeen++], labels)) return false;
        this.#setRow(shape.family, numbers[at++] ?? 0, value);
      }
      if (!shape.labels) infosSeen = labelsSeen;
    }
    return shapesSeen === shapes.length;
  }

  /** Replaces a target whose families or labels have changed; rows that it still has stay where they are. */
  #reshape(
    target: string,
    known: Target | undefined,
    kind: string,
    labels: Labels,
    rows: readonly FamilySamples[],
  ): void {
    const wanted = this.#layOut(labels, rows);
    if (this.#total - (known?.rows.length ?? 0) + wanted.size > this.#maxSeries) {
      this.#drop(target, kind, wanted.size);
      return;
    }
    this.#dropped.delete(target);
    const held = known === undefined ? undefined : rowsByPrefix(known);
    const numbers: number[] = [];
    for (const [prefix, { family, sample }] of wanted) {
      const row = held?.get(prefix)?.row;
      if (row === undefined) {
        numbers.push(this.#addRow(family, prefix, sample));
      } else {
        held?.delete(prefix);
        this.#setRow(family, row, sample.value);
        numbers.push(row);
      }
    }
    for (const { family, row } of held?.values() ?? []) this.#removeRow(family, row);
    this.#count(known?.kind ?? kind, -(known?.rows.length ?? 0));
    this.#count(kind, numbers.length);
    this.#targets.set(target, {
      kind,
      labels,
      shapes: this.#shapesOf(wanted.values()),
      infoLabels: infoLabelsOf(wanted.values()),
      rows: numbers.slice(),
    });
  }

  /** The target's samples by the text of their rows; the last one of equals. */
  #layOut(labels: Labels, rows: readonly FamilySamples[]): Map<string, Placed> {
    const placed = new Map<string, Placed>();
    const targetLabels = renderLabels(labels);
    for (const { family: index, samples } of rows) {
      const family = this.#family(index);
      for (const sample of samples)
        placed.set(prefixOf(family, targetLabels, sample.labels), { family, sample });
    }
    return placed;
  }

  /** The shapes of a target's samples: those of the previous target if they are the same. */
  #shapesOf(placed: Iterable<Placed>): readonly Shape[] {
    const shapes: Shape[] = [];
    let family: Family | undefined;
    let samples: Sample[] = [];
    const close = () => {
      if (family !== undefined) shapes.push(shapeOf(family, samples));
      samples = [];
    };
    for (const next of placed) {
      if (next.family !== family) close();
      family = next.family;
      samples.push(next.sample);
    }
    close();
    const last = this.#lastShapes;
    if (shapes.length === last.length && shapes.every((shape, i) => shape === last[i])) return last;
    this.#lastShapes = shapes.slice();
    return this.#lastShapes;
  }

  #drop(target: string, kind: string, series: number): void {
    this.remove(target);
    this.#dropped.set(target, { kind, series });
  }

  #family(index: number): Family {
    const family = this.#families[index];
    if (family === undefined) throw new RangeError(`there is no family ${index}`);
    return family;
  }

  #addRow(family: Family, prefix: string, { value, createdSeconds }: Sample): number {
    const [index = family.blocks.length] = family.roomy;
    let block = family.blocks[index];
    if (block === undefined) {
      block = new Block(this.#blockRows);
      family.blocks[index] = block;
      family.roomy.add(index);
    }
    // It never changes, so the bytes before the number can have it.
    const created = createdSeconds === undefined ? '' : renderCreated(prefix, createdSeconds);
    this.#pages.clear();
    const slot = block.add(`${created}${prefix}`, value);
    if (block.full) family.roomy.delete(index);
    return index * this.#blockRows + slot;
  }

  #setRow(family: Family, row: number, value: number): void {
    // In whole numbers: with the quotient's fraction and the remainder it takes twice as long.
    const index = (row / this.#blockRows) | 0;
    const isChanged = family.blocks[index]?.set(row - index * this.#blockRows, value);
    if (isChanged && this.#pages.size > 0) this.#pages.clear();
  }

  #removeRow(family: Family, row: number): void {
    const index = Math.floor(row / this.#blockRows);
    const block = family.blocks[index];
    if (block === undefined) return;
    this.#pages.clear();
    block.remove(row % this.#blockRows);
    if (block.rows === 0) family.blocks[index] = undefined;
    family.roomy.add(index);
  }

  #count(kind: string, change: number): void {
    this.#total += change;
    this.#series.set(kind, this.series(kind) + change);
  }
}

interface Placed {
  readonly family: Family;
  readonly sample: Sample;
}

function createFamily(header: FamilyHeader): Family {
  return {
    header,
    headers: {},
    blocks: [],
    roomy: new Set(),
    lastShape: undefined,
  };
}

function prefixOf(family: Family, targetLabels: string, labels: Labels | undefined): string {
  return renderPrefix(family.header.name, targetLabels, labels === undefined ? '' : renderLabels(labels));
}

function rowsByPrefix(target: Target): Map<string, { family: Family; row: number }> {
  const byPrefix = new Map<string, { family: Family; row: number }>();
  const targetLabels = renderLabels(target.labels);
  let row = 0;
  let infosSeen = 0;
  for (const { family, count, labels } of target.shapes) {
    for (let i = 0; i < count; i++) {
      const own = labels ? labels[i] : target.infoLabels[infosSeen++];
      byPrefix.set(prefixOf(family, targetLabels, own), { family, row: target.rows[row++] ?? 0 });
    }
  }
  return byPrefix;
}

/** The shape of these samples: the family's latest if it is the same. */
function shapeOf(family: Family, samples: readonly Sample[]): Shape {
  const { lastShape } = family;
  const isSame =
    lastShape?.count === samples.length &&
    (!lastShape.labels || samples.every(({ labels }, i) => sameLabels(lastShape.labels?.[i], labels)));
  if (isSame) return lastShape;
  const labels = family.header.type === 'info' ? undefined : samples.map(detachedLabels);
  family.lastShape = { family, count: samples.length, labels };
  return family.lastShape;
}

function infoLabelsOf(placed: Iterable<Placed>): readonly (Labels | undefined)[] {
  const samples: Sample[] = [];
  for (const { family, sample } of placed) if (family.header.type === 'info') samples.push(sample);
  return samples.map(detachedLabels);
}

function detachedLabels({ labels }: Sample): Labels | undefined {
  return labels && (Object.isFrozen(labels) ? labels : detached(labels));
}

/** Values of labels, copied; many targets have the same ones. */
const copies = new Map<string, string>();
const maxCopies = 1000;

/** A copy of labels: slices of a large text would keep all of it in memory. */
function detached(labels: Labels): Labels {
  const copy: Record<string, string> = { ...labels };
  for (const name in copy) {
    const value = labels[name] ?? '';
    let known = copies.get(value);
    if (known === undefined) {
      known = Buffer.from(value).toString();
      if (copies.size === maxCopies) copies.clear();
      copies.set(known, known);
    }
    copy[name] = known;
  }
  return copy;
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

/** Rows of a counter for the text format, made from those for OpenMetrics. */
class TextOfCounter implements Rendition {
  bytes: Buffer | undefined;
  readonly #rows: Rendition;
  readonly #header: FamilyHeader;

  constructor(rows: Rendition, header: FamilyHeader) {
    this.#rows = rows;
    this.#header = header;
  }

  render(): Buffer {
    this.bytes ??= withoutCreated(this.#rows.render(), this.#header);
    return this.bytes;
  }

  hold(): void {
    this.#rows.hold();
  }

  release(): void {
    this.#rows.release();
  }
}

/** What was made of the rows that are held, so that rows that do not change keep their bytes. */
const textsOfCounters = new WeakMap<Rendition, TextOfCounter>();

function hold(block: Block, header: FamilyHeader, format: Format): Rendition {
  const rows = block.hold();
  if (header.type !== 'counter' || format !== 'text') return rows;
  const text = textsOfCounters.get(rows) ?? new TextOfCounter(rows, header);
  textsOfCounters.set(rows, text);
  return text;
}

async function renderPage(format: Format, renditions: readonly Rendition[]): Promise<Page> {
  await new Slices(sliceMs).take(renderAll(renditions));
  return pageOf(format, partsOf(renditions));
}

function* renderAll(renditions: readonly Rendition[]): Generator<void> {
  for (const rendition of renditions) {
    if (rendition.bytes !== undefined) continue;
    rendition.render();
    yield;
  }
}

function partsOf(renditions: readonly Rendition[]): PageParts {
  return { renditions, parts: renditions.map((rendition) => rendition.render()) };
}

function wholeOf(page: PageParts): Buffer | undefined {
  const bytes = page.parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes <= smallPageBytes) page.whole ??= Buffer.concat(page.parts);
  return page.whole;
}

function pageOf(format: Format, page: PageParts): Page {
  let held = page.renditions;
  return {
    format,
    parts: page.parts,
    get whole() {
      return wholeOf(page);
    },
    release() {
      for (const rendition of held) rendition.release();
      held = [];
    },
  };
}

function done(bytes: Buffer): Rendition {
  return { bytes, render: () => bytes, hold: () => undefined, release: () => undefined };
}
