/** The series of the page: the families, the rows of the targets in them, the cap on series, and the page of each format. */
import { Slices } from '../slices.ts';
import type { Rendition } from './block.ts';
import { Family } from './family.ts';
import type { FamilyHeader, Format, Labels } from './format.ts';
import { Kind, type StoreState, TargetRows } from './target-rows.ts';

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

/** What a page is made of. */
interface PageParts {
  readonly renditions: readonly Rendition[];
  readonly parts: readonly Buffer[];
  /** Made when it is first asked for: a compressed page does without. */
  whole?: Buffer | undefined;
}

/** A page of up to this size is copied sooner than it is sent in parts. */
const smallPageBytes = 256 * 1024;
/** How long a page renders before it yields to the event loop. */
const sliceMs = 1;

export class Store {
  readonly #state: StoreState;
  readonly #kinds = new Map<string, Kind>();
  /** The page of each format, while nothing changes: looking through the families takes longer than sending a small page. */
  readonly #pages = new Map<Format, PageParts>();

  constructor(families: readonly FamilyHeader[], { maxSeries, blockRows = 4000 }: StoreOptions = {}) {
    const onChange = () => {
      if (this.#pages.size > 0) this.#pages.clear();
    };
    this.#state = {
      families: families.map((header) => new Family(header, blockRows, onChange)),
      maxSeries: maxSeries ?? Number.POSITIVE_INFINITY,
      series: 0,
    };
  }

  /** Rows for one more target, none so far; to be kept with the target. */
  target(kind: string, labels: Labels): TargetRows {
    return new TargetRows(this.#kind(kind), labels);
  }

  /** The number of series held of a kind. */
  series(kind: string): number {
    return this.#kind(kind).series;
  }

  /** The number of series of a kind that are left out because of the cap. */
  dropped(kind: string): number {
    return this.#kind(kind).dropped;
  }

  /** A target that is left out is admitted at its next replacement, if there is room then. */
  setMaxSeries(maxSeries: number): void {
    this.#state.maxSeries = maxSeries;
  }

  /** Whether the cap was lowered below what is held. */
  get isOverfull(): boolean {
    return this.#state.series > this.#state.maxSeries;
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
    for (const family of this.#state.families) {
      if (kinds?.has(family.header.kind) ?? true) family.hold(format, renditions);
    }
    if (renditions.some(({ bytes }) => bytes === undefined)) return renderPage(format, renditions);
    const page = partsOf(renditions);
    if (!kinds) this.#pages.set(format, page);
    return pageOf(format, page);
  }

  #kind(name: string): Kind {
    const kind = this.#kinds.get(name) ?? new Kind(this.#state);
    this.#kinds.set(name, kind);
    return kind;
  }
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
