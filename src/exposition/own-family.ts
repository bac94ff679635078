/**
 * A family of the exporter's own metrics: a few rows that change one by one. It knows neither what they count nor the pages
 * that they are on.
 */
import {
  type Format,
  type Header,
  type Labels,
  renderHeader,
  renderLabels,
  renderNumber,
  renderPrefix,
} from './format.ts';

/** What a family says of itself; its unit is what its name ends in. */
export type OwnHeader = Omit<Header, 'unit'>;

/** The numbers of one combination of labels, with the text before each. */
interface Series {
  readonly labels: Labels;
  readonly prefixes: readonly string[];
  readonly values: number[];
}

export class OwnFamily {
  readonly #header: Header;
  /** In the order in which they came, by the values of their labels. */
  readonly #series = new Map<string, Series>();
  readonly #headers: Partial<Record<Format, string>> = {};
  /** While nothing changes. */
  readonly #texts = new Map<Format, string>();

  constructor(header: OwnHeader) {
    const unit = /_(seconds|bytes)(?:_total)?$/.exec(header.name)?.[1] as Header['unit'];
    this.#header = { ...header, unit };
  }

  set(labels: Labels, value: number): void {
    const { values } = this.#of(labels);
    if (values[0] === value) return;
    values[0] = value;
    this.#changed();
  }

  add(labels: Labels, amount: number): void {
    add(this.valuesToChange(labels), 0, amount);
  }

  /** From now on the series is there, at 0 until something happens. */
  begin(labels: Labels): void {
    this.#of(labels);
  }

  /** Takes away the series whose labels fit; without a condition all. */
  remove(fits: (labels: Labels) => boolean = () => true): void {
    for (const [key, { labels }] of this.#series) {
      if (!fits(labels)) continue;
      this.#series.delete(key);
      this.#changed();
    }
  }

  render(format: Format): string {
    const known = this.#texts.get(format);
    if (known !== undefined) return known;
    this.#headers[format] ??= renderHeader(this.#header, format);
    const rows = [this.#headers[format]];
    for (const { prefixes, values } of this.#series.values()) {
      for (const [i, prefix] of prefixes.entries()) rows.push(`${prefix}${renderNumber(values[i] ?? 0)}\n`);
    }
    // Joined, and not added up: V8 would keep all pieces of such a text, and look through them at each use.
    const text = rows.join('');
    this.#texts.set(format, text);
    return text;
  }

  /** What the rows of a series begin with, one for each of its numbers. */
  protected prefixesOf(name: string, labels: string): readonly string[] {
    return [renderPrefix(name, labels, '')];
  }

  /** The numbers of a series, for the caller to change at once. */
  protected valuesToChange(labels: Labels): number[] {
    this.#changed();
    return this.#of(labels).values;
  }

  /** The texts are no longer true. */
  #changed(): void {
    // Clearing makes a new table of an empty Map, too.
    if (this.#texts.size > 0) this.#texts.clear();
  }

  #of(labels: Labels): Series {
    const key = keyOf(labels);
    const known = this.#series.get(key);
    if (known) return known;
    const prefixes = this.prefixesOf(this.#header.name, renderLabels(labels));
    const series: Series = { labels, prefixes, values: prefixes.map(() => 0) };
    this.#series.set(key, series);
    this.#changed();
    return series;
  }
}

/** Labels of a family always have the same names. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${labels[name]}\0`;
  return key;
}

/** The numbers of a series are those of its buckets, cumulative, then the sum and the count. */
export class OwnHistogram extends OwnFamily {
  readonly #bounds: readonly number[];

  /** bounds: the upper ends of the buckets, less the last, which has none. */
  constructor(header: Omit<OwnHeader, 'type'>, bounds: readonly number[]) {
    super({ ...header, type: 'histogram' });
    this.#bounds = bounds;
  }

  observe(labels: Labels, value: number): void {
    const bounds = this.#bounds;
    const { length } = bounds;
    const values = this.valuesToChange(labels);
    for (let i = 0; i < length; i++) if (value <= (bounds[i] ?? 0)) add(values, i, 1);
    add(values, length, 1);
    add(values, length + 1, value);
    add(values, length + 2, 1);
  }

  protected override prefixesOf(name: string, labels: string): readonly string[] {
    const buckets = [...this.#bounds.map(String), '+Inf'].map((le) =>
      renderPrefix(`${name}_bucket`, labels, renderLabels({ le })),
    );
    return [...buckets, renderPrefix(`${name}_sum`, labels, ''), renderPrefix(`${name}_count`, labels, '')];
  }
}

function add(values: number[], at: number, amount: number): void {
  values[at] = (values[at] ?? 0) + amount;
}
